"""Narrow phase: contact points of the near pairs, in order, then packed into the list of contacts.

Each near pair has eight slots of its own, so pairs are independent; a scan over the pairs' counts packs the points.  Points of
pairs of the stage `convex` (convex.py), which ran before, are there already.  Within a
pair, points are ordered by feature.  The contact point lies between the two witnesses, nearer the stiffer surface
(sap_formulas 2.2): p = a p_A + (1 - a) p_B with a = kA / (kA + kB).
"""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import in_convex_stage, make_pairs
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

SLOTS = 8  # the most points of a pair

ARRAYS = (
    "shape_size", "shape_material", "p_WG", "R_WG", "near_a", "near_b", "near_kind", "near_part", "near_count",
    "near_n", "near_points", "point_p", "point_depth", "point_feature", "ncontact", "contact_found", "contact_a", "contact_b",
    "contact_part", "contact_feature", "contact_p", "contact_n", "contact_depth", "stopped", "need",
)  # fmt: skip
SCALARS = (("cnear", "int"), ("ccontact", "int"), ("margin", "real"))


@cache
def make_point_buffer(R):
    """The struct that pair functions write their points to."""
    cls = type(
        f"PointBuffer_{R.name}",
        (),
        {
            "__annotations__": {
                "p": wp.array2d(dtype=R.vec3),
                "depth": wp.array2d(dtype=R.t),
                "feature": wp.array2d(dtype=int),
            },
            "__module__": __name__,
        },
    )
    return wp.struct(cls)


@cache
def make(R) -> Stage:
    """The stage `narrowphase`; writes the contact_* geometry and ncontact, and notes what it needed."""
    real, vec3 = R.t, R.vec3
    PointBuffer = make_point_buffer(R)
    collide = make_pairs(R, PointBuffer)
    elsewhere = in_convex_stage(R)
    struct = make_struct("Narrowphase", R, ARRAYS, SCALARS)

    @wp.func
    def find_points(s: struct, w: int, i: int, first: int):
        """Points of near pair i, to the slots from `first` on."""
        kind = s.near_kind[w, i]
        if elsewhere(kind // 2):
            return
        swapped = kind % 2
        a = s.near_a[w, i]
        b = s.near_b[w, i]
        if swapped == 1:
            a = s.near_b[w, i]
            b = s.near_a[w, i]
        out = PointBuffer()
        out.p = s.point_p
        out.depth = s.point_depth
        out.feature = s.point_feature
        count, n = collide(
            kind // 2, s.shape_size[w, a], s.p_WG[w, a], s.R_WG[w, a], s.shape_size[w, b], s.p_WG[w, b],
            s.R_WG[w, b], s.margin, out, w, first,
        )  # fmt: skip
        if swapped == 1:
            for k in range(count):
                at = first + k
                s.point_p[w, at] = s.point_p[w, at] - s.point_depth[w, at] * n
            n = -n
        s.near_n[w, i] = n
        s.near_points[w, i] = count

    @wp.func
    def pack(s: struct, w: int, i: int, first: int, base: int):
        """The points of near pair i from the slots to the contacts from `base` on."""
        a = s.near_a[w, i]
        b = s.near_b[w, i]
        count = s.near_points[w, i]
        n = s.near_n[w, i]
        kA = s.shape_material[w, a][0]
        kB = s.shape_material[w, b][0]
        share = real(0.5)
        if kA + kB > real(0.0):
            share = kA / (kA + kB)
        for k in range(count):
            at = first + k
            feature = s.point_feature[w, at]
            rank = int(0)
            for j in range(count):
                other = s.point_feature[w, first + j]
                if other < feature or (other == feature and j < k):
                    rank += 1
            c = base + rank
            if c < s.ccontact:
                depth = s.point_depth[w, at]
                s.contact_a[w, c] = a
                s.contact_b[w, c] = b
                s.contact_part[w, c] = s.near_part[w, i]
                s.contact_feature[w, c] = feature
                s.contact_depth[w, c] = depth
                s.contact_n[w, c] = n
                s.contact_p[w, c] = vec3(s.point_p[w, at] - (real(1.0) - share) * depth * n)

    @wp.func
    def narrowphase(s: struct, w: int, lane: int):
        near = wp.min(s.near_count[w], s.cnear)
        base = int(0)
        if wp.block_dim() == 1:
            # the slots of one pair after the other are the same ones, which stay in the cache, behind those of all near pairs
            first = wp.static(SLOTS) * s.cnear
            for i in range(near):
                find_points(s, w, i, first)
                slot = first
                if elsewhere(s.near_kind[w, i] // 2):
                    slot = wp.static(SLOTS) * i
                pack(s, w, i, slot, base)
                base += s.near_points[w, i]
        else:
            for i in range(lane, near, wp.block_dim()):
                find_points(s, w, i, wp.static(SLOTS) * i)
            barrier()
            # every lane walks the counts and packs the pairs that are its own
            for i in range(near):
                if i % wp.block_dim() == lane:
                    pack(s, w, i, wp.static(SLOTS) * i, base)
                base += s.near_points[w, i]
        if lane == 0:
            s.ncontact[w] = wp.min(base, s.ccontact)
            s.contact_found[w] = base
            if s.stopped[w] != 0:
                s.ncontact[w] = 0
            s.need[w, 0] = wp.max(s.need[w, 0], s.near_count[w])
            s.need[w, 1] = wp.max(s.need[w, 1], base)

    return make_stage("narrowphase", R, struct, narrowphase, SCALARS)
