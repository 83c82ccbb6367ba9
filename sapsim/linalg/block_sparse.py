"""Block-sparse Cholesky of the Hessian over the participating trees, on 3x3 blocks, left-looking.

Column panels follow the elimination order (linalg/elimination.py).  Panel (i, c) of row tree i and column tree c is dense, row
by row, at H_address[i, c]; the factor replaces H in place; the inverses of its 3x3 diagonal blocks are in H_inv:

    L_rq = (H_rq - sum over earlier m of L_rm L_qm') L_qq^-T

Every lane owns rows; the diagonal block is factorised by all lanes alike.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.block3 import make_block3
from sapsim.math.bits import bit
from sapsim.math.block import barrier


def make_block_sparse(R, struct):
    """wp.funcs factor(s, w, lane) -> bool and solve(s, w, lane): dv <- -H^-1 grad."""
    vec3, mat33 = R.vec3, R.mat33
    inverse_cholesky = make_block3(R).inverse_cholesky

    @wp.func
    def blocks_of(s: struct, w: int, p: int) -> int:
        t = s.part_tree[w, p]
        return s.tree_block_start[t + 1] - s.tree_block_start[t]

    @wp.func
    def update_row(s: struct, w: int, c: int, q: int, nb_c: int, i: int, r: int):
        """Subtracts from H_rq what the earlier columns hold; row r of tree i, column q of tree c."""
        at = s.H_address[w, i, c] + r * nb_c
        acc = s.H[w, at + q]
        for x in range(s.row_start[w, c], s.row_start[w, c + 1]):
            k = s.row_part[w, x]
            if i == c or (s.edge[w, k * s.words + i // 64] & bit(i % 64)) != wp.uint64(0):
                nb_k = blocks_of(s, w, k)
                row = s.H_address[w, i, k] + r * nb_k
                col = s.H_address[w, c, k] + q * nb_k
                for m in range(nb_k):
                    acc = acc - s.H[w, row + m] * wp.transpose(s.H[w, col + m])
        own = s.H_address[w, c, c] + q * nb_c
        for m in range(q):
            acc = acc - s.H[w, at + m] * wp.transpose(s.H[w, own + m])
        s.H[w, at + q] = acc

    @wp.func
    def for_rows(s: struct, w: int, lane: int, e: int, c: int, q: int, nb_c: int, inverse: mat33, scale: bool):
        """Updates (or scales by the inverse diagonal) this lane's rows of column q of tree c."""
        item = int(0)
        for r in range(q, nb_c):
            if item % wp.block_dim() == lane:
                if not scale:
                    update_row(s, w, c, q, nb_c, c, r)
                elif r > q:
                    at = s.H_address[w, c, c] + r * nb_c + q
                    s.H[w, at] = s.H[w, at] * wp.transpose(inverse)
            item += 1
        for x in range(s.column_start[w, e], s.column_start[w, e + 1]):
            i = s.column_part[w, x]
            for r in range(blocks_of(s, w, i)):
                if item % wp.block_dim() == lane:
                    if not scale:
                        update_row(s, w, c, q, nb_c, i, r)
                    else:
                        at = s.H_address[w, i, c] + r * nb_c + q
                        s.H[w, at] = s.H[w, at] * wp.transpose(inverse)
                item += 1

    @wp.func
    def factor(s: struct, w: int, lane: int) -> bool:
        """False where H is not positive definite; then the factor is not usable."""
        positive = bool(True)
        for e in range(s.npart[w]):
            c = s.part_order[w, e]
            nb_c = blocks_of(s, w, c)
            for q in range(nb_c):
                for_rows(s, w, lane, e, c, q, nb_c, mat33(), False)
                barrier()
                inverse, ok = inverse_cholesky(s.H[w, s.H_address[w, c, c] + q * nb_c + q])
                positive = positive and ok
                if lane == 0:
                    s.H_inv[w, s.tree_block_start[s.part_tree[w, c]] + q] = inverse
                for_rows(s, w, lane, e, c, q, nb_c, inverse, True)
                barrier()
        return positive

    @wp.func
    def forward(s: struct, w: int, lane: int):
        """dv <- L^-1 dv: each solved block is taken from the rows below it."""
        for e in range(s.npart[w]):
            c = s.part_order[w, e]
            nb_c = blocks_of(s, w, c)
            first = s.tree_block_start[s.part_tree[w, c]]
            for q in range(nb_c):
                y = s.H_inv[w, first + q] * s.dv[w, first + q]
                barrier()
                if lane == 0:
                    s.dv[w, first + q] = y
                own = s.H_address[w, c, c] + q
                for r in range(q + 1 + lane, nb_c, wp.block_dim()):
                    s.dv[w, first + r] = s.dv[w, first + r] - s.H[w, own + r * nb_c] * y
                item = int(0)
                for x in range(s.column_start[w, e], s.column_start[w, e + 1]):
                    i = s.column_part[w, x]
                    base = s.tree_block_start[s.part_tree[w, i]]
                    at = s.H_address[w, i, c] + q
                    for r in range(blocks_of(s, w, i)):
                        if item % wp.block_dim() == lane:
                            s.dv[w, base + r] = s.dv[w, base + r] - s.H[w, at + r * nb_c] * y
                        item += 1
                barrier()

    @wp.func
    def backward(s: struct, w: int, lane: int):
        """dv <- L^-T dv: every lane sums the column below in the same order."""
        for f in range(s.npart[w]):
            e = s.npart[w] - 1 - f
            c = s.part_order[w, e]
            nb_c = blocks_of(s, w, c)
            first = s.tree_block_start[s.part_tree[w, c]]
            for g in range(nb_c):
                q = nb_c - 1 - g
                acc = s.dv[w, first + q]
                own = s.H_address[w, c, c] + q
                for r in range(q + 1, nb_c):
                    acc = acc - wp.transpose(s.H[w, own + r * nb_c]) * s.dv[w, first + r]
                for x in range(s.column_start[w, e], s.column_start[w, e + 1]):
                    i = s.column_part[w, x]
                    base = s.tree_block_start[s.part_tree[w, i]]
                    at = s.H_address[w, i, c] + q
                    for r in range(blocks_of(s, w, i)):
                        acc = acc - wp.transpose(s.H[w, at + r * nb_c]) * s.dv[w, base + r]
                barrier()
                if lane == 0:
                    s.dv[w, first + q] = wp.transpose(s.H_inv[w, first + q]) * acc
                barrier()

    @wp.func
    def solve(s: struct, w: int, lane: int):
        for p in range(lane, s.npart[w], wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.dv[w, r] = -vec3(s.grad[w, r])
        barrier()
        forward(s, w, lane)
        backward(s, w, lane)

    return SimpleNamespace(factor=factor, solve=solve)
