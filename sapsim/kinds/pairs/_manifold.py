"""Where the facing polygons, segments or points of two convex shapes meet, seen along the normal.

In coordinates (u, v, z), z along n from A to B, each shape's face is a polygon over (u, v).  Where one of the two lies across n
(a *face contact*) points are the corners of the polygons' overlap:

    corners of one inside the other, and crossings of their outlines, each with depth = z_A - z_B there.

Where neither does and both are lines that run alike, there are two points, at the ends of the lines' overlap.  Otherwise
the nearest points alone are the contact.  Sides are thick, as in _face_clip.py.  Of more than eight corners the
farthest in eight directions stay, and the deepest.

Entries of scratch: `point` holds corners of the two faces as (u, v, z, radius of curvature across a line), then the points
found as (u, v, z_A, depth); `name` holds names of corners and edges, then those of the points.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import CORNERS, NAMES, ROOM, make_convexity

FIRST = 2 * CORNERS  # points found, in `point`
FIRST_NAME = 4 * CORNERS  # and in `name`
MOST = 96  # of them
assert FIRST + MOST <= ROOM and FIRST_NAME + MOST <= ROOM


@cache
def make_manifold(R) -> SimpleNamespace:
    """Struct Facing and device functions place, find."""
    import warp as wp

    real, vec3, vec4, mat33 = R.t, R.vec3, R.vec4, R.mat33
    shared = make_convexity(R)
    Scratch = shared.Scratch

    @wp.struct
    class Face:
        """One of the two: its place in scratch (0 A, 1 B), number of corners, sense of turning seen along n (+-1), gradient of
        z over (u, v), and how squarely it lies across n (cosine; -1 for segments and points).  `sides` and `corners`: bits of
        those where a contact may end."""

        turned: int
        count: int
        sense: real
        slope: vec3
        square: real
        sides: int
        corners: int

    @wp.struct
    class Limits:
        """Points of less depth than -margin are left out; sides are `thick`."""

        margin: real
        thick: real

    @wp.func
    def corner(scratch: Scratch, row: wp.vec2i, f: Face, k: int) -> vec3:
        p = scratch.point[row[0], row[1] + wp.static(CORNERS) * f.turned + k]
        return vec3(p[0], p[1], p[2])

    @wp.func
    def after(f: Face, k: int) -> int:
        return wp.where(k + 1 < f.count, k + 1, 0)

    @wp.func
    def name_of(scratch: Scratch, row: wp.vec2i, f: Face, k: int, edge: int) -> int:
        return scratch.name[row[0], row[1] + 2 * (wp.static(CORNERS) * f.turned + k) + edge]

    @wp.func
    def pair_name(f: Face, own: int, other: int) -> int:
        """Of feature `own` of the shape of f, and `other` of the other one."""
        if f.turned == 0:
            return wp.static(NAMES) * own + other
        return wp.static(NAMES) * other + own

    @wp.func
    def place(scratch: Scratch, row: wp.vec2i, turned: int, count: int, normal: vec3, M: mat33, R_WG: mat33, p: vec3) -> Face:
        """Takes the corners of a face from its shape's frame (R_WG, p) to (u, v, z), the rows of M; p already is there."""
        f = Face()
        f.turned = turned
        f.count = count
        f.sense = wp.where(turned == 0, real(1.0), real(-1.0))
        f.square = real(-1.0)
        f.sides = -1
        f.corners = -1
        N = M * R_WG
        for k in range(count):
            at = row[1] + wp.static(CORNERS) * turned + k
            c = scratch.point[row[0], at]
            q = N * vec3(c[0], c[1], c[2]) + p
            scratch.point[row[0], at] = vec4(q[0], q[1], q[2], c[3])
        if count >= 3:
            m = M * normal
            f.square = f.sense * m[2]
            if f.square > real(0.05):
                f.slope = vec3(-m[0] / m[2], -m[1] / m[2], real(0.0))
        return f

    @wp.func
    def add(q: vec3, depth: real, name: int, limits: Limits, scratch: Scratch, row: wp.vec2i, found: int) -> int:
        """Notes the point q = (u, v, z_A) unless it is too shallow or a double; the new number of points."""
        if depth <= -limits.margin or found >= wp.static(MOST):
            return found
        for k in range(found):
            p = scratch.point[row[0], row[1] + wp.static(FIRST) + k]
            x, y = p[0] - q[0], p[1] - q[1]
            if x * x + y * y <= real(4.0) * limits.thick * limits.thick:
                return found
        scratch.point[row[0], row[1] + wp.static(FIRST) + found] = vec4(q[0], q[1], q[2], depth)
        scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + found] = name
        return found + 1

    @wp.func
    def add_meeting(
        f: Face, q: vec3, z_other: real, name: int, limits: Limits, scratch: Scratch, row: wp.vec2i, found: int
    ) -> int:
        """The point q of the shape of f, where the other one is at z_other."""
        if f.turned == 0:
            return add(q, q[2] - z_other, name, limits, scratch, row, found)
        return add(vec3(q[0], q[1], z_other), z_other - q[2], name, limits, scratch, row, found)

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
    def height(f: Face, q: vec3, scratch: Scratch, row: wp.vec2i) -> real:
        """z of the face's plane at (u, v) of q."""
        p = corner(scratch, row, f, 0)
        return p[2] + f.slope[0] * (q[0] - p[0]) + f.slope[1] * (q[1] - p[1])

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
        own = name_of(scratch, row, inc, m, 1)
        if enters < 0:
            if ((inc.corners >> m) & 1) == 1:
                name = pair_name(inc, name_of(scratch, row, inc, m, 0), 0)
                n = add_meeting(inc, q_0, height(ref, q_0, scratch, row), name, limits, scratch, row, n)
        elif ((ref.sides >> enters) & 1) == 1:
            q = q_0 + t_0 * (q_1 - q_0)
            name = pair_name(inc, own, name_of(scratch, row, ref, enters, 1))
            n = add_meeting(inc, q, edge_height(ref, enters, q, scratch, row), name, limits, scratch, row, n)
        if leaves >= 0:
            if ((ref.sides >> leaves) & 1) == 1:
                q = q_0 + t_1 * (q_1 - q_0)
                name = pair_name(inc, own, name_of(scratch, row, ref, leaves, 1))
                n = add_meeting(inc, q, edge_height(ref, leaves, q, scratch, row), name, limits, scratch, row, n)
        elif inc.count == 2 and ((inc.corners >> 1) & 1) == 1:
            name = pair_name(inc, name_of(scratch, row, inc, after(inc, m), 0), 0)
            n = add_meeting(inc, q_1, height(ref, q_1, scratch, row), name, limits, scratch, row, n)
        return n

    @wp.func
    def inside(f: Face, q: vec3, limits: Limits, scratch: Scratch, row: wp.vec2i) -> bool:
        for side in range(f.count):
            if beyond(f, side, q, scratch, row) > limits.thick:
                return False
        return True

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

    return SimpleNamespace(
        Face=Face, Limits=Limits, place=place, clip=clip, add=add, corner=corner, after=after, name_of=name_of
    )
