"""Two convex shapes that have no pair of their own, by support functions: distance, depth, and a polygon of contact.

**Order.**  The shapes are first put in an order of their own (kind, size, then place), and all choices are made in it: no
choice depends on which one is called A.  Work is done in world axes about the first shape's origin (kinds/convexity.py).

**Normal.**  Cores apart: the direction of the distance (_gjk.py).  Cores that overlap: the expanding polytope (_epa.py) finds
the direction of least depth over all directions; then the direction is refined.  With the second core moved along n until the
two are c apart, the normal n' of that distance has h(n') <= h(n): n <- n' descends to a minimum, and stays where faces meet;
Newton steps on h and longer steps the same way speed that up (_descent.py).  Cores that touch but for rounding, or whose bounds
do not meet, descend too.

**Witnesses.**  Of cores apart whose normal comes from a descent, they are looked for where they are and c apart, from several
sides, with ever smaller c: those count that part most nearly by the depth along n.

Roundings of spheres and capsules add to the depth and change no normal.

**Points.**  _manifold.py, _lines.py, _reduce.py; where none of theirs is as deep as the depth found, the nearest points are one
more, of feature 0.
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.convexity import NAMES
from sapsim.kinds.pairs._descent import make_descent
from sapsim.kinds.pairs._epa import make_epa
from sapsim.kinds.pairs._gjk import APART, FAR, OVERLAP, make_gjk
from sapsim.kinds.pairs._points import make_points
from sapsim.kinds.pairs._reduce import POINTS


def make_convex(R, PointBuffer, shared):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    eps = R.eps
    double = R.name == "float64"
    touching = 1.0e-9 if double else 4.0e-6  # of the larger size: nearer, v is rounding and the cores count as overlapping
    # of the larger size: nearer, the direction of v is worse than that of a distance of 0.02
    clear = 2.0e-9 if double else 1.0e-4
    turns = 16
    Solid, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch
    rounding = shared.rounding
    descent = make_descent(R)
    Descent, descend = descent.Descent, descent.descend
    nearest = make_gjk(R)
    Nearest, gjk, near, tight = nearest.Nearest, nearest.gjk, nearest.near, nearest.tight
    loose = 4.0 * tight  # bounds of cores that are far apart; a descent knows n to the root of rounding
    epa = make_epa(R).epa
    write = make_points(R, PointBuffer).write

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
    def astray(u: vec3, d: Descent) -> real:
        """How far witnesses that part by u are from parting by the depth along n."""
        return wp.length(u - d.depth * d.n)

    @wp.func
    def begin(
        found: Nearest, a: Solid, b: Solid, t: vec3, hulls: Hulls, w: int, scratch: Scratch, row: wp.vec2i
    ) -> Descent:  # fmt: skip
        """Where the descent begins: at the normal found, or that of the least depth of all where along it the cores overlap."""
        d = Descent()
        d.n = found.n
        d.depth = found.gap - found.distance
        if d.depth > real(0.0):
            smaller, larger = wp.min(a.radius, b.radius), wp.max(a.radius, b.radius)
            tolerance = real(1.0e-7 if double else 0.0) * smaller + real(4.0 * eps) * larger
            depth, n = epa(a, b, t, tolerance, hulls, w, scratch, row)
            if found.state == wp.static(OVERLAP) or depth < d.depth:
                d.depth = depth
                d.n = n
        return d

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
            shift = wp.where((descending & 1) == 1, d.depth + c, real(0.0)) * d.n
            aim = wp.where(descending > 1, real(1.0), real(0.0)) * (d.depth * d.n - shift)
            here = gjk(a, b, t + shift, n, within, real(touching) * larger, aim, hulls, w)
            if descending > 0:
                if descending == 1 and here.state == wp.static(APART):
                    d = descend(d, here.n, a, b, t, hulls, w)
                if astray(shift + here.v, d) < astray(found.v, d):
                    found.p_A = here.p_A
                    found.v = shift + here.v
                n = d.n
                if (here.state != wp.static(APART) and descending == 1) or (d.ended and d.depth >= real(0.0)):
                    break
                if descending > 1 and astray(found.v, d) <= real(tight) * larger:
                    break
                if descending > 1:  # each look from another side, the next at the other place
                    n = wp.normalize(d.n + real(0.2) * vec3(here.n[1], here.n[2], here.n[0]))
                    descending = 5 - descending
                    c *= wp.where(descending == 2, real(0.25), real(1.0))
                elif d.ended or turn == wp.static(turns - 5):
                    descending = 2
                    c *= real(0.0625)
            elif here.state == wp.static(FAR):
                return here
            else:
                known = here.distance > real(clear) * larger and here.gap <= real(tight) * larger
                if here.state == wp.static(APART) and (here.distance > real(near) * larger or known):
                    # begun anew from the normal found, until the bounds meet
                    better = turn == 0 or here.gap < found.gap
                    if better:
                        found = here
                        n = here.n
                    if found.gap <= real(16.0 * eps) * larger or (not better and found.gap <= real(loose) * larger):
                        break
                    if better:
                        continue
                else:
                    found = here
                descending = 1
                d = begin(found, a, b, t, hulls, w, scratch, row)
                n = d.n
                within = real(1.0e30)
        if descending > 0:
            found.distance = -d.depth
            found.n = d.n
            found.state = wp.static(APART)
        return found

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
        return write(a, p_WA, b, t, n, depth, found.p_A + r_a * n, margin, hulls, scratch, row, out, w, base), n

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
