"""Applied forces at the step's start t_k: what scene `forces` put on bodies, as a torque and force at Bo in world axes.

A force is active in steps with from - h/2 <= t_k < until - h/2.  A lane owns bodies; a body sums its forces in their order.
"""

from functools import cache

import warp as wp

from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

APPLIED = ("force_frame", "force_p_BP", "force_F", "force_input", "signal", "force_from", "force_until", "step")
ARRAYS = ("body_force_start", *APPLIED, "R_WB", "F_applied")
SCALARS = (("nbody", "int"), ("h", "real"))


def make_applied(R, struct):
    """wp.func applied(s, w, i, R_WB) -> vec6 at Bo in world axes: applied force i in this step, zero where it is not active.

    A struct that is passed here has the arrays of APPLIED and `h`.
    """
    real, vec3, vec6, mat33 = R.t, R.vec3, R.vec6, R.mat33
    spatial = make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join

    @wp.func
    def applied(s: struct, w: int, i: int, R_WB: mat33) -> vec6:
        # half a step earlier, so that rounding of k h cannot move a force to the next step
        t = (real(s.step[w]) + real(0.5)) * s.h
        if t < s.force_from[w, i] or t >= s.force_until[w, i]:
            return vec6(real(0.0))
        given = s.force_F[w, i]
        c = s.force_input[i]
        if c >= 0:
            given = vec6(
                s.signal[w, c], s.signal[w, c + 1], s.signal[w, c + 2],
                s.signal[w, c + 3], s.signal[w, c + 4], s.signal[w, c + 5],
            )  # fmt: skip
        torque = top(given)
        force = bottom(given)
        if s.force_frame[i] == 1:
            torque = R_WB * torque
            force = R_WB * force
        p_BP = R_WB * s.force_p_BP[w, i]
        return join(torque + wp.cross(p_BP, force), vec3(force))

    return applied


@cache
def make(R) -> Stage:
    """The stage `forces`; writes F_applied."""
    real, vec6 = R.t, R.vec6
    struct = make_struct("Forces", R, ARRAYS, SCALARS)
    applied = make_applied(R, struct)

    @wp.func
    def forces(s: struct, w: int, lane: int):
        for b in range(lane, s.nbody, wp.block_dim()):
            F = vec6(real(0.0))
            for i in range(s.body_force_start[b], s.body_force_start[b + 1]):
                F += applied(s, w, i, s.R_WB[w, b])
            s.F_applied[w, b] = F

    return make_stage("forces", R, struct, forces, SCALARS)
