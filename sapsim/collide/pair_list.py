"""Near pairs of a small model: those of its list of pairs whose bounding balls touch, and the boxes about them too where the
model has enough pairs that this saves time (model/grid.py).

Every lane looks at one contiguous chunk of the list, counts, and writes behind the lanes before it, so that the near list has
the list's order whatever the number of lanes.
"""

import warp as wp

from sapsim.collide.bounds import ARRAYS as BOUNDS
from sapsim.collide.bounds import make_bounds
from sapsim.math.block import barrier

ARRAYS = (
    "shape_radius", "pair_a", "pair_b", "pair_kind", "p_WG", "lane_count", "near_a", "near_b", "near_kind", "near_part",
    "near_count", *BOUNDS,
)  # fmt: skip


def make_pair_list(R, struct):
    """wp.func from_list(s, w, lane): writes the near list.

    A struct that is passed here has the arrays of ARRAYS and the scalars nshape, npair, nboxed, cnear and margin.
    """
    bounds = make_bounds(R, struct)
    bound, apart = bounds.bound, bounds.apart

    @wp.func
    def near(s: struct, w: int, i: int) -> bool:
        a = s.pair_a[i]
        b = s.pair_b[i]
        reach = s.shape_radius[w, a] + s.shape_radius[w, b] + s.margin
        d = s.p_WG[w, b] - s.p_WG[w, a]
        if wp.dot(d, d) > reach * reach:
            return False
        if s.nboxed == 0:
            return True
        return not apart(s.c_WG[w, a], s.e_WG[w, a], s.c_WG[w, b], s.e_WG[w, b], s.margin)

    @wp.func
    def scan_chunk(s: struct, w: int, lane: int, base: int, write: bool) -> int:
        """Goes through the lane's chunk; counts, or also writes from `base` on: one text for both passes."""
        chunk = (s.npair + wp.block_dim() - 1) // wp.block_dim()
        n = int(0)
        for i in range(lane * chunk, wp.min((lane + 1) * chunk, s.npair)):
            if near(s, w, i):
                if write and base + n < s.cnear:
                    s.near_a[w, base + n] = s.pair_a[i]
                    s.near_b[w, base + n] = s.pair_b[i]
                    s.near_kind[w, base + n] = s.pair_kind[i]
                    s.near_part[w, base + n] = -1
                n += 1
        return n

    @wp.func
    def from_list(s: struct, w: int, lane: int):
        if s.nboxed > 0:
            for i in range(lane, s.nshape, wp.block_dim()):
                bound(s, w, i)
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

    return from_list
