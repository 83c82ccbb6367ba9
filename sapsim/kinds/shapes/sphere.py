"""Sphere of radius r about the shape's origin.  size = (r, 0, 0) [m]."""

from math import pi

from sapsim.kinds.base import ConvexFuncs, ShapeKind
from sapsim.kinds.shapes._corners import make_corners


def convex(R, Hulls, Scratch) -> ConvexFuncs:
    """The core is the centre."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    put = make_corners(R, Scratch).put

    @wp.func
    def support(size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        return vec3(real(0.0), real(0.0), real(0.0))

    @wp.func
    def rounding(size: vec3) -> real:
        return size[0]

    @wp.func
    def face(size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        put(scratch, row, turned, 0, vec3(real(0.0), real(0.0), real(0.0)), 1, 0)
        return 1, n

    return ConvexFuncs(support, rounding, face)


KIND = ShapeKind(
    name="sphere",
    nparam=1,
    size=lambda p: (p[0], 0.0, 0.0),
    volume=lambda p: 4.0 / 3.0 * pi * p[0] ** 3,
    unit_inertia=lambda p: (0.4 * p[0] ** 2,) * 3,
    radius=lambda s: s[0],
    convex=convex,
)
