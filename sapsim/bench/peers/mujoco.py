"""MuJoCo (`pip install mujoco`): `mj_step(model, data, nstep)` with its defaults: Newton solver, pyramidal cone, Euler.

With drives the integrator is `implicitfast`, which takes their damping at the step's end and their stiffness at its start.
Joint limits are soft there, with MuJoCo's defaults.

Its contacts are softer and have no parameters that ours could be turned into: they keep their defaults, friction is ours.
Boxes collide by their faces.  Worlds are data of one model, advanced one after another.
"""

import numpy as np

from sapsim.bench.cases import Case
from sapsim.bench.engine import SAMPLES, Fault, Seen, Unfit
from sapsim.bench.mechanism import Body, Geometry, Mechanism, mechanism, refuse_kinds, translated
from sapsim.bench.peers._mujoco_bodies import JOINTS, Folded, add_drive, add_joints, fold
from sapsim.scene.poses import matrix

SHAPES = {
    "plane": lambda s: ("mjGEOM_PLANE", [0.0, 0.0, 1.0]),
    "sphere": lambda s: ("mjGEOM_SPHERE", [s[0], 0.0, 0.0]),
    "box": lambda s: ("mjGEOM_BOX", list(s)),
    "capsule": lambda s: ("mjGEOM_CAPSULE", [s[0], s[1], 0.0]),
}
ARENA = 1 << 28  # bytes for contacts of one world


class Engine:
    """A scene in MuJoCo."""

    NAME, PACKAGE, REQUIREMENT = "mujoco", "mujoco", "mujoco"
    CONE = "mjCONE_PYRAMIDAL"

    def __init__(self, case: Case):
        import mujoco

        self.mujoco = mujoco
        scene, model = case.scene("faces")
        self.boxes = "faces" if "faces" in case.scenes else ""
        self.mechanism = m = mechanism(scene, model)
        refuse_kinds("joints", [b.kind for b in m.bodies], JOINTS)
        refuse_kinds("shapes", [s.kind for s in m.shapes], SHAPES)
        self.version, self.device, self.precision, self.threads = mujoco.__version__, "cpu", "float64", 1
        self.model = self._spec().compile()
        self.datas = [mujoco.MjData(self.model) for _ in range(case.nworld)]
        self.restart()

    # ---- the model ---------------------------------------------------------------------------------------------------

    def _spec(self):
        mj, m = self.mujoco, self.mechanism
        spec = mj.MjSpec()
        spec.compiler.degree = False
        spec.option.timestep = m.time_step
        spec.option.gravity = m.gravity
        spec.option.cone = getattr(mj.mjtCone, self.CONE)
        spec.option.disableflags |= int(mj.mjtDisableBit.mjDSBL_FILTERPARENT)  # pairs are excluded by name below
        spec.memory = ARENA
        if any(body.drive for body in m.bodies):  # Euler's method takes no drive at the step's end
            spec.option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
        bodies: dict[int, object] = {}
        for folded in fold(m):
            b, parent = folded.members[-1], m.bodies[folded.members[0]].parent
            bodies[b] = self._add_body(spec.worldbody if parent < 0 else bodies[parent], f"b{b}", folded)
        for b, body in enumerate(m.bodies):
            if body.drive:
                add_drive(mj, spec, f"j{b}", body)
        for shape in m.shapes:
            self._add_shape(spec.worldbody if shape.body < 0 else bodies[shape.body], shape)
        names = ["world", *(f"b{b}" for b in range(len(m.bodies)))]
        for a, b in untested_bodies(m):
            spec.add_exclude(bodyname1=names[a + 1], bodyname2=names[b + 1])
        return spec

    def _add_body(self, parent, name: str, folded: Folded):
        body = self.mechanism.bodies[folded.members[-1]]
        i = body.inertia
        R, p = body.floating_pose() if body.floats else (folded.R_PB, folded.p_PB)
        made = parent.add_body(name=name, pos=p, quat=self._quat(R), gravcomp=float(body.weightless))
        made.explicitinertial = True
        made.mass, made.ipos = body.mass, body.com
        made.fullinertia = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
        add_joints(self.mujoco, made, folded, self.mechanism.bodies)
        return made

    def _add_shape(self, body, shape: Geometry) -> None:
        kind, size = SHAPES[shape.kind](shape.size)
        geom = body.add_geom(type=getattr(self.mujoco.mjtGeom, kind), size=size, pos=shape.p_BG, quat=self._quat(shape.R_BG))
        geom.friction[0] = shape.friction

    def _quat(self, R: np.ndarray) -> np.ndarray:
        quat = np.zeros(4)
        self.mujoco.mju_mat2Quat(quat, np.ascontiguousarray(R).ravel())
        return quat

    # ---- stepping ----------------------------------------------------------------------------------------------------

    def restart(self) -> None:
        mj, model = self.mujoco, self.model
        for data in self.datas:
            mj.mj_resetData(model, data)
            for b, body in enumerate(self.mechanism.bodies):
                first = model.joint(f"j{b}" if JOINTS[body.kind] else f"j{b}_0").id
                iq, iv = model.jnt_qposadr[first], model.jnt_dofadr[first]
                q, v = self._state(body)
                data.qpos[iq : iq + len(q)], data.qvel[iv : iv + len(v)] = q, v
            mj.mj_forward(model, data)

    def _state(self, body: Body) -> tuple[np.ndarray, np.ndarray]:
        """qpos and qvel of a joint; of a free joint the velocity of the origin in world and omega in the body's axes.

        A quaternion is wxyz there, and omega of a ball in the body's axes.
        """
        if body.floats:
            R, p = body.floating_pose()
            omega, v = body.floating_twist()
            return np.concatenate([p, self._quat(R)]), np.concatenate([v, R.T @ omega])
        if len(body.q) == len(body.v):
            return body.q, body.v
        return np.roll(body.q, 1), matrix(tuple(body.q)).T @ body.v

    def advance(self, n: int) -> None:
        for data in self.datas:
            self.mujoco.mj_step(self.model, data, nstep=n)

    def observe(self, n: int) -> Seen:
        chunk, done, contacts, iterations, converged = max(1, n // SAMPLES), 0, [], [], []
        while done < n:
            self.advance(min(chunk, n - done))
            done += chunk
            for data in self.datas:
                niter = data.solver_niter[: max(1, data.nisland)]
                contacts.append(data.ncon)
                iterations.append(float(niter.mean()))
                converged.append(bool((niter < self.model.opt.iterations).all()))
        return Seen(float(np.mean(contacts)), float(np.mean(iterations)), float(np.mean(converged)))

    def fault(self) -> Fault | None:
        for data in self.datas:
            warned = [self.mujoco.mjtWarning(k).name for k, warning in enumerate(data.warning) if warning.number]
            if warned:
                return Fault("failed", f"MuJoCo warned: {', '.join(warned)}")
            if not (np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all()):
                return Fault("failed", "the state is not finite")
        return None

    def poses(self) -> np.ndarray:
        data = self.datas[0]
        self.mujoco.mj_kinematics(self.model, data)
        nothing = np.zeros((3, 4))  # in the place of bodies that are folded, and left out below
        names = [f"b{b}" if body.mass > 0.0 else "" for b, body in enumerate(self.mechanism.bodies)]
        own = (data.body(name) if name else None for name in names)
        found = (np.column_stack([x.xmat.reshape(3, 3), x.xpos]) if x is not None else nothing for x in own)
        return translated(self.mechanism.bodies, found)


def untested_bodies(m: Mechanism) -> list[tuple[int, int]]:
    """Pairs of bodies (-1: the world) with shapes of which none are tested.  Raises Unfit where only some are."""
    of_body: dict[int, list[int]] = {}
    for i, shape in enumerate(m.shapes):
        of_body.setdefault(shape.body, []).append(i)
    tested: dict[tuple[int, int], int] = {}
    for i, j in m.pairs:
        bodies = tuple(sorted((m.shapes[i].body, m.shapes[j].body)))
        tested[bodies] = tested.get(bodies, 0) + 1
    untested = []
    for a in sorted(of_body):
        for b in sorted(of_body):
            if a < b:
                found = tested.get((a, b), 0)
                if 0 < found < len(of_body[a]) * len(of_body[b]):
                    raise Unfit("of two bodies only some pairs of shapes are tested")
                if not found:
                    untested.append((a, b))
    return untested
