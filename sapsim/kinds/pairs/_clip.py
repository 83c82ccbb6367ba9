"""Corners of the overlap of two faces, one of which lies across n (_manifold.py): polygons, segments, points and discs."""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import make_convexity
from sapsim.kinds.pairs._manifold import make_manifold
from sapsim.kinds.pairs._round import make_round


@cache
def make_clip(R) -> SimpleNamespace:
    """Device function clip."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    Scratch = make_convexity(R).Scratch
    manifold = make_manifold(R)
    Face, Limits, corner, after = manifold.Face, manifold.Limits, manifold.corner, manifold.after
    name_of, pair_name, add_meeting, height = manifold.name_of, manifold.pair_name, manifold.add_meeting, manifold.height
    discs = make_round(R)
    beyond, inside, add_sides, add_rim = discs.beyond, discs.inside, discs.add_sides, discs.add_rim

    @wp.func
    def edge_height(f: Face, k: int, q: vec3, scratch: Scratch, row: wp.vec2i) -> real:
        """z of side k of the face at (u, v) of q."""
        p = corner(scratch, row, f, k)
        e = corner(scratch, row, f, after(f, k)) - p
        square = e[0] * e[0] + e[1] * e[1]
        s = real(0.0)
        if square > real(0.0):
            s = wp.clamp((e[0] * (q[0] - p[0]) + e[1] * (q[1] - p[1])) / square, real(0.0), real(1.0))
        return p[2] + s * e[2]

    @wp.func
    def add_edge(inc: Face, m: int, ref: Face, limits: Limits, scratch: Scratch, row: wp.vec2i, found: int) -> int:
        """Points of side m of inc: its first corner or where it enters ref's outline, and where it leaves that."""
        q_0 = corner(scratch, row, inc, m)
        q_1 = corner(scratch, row, inc, after(inc, m))
        t_0, t_1 = real(0.0), real(1.0)
        enters, leaves = wp.int32(-1), wp.int32(-1)
        for side in range(ref.count):
            d_0, d_1 = beyond(ref, side, q_0, scratch, row), beyond(ref, side, q_1, scratch, row)
            if d_0 > limits.thick:
                if d_1 > limits.thick:
                    return found
                t = d_0 / (d_0 - d_1)
                if enters < 0 or t > t_0:
                    t_0 = wp.min(t, real(1.0))
                    enters = side
            elif d_1 > limits.thick:
                t = d_0 / (d_0 - d_1)
                if leaves < 0 or t < t_1:
                    t_1 = wp.max(t, real(0.0))
                    leaves = side
        if t_0 > t_1:
            return found
        n = found
        ends = wp.int32(2)  # one place in the text that calls add_meeting
        for end in range(ends):
            side = wp.where(end == 0, enters, leaves)
            q = wp.where(end == 0, q_0, q_1)
            if side >= 0:
                ends_here = ((ref.sides >> side) & 1) == 1
                q = q_0 + wp.where(end == 0, t_0, t_1) * (q_1 - q_0)
                z = edge_height(ref, side, q, scratch, row)
                name = pair_name(inc, name_of(scratch, row, inc, m, 1), name_of(scratch, row, ref, side, 1))
            else:
                # a polygon's next side begins with this one's last corner
                own = wp.where(inc.count == 2, end, m)
                ends_here = ((inc.corners >> own) & 1) == 1 and (end == 0 or inc.count == 2)
                z = height(ref, q, scratch, row)
                name = pair_name(inc, name_of(scratch, row, inc, wp.where(end == 0, m, after(inc, m)), 0), 0)
            if ends_here:
                n = add_meeting(inc, q, z, name, limits, scratch, row, n)
        return n

    @wp.func
    def clip_round(ref: Face, inc: Face, limits: Limits, scratch: Scratch, row: wp.vec2i) -> int:
        """All points of a face contact of one disc or two, of which A's comes first: the two rims share their ends."""
        found = wp.int32(0)
        faces = wp.int32(2)  # one place in the text that calls add_sides and add_rim
        for k in range(faces):
            disc = ref
            other = inc
            if inc.turned == k:
                disc = inc
                other = ref
            if disc.round:
                if not other.round:
                    found = add_sides(other, disc, limits, scratch, row, found)
                if other.square > real(0.05):
                    found = add_rim(disc, other, limits, scratch, row, found)
        return found

    @wp.func
    def clip(ref: Face, inc: Face, limits: Limits, scratch: Scratch, row: wp.vec2i) -> int:
        """All points of a face contact; `ref` lies across n."""
        found = wp.int32(0)
        if inc.count == 1:
            q = corner(scratch, row, inc, 0)
            if inside(ref, q, limits, scratch, row):
                name = pair_name(inc, name_of(scratch, row, inc, 0, 0), 0)
                found = add_meeting(inc, q, height(ref, q, scratch, row), name, limits, scratch, row, found)
            return found
        if inc.round or ref.round:
            return clip_round(ref, inc, limits, scratch, row)
        edges = wp.where(inc.count == 2, 1, inc.count)
        for m in range(edges):
            found = add_edge(inc, m, ref, limits, scratch, row, found)
        if inc.square > real(0.05):
            for k in range(ref.count):
                q = corner(scratch, row, ref, k)
                if ((ref.corners >> k) & 1) == 1 and inside(inc, q, limits, scratch, row):
                    name = pair_name(ref, name_of(scratch, row, ref, k, 0), 0)
                    found = add_meeting(ref, q, height(inc, q, scratch, row), name, limits, scratch, row, found)
        return found

    return SimpleNamespace(clip=clip)
