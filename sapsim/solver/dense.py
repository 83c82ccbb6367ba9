"""Newton's direction by dense Cholesky over the degrees of freedom of an island: no elimination order, no lists of columns.

An island of one tree of one or two blocks, a free body on the ground, is solved in registers, by all lanes alike.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.island import Island
from sapsim.linalg.packed_cholesky import make_packed_cholesky, packed
from sapsim.math.block import barrier
from sapsim.solver.packed_hessian import make_packed_hessian
from sapsim.status import StepStatus

ARRAYS = ("row_block", "row_at", "H", "H_inv", "need")
SMALL = 12  # 3x3 blocks of an island up to which this is no slower than block-sparse, were it a stack (docs/performance.md)


def make_dense(R, struct):
    """wp.funcs direction(s, w, lane, island, first) -> status: dv <- -H^-1 grad, with G of the island known; and
    suits(s, w, island): whether the island is small, or one tree, where this is faster than block-sparse."""
    vec3 = R.vec3
    cholesky = make_packed_cholesky(R, struct)
    hessian = make_packed_hessian(R, struct)

    @wp.func
    def suits(s: struct, w: int, island: Island) -> bool:
        trees = island.tree_end - island.tree
        if trees == 1:
            return True
        if trees > wp.static(SMALL):
            return False
        blocks = int(0)
        for p in range(island.tree, island.tree_end):
            t = s.part_tree[w, p]
            blocks += s.tree_block_start[t + 1] - s.tree_block_start[t]
        return blocks <= wp.static(SMALL)

    @wp.func
    def one_body(s: struct, w: int, lane: int, p: int, block: int, two: bool) -> int:
        h00, h10, h11 = hessian.two_blocks(s, w, p)
        inverse0, below, inverse1, positive = cholesky.factor_two(h00, h10, h11)
        if not positive:
            return wp.static(int(StepStatus.FACTORIZATION_FAILED))
        g1 = vec3()
        if two:
            g1 = vec3(s.grad[w, block + 1])
        x0, x1 = cholesky.solve_two(inverse0, below, inverse1, vec3(s.grad[w, block]), g1)
        if lane == 0:
            s.dv[w, block] = -x0
            if two:
                s.dv[w, block + 1] = -x1
        return 0

    @wp.func
    def number_rows(s: struct, w: int, lane: int, island: Island) -> int:
        """Rows of the trees in order: row_block, row_at; returns how many there are."""
        n = int(0)
        for p in range(island.tree, island.tree_end):
            t = s.part_tree[w, p]
            first = s.tree_block_start[t]
            nb = s.tree_block_start[t + 1] - first
            if p % wp.block_dim() == lane:
                for r in range(nb):
                    s.row_block[w, n + r] = first + r
                    s.row_at[w, first + r] = n + r
            n += nb
        return n

    @wp.func
    def assemble(s: struct, w: int, lane: int, island: Island, n: int):
        offset = int(0)
        for p in range(island.tree, island.tree_end):
            t = s.part_tree[w, p]
            nb = s.tree_block_start[t + 1] - s.tree_block_start[t]
            for q in range(nb):
                if (offset + q) % wp.block_dim() == lane:
                    hessian.column(s, w, p, q, 0, offset, n)
            offset += nb

    @wp.func
    def many(s: struct, w: int, lane: int, island: Island, first: bool) -> int:
        n = number_rows(s, w, lane, island)
        if first and lane == 0:
            s.need[w, 2] = wp.max(s.need[w, 2], packed(n, 0))
        if packed(n, 0) > s.chess:
            return wp.static(int(StepStatus.CONTACT_OVERFLOW))
        barrier()
        assemble(s, w, lane, island, n)
        for r in range(lane, n, wp.block_dim()):
            block = s.row_block[w, r]
            s.dv[w, block] = -vec3(s.grad[w, block])
        barrier()
        if not cholesky.factor(s, w, lane, 0, 0, n):
            return wp.static(int(StepStatus.FACTORIZATION_FAILED))
        cholesky.solve(s, w, lane, 0, 0, n, s.dv)
        return 0

    @wp.func
    def direction(s: struct, w: int, lane: int, island: Island, first: bool) -> int:
        t = s.part_tree[w, island.tree]
        block = s.tree_block_start[t]
        nb = s.tree_block_start[t + 1] - block
        status = int(0)
        if island.tree_end - island.tree == 1 and nb <= 2:
            status = one_body(s, w, lane, island.tree, block, nb == 2)
            barrier()
        else:
            status = many(s, w, lane, island, first)
        return status

    return SimpleNamespace(direction=direction, suits=suits)
