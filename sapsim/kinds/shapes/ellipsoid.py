"""Ellipsoid of semi-axes (a, b, c) along the shape's axes, about its origin.  size = the semi-axes [m]."""

from math import pi

from sapsim.kinds.base import ConvexFuncs, ShapeKind
from sapsim.kinds.shapes._corners import make_corners


def convex(R, Hulls, Scratch) -> ConvexFuncs:
    """The support point is S^2 n / |S n| with S = diag(a, b, c)."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    put = make_corners(R, Scratch).put

    @wp.func
    def support(size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        s = wp.cw_mul(size, n)
        length = wp.length(s)
        if length == real(0.0):
            return vec3(size[0], real(0.0), real(0.0))
        return wp.cw_mul(size, s) / length

    @wp.func
    def rounding(size: vec3) -> real:
        return real(0.0)

    @wp.func
    def face(size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        put(scratch, row, turned, 0, support(size, hulls, w, n), 1, 0)
        return 1, n

    return ConvexFuncs(support, rounding, face)


KIND = ShapeKind(
    name="ellipsoid",
    nparam=3,
    size=lambda p: (p[0], p[1], p[2]),
    volume=lambda p: 4.0 / 3.0 * pi * p[0] * p[1] * p[2],
    unit_inertia=lambda p: (
        (p[1] ** 2 + p[2] ** 2) / 5.0,
        (p[0] ** 2 + p[2] ** 2) / 5.0,
        (p[0] ** 2 + p[1] ** 2) / 5.0,
    ),
    radius=lambda s: max(s),
    bound=lambda s: ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), s),
    convex=convex,
)
