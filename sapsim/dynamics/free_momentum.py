"""The momentum of free motion, p = A v0 + h tau, for the momentum form: A is multiplied with and not factorised (seed 000).

It is A v_star of the other form (free_motion.py), without v_star.  A lane owns block rows.
"""

from functools import cache

import warp as wp

from sapsim.linalg.tree_blocks import ARRAYS as BLOCKS
from sapsim.linalg.tree_blocks import make_tree_blocks
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (*BLOCKS, "tau_b", "v_b", "p_free", "free_status")
SCALARS = (("ntree", "int"), ("nblock", "int"), ("h", "real"))


@cache
def make(R) -> Stage:
    """The stage `free_momentum`; writes p_free, and a free_status of zero: that of A shows in the solve."""
    struct = make_struct("FreeMomentum", R, ARRAYS, SCALARS)
    A_times = make_tree_blocks(R, struct).times

    @wp.func
    def free_momentum(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            s.free_status[w, t] = 0
        for r in range(lane, s.nblock, wp.block_dim()):
            s.p_free[w, r] = A_times(s, w, r, s.v_b) + s.h * s.tau_b[w, r]

    return make_stage("free_momentum", R, struct, free_momentum, SCALARS)
