"""Elimination order and symbolic factor of the Hessian's graph, of one island: one node per participating tree.

Exact minimum degree (ties: the lowest number) on a graph kept as rows of bits, `words` 64-bit words to a row.  When a node is
eliminated its neighbours become a clique; its row of bits then is the structure of its column in the factor.  Any number of
trees.  From it come flat lists: a column's block rows below its diagonal tree, in elimination order, and for every tree the
earlier columns that hold its rows.  Bits count from the island's first tree; ranks and columns run over its range of trees, and
its lists and blocks begin at zero, in the place of those of the island before.
"""

import warp as wp

from sapsim.linalg.island import Island, count_places, make_place
from sapsim.math.bits import bit, lowest_bit, popcount
from sapsim.math.block import barrier

GONE = 2147483647  # the degree of a node that is eliminated


def make_elimination(struct):
    """wp.func symbolic(s, w, lane, island) -> number of 3x3 blocks that the factor needs; the lists are whole where it fits."""
    place = make_place(struct)

    @wp.func
    def adjacency(s: struct, w: int, lane: int, island: Island, words: int):
        first = island.tree
        for p in range(first + lane, island.tree_end, wp.block_dim()):
            for j in range(words):
                s.edge[w, p * s.words + j] = wp.uint64(0)
            for i in range(s.part_start[w, p], s.part_start[w, p + 1]):
                side = s.part_side[w, i]
                other = s.contact_tree[w, side // 2][1 - side % 2]
                if other >= 0:
                    o = s.tree_part[w, other] - first
                    at = p * s.words + o // 64
                    s.edge[w, at] = s.edge[w, at] | bit(o % 64)
            degree = int(0)
            for j in range(words):
                degree += popcount(s.edge[w, p * s.words + j])
            s.part_degree[w, p] = degree

    @wp.func
    def least_degree(s: struct, w: int, island: Island) -> int:
        """The remaining node with the fewest neighbours."""
        best = int(-1)
        best_degree = int(wp.static(GONE))
        for p in range(island.tree, island.tree_end):
            degree = s.part_degree[w, p]
            if degree < best_degree:
                best = p
                best_degree = degree
                if degree == 0:
                    return best
        return best

    @wp.func
    def join_neighbours(s: struct, w: int, lane: int, first: int, words: int, m: int):
        """Makes the neighbours of m a clique without m; a lane owns rows."""
        for j in range(words):
            rest = s.edge[w, m * s.words + j]
            while rest != wp.uint64(0):
                i = 64 * j + lowest_bit(rest)
                rest = rest & (rest - wp.uint64(1))
                if i % wp.block_dim() == lane:
                    degree = int(0)
                    for x in range(words):
                        at = (first + i) * s.words + x
                        row = s.edge[w, at] | s.edge[w, m * s.words + x]
                        if x == j:
                            row = row & (~bit(i % 64))
                        if x == (m - first) // 64:
                            row = row & (~bit((m - first) % 64))
                        s.edge[w, at] = row
                        degree += popcount(row)
                    s.part_degree[w, first + i] = degree

    @wp.func
    def count_columns(s: struct, w: int, island: Island, words: int) -> int:
        """Starts of the columns, of their rows and their storage, and the number of columns that hold each tree; returns the
        number of blocks."""
        blocks = int(0)
        trees = int(0)
        rows = int(0)
        last = island.tree_end
        for p in range(island.tree, last + 1):
            s.left_start[w, p] = 0
        for e in range(island.tree, last):
            c = s.part_order[w, e]
            t = s.part_tree[w, c]
            nb = s.tree_block_start[t + 1] - s.tree_block_start[t]
            s.column_start[w, e] = trees
            s.row_start[w, e] = rows
            s.column_base[w, e] = blocks
            for j in range(words):
                rest = s.edge[w, c * s.words + j]
                while rest != wp.uint64(0):
                    p = island.tree + 64 * j + lowest_bit(rest)
                    rest = rest & (rest - wp.uint64(1))
                    t = s.part_tree[w, p]
                    s.left_start[w, p + 1] = s.left_start[w, p + 1] + 1
                    rows += s.tree_block_start[t + 1] - s.tree_block_start[t]
                    trees += 1
            blocks += nb * (nb + rows - s.row_start[w, e])
        s.column_start[w, last] = trees
        s.row_start[w, last] = rows
        return wp.max(blocks, wp.max(rows, trees))

    @wp.func
    def list_left(s: struct, w: int, island: Island, words: int):
        """For each tree the earlier columns that hold rows of it, in elimination order."""
        first = island.tree
        last = island.tree_end
        for p in range(first, last):
            s.left_start[w, p + 1] = s.left_start[w, p] + s.left_start[w, p + 1]
        total = s.left_start[w, last]
        for f in range(last - first):
            e = last - 1 - f
            c = s.part_order[w, e]
            for j in range(words):
                rest = s.edge[w, c * s.words + j]
                while rest != wp.uint64(0):
                    p = first + 64 * j + lowest_bit(rest)
                    rest = rest & (rest - wp.uint64(1))
                    at = s.left_start[w, p + 1] - 1
                    s.left_column[w, at] = e
                    s.left_start[w, p + 1] = at
        # every end has moved down to its start: put the ends back
        for p in range(first, last):
            s.left_start[w, p] = s.left_start[w, p + 1]
        s.left_start[w, last] = total

    @wp.func
    def list_rows(s: struct, w: int, island: Island):
        """Trees with rows in a column, by rank, and the rows: trees are appended to their columns in elimination order."""
        for e in range(island.tree, island.tree_end):
            s.part_degree[w, e] = s.column_start[w, e]  # the next free place of column e: degrees have been used
        for f in range(island.tree, island.tree_end):
            p = s.part_order[w, f]
            t = s.part_tree[w, p]
            start = s.tree_block_start[t]
            nb = s.tree_block_start[t + 1] - start
            for y in range(s.left_start[w, p], s.left_start[w, p + 1]):
                e = s.left_column[w, y]
                x = s.part_degree[w, e]
                row = s.row_start[w, e]
                if x > s.column_start[w, e]:
                    before = s.part_tree[w, s.column_part[w, x - 1]]
                    row = s.column_row[w, x - 1] + s.tree_block_start[before + 1] - s.tree_block_start[before]
                s.part_degree[w, e] = x + 1
                s.column_part[w, x] = p
                s.column_row[w, x] = row
                s.left_row[w, y] = row
                for q in range(nb):
                    s.row_block[w, row + q] = start + q

    @wp.func
    def cross_places(s: struct, w: int, lane: int, island: Island):
        """For contacts and items between two trees: where their off-diagonal block lies."""
        for x in range(lane, count_places(island), wp.block_dim()):
            c = place(s, w, island, x)
            trees = s.contact_tree[w, c]
            if trees[1] >= 0:
                first = int(0)
                later = s.tree_part[w, trees[1]]
                e = s.part_rank[w, s.tree_part[w, trees[0]]]
                if e > s.part_rank[w, later]:
                    first = 1
                    e = s.part_rank[w, later]
                    later = s.tree_part[w, trees[0]]
                for y in range(s.column_start[w, e], s.column_start[w, e + 1]):
                    if s.column_part[w, y] == later:
                        s.contact_cross[w, c] = wp.vec2i(first, s.column_row[w, y])

    @wp.func
    def symbolic(s: struct, w: int, lane: int, island: Island) -> int:
        first = island.tree
        words = (island.tree_end - first + 63) // 64  # of a row, that the island uses
        adjacency(s, w, lane, island, words)
        barrier()
        for e in range(first, island.tree_end):
            m = least_degree(s, w, island)
            barrier()
            join_neighbours(s, w, lane, first, words, m)
            if lane == 0:
                s.part_order[w, e] = m
                s.part_rank[w, m] = e
                s.part_degree[w, m] = wp.static(GONE)
            barrier()
        if lane == 0:
            blocks = count_columns(s, w, island, words)
            if blocks <= s.chess:
                list_left(s, w, island, words)
                list_rows(s, w, island)
            s.need[w, 2] = wp.max(s.need[w, 2], blocks)
            s.solve_int[w, 4] = blocks
        barrier()
        blocks = s.solve_int[w, 4]
        if blocks <= s.chess:
            cross_places(s, w, lane, island)
            barrier()
        return blocks

    return symbolic
