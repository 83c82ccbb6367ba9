"""The preconditioner M of solver/pcg.py: the diagonal blocks of H by trees, and their dense factors.

A block is A of the tree, and J' G J of its own sides of contacts and ties and of its scalar rows.  Blocks lie one after
another in H, packed (linalg/packed_cholesky.py); they always have room there, which grows with the trees and not with the
contacts.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.island import Island
from sapsim.linalg.packed_cholesky import make_packed_cholesky, packed
from sapsim.math.block import barrier
from sapsim.solver.packed_hessian import make_packed_hessian

ARRAYS = ("row_block", "row_at", "row_start", "column_base", "H", "H_inv", "cg_residual", "cg_scaled")


def make_block_jacobi(R, struct):
    """wp.funcs factor(s, w, lane, island) -> bool, of M; apply(s, w, lane, island): cg_scaled <- M^-1 cg_residual.

    A tree of one or two blocks belongs to a lane; larger ones are shared by all lanes, one after another.
    """
    wide, wide4 = R.wide.t, R.wide.vec4
    cholesky = make_packed_cholesky(R, struct)
    hessian = make_packed_hessian(R, struct)

    @wp.func
    def number_rows(s: struct, w: int, island: Island):
        """Where the rows and blocks of each tree start."""
        rows = int(0)
        base = int(0)
        for p in range(island.tree, island.tree_end):
            t = s.part_tree[w, p]
            first = s.tree_block_start[t]
            nb = s.tree_block_start[t + 1] - first
            s.row_start[w, p] = rows
            s.column_base[w, p] = base
            for r in range(nb):
                s.row_block[w, rows + r] = first + r
            rows += nb
            base += packed(nb, 0)

    @wp.func
    def factor_small(s: struct, w: int, p: int) -> wide:
        """1 where the tree's block of M is not positive definite, 0 otherwise."""
        block = s.tree_block_start[s.part_tree[w, p]]
        h00, h10, h11 = hessian.two_blocks(s, w, p)
        inverse0, below, inverse1, positive = cholesky.factor_two(h00, h10, h11)
        s.H_inv[w, block] = inverse0
        if s.tree_block_start[s.part_tree[w, p] + 1] - block == 2:
            s.H[w, s.column_base[w, p] + 1] = below
            s.H_inv[w, block + 1] = inverse1
        if positive:
            return wide(0.0)
        return wide(1.0)

    @wp.func
    def factor_large(s: struct, w: int, lane: int, p: int, nb: int) -> wide:
        for q in range(lane, nb, wp.block_dim()):
            hessian.column(s, w, p, q, s.column_base[w, p], 0, nb)
        barrier()
        if cholesky.factor(s, w, lane, s.column_base[w, p], s.row_start[w, p], nb):
            return wide(0.0)
        return wide(1.0)

    @wp.func
    def factor(s: struct, w: int, lane: int, island: Island) -> bool:
        """Whether M is positive definite: lanes tell one another through part_sum, which holds nothing now."""
        if lane == 0:
            number_rows(s, w, island)
        barrier()
        for p in range(island.tree, island.tree_end):
            t = s.part_tree[w, p]
            nb = s.tree_block_start[t + 1] - s.tree_block_start[t]
            if nb > 2:
                failed = factor_large(s, w, lane, p, nb)
                if lane == 0:
                    s.part_sum[w, p] = wide4(failed)
            elif p % wp.block_dim() == lane:
                s.part_sum[w, p] = wide4(factor_small(s, w, p))
        barrier()
        failures = wide(0.0)
        for p in range(island.tree, island.tree_end):
            failures += s.part_sum[w, p][0]
        barrier()
        return failures == wide(0.0)

    @wp.func
    def apply_small(s: struct, w: int, p: int):
        block = s.tree_block_start[s.part_tree[w, p]]
        if s.tree_block_start[s.part_tree[w, p] + 1] - block == 2:
            below = s.H[w, s.column_base[w, p] + 1]
            x0, x1 = cholesky.solve_two(
                s.H_inv[w, block], below, s.H_inv[w, block + 1], s.cg_residual[w, block], s.cg_residual[w, block + 1]
            )
            s.cg_scaled[w, block] = x0
            s.cg_scaled[w, block + 1] = x1
        else:
            inverse = s.H_inv[w, block]
            s.cg_scaled[w, block] = wp.transpose(inverse) * (inverse * s.cg_residual[w, block])

    @wp.func
    def apply_large(s: struct, w: int, lane: int, p: int, nb: int):
        """cg_residual stands behind a barrier, and cg_scaled does afterwards."""
        block = s.tree_block_start[s.part_tree[w, p]]
        for r in range(lane, nb, wp.block_dim()):
            s.cg_scaled[w, block + r] = s.cg_residual[w, block + r]
        barrier()
        cholesky.solve(s, w, lane, s.column_base[w, p], s.row_start[w, p], nb, s.cg_scaled)

    @wp.func
    def apply(s: struct, w: int, lane: int, island: Island):
        barrier()
        for p in range(island.tree, island.tree_end):
            t = s.part_tree[w, p]
            nb = s.tree_block_start[t + 1] - s.tree_block_start[t]
            if nb > 2:
                apply_large(s, w, lane, p, nb)
            elif p % wp.block_dim() == lane:
                apply_small(s, w, p)
        barrier()

    return SimpleNamespace(factor=factor, apply=apply)
