"""What convex shapes share on the device: hulls, room to work in, and support functions of any kind.

**Frames.**  A pair is worked on in world axes about the origin of its first shape, so its coordinates have the size of the
shapes wherever in the world they are.

**Minkowski difference.**  With t from the first shape's origin to the second's, C = {a - (t + b)}: the shapes overlap where C
holds the origin, and moving the second along a unit vector n by h(n) = max over C of n . c just ends it.  The depth is the
least h, the distance minus it.

**Names.**  A corner, an edge or the inside of a face has a number in its shape: 0 is the inside, from 1 on corners, then
edges.  A point of contact is named by the features that meet in it: 2^15 that of A + that of B; 0 is the nearest point alone.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from sapsim.kinds.base import registry

CORNERS = 32  # the most corners of a face
VERTICES = 128  # of the polytope of the penetration depth (pairs/_epa.py)
FACES = 2 * VERTICES
ROOM = VERTICES + FACES  # entries of scratch that a pair needs
NAMES = 1 << 15
CELLS = 5  # of directions, along an edge of the cube about a hull (model/hulls.py)


@dataclass(frozen=True)
class Convexity:
    """Device types and functions of convex shapes.

    Fields:
        Hulls, Scratch, Solid: structs.
        support (s: Solid, hulls, w, n) -> vec3: a point of the core farthest along n, from the shape's origin, world axes.
        rounding (s: Solid) -> real [m].
        face (s: Solid, hulls, w, n, scratch, row, turned) -> (count, normal): as of ConvexFuncs, n and normal in world axes,
            corners still in the shape's frame.
        support_of_part, face_of_part (s, hulls, w, scratch, row): the same of a part of a surface, as the second shape; by
            themselves, so that no code of other pairs has them.
    """

    Hulls: Any
    Scratch: Any
    Solid: Any
    support: Any
    rounding: Any
    face: Any
    support_of_part: Any
    face_of_part: Any


def _struct(label: str, R, **fields):
    import warp as wp

    return wp.struct(type(f"{label}_{R.name}", (), {"__annotations__": fields, "__module__": __name__}))


@cache
def make_hulls(R):
    """Struct: the hull_* arrays of model/fields.py, and those of surfaces.  Corners of a face are anticlockwise about its
    normal; `edge` of a corner is the edge from it to the next one; vertices and edges are numbered within their hull, but for
    `candidate`, which numbers vertices among those of all hulls."""
    import warp as wp

    ints, vectors = wp.array(dtype=int), wp.array2d(dtype=R.vec3)
    return _struct(
        "Hulls",
        R,
        vertex_start=ints,
        face_start=ints,
        corner_start=ints,
        corner=ints,
        edge=ints,
        cell=ints,
        candidate_start=ints,
        candidate=ints,
        vertex_face_start=ints,
        vertex_face=ints,
        vertex=vectors,
        normal=vectors,
        tri_corner=ints,
        tri_side=ints,
        tri_beside=ints,
        tri_bits=ints,
        ring_start=ints,
        ring=ints,
        tri_vertex=vectors,
        tri_plane=wp.array2d(dtype=R.vec4),
    )


@cache
def make_scratch(R):
    """Struct: room of a lane, entries row[1] .. row[1] + ROOM of row row[0]."""
    import warp as wp

    return _struct("Scratch", R, point=wp.array2d(dtype=R.vec4), name=wp.array2d(dtype=int))


@cache
def make_solid(R):
    """Struct: a placed convex shape but for its position; `radius`: of a ball about its origin that holds it."""
    return _struct("Solid", R, kind=int, size=R.vec3, radius=R.t, R_WG=R.mat33)


@cache
def make_convexity(R) -> Convexity:
    """Functions over all registered convex kinds."""
    import warp as wp

    Hulls, Scratch, Solid = make_hulls(R), make_scratch(R), make_solid(R)
    vec3 = R.vec3
    support_G, rounding_G, face_G = None, None, None
    part = next(kind for kind in registry("shapes").values() if kind.parts).convex(R, Hulls, Scratch)
    part_support, part_face = part.support, part.face
    for code, kind in reversed(list(enumerate(registry("shapes").values()))):
        if kind.convex is not None and not kind.parts:
            funcs = kind.convex(R, Hulls, Scratch)
            support_G = _link_support(R, Hulls, code, funcs.support, support_G)
            rounding_G = _link_rounding(R, code, funcs.rounding, rounding_G)
            face_G = _link_face(R, Hulls, Scratch, code, funcs.face, face_G)

    @wp.func
    def support(s: Solid, hulls: Hulls, w: int, n: vec3) -> vec3:
        return s.R_WG * support_G(s.kind, s.size, hulls, w, wp.transpose(s.R_WG) * n)

    @wp.func
    def rounding(s: Solid) -> R.t:
        return rounding_G(s.kind, s.size)

    @wp.func
    def face(s: Solid, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        count, normal = face_G(s.kind, s.size, hulls, w, wp.transpose(s.R_WG) * n, scratch, row, turned)
        return count, s.R_WG * normal

    @wp.func
    def support_of_part(s: Solid, hulls: Hulls, w: int, n: vec3) -> vec3:
        return s.R_WG * part_support(s.size, hulls, w, wp.transpose(s.R_WG) * n)

    @wp.func
    def face_of_part(s: Solid, hulls: Hulls, w: int, scratch: Scratch, row: wp.vec2i):
        count, normal = part_face(s.size, hulls, w, vec3(), scratch, row, 1)
        return count, s.R_WG * normal

    return Convexity(Hulls, Scratch, Solid, support, rounding, face, support_of_part, face_of_part)


def _link_support(R, Hulls, code, head, rest):
    import warp as wp

    vec3 = R.vec3

    @wp.func
    def end(kind: int, size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        return head(size, hulls, w, n)

    @wp.func
    def call(kind: int, size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        if kind == wp.static(code):
            return head(size, hulls, w, n)
        return rest(kind, size, hulls, w, n)

    return end if rest is None else call


def _link_rounding(R, code, head, rest):
    import warp as wp

    vec3 = R.vec3

    @wp.func
    def end(kind: int, size: vec3) -> R.t:
        return head(size)

    @wp.func
    def call(kind: int, size: vec3) -> R.t:
        if kind == wp.static(code):
            return head(size)
        return rest(kind, size)

    return end if rest is None else call


def _link_face(R, Hulls, Scratch, code, head, rest):
    import warp as wp

    vec3 = R.vec3

    @wp.func
    def end(kind: int, size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        return head(size, hulls, w, n, scratch, row, turned)

    @wp.func
    def call(kind: int, size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        if kind == wp.static(code):
            return head(size, hulls, w, n, scratch, row, turned)
        return rest(kind, size, hulls, w, n, scratch, row, turned)

    return end if rest is None else call
