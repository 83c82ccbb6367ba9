"""Free motion: A (v_star - v0) = h tau, one dense Cholesky factor per tree (sap_formulas 1.1).

Damping is implicit: A holds h damping and tau holds -damping v0.  A lane owns whole trees.
"""

from functools import cache

import warp as wp

from sapsim.linalg.tree_cholesky import make_tree_cholesky
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = ("tree_block_start", "tree_A_start", "A", "L", "tau_b", "v_b", "v_star_b", "free_status")
SCALARS = (("ntree", "int"), ("h", "real"))


@cache
def make(R) -> Stage:
    """The stage `free_motion`; writes L, v_star and free_status."""
    cholesky = make_tree_cholesky(R)
    factor, solve = cholesky.factor, cholesky.solve
    struct = make_struct("FreeMotion", R, ARRAYS, SCALARS)

    @wp.func
    def free_motion(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            first = s.tree_block_start[t]
            nb = s.tree_block_start[t + 1] - first
            start = s.tree_A_start[t]
            positive = factor(s.A, s.L, w, start, nb)
            s.free_status[w, t] = 0
            if not positive:
                s.free_status[w, t] = 1
            for r in range(first, first + nb):
                s.v_star_b[w, r] = s.tau_b[w, r]
            solve(s.L, s.v_star_b, w, start, first, nb)
            for r in range(first, first + nb):
                s.v_star_b[w, r] = s.v_b[w, r] + s.h * s.v_star_b[w, r]

    return make_stage("free_motion", R, struct, free_motion, SCALARS)
