"""Distance of two convex shapes by the method of Gilbert, Johnson and Keerthi (1988), on support functions.

v is the point of a simplex in the Minkowski difference C (kinds/convexity.py) nearest to the origin; |v| bounds the distance
from above and -h(n), n = -v / |v|, from below.  It ends where the bounds meet to rounding, where a support point repeats or v
gets no shorter, and where the lower bound exceeds `reach`.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import make_convexity
from sapsim.kinds.pairs._simplex import make_simplex

APART, OVERLAP, FAR = 0, 1, 2


@cache
def make_gjk(R) -> SimpleNamespace:
    """Struct Nearest and device function gjk."""
    import warp as wp

    real, vec3, vec4 = R.t, R.vec3, R.vec4
    eps = R.eps
    max_iterations = 100
    shared = make_convexity(R)
    Solid, Hulls, support = shared.Solid, shared.Hulls, shared.support
    simplex = make_simplex(R)
    segment, triangle, tetrahedron = simplex.segment, simplex.triangle, simplex.tetrahedron

    @wp.struct
    class Simplex:
        """Points w of C, the points a of the first core they came from, and their weights."""

        w_0: vec3
        w_1: vec3
        w_2: vec3
        w_3: vec3
        a_0: vec3
        a_1: vec3
        a_2: vec3
        a_3: vec3
        weight: vec4
        count: int

    @wp.struct
    class Nearest:
        """state: APART, OVERLAP (or nearer than rounding tells), FAR (beyond reach); n from A to B; the witness on A's core.
        The distance is that of the witnesses, and along n it is less by `gap`."""

        state: int
        distance: real
        gap: real
        n: vec3
        p_A: vec3

    @wp.func
    def add(s: Simplex, w: vec3, a: vec3) -> Simplex:
        out = s
        if s.count == 0:
            out.w_0 = w
            out.a_0 = a
        elif s.count == 1:
            out.w_1 = w
            out.a_1 = a
        elif s.count == 2:
            out.w_2 = w
            out.a_2 = a
        else:
            out.w_3 = w
            out.a_3 = a
        out.count = s.count + 1
        return out

    @wp.func
    def weigh(s: Simplex) -> vec4:
        if s.count == 1:
            return vec4(real(1.0), real(0.0), real(0.0), real(0.0))
        if s.count == 2:
            return segment(s.w_0, s.w_1)
        if s.count == 3:
            return triangle(s.w_0, s.w_1, s.w_2)
        return tetrahedron(s.w_0, s.w_1, s.w_2, s.w_3)

    @wp.func
    def reduce(s: Simplex) -> Simplex:
        """Without the vertices of weight zero."""
        out = s
        l = s.weight
        n = s.count
        for i in range(4):
            k = 3 - i
            if k < n and l[k] <= real(0.0):
                if k <= 0:
                    out.w_0 = out.w_1
                    out.a_0 = out.a_1
                    l[0] = l[1]
                if k <= 1:
                    out.w_1 = out.w_2
                    out.a_1 = out.a_2
                    l[1] = l[2]
                if k <= 2:
                    out.w_2 = out.w_3
                    out.a_2 = out.a_3
                    l[2] = l[3]
                l[3] = real(0.0)
                n -= 1
        out.weight = l
        out.count = n
        return out

    @wp.func
    def has(s: Simplex, w: vec3) -> bool:
        found = s.count > 0 and s.w_0 == w
        found = found or (s.count > 1 and s.w_1 == w)
        found = found or (s.count > 2 and s.w_2 == w)
        return found or (s.count > 3 and s.w_3 == w)

    @wp.func
    def nearest_point(s: Simplex) -> vec3:
        return s.weight[0] * s.w_0 + s.weight[1] * s.w_1 + s.weight[2] * s.w_2 + s.weight[3] * s.w_3

    @wp.func
    def gjk(a: Solid, b: Solid, t: vec3, start: vec3, reach: real, tiny: real, hulls: Hulls, w: int) -> Nearest:
        """Cores of A and B, B's origin at t from A's; `start` a first guess of n; nearer than `tiny` counts as overlapping."""
        out = Nearest()
        s = Simplex()
        n = start
        v = vec3(real(0.0), real(0.0), real(0.0))
        length = real(0.0)
        close = real(4.0 * eps) * (wp.length(t) + a.radius + b.radius)
        out.state = wp.static(APART)
        most = real(-1.0e30)
        out.n = n
        going = wp.int32(0)
        while going < wp.static(max_iterations):
            p_A = support(a, hulls, w, n)
            c = p_A - t - support(b, hulls, w, -n)
            bound = -wp.dot(n, c)
            if bound > most:
                most = bound
                out.n = n
            if bound > reach:
                out.state = wp.static(FAR)
                length = bound
                break
            if s.count > 0 and (length - bound <= close or has(s, c)):
                break
            grown = add(s, c, p_A)
            grown.weight = weigh(grown)
            if grown.count == 4 and wp.min(grown.weight) > real(0.0):
                out.state = wp.static(OVERLAP)
                break
            u = nearest_point(grown)
            shorter = wp.length(u)
            if s.count > 0 and shorter >= length:
                break
            s = reduce(grown)
            v = u
            length = shorter
            if length <= tiny:
                out.state = wp.static(OVERLAP)
                break
            n = -v / length
            going += 1
        out.distance = length
        out.gap = length - most
        out.p_A = s.weight[0] * s.a_0 + s.weight[1] * s.a_1 + s.weight[2] * s.a_2 + s.weight[3] * s.a_3
        return out

    return SimpleNamespace(Nearest=Nearest, gjk=gjk)
