"""The factor of the mass matrix by itself, and solves with it, for the functions of `api.py`: stages `factor` and `solve`."""

from functools import cache

import warp as wp

from sapsim.linalg.tree_factor import ARRAYS as FACTOR
from sapsim.linalg.tree_factor import SCALARS as FACTOR_SCALARS
from sapsim.linalg.tree_factor import make_tree_factor
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

SOLVE = (*FACTOR, "tau_motion_b", "vdot_b")
SOLVE_SCALARS = (*FACTOR_SCALARS, ("nblock", "int"))


@cache
def make_factor(R) -> Stage:
    """The stage `factor`; reads A, writes L and free_status."""
    struct = make_struct("Factor", R, FACTOR, FACTOR_SCALARS)
    tree_factor = make_tree_factor(R, struct).factor

    @wp.func
    def factor(s: struct, w: int, lane: int):
        tree_factor(s, w, lane)

    return make_stage("factor", R, struct, factor, FACTOR_SCALARS)


@cache
def make_solve(R) -> Stage:
    """The stage `solve`: vdot = A^-1 tau_motion, once `factor` has run."""
    struct = make_struct("Solve", R, SOLVE, SOLVE_SCALARS)
    tree_solve = make_tree_factor(R, struct).solve

    @wp.func
    def solve(s: struct, w: int, lane: int):
        for r in range(lane, s.nblock, wp.block_dim()):
            s.vdot_b[w, r] = s.tau_motion_b[w, r]
        barrier()
        tree_solve(s, w, lane, s.vdot_b)

    return make_stage("solve", R, struct, solve, SOLVE_SCALARS)
