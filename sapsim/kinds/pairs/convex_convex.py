"""Two convex shapes that have no pair of their own, by support functions: distance, depth, and a polygon of contact.

**Order.**  The shapes are first put in an order of their own (kind, size, then place), and all choices are made in it: no
choice depends on which one is called A.  Work is done in world axes about the first shape's origin (kinds/convexity.py).

**Normal.**  Cores apart: the direction of the distance (_gjk.py).  Cores that overlap: the expanding polytope (_epa.py) finds
the direction of least depth over all directions; then the direction is refined.  With the second core moved along n until the
two are c apart, the normal n' of that distance has h(n') <= h(n): n <- n' descends to a minimum, and stays where faces meet;
a Newton step on h speeds that up where h is smooth.
Roundings of spheres and capsules add to the depth and change no normal.

**Points.**  _manifold.py, _lines.py, _reduce.py; where none of theirs is as deep as the depth found, the nearest points are one
more, of feature 0.
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.convexity import NAMES
from sapsim.kinds.pairs._epa import make_epa
from sapsim.kinds.pairs._gjk import APART, FAR, OVERLAP, make_gjk
from sapsim.kinds.pairs._lines import make_lines
from sapsim.kinds.pairs._manifold import make_manifold
from sapsim.kinds.pairs._reduce import POINTS, make_reduce

SQUARE = 0.999  # cosine between n and a face's normal from which on the face lies across n: 2.6 degrees, as in box_box


def make_convex(R, PointBuffer, shared):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps
    double = R.name == "float64"
    touching = 1.0e-9 if double else 4.0e-6  # of the larger size: nearer, v is rounding and the cores count as overlapping
    clear = (
        2.0e-9 if double else 1.0e-4
    )  # of the larger size: nearer, the direction of v is worse than that of a distance of 0.02
    same = 1.0e-10 if double else 1.0e-6  # of the smaller: depths that are as near to each other count as one
    turns = 16
    difference = 1.0e-5 if double else 3.0e-3  # of directions, for second derivatives: the square root of rounding, about
    Solid, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch
    support, rounding, face = shared.support, shared.rounding, shared.face
    nearest = make_gjk(R)
    Nearest, gjk, near, tight = nearest.Nearest, nearest.gjk, nearest.near, nearest.tight
    epa = make_epa(R).epa
    shared_manifold = make_manifold(R)
    Limits = shared_manifold.Limits
    place, clip = shared_manifold.place, shared_manifold.clip
    meet = make_lines(R).meet
    write = make_reduce(R, PointBuffer).write

    @wp.struct
    class Descent:
        """The refinement of n: h(n), and whether it has ended."""

        n: vec3
        depth: real
        ended: bool

    @wp.func
    def is_first(a: Solid, b: Solid, p_AB_W: vec3) -> bool:
        """Whether A is the first of the two (module docstring)."""
        if a.kind != b.kind:
            return a.kind < b.kind
        for i in range(3):
            if a.size[i] != b.size[i]:
                return a.size[i] > b.size[i]
        ahead = p_AB_W[0]
        if wp.abs(p_AB_W[1]) > wp.abs(ahead):
            ahead = p_AB_W[1]
        if wp.abs(p_AB_W[2]) > wp.abs(ahead):
            ahead = p_AB_W[2]
        return ahead >= real(0.0)

    @wp.func
    def width(a: Solid, b: Solid, t: vec3, n: vec3, hulls: Hulls, w: int) -> real:
        """h(n)"""
        return wp.dot(n, support(a, hulls, w, n) - t - support(b, hulls, w, -n))

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
            q = support(a, hulls, w, m) - t - support(b, hulls, w, -m)
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
        """A step of the descent to n, and on by a Newton step where that is lower still."""
        out = d
        h = width(a, b, t, n, hulls, w)
        if h >= d.depth:
            out.ended = True
            return out
        out.n = n
        out.depth = h
        out.ended = wp.length_sq(n - d.n) <= real(16.0 * eps * eps)
        if not out.ended:
            ahead = newton(n, a, b, t, hulls, w)
            h = width(a, b, t, ahead, hulls, w)
            if h < out.depth:
                out.depth = h
                out.n = ahead
        return out

    @wp.func
    def astray(u: vec3, d: Descent) -> real:
        """How far witnesses that part by u are from parting by the depth along n."""
        return wp.length(u - d.depth * d.n)

    @wp.func
    def find_normal(a: Solid, b: Solid, t: vec3, reach: real, hulls: Hulls, w: int, scratch: Scratch, row: wp.vec2i) -> Nearest:
        """Signed distance of the cores, n and the witness on A's core; FAR where it exceeds reach."""
        smaller, larger = wp.min(a.radius, b.radius), wp.max(a.radius, b.radius)
        c = real(0.02 if double else 0.1) * smaller + real(1024.0 * eps) * larger  # float32: |v| must be far above its rounding
        n = wp.where(wp.length(t) <= real(touching) * larger, vec3(real(0.0), real(0.0), real(1.0)), t)
        n = wp.normalize(n)
        found = Nearest()
        d = Descent()
        within = reach
        descending = wp.int32(0)
        for turn in range(wp.static(turns)):  # one place in the text that calls gjk
            shift = wp.where(descending == 1, d.depth + c, real(0.0)) * d.n
            here = gjk(a, b, t + shift, n, within, real(touching) * larger, hulls, w)
            if descending > 0:
                if descending == 1 and here.state == wp.static(APART):
                    d = descend(d, here.n, a, b, t, hulls, w)
                if astray(shift + here.v, d) < astray(found.v, d):
                    found.p_A = here.p_A
                    found.v = shift + here.v
                n = d.n
                if descending == 2:  # each look from another side
                    n = wp.normalize(d.n + real(0.2) * vec3(here.n[1], here.n[2], here.n[0]))
                if here.state != wp.static(APART) or (d.ended and d.depth >= real(0.0)):
                    break
                # apart, the last looks are at the shapes where they are
                if descending == 2 and astray(found.v, d) <= real(tight) * larger:
                    break
                if d.ended or turn == wp.static(turns - 3):
                    descending = 2
            elif here.state == wp.static(FAR):
                return here
            elif here.state == wp.static(APART) and (
                here.distance > real(near) * larger
                or (here.distance > real(clear) * larger and here.gap <= real(tight) * larger)
            ):
                # begun anew from the normal found, until the bounds meet
                if turn > 0 and here.gap >= found.gap:
                    break
                found = here
                n = here.n
                if here.gap <= real(16.0 * eps) * larger:
                    break
            else:
                descending = 1
                found = here
                d.n = here.n
                d.depth = here.gap - here.distance
                if here.state == wp.static(OVERLAP):
                    tolerance = real(1.0e-7 if double else 1.0e-6) * smaller + real(4.0 * eps) * larger
                    depth, normal = epa(a, b, t, tolerance, hulls, w, scratch, row)
                    d.depth = depth
                    d.n = normal
                    c = real(0.02) * smaller + real(1024.0 * eps) * larger
                n = d.n
                within = real(1.0e30)
        if descending > 0:
            found.distance = -d.depth
            found.n = d.n
            found.state = wp.static(APART)
        return found

    @wp.func
    def tangent(s: Solid, n: vec3) -> vec3:
        """A unit vector across n that is fixed to the shape."""
        x = vec3(s.R_WG[0, 0], s.R_WG[1, 0], s.R_WG[2, 0])
        if wp.abs(wp.dot(x, n)) > real(0.8):
            x = vec3(s.R_WG[0, 1], s.R_WG[1, 1], s.R_WG[2, 1])
        return wp.normalize(x - wp.dot(x, n) * n)

    @wp.func
    def find_points(
        a: Solid, b: Solid, t: vec3, M: mat33, limits: Limits, hulls: Hulls, w: int, scratch: Scratch, row: wp.vec2i
    ):
        """Points where the two faces meet, in the coordinates of _manifold.py about A's origin; M has the rows u, v, n: how
        many, and how far across n their two witnesses part at most."""
        n = vec3(M[2, 0], M[2, 1], M[2, 2])
        count_a, normal_a = face(a, hulls, w, n, scratch, row, 0)
        count_b, normal_b = face(b, hulls, w, -n, scratch, row, 1)
        zero = real(0.0)
        f_a = place(scratch, row, 0, count_a, normal_a, M, a.R_WG, vec3(zero, zero, rounding(a)))
        p_b = M * t - vec3(zero, zero, rounding(b))
        f_b = place(scratch, row, 1, count_b, normal_b, M, b.R_WG, p_b)
        if wp.max(f_a.square, f_b.square) >= real(SQUARE):
            if f_a.square >= f_b.square:
                return clip(f_a, f_b, limits, scratch, row), zero
            return clip(f_b, f_a, limits, scratch, row), zero
        return meet(f_a, f_b, real(0.005) * wp.min(a.radius, b.radius), limits, scratch, row)

    @wp.func
    def add_nearest(
        p_W: vec3, n: vec3, depth: real, exact: bool, count: int, out: PointBuffer, w: int, base: int, near_by: real,
        tolerance: real,
    ) -> int:  # fmt: skip
        """The deepest point gets the depth that was found; the nearest points are one more where none is as deep but for
        `tolerance`, in the place of the shallowest where all are taken.  Apart, a point that is `near_by` is moved there
        instead, and they are one more where the others are not `exact`, so that the gap is that of two witnesses."""
        shallowest = wp.int32(0)
        deepest = wp.int32(0)
        for k in range(1, count):
            if out.depth[w, base + k] > out.depth[w, base + deepest]:
                deepest = k
            if out.depth[w, base + k] < out.depth[w, base + shallowest]:
                shallowest = k
        to = wp.where(count < wp.static(POINTS), count, shallowest)
        added = wp.int32(1)
        if depth < real(0.0):
            for k in range(count):
                if wp.length(wp.cross(n, out.p[w, base + k] - p_W)) <= near_by and added == 1:
                    to = k
                    added = 0
        if added == 1 and count > 0 and (depth >= real(0.0) or exact):
            if out.depth[w, base + deepest] >= depth - tolerance:
                out.depth[w, base + deepest] = depth
                return count
        out.p[w, base + to] = p_W
        out.depth[w, base + to] = depth
        if added == 1:
            out.feature[w, base + to] = 0
        return wp.min(count + added, wp.static(POINTS))

    @wp.func
    def collide_in_order(
        a: Solid, p_WA: vec3, b: Solid, p_WB: vec3, margin: real, hulls: Hulls, scratch: Scratch, row: wp.vec2i,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        t = p_WB - p_WA
        r_a = rounding(a)
        r = r_a + rounding(b)
        found = find_normal(a, b, t, margin + r, hulls, w, scratch, row)
        n = found.n
        depth = r - found.distance
        if found.state == wp.static(FAR) or depth <= -margin:
            return 0, n
        smaller, larger = wp.min(a.radius, b.radius), wp.max(a.radius, b.radius)
        tie = real(16.0 * eps) * larger
        limits = Limits()
        limits.margin = margin
        limits.thick = real(1.0e-6) * smaller + real(4.0) * tie
        u = tangent(a, n)
        M = wp.matrix_from_rows(u, wp.cross(n, u), n)
        points, across = find_points(a, b, t, M, limits, hulls, w, scratch, row)
        count = write(points, limits.thick, p_WA, wp.transpose(M), scratch, row, out, w, base)
        tolerance = wp.where(depth < real(0.0), real(same) * smaller, real(1.0e-6 if double else 4.0e-5) * smaller) + tie
        exact = across <= limits.thick
        near_by = real(1.0e-4) * smaller
        return add_nearest(p_WA + found.p_A + r_a * n, n, depth, exact, count, out, w, base, near_by, tolerance), n

    @wp.func
    def collide(
        a: Solid, p_WA: vec3, b: Solid, p_WB: vec3, margin: real, hulls: Hulls, scratch: Scratch, row: wp.vec2i,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        ahead = is_first(a, b, p_WB - p_WA)
        first = b
        second = a
        if ahead:
            first = a
            second = b
        p_1 = wp.where(ahead, p_WA, p_WB)
        p_2 = wp.where(ahead, p_WB, p_WA)
        count, n = collide_in_order(first, p_1, second, p_2, margin, hulls, scratch, row, out, w, base)
        if not ahead:
            for k in range(count):
                out.p[w, base + k] = out.p[w, base + k] - out.depth[w, base + k] * n
                name = out.feature[w, base + k]
                out.feature[w, base + k] = (name % wp.static(NAMES)) * wp.static(NAMES) + name // wp.static(NAMES)
            n = -n
        return count, n

    return collide


KIND = PairKind(name="convex_convex", a="convex", b="convex", max_points=POINTS, generic=True, make_convex=make_convex)
