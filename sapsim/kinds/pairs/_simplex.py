"""The point of a simplex nearest to the origin, by signed volumes (Montanari, Petrinic, Barbieri, "Improving the GJK algorithm
for faster and more reliable distance queries between convex objects", 2017).

Weights of a point, segment, triangle or tetrahedron are ratios of signed lengths, areas or volumes.  Where one is not
positive, the point lies on the sides without that vertex, which are tried in turn; a degenerate simplex tries all its sides.
"""

from functools import cache
from types import SimpleNamespace


@cache
def make_simplex(R) -> SimpleNamespace:
    """Device functions segment, triangle, tetrahedron: (points) -> vec4 of weights, zero for what has no part."""
    import warp as wp

    real, vec3, vec4 = R.t, R.vec3, R.vec4
    flat = 64.0 * R.eps  # a volume or area that is rounding, over the product of the edges

    @wp.func
    def segment(a: vec3, b: vec3) -> vec4:
        e = b - a
        square = wp.dot(e, e)
        t = real(0.0)
        if square > real(0.0):
            t = wp.clamp(-wp.dot(a, e) / square, real(0.0), real(1.0))
        return vec4(real(1.0) - t, t, real(0.0), real(0.0))

    @wp.func
    def triangle(a: vec3, b: vec3, c: vec3) -> vec4:
        zero = real(0.0)
        ab, ac = b - a, c - a
        n = wp.cross(ab, ac)
        square = wp.dot(n, n)
        l_a = real(0.0)
        l_b = real(0.0)
        l_c = real(0.0)
        if square > real(flat * flat) * wp.dot(ab, ab) * wp.dot(ac, ac):
            p = (wp.dot(a, n) / square) * n
            l_a = wp.dot(wp.cross(b - p, c - p), n)
            l_b = wp.dot(wp.cross(c - p, a - p), n)
            l_c = wp.dot(wp.cross(a - p, b - p), n)
            if l_a > zero and l_b > zero and l_c > zero:
                return vec4(l_a, l_b, l_c, zero) / (l_a + l_b + l_c)
        best = vec4(real(1.0), zero, zero, zero)
        least = real(-1.0)
        sides = wp.int32(3)
        for side in range(sides):  # without a, b, c
            weight = wp.where(side == 0, l_a, wp.where(side == 1, l_b, l_c))
            if weight <= zero:
                p_0 = wp.where(side == 0, b, a)
                p_1 = wp.where(side == 2, b, c)
                t = segment(p_0, p_1)
                p = t[0] * p_0 + t[1] * p_1
                if least < zero or wp.dot(p, p) < least:
                    least = wp.dot(p, p)
                    best = vec4(
                        wp.where(side == 0, zero, t[0]),
                        wp.where(side == 0, t[0], wp.where(side == 2, t[1], zero)),
                        wp.where(side == 2, zero, t[1]),
                        zero,
                    )
        return best

    @wp.func
    def tetrahedron(a: vec3, b: vec3, c: vec3, d: vec3) -> vec4:
        zero = real(0.0)
        ab, ac, ad = b - a, c - a, d - a
        volume = wp.dot(ab, wp.cross(ac, ad))
        sign = wp.where(volume < zero, real(-1.0), real(1.0))
        l_a = sign * wp.dot(b, wp.cross(c, d))
        l_b = -sign * wp.dot(a, wp.cross(ac, ad))
        l_c = -sign * wp.dot(ab, wp.cross(a, ad))
        l_d = -sign * wp.dot(ab, wp.cross(ac, a))
        if wp.abs(volume) <= real(flat) * wp.length(ab) * wp.length(ac) * wp.length(ad):
            l_a = real(0.0)
            l_b = real(0.0)
            l_c = real(0.0)
            l_d = real(0.0)
        elif l_a > zero and l_b > zero and l_c > zero and l_d > zero:
            return vec4(l_a, l_b, l_c, l_d) / (l_a + l_b + l_c + l_d)
        best = vec4(real(1.0), zero, zero, zero)
        least = real(-1.0)
        sides = wp.int32(4)
        for side in range(sides):  # without a, b, c, d
            weight = wp.where(side == 0, l_a, wp.where(side == 1, l_b, wp.where(side == 2, l_c, l_d)))
            if weight <= zero:
                p_0 = wp.where(side == 0, b, a)
                p_1 = wp.where(side <= 1, c, b)
                p_2 = wp.where(side <= 2, d, c)
                t = triangle(p_0, p_1, p_2)
                p = t[0] * p_0 + t[1] * p_1 + t[2] * p_2
                if least < zero or wp.dot(p, p) < least:
                    least = wp.dot(p, p)
                    best = vec4(
                        wp.where(side == 0, zero, t[0]),
                        wp.where(side == 0, t[0], wp.where(side == 1, zero, t[1])),
                        wp.where(side <= 1, t[1], wp.where(side == 2, zero, t[2])),
                        wp.where(side <= 2, t[2], zero),
                    )
        return best

    return SimpleNamespace(segment=segment, triangle=triangle, tetrahedron=tetrahedron)
