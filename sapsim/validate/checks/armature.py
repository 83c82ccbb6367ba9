"""Armature is counted once, in RNEA and in CRBA: what it adds over a mechanism without is armature a, and diag(armature).

Taken as the scene says it, and once more with as much again as the diagonal of M on top, so that a scene without armature is
tested too.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, worst_name


def measure(s: Samples) -> Measured:
    d = s.dynamics
    starts = zip(d.scene.joints, d.joint_qd_start, d.joint_qd_start[1:], strict=False)
    said = np.array([joint.armature for joint, first, last in starts for _ in range(last - first)]).reshape(-1)
    built = d.armature.copy()
    more = said + np.mean(np.einsum("wii->wi", s.M), axis=0)
    residuals = []
    try:
        d.armature = 0.0
        tau_0, M_0 = d.rnea(s.q, s.v, s.a), d.crba(s.q)
        d.armature = more
        cases = [(said, s.tau, s.M), (more, d.rnea(s.q, s.v, s.a), d.crba(s.q))]
    finally:
        d.armature = built
    for armature, tau, M in cases:
        residuals.append(("RNEA", tau - tau_0 - armature * s.a))
        residuals.append(("CRBA", np.einsum("wij,wj->wi", M - M_0, s.a) - armature * s.a))
    worst = np.stack([s.relative(r) for _, r in residuals], axis=1)

    def where(w: int) -> str:
        what, r = residuals[int(np.argmax(worst[w]))]
        return f"{what}: {worst_name(s.D[w] * r[w], d.dof_names)}"

    return Measured(worst.max(axis=1), where)


CHECK = Check("armature", "armature once, in RNEA and in CRBA", measure)
