"""Position update q <- q + h N(q) v_next on every joint's manifold, v <- v_next; or nothing, where the step failed.

A world whose solve failed or whose velocity is not finite keeps the state it had and stops; so does one whose solve did not
converge under `on_failure: stop`, after that step.
"""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import make_joints
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage
from sapsim.status import FAILURES, StepStatus

ARRAYS = (
    "body_joint", "body_q_start", "body_dof_start", "R_WF", "q", "v", "v_b", "v_next_b", "free_status",
    "lane_count", "solve_int", "stopped", "step",
)  # fmt: skip
SCALARS = (("nbody", "int"), ("ntree", "int"), ("nblock", "int"), ("stop_on_failure", "int"), ("h", "real"))


@cache
def make(R) -> Stage:
    """The stage `integrate`; writes q, v, step, stopped, and the step's status word solve_int[5]."""
    vec3, wide3 = R.vec3, R.wide.vec3
    step_q = make_joints(R).step_q
    struct = make_struct("Integrate", R, ARRAYS, SCALARS)

    @wp.func
    def finite(v: wide3) -> bool:
        return wp.isfinite(v[0]) and wp.isfinite(v[1]) and wp.isfinite(v[2])

    @wp.func
    def step_status(s: struct, w: int, lane: int) -> int:
        """The status of the step, the same in every lane."""
        own = int(0)
        for r in range(lane, s.nblock, wp.block_dim()):
            if not finite(s.v_next_b[w, r]):
                own = own | wp.static(int(StepStatus.NON_FINITE))
        for t in range(lane, s.ntree, wp.block_dim()):
            if s.free_status[w, t] != 0:
                own = own | wp.static(int(StepStatus.FACTORIZATION_FAILED))
        s.lane_count[w, lane] = own
        barrier()
        status = s.solve_int[w, 0]
        for k in range(wp.block_dim()):
            status = status | s.lane_count[w, k]
        if s.stopped[w] != 0:
            status = wp.static(int(StepStatus.WORLD_STOPPED))
        return status

    @wp.func
    def integrate(s: struct, w: int, lane: int):
        status = step_status(s, w, lane)
        failed = status & wp.static(int(FAILURES | StepStatus.WORLD_STOPPED))
        if failed == 0:
            for r in range(lane, s.nblock, wp.block_dim()):
                s.v_b[w, r] = vec3(s.v_next_b[w, r])
            barrier()
            for b in range(lane, s.nbody, wp.block_dim()):
                step_q(s.body_joint[b], s.q, s.v, w, s.body_q_start[b], s.body_dof_start[b], s.h, s.R_WF[w, b])
        barrier()
        if lane == 0:
            unconverged = s.solve_int[w, 1] == 0
            s.solve_int[w, 5] = status
            if failed != 0 or (unconverged and s.stop_on_failure == 1):
                s.stopped[w] = 1
            s.step[w] = s.step[w] + 1

    return make_stage("integrate", R, struct, integrate, SCALARS)
