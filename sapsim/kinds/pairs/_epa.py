"""Depth of two overlapping cores: the expanding polytope (van den Bergen, "Proximity queries and penetration depth computation
on 3D game objects", 2001), on the Minkowski difference C.

A polytope inside C grows by the support point along the normal of the face nearest to the origin.  That face's distance bounds
the depth from below, the least support width h seen so far from above.  It ends where the bounds meet within `tolerance` or the
room is used up: the normal of the least h is then refined (convex_convex.py).  A face that cannot grow (it lies on the surface
of C, or is so thin that its normal is rounding) takes its h as its distance, and the next one is looked at.

Entries of scratch: `point` holds vertices, then planes (normal, distance) of faces; `name` holds the horizon, then the three
vertices of each face in eight bits each.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import FACES, VERTICES, make_convexity


@cache
def make_epa(R) -> SimpleNamespace:
    """Device function epa."""
    import warp as wp

    real, vec3, vec4 = R.t, R.vec3, R.vec4
    eps = R.eps
    far = 1.0e30
    shared = make_convexity(R)
    Solid, Hulls, Scratch, support = shared.Solid, shared.Hulls, shared.Scratch, shared.support

    @wp.func
    def vertex(scratch: Scratch, row: wp.vec2i, i: int) -> vec3:
        p = scratch.point[row[0], row[1] + i]
        return vec3(p[0], p[1], p[2])

    @wp.func
    def put_vertex(scratch: Scratch, row: wp.vec2i, i: int, p: vec3):
        scratch.point[row[0], row[1] + i] = vec4(p[0], p[1], p[2], real(0.0))

    @wp.func
    def put_face(scratch: Scratch, row: wp.vec2i, f: int, i: int, j: int, k: int):
        """The triangle i, j, k, anticlockwise from outside.  One without area is out of everybody's way."""
        a = vertex(scratch, row, i)
        ab, ac = vertex(scratch, row, j) - a, vertex(scratch, row, k) - a
        n = wp.cross(ab, ac)
        area = wp.length(n)
        plane = vec4(real(0.0), real(0.0), real(0.0), real(far))
        if area > real(64.0 * eps) * wp.length(ab) * wp.length(ac):
            n = n / area
            plane = vec4(n[0], n[1], n[2], wp.dot(n, a))
        scratch.point[row[0], row[1] + wp.static(VERTICES) + f] = plane
        scratch.name[row[0], row[1] + wp.static(VERTICES) + f] = i + (j << 8) + (k << 16)

    @wp.func
    def across(e: vec3) -> vec3:
        """A vector across e."""
        if wp.abs(e[0]) <= wp.abs(e[1]) and wp.abs(e[0]) <= wp.abs(e[2]):
            return vec3(real(0.0), e[2], -e[1])
        if wp.abs(e[1]) <= wp.abs(e[2]):
            return vec3(-e[2], real(0.0), e[0])
        return vec3(e[1], -e[0], real(0.0))

    @wp.func
    def width(a: Solid, b: Solid, t: vec3, n: vec3, hulls: Hulls, w: int) -> vec3:
        """The support point of C."""
        return support(a, hulls, w, n) - t - support(b, hulls, w, -n)

    @wp.func
    def begin(a: Solid, b: Solid, t: vec3, hulls: Hulls, w: int, scratch: Scratch, row: wp.vec2i):
        """A tetrahedron of support points: two ends, the farthest from their line, the farthest from that plane."""
        n = -t
        if wp.length(t) <= real(eps) * (a.radius + b.radius):
            n = vec3(real(1.0), real(0.0), real(0.0))
        p_0, p_1, p_2, p_3 = vec3(), vec3(), vec3(), vec3()
        calls = wp.int32(6)
        for call in range(calls):  # one place in the text that calls the support functions
            c = width(a, b, t, n, hulls, w)
            if call == 0:
                p_0 = c
                n = -n
            elif call == 1:
                p_1 = c
                n = across(p_1 - p_0)
            elif call == 2:
                p_2 = c
                n = -n
            elif call == 3:
                e = p_1 - p_0
                if wp.length_sq(wp.cross(e, c - p_0)) > wp.length_sq(wp.cross(e, p_2 - p_0)):
                    p_2 = c
                n = wp.normalize(wp.cross(e, p_2 - p_0))
            elif call == 4:
                p_3 = c
                n = -n
            elif wp.abs(wp.dot(n, c - p_0)) > wp.abs(wp.dot(n, p_3 - p_0)):
                p_3 = c
        turned = wp.dot(wp.cross(p_1 - p_0, p_2 - p_0), p_3 - p_0) > real(0.0)
        put_vertex(scratch, row, 0, p_0)
        put_vertex(scratch, row, 1, wp.where(turned, p_2, p_1))
        put_vertex(scratch, row, 2, wp.where(turned, p_1, p_2))
        put_vertex(scratch, row, 3, p_3)
        put_face(scratch, row, 0, 0, 1, 2)
        put_face(scratch, row, 1, 0, 3, 1)
        put_face(scratch, row, 2, 0, 2, 3)
        put_face(scratch, row, 3, 1, 3, 2)

    @wp.func
    def toggle(scratch: Scratch, row: wp.vec2i, i: int, j: int, n: int) -> int:
        """Edge i, j of a face that goes away: it bounds the hole unless the face beyond went too.  The new number of edges."""
        for k in range(n):
            if scratch.name[row[0], row[1] + k] == j + (i << 8):
                scratch.name[row[0], row[1] + k] = scratch.name[row[0], row[1] + n - 1]
                return n - 1
        if n < wp.static(VERTICES):
            scratch.name[row[0], row[1] + n] = i + (j << 8)
        return n + 1

    @wp.func
    def is_on_horizon(scratch: Scratch, row: wp.vec2i, i: int, j: int, n: int) -> bool:
        """Whether the hole has the edge i, j from the other side."""
        for k in range(n):
            if scratch.name[row[0], row[1] + k] == j + (i << 8):
                return True
        return False

    @wp.func
    def corners_of(scratch: Scratch, row: wp.vec2i, f: int) -> wp.vec3i:
        corners = scratch.name[row[0], row[1] + wp.static(VERTICES) + f]
        return wp.vec3i(corners & 255, (corners >> 8) & 255, corners >> 16)

    @wp.func
    def remove(f: int, faces: int, edges: int, scratch: Scratch, row: wp.vec2i) -> int:
        """Takes face f away, the last one takes its place; the new number of edges of the hole."""
        v = corners_of(scratch, row, f)
        n = toggle(scratch, row, v[0], v[1], edges)
        n = toggle(scratch, row, v[1], v[2], n)
        n = toggle(scratch, row, v[2], v[0], n)
        here = row[1] + wp.static(VERTICES) + f
        last = row[1] + wp.static(VERTICES) + faces - 1
        scratch.point[row[0], here] = scratch.point[row[0], last]
        scratch.name[row[0], here] = scratch.name[row[0], last]
        return n

    @wp.func
    def grow(c: vec3, at: int, nearest: int, faces: int, slack: real, scratch: Scratch, row: wp.vec2i) -> int:
        """The polytope with vertex `at` = c outside of face `nearest`; its number of faces, -1 out of room.

        Replaced are the faces that see c and hang together with that one: thin ones elsewhere whose normals are rounding may
        seem to see it too.
        """
        put_vertex(scratch, row, at, c)
        edges = remove(nearest, faces, 0, scratch, row)
        n = faces - 1
        before = wp.int32(-1)
        while before != n:
            before = n
            f = wp.int32(0)
            while f < n:
                plane = scratch.point[row[0], row[1] + wp.static(VERTICES) + f]
                gone = wp.int32(0)
                if plane[0] * c[0] + plane[1] * c[1] + plane[2] * c[2] - plane[3] > slack:
                    v = corners_of(scratch, row, f)
                    if (
                        is_on_horizon(scratch, row, v[0], v[1], edges)
                        or is_on_horizon(scratch, row, v[1], v[2], edges)
                        or is_on_horizon(scratch, row, v[2], v[0], edges)
                    ):
                        gone = 1
                if gone == 1:
                    edges = remove(f, n, edges, scratch, row)
                    n -= 1
                else:
                    f += 1
        if edges > wp.static(VERTICES) or n + edges > wp.static(FACES):
            return -1
        for m in range(edges):
            edge = scratch.name[row[0], row[1] + m]
            put_face(scratch, row, n + m, edge & 255, edge >> 8, at)
        return n + edges

    @wp.func
    def nearest_face(faces: int, scratch: Scratch, row: wp.vec2i) -> int:
        best = wp.int32(0)
        for f in range(1, faces):
            at = row[1] + wp.static(VERTICES)
            if scratch.point[row[0], at + f][3] < scratch.point[row[0], at + best][3]:
                best = f
        return best

    @wp.func
    def has(scratch: Scratch, row: wp.vec2i, c: vec3, vertices: int) -> bool:
        for i in range(vertices):
            if vertex(scratch, row, i) == c:
                return True
        return False

    @wp.func
    def epa(a: Solid, b: Solid, t: vec3, tolerance: real, hulls: Hulls, w: int, scratch: Scratch, row: wp.vec2i):
        """(depth, n from A to B)"""
        slack = real(8.0 * eps) * (wp.length(t) + a.radius + b.radius)
        begin(a, b, t, hulls, w, scratch, row)
        faces = wp.int32(4)
        depth, lower = real(far), real(0.0)
        normal = vec3(real(0.0), real(0.0), real(1.0))
        at = wp.int32(4)
        while at < wp.static(VERTICES):
            nearest = nearest_face(faces, scratch, row)
            plane = scratch.point[row[0], row[1] + wp.static(VERTICES) + nearest]
            if plane[3] >= real(far):
                break
            n = vec3(plane[0], plane[1], plane[2])
            c = width(a, b, t, n, hulls, w)
            h = wp.dot(n, c)
            lower = plane[3]
            if h < depth:
                depth = h
                normal = n
            if depth - lower <= tolerance:
                break
            if h - lower <= real(0.25) * slack or has(scratch, row, c, at):
                # on the surface of C, or of a normal that is rounding: one of the others may be nearer
                scratch.point[row[0], row[1] + wp.static(VERTICES) + nearest] = vec4(n[0], n[1], n[2], h)
                continue
            faces = grow(c, at, nearest, faces, slack, scratch, row)
            if faces < 0:
                break
            at += 1
        return depth, normal

    return SimpleNamespace(epa=epa)
