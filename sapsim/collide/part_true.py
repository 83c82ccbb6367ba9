"""Whether the face of a part is what holds a body there: its plane goes on beyond it, and through the body's other contacts.

**Resolved.**  A box that hangs over the edge of a table is some 1e-5 m deep in its top, and in its side by as much as it
covers.  A contact is none where a shallower one, by its own way out, takes its points off the part over a ridge or an end, or
takes the body out of the surface there, as told by the line below.

**Through.**  A body that reaches over a thin ridge has points deep behind the plane of the near side, beyond the far one: the
line from the body's middle to the point passes no part from the front to the back.  Near a sharp ridge such a point may be all
that there is; there the distance of the body and the part tells (convex_surface.py).

**Round the corner.**  A body beside a sharp solid may have its middle behind a plane of it and be outside: the line from the
middle to the point on the part passes another part from the front to the back.

A side that two triangles share is looked
at from its corner of the lower number, so that rounding gives both the same answer and a line passes one of them, never none.
"""

from types import SimpleNamespace

import warp as wp

ARRAYS = (
    "tri_corner", "tri_vertex", "tri_plane", "tri_bits", "tri_beside", "p_WG", "R_WG", "shape_mesh", "surface_node",
    "node_tri", "node_tri_end", "node_next", "node_low", "node_high",
)  # fmt: skip


def make_true(R, struct):
    """Device functions of a surface, points in the world:

    is_off (s, w, part, surface, x) -> bool: whether x is in front of a part's plane, or beyond its ridges and ends.
    is_through (s, w, surface, c, x) -> bool: whether the line from c to x passes a part from its front to its back.
    middle_of (s, w, part, surface) -> vec3: the middle of a part's corners.

    A struct that is passed here has the arrays of ARRAYS.
    """
    real, vec3 = R.t, R.vec3
    level = 1.0e-7 if R.name == "float64" else 1.0e-4  # height over length that is rounding

    @wp.func
    def is_apart(low: vec3, high: vec3, other_low: vec3, other_high: vec3) -> bool:
        """Whether two boxes have no point in common."""
        if high[0] < other_low[0] or high[1] < other_low[1] or high[2] < other_low[2]:
            return True
        return low[0] > other_high[0] or low[1] > other_high[1] or low[2] > other_high[2]

    @wp.func
    def is_ridge(s: struct, w: int, part: int, k: int, n: vec3) -> bool:
        """Whether side k of a part is a ridge or an end."""
        beside = s.tri_beside[3 * part + k]
        if beside < 0:
            return True
        if (s.tri_bits[part] >> k) & 1 == 0:
            return False
        corners = wp.int32(3)  # a variable bound: not unrolled
        for m in range(corners):
            d = s.tri_vertex[w, s.tri_corner[3 * beside + m]] - s.tri_vertex[w, s.tri_corner[3 * part]]
            if wp.dot(n, d) < real(-level) * wp.length(d):
                return True
        return False

    @wp.func
    def is_off(s: struct, w: int, part: int, surface: int, x_W: vec3) -> bool:
        """Whether a point is in front of a part's plane, or beyond ridges and ends of the part."""
        x = wp.transpose(s.R_WG[w, surface]) * (x_W - s.p_WG[w, surface])
        plane = s.tri_plane[w, part]
        n = vec3(plane[0], plane[1], plane[2])
        if wp.dot(n, x - s.tri_vertex[w, s.tri_corner[3 * part]]) + plane[3] >= real(0.0):
            return True
        beyond = int(0)
        sides = wp.int32(3)
        for k in range(sides):
            p = s.tri_vertex[w, s.tri_corner[3 * part + k]]
            q = s.tri_vertex[w, s.tri_corner[3 * part + wp.where(k == 2, 0, k + 1)]]
            if wp.dot(wp.cross(q - p, n), x - p) > real(0.0):
                if not is_ridge(s, w, part, k, n):
                    return False
                beyond += 1
        return beyond > 0

    @wp.func
    def turns_left(s: struct, w: int, i: int, j: int, c: vec3, d: vec3) -> bool:
        """Whether the line from c along d passes the side from vertex i to vertex j on its left, seen along d."""
        low = wp.min(i, j)
        high = wp.max(i, j)
        left = wp.dot(d, wp.cross(s.tri_vertex[w, low] - c, s.tri_vertex[w, high] - c)) >= real(0.0)
        return left == (i < j)

    @wp.func
    def passes(s: struct, w: int, part: int, c: vec3, d: vec3) -> bool:
        """Whether the line from c along d passes a part from its front to its back."""
        v_0 = s.tri_corner[3 * part]
        v_1 = s.tri_corner[3 * part + 1]
        v_2 = s.tri_corner[3 * part + 2]
        left = turns_left(s, w, v_0, v_1, c, d)
        if left != turns_left(s, w, v_1, v_2, c, d) or left != turns_left(s, w, v_2, v_0, c, d):
            return False
        p = s.tri_vertex[w, v_0]
        n = wp.cross(s.tri_vertex[w, v_1] - p, s.tri_vertex[w, v_2] - p)
        return wp.dot(n, c - p) >= real(0.0) and wp.dot(n, c + d - p) < real(0.0)

    @wp.func
    def is_through(s: struct, w: int, surface: int, c_W: vec3, x_W: vec3) -> bool:
        R_GW = wp.transpose(s.R_WG[w, surface])
        c = R_GW * (c_W - s.p_WG[w, surface])
        d = R_GW * (x_W - c_W)
        low = wp.min(c, c + d)
        high = wp.max(c, c + d)
        node = s.surface_node[s.shape_mesh[surface]]
        end = s.surface_node[s.shape_mesh[surface] + 1]
        while node < end:
            if is_apart(low, high, s.node_low[w, node], s.node_high[w, node]):
                node = s.node_next[node]
            else:
                if s.node_tri[node] >= 0:
                    for part in range(s.node_tri[node], s.node_tri_end[node]):
                        if passes(s, w, part, c, d):
                            return True
                node += 1
        return False

    @wp.func
    def middle_of(s: struct, w: int, part: int, surface: int) -> vec3:
        sum = s.tri_vertex[w, s.tri_corner[3 * part]] + s.tri_vertex[w, s.tri_corner[3 * part + 1]]
        sum += s.tri_vertex[w, s.tri_corner[3 * part + 2]]
        return s.p_WG[w, surface] + s.R_WG[w, surface] * (sum / real(3.0))

    return SimpleNamespace(is_off=is_off, is_through=is_through, middle_of=middle_of)
