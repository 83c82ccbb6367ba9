"""The point of a simplex nearest to the origin, by signed volumes (Montanari, Petrinic, Barbieri, "Improving the GJK algorithm
for faster and more reliable distance queries between convex objects", 2017).

Weights of a point, segment, triangle or tetrahedron are ratios of signed lengths, areas or volumes.  Where one is not
positive, the point lies on the sides without that vertex, which are tried in turn; a degenerate simplex tries all its sides.

Near the end the vertices of a curved shape stand in clusters: lengths of 1 beside 1e-4.  So areas and volumes are products with
the shortest edge of a triangle, and of a long thin one the weight of its tip comes first and the other two share the rest.
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
    def tip(a: vec3, b: vec3, c: vec3) -> int:
        """The vertex opposite to the shortest edge."""
        ab, bc, ca = wp.length_sq(b - a), wp.length_sq(c - b), wp.length_sq(a - c)
        if bc <= ab and bc <= ca:
            return 0
        return wp.where(ca <= ab, 1, 2)

    @wp.func
    def determinant(a: vec3, b: vec3, c: vec3) -> real:
        """a . b x c"""
        k = tip(a, b, c)
        p_0 = wp.where(k == 0, a, wp.where(k == 1, b, c))
        p_1 = wp.where(k == 0, b, wp.where(k == 1, c, a))
        p_2 = wp.where(k == 0, c, wp.where(k == 1, a, b))
        return wp.dot(p_0, wp.cross(p_1, p_2 - p_1))

    @wp.func
    def inside(a: vec3, b: vec3, c: vec3) -> vec3:
        """Weights of the nearest point of the plane through a, b, c; zero where they are on a line but for rounding."""
        k = tip(a, b, c)
        p_0 = wp.where(k == 0, a, wp.where(k == 1, b, c))
        p_1 = wp.where(k == 0, b, wp.where(k == 1, c, a))
        p_2 = wp.where(k == 0, c, wp.where(k == 1, a, b))
        side, base = p_0 - p_1, p_2 - p_1
        n = wp.cross(base, side)
        square = wp.dot(n, n)
        if square <= real(flat * flat) * wp.dot(base, base) * wp.dot(side, side):
            return vec3()
        p = (wp.dot(p_0, n) / square) * n
        l_0 = wp.dot(wp.cross(p_1 - p, base), n) / square
        l_1 = wp.dot(wp.cross(p_2 - p, p_0 - p_2), n) / square
        l_2 = real(1.0) - l_0 - l_1
        if k == 0:
            return vec3(l_0, l_1, l_2)
        if k == 1:
            return vec3(l_2, l_0, l_1)
        return vec3(l_1, l_2, l_0)

    @wp.func
    def triangle(a: vec3, b: vec3, c: vec3) -> vec4:
        zero = real(0.0)
        l = inside(a, b, c)
        l_a, l_b, l_c = l[0], l[1], l[2]
        if l_a > zero and l_b > zero and l_c > zero:
            return vec4(l_a, l_b, l_c, zero)
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
        l_a, l_b = determinant(b, c, d), -determinant(a, c, d)
        l_c, l_d = determinant(a, b, d), -determinant(a, b, c)
        volume = l_a + l_b + l_c + l_d
        if volume < zero:
            l_a = -l_a
            l_b = -l_b
            l_c = -l_c
            l_d = -l_d
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
