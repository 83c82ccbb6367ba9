"""The functions of rigid-body dynamics over a scene, for W states at once, in and out as NumPy arrays.

    dynamics = sapsim.dynamics.Dynamics(scene, nworld=W)
    tau = dynamics.rnea(q, v, a)      M = dynamics.crba(q)      a = dynamics.aba(q, v, tau)

Order and frames.  q (W, nq) is joint_q of files.  v, a, tau (W, nv) are **internal velocities** and what goes with them: joints
follow one another as in files (`joint_qd_start`), and the entries of a joint are those of the equations of motion:

    floating    [omega, v] of the body: world axes, v of the body's origin [rad/s, m/s];  tau = [moment about it, force]
    ball        omega in the joint frame F on the parent [rad/s]
    others      the rates of the coordinates [m/s or rad/s]

while joint_qd of files has [v_com, omega] for floating joints: `to_internal`, `to_external`.  a is the rate of v: for a
floating joint the classical acceleration of the body's origin.  M(q) a + h(q, v) = tau + sum of J' f.  M holds the armature;
h holds gravity and the terms of velocity.  Damping, springs, limits, drives and contact are no part of these functions.

A state without the world axis, (nq,) or (nv,), stands for all worlds.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import warp as wp

from sapsim.dynamics import aba, crba, forces, inverse, kinematics, solve, velocities
from sapsim.dynamics.coriolis import Coriolis
from sapsim.dynamics.frames import Frames
from sapsim.dynamics.links import LinkInertias, LinkMotion, link_motion, quaternion_matrix
from sapsim.dynamics.momentum import Momentum
from sapsim.kinds.base import registry
from sapsim.math.real import real
from sapsim.model.arrays import Arrays
from sapsim.model.build import build, hold_locked, place_forces
from sapsim.model.fields import FIELDS
from sapsim.model.stage import Stage
from sapsim.model.trees import BLOCK

GPU_LANES = 32


@dataclass(frozen=True)
class ExternalForce:
    """A force [N] and torque [N m] on a link, each (3,) or (W, 3).

    Fields:
        link: its name.
        point: where the force acts, in link coordinates [m].
        frame: "world" or "link", the axes of force and torque.
        start, until: when it acts [s]; the functions here have no time, so always.
    """

    link: str
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frame: str = "world"
    start: float = -np.inf
    until: float = np.inf


def stages(R) -> list[Stage]:
    """Every stage that the functions launch."""
    return [
        kinematics.make(R),
        kinematics.make_placements(R),
        forces.make(R),
        inverse.make(R),
        crba.make(R),
        solve.make_factor(R),
        solve.make_solve(R),
        aba.make(R),
        velocities.make_set(R),
        velocities.make_get(R),
        velocities.make_move(R),
    ]


class Dynamics(Frames, Momentum, Coriolis):
    """The mechanism of a scene: its links and joints, without shapes, scene forces and time.

    Attributes:
        nworld, nq, nv, nlink: sizes.
        link_names, joint_names, coordinate_names: in the order of files.
        dof_names: (nv) the joint's name, with [k] where the joint has several velocities.
        joint_q_start, joint_qd_start: first entries of each joint, and one past the end.
        inertias: own mass properties of the links.
        model: model.build.Model, host values of all model arrays.
    """

    def __init__(
        self,
        scene,
        *,
        nworld: int = 1,
        precision: str = "float64",
        device: str = "cpu",
        lanes: int | None = None,
        factor: str = "auto",
    ):
        """`scene` as of `sapsim.load`, or a Simulation, whose scene is taken; locked joints are fixed ones here.

        Memory for `nworld` states is allocated.

        `lanes` (a block's threads) changes how fast it runs and not one bit of what comes out.  `factor` is how mass matrices
        are factorised: "dense", "sparse", or "auto", which chooses for each tree (model/trees.py).
        """
        scene = hold_locked(getattr(scene, "scene", scene))
        bare = replace(scene, world_shapes=(), forces=(), links=tuple(replace(k, shapes=()) for k in scene.links))
        self.scene, self.model = scene, build(bare, factor)
        self.nworld, self.precision = nworld, precision
        self.R = real(precision)
        self.device = str(wp.get_device(device))
        self.lanes = lanes or (GPU_LANES if self.device.startswith("cuda") else 1)
        m = self.model
        self.nq, self.nv, self.nlink = m.sizes["nq"], m.sizes["nv"], m.sizes["nlink"]
        self.link_names, self.joint_names, self.coordinate_names = m.link_names, m.joint_names, m.coordinate_names
        self.joint_q_start, self.joint_qd_start = m.joint_q_start, m.joint_qd_start
        self.dof_names = [
            name if last - first == 1 else f"{name}[{k}]"
            for name, first, last in zip(m.joint_names, m.joint_qd_start, m.joint_qd_start[1:], strict=False)
            for k in range(last - first)
        ]
        self.inertias = LinkInertias.of(scene, m.arrays["link_body"])
        self._q_at = np.asarray(m.arrays["coordinate_from"], int)
        self._v_at = np.asarray(m.arrays["dof_from"], int) + np.asarray(m.arrays["dof_entry"], int)
        self._allocate()

    def _allocate(self) -> None:
        self._launches: dict[tuple, wp.Launch] = {}
        self._arrays = Arrays(self.R, self.device, self.nworld, self.model.sizes | {"none": 1})
        for name, values in self.model.arrays.items():
            self._set_model(name, values)
        wanted = {name for stage in stages(self.R) for name in stage.struct.array_names}
        wanted |= {FIELDS[name].type.split("@")[1] for name in wanted if "@" in FIELDS[name].type}
        self._arrays.allocate([f.name for f in FIELDS.values() if f.name in wanted and f.group not in ("topology", "model")])

    def _set_model(self, name: str, values: np.ndarray) -> None:
        self._launches.clear()
        is_topology = FIELDS[name].group == "topology"
        (self._arrays.set_topology if is_topology else self._arrays.set_model)(name, values)

    # ---- in and out --------------------------------------------------------------------------------------------------

    def _launch(self, *stages: Stage, **scalars: float) -> None:
        """The stages in turn; launches are kept, with their arguments, until an array is replaced."""
        for stage in stages:
            key = (stage, *scalars.items())
            if key not in self._launches:
                values = {name: scalars.get(name, self.model.sizes.get(name, 0)) for name, _ in stage.scalars}
                bound = self._arrays.bind(stage.struct, **values)
                how = {"dim": [self.nworld], "block_dim": self.lanes, "device": self.device, "record_cmd": True}
                self._launches[key] = wp.launch_tiled(stage.kernel, inputs=[bound], **how)
            self._launches[key].launch()

    def _put(self, name: str, at: np.ndarray, values: Any) -> None:
        """Values (W, n) or (n,) in the order of files, into an array in internal order; padding stays zero."""
        array = self._arrays[name]
        inside = np.zeros(array.shape, self.R.np)
        if at.size:
            values = np.asarray(values, float)
            if values.shape[-1:] != at.shape or values.ndim > 2 or (values.ndim == 2 and len(values) != self.nworld):
                raise ValueError(f"{name}: shape {values.shape}, expected ({self.nworld}, {at.size}) or ({at.size},)")
            inside[:, at] = values
        array.assign(inside)

    def _get(self, name: str) -> np.ndarray:
        """Degrees of freedom of an array, (W, nv) float64, in the order of files."""
        return self._arrays[name].numpy()[:, self._v_at].astype(float)

    def bodies(self, name: str) -> np.ndarray:
        """A body array of fields.py, (W, nbody, ...) as float64: that of the state that was last asked about."""
        return self._arrays[name].numpy()[:, : self.model.sizes["nbody"]].astype(float)

    def _set_state(self, q: Any, v: Any = None) -> None:
        self._put("q", self._q_at, q)
        self._put("v", self._v_at, np.zeros(self.nv) if v is None else v)

    def _place(self, q: Any, v: Any = None) -> None:
        """Kinematics at a state."""
        self._set_state(q, v)
        self._launch(kinematics.make(self.R))

    def _apply(self, f_ext: Any) -> None:
        """Sums external forces on bodies, at the placements of the last `_place`."""
        for name, values in place_forces(f_ext or (), self.link_names, self.model.arrays).items():
            self._set_model(name, values)
        self._launch(forces.make(self.R))

    # ---- functions ---------------------------------------------------------------------------------------------------

    def rnea(self, q, v, a, f_ext=None) -> np.ndarray:
        """Inverse dynamics: tau (W, nv) [N or N m] of the motion q, v, a under external forces (a list of ExternalForce)."""
        return self.rnea_many(q, v, [a], f_ext)[0]

    def rnea_many(self, q, v, accelerations, f_ext=None) -> np.ndarray:
        """rnea for K accelerations, each (W, nv) or (nv,), at one state: (K, W, nv).  Kinematics is done once."""
        self._place(q, v)
        self._apply(f_ext)
        return np.stack([self._inverse(a) for a in accelerations])

    def rnea_pushed(self, q, v, a, pushes) -> np.ndarray:
        """rnea under each of K lists of external forces, at one state: (K, W, nv).  Kinematics is done once."""
        self._place(q, v)
        found = []
        for f_ext in pushes:
            self._apply(f_ext)
            found.append(self._inverse(a))
        return np.stack(found)

    def _inverse(self, a) -> np.ndarray:
        """tau (W, nv) at the state of the last `_place`, under the forces of the last `_apply`."""
        self._put("vdot", self._v_at, a)
        self._launch(inverse.make(self.R))
        return self._get("tau_motion")

    def nonlinear_effects(self, q, v, f_ext=None) -> np.ndarray:
        """h(q, v) (W, nv): gravity and the terms of velocity, less external forces; rnea at zero acceleration."""
        return self.rnea(q, v, np.zeros(self.nv), f_ext)

    def crba(self, q) -> np.ndarray:
        """The mass matrix M (W, nv, nv) with armature, by composite rigid bodies."""
        self._set_state(q)
        self._launch(kinematics.make_placements(self.R))
        return self.mass_matrix()

    def mass_matrix(self) -> np.ndarray:
        """M (W, nv, nv) at the state that was last asked about."""
        self._launch(crba.make(self.R), h=0.0)
        return self._dense(self._arrays["A"].numpy().astype(float))

    def solve(self, q, tau) -> np.ndarray:
        """M(q)^-1 tau (W, nv) by the factor of every tree's mass matrix; not a number where that is not positive definite."""
        self._set_state(q)
        self._put("tau_motion", self._v_at, tau)
        self._launch(kinematics.make_placements(self.R))
        self._launch(crba.make(self.R), solve.make_factor(self.R), solve.make_solve(self.R), h=0.0)
        m = self.model.arrays
        tree = np.asarray(m["body_tree"], int)[np.asarray(m["dof_to_body"], int)]
        failed = self._arrays["free_status"].numpy()[:, tree]
        return np.where(failed == 0, self._get("vdot"), np.nan)

    def aba(self, q, v, tau, f_ext=None) -> np.ndarray:
        """Forward dynamics: the acceleration a (W, nv) under tau and external forces, by articulated bodies.

        What comes out is not finite, or not meaningful, where M is not positive definite.
        """
        self._place(q, v)
        self._apply(f_ext)
        self._put("tau_motion", self._v_at, tau)
        self._launch(aba.make(self.R))
        return self._get("vdot")

    def forward_kinematics(self, q, v=None) -> LinkMotion:
        """Placements and twists of all links at q and v (default: at rest)."""
        self._place(q, v)
        return self.links()

    def links(self) -> LinkMotion:
        """Placements and twists of all links at the state that was last asked about."""
        return link_motion(self.model.arrays, *(self.bodies(name) for name in ("p_WB", "Q_WB", "V_WB")))

    def to_internal(self, q, qd) -> np.ndarray:
        """Internal velocities v (W, nv) of velocities qd (W, nv) of files."""
        self._place(q)
        self._put("v_in", self._v_at, qd)
        self._launch(velocities.make_set(self.R))
        return self._get("v")

    def to_external(self, q, v) -> np.ndarray:
        """Velocities of files (W, nv) of internal velocities v (W, nv)."""
        self._place(q, v)
        self._launch(velocities.make_get(self.R))
        return self._arrays["v_out"].numpy()[:, : self.nv].astype(float)

    def move(self, q, v, h: float) -> np.ndarray:
        """q (W, nq) moved along v: q + h N(q) v on every joint's manifold, as a step of the simulation does."""
        self._place(q, v)
        self._launch(velocities.make_move(self.R), h=h)
        return self._arrays["q"].numpy()[:, self._q_at].astype(float)

    def along(self, q, v) -> Callable:
        """place(t, rate=None): kinematics at move(q, v, t) with velocities `rate` (default: v), for `links`, `bodies` and
        `mass_matrix` to read.  For derivatives along a motion: what does not change from t to t is done once."""
        self._place(q, v)
        start = {name: wp.clone(self._arrays[name]) for name in ("q", "v", "R_WF")}

        def place(t: float, rate=None) -> None:
            for name, values in start.items():
                wp.copy(self._arrays[name], values)
            self._launch(velocities.make_move(self.R), h=t)
            if rate is not None:
                self._put("v", self._v_at, rate)
            self._launch(kinematics.make(self.R))

        return place

    def difference(self, q0, q1) -> np.ndarray:
        """The velocities v (W, nv) for which move(q0, v, 1) is q1; not finite where a quaternion has to turn by half a turn."""
        q0, q1 = (np.broadcast_to(np.asarray(q, float), (self.nworld, self.nq)) for q in (q0, q1))
        v = np.zeros((self.nworld, self.nv))
        for kind, R_WF, q, dofs in self._joints():
            rows = [kind.difference(a, b) for a, b in zip(q0[:, q], q1[:, q], strict=True)]
            own = np.reshape(rows, (self.nworld, kind.nv))
            if kind.needs_world:  # velocities in world axes
                own = np.concatenate([own[:, :3] @ R_WF.T, own[:, 3:] @ R_WF.T], axis=1)
            v[:, dofs] = own
        return v

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """q (W, nq), drawn joint by joint on their manifolds: any rotation, angles in +-pi, positions in +-1 m."""
        q = np.zeros((self.nworld, self.nq))
        for kind, _, at, _ in self._joints():
            q[:, at] = [kind.random(kind, rng) for _ in range(self.nworld)]
        return q

    def _joints(self):
        """Of every joint that moves, in the order of files: kind, R_PF, and its entries of q and v."""
        for j, joint in enumerate(self.scene.joints):
            kind = registry("joints")[joint.kind]
            q, v = (slice(start[j], start[j + 1]) for start in (self.joint_q_start, self.joint_qd_start))
            if kind.moves:
                yield kind, quaternion_matrix(joint.X_PF.q), q, v

    @property
    def armature(self) -> np.ndarray:
        """(nv,) reflected inertia of the joints [kg or kg m^2], on the diagonal of M.  May be set, to see what it does."""
        return self.model.arrays["dof_armature"][0, self._v_at]

    @armature.setter
    def armature(self, values) -> None:
        inside = np.zeros_like(self.model.arrays["dof_armature"])
        inside[:, self._v_at] = values
        self.model.arrays["dof_armature"] = inside
        self._set_model("dof_armature", inside)

    @property
    def gravity(self) -> np.ndarray:
        """(ntree, 3) acceleration of gravity on each tree [m/s^2], world axes.  May be set, also to one vector for all."""
        return self.model.arrays["tree_gravity"][0]

    @gravity.setter
    def gravity(self, values) -> None:
        inside = np.array(np.broadcast_to(values, self.model.arrays["tree_gravity"].shape), float)
        self.model.arrays["tree_gravity"] = inside
        self._set_model("tree_gravity", inside)

    @property
    def neutral(self) -> np.ndarray:
        """(nq,) the coordinates that the scene starts from."""
        return self.model.q0

    def _dense(self, blocks: np.ndarray) -> np.ndarray:
        """(W, nv, nv) of the stored 3x3 blocks (model/trees.py), (W, nA, 3, 3)."""
        m = self.model.arrays
        ndof = self.model.sizes["ndof"]
        full = np.zeros((self.nworld, ndof, ndof))
        for r, (at, depth) in enumerate(zip(m["A_row"], m["block_depth"], strict=True)):
            c = r
            for place in range(int(at) + int(depth), int(at) - 1, -1):
                rows, columns = slice(BLOCK * r, BLOCK * (r + 1)), slice(BLOCK * c, BLOCK * (c + 1))
                full[:, columns, rows] = np.swapaxes(blocks[:, place], 1, 2)
                full[:, rows, columns] = blocks[:, place]
                c = int(m["block_parent"][c])
        return full[:, self._v_at[:, None], self._v_at]
