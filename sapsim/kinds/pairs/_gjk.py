"""Distance of two convex shapes by the method of Gilbert, Johnson and Keerthi (1988), on support functions.

v is the point of a simplex in the Minkowski difference C (kinds/convexity.py) nearest to the origin; |v| bounds the distance
from above and -h(n), n = -v / |v|, from below.  It ends where the bounds meet to rounding, where a support point repeats or v
has got no shorter a few times, and where the lower bound exceeds `reach`.  The v whose bounds are nearest to each other counts,
or, where no bounds have met, its n and the shortest v.

Bounds that meet leave the root of their rounding to n: for a descent (_descent.py), which has no `reach`, it goes on
until a support point repeats or v has got no shorter.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import make_convexity
from sapsim.kinds.pairs._simplex import make_simplex

APART, OVERLAP, FAR = 0, 1, 2
STALLED = 6  # how often v may get no shorter


@cache
def make_gjk(R, of_part: bool = False) -> SimpleNamespace:
    """Struct Nearest and device function gjk; `of_part`: the second shape is a part of a surface."""
    import warp as wp

    real, vec3, vec4 = R.t, R.vec3, R.vec4
    eps = R.eps
    max_iterations = 100
    # of the larger size: where cores are nearer, bounds may not meet; bounds no farther apart than `tight` count as one
    near, tight = (1.0e-3, 2.0e-10) if R.name == "float64" else (1.0e-2, 1.0e-6)
    shared = make_convexity(R)
    Solid, Hulls, support = shared.Solid, shared.Hulls, shared.support
    second = shared.support_of_part if of_part else support
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
        """state: APART, OVERLAP (or nearer than rounding tells), FAR (beyond reach); n from A to B; the distance, and by how
        much that along n is less; the witness on A's core, and v from the one on B's to it."""

        state: int
        distance: real
        gap: real
        n: vec3
        p_A: vec3
        v: vec3

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
    def across(s: Simplex, v: vec3, rounding: real) -> vec3:
        """The nearest point v of the simplex without what rounding of its weights gives it along the simplex: near the origin
        that decides which point of C is next.  v where that is more: the simplex is too thin to tell."""
        u = v
        if s.count > 1:
            e = s.w_1 - s.w_0
            u -= (wp.dot(u, e) / wp.length_sq(e)) * e
            if s.count > 2:
                f = s.w_2 - s.w_0
                f -= (wp.dot(f, e) / wp.length_sq(e)) * e
                square = wp.length_sq(f)
                if wp.length_sq(u) < square:  # farther, what f has along v by rounding is more
                    u -= (wp.dot(u, f) / square) * f
        return wp.where(wp.length(u - v) <= rounding, u, v)

    @wp.func
    def point_of_a(s: Simplex) -> vec3:
        return s.weight[0] * s.a_0 + s.weight[1] * s.a_1 + s.weight[2] * s.a_2 + s.weight[3] * s.a_3

    @wp.func
    def told(before: Nearest, n: vec3, distance: real, gap: real, s: Simplex, v: vec3) -> Nearest:
        out = before
        out.n = n
        out.distance = distance
        out.gap = gap
        out.p_A = point_of_a(s)
        out.v = v
        return out

    @wp.func
    def gjk(
        a: Solid, b: Solid, t: vec3, start: vec3, reach: real, tiny: real, aim: vec3, hulls: Hulls, w: int
    ) -> Nearest:  # fmt: skip
        """Cores of A and B, B's origin at t from A's; `start` a first guess of n; nearer than `tiny` counts as overlapping; of
        all v the nearest to `aim` counts, unless that is zero.  Without a bound of `reach` it goes on after bounds have met."""
        out = Nearest()
        s = Simplex()
        n = start
        v = vec3()
        length = real(0.0)
        close = real(4.0 * eps) * (wp.length(t) + a.radius + b.radius)
        fine = reach > real(1.0e29)
        out.state = wp.static(APART)
        out.gap = real(1.0e30)
        aiming = wp.length_sq(aim) > real(0.0)
        stalled = wp.int32(0)
        going = wp.int32(0)
        while going < wp.static(max_iterations):
            p_A = support(a, hulls, w, n)
            c = p_A - t - second(b, hulls, w, -n)
            bound = -wp.dot(n, c)
            if bound > reach:
                out.state = wp.static(FAR)
                out.distance = bound
                out.n = n
                break
            if s.count > 0:
                gap = wp.where(aiming, wp.length(v - aim), length - bound)
                if gap < out.gap or (fine and not aiming and gap < out.gap + real(0.25) * close):
                    out = told(out, n, length, gap, s, v)
                if (gap <= close and (aiming or not fine)) or has(s, c):
                    break
            grown = add(s, c, p_A)
            grown.weight = weigh(grown)
            v_new = nearest_point(grown)
            if grown.count == 4 and wp.min(grown.weight) > real(0.0):
                out.state = wp.static(OVERLAP)
                out = told(out, out.n, out.distance, out.gap, grown, v_new)
                break
            grown = reduce(grown)
            v_new = across(grown, v_new, close)
            # near its end |v| gets shorter by less than rounding while its direction still gets better: by the square
            stalled += wp.where(s.count > 0 and wp.length(v_new) >= length, 1, 0)
            if stalled > wp.static(STALLED) or (s.count > 0 and wp.length(v_new) > length + close):
                break
            s = grown
            v = v_new
            length = wp.length(v)
            if length <= tiny:
                out.state = wp.static(OVERLAP)
                out = told(out, out.n, out.distance, out.gap, s, v)
                break
            n = -v / length
            going += 1
        larger = wp.max(a.radius, b.radius)
        unmet = out.gap > real(tight) * larger and length <= real(near) * larger
        if out.state == wp.static(APART) and not aiming and unmet:
            out = told(out, out.n, length, out.gap + length - out.distance, s, v)
        return out

    return SimpleNamespace(Nearest=Nearest, gjk=gjk, near=near, tight=tight)
