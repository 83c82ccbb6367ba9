"""Bodies and joints of a compiled MJCF as links and joints.

A MuJoCo body with joints 1 .. n at anchors p_k and axes a_k, all in the body's own axes, stands in its parent at

    X_PB(q) = X_PB0 T_1(q_1) .. T_n(q_n),    hinge T = trans(p) rot(a, q - ref) trans(-p),    slide T = trans(a (q - ref)).

Our joints turn about the origin of their child.  So each joint but the last carries a link without mass whose origin is the
anchor, in the axes of B; the last one carries the body itself where its anchor is B's origin, else such a link, to which the
body is fixed.  Thus the link that has the body's name is the body's frame, and q is MuJoCo's qpos, `ref` included.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sapsim.scene.inertials import as_mat33
from sapsim.scene.mjcf_compiled import Compiled, pose
from sapsim.scene.mjcf_geoms import shapes_of
from sapsim.scene.models import Model, ModelJoint, ModelLink
from sapsim.scene.poses import as_vec3, compose, matrix
from sapsim.scene.report import Report
from sapsim.scene.spec import WORLD, Inertial, Limit, Material, Pose, Where

GROUND = "worldbody"  # the link of the shapes that stand in MuJoCo's world
_X = (1.0, 0.0, 0.0)


def _turned_back(axis: np.ndarray, ref: float) -> Pose:
    s = -np.sin(0.5 * ref) * axis
    return Pose(q=(float(s[0]), float(s[1]), float(s[2]), float(np.cos(0.5 * ref))))


def _moved_back(axis: np.ndarray, ref: float) -> Pose:
    return Pose(as_vec3(-ref * axis))


@dataclass(frozen=True)
class _JointType:
    """A type of MuJoCo's joints: our kind; whether it has an anchor; where q is a number, M in F at q = 0, `ref` behind."""

    kind: str
    anchored: bool = False
    behind: Callable[[np.ndarray, float], Pose] | None = None


JOINTS = {
    "free": _JointType("floating"),
    "ball": _JointType("ball", anchored=True),
    "slide": _JointType("prismatic", behind=_moved_back),
    "hinge": _JointType("revolute", anchored=True, behind=_turned_back),
}


class TreeReader:
    """Reads the bodies of one file into a model."""

    def __init__(self, c: Compiled, model: Model, default: Material, report: Report):
        self.c, self.m, self.model, self.default, self.report = c, c.model, model, default, report
        own = [c.name("body", b) for b in range(self.m.nbody)]
        self._names = set(own)
        self._joint_names = {c.name("joint", j) for j in range(self.m.njnt)}
        self.joint = [c.name("joint", j) for j in range(self.m.njnt)]
        self.link = [name or self._new(self._names, f"body{b}") for b, name in enumerate(own)]
        filter_parent = int(c.mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
        self.meets_parent = bool(self.m.opt.disableflags & filter_parent)

    @staticmethod
    def _new(taken: set[str], wanted: str) -> str:
        """A name that nothing has; `_` is appended until it is so."""
        while wanted in taken:
            wanted += "_"
        taken.add(wanted)
        return wanted

    def read(self) -> None:
        """All links and joints."""
        shapes = shapes_of(self.c, 0, self.default, self.report)
        if shapes:
            ground = self._new(self._names, GROUND)
            where = self.c.where("geom", 0)
            self.model.links[ground] = ModelLink(Inertial(), shapes, where, where)
            self._fix(ground, WORLD, Pose(), where)
            self.link[0] = ground
        for b in range(1, self.m.nbody):
            self._body(b)

    def _body(self, b: int) -> None:
        m, name = self.m, self.link[b]
        where = self.c.where("body", b)
        first = m.body_jntadr[b]
        p, X_PB = m.body_parentid[b], self.c.pose("body", b)
        parent = self.link[p] if p else WORLD
        if m.body_jntnum[b] == 0:
            self._fix(name, parent, X_PB, where)
        else:
            # MuJoCo lets a body meet what carries it where that is fixed in the world
            collide = bool(p and (self.meets_parent or m.body_weldid[p] == 0))
            self._chain(b, range(first, first + m.body_jntnum[b]), parent, X_PB, collide)
        R = matrix(pose(m.body_ipos[b], m.body_iquat[b]).q)
        inertia = R @ np.diag(m.body_inertia[b]) @ R.T
        inertial = Inertial(float(m.body_mass[b]), as_vec3(m.body_ipos[b]), as_mat33(inertia))
        self.model.links[name] = ModelLink(inertial, shapes_of(self.c, b, self.default, self.report), where, where)

    def _fix(self, child: str, parent: str, X_PC: Pose, where: Where) -> None:
        name = self._new(self._joint_names, f"{child}_fixed")
        self.model.joints[name] = ModelJoint("fixed", parent, child, X_PC, _X, 0.0, 0.0, False, where)

    def _chain(self, b: int, joints: range, parent: str, X_PB: Pose, collide: bool) -> None:
        """The joints of a body, one after another."""
        anchor, body = np.zeros(3), self.link[b]
        for k, j in enumerate(joints):
            type_ = JOINTS[self.c.word("mjtJoint", self.m.jnt_type[j])]
            name = self.joint[j] or self._new(self._joint_names, f"{body}_joint" + f"{k + 1}" * (len(joints) > 1))
            self.joint[j] = name
            here = self.m.jnt_pos[j] if type_.anchored else anchor
            X_PF = compose(X_PB, Pose(as_vec3(here - anchor)))
            last = k == len(joints) - 1 and not here.any()
            child = body if last else self._new(self._names, f"{body}_{name}")
            if not last:
                place = self.c.where("joint", j)
                self.model.links[child] = ModelLink(Inertial(), (), place, place)
            self.model.joints[name] = self._joint(j, type_, parent, child, X_PF, collide and k == 0)
            parent, X_PB, anchor = child, Pose(), here
        if parent != body:
            self._fix(body, parent, Pose(as_vec3(-anchor)), self.c.where("body", b))

    def _joint(self, j: int, type_: _JointType, parent: str, child: str, X_PF: Pose, collide: bool) -> ModelJoint:
        m, dof, iq = self.m, self.m.jnt_dofadr[j], self.m.jnt_qposadr[j]
        axis, start, one = m.jnt_axis[j], None, type_.behind is not None
        if type_.behind is not None and m.qpos0[iq]:
            X_PF = compose(X_PF, type_.behind(axis, float(m.qpos0[iq])))
            start = (float(m.qpos0[iq]),)
        return ModelJoint(
            kind=type_.kind,
            parent=parent,
            child=child,
            X_PF=X_PF,
            axis=as_vec3(axis) if one else _X,
            damping=float(m.dof_damping[dof]),
            armature=float(m.dof_armature[dof]),
            collide=collide,
            where=self.c.where("joint", j),
            stiffness=float(m.jnt_stiffness[j]) if one else 0.0,
            reference=float(m.qpos_spring[iq]) if one else 0.0,
            friction=float(m.dof_frictionloss[dof]),
            limit=self._limit(j) if one else Limit(),
            start=start,
        )

    def _limit(self, j: int) -> Limit:
        m, given = self.m, {}
        if m.jnt_limited[j]:
            given = {"lower": float(m.jnt_range[j, 0]), "upper": float(m.jnt_range[j, 1])}
        low, high = m.jnt_actfrcrange[j]
        if m.jnt_actfrclimited[j] and -low == high:
            given["effort"] = float(high)
        return Limit(**given)
