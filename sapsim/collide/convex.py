"""Contact points of near pairs that need support functions or vertices: convex shapes without a pair of their own, and hulls.

A stage of its own before `narrowphase`, in the pipelines of models with such pairs only, so that others neither compile nor
load it.  It fills the same slots; narrowphase packs them.  Where there are surfaces, it first lists their near parts
(parts.py), each of which is collided by itself, and at last puts their contacts together (part_merge.py).
"""

from functools import cache

import warp as wp

from sapsim.collide.narrowphase import SLOTS, make_point_buffer
from sapsim.collide.part_merge import ARRAYS as MERGED
from sapsim.collide.part_merge import make_merge
from sapsim.collide.parts import ARRAYS as PARTS
from sapsim.collide.parts import NONE, make_parts
from sapsim.kinds.convexity import ROOM, make_convexity
from sapsim.kinds.dispatch import in_convex_stage, make_convex_pairs
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = tuple(dict.fromkeys((
    "near_a", "near_b", "near_kind", "shape_kind", "shape_size", "shape_radius", "p_WG", "R_WG", "near_count",
    "near_n", "near_points", "point_p", "point_depth", "point_feature", "hull_vertex_start", "hull_face_start",
    "hull_corner_start", "hull_corner", "hull_edge", "hull_cell", "hull_candidate_start", "hull_candidate",
    "hull_vertex_face_start", "hull_vertex_face", "hull_vertex", "hull_normal", "convex_point", "convex_name",
    "tri_corner", "tri_side", "tri_beside", "tri_bits", "ring_start", "ring", "tri_vertex", "tri_plane", *PARTS, *MERGED,
)))  # fmt: skip
SCALARS = (("cnear", "int"), ("nmesh", "int"), ("margin", "real"))


def scratch_entries(lanes: int) -> int:
    """Length of the convex_* arrays of a world."""
    return ROOM * lanes


@cache
def make(R) -> Stage:
    """The stage `convex`; writes the points of its near pairs, near_n and near_points."""
    PointBuffer = make_point_buffer(R)
    shared = make_convexity(R)
    Solid, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch
    collide = make_convex_pairs(R, PointBuffer)
    here = in_convex_stage(R)
    struct = make_struct("Convex", R, ARRAYS, SCALARS)
    parts = make_parts(R, struct)
    vec3 = R.vec3

    @wp.func
    def hulls_of(s: struct) -> Hulls:
        hulls = Hulls()
        hulls.vertex_start = s.hull_vertex_start
        hulls.face_start = s.hull_face_start
        hulls.corner_start = s.hull_corner_start
        hulls.corner = s.hull_corner
        hulls.edge = s.hull_edge
        hulls.cell = s.hull_cell
        hulls.candidate_start = s.hull_candidate_start
        hulls.candidate = s.hull_candidate
        hulls.vertex_face_start = s.hull_vertex_face_start
        hulls.vertex_face = s.hull_vertex_face
        hulls.vertex = s.hull_vertex
        hulls.normal = s.hull_normal
        hulls.tri_corner = s.tri_corner
        hulls.tri_side = s.tri_side
        hulls.tri_beside = s.tri_beside
        hulls.tri_bits = s.tri_bits
        hulls.ring_start = s.ring_start
        hulls.ring = s.ring
        hulls.tri_vertex = s.tri_vertex
        hulls.tri_plane = s.tri_plane
        return hulls

    @wp.func
    def solid_of(s: struct, w: int, i: int) -> Solid:
        solid = Solid()
        solid.kind = s.shape_kind[i]
        solid.size = s.shape_size[w, i]
        solid.radius = s.shape_radius[w, i]
        solid.R_WG = s.R_WG[w, i]
        return solid

    @wp.func
    def vertex(s: struct, w: int, part: int, k: int) -> vec3:
        return s.tri_vertex[w, s.tri_corner[3 * part + k]]

    @wp.func
    def second_of(s: struct, w: int, i: int, entry: int) -> Solid:
        """Shape i, or a part of it (kinds/shapes/surface.py)."""
        solid = solid_of(s, w, i)
        if entry >= 0:
            part = entry // 2
            p = vertex(s, w, part, 0)
            solid.radius = wp.max(wp.length(vertex(s, w, part, 1) - p), wp.length(vertex(s, w, part, 2) - p))
            solid.size = vec3(R.t(part), solid.radius, R.t(entry % 2))
        return solid

    @wp.func
    def origin_of(s: struct, w: int, i: int, entry: int) -> vec3:
        p = s.p_WG[w, i]
        if entry >= 0:
            p = p + s.R_WG[w, i] * vertex(s, w, entry // 2, 0)
        return p

    merge = make_merge(R, struct, PointBuffer, SLOTS, solid_of)

    @wp.func
    def scratch_of(s: struct) -> Scratch:
        scratch = Scratch()
        scratch.point = s.convex_point
        scratch.name = s.convex_name
        return scratch

    @wp.func
    def find_points(s: struct, w: int, lane: int, i: int, kind: int, a: int, b: int):
        """Points of near pair i, whose shapes its kind takes in the order a, b."""
        out = PointBuffer()
        out.p = s.point_p
        out.depth = s.point_depth
        out.feature = s.point_feature
        entry = s.near_part[w, i]
        base = wp.static(SLOTS) * i
        count, n = collide(
            kind // 2, solid_of(s, w, a), s.p_WG[w, a], second_of(s, w, b, entry), origin_of(s, w, b, entry), s.margin,
            hulls_of(s), scratch_of(s), wp.vec2i(w, wp.static(ROOM) * lane), out, w, base,
        )  # fmt: skip
        if kind % 2 == 1:
            for k in range(count):
                s.point_p[w, base + k] = s.point_p[w, base + k] - s.point_depth[w, base + k] * n
            n = -n
        s.near_n[w, i] = n
        s.near_points[w, i] = count

    @wp.func
    def convex(s: struct, w: int, lane: int):
        if s.nmesh > 0:
            parts.expand(s, w, lane)
        near = wp.min(s.near_count[w], s.cnear)
        for i in range(lane, near, wp.block_dim()):
            kind = s.near_kind[w, i]
            if s.near_part[w, i] == wp.static(NONE):
                s.near_points[w, i] = 0
            elif here(kind // 2):
                a = wp.where(kind % 2 == 1, s.near_b[w, i], s.near_a[w, i])
                b = wp.where(kind % 2 == 1, s.near_a[w, i], s.near_b[w, i])
                find_points(s, w, lane, i, kind, a, b)
        if s.nmesh > 0:
            barrier()
            for i in range(lane, near, wp.block_dim()):
                if s.near_part[w, i] != -1 and parts.is_first(s, w, i):
                    merge(s, w, i, near, scratch_of(s), wp.vec2i(w, wp.static(ROOM) * lane))

    return make_stage("convex", R, struct, convex, SCALARS)
