"""Near pairs of many shapes: a grid for every size of shape, hashed, so that space has no end and empty cells cost nothing.

Shapes of one level differ in size by at most two (model/grid.py); a cell of the level is as long as its largest shape, and a
shape lies in the cell of its centre.  Every shape looks for partners in its own level and in those of larger shapes, in the
cells that its bounds can reach; of two shapes of a level the one in the earlier cell finds the other.  Bucket of a cell
(x, y, z): hash of (y, z, level) plus x, so that cells along x are neighbours in memory too.  Shapes that are too few for a
level of their own (planes, the floor, walls) are tested against all others.

Everything is counted and sorted in whole numbers: the list is the same for any number of lanes.  A lane owns a range of
buckets and of shapes; it walks all that it needs and writes what is its own.
"""

import warp as wp

from sapsim.collide.bounds import ARRAYS as BOUNDS
from sapsim.collide.bounds import BALL_ARRAYS as BALLS
from sapsim.collide.bounds import make_ball_bounds, make_bounds
from sapsim.collide.pair_sort import ARRAYS as SORT
from sapsim.collide.pair_sort import make_pair_sort
from sapsim.collide.rules import ARRAYS as RULES
from sapsim.collide.rules import make_rules
from sapsim.math.block import barrier

ARRAYS = (
    "grid_shape", "large_shape", "shape_level", "level_reach", "cell_x", "cell_y", "cell_z", "shape_bucket", "bucket_start",
    "bucket_shape", "bucket_c", "bucket_e", "near_a", "near_b", "near_count", "lane_count", *BOUNDS, *BALLS,
    *RULES, *SORT,
)  # fmt: skip
SCALARS = (
    ("ngridlevel", "int"), ("nlarge", "int"), ("ngrid", "int"), ("nbucket", "int"), ("nshapekind", "int"),
)  # fmt: skip
FARTHEST = 1.0e9  # cells from the origin, beyond which all cells are one


def make_grid(R, struct):
    """wp.func from_grid(s, w, lane): writes the near list.

    A struct that is passed here has the arrays of ARRAYS and the scalars of SCALARS, nshape, cnear and margin.
    """
    bounds, kind_of = make_bounds(R, struct), make_rules(struct)
    bound = bounds.bound
    fill = _make_buckets(R, struct)
    search = _make_search(R, struct, bounds, kind_of)
    sort = make_pair_sort(struct)

    @wp.func
    def search_chunk(s: struct, w: int, lane: int, base: int, write: bool) -> int:
        """The pairs that the lane's chunk of shapes finds; counted, or also written from `base` on."""
        chunk = (s.nshape + wp.block_dim() - 1) // wp.block_dim()
        n = int(0)
        for i in range(lane * chunk, wp.min((lane + 1) * chunk, s.nshape)):
            n += search(s, w, i, base + n, write)
        return n

    @wp.func
    def from_grid(s: struct, w: int, lane: int):
        for i in range(lane, s.nshape, wp.block_dim()):
            bound(s, w, i)
        barrier()
        fill(s, w, lane)
        barrier()
        total = int(0)
        if wp.block_dim() == 1:
            total = search_chunk(s, w, lane, 0, True)
        else:
            s.lane_count[w, lane] = search_chunk(s, w, lane, 0, False)
            barrier()
            base = int(0)
            for k in range(wp.block_dim()):
                if k < lane:
                    base += s.lane_count[w, k]
                total += s.lane_count[w, k]
            search_chunk(s, w, lane, base, True)
        barrier()
        sort(s, w, lane, wp.min(total, s.cnear))
        if lane == 0:
            s.near_count[w] = total

    return from_grid


def _make_cells(R, struct):
    """wp.func cell(s, w, level, x) -> int of a coordinate, and wp.func row(s, y, z, level) -> int: bucket of cell (0, y, z)."""
    real = R.t

    @wp.func
    def cell(s: struct, w: int, level: int, x: real) -> int:
        at = wp.clamp(x / (real(2.0) * s.level_reach[w, level] + s.margin), real(-FARTHEST), real(FARTHEST))
        whole = int(at)  # towards zero, in one instruction
        if real(whole) > at:
            whole -= 1
        return whole

    @wp.func
    def row(s: struct, y: int, z: int, level: int) -> int:
        mixed = wp.uint32(y) * wp.uint32(73856093) ^ wp.uint32(z) * wp.uint32(19349663) ^ wp.uint32(level) * wp.uint32(83492791)
        mixed = (mixed ^ (mixed >> wp.uint32(15))) * wp.uint32(1540483477)
        return int(mixed >> wp.uint32(8)) & (s.nbucket - 1)

    return cell, row


def _make_buckets(R, struct):
    """wp.func fill(s, w, lane): cells and buckets of all shapes of the grid; in a bucket, shapes ascend."""
    cell, row = _make_cells(R, struct)

    @wp.func
    def fill(s: struct, w: int, lane: int):
        for k in range(lane, s.ngrid, wp.block_dim()):
            i = s.grid_shape[k]
            level = s.shape_level[i]
            c = s.c_WG[w, i]
            x = cell(s, w, level, c[0])
            y = cell(s, w, level, c[1])
            z = cell(s, w, level, c[2])
            s.cell_x[w, i] = x
            s.cell_y[w, i] = y
            s.cell_z[w, i] = z
            s.shape_bucket[w, k] = (row(s, y, z, level) + x) & (s.nbucket - 1)
        barrier()
        chunk = (s.nbucket + wp.block_dim() - 1) // wp.block_dim()
        first = wp.min(lane * chunk, s.nbucket)
        last = wp.min(first + chunk, s.nbucket)
        before = int(0)
        for b in range(first, last):
            s.bucket_start[w, b] = 0
        for k in range(s.ngrid):
            b = s.shape_bucket[w, k]
            if b < first:
                before += 1
            if b >= first and b < last:
                s.bucket_start[w, b] = s.bucket_start[w, b] + 1
        for b in range(first, last):  # to the ends of the buckets, which filling from behind makes the starts
            before += s.bucket_start[w, b]
            s.bucket_start[w, b] = before
        for m in range(s.ngrid):
            k = s.ngrid - 1 - m
            b = s.shape_bucket[w, k]
            if b >= first and b < last:
                at = s.bucket_start[w, b] - 1
                s.bucket_start[w, b] = at
                i = s.grid_shape[k]
                s.bucket_shape[w, at] = i
                s.bucket_c[w, at] = s.c_WG[w, i]
                s.bucket_e[w, at] = s.e_WG[w, i]
        if lane == 0:
            s.bucket_start[w, s.nbucket] = s.ngrid

    return fill


def _make_search(R, struct, bounds, kind_of):
    """wp.func search(s, w, i, at, write) -> int: the pairs that shape i finds; written from place `at` where `write` is set."""
    real, vec3 = R.t, R.vec3
    apart, beside, meet = bounds.apart, bounds.beside, make_ball_bounds(R, struct).meet
    larger = 1.0 + 64.0 * R.eps
    cell, row = _make_cells(R, struct)

    @wp.func
    def take(s: struct, w: int, i: int, j: int, at: int, write: bool) -> int:
        """1 where the bounds of the pair meet, and the rules let it."""
        a = wp.min(i, j)
        b = wp.max(i, j)
        if not meet(s, w, a, b) or kind_of(s, a, b) < 0:
            return 0
        if write and at < s.cnear:
            s.near_a[w, at] = a
            s.near_b[w, at] = b
        return 1

    @wp.func
    def in_buckets(
        s: struct, w: int, i: int, first: int, last: int, y: int, z: int, level: int, at: int, write: bool
    ) -> int:  # fmt: skip
        """Partners in the row (y, z) of a level, in buckets first .. last - 1; of the own row, those that stand behind i."""
        own = level == s.shape_level[i] and y == s.cell_y[w, i] and z == s.cell_z[w, i]
        c = s.c_WG[w, i]
        e = s.e_WG[w, i]
        n = int(0)
        for k in range(s.bucket_start[w, first], s.bucket_start[w, last]):
            if not apart(c, e, s.bucket_c[w, k], s.bucket_e[w, k], s.margin):
                j = s.bucket_shape[w, k]
                if s.cell_y[w, j] == y and s.cell_z[w, j] == z and s.shape_level[j] == level:
                    behind = s.cell_x[w, j] > s.cell_x[w, i] or (s.cell_x[w, j] == s.cell_x[w, i] and j > i)
                    if behind or not own:
                        n += take(s, w, i, j, at + n, write)
        return n

    @wp.func
    def in_level(s: struct, w: int, i: int, level: int, at: int, write: bool) -> int:
        c = s.c_WG[w, i]
        e = s.e_WG[w, i] + (s.level_reach[w, level] * real(larger) + s.margin) * vec3(real(1.0))
        own = level == s.shape_level[i]
        x0 = cell(s, w, level, c[0] - e[0])
        x1 = cell(s, w, level, c[0] + e[0])
        y1 = cell(s, w, level, c[1] + e[1])
        z1 = cell(s, w, level, c[2] + e[2])
        z0 = cell(s, w, level, c[2] - e[2])
        if own:
            z0 = s.cell_z[w, i]
        n = int(0)
        for z in range(z0, z1 + 1):
            y0 = cell(s, w, level, c[1] - e[1])
            if own and z == z0:
                y0 = s.cell_y[w, i]
            for y in range(y0, y1 + 1):
                first = (row(s, y, z, level) + x0) & (s.nbucket - 1)
                last = first + (x1 - x0 + 1)
                n += in_buckets(s, w, i, first, wp.min(last, s.nbucket), y, z, level, at + n, write)
                if last > s.nbucket:
                    n += in_buckets(s, w, i, 0, last - s.nbucket, y, z, level, at + n, write)
        return n

    @wp.func
    def search(s: struct, w: int, i: int, at: int, write: bool) -> int:
        own = s.shape_level[i]
        n = int(0)
        if own >= -1:
            for k in range(s.nlarge):
                j = s.large_shape[k]
                if own >= 0 or j > i:
                    if not apart(s.c_WG[w, i], s.e_WG[w, i], s.c_WG[w, j], s.e_WG[w, j], s.margin):
                        if not (beside(s, w, j, i) or (own < 0 and beside(s, w, i, j))):
                            n += take(s, w, i, j, at + n, write)
        if own >= 0:
            for level in range(own, s.ngridlevel):
                n += in_level(s, w, i, level, at + n, write)
        return n

    return search
