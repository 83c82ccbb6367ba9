"""Elimination order and symbolic factor of the Hessian's graph: one node per participating tree.

Exact minimum degree (ties: the lowest number) on a graph kept as rows of bits, `words` 64-bit words to a row.  When a node is
eliminated its neighbours become a clique; its row then is the structure of its column in the factor.  Any number of trees.
Needs of the struct: npart, part_tree, part_start, part_side, contact_tree, tree_part, tree_block_start, edge, part_order,
part_rank, column_start, column_part, row_start, row_part, H_address, and the scalars words, chess.
"""

import warp as wp

from sapsim.math.bits import bit, lowest_bit, popcount
from sapsim.math.block import barrier


def make_elimination(struct):
    """wp.func symbolic(s, w, lane) -> number of 3x3 blocks that the factor needs; lists are complete where it fits."""

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
        return best

    @wp.func
    def join_neighbours(s: struct, w: int, lane: int, m: int):
        """Makes the neighbours of m a clique without m; a lane owns rows."""
        for p in range(lane, s.npart[w], wp.block_dim()):
            if (s.edge[w, m * s.words + p // 64] & bit(p % 64)) != wp.uint64(0):
                for k in range(s.words):
                    row = s.edge[w, p * s.words + k] | s.edge[w, m * s.words + k]
                    if k == p // 64:
                        row = row & (~bit(p % 64))
                    if k == m // 64:
                        row = row & (~bit(m % 64))
                    s.edge[w, p * s.words + k] = row

    @wp.func
    def list_columns(s: struct, w: int) -> int:
        """Columns in elimination order with their rows and addresses; returns the number of blocks."""
        blocks = int(0)
        entries = int(0)
        n = s.npart[w]
        for e in range(n):
            c = s.part_order[w, e]
            tc = s.part_tree[w, c]
            nb_c = s.tree_block_start[tc + 1] - s.tree_block_start[tc]
            s.column_start[w, e] = entries
            s.H_address[w, c, c] = blocks
            blocks += nb_c * nb_c
            for k in range(s.words):
                rest = s.edge[w, c * s.words + k]
                while rest != wp.uint64(0):
                    i = 64 * k + lowest_bit(rest)
                    rest = rest & (rest - wp.uint64(1))
                    ti = s.part_tree[w, i]
                    s.H_address[w, i, c] = blocks
                    blocks += nb_c * (s.tree_block_start[ti + 1] - s.tree_block_start[ti])
                    if entries < s.chess:
                        s.column_part[w, entries] = i
                    entries += 1
        s.column_start[w, n] = entries
        return blocks

    @wp.func
    def list_rows(s: struct, w: int):
        """For each tree the earlier columns that hold a row of it, in elimination order: the transposed lists."""
        n = s.npart[w]
        for p in range(n + 1):
            s.row_start[w, p] = 0
        for x in range(s.column_start[w, n]):
            i = s.column_part[w, x]
            s.row_start[w, i + 1] = s.row_start[w, i + 1] + 1
        for p in range(n):
            s.row_start[w, p + 1] = s.row_start[w, p] + s.row_start[w, p + 1]
        for f in range(n):
            e = n - 1 - f
            for x in range(s.column_start[w, e], s.column_start[w, e + 1]):
                i = s.column_part[w, x]
                at = s.row_start[w, i + 1] - 1
                s.row_part[w, at] = s.part_order[w, e]
                s.row_start[w, i + 1] = at
        # every end has moved down to its start: put the ends back
        for p in range(n):
            s.row_start[w, p] = s.row_start[w, p + 1]
        s.row_start[w, n] = s.column_start[w, n]

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
                list_rows(s, w)
            s.need[w, 2] = wp.max(s.need[w, 2], blocks)
            s.solve_int[w, 4] = blocks
        barrier()
        return s.solve_int[w, 4]

    return symbolic
