"""Whether a direction is one in which a surface has its own farthest point near a part (convex_surface.py)."""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import make_convexity


@cache
def make_own_direction(R) -> SimpleNamespace:
    """Device functions beyond and feature_of."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    even = 1.0e-7 if R.name == "float64" else 1.0e-4  # height over length that is rounding of the direction
    shared = make_convexity(R)
    Solid, Hulls = shared.Solid, shared.Hulls

    @wp.func
    def vertex(b: Solid, hulls: Hulls, w: int, v: int) -> vec3:
        """A vertex of the surface from the part's origin."""
        return hulls.tri_vertex[w, v] - hulls.tri_vertex[w, hulls.tri_corner[3 * int(b.size[0])]]

    @wp.func
    def corner(b: Solid, hulls: Hulls, w: int, k: int) -> vec3:
        return vertex(b, hulls, w, hulls.tri_corner[3 * int(b.size[0]) + k])

    @wp.func
    def across(b: Solid, side: int, hulls: Hulls, w: int) -> vec3:
        """The corner of the part at the other side of a side that is not on it."""
        first = 3 * int(b.size[0])
        beside = hulls.tri_beside[first + side]
        p = hulls.tri_corner[first + side]
        q = hulls.tri_corner[first + wp.where(side == 2, 0, side + 1)]
        v = hulls.tri_corner[3 * beside]
        for k in range(1, 3):
            if v == p or v == q:
                v = hulls.tri_corner[3 * beside + k]
        return vertex(b, hulls, w, v)

    @wp.func
    def beyond(b: Solid, side: int, hulls: Hulls, w: int) -> vec3:
        """The normal of the neighbour at a side; where there is none, the direction out of the part across the side.  Axes of
        the surface."""
        first = 3 * int(b.size[0])
        p = corner(b, hulls, w, side)
        e = corner(b, hulls, w, wp.where(side == 2, 0, side + 1)) - p
        if hulls.tri_beside[first + side] >= 0:
            return wp.normalize(wp.cross(across(b, side, hulls, w) - p, e))
        plane = hulls.tri_plane[w, int(b.size[0])]
        return wp.normalize(wp.cross(e, vec3(plane[0], plane[1], plane[2])))

    @wp.func
    def is_lower(p: vec3, q: vec3, n: vec3) -> bool:
        """Whether q is not above p along n."""
        d = q - p
        return wp.dot(n, d) <= real(even) * wp.length(d)

    @wp.func
    def feature_of(b: Solid, n_W: vec3, front_W: vec3, hulls: Hulls, w: int) -> int:
        """Side k (as 3 + k) or corner k of the part that is the surface's own farthest place along n, near it; -1: none is."""
        if wp.dot(n_W, front_W) < real(-even):
            return -1
        n = wp.transpose(b.R_WG) * n_W
        first = 3 * int(b.size[0])
        top = wp.int32(0)
        for k in range(1, 3):
            if wp.dot(n, corner(b, hulls, w, k)) > wp.dot(n, corner(b, hulls, w, top)):
                top = k
        p = corner(b, hulls, w, top)
        after = wp.where(top == 2, 0, top + 1)
        before = wp.where(top == 0, 2, top - 1)
        level_after = is_lower(corner(b, hulls, w, after), p, n)
        level_before = is_lower(corner(b, hulls, w, before), p, n)
        if level_after and level_before:
            return -1
        if level_after or level_before:
            side = wp.where(level_after, top, before)
            if hulls.tri_beside[first + side] >= 0:
                if not is_lower(p, across(b, side, hulls, w), n):
                    return -1
            return 3 + side
        v = hulls.tri_corner[first + top]
        for i in range(hulls.ring_start[v], hulls.ring_start[v + 1]):
            if not is_lower(p, vertex(b, hulls, w, hulls.ring[i]), n):
                return -1
        return top

    return SimpleNamespace(beyond=beyond, feature_of=feature_of)
