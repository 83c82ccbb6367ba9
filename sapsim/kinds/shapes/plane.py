"""Plane: the half-space below the shape's local xy-plane, outward normal +z.  It has no size, no volume and no bound."""

from math import inf

from sapsim.kinds.base import ShapeKind

KIND = ShapeKind(
    name="plane",
    nparam=0,
    size=lambda p: (0.0, 0.0, 0.0),
    volume=lambda p: None,
    unit_inertia=lambda p: None,
    radius=lambda s: inf,
    half=lambda s: (inf,) * 3,
)
