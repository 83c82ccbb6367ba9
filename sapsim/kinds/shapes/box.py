"""Box of full lengths (x, y, z) about the shape's origin.  size = half lengths [m]."""

from math import sqrt

from sapsim.kinds.base import ShapeKind

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
)
