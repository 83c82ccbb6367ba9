"""Pinocchio (`pip install pin`): forward dynamics by ABA and symplectic Euler, on scenes without contact.

It has no step of its own: v += h aba(q, v, tau), q = integrate(q, h v), called from Python on arrays made beforehand.  Three
calls into C++ and one product cost about 1 us beside the work itself; that is in the figure.  Dampers D and drives (kp, kd)
are taken at the step's end, as ours are: h (D + kd) + h^2 kp is added to the armature, and tau is what they and the springs put
out at the position q + h v and the velocity v of the start.  Joint limits and bounds of drives would need a solver.
"""

import numpy as np

from sapsim.bench.cases import Case
from sapsim.bench.engine import Fault, Seen, Unfit
from sapsim.bench.mechanism import Body, Mechanism, mechanism, refuse_kinds, translated

JOINTS = {
    "revolute": "JointModelRevoluteUnaligned",
    "continuous": "JointModelRevoluteUnaligned",
    "prismatic": "JointModelPrismaticUnaligned",
    "planar": "JointModelComposite",
    "universal": "JointModelComposite",
    "cylindrical": "JointModelComposite",
    "screw": "JointModelHelicalUnaligned",
}


class Engine:
    """A scene in Pinocchio."""

    NAME, PACKAGE, REQUIREMENT = "pinocchio", "pinocchio", "pin"

    def __init__(self, case: Case):
        import pinocchio

        self.pin, self.boxes = pinocchio, ""
        scene, model = case.scene()
        self.mechanism = m = mechanism(scene, model)
        if m.pairs:
            raise Unfit("scenes without contact only")
        refuse_kinds("joints", [b.kind for b in m.bodies], JOINTS)
        _refuse(m)
        self.version, self.device, self.precision, self.threads = pinocchio.__version__, "cpu", "float64", 1
        self.model, self.ids = self._build(m.bodies)
        self.model.gravity = pinocchio.Motion(m.gravity, np.zeros(3))
        self._drives(m)
        self.datas = [self.model.createData() for _ in range(case.nworld)]
        self.restart()

    def _build(self, bodies: list[Body]):
        pin, model, ids = self.pin, self.pin.Model(), []
        for b, body in enumerate(bodies):
            parent = ids[body.parent] if body.parent >= 0 else 0
            joint = self._joint(body)
            ids.append(model.addJoint(parent, joint, pin.SE3(body.R_PF, body.p_PF), f"j{b}"))
            model.appendBodyToJoint(ids[b], pin.Inertia(body.mass, body.com, body.inertia), pin.SE3.Identity())
        return model, ids

    def _joint(self, body: Body):
        """A joint whose coordinates and velocities are ours."""
        pin, name = self.pin, JOINTS[body.kind]
        if name == "JointModelHelicalUnaligned":
            return pin.JointModelHelicalUnaligned(body.axis, float(body.axis @ body.S[3:, 0]))
        if name != "JointModelComposite":
            return getattr(pin, name)(body.axis)
        joint = pin.JointModelComposite()
        for turns, axis in body.motions():
            joint.addJoint((pin.JointModelRevoluteUnaligned if turns else pin.JointModelPrismaticUnaligned)(axis))
        return joint

    def _drives(self, m: Mechanism) -> None:
        """Forces tau = bias - K q - C v of dampers, springs and drives, and what they add to the armature."""

        def rows(of) -> np.ndarray:
            return np.concatenate([np.full(len(b.v), of(b)) for b in m.bodies])

        h = m.time_step
        kp, kd, bias = (rows(lambda b, k=k: getattr(b.drive, k) if b.drive else 0.0) for k in ("kp", "kd", "bias"))
        damping, stiffness = rows(lambda b: b.damping), rows(lambda b: b.stiffness)
        self.model.armature = rows(lambda b: b.armature) + h * (damping + kd) + h * h * kp
        self.K, self.C = kp + stiffness, damping + kd + h * kp
        self.bias = bias + stiffness * rows(lambda b: b.reference)
        self.driven = bool(np.any(self.K) or np.any(self.C) or np.any(self.bias))

    def restart(self) -> None:
        q, v = (np.concatenate([getattr(body, name) for body in self.mechanism.bodies]) for name in "qv")
        self.states = [(q.copy(), v.copy()) for _ in self.datas]

    def advance(self, n: int) -> None:
        aba, integrate, model, h = self.pin.aba, self.pin.integrate, self.model, self.mechanism.time_step
        tau, driven, bias, K, C = np.zeros(model.nv), self.driven, self.bias, self.K, self.C
        for w, data in enumerate(self.datas):
            q, v = self.states[w]
            for _ in range(n):
                if driven:
                    tau = bias - K * q - C * v
                v += h * aba(model, data, q, v, tau)
                q = integrate(model, q, h * v)
            self.states[w] = q, v

    def observe(self, n: int) -> Seen:
        self.advance(n)
        return Seen(0.0, None, 1.0)

    def fault(self) -> Fault | None:
        if not all(np.isfinite(x).all() for state in self.states for x in state):
            return Fault("failed", "the state is not finite")
        return None

    def poses(self) -> np.ndarray:
        data = self.datas[0]
        self.pin.forwardKinematics(self.model, data, self.states[0][0])
        found = (np.column_stack([data.oMi[i].rotation, data.oMi[i].translation]) for i in self.ids)
        return translated(self.mechanism.bodies, found)


def _refuse(m: Mechanism) -> None:
    """Raises Unfit for what needs a solver, and for bodies with and without weight beside each other."""
    if any(b.limited for b in m.bodies):
        raise Unfit("joint limits need a solver")
    if any(b.drive and np.isfinite(b.drive.limit) for b in m.bodies):
        raise Unfit("effort limits need a solver")
    if any(b.weightless for b in m.bodies):
        raise Unfit("models with and without gravity: not translated")
