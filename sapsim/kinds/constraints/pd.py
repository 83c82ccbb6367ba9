"""Proportional-derivative drives with an effort limit, implicit, on joints of one degree of freedom (sap_formulas 3.4).

    u = clip(-kp (q0 + h v - target) - kd (v - target_velocity) + feedforward, lowest, highest),   gamma = h u

Written as a row: R = 1 / (h (h kp + kd)),  v_hat = (-kp (q0 - target) + kd target_velocity + feedforward) / (h kp + kd).  Gains
beyond what the step resolves are lowered: where R < beta^2 w / 4 pi^2 =: R_nr, beta = 0.1, they are scaled to R = R_nr, with
kd / kp kept.  The feed-forward is not bounded by itself: the limit acts on the sum.

Actuators without gains drive no row: their effort is part of the free motion (rne.py).

Parameters, of which the middle three may change with time: (kp, kd, target, target_velocity, feedforward, lowest, highest).
"""

from sapsim.kinds.base import ConstraintFuncs, ConstraintKind, ConstraintRow
from sapsim.kinds.constraints._holonomic import NEAR_RIGID


def rows(scene) -> list[ConstraintRow]:
    """One for each actuator with gains, in the order of the scene."""
    joints = {joint.name: j for j, joint in enumerate(scene.joints)}
    found = []
    for actuator in scene.actuators:
        if actuator.has_gains:
            j = joints[actuator.joint]
            gains = (actuator.kp, actuator.kd, actuator.target, actuator.target_velocity, actuator.feedforward)
            constant = tuple(x if isinstance(x, float | int) else 0.0 for x in gains)
            inputs = tuple((i, x) for i, x in enumerate(gains) if not isinstance(x, float | int))
            bounds = (actuator.lowest, actuator.highest)
            found.append(ConstraintRow(actuator.name, j, 1.0, (*constant, *bounds), actuator.sum_bounds, inputs=inputs))
    return found


def make(R):
    import warp as wp

    real, vec4, vec8 = R.t, R.vec4, R.vec8

    @wp.func
    def prepare(h: real, p: vec8, w: real, q0: real, v0: real, v_star: real) -> vec4:
        kp = p[0]
        kd = p[1]
        if p[5] >= p[6]:  # a drive without effort
            return vec4(real(0.0))
        near_rigid = real(NEAR_RIGID) * w
        if real(1.0) < near_rigid * h * (h * kp + kd):
            if h * kp > kd:
                tau = kd / kp
                kp = real(1.0) / (h * (h + tau) * near_rigid)
                kd = tau * kp
            else:
                ratio = kp / kd
                kd = real(1.0) / (h * (real(1.0) + h * ratio) * near_rigid)
                kp = ratio * kd
        gain = h * kp + kd
        return vec4(real(1.0) / (h * gain), (kp * (p[2] - q0) + kd * p[3] + p[4]) / gain, h * p[5], h * p[6])

    return ConstraintFuncs(prepare=prepare)


KIND = ConstraintKind(name="pd", order=1, make=make, rows=rows)
