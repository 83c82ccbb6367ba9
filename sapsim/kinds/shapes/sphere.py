"""Sphere of radius r about the shape's origin.  size = (r, 0, 0) [m]."""

from math import pi

from sapsim.kinds.base import ShapeKind

KIND = ShapeKind(
    name="sphere",
    nparam=1,
    size=lambda p: (p[0], 0.0, 0.0),
    volume=lambda p: 4.0 / 3.0 * pi * p[0] ** 3,
    unit_inertia=lambda p: (0.4 * p[0] ** 2,) * 3,
    radius=lambda s: s[0],
)
