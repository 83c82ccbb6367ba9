"""Descent of the depth over directions: h(n) of two cores that overlap (kinds/convexity.py), to a minimum.

With the second core moved along n until the two are c apart, the normal n' of that distance has h(n') <= h(n): n <- n' descends
to a minimum, and stays where faces meet; a Newton step on h speeds that up where h is smooth, and steps of doubled length the
same way where C is sharply curved.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import make_convexity

TRIES = 14  # of directions in one step, the last 4096 times as far on as the step was


@cache
def make_descent(R, of_part: bool = False) -> SimpleNamespace:
    """Struct Descent and device functions width and descend; `of_part`: the second shape is a part of a surface."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    eps = R.eps
    shared = make_convexity(R)
    Solid, Hulls, support = shared.Solid, shared.Hulls, shared.support
    second = shared.support_of_part if of_part else support
    farthest = 0.1 if of_part else 1.0  # how far a direction may be on from the last [rad]
    # of directions, for second derivatives: the square root of rounding, about
    difference = 1.0e-5 if R.name == "float64" else 3.0e-3

    @wp.struct
    class Descent:
        """The refinement of n: h(n), and whether it has ended."""

        n: vec3
        depth: real
        ended: bool

    @wp.func
    def width(a: Solid, b: Solid, t: vec3, n: vec3, hulls: Hulls, w: int) -> real:
        """h(n)"""
        return wp.dot(n, support(a, hulls, w, n) - t - second(b, hulls, w, -n))

    @wp.func
    def newton(n: vec3, a: Solid, b: Solid, t: vec3, hulls: Hulls, w: int) -> vec3:
        """n after a Newton step towards a minimum of h on the sphere, or n where h has none near.

        With c the support point of C along n: gradient c - h n, Hessian (change of c) - h 1, both across n; by differences.
        """
        zero = real(0.0)
        u = wp.normalize(
            wp.cross(n, wp.where(wp.abs(n[0]) > real(0.7), vec3(zero, real(1.0), zero), vec3(real(1.0), zero, zero)))
        )
        v = wp.cross(n, u)
        c = vec3()
        g_u, g_v, h = real(0.0), real(0.0), real(0.0)
        h_uu, h_uv, h_vv = real(0.0), real(0.0), real(0.0)
        calls = wp.int32(3)
        for call in range(calls):
            m = n + real(difference) * (wp.where(call == 1, real(1.0), zero) * u + wp.where(call == 2, real(1.0), zero) * v)
            q = support(a, hulls, w, m) - t - second(b, hulls, w, -m)
            if call == 0:
                c = q
                h = wp.dot(c, n)
                g_u = wp.dot(c, u)
                g_v = wp.dot(c, v)
            elif call == 1:
                h_uu = wp.dot(q - c, u) / real(difference) - h
                h_uv = wp.dot(q - c, v) / real(difference)
            else:
                h_vv = wp.dot(q - c, v) / real(difference) - h
        determinant = h_uu * h_vv - h_uv * h_uv
        if determinant <= zero or h_uu <= zero:
            return n
        x = -(h_vv * g_u - h_uv * g_v) / determinant
        y = -(h_uu * g_v - h_uv * g_u) / determinant
        return wp.normalize(n + x * u + y * v)

    @wp.func
    def descend(d: Descent, n: vec3, a: Solid, b: Solid, t: vec3, hulls: Hulls, w: int) -> Descent:
        """A step of the descent to n, on by a Newton step where that is lower still, and on the way from the last n while that
        is: where C is sharply curved, n moves by a small share of its way to the minimum."""
        out = d
        m = n
        length = real(1.0)
        tries = wp.int32(wp.static(TRIES))
        for k in range(tries):  # one place in the text that calls width
            h = width(a, b, t, m, hulls, w)
            if h < out.depth:
                out.n = m
                out.depth = h
                out.ended = k == 0 and wp.length_sq(n - d.n) <= real(16.0 * eps * eps)
            elif k != 1:
                out.ended = k == 0
                break
            if out.ended or length * wp.length(n - d.n) > real(farthest):
                break
            if k == 0:
                m = newton(n, a, b, t, hulls, w)
            else:
                m = wp.normalize(n + length * (n - d.n))
                length *= real(2.0)
        return out

    return SimpleNamespace(Descent=Descent, width=width, descend=descend)
