"""Capsule about the shape's z axis: all points within `radius` of a segment of `length` about the origin.

size = (radius, half length of the segment, 0) [m].  Mass properties are those of a cylinder and two half balls, whose
mass centres lie 3/8 radius beyond the segment's ends.
"""

from math import pi

from sapsim.kinds.base import ConvexFuncs, ShapeKind
from sapsim.kinds.shapes._corners import make_corners


def volume(p: tuple[float, ...]) -> float:
    """[m^3] of params (radius, length)."""
    r, length = p
    return pi * r**2 * length + 4.0 / 3.0 * pi * r**3


def unit_inertia(p: tuple[float, ...]) -> tuple[float, float, float]:
    """Principal moments per unit mass [m^2]."""
    r, length = p
    balls = (4.0 / 3.0 * r) / (length + 4.0 / 3.0 * r)  # part of the mass that is in the half balls
    cylinder = 1.0 - balls
    along = cylinder * r**2 / 2.0 + balls * 0.4 * r**2
    # a half ball about the capsule's centre: 2/5 r^2 about its own, and length / 2 away from it
    across = cylinder * (length**2 / 12.0 + r**2 / 4.0) + balls * (0.4 * r**2 + length**2 / 4.0 + 3.0 / 8.0 * length * r)
    return (across, across, along)


def convex(R, Hulls, Scratch) -> ConvexFuncs:
    """The core is the segment, whatever n is."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    put = make_corners(R, Scratch).put

    @wp.func
    def support(size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        return vec3(real(0.0), real(0.0), wp.where(n[2] < real(0.0), -size[1], size[1]))

    @wp.func
    def rounding(size: vec3) -> real:
        return size[0]

    @wp.func
    def face(size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        put(scratch, row, turned, 0, vec3(real(0.0), real(0.0), -size[1]), 1, 3)
        put(scratch, row, turned, 1, vec3(real(0.0), real(0.0), size[1]), 2, 3)
        return 2, n

    return ConvexFuncs(support, rounding, face)


KIND = ShapeKind(
    name="capsule",
    nparam=2,
    size=lambda p: (p[0], 0.5 * p[1], 0.0),
    volume=volume,
    unit_inertia=unit_inertia,
    radius=lambda s: s[0] + s[1],
    bound=lambda s: ((0.0, 0.0, -s[1]), (0.0, 0.0, s[1]), (s[0], s[0], s[0])),
    keys=("radius", "length"),
    convex=convex,
)
