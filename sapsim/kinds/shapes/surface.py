"""Surface: triangles, each of them a part that meets other shapes by itself (collide/parts.py); felt from its front alone.

size = (0, radius of a ball about the origin that holds it, 0); model/hulls.py fills it.  Scene files do not name it: a `mesh`
`as: surface` and a `heightfield` become one.

The functions below are those of one part, whose size is (number of the part, radius, 0 for its face or 1 for its sides and
corners) and whose origin is its first corner: so coordinates are as small as the part is, wherever on a large surface it lies.
"""

from sapsim.kinds.base import ConvexFuncs, ShapeKind
from sapsim.kinds.shapes._corners import make_corners

HALF = 1 << 14  # names of corners are below it, those of sides from it on; both repeat on surfaces of more


def part(R, Hulls, Scratch) -> ConvexFuncs:
    """The face is the triangle, seen from its front; the normal is that of its facet."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    put = make_corners(R, Scratch).put

    @wp.func
    def corner(size: vec3, hulls: Hulls, w: int, k: int) -> vec3:
        first = 3 * int(size[0])
        return hulls.tri_vertex[w, hulls.tri_corner[first + k]] - hulls.tri_vertex[w, hulls.tri_corner[first]]

    @wp.func
    def support(size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        best = vec3()
        reach = real(0.0)
        for k in range(1, 3):
            p = corner(size, hulls, w, k)
            here = wp.dot(n, p)
            if here > reach:
                reach = here
                best = p
        return best

    @wp.func
    def rounding(size: vec3) -> real:
        return real(0.0)

    @wp.func
    def face(size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        me = int(size[0])
        for k in range(3):
            name = 1 + hulls.tri_corner[3 * me + k] % wp.static(HALF - 1)
            side = wp.static(HALF) + hulls.tri_side[3 * me + k] % wp.static(HALF)
            put(scratch, row, turned, k, corner(size, hulls, w, k), name, side)
        plane = hulls.tri_plane[w, me]
        return 3, vec3(plane[0], plane[1], plane[2])

    return ConvexFuncs(support, rounding, face)


KIND = ShapeKind(
    name="surface",
    nparam=3,
    size=lambda p: (p[0], p[1], p[2]),
    volume=lambda p: None,
    unit_inertia=lambda p: None,
    radius=lambda s: s[1],
    written=False,
    convex=part,
    parts=True,
)
