"""Broad phase: which of the pairs that may touch have touching bounds, as an ascending list.

The bounds of a pair are the box of the larger shape, along that shape's axes, and the ball of the other.  Before the pairs of
a run with one second body (model/pair_runs.py), that body as a whole is tested, by its ball.

Every lane looks at one contiguous chunk of the runs, counts, and writes behind the lanes before it, so that the list has the
pairs' order whatever the number of lanes.
"""

from functools import cache

import warp as wp

from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "shape_body", "shape_p_BG", "shape_R_BG", "shape_radius", "shape_half", "body_reach",
    "pair_a", "pair_b", "run_start", "run_body", "p_WB", "R_WB",
    "p_WG", "R_WG", "lane_count", "near_pair", "near_count",
)  # fmt: skip
SCALARS = (("nshape", "int"), ("nrun", "int"), ("cnear", "int"), ("margin", "real"))


@cache
def make(R) -> Stage:
    """The stage `broadphase`; writes p_WG, R_WG, near_pair, near_count (which may exceed cnear)."""
    real, vec3 = R.t, R.vec3
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
    def in_box(s: struct, w: int, a: int, d: vec3, near: real) -> bool:
        """Whether a ball of radius `near` at d from the shape's origin, world axes, reaches its box; walls are thin.

        A box no smaller than the ball about the shape says nothing new.
        """
        half = s.shape_half[w, a]
        if half[0] >= s.shape_radius[w, a]:
            return True
        x = wp.transpose(s.R_WG[w, a]) * d
        return wp.abs(x[0]) <= half[0] + near and wp.abs(x[1]) <= half[1] + near and wp.abs(x[2]) <= half[2] + near

    @wp.func
    def meets(s: struct, w: int, a: int, d: vec3, radius: real) -> bool:
        """Whether a ball at d from the shape's origin reaches the bounds of shape a."""
        near = radius + s.margin
        reach = s.shape_radius[w, a] + near
        return wp.dot(d, d) <= reach * reach and in_box(s, w, a, d, near)

    @wp.func
    def scan_chunk(s: struct, w: int, lane: int, base: int, write: bool) -> int:
        """Goes through the lane's chunk; counts, or also writes from `base` on: one text for both passes."""
        chunk = (s.nrun + wp.block_dim() - 1) // wp.block_dim()
        n = int(0)
        for k in range(lane * chunk, wp.min((lane + 1) * chunk, s.nrun)):
            first = s.run_start[k]
            end = s.run_start[k + 1]
            a = s.pair_a[first]
            p_WA = s.p_WG[w, a]
            radius = s.shape_radius[w, a]
            body = s.run_body[k]
            if body >= 0:
                if not meets(s, w, a, s.p_WB[w, body] - p_WA, s.body_reach[w, body]):
                    end = first
            for i in range(first, end):
                b = s.pair_b[i]
                d = s.p_WG[w, b] - p_WA
                other = s.shape_radius[w, b]
                reach = radius + other + s.margin
                if wp.dot(d, d) <= reach * reach:
                    near = bool(False)
                    if radius >= other:
                        near = in_box(s, w, a, d, other + s.margin)
                    else:
                        near = in_box(s, w, b, d, radius + s.margin)
                    if near:
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
