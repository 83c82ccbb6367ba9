"""Pinocchio (`pip install pin`): placements, M, h and forward dynamics of the same mechanism, built there from our bodies.

Pinocchio measures some velocities in other axes.  For each joint v = T v_pin and a = T a_pin + b at the state, so that M_pin
= T' M T and tau_pin = T' tau:

    floating    T = [0 R_WB; R_WB 0], b = [0; omega x v]     Pinocchio: [v; omega] in the body's axes
    ball        T = R_FM, b = 0                              Pinocchio: omega in the body's axes
    others      T = 1, b = 0
"""

from functools import cached_property

import numpy as np

from sapsim.errors import UsageError
from sapsim.kinds.base import registry
from sapsim.validate.base import Check, Measured, Samples, ratio


def _composite(pin, kind, axis, axis2):
    """A joint whose velocities are rates of its coordinates: the columns of S at zero one after another.

    Right where each is carried along by those before it, or does not change under them.
    """
    joint = pin.JointModelComposite()
    for column in np.asarray(kind.S_F(axis, axis2, kind.neutral)).T:
        turns = bool(np.any(column[:3]))
        joint.addJoint(
            (pin.JointModelRevoluteUnaligned if turns else pin.JointModelPrismaticUnaligned)(column[3 * (not turns) :][:3])
        )
    return joint


def _universal(pin, kind, axis, axis2):
    """Pinocchio's own is for axes at right angles, as its constructor demands to the last digit; else two hinges."""
    return pin.JointModelUniversal(axis, axis2) if axis @ axis2 == 0.0 else _composite(pin, kind, axis, axis2)


_JOINTS = {
    "revolute": lambda pin, kind, axis, axis2: pin.JointModelRevoluteUnaligned(axis),
    "continuous": lambda pin, kind, axis, axis2: pin.JointModelRevoluteUnaligned(axis),
    "prismatic": lambda pin, kind, axis, axis2: pin.JointModelPrismaticUnaligned(axis),
    "floating": lambda pin, kind, axis, axis2: pin.JointModelFreeFlyer(),
    "ball": lambda pin, kind, axis, axis2: pin.JointModelSpherical(),
    "planar": _composite,
    "screw": lambda pin, kind, axis, axis2: pin.JointModelHelicalUnaligned(axis, float(axis @ axis2)),
    "cylindrical": _composite,
    "universal": _universal,
}
# T and b of one joint from its rotations R_WB, R_FM and its velocity; kinds that are not here have T = 1, b = 0.  All T are
# made of rotations, so that T^-1 = T'.
_VELOCITIES = {
    "floating": lambda R_WB, R_FM, v: (
        np.block([[np.zeros((3, 3)), R_WB], [R_WB, np.zeros((3, 3))]]),
        np.concatenate([np.zeros(3), np.cross(v[:3], v[3:])]),
    ),
    "ball": lambda R_WB, R_FM, v: (R_FM, np.zeros(3)),
}


def _import():
    try:
        import pinocchio
    except ImportError as error:
        raise UsageError("--against pinocchio needs the package pin: pip install 'sapsim[peers]'") from error
    return pinocchio


class Peer:
    """The mechanism in Pinocchio, and its answers on the samples, in our velocities."""

    def __init__(self, samples: Samples):
        self.pin, self.s = _import(), samples
        self.d = samples.dynamics
        m = self.d.model.arrays
        kinds = list(registry("joints").values())
        self.kinds = [kinds[c] for c in m["body_joint"]]
        unknown = sorted({k.name for k in self.kinds} - set(_JOINTS))
        if unknown:
            raise UsageError(f"--against pinocchio: no translation of joints {', '.join(unknown)}")
        of_dof = np.asarray(m["dof_to_body"], int)
        self.dofs = [np.flatnonzero(of_dof == b) for b in range(len(self.kinds))]  # ours, in the order of files
        self.model, self.ids = self._build(m)
        self.gravity = [self.d.gravity[m["body_tree"][b]] for b in range(len(self.kinds))]

    def _build(self, m):
        pin = self.pin
        model, ids = pin.Model(), []
        model.gravity = pin.Motion.Zero()  # of each tree, as an external force
        for b, kind in enumerate(self.kinds):
            axis, axis2 = m["body_axis"][0, b], m["body_axis2"][0, b]
            place = pin.XYZQUATToSE3(np.concatenate([m["body_p_PF"][0, b], m["body_Q_PF"][0, b]]))
            parent = ids[m["body_parent"][b]] if m["body_parent"][b] >= 0 else 0
            ids.append(model.addJoint(parent, _JOINTS[kind.name](pin, kind, axis, axis2), place, f"body{b}"))
            inertia = pin.Inertia(m["body_mass"][0, b], m["body_com"][0, b], m["body_inertia"][0, b])
            model.appendBodyToJoint(ids[b], inertia, pin.SE3.Identity())
        armature = np.zeros(model.nv)
        for b, i in enumerate(ids):
            armature[self._pin_dofs(model, i)] = self.d.armature[self.dofs[b]]
        model.armature = armature
        return model, ids

    @staticmethod
    def _pin_dofs(model, i: int) -> slice:
        return slice(model.joints[i].idx_v, model.joints[i].idx_v + model.joints[i].nv)

    def _state(self, w: int):
        """(data, q, v in Pinocchio; T, b; weights as external forces) of sample w, placements done."""
        pin, model, m = self.pin, self.model, self.d.model.arrays
        data = model.createData()
        q, v = np.zeros(model.nq), self.s.v[w]
        inside = np.zeros(self.d.nq)
        inside[np.asarray(m["coordinate_from"], int)] = self.s.q[w]
        for b, i in enumerate(self.ids):
            first = m["body_q_start"][b]
            q[model.joints[i].idx_q : model.joints[i].idx_q + model.joints[i].nq] = inside[first : first + self.kinds[b].nq]
        q = pin.normalize(model, q)
        pin.forwardKinematics(model, data, q)
        T, bias = np.zeros((self.d.nv, model.nv)), np.zeros(self.d.nv)
        weights = pin.StdVec_Force()
        weights.append(pin.Force.Zero())
        for b, i in enumerate(self.ids):
            dofs, R_WB = self.dofs[b], data.oMi[i].rotation
            R_FM = model.jointPlacements[i].rotation.T @ data.liMi[i].rotation
            make = _VELOCITIES.get(self.kinds[b].name)
            block, rest = make(R_WB, R_FM, v[dofs]) if make else (np.eye(len(dofs)), np.zeros(len(dofs)))
            T[dofs, self._pin_dofs(model, i)] = block
            bias[dofs] = rest
            f = R_WB.T @ (m["body_mass"][0, b] * self.gravity[b])
            weights.append(pin.Force(f, np.cross(m["body_com"][0, b], f)))
        return data, q, T.T @ v, T, bias, weights

    @cached_property
    def answers(self) -> dict[str, np.ndarray]:
        """placements (W, nbody, 12), M, h, and a under tau, each with a leading axis of samples."""
        found = {"placements": [], "M": [], "h": [], "a": []}
        for w in range(len(self.s.q)):
            data, q, v, T, bias, weights = self._state(w)
            back = T.T
            X = [np.concatenate([data.oMi[i].rotation.ravel(), data.oMi[i].translation]) for i in self.ids]
            found["placements"].append(np.array(X).reshape(-1, 12))
            M = self.pin.crba(self.model, data, q)
            M = np.triu(M) + np.triu(M, 1).T
            found["M"].append(back.T @ M @ back)
            # a = 0 of ours is -T^-1 b there, which moves a reflected inertia that Pinocchio has on its own velocities
            turned = self.d.armature * bias
            found["h"].append(back.T @ self.pin.rnea(self.model, data, q, v, -back @ bias, weights) + turned)
            a = self.pin.aba(self.model, data, q, v, T.T @ (self.s.tau[w] - turned), weights)
            found["a"].append(T @ a + bias)
        return {name: np.array(rows) for name, rows in found.items()}


def compare(scene) -> list[Check]:
    """The checks against Pinocchio.  Raises UsageError where it is not installed."""
    _import()
    peers: dict[int, Peer] = {}

    def of(s: Samples) -> Peer:
        if id(s) not in peers:
            peers[id(s)] = Peer(s)
        return peers[id(s)]

    def placements(s: Samples) -> Measured:
        s.dynamics.forward_kinematics(s.q)
        R, p = s.dynamics.bodies("R_WB"), s.dynamics.bodies("p_WB")
        ours = np.concatenate([R.reshape(*R.shape[:2], 9), p], axis=2)
        theirs = of(s).answers["placements"].reshape(ours.shape)
        scale = 1.0 + np.abs(theirs[..., 9:]).max(axis=(1, 2), initial=0.0)
        return Measured(np.abs(ours - theirs).max(axis=(1, 2), initial=0.0) / scale)

    def matrix(s: Samples) -> Measured:
        return s.of_forces(np.einsum("wij,wj->wi", s.M - of(s).answers["M"], s.a))

    def bias(s: Samples) -> Measured:
        return s.of_forces(s.h - of(s).answers["h"])

    def forward(s: Samples) -> Measured:
        a, theirs = s.dynamics.aba(s.q, s.v, s.tau), of(s).answers["a"]
        plain = ratio(np.linalg.norm(a - theirs, axis=1), np.linalg.norm(theirs, axis=1))
        r = np.einsum("wij,wj->wi", s.M, a - theirs)
        return s.of_forces(r, plain={"acceleration_error_pinocchio": float(plain.max(initial=0.0))})

    return [
        Check("pinocchio_placements", "placements of the bodies equal Pinocchio's", placements),
        Check("pinocchio_mass_matrix", "M a equals Pinocchio's", matrix),
        Check("pinocchio_bias", "h(q, v) equals Pinocchio's", bias),
        Check("pinocchio_aba", "ABA equals Pinocchio's", forward),
    ]
