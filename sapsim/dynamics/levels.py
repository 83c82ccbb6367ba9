"""Sums over subtrees, level by level from the leaves: all bodies of a level at once, each gathers its children in their order.

A struct that is passed here has level_start, level_body, child_start, child_body (fields.py) and the scalar nlevel.
"""

import warp as wp

from sapsim.math.block import barrier


def make_subtree_sums(struct, dtype):
    """wp.func sum_up(s, values, w, lane): values of bodies become those of their subtrees; a barrier follows each level."""

    @wp.func
    def sum_up(s: struct, values: wp.array2d(dtype=dtype), w: int, lane: int):
        for i in range(s.nlevel - 1):  # the last level has no children
            level = s.nlevel - 2 - i
            for x in range(s.level_start[level] + lane, s.level_start[level + 1], wp.block_dim()):
                b = s.level_body[x]
                total = values[w, b]
                for c in range(s.child_start[b], s.child_start[b + 1]):
                    total += values[w, s.child_body[c]]
                values[w, b] = total
            barrier()

    return sum_up
