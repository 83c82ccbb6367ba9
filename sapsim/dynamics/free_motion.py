"""Free motion: A (v_star - v0) = h tau, with one factor of A per tree (sap_formulas 1.1).

Damping is implicit: A holds h damping and tau holds -damping v0.
"""

from functools import cache

import warp as wp

from sapsim.linalg.tree_factor import ARRAYS as FACTOR
from sapsim.linalg.tree_factor import SCALARS as FACTOR_SCALARS
from sapsim.linalg.tree_factor import make_tree_factor
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (*FACTOR, "tau_b", "v_b", "v_star_b")
SCALARS = (*FACTOR_SCALARS, ("nblock", "int"), ("h", "real"))


@cache
def make(R) -> Stage:
    """The stage `free_motion`; writes L, v_star and free_status."""
    struct = make_struct("FreeMotion", R, ARRAYS, SCALARS)
    tree_factor = make_tree_factor(R, struct)
    factor, solve = tree_factor.factor, tree_factor.solve

    @wp.func
    def free_motion(s: struct, w: int, lane: int):
        for r in range(lane, s.nblock, wp.block_dim()):
            s.v_star_b[w, r] = s.tau_b[w, r]
        factor(s, w, lane)
        barrier()
        solve(s, w, lane, s.v_star_b)
        barrier()
        for r in range(lane, s.nblock, wp.block_dim()):
            s.v_star_b[w, r] = s.v_b[w, r] + s.h * s.v_star_b[w, r]

    return make_stage("free_motion", R, struct, free_motion, SCALARS)
