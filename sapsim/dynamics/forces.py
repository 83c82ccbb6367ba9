"""Applied forces at the step's start t_k: what scene `forces` put on bodies, as a torque and force at Bo in world axes.

A force is active in steps with from - h/2 <= t_k < until - h/2.  A lane owns bodies; a body sums its forces in their order.
"""

from functools import cache

import warp as wp

from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "body_force_start", "force_frame", "force_p_BP", "force_F", "force_input", "signal", "force_from", "force_until",
    "step", "R_WB", "F_applied",
)  # fmt: skip
SCALARS = (("nbody", "int"), ("h", "real"))


@cache
def make(R) -> Stage:
    """The stage `forces`; writes F_applied."""
    real, vec3, vec6 = R.t, R.vec3, R.vec6
    spatial = make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join
    struct = make_struct("Forces", R, ARRAYS, SCALARS)

    @wp.func
    def forces(s: struct, w: int, lane: int):
        # half a step earlier, so that rounding of k h cannot move a force to the next step
        t = (real(s.step[w]) + real(0.5)) * s.h
        for b in range(lane, s.nbody, wp.block_dim()):
            F = vec6(real(0.0))
            for i in range(s.body_force_start[b], s.body_force_start[b + 1]):
                if t >= s.force_from[w, i] and t < s.force_until[w, i]:
                    given = s.force_F[w, i]
                    c = s.force_input[i]
                    if c >= 0:
                        given = vec6(
                            s.signal[w, c], s.signal[w, c + 1], s.signal[w, c + 2],
                            s.signal[w, c + 3], s.signal[w, c + 4], s.signal[w, c + 5],
                        )  # fmt: skip
                    torque = top(given)
                    force = bottom(given)
                    p_BP = s.R_WB[w, b] * s.force_p_BP[w, i]
                    if s.force_frame[i] == 1:
                        torque = s.R_WB[w, b] * torque
                        force = s.R_WB[w, b] * force
                    F += join(torque + wp.cross(p_BP, force), vec3(force))
            s.F_applied[w, b] = F

    return make_stage("forces", R, struct, forces, SCALARS)
