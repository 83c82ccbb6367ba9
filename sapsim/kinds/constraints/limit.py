"""Joint limits lower <= q <= upper, joints of one degree of freedom (sap_formulas 3.3).

    g = q0 - lower with vc = v,  or  upper - q0 with vc = -v;   kept where g <= 2 h max(|v0|, |v_star|)
    R = max(beta^2 w / 4 pi^2, 1 / (h k (h + tau))),   v_hat = -g / (h + tau),   0 <= gamma
    k = 1e12 N/m or N m/rad, tau = h, beta = 0.1

so a limit is as stiff as the step resolves: under a steady force F it gives by F h^2 beta^2 / (2 pi^2 A).  A joint that is
far from its bounds has no constraint; one that is beyond a bound comes back by half of what is left in each step.

Parameters: (sign, bound).
"""

import math

from sapsim.kinds.base import ConstraintFuncs, ConstraintKind, ConstraintRow
from sapsim.kinds.constraints._holonomic import NEAR_RIGID

STIFFNESS = 1.0e12
WINDOW = 2.0


def rows(scene) -> list[ConstraintRow]:
    """Lower, then upper, of every joint in the order of the scene; only bounds that are finite."""
    found = []
    for j, joint in enumerate(scene.joints):
        for side, sign, bound in (("lower", 1.0, joint.limit.lower), ("upper", -1.0, joint.limit.upper)):
            if math.isfinite(bound):
                found.append(ConstraintRow(f"{joint.name}:{side}", j, sign, (sign, bound)))
    return found


def make(R):
    import warp as wp

    real, vec4, vec8 = R.t, R.vec4, R.vec8

    @wp.func
    def prepare(h: real, p: vec8, w: real, q0: real, v0: real, v_star: real) -> vec4:
        g = p[0] * (q0 - p[1])
        if g > real(WINDOW) * h * wp.max(wp.abs(v0), wp.abs(v_star)):
            return vec4(real(0.0))
        tau = h
        regularisation = wp.max(real(NEAR_RIGID) * w, real(1.0) / (h * real(STIFFNESS) * (h + tau)))
        return vec4(regularisation, -g / (h + tau), real(0.0), real(wp.inf))

    return ConstraintFuncs(prepare=prepare)


KIND = ConstraintKind(name="limit", order=0, make=make, rows=rows)
