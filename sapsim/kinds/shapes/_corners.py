"""Corners of faces: how a kind of shape writes them to scratch (kinds/convexity.py), and corners on a circle."""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import CORNERS


@cache
def make_corners(R, Scratch) -> SimpleNamespace:
    """Device functions put, bend, heading and circle."""
    import math

    import warp as wp

    real, vec3, vec4 = R.t, R.vec3, R.vec4
    # below it the direction in which an axis leans is rounding, and a fixed one is better
    upright = 1.0e-6 if R.name == "float64" else 1.0e-3
    cosine, sine = math.cos(2.0 * math.pi / CORNERS), math.sin(2.0 * math.pi / CORNERS)

    @wp.func
    def put(scratch: Scratch, row: wp.vec2i, turned: int, k: int, p: vec3, corner: int, edge: int):
        """Corner k of the face of the first (turned = 0) or second shape, and the edge from it to the next."""
        at = wp.static(CORNERS) * turned + k
        scratch.point[row[0], row[1] + at] = vec4(p[0], p[1], p[2], real(0.0))
        scratch.name[row[0], row[1] + 2 * at] = corner
        scratch.name[row[0], row[1] + 2 * at + 1] = edge

    @wp.func
    def bend(scratch: Scratch, row: wp.vec2i, turned: int, k: int, radius: real):
        """The radius of curvature of the surface about corner k, across the line that begins or ends there; 0 of an edge.
        Of a face, at corner 0: its corners lie on the rim of a disc of that radius."""
        at = wp.static(CORNERS) * turned + k
        p = scratch.point[row[0], row[1] + at]
        scratch.point[row[0], row[1] + at] = vec4(p[0], p[1], p[2], radius)

    @wp.func
    def heading(n: vec3) -> vec3:
        """Unit vector of n's part across z; x where n is along z but for rounding."""
        across = wp.sqrt(n[0] * n[0] + n[1] * n[1])
        if across <= real(upright) * wp.abs(n[2]):
            return vec3(real(1.0), real(0.0), real(0.0))
        return vec3(n[0] / across, n[1] / across, real(0.0))

    @wp.func
    def circle(
        radius: real, z: real, side: real, u: vec3, corner: int, edge: int, scratch: Scratch, row: wp.vec2i, turned: int
    ):
        """Corners on the circle at height z, anticlockwise about `side` = +-1 times z, the first one towards u.

        They lie on the circle: a shape that tips stands on its rim.
        """
        d = u
        corners = wp.int32(wp.static(CORNERS))  # a variable bound: not unrolled
        for k in range(corners):
            put(scratch, row, turned, k, vec3(radius * d[0], radius * d[1], z), corner + k, edge + k)
            s = side * real(sine)
            d = vec3(real(cosine) * d[0] - s * d[1], s * d[0] + real(cosine) * d[1], real(0.0))
        bend(scratch, row, turned, 0, radius)

    return SimpleNamespace(put=put, bend=bend, heading=heading, circle=circle)
