"""Contacts of one shape with the parts of one surface, put together: what is behind, what is one facet's, what is there twice.

**Behind.**  A body comes from the front.  Where its middle lies in front of some part that it touches, parts that have it
behind them (the other side of a plate) are left out; where all have, it is pushed out by the shortest way, of the least depth.

**True.**  The plane of a part is felt where the part is what holds the body (part_true.py).

**Facets.**  Points with parts of one facet are one contact: of the points of all, those that _reduce.py takes.

**Twice.**  A ridge or peak is found from each of its parts; of points in one place with one normal the first stays.  Where a
body lies level over a facet's border, the contact with that facet has the points there, and the ridge is left out.

A lane owns all entries of a pair.
"""

import warp as wp

from sapsim.collide.part_true import ARRAYS as TRUE
from sapsim.collide.part_true import make_true
from sapsim.collide.parts import NONE
from sapsim.kinds.convexity import make_convexity
from sapsim.kinds.pairs._manifold import FIRST, FIRST_NAME
from sapsim.kinds.pairs._points import make_points
from sapsim.kinds.pairs._reduce import make_reduce

FARTHER = 1.01
LESS = 0.99  # of a contact's depth: what is as deep does not stand for it
DEEP = 0.01  # depth over the body's size from which a point is looked at again
ALIKE = 0.998  # cosine of normals of one contact that is found twice: 3.6 degrees, more than a face or side is held for level
ARRAYS = (
    "near_a", "near_b", "near_part", "near_n", "near_points", "point_p", "point_depth", "point_feature", "tri_facet",
    "shape_mesh", "shape_radius", "tri_beside", *TRUE,
)  # fmt: skip


def make_merge(R, struct, PointBuffer, slots: int, solid_of):
    """wp.func merge(s, w, i, near, scratch, row): of the pair whose first entry is i.

    A struct that is passed here has the arrays of ARRAYS; solid_of (s, w, shape) -> Solid.
    """
    real, vec3 = R.t, R.vec3
    same_place = 1.0e-6 + 64.0 * R.eps  # of the body's size
    Scratch = make_convexity(R).Scratch
    points = make_points(R, PointBuffer)
    reduce = make_reduce(R, PointBuffer, again=True).write
    add = _make_note(R, struct, slots)
    true = make_true(R, struct)
    is_off, is_through = true.is_off, true.is_through

    @wp.func
    def body_of(s: struct, w: int, i: int) -> int:
        """The shape that is not the surface."""
        return wp.where(s.shape_mesh[s.near_b[w, i]] >= 0, s.near_a[w, i], s.near_b[w, i])

    @wp.func
    def deepest(s: struct, w: int, i: int) -> int:
        best = wp.static(slots) * i
        for k in range(best + 1, wp.static(slots) * i + s.near_points[w, i]):
            if s.point_depth[w, k] > s.point_depth[w, best]:
                best = k
        return best

    @wp.func
    def is_behind(s: struct, w: int, i: int, body: int) -> bool:
        out = wp.where(body == s.near_a[w, i], real(-1.0), real(1.0))
        return out * wp.dot(s.near_n[w, i], s.p_WG[w, body] - s.point_p[w, deepest(s, w, i)]) < real(0.0)

    @wp.func
    def drop_behind(s: struct, w: int, first: int, end: int, body: int):
        front = int(0)
        least = int(-1)
        for i in range(first, end):
            if s.near_points[w, i] > 0:
                if is_behind(s, w, i, body):
                    if least < 0 or s.point_depth[w, deepest(s, w, i)] < s.point_depth[w, deepest(s, w, least)]:
                        least = i
                else:
                    front += 1
        for i in range(first, end):
            if s.near_points[w, i] > 0 and is_behind(s, w, i, body):
                if front > 0 or i != least:
                    s.near_points[w, i] = 0

    @wp.func
    def keep(s: struct, w: int, k: int, to: int):
        s.point_p[w, to] = s.point_p[w, k]
        s.point_depth[w, to] = s.point_depth[w, k]
        s.point_feature[w, to] = s.point_feature[w, k]

    @wp.func
    def witness(s: struct, w: int, i: int, k: int, body: int) -> vec3:
        """Point k of entry i on the body."""
        at = wp.static(slots) * i + k
        to_body = wp.where(body == s.near_a[w, i], real(0.0), s.point_depth[w, at])
        return s.point_p[w, at] - to_body * s.near_n[w, i]

    @wp.func
    def resolves(s: struct, w: int, j: int, i: int, body: int) -> bool:
        """Whether the way out of entry j takes the points of entry i, of a face, off its part."""
        depth = s.point_depth[w, deepest(s, w, j)]
        if depth <= real(0.0) or depth >= real(LESS) * s.point_depth[w, deepest(s, w, i)]:
            return False
        # a little farther, so that what just touches then is off
        way = wp.where(body == s.near_a[w, j], real(-FARTHER), real(FARTHER)) * depth * s.near_n[w, j]
        surface = s.near_a[w, i] + s.near_b[w, i] - body
        for k in range(s.near_points[w, i]):
            if not is_off(s, w, s.near_part[w, i] // 2, surface, witness(s, w, i, k, body) + way):
                return False
        return True

    @wp.func
    def drop_untrue(s: struct, w: int, i: int, first: int, end: int, body: int, deep: real):
        """Empties entry i, of a face, where that is not what holds the body (part_true.py)."""
        for j in range(first, end):
            if j != i and s.near_points[w, i] > 0 and s.near_points[w, j] > 0 and not is_behind(s, w, j, body):
                if resolves(s, w, j, i, body):
                    s.near_points[w, i] = 0
        if s.near_points[w, i] == 0 or is_behind(s, w, i, body):
            return
        if s.point_depth[w, deepest(s, w, i)] > deep:
            x = witness(s, w, i, deepest(s, w, i) - wp.static(slots) * i, body)
            surface = s.near_a[w, i] + s.near_b[w, i] - body
            if not is_through(s, w, first, end, surface, s.p_WG[w, body], x):
                s.near_points[w, i] = 0

    @wp.func
    def is_same_facet(s: struct, w: int, i: int, j: int) -> bool:
        n = s.near_n[w, i]
        m = s.near_n[w, j]
        same = n[0] == m[0] and n[1] == m[1] and n[2] == m[2]
        return same and s.tri_facet[s.near_part[w, i] // 2] == s.tri_facet[s.near_part[w, j] // 2]

    @wp.func
    def join(s: struct, w: int, i: int, j: int, body: int, thick: real, scratch: Scratch, row: wp.vec2i):
        """The points of entry j to those of entry i."""
        n = s.near_n[w, i]
        M = points.frame_of(solid_of(s, w, body), wp.where(body == s.near_a[w, i], n, -n))
        o = s.point_p[w, wp.static(slots) * i]
        found = add(s, w, i, o, M, thick, scratch, row, 0)
        found = add(s, w, j, o, M, thick, scratch, row, found)
        out = PointBuffer()
        out.p = s.point_p
        out.depth = s.point_depth
        out.feature = s.point_feature
        s.near_points[w, i] = reduce(found, thick, real(0.0), o, wp.transpose(M), scratch, row, out, w, wp.static(slots) * i)
        s.near_points[w, j] = 0

    @wp.func
    def is_border(s: struct, w: int, i: int, j: int) -> bool:
        """Whether entry i is of the face of a facet, and entry j of a ridge or peak of a part in it or beside it."""
        if s.near_part[w, i] % 2 == 1 or s.near_part[w, j] % 2 == 0:
            return False
        facet = s.tri_facet[s.near_part[w, i] // 2]
        part = s.near_part[w, j] // 2
        if s.tri_facet[part] == facet:
            return True
        for k in range(3):
            beside = s.tri_beside[3 * part + k]
            if beside >= 0 and s.tri_facet[beside] == facet:
                return True
        return False

    @wp.func
    def drop_borders(s: struct, w: int, i: int, first: int, end: int, near: real):
        """Ridges at the border of the facet of entry i, along which the body lies level."""
        depth = s.point_depth[w, deepest(s, w, i)]
        for j in range(first, end):
            if s.near_points[w, j] > 0 and wp.dot(s.near_n[w, i], s.near_n[w, j]) >= real(ALIKE):
                if s.point_depth[w, deepest(s, w, j)] <= depth + near:
                    if is_border(s, w, i, j):
                        s.near_points[w, j] = 0

    @wp.func
    def drop_twice(s: struct, w: int, i: int, j: int, near: real):
        """Points of entry j that entry i has."""
        if wp.dot(s.near_n[w, i], s.near_n[w, j]) < real(ALIKE):
            return
        left = int(0)
        for k in range(s.near_points[w, j]):
            p = s.point_p[w, wp.static(slots) * j + k]
            known = int(0)
            for m in range(s.near_points[w, i]):
                if wp.length(s.point_p[w, wp.static(slots) * i + m] - p) <= near:
                    known = 1
            if known == 0:
                keep(s, w, wp.static(slots) * j + k, wp.static(slots) * j + left)
                left += 1
        s.near_points[w, j] = left

    @wp.func
    def merge(s: struct, w: int, first: int, near: int, scratch: Scratch, row: wp.vec2i):
        body = body_of(s, w, first)
        end = first + 1
        while end < near and s.near_a[w, end] == s.near_a[w, first] and s.near_b[w, end] == s.near_b[w, first]:
            end += 1
        radius = s.shape_radius[w, body]
        for i in range(first, end):
            if s.near_points[w, i] > 0 and s.near_part[w, i] % 2 == 0:
                drop_untrue(s, w, i, first, end, body, real(DEEP) * radius)
        drop_behind(s, w, first, end, body)
        thick = real(same_place) * radius
        for i in range(first, end):
            if s.near_points[w, i] > 0:
                for j in range(i + 1, end):
                    if s.near_points[w, j] > 0 and is_same_facet(s, w, i, j):
                        join(s, w, i, j, body, thick, scratch, row)
        for i in range(first, end):
            if s.near_points[w, i] > 0:
                drop_borders(s, w, i, first, end, real(10.0) * thick)
        for i in range(first, end):
            if s.near_points[w, i] > 0:
                for j in range(i + 1, end):
                    if s.near_points[w, j] > 0:
                        drop_twice(s, w, i, j, real(10.0) * thick)
        for i in range(first, end):
            if s.near_part[w, i] != wp.static(NONE):
                s.near_part[w, i] = s.tri_facet[s.near_part[w, i] // 2]

    return merge


def _make_note(R, struct, slots: int):
    """wp.func add(s, w, i, o_W, M, thick, scratch, row, found) -> int: notes the points of entry i in scratch as those of
    _manifold.py, about o_W in the rows of M; one that is there already, by name or place, keeps the deeper."""
    real, vec3, vec4, mat33 = R.t, R.vec3, R.vec4, R.mat33
    Scratch = make_convexity(R).Scratch

    @wp.func
    def add(
        s: struct, w: int, i: int, o_W: vec3, M: mat33, thick: real, scratch: Scratch, row: wp.vec2i, found: int
    ) -> int:  # fmt: skip
        count = wp.int32(found)
        for k in range(s.near_points[w, i]):
            at = wp.static(slots) * i + k
            q = M * (s.point_p[w, at] - o_W)
            depth = s.point_depth[w, at]
            name = s.point_feature[w, at]
            to = wp.int32(count)
            for m in range(count):
                p = scratch.point[row[0], row[1] + wp.static(FIRST) + m]
                x, y = p[0] - q[0], p[1] - q[1]
                there = scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + m] == name
                if there or x * x + y * y <= real(4.0) * thick * thick:
                    to = m
            if to == count:
                count += 1
            elif scratch.point[row[0], row[1] + wp.static(FIRST) + to][3] >= depth:
                continue
            scratch.point[row[0], row[1] + wp.static(FIRST) + to] = vec4(q[0], q[1], q[2], depth)
            scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + to] = name
        return count

    return add
