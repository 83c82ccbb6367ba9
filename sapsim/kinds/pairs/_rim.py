"""Points of a circular rim about a shape's z axis, for shapes of revolution against a plane."""

from math import cos, pi, sin
from types import SimpleNamespace

CORNERS = 6  # points of a rim


def make_rim(R) -> SimpleNamespace:
    """Device functions over directions d across the axis, unit vectors in the shape's frame.

    lowest (n: unit vector towards the plane) -> d of the rim's point farthest along n, or x where the axis is along n but for
    rounding; next (d) -> d turned about z by the angle between two points.
    """
    import warp as wp

    real, vec3 = R.t, R.vec3
    upright = 1.0e-6 if R.name == "float64" else 5.0e-5  # times 0.13 r: how much lower than six points a rim may be
    cosine, sine = cos(2.0 * pi / CORNERS), sin(2.0 * pi / CORNERS)

    @wp.func
    def lowest(n: vec3) -> vec3:
        across = wp.sqrt(n[0] * n[0] + n[1] * n[1])
        d = vec3(real(1.0), real(0.0), real(0.0))
        if across > real(upright) * wp.abs(n[2]):
            d = vec3(n[0] / across, n[1] / across, real(0.0))
        return d

    @wp.func
    def turned(d: vec3) -> vec3:
        return vec3(real(cosine) * d[0] - real(sine) * d[1], real(sine) * d[0] + real(cosine) * d[1], real(0.0))

    return SimpleNamespace(lowest=lowest, next=turned)
