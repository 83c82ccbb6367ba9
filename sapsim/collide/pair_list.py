"""Near pairs of a small model: those of its list of pairs whose bounds touch (bounds.py).

Before the pairs of a run with one second body (model/pair_runs.py), that body as a whole is tested, by its ball.

Every lane looks at one contiguous chunk of the runs, counts, and writes behind the lanes before it, so that the near list has
the list's order whatever the number of lanes.
"""

import warp as wp

from sapsim.collide.bounds import BALL_ARRAYS as BALLS
from sapsim.collide.bounds import make_ball_bounds
from sapsim.math.block import barrier

ARRAYS = (
    "pair_a", "pair_b", "pair_kind", "run_start", "run_body", "lane_count", "near_a", "near_b", "near_kind", "near_part",
    "near_count", *BALLS,
)  # fmt: skip


def make_pair_list(R, struct):
    """wp.func from_list(s, w, lane): writes the near list.

    A struct that is passed here has the arrays of ARRAYS and the scalars nrun, cnear and margin.
    """
    bounds = make_ball_bounds(R, struct)
    meet, at_body = bounds.meet, bounds.at_body

    @wp.func
    def scan_run(s: struct, w: int, k: int, at: int, write: bool) -> int:
        """The near pairs of run k; counted, or also written from `at` on."""
        first = s.run_start[k]
        end = s.run_start[k + 1]
        a = s.pair_a[first]
        body = s.run_body[k]
        if body >= 0:
            if not at_body(s, w, a, body):
                end = first
        n = int(0)
        for i in range(first, end):
            b = s.pair_b[i]
            if meet(s, w, a, b):
                if write and at + n < s.cnear:
                    s.near_a[w, at + n] = a
                    s.near_b[w, at + n] = b
                    s.near_kind[w, at + n] = s.pair_kind[i]
                    s.near_part[w, at + n] = -1
                n += 1
        return n

    @wp.func
    def scan_chunk(s: struct, w: int, lane: int, base: int, write: bool) -> int:
        """Goes through the lane's chunk; counts, or also writes from `base` on: one text for both passes."""
        chunk = (s.nrun + wp.block_dim() - 1) // wp.block_dim()
        n = int(0)
        for k in range(lane * chunk, wp.min((lane + 1) * chunk, s.nrun)):
            n += scan_run(s, w, k, base + n, write)
        return n

    @wp.func
    def from_list(s: struct, w: int, lane: int):
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
