"""Cone about the shape's z axis, of base `radius` and full `length`: the apex at z = +length/2, the base at -length/2.

size = (radius, half length, 0) [m].  The centre of volume is a quarter of the length above the base.
"""

from math import hypot, pi

from sapsim.kinds.base import ConvexFuncs, ShapeKind
from sapsim.kinds.convexity import CORNERS
from sapsim.kinds.shapes._corners import make_corners

APEX, BASE, RIM, LINE = 1, 2, 2 + CORNERS, 2 + 2 * CORNERS  # names of features (kinds/convexity.py)


def unit_inertia(p: tuple[float, ...]) -> tuple[float, float, float]:
    """Principal moments per unit mass about the centre of volume [m^2]: 3/20 r^2 + 3/80 length^2 across, 3/10 r^2 along."""
    r, length = p
    across = 0.15 * r**2 + 0.0375 * length**2
    return (across, across, 0.3 * r**2)


def convex(R, Hulls, Scratch) -> ConvexFuncs:
    """The face is the base or, where n is nearer to its normal, the line on the mantle that n points to.

    Corners of the base, and the line, start where the rim reaches farthest along n; their names count from there.
    """
    import warp as wp

    real, vec3 = R.t, R.vec3
    corners = make_corners(R, Scratch)
    put, bend, heading, circle = corners.put, corners.bend, corners.heading, corners.circle

    @wp.func
    def support(size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        across = wp.sqrt(n[0] * n[0] + n[1] * n[1])
        if real(2.0) * size[1] * n[2] >= size[0] * across:
            return vec3(real(0.0), real(0.0), size[1])
        scale = real(0.0)
        if across > real(0.0):
            scale = size[0] / across
        return vec3(scale * n[0], scale * n[1], -size[1])

    @wp.func
    def rounding(size: vec3) -> real:
        return real(0.0)

    @wp.func
    def face(size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        u = heading(n)
        slant = wp.sqrt(size[0] * size[0] + real(4.0) * size[1] * size[1])
        normal = vec3(real(2.0) * size[1] / slant * u[0], real(2.0) * size[1] / slant * u[1], size[0] / slant)
        if -n[2] > wp.dot(n, normal):
            circle(size[0], -size[1], real(-1.0), u, wp.static(BASE), wp.static(RIM), scratch, row, turned)
            return wp.static(CORNERS), vec3(real(0.0), real(0.0), real(-1.0))
        put(scratch, row, turned, 0, vec3(real(0.0), real(0.0), size[1]), wp.static(APEX), wp.static(LINE))
        put(scratch, row, turned, 1, vec3(size[0] * u[0], size[0] * u[1], -size[1]), wp.static(BASE), wp.static(LINE))
        bend(scratch, row, turned, 1, size[0] * slant / (real(2.0) * size[1]))  # none about the apex
        return 2, normal

    return ConvexFuncs(support, rounding, face)


KIND = ShapeKind(
    name="cone",
    nparam=2,
    size=lambda p: (p[0], 0.5 * p[1], 0.0),
    volume=lambda p: pi * p[0] ** 2 * p[1] / 3.0,
    unit_inertia=unit_inertia,
    radius=lambda s: hypot(s[0], s[1]),
    bound=lambda s: ((0.0, 0.0, -s[1]), (0.0, 0.0, s[1]), (s[0], s[0], 0.0)),  # of the cylinder about it
    keys=("radius", "length"),
    com=lambda p: (0.0, 0.0, -0.25 * p[1]),
    convex=convex,
)
