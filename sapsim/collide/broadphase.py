"""Broad phase: which of the pairs that may touch have touching bounds, as an ascending list.

Every lane looks at one contiguous chunk of the pairs, counts, and writes behind the lanes before it, so that the list has the
pairs' order whatever the number of lanes.
"""

from functools import cache

import warp as wp

from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "shape_body", "shape_p_BG", "shape_R_BG", "shape_radius", "pair_a", "pair_b", "p_WB", "R_WB",
    "p_WG", "R_WG", "lane_count", "near_pair", "near_count",
)  # fmt: skip
SCALARS = (("nshape", "int"), ("npair", "int"), ("cnear", "int"), ("margin", "real"))


@cache
def make(R) -> Stage:
    """The stage `broadphase`; writes p_WG, R_WG, near_pair, near_count (which may exceed cnear)."""
    struct = make_struct("Broadphase", R, ARRAYS, SCALARS)

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
    def near(s: struct, w: int, i: int) -> bool:
        a = s.pair_a[i]
        b = s.pair_b[i]
        reach = s.shape_radius[w, a] + s.shape_radius[w, b] + s.margin
        d = s.p_WG[w, b] - s.p_WG[w, a]
        return wp.dot(d, d) <= reach * reach

    @wp.func
    def scan_chunk(s: struct, w: int, lane: int, base: int, write: bool) -> int:
        """Goes through the lane's chunk; counts, or also writes from `base` on: one text for both passes."""
        chunk = (s.npair + wp.block_dim() - 1) // wp.block_dim()
        n = int(0)
        for i in range(lane * chunk, wp.min((lane + 1) * chunk, s.npair)):
            if near(s, w, i):
                if write and base + n < s.cnear:
                    s.near_pair[w, base + n] = i
                n += 1
        return n

    @wp.func
    def broadphase(s: struct, w: int, lane: int):
        place_shapes(s, w, lane)
        barrier()
        if wp.block_dim() == 1:
            s.near_count[w] = scan_chunk(s, w, lane, 0, True)
        else:
            s.lane_count[w, lane] = scan_chunk(s, w, lane, 0, False)
            barrier()
            base = int(0)
            total = int(0)
            for k in range(wp.block_dim()):
                if k < lane:
                    base += s.lane_count[w, k]
                total += s.lane_count[w, k]
            scan_chunk(s, w, lane, base, True)
            if lane == 0:
                s.near_count[w] = total

    return make_stage("broadphase", R, struct, broadphase, SCALARS)
