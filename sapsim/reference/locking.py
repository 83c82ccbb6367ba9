"""Locked joints for the twin: a fixed joint in their place, and where their entries stand in the q and qd of files."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from sapsim.reference.bodies import NQ, NV
from sapsim.reference.kinematics import calc_X_FM
from sapsim.reference.spatial import placement, rotation_to_quaternion


class Locked:
    """The scene without degrees of freedom of locked joints: `scene`; `expand` and `reduce` go to files' entries and back."""

    def __init__(self, scene):
        locked = {joint.name for joint in scene.joints if joint.locked}
        self.scene = scene
        if locked:
            joints = tuple(_fixed(j) if j.locked else j for j in scene.joints)
            actuators = tuple(a for a in scene.actuators if a.joint not in locked)
            constraints = tuple(c for c in scene.constraints if not c.joints or set(c.joints) - locked)
            self.scene = replace(scene, joints=joints, actuators=actuators, constraints=constraints)
        self.moves = [np.array([not j.locked for j in scene.joints for _ in range(size[j.kind])], bool) for size in (NQ, NV)]
        self.q0 = np.array([x for j in scene.joints for x in j.q0], float)
        self.qd0 = np.array([x for j in scene.joints for x in j.qd0], float)

    def reduce(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Entries of joints that move."""
        return np.asarray(q, float)[self.moves[0]], np.asarray(qd, float)[self.moves[1]]

    def expand(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All entries."""
        full_q, full_qd = self.q0.copy(), np.zeros(len(self.moves[1]))
        full_q[self.moves[0]], full_qd[self.moves[1]] = q, qd
        return full_q, full_qd


def _fixed(joint):
    unit = [np.array(a, float) / np.linalg.norm(a) for a in (joint.axis, joint.axis2)]
    q0 = np.array(joint.q0, float)
    X = placement(joint.X_PF) @ calc_X_FM(SimpleNamespace(kind=joint.kind, axis=unit[0], axis2=unit[1], pitch=joint.pitch), q0)
    pose = replace(joint.X_PF, p=tuple(X.p), q=tuple(rotation_to_quaternion(X.R)))
    limit = type(joint.limit)()
    return replace(joint, kind="fixed", X_PF=pose, qd0=(), limit=limit, friction=0.0, mimic=None, locked=False)
