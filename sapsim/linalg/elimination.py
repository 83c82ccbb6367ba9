"""Elimination order and symbolic factor of the Hessian's graph: one node per participating tree.

Exact minimum degree (ties: the lowest number) on a graph kept as rows of bits, `words` 64-bit words to a row.  When a node is
eliminated its neighbours become a clique; its row of bits then is the structure of its column in the factor.  Any number of
trees.  From it come flat lists: a column's block rows below its diagonal tree, in elimination order, and for every tree the
earlier columns that hold its rows.
"""

import warp as wp

from sapsim.math.bits import bit, lowest_bit, popcount
from sapsim.math.block import barrier


def make_elimination(struct):
    """wp.func symbolic(s, w, lane) -> number of 3x3 blocks that the factor needs; the lists are whole where it fits."""

    @wp.func
    def adjacency(s: struct, w: int, lane: int):
        for p in range(lane, s.npart[w], wp.block_dim()):
            for k in range(s.words):
                s.edge[w, p * s.words + k] = wp.uint64(0)
            for i in range(s.part_start[w, p], s.part_start[w, p + 1]):
                side = s.part_side[w, i]
                other = s.contact_tree[w, side // 2][1 - side % 2]
                if other >= 0:
                    o = s.tree_part[w, other]
                    at = p * s.words + o // 64
                    s.edge[w, at] = s.edge[w, at] | bit(o % 64)
            s.part_rank[w, p] = -1

    @wp.func
    def least_degree(s: struct, w: int) -> int:
        """The remaining node with the fewest neighbours."""
        best = int(-1)
        best_degree = int(2147483647)
        for p in range(s.npart[w]):
            if s.part_rank[w, p] < 0:
                degree = int(0)
                for k in range(s.words):
                    degree += popcount(s.edge[w, p * s.words + k])
                if degree < best_degree:
                    best = p
                    best_degree = degree
                    if degree == 0:
                        return best
        return best

    @wp.func
    def join_neighbours(s: struct, w: int, lane: int, m: int):
        """Makes the neighbours of m a clique without m; a lane owns rows."""
        for j in range(s.words):
            rest = s.edge[w, m * s.words + j]
            while rest != wp.uint64(0):
                p = 64 * j + lowest_bit(rest)
                rest = rest & (rest - wp.uint64(1))
                if p % wp.block_dim() == lane:
                    for k in range(s.words):
                        row = s.edge[w, p * s.words + k] | s.edge[w, m * s.words + k]
                        if k == j:
                            row = row & (~bit(p % 64))
                        if k == m // 64:
                            row = row & (~bit(m % 64))
                        s.edge[w, p * s.words + k] = row

    @wp.func
    def list_trees(s: struct, w: int, e: int, first: int) -> int:
        """Trees with rows in column e, by rank, from place `first` of column_part; returns the place behind the last."""
        end = first
        c = s.part_order[w, e]
        for k in range(s.words):
            rest = s.edge[w, c * s.words + k]
            while rest != wp.uint64(0):
                p = 64 * k + lowest_bit(rest)
                rest = rest & (rest - wp.uint64(1))
                if end < s.chess:
                    x = end
                    rank = s.part_rank[w, p]
                    while x > first and s.part_rank[w, s.column_part[w, wp.max(x - 1, 0)]] > rank:
                        s.column_part[w, x] = s.column_part[w, x - 1]
                        x -= 1
                    s.column_part[w, x] = p
                end += 1
        return end

    @wp.func
    def list_columns(s: struct, w: int) -> int:
        """Columns with their rows and storage; returns the number of blocks, the lists being cut off at `chess` entries."""
        blocks = int(0)
        trees = int(0)
        rows = int(0)
        n = s.npart[w]
        for e in range(n):
            t = s.part_tree[w, s.part_order[w, e]]
            nb = s.tree_block_start[t + 1] - s.tree_block_start[t]
            s.column_start[w, e] = trees
            s.row_start[w, e] = rows
            s.column_base[w, e] = blocks
            trees = list_trees(s, w, e, trees)
            for x in range(s.column_start[w, e], wp.min(trees, s.chess)):
                i = s.part_tree[w, s.column_part[w, x]]
                s.column_row[w, x] = rows
                for block in range(s.tree_block_start[i], s.tree_block_start[i + 1]):
                    if rows < s.chess:
                        s.row_block[w, rows] = block
                    rows += 1
            blocks += nb * (nb + rows - s.row_start[w, e])
        s.column_start[w, n] = trees
        s.row_start[w, n] = rows
        return wp.max(blocks, wp.max(rows, trees))

    @wp.func
    def list_left(s: struct, w: int):
        """For each tree the earlier columns that hold rows of it, in elimination order: the lists transposed."""
        n = s.npart[w]
        for p in range(n + 1):
            s.left_start[w, p] = 0
        for x in range(s.column_start[w, n]):
            p = s.column_part[w, x]
            s.left_start[w, p + 1] = s.left_start[w, p + 1] + 1
        for p in range(n):
            s.left_start[w, p + 1] = s.left_start[w, p] + s.left_start[w, p + 1]
        for f in range(n):
            e = n - 1 - f
            for x in range(s.column_start[w, e], s.column_start[w, e + 1]):
                p = s.column_part[w, x]
                at = s.left_start[w, p + 1] - 1
                s.left_column[w, at] = e
                s.left_row[w, at] = s.column_row[w, x]
                s.left_start[w, p + 1] = at
        # every end has moved down to its start: put the ends back
        for p in range(n):
            s.left_start[w, p] = s.left_start[w, p + 1]
        s.left_start[w, n] = s.column_start[w, n]

    @wp.func
    def cross_places(s: struct, w: int, lane: int):
        """For contacts and ties between two trees: where their off-diagonal block lies."""
        for c in range(lane, s.ncontact[w] + s.nitem, wp.block_dim()):
            trees = s.contact_tree[w, c]
            if trees[1] >= 0:
                first = int(0)
                later = s.tree_part[w, trees[1]]
                e = s.part_rank[w, s.tree_part[w, trees[0]]]
                if e > s.part_rank[w, later]:
                    first = 1
                    e = s.part_rank[w, later]
                    later = s.tree_part[w, trees[0]]
                for x in range(s.column_start[w, e], s.column_start[w, e + 1]):
                    if s.column_part[w, x] == later:
                        s.contact_cross[w, c] = wp.vec2i(first, s.column_row[w, x])

    @wp.func
    def symbolic(s: struct, w: int, lane: int) -> int:
        adjacency(s, w, lane)
        barrier()
        for e in range(s.npart[w]):
            m = least_degree(s, w)
            barrier()
            join_neighbours(s, w, lane, m)
            if lane == 0:
                s.part_order[w, e] = m
                s.part_rank[w, m] = e
            barrier()
        if lane == 0:
            blocks = list_columns(s, w)
            if blocks <= s.chess:
                list_left(s, w)
            s.need[w, 2] = wp.max(s.need[w, 2], blocks)
            s.solve_int[w, 4] = blocks
        barrier()
        blocks = s.solve_int[w, 4]
        if blocks <= s.chess:
            cross_places(s, w, lane)
        return blocks

    return symbolic
