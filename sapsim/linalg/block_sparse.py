"""Block-sparse Cholesky of the Hessian over the participating trees of an island, on 3x3 blocks, left-looking.

Columns follow the elimination order (linalg/elimination.py).  Column e of a tree with nb blocks is a dense panel of block rows,
nb blocks to a row: first the tree's own rows, then those of later trees; row x, block q at column_base[e] + x nb + q.  The
factor replaces H; the inverses of its 3x3 diagonal blocks are in H_inv:

    L_xq = (H_xq - sum over earlier m of L_xm L_qm') L_qq^-T

Every lane owns rows of the column at work; the diagonal block is factorised by all lanes alike.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.block3 import make_block3
from sapsim.linalg.island import Island
from sapsim.math.block import barrier


def make_block_sparse(R, struct):
    """wp.funcs factor(s, w, lane, island) -> bool and solve(s, w, lane, island): dv <- -H^-1 grad."""
    vec3 = R.vec3
    inverse_cholesky = make_block3(R).inverse_cholesky

    @wp.func
    def blocks_of(s: struct, w: int, e: int) -> int:
        """Blocks of the tree of column e."""
        t = s.part_tree[w, s.part_order[w, e]]
        return s.tree_block_start[t + 1] - s.tree_block_start[t]

    @wp.func
    def first_block(s: struct, w: int, e: int) -> int:
        return s.tree_block_start[s.part_tree[w, s.part_order[w, e]]]

    @wp.func
    def number_rows(s: struct, w: int, lane: int, e: int, nb: int):
        """row_at: where the block rows of column e lie in its panel."""
        first = first_block(s, w, e)
        for r in range(lane, nb, wp.block_dim()):
            s.row_at[w, first + r] = r
        start = s.row_start[w, e]
        for x in range(start + lane, s.row_start[w, e + 1], wp.block_dim()):
            s.row_at[w, s.row_block[w, x]] = nb + x - start

    @wp.func
    def subtract_pairs(s: struct, w: int, lane: int, base: int, k: int, own: int):
        """subtract_column where both trees have two blocks, as free bodies have: operands stay in registers."""
        start = s.row_start[w, k]
        base_k = s.column_base[w, k] + 4
        at = base_k + 2 * (own - start)
        c00 = wp.transpose(s.H[w, at])
        c01 = wp.transpose(s.H[w, at + 1])
        c10 = wp.transpose(s.H[w, at + 2])
        c11 = wp.transpose(s.H[w, at + 3])
        for x in range(own, s.row_start[w, k + 1]):
            row = s.row_at[w, s.row_block[w, x]]
            if row % wp.block_dim() == lane:
                a0 = s.H[w, base_k + 2 * (x - start)]
                a1 = s.H[w, base_k + 2 * (x - start) + 1]
                to = base + 2 * row
                s.H[w, to] = s.H[w, to] - a0 * c00 - a1 * c01
                s.H[w, to + 1] = s.H[w, to + 1] - a0 * c10 - a1 * c11

    @wp.func
    def subtract_column(s: struct, w: int, lane: int, base: int, nb: int, k: int, own: int):
        """Takes column k from the column at `base`, whose own rows start at place `own` of column k."""
        nb_k = blocks_of(s, w, k)
        start = s.row_start[w, k]
        base_k = s.column_base[w, k] + nb_k * nb_k
        for x in range(own, s.row_start[w, k + 1]):
            row = s.row_at[w, s.row_block[w, x]]
            if row % wp.block_dim() == lane:
                a = base_k + (x - start) * nb_k
                for q in range(wp.min(nb, row + 1)):
                    c = base_k + (own - start + q) * nb_k
                    to = base + row * nb + q
                    acc = s.H[w, to]
                    for m in range(nb_k):
                        acc = acc - s.H[w, a + m] * wp.transpose(s.H[w, c + m])
                    s.H[w, to] = acc

    @wp.func
    def factor_panel(s: struct, w: int, lane: int, e: int, base: int, nb: int) -> bool:
        """Dense Cholesky of the panel itself."""
        positive = bool(True)
        nrow = nb + s.row_start[w, e + 1] - s.row_start[w, e]
        first = first_block(s, w, e)
        for q in range(nb):
            barrier()
            inverse, ok = inverse_cholesky(s.H[w, base + q * nb + q])
            positive = positive and ok
            if lane == 0:
                s.H_inv[w, first + q] = inverse
            inverse_T = wp.transpose(inverse)
            for x in range(q + 1 + lane, nrow, wp.block_dim()):
                s.H[w, base + x * nb + q] = s.H[w, base + x * nb + q] * inverse_T
            if q + 1 < nb:
                barrier()
                for x in range(q + 1 + lane, nrow, wp.block_dim()):
                    acc = s.H[w, base + x * nb + q + 1]
                    for m in range(q + 1):
                        acc = acc - s.H[w, base + x * nb + m] * wp.transpose(s.H[w, base + (q + 1) * nb + m])
                    s.H[w, base + x * nb + q + 1] = acc
        return positive

    @wp.func
    def factor(s: struct, w: int, lane: int, island: Island) -> bool:
        """False where H is not positive definite; then the factor is not usable."""
        positive = bool(True)
        for e in range(island.tree, island.tree_end):
            c = s.part_order[w, e]
            nb = blocks_of(s, w, e)
            base = s.column_base[w, e]
            number_rows(s, w, lane, e, nb)
            barrier()
            for y in range(s.left_start[w, c], s.left_start[w, c + 1]):
                k = s.left_column[w, y]
                if nb == 2 and blocks_of(s, w, k) == 2:
                    subtract_pairs(s, w, lane, base, k, s.left_row[w, y])
                else:
                    subtract_column(s, w, lane, base, nb, k, s.left_row[w, y])
            positive = factor_panel(s, w, lane, e, base, nb) and positive
            barrier()
        return positive

    @wp.func
    def forward(s: struct, w: int, lane: int, island: Island):
        """dv <- L^-1 dv: each solved block is taken from the rows below it."""
        for e in range(island.tree, island.tree_end):
            nb = blocks_of(s, w, e)
            first = first_block(s, w, e)
            base = s.column_base[w, e]
            start = s.row_start[w, e]
            for q in range(nb):
                y = s.H_inv[w, first + q] * s.dv[w, first + q]
                barrier()
                if lane == 0:
                    s.dv[w, first + q] = y
                for r in range(q + 1 + lane, nb, wp.block_dim()):
                    s.dv[w, first + r] = s.dv[w, first + r] - s.H[w, base + r * nb + q] * y
                at = base + (nb - start) * nb + q
                for x in range(start + lane, s.row_start[w, e + 1], wp.block_dim()):
                    block = s.row_block[w, x]
                    s.dv[w, block] = s.dv[w, block] - s.H[w, at + x * nb] * y
                barrier()

    @wp.func
    def backward(s: struct, w: int, lane: int, island: Island):
        """dv <- L^-T dv: every lane sums the column below in the same order."""
        last = island.tree_end
        for f in range(last - island.tree):
            e = last - 1 - f
            nb = blocks_of(s, w, e)
            first = first_block(s, w, e)
            base = s.column_base[w, e]
            start = s.row_start[w, e]
            for g in range(nb):
                q = nb - 1 - g
                acc = s.dv[w, first + q]
                for r in range(q + 1, nb):
                    acc = acc - wp.transpose(s.H[w, base + r * nb + q]) * s.dv[w, first + r]
                at = base + (nb - start) * nb + q
                for x in range(start, s.row_start[w, e + 1]):
                    acc = acc - wp.transpose(s.H[w, at + x * nb]) * s.dv[w, s.row_block[w, x]]
                barrier()
                if lane == 0:
                    s.dv[w, first + q] = wp.transpose(s.H_inv[w, first + q]) * acc
                barrier()

    @wp.func
    def solve(s: struct, w: int, lane: int, island: Island):
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.dv[w, r] = -vec3(s.grad[w, r])
        barrier()
        forward(s, w, lane, island)
        backward(s, w, lane, island)

    return SimpleNamespace(factor=factor, solve=solve)
