"""Where the facing polygons, segments or points of two convex shapes meet, seen along the normal.

In coordinates (u, v, z), z along n from A to B, each shape's face is a polygon over (u, v).  Where one of the two lies across n
(a *face contact*) points are the corners of the polygons' overlap:

    corners of one inside the other, and crossings of their outlines, each with depth = z_A - z_B there.

Where neither does and both are lines that run alike, there are two points, at the ends of the lines' overlap.  Otherwise
the nearest points alone are the contact.  Sides are thick, as in _face_clip.py.  Of a disc the outline is its rim (_round.py).
Of more than eight corners the farthest in eight directions stay, and the deepest (_reduce.py).

Entries of scratch: `point` holds corners of the two faces as (u, v, z, radius of curvature across a line), then the points
found as (u, v, z_A, depth); `name` holds names of corners and edges, then those of the points.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import CORNERS, NAMES, ROOM, make_convexity

FIRST = 2 * CORNERS  # points found, in `point`
FIRST_NAME = 4 * CORNERS  # and in `name`
MOST = 128  # of them
assert FIRST + MOST <= ROOM and FIRST_NAME + MOST <= ROOM


@cache
def make_manifold(R) -> SimpleNamespace:
    """Structs Face and Limits, and device functions on faces in scratch: place, corner, after, name_of, height; add a point."""
    import warp as wp

    real, vec3, vec4, mat33 = R.t, R.vec3, R.vec4, R.mat33
    shared = make_convexity(R)
    Scratch = shared.Scratch

    @wp.struct
    class Face:
        """One of the two: its place in scratch (0 A, 1 B), number of corners, sense of turning seen along n (+-1), gradient of
        z over (u, v), and how squarely it lies across n (cosine; -1 for segments and points).  `sides` and `corners`: bits of
        those where a contact may end.  `round`: the corners lie on the rim of a disc (_round.py)."""

        turned: int
        count: int
        sense: real
        slope: vec3
        square: real
        sides: int
        corners: int
        round: bool

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
            f.round = f.round or (count >= 3 and c[3] > real(0.0))
            scratch.point[row[0], at] = vec4(q[0], q[1], q[2], wp.where(count >= 3, real(0.0), c[3]))
        if count >= 3:
            m = M * normal
            f.square = f.sense * m[2]
            if f.square > real(0.05):
                f.slope = vec3(-m[0] / m[2], -m[1] / m[2], real(0.0))
            else:
                f.round = False
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
        z_A = wp.where(f.turned == 0, q[2], z_other)
        return add(vec3(q[0], q[1], z_A), f.sense * (q[2] - z_other), name, limits, scratch, row, found)

    @wp.func
    def height(f: Face, q: vec3, scratch: Scratch, row: wp.vec2i) -> real:
        """z of the face's plane at (u, v) of q."""
        p = corner(scratch, row, f, 0)
        return p[2] + f.slope[0] * (q[0] - p[0]) + f.slope[1] * (q[1] - p[1])

    return SimpleNamespace(
        Face=Face, Limits=Limits, place=place, add=add, add_meeting=add_meeting, height=height, corner=corner, after=after,
        name_of=name_of, pair_name=pair_name,
    )  # fmt: skip
