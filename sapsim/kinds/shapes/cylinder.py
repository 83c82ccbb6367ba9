"""Cylinder about the shape's z axis, of `radius` and full `length`, its centre at the origin, as in URDF.

size = (radius, half length, 0) [m].
"""

from math import hypot, pi

from sapsim.kinds.base import ConvexFuncs, ShapeKind
from sapsim.kinds.convexity import CORNERS
from sapsim.kinds.shapes._corners import make_corners

TOP, BOTTOM, RIM, LINE = 1, 1 + CORNERS, 1 + 2 * CORNERS, 1 + 4 * CORNERS  # names of features (kinds/convexity.py)


def unit_inertia(p: tuple[float, ...]) -> tuple[float, float, float]:
    """Principal moments per unit mass [m^2]: r^2 / 4 + length^2 / 12 across, r^2 / 2 along."""
    r, length = p
    across = r**2 / 4.0 + length**2 / 12.0
    return (across, across, r**2 / 2.0)


def convex(R, Hulls, Scratch) -> ConvexFuncs:
    """The face is the cap that n meets at less than 45 degrees, else the line on the side that n points to.

    Corners on a rim, and the line, start where the rim reaches farthest along n, so that a cylinder rolls on its rim without
    bumps; their names count from there.
    """
    import warp as wp

    real, vec3 = R.t, R.vec3
    corners = make_corners(R, Scratch)
    put, bend, heading, circle = corners.put, corners.bend, corners.heading, corners.circle

    @wp.func
    def end_of(size: vec3, n: vec3) -> real:
        return wp.where(n[2] >= real(0.0), size[1], -size[1])

    @wp.func
    def support(size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        across = wp.sqrt(n[0] * n[0] + n[1] * n[1])
        scale = real(0.0)
        if across > real(0.0):
            scale = size[0] / across
        return vec3(scale * n[0], scale * n[1], end_of(size, n))

    @wp.func
    def rounding(size: vec3) -> real:
        return real(0.0)

    @wp.func
    def face(size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        u = heading(n)
        if wp.abs(n[2]) > real(0.7071):
            side = wp.where(n[2] > real(0.0), real(1.0), real(-1.0))
            top = wp.where(n[2] > real(0.0), wp.static(TOP), wp.static(BOTTOM))
            rim = wp.where(n[2] > real(0.0), wp.static(RIM), wp.static(RIM + CORNERS))
            circle(size[0], side * size[1], side, u, top, rim, scratch, row, turned)
            return wp.static(CORNERS), vec3(real(0.0), real(0.0), side)
        put(scratch, row, turned, 0, vec3(size[0] * u[0], size[0] * u[1], size[1]), wp.static(TOP), wp.static(LINE))
        put(scratch, row, turned, 1, vec3(size[0] * u[0], size[0] * u[1], -size[1]), wp.static(BOTTOM), wp.static(LINE))
        bend(scratch, row, turned, 0, size[0])
        bend(scratch, row, turned, 1, size[0])
        return 2, u

    return ConvexFuncs(support, rounding, face)


KIND = ShapeKind(
    name="cylinder",
    nparam=2,
    size=lambda p: (p[0], 0.5 * p[1], 0.0),
    volume=lambda p: pi * p[0] ** 2 * p[1],
    unit_inertia=unit_inertia,
    radius=lambda s: hypot(s[0], s[1]),
    bound=lambda s: ((0.0, 0.0, -s[1]), (0.0, 0.0, s[1]), (s[0], s[0], 0.0)),
    keys=("radius", "length"),
    convex=convex,
)
