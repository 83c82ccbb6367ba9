"""The near list in the order of its shapes: sorted by counting, by the second shape and then by the first.

A lane owns a range of shapes.  It walks the whole list, counts what comes before its range and what is in it, and puts its own
pairs in their places, in the order in which it meets them; so equal keys keep their order, whatever the number of lanes.
"""

import warp as wp

from sapsim.math.block import barrier

ARRAYS = ("near_a", "near_b", "near_kind", "near_part", "found_a", "found_b", "sort_start", "shape_kind", "kind_pair")


def make_pair_sort(struct):
    """wp.func sort(s, w, lane, n): sorts the first n entries of near_a, near_b, and fills in near_kind and near_part.

    A struct that is passed here has the arrays of ARRAYS and the scalars nshape and nshapekind.
    """

    @wp.func
    def start(s: struct, w: int, first: int, last: int, key: wp.array2d(dtype=int), n: int):
        """sort_start of the shapes first .. last - 1: places of their first entries in a list sorted by `key`."""
        before = int(0)
        for i in range(first, last):
            s.sort_start[w, i] = 0
        for k in range(n):
            i = key[w, k]
            if i < first:
                before += 1
            if i >= first and i < last:
                s.sort_start[w, i] = s.sort_start[w, i] + 1
        for i in range(first, last):
            count = s.sort_start[w, i]
            s.sort_start[w, i] = before
            before += count

    @wp.func
    def sort(s: struct, w: int, lane: int, n: int):
        chunk = (s.nshape + wp.block_dim() - 1) // wp.block_dim()
        first = wp.min(lane * chunk, s.nshape)
        last = wp.min(first + chunk, s.nshape)
        start(s, w, first, last, s.near_b, n)
        for k in range(n):
            b = s.near_b[w, k]
            if b >= first and b < last:
                at = s.sort_start[w, b]
                s.sort_start[w, b] = at + 1
                s.found_a[w, at] = s.near_a[w, k]
                s.found_b[w, at] = b
        barrier()
        start(s, w, first, last, s.found_a, n)
        for k in range(n):
            a = s.found_a[w, k]
            if a >= first and a < last:
                b = s.found_b[w, k]
                at = s.sort_start[w, a]
                s.sort_start[w, a] = at + 1
                s.near_a[w, at] = a
                s.near_b[w, at] = b
                s.near_kind[w, at] = s.kind_pair[s.shape_kind[a] * s.nshapekind + s.shape_kind[b]]
                s.near_part[w, at] = -1

    return sort
