"""Discs among the faces that meet: their rim is a circle, not the polygon that scratch holds of it.

In a disc's own coordinates (x, y), q = centre + x e_1 + y e_2 with e_1 towards its first corner and e_2 a quarter ahead, its
rim is the unit circle, in whatever way the disc leans.  So where a corner of the other face lies, and where a side of that
crosses the rim, is known to rounding.  Of the rim itself *samples* that lie over the other face are points: the corners of the
polygon or, where the other face covers only an arc, as many on that arc, and its ends.  So a sliver between a side and the rim
keeps its area: with chords of the m-th part of its arc it lacks the share 2 / m^2.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import CORNERS, make_convexity
from sapsim.kinds.pairs._manifold import make_manifold

HALVINGS = 5
LEANS = 0.01  # sine of the angle from which on a disc may roll on its rim
assert 2**HALVINGS == CORNERS


@cache
def make_round(R) -> SimpleNamespace:
    """Device functions beyond, inside, add_sides and add_rim."""
    import math

    import warp as wp

    real, vec2, vec3 = R.t, R.vec2, R.vec3
    Scratch = make_convexity(R).Scratch
    manifold = make_manifold(R)
    Face, Limits, corner, after = manifold.Face, manifold.Limits, manifold.corner, manifold.after
    name_of, pair_name, add_meeting, height = manifold.name_of, manifold.pair_name, manifold.add_meeting, manifold.height
    cosine, sine = math.cos(2.0 * math.pi / CORNERS), math.sin(2.0 * math.pi / CORNERS)
    # in quarters of a turn, about: arcs that are as near as this are one
    tiny = 1.0e-9 if R.name == "float64" else 1.0e-4

    @wp.struct
    class Disc:
        """Middle of a round face and its axes, of the radius's length each."""

        centre: vec3
        e_1: vec3
        e_2: vec3

    @wp.struct
    class Arc:
        """Part of a rim, anticlockwise in the disc's coordinates, from the direction `begin` on in steps of an angle; its
        samples are `count`."""

        begin: vec2
        cosine: real
        sine: real
        count: int

    @wp.func
    def disc_of(f: Face, scratch: Scratch, row: wp.vec2i) -> Disc:
        first, quarter = corner(scratch, row, f, 0), corner(scratch, row, f, wp.static(CORNERS // 4))
        out = Disc()
        out.centre = real(0.5) * (first + corner(scratch, row, f, wp.static(CORNERS // 2)))
        out.e_1 = first - out.centre
        out.e_2 = quarter - out.centre
        return out

    @wp.func
    def coordinates(d: Disc, v: vec3) -> vec2:
        """(x, y) of the vector v over (u, v)."""
        inverse = real(1.0) / (d.e_1[0] * d.e_2[1] - d.e_1[1] * d.e_2[0])
        return inverse * vec2(v[0] * d.e_2[1] - v[1] * d.e_2[0], v[1] * d.e_1[0] - v[0] * d.e_1[1])

    @wp.func
    def beyond(ref: Face, k: int, q: vec3, scratch: Scratch, row: wp.vec2i) -> real:
        """How far q lies outside of side k of ref."""
        p_0, p_1 = corner(scratch, row, ref, k), corner(scratch, row, ref, after(ref, k))
        x, y = p_1[0] - p_0[0], p_1[1] - p_0[1]
        length = wp.sqrt(x * x + y * y)
        if length == real(0.0):
            return real(-1.0e30)
        return ref.sense * (y * (q[0] - p_0[0]) - x * (q[1] - p_0[1])) / length

    @wp.func
    def inside(f: Face, q: vec3, limits: Limits, scratch: Scratch, row: wp.vec2i) -> bool:
        if f.round:
            d = disc_of(f, scratch, row)
            return (wp.length(coordinates(d, q - d.centre)) - real(1.0)) * wp.length(d.e_1) <= limits.thick
        for side in range(f.count):
            if beyond(f, side, q, scratch, row) > limits.thick:
                return False
        return True

    @wp.func
    def add_sides(p: Face, f: Face, limits: Limits, scratch: Scratch, row: wp.vec2i, found: int) -> int:
        """Corners of the polygon or segment p in the disc f, and where its sides cross the rim."""
        d = disc_of(f, scratch, row)
        n = found
        for k in range(p.count):
            q_0 = corner(scratch, row, p, k)
            e = corner(scratch, row, p, after(p, k)) - q_0
            x, along = coordinates(d, q_0 - d.centre), coordinates(d, e)
            # |x + t along| = 1
            a, b, c = wp.dot(along, along), wp.dot(x, along), wp.dot(x, x) - real(1.0)
            square = b * b - a * c
            far = -b - wp.where(b >= real(0.0), real(1.0), real(-1.0)) * wp.sqrt(wp.max(square, real(0.0)))
            crosses = square > real(0.0) and ((p.sides >> k) & 1) == 1 and (p.count > 2 or k == 0)
            places = wp.int32(3)  # one place in the text that calls add_meeting
            for i in range(places):
                t = real(0.0)
                own = name_of(scratch, row, p, k, wp.min(i, 1))
                other = wp.int32(0)
                if i == 0:
                    here = ((p.corners >> k) & 1) == 1 and inside(f, q_0, limits, scratch, row)
                else:
                    t = wp.where((far / a < c / far) == (i == 1), far / a, c / far)
                    other = name_of(scratch, row, f, i - 1, 1)
                    here = crosses and t > real(0.0) and t < real(1.0)
                if here:
                    q = q_0 + t * e
                    n = add_meeting(p, q, height(f, q, scratch, row), pair_name(p, own, other), limits, scratch, row, n)
        return n

    @wp.func
    def beyond_side(d: Disc, p: Face, k: int, scratch: Scratch, row: wp.vec2i) -> vec3:
        """(A, B, C) of side k of p: the rim's point (x, y) lies A x + B y + C [m] outside of it.

        Of another disc that leans against this one A and B are those of one that does not; samples are looked at again.
        """
        if p.round:
            other = disc_of(p, scratch, row)
            e_1, e_2 = coordinates(other, d.e_1), coordinates(other, d.e_2)
            c = coordinates(other, d.centre - other.centre)
            square = real(0.5) * (wp.dot(e_1, e_1) + wp.dot(e_2, e_2))
            side = vec3(wp.dot(c, e_1), wp.dot(c, e_2), real(0.5) * (wp.dot(c, c) + square - real(1.0)))
            return wp.length(other.e_1) * side
        p_0 = corner(scratch, row, p, k)
        e = corner(scratch, row, p, after(p, k)) - p_0
        length = wp.sqrt(e[0] * e[0] + e[1] * e[1])
        if length == real(0.0):
            return vec3(real(0.0), real(0.0), real(-1.0e30))
        m = p.sense / length * vec3(e[1], -e[0], real(0.0))
        return vec3(wp.dot(m, d.e_1), wp.dot(m, d.e_2), wp.dot(m, d.centre - p_0))

    @wp.func
    def turn_of(v: vec2) -> real:
        """A number from 0 to 4 that grows with the angle of v."""
        share = v[1] / (wp.abs(v[0]) + wp.abs(v[1]))
        if v[0] < real(0.0):
            return real(2.0) - share
        return wp.where(share < real(0.0), real(4.0) + share, share)

    @wp.func
    def ahead(turn: real) -> real:
        return wp.where(turn < real(0.0), turn + real(4.0), turn)

    @wp.func
    def whole() -> Arc:
        out = Arc()
        out.begin = vec2(real(1.0), real(0.0))
        out.cosine = real(cosine)
        out.sine = real(sine)
        out.count = wp.static(CORNERS)
        return out

    @wp.func
    def between(begin: vec2, end: vec2) -> Arc:
        """In 32 steps: the angle is halved five times."""
        out = Arc()
        out.begin = begin
        out.count = wp.static(CORNERS + 1)
        c, s = wp.dot(begin, end), begin[0] * end[1] - begin[1] * end[0]
        half = wp.sqrt(wp.max(real(0.5) * (real(1.0) + c), real(0.0)))
        if half > real(0.5):
            out.sine = wp.abs(s) / (real(2.0) * half)
        else:
            out.sine = wp.sqrt(wp.max(real(0.5) * (real(1.0) - c), real(0.0)))
        out.cosine = wp.where(s < real(0.0), -half, half)
        halvings = wp.int32(wp.static(HALVINGS - 1))
        for _halving in range(halvings):
            out.cosine = wp.sqrt(wp.max(real(0.5) * (real(1.0) + out.cosine), real(0.0)))
            out.sine = out.sine / (real(2.0) * out.cosine)
        return out

    @wp.func
    def arc_of(d: Disc, p: Face, limits: Limits, scratch: Scratch, row: wp.vec2i) -> Arc:
        """The least arc of the rim that holds what lies over p, a whole polygon or another disc: all but the longest gap.

        Every side of p that the rim is beyond by more than the thickness of sides cuts an arc off it; the gap begins with the
        longest of those and takes in what overlaps it.
        """
        first, last = vec2(), vec2()  # of the gap
        at, length = real(0.0), real(0.0)
        sides = wp.where(p.round, 1, p.count)
        grown = wp.int32(1)
        passes = wp.int32(0)
        while grown == 1 and passes <= sides:
            grown = wp.int32(0)
            for k in range(sides):
                out = beyond_side(d, p, k, scratch, row)
                rise = wp.sqrt(out[0] * out[0] + out[1] * out[1])
                if out[2] >= rise:
                    return whole()
                if out[2] + rise > limits.thick:
                    c = -out[2] / rise
                    s = wp.sqrt(wp.max(real(1.0) - c * c, real(0.0)))
                    x, y = out[0] / rise, out[1] / rise
                    begin, end = vec2(x * c + y * s, y * c - x * s), vec2(x * c - y * s, y * c + x * s)
                    l = ahead(turn_of(end) - turn_of(begin))
                    if c > real(0.5) and l > real(3.0):
                        l = real(0.0)  # rounding of an arc without length
                    a = ahead(turn_of(begin) - at)
                    if passes == 0:
                        if l > length:
                            first = begin
                            last = end
                            at = turn_of(begin)
                            length = l
                            grown = wp.int32(1)
                    elif a <= length + real(tiny) and a + l > length + real(tiny):
                        last = end
                        length = a + l
                        grown = wp.int32(1)
                    elif a > length + real(tiny) and a + l >= real(4.0) - real(tiny):
                        first = begin
                        at = turn_of(begin)
                        length = wp.max(real(4.0) - a + length, l)
                        grown = wp.int32(1)
            passes += 1
        if length == real(0.0) or length >= real(4.0) - real(2.0) * real(tiny):
            return whole()
        return between(last, first)

    @wp.func
    def add_rim(f: Face, p: Face, limits: Limits, scratch: Scratch, row: wp.vec2i, found: int) -> int:
        """Samples of the rim of the disc f that lie over p: where f leans, the lowest place, too, if the arc has it."""
        d = disc_of(f, scratch, row)
        arc = whole()
        if p.round or p.sides == -1:  # parts of a surface do not know of each other: they share the corners of the polygon
            arc = arc_of(d, p, limits, scratch, row)
        half = real(2.0)
        if wp.abs(d.e_1[2]) > real(LEANS) * wp.length(d.e_1):
            half = wp.sqrt(real(0.5) * (real(1.0) + arc.cosine))
        n = found
        at = arc.begin
        for k in range(arc.count):
            sample = wp.where(at[0] >= half, vec2(real(1.0), real(0.0)), at)
            q = d.centre + sample[0] * d.e_1 + sample[1] * d.e_2
            if inside(p, q, limits, scratch, row):
                own = name_of(scratch, row, f, wp.min(k, wp.static(CORNERS - 1)), wp.where(k == wp.static(CORNERS), 1, 0))
                n = add_meeting(f, q, height(p, q, scratch, row), pair_name(f, own, 0), limits, scratch, row, n)
            at = vec2(arc.cosine * at[0] - arc.sine * at[1], arc.sine * at[0] + arc.cosine * at[1])
        return n

    return SimpleNamespace(beyond=beyond, inside=inside, add_sides=add_sides, add_rim=add_rim)
