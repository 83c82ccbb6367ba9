"""Pinocchio (`pip install pin`): forward dynamics by ABA and symplectic Euler, on scenes without contact.

It has no step of its own: v += h aba(q, v, 0), q = integrate(q, h v), called from Python on arrays made beforehand.  Three
calls into C++ and one product cost about 1 us beside the work itself; that is part of the figure.
"""

import numpy as np

from sapsim.bench.cases import Case
from sapsim.bench.engine import Fault, Seen, Unfit
from sapsim.bench.mechanism import Body, mechanism, refuse_kinds

JOINTS = {
    "revolute": "JointModelRevoluteUnaligned",
    "continuous": "JointModelRevoluteUnaligned",
    "prismatic": "JointModelPrismaticUnaligned",
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
        if any(b.damping or b.stiffness for b in m.bodies):
            raise Unfit("dampers and springs are not translated")
        self.version, self.device, self.precision, self.threads = pinocchio.__version__, "cpu", "float64", 1
        self.model, self.ids = self._build(m.bodies)
        self.model.gravity = pinocchio.Motion(m.gravity, np.zeros(3))
        self.datas = [self.model.createData() for _ in range(case.nworld)]
        self.tau = np.zeros(self.model.nv)
        self.restart()

    def _build(self, bodies: list[Body]):
        pin, model, ids = self.pin, self.pin.Model(), []
        for b, body in enumerate(bodies):
            parent = ids[body.parent] if body.parent >= 0 else 0
            joint = getattr(pin, JOINTS[body.kind])(body.axis)
            ids.append(model.addJoint(parent, joint, pin.SE3(body.R_PF, body.p_PF), f"j{b}"))
            model.appendBodyToJoint(ids[b], pin.Inertia(body.mass, body.com, body.inertia), pin.SE3.Identity())
        model.armature = np.array([body.armature for body in bodies])
        return model, ids

    def restart(self) -> None:
        q, v = (np.array([getattr(body, name)[0] for body in self.mechanism.bodies]) for name in "qv")
        self.states = [(q.copy(), v.copy()) for _ in self.datas]

    def advance(self, n: int) -> None:
        aba, integrate, model, tau, h = self.pin.aba, self.pin.integrate, self.model, self.tau, self.mechanism.time_step
        for w, data in enumerate(self.datas):
            q, v = self.states[w]
            for _ in range(n):
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
        return np.array([np.column_stack([data.oMi[i].rotation, data.oMi[i].translation]) for i in self.ids]).reshape(-1, 3, 4)
