"""At most eight of the points of a contact: farthest in eight directions, and the deepest; where those are fewer, as of a
sliver, one after another that which is farthest from all chosen ones.

Directions are fixed to the first shape, and of points that are equal but for rounding the one of the lower name is taken, so
that a contact at rest keeps its points.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import make_convexity
from sapsim.kinds.pairs._manifold import FIRST, FIRST_NAME

POINTS = 8


@cache
def make_reduce(R, PointBuffer) -> SimpleNamespace:
    """Device functions write and spread."""
    import warp as wp

    real, vec3, vec2, mat33 = R.t, R.vec3, R.vec2, R.mat33
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
    def deepest(found: int, tie: real, scratch: Scratch, row: wp.vec2i) -> int:
        best = wp.int32(0)
        for k in range(1, found):
            here = scratch.point[row[0], row[1] + wp.static(FIRST) + k][3]
            if here > scratch.point[row[0], row[1] + wp.static(FIRST) + best][3] + tie:
                best = k
        return best

    @wp.func
    def put(k: int, to: int, o_W: vec3, M_W: mat33, scratch: Scratch, row: wp.vec2i, out: PointBuffer, w: int, base: int):
        """Point k of scratch to place `to` of the pair: p_W = o_W + M_W (u, v, z)."""
        p = scratch.point[row[0], row[1] + wp.static(FIRST) + k]
        out.p[w, base + to] = o_W + M_W * vec3(p[0], p[1], p[2])
        out.depth[w, base + to] = p[3]
        out.feature[w, base + to] = scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + k]

    @wp.func
    def spread(
        found: int, tie: real, even: real, o_W: vec3, M_W: mat33, scratch: Scratch, row: wp.vec2i, out: PointBuffer, w: int,
        base: int,
    ) -> int:  # fmt: skip
        """Writes the farthest and the deepest points to the pair's places; how many.  Of points of which some have been chosen
        so before it takes the same as of all.  `even`: share of the depth by which a deepest one may be left out."""
        if found == 0:
            return 0
        count = wp.int32(0)
        most = real(-1.0e30)
        d = vec2(real(1.0), real(0.0))
        turns = wp.int32(wp.static(POINTS))
        for _turn in range(turns):
            k = farthest(d, found, tie, scratch, row)
            name = scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + k]
            known = wp.int32(0)
            for i in range(count):
                if out.feature[w, base + i] == name:
                    known = 1
            if known == 0:
                put(k, count, o_W, M_W, scratch, row, out, w, base)
                most = wp.max(most, out.depth[w, base + count])
                count += 1
            d = vec2(real(0.7071067811865476) * (d[0] - d[1]), real(0.7071067811865476) * (d[0] + d[1]))
        k = deepest(found, tie, scratch, row)
        p = scratch.point[row[0], row[1] + wp.static(FIRST) + k]
        if p[3] > most + tie and p[3] * (real(1.0) - even) > most:
            to = wp.int32(count)
            if count == wp.static(POINTS):
                q_W = o_W + M_W * vec3(p[0], p[1], p[2])
                to = wp.int32(0)
                for i in range(1, count):
                    if wp.length_sq(out.p[w, base + i] - q_W) < wp.length_sq(out.p[w, base + to] - q_W):
                        to = i
            else:
                count += 1
            put(k, to, o_W, M_W, scratch, row, out, w, base)
        return count

    @wp.func
    def clearance(p_W: vec3, count: int, out: PointBuffer, w: int, base: int) -> real:
        """Distance from the nearest of the pair's points."""
        least = real(1.0e30)
        for i in range(count):
            least = wp.min(least, wp.length_sq(out.p[w, base + i] - p_W))
        return wp.sqrt(least)

    @wp.func
    def fill(
        found: int, chosen: int, tie: real, o_W: vec3, M_W: mat33, scratch: Scratch, row: wp.vec2i, out: PointBuffer, w: int,
        base: int,
    ) -> int:  # fmt: skip
        """Writes to the places left the points that are farthest from those before; how many there are then."""
        count = chosen
        while count < wp.static(POINTS):
            best = wp.int32(0)
            reach = real(0.0)
            for k in range(found):
                p = scratch.point[row[0], row[1] + wp.static(FIRST) + k]
                here = clearance(o_W + M_W * vec3(p[0], p[1], p[2]), count, out, w, base)
                if here > reach + tie:
                    reach = here
                    best = k
            if reach == real(0.0):
                return count
            put(best, count, o_W, M_W, scratch, row, out, w, base)
            count += 1
        return count

    @wp.func
    def write(
        found: int, tie: real, even: real, o_W: vec3, M_W: mat33, scratch: Scratch, row: wp.vec2i, out: PointBuffer, w: int,
        base: int,
    ) -> int:  # fmt: skip
        """Writes all points to the pair's places, or eight of them where they are more; how many."""
        if found > wp.static(POINTS):
            count = spread(found, tie, even, o_W, M_W, scratch, row, out, w, base)
            return fill(found, count, tie, o_W, M_W, scratch, row, out, w, base)
        for k in range(found):
            put(k, k, o_W, M_W, scratch, row, out, w, base)
        return found

    return SimpleNamespace(write=write, spread=spread)
