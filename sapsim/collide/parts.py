"""Near parts of surfaces: the near list gets, in place of a pair with a surface, entries for every part that may touch: 2 part
for its face, and 2 part + 1 for its sides and corners where one of them is a ridge or an end.

A walk through the surface's tree of boxes (model/box_tree.py) with the bounds of the other shape, in the surface's axes, finds
them in ascending order; a part is near where the bounds also reach its plane, and are not wholly behind it.  A pair that
finds none keeps one entry, with part NONE.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.collide.bounds import SLACK
from sapsim.math.block import barrier
from sapsim.model.surfaces import RIDGE

NONE = -2
ARRAYS = (
    "near_a", "near_b", "near_kind", "near_part", "near_count", "near_points", "p_WG", "R_WG", "shape_low", "shape_high",
    "shape_round", "shape_mesh", "surface_node", "node_tri", "node_tri_end", "node_next", "node_low", "node_high",
    "tri_corner", "tri_vertex", "tri_plane", "tri_bits",
)  # fmt: skip


def make_parts(R, struct):
    """Device functions expand(s, w, lane): lists the near parts; is_first(s, w, i): whether near entry i is the first of its
    pair.  A struct that is passed here has the arrays of ARRAYS and the scalars cnear and margin.
    """
    real, vec3, mat33 = R.t, R.vec3, R.mat33
    slack = SLACK * R.eps
    larger = 1.0 + slack

    @wp.struct
    class Reach:
        """Bounds of a shape in the axes of a surface: middle c and half extents e along these; columns of R_GS are its own
        axes, along which it has half lengths and semi-axes."""

        c: vec3
        e: vec3
        R_GS: mat33
        half: vec3
        round: vec3

    @wp.func
    def magnitudes(a: vec3) -> vec3:
        return vec3(wp.abs(a[0]), wp.abs(a[1]), wp.abs(a[2]))

    @wp.func
    def extent(d: vec3, half: vec3, round: vec3) -> real:
        x = wp.cw_mul(d, round)
        return wp.dot(magnitudes(d), half) + wp.length(x)

    @wp.func
    def reach_of(s: struct, w: int, i: int, surface: int) -> Reach:
        out = Reach()
        R_GW = wp.transpose(s.R_WG[w, surface])
        out.R_GS = R_GW * s.R_WG[w, i]
        low = s.shape_low[w, i]
        high = s.shape_high[w, i]
        out.half = real(0.5) * (high - low)
        out.round = s.shape_round[w, i]
        out.c = R_GW * (s.p_WG[w, i] - s.p_WG[w, surface]) + out.R_GS * (real(0.5) * (low + high))
        rounding = real(slack) * wp.max(magnitudes(s.p_WG[w, i]) + magnitudes(s.p_WG[w, surface]) + magnitudes(out.c))
        for k in range(3):
            d = vec3(out.R_GS[k, 0], out.R_GS[k, 1], out.R_GS[k, 2])
            out.e[k] = extent(d, out.half, out.round) * real(larger) + s.margin + rounding
        return out

    @wp.func
    def misses(c: vec3, e: vec3, low: vec3, high: vec3) -> bool:
        if c[0] + e[0] < low[0] or c[1] + e[1] < low[1] or c[2] + e[2] < low[2]:
            return True
        return c[0] - e[0] > high[0] or c[1] - e[1] > high[1] or c[2] - e[2] > high[2]

    @wp.func
    def is_near(s: struct, w: int, part: int, reach: Reach) -> bool:
        p_0 = s.tri_vertex[w, s.tri_corner[3 * part]]
        p_1 = s.tri_vertex[w, s.tri_corner[3 * part + 1]]
        p_2 = s.tri_vertex[w, s.tri_corner[3 * part + 2]]
        if misses(reach.c, reach.e, wp.min(wp.min(p_0, p_1), p_2), wp.max(wp.max(p_0, p_1), p_2)):
            return False
        plane = s.tri_plane[w, part]
        n = vec3(plane[0], plane[1], plane[2])
        height = wp.dot(n, reach.c - p_0) + plane[3]
        most = extent(wp.transpose(reach.R_GS) * n, reach.half, reach.round) + s.margin
        most += real(slack) * (most + wp.length(reach.c) + wp.length(p_0))
        return height <= most and height >= -most

    @wp.func
    def walk(s: struct, w: int, i: int, surface: int, at: int, end: int, write: bool) -> int:
        """The entries of shape i: counted, or also written from place `at` on, before place `end`."""
        mesh = s.shape_mesh[surface]
        reach = reach_of(s, w, i, surface)
        node = s.surface_node[mesh]
        n = int(0)
        while node < s.surface_node[mesh + 1]:
            if misses(reach.c, reach.e, s.node_low[w, node], s.node_high[w, node]):
                node = s.node_next[node]
            else:
                first = s.node_tri[node]
                if first >= 0:
                    for part in range(first, s.node_tri_end[node]):
                        if is_near(s, w, part, reach):
                            entries = 1 + s.tri_bits[part] // wp.static(RIDGE)
                            if write:
                                for k in range(entries):
                                    if at + n + k < end:
                                        s.near_part[w, at + n + k] = 2 * part + k
                            n += entries
                node += 1
        return n

    @wp.func
    def of_entry(s: struct, w: int, i: int, end: int, write: bool) -> int:
        surface = wp.where(s.shape_mesh[s.near_b[w, i]] >= 0, s.near_b[w, i], s.near_a[w, i])
        return walk(s, w, s.near_a[w, i] + s.near_b[w, i] - surface, surface, i, end, write)

    @wp.func
    def has_parts(s: struct, w: int, i: int) -> bool:
        return s.shape_mesh[s.near_a[w, i]] >= 0 or s.shape_mesh[s.near_b[w, i]] >= 0

    @wp.func
    def is_first(s: struct, w: int, i: int) -> bool:
        if i == 0:
            return True
        return s.near_a[w, i] != s.near_a[w, i - 1] or s.near_b[w, i] != s.near_b[w, i - 1]

    @wp.func
    def spread(s: struct, w: int, near: int):
        """Makes room for the parts, of which near_points has the numbers: entries move from the last to the first, none to a
        place before its own."""
        total = int(0)
        for i in range(near):
            total += s.near_points[w, i]
        s.near_count[w] = s.near_count[w] + total - near
        at = total
        for k in range(near):
            i = near - 1 - k
            a = s.near_a[w, i]
            b = s.near_b[w, i]
            kind = s.near_kind[w, i]
            part = s.near_part[w, i]
            if has_parts(s, w, i):
                part = wp.static(NONE)
            for _copy in range(s.near_points[w, i]):
                at -= 1
                if at < s.cnear:
                    s.near_a[w, at] = a
                    s.near_b[w, at] = b
                    s.near_kind[w, at] = kind
                    s.near_part[w, at] = part

    @wp.func
    def expand(s: struct, w: int, lane: int):
        passes = int(2)  # first they are counted, then written; one place in the text that walks
        for write in range(passes):
            near = wp.min(s.near_count[w], s.cnear)
            for i in range(lane, near, wp.block_dim()):
                count = int(1)
                if has_parts(s, w, i) and (write == 0 or is_first(s, w, i)):
                    count = wp.max(1, of_entry(s, w, i, near, write == 1))
                if write == 0:
                    s.near_points[w, i] = count
            barrier()
            if write == 0 and lane == 0:
                spread(s, w, near)
            barrier()

    return SimpleNamespace(expand=expand, is_first=is_first)
