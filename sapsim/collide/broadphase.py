"""Broad phase: which of the pairs that may touch have touching bounds, as a list that ascends by the two shapes.

Few shapes: the model lists all pairs that may touch, and their bounds are tested (pair_list.py).  Many: shapes are sorted into
a grid (grid.py), and the rules are asked of the pairs that it finds (rules.py).  The contacts are the same, bit for
bit: the narrow phase decides which pairs touch, and both lists have the same order.
"""

from functools import cache

import warp as wp

from sapsim.collide.grid import ARRAYS as GRID
from sapsim.collide.grid import SCALARS as GRID_SCALARS
from sapsim.collide.grid import make_grid
from sapsim.collide.pair_list import ARRAYS as LIST
from sapsim.collide.pair_list import make_pair_list
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = tuple(dict.fromkeys((
    "shape_body", "shape_p_BG", "shape_R_BG", "p_WB", "R_WB", "p_WG", "R_WG", *LIST, *GRID,
)))  # fmt: skip
SCALARS = (("nshape", "int"), ("nrun", "int"), ("cnear", "int"), *GRID_SCALARS, ("margin", "real"))


@cache
def make(R) -> Stage:
    """The stage `broadphase`; writes p_WG, R_WG, the near list and near_count (which may exceed cnear)."""
    struct = make_struct("Broadphase", R, ARRAYS, SCALARS)
    from_list = make_pair_list(R, struct)
    from_grid = make_grid(R, struct)

    @wp.func
    def place_shapes(s: struct, w: int, lane: int):
        for i in range(lane, s.nshape, wp.block_dim()):
            b = s.shape_body[i]
            if b < 0:
                s.p_WG[w, i] = s.shape_p_BG[w, i]
                s.R_WG[w, i] = s.shape_R_BG[w, i]
            else:
                R_WB = s.R_WB[w, b]
                s.p_WG[w, i] = s.p_WB[w, b] + R_WB * s.shape_p_BG[w, i]
                s.R_WG[w, i] = R_WB * s.shape_R_BG[w, i]

    @wp.func
    def broadphase(s: struct, w: int, lane: int):
        place_shapes(s, w, lane)
        barrier()
        if s.ngridlevel + s.nlarge > 0:
            from_grid(s, w, lane)
        else:
            from_list(s, w, lane)

    return make_stage("broadphase", R, struct, broadphase, SCALARS)
