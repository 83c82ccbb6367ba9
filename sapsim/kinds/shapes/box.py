"""Box of full lengths (x, y, z) about the shape's origin.  size = half lengths [m]."""

from math import sqrt

from sapsim.kinds.base import ConvexFuncs, ShapeKind
from sapsim.kinds.pairs._axes import make_axes
from sapsim.kinds.shapes._corners import make_corners


def convex(R, Hulls, Scratch) -> ConvexFuncs:
    """The face is the one whose normal is nearest to n, the lowest axis of equal ones.

    Names are those of box_box: corner 1 + bits of the signs, edge 9 + (4 i + bit of axis i+1 + 2 bit of axis i+2) along i.
    """
    import warp as wp

    real, vec3 = R.t, R.vec3
    axes = make_axes(R)
    pick, along_axis, after = axes.pick, axes.along_axis, axes.after
    put = make_corners(R, Scratch).put

    @wp.func
    def support(size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        return vec3(
            wp.where(n[0] < real(0.0), -size[0], size[0]),
            wp.where(n[1] < real(0.0), -size[1], size[1]),
            wp.where(n[2] < real(0.0), -size[2], size[2]),
        )

    @wp.func
    def rounding(size: vec3) -> real:
        return real(0.0)

    @wp.func
    def face(size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        k = wp.int32(0)
        if wp.abs(n[1]) > wp.abs(n[0]):
            k = 1
        if wp.abs(n[2]) > wp.abs(pick(n, k)):
            k = 2
        side = wp.where(pick(n, k) < real(0.0), 0, 1)
        u, v = after(k), after(after(k))
        corners = wp.int32(4)  # a variable bound: not unrolled
        for m in range(corners):
            # anticlockwise about +k: (-,-), (+,-), (+,+), (-,+) in u, v; about -k the other way round
            at = wp.where(side == 1, m, 3 - m)
            bit_u, bit_v = wp.where(at == 1 or at == 2, 1, 0), at >> 1
            p = along_axis(k, wp.where(side == 1, pick(size, k), -pick(size, k)))
            p += along_axis(u, wp.where(bit_u == 1, pick(size, u), -pick(size, u)))
            p += along_axis(v, wp.where(bit_v == 1, pick(size, v), -pick(size, v)))
            # the edge to the next corner runs along u from 0 to 1 and from 2 to 3, else along v
            edge_at = wp.where(side == 1, m, (6 - m) & 3)
            edge = wp.where((edge_at & 1) == 0, 4 * u + (edge_at >> 1) + 2 * side, 4 * v + side + 2 * wp.int32(edge_at == 1))
            put(scratch, row, turned, m, p, 1 + (side << k) + (bit_u << u) + (bit_v << v), 9 + edge)
        return 4, along_axis(k, wp.where(side == 1, real(1.0), real(-1.0)))

    return ConvexFuncs(support, rounding, face)


KIND = ShapeKind(
    name="box",
    nparam=3,
    size=lambda p: (0.5 * p[0], 0.5 * p[1], 0.5 * p[2]),
    volume=lambda p: p[0] * p[1] * p[2],
    unit_inertia=lambda p: (
        (p[1] ** 2 + p[2] ** 2) / 12.0,
        (p[0] ** 2 + p[2] ** 2) / 12.0,
        (p[0] ** 2 + p[1] ** 2) / 12.0,
    ),
    radius=lambda s: sqrt(s[0] ** 2 + s[1] ** 2 + s[2] ** 2),
    bound=lambda s: ((-s[0], -s[1], -s[2]), s, (0.0, 0.0, 0.0)),
    convex=convex,
)
