"""The momentum of free motion, p = A v0 + h tau, for the momentum form: A is multiplied with and not factorised (seed 000).

It is A v_star of the other form (free_motion.py), without v_star.  A lane owns whole trees.
"""

from functools import cache

import warp as wp

from sapsim.linalg.tree_product import make_A_times
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = ("tree_block_start", "tree_A_start", "A", "tau_b", "v_b", "p_free", "free_status")
SCALARS = (("ntree", "int"), ("h", "real"))


@cache
def make(R) -> Stage:
    """The stage `free_momentum`; writes p_free, and a free_status of zero: that of A shows in the solve."""
    A_times = make_A_times(R)
    struct = make_struct("FreeMomentum", R, ARRAYS, SCALARS)

    @wp.func
    def free_momentum(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            first = s.tree_block_start[t]
            nb = s.tree_block_start[t + 1] - first
            s.free_status[w, t] = 0
            for r in range(nb):
                Av0 = A_times(s.A, w, s.tree_A_start[t], nb, r, s.v_b, first)
                s.p_free[w, first + r] = Av0 + s.h * s.tau_b[w, first + r]

    return make_stage("free_momentum", R, struct, free_momentum, SCALARS)
