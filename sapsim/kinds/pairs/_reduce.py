"""At most eight of the points of a contact: farthest in eight directions, and the deepest; where those are fewer, as of a
sliver, one after another that which is farthest from all chosen ones.

Directions are fixed to the first shape, and of points that are equal but for rounding the one of the lower name is taken, so
that a contact at rest keeps its points.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import ROOM, make_convexity
from sapsim.kinds.pairs._manifold import FIRST, FIRST_NAME, MOST

POINTS = 8
CHOSEN = FIRST_NAME + MOST  # those that stay, in `name`
assert CHOSEN + POINTS <= ROOM


@cache
def make_reduce(R, PointBuffer, again: bool = False) -> SimpleNamespace:
    """Device function write; `again`: of points that are put together with others later, and chosen from anew."""
    import warp as wp

    real, vec3, vec2, vec4, mat33 = R.t, R.vec3, R.vec2, R.vec4, R.mat33
    Scratch = make_convexity(R).Scratch

    @wp.func
    def farthest(d: vec2, found: int, tie: real, scratch: Scratch, row: wp.vec2i) -> int:
        best = wp.int32(0)
        reach = real(-1.0e30)
        for k in range(found):
            p = scratch.point[row[0], row[1] + wp.static(FIRST) + k]
            here = d[0] * p[0] + d[1] * p[1]
            lower = (
                scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + k]
                < scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + best]
            )
            if here > reach + tie or (here >= reach - tie and lower):
                reach = here
                best = k
        return best

    @wp.func
    def deepest(found: int, scratch: Scratch, row: wp.vec2i) -> int:
        best = wp.int32(0)
        for k in range(1, found):
            here = scratch.point[row[0], row[1] + wp.static(FIRST) + k][3]
            if here > scratch.point[row[0], row[1] + wp.static(FIRST) + best][3]:
                best = k
        return best

    @wp.func
    def chosen(i: int, scratch: Scratch, row: wp.vec2i) -> int:
        """The point that is i-th of those that stay."""
        return scratch.name[row[0], row[1] + wp.static(CHOSEN) + i]

    @wp.func
    def choose(k: int, count: int, scratch: Scratch, row: wp.vec2i) -> int:
        """Point k stays, too, in place `count`; the new number of them."""
        scratch.name[row[0], row[1] + wp.static(CHOSEN) + count] = k
        return wp.min(count + 1, wp.static(POINTS))

    @wp.func
    def apart(i: int, k: int, scratch: Scratch, row: wp.vec2i) -> real:
        """Distance of two points."""
        d = scratch.point[row[0], row[1] + wp.static(FIRST) + i] - scratch.point[row[0], row[1] + wp.static(FIRST) + k]
        return wp.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])

    @wp.func
    def spread(found: int, tie: real, even: real, scratch: Scratch, row: wp.vec2i) -> int:
        """Chooses the farthest and the deepest points; how many.  Of points of which some have been chosen so before it takes
        the same as of all.

        A deepest one that is deeper by no more than `tie`, or the share `even` of its depth, may be left out where the shapes
        overlap, so that a contact at rest keeps its points; the deepest chosen one then has its depth."""
        count = wp.int32(0)
        if found == 0:
            return count
        most = real(-1.0e30)
        top = wp.int32(0)
        d = vec2(real(1.0), real(0.0))
        turns = wp.int32(wp.static(POINTS))
        for _turn in range(turns):
            k = farthest(d, found, tie, scratch, row)
            name = scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + k]
            known = wp.int32(0)
            for i in range(count):
                if scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + chosen(i, scratch, row)] == name:
                    known = 1
            if known == 0:
                here = scratch.point[row[0], row[1] + wp.static(FIRST) + k][3]
                if here > most:
                    most = here
                    top = k
                count = choose(k, count, scratch, row)
            d = vec2(real(0.7071067811865476) * (d[0] - d[1]), real(0.7071067811865476) * (d[0] + d[1]))
        k = deepest(found, scratch, row)
        depth = scratch.point[row[0], row[1] + wp.static(FIRST) + k][3]
        if depth > most and depth > real(0.0) and (depth <= most + tie or depth * (real(1.0) - even) <= most):
            p = scratch.point[row[0], row[1] + wp.static(FIRST) + top]
            scratch.point[row[0], row[1] + wp.static(FIRST) + top] = vec4(p[0], p[1], p[2], depth)
        elif depth > most:
            to = wp.int32(count)
            if count == wp.static(POINTS):
                to = wp.int32(0)
                for i in range(1, count):
                    if apart(chosen(i, scratch, row), k, scratch, row) < apart(chosen(to, scratch, row), k, scratch, row):
                        to = i
            count = wp.max(count, choose(k, to, scratch, row))
        return count

    @wp.func
    def fill(found: int, before: int, tie: real, scratch: Scratch, row: wp.vec2i) -> int:
        """Chooses for the places left the points that are farthest from those before; how many there are then."""
        count = before
        while count < wp.static(POINTS):
            best = wp.int32(0)
            reach = real(0.0)
            for k in range(found):
                here = real(1.0e30)
                for i in range(count):
                    here = wp.min(here, apart(chosen(i, scratch, row), k, scratch, row))
                if here > reach + tie:
                    reach = here
                    best = k
            if reach == real(0.0):
                return count
            count = choose(best, count, scratch, row)
        return count

    @wp.func
    def write(
        found: int, tie: real, even: real, o_W: vec3, M_W: mat33, scratch: Scratch, row: wp.vec2i, out: PointBuffer, w: int,
        base: int,
    ) -> int:  # fmt: skip
        """Writes all points to the pair's places, or eight of them where they are more, p_W = o_W + M_W (u, v, z); how many."""
        count = found
        if wp.static(again) or found > wp.static(POINTS):
            count = spread(found, tie, even, scratch, row)
            if not wp.static(again):
                count = fill(found, count, tie, scratch, row)
        for i in range(count):
            k = i
            if wp.static(again) or found > wp.static(POINTS):
                k = chosen(i, scratch, row)
            p = scratch.point[row[0], row[1] + wp.static(FIRST) + k]
            out.p[w, base + i] = o_W + M_W * vec3(p[0], p[1], p[2])
            out.depth[w, base + i] = p[3]
            out.feature[w, base + i] = scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + k]
        return count

    return SimpleNamespace(write=write)
