"""Dense Cholesky A = L L' of one tree, on all lower 3x3 blocks of the tree; diagonal blocks of the factor are kept inverted.

L_rc = (A_rc - sum_{m<c} L_rm L_cm') L_cc^-T,   L_rr L_rr' = A_rr - sum_{m<r} L_rm L_rm'

Block (r, c) is at L_row[r] + c, counted from the tree's first block.  A small tree, of one block or two, belongs to one lane,
with all its blocks in registers.  The rows of a column of a larger one are shared by all lanes, while all of them compute its
diagonal block alike, which costs one barrier to a column.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.block3 import make_block3
from sapsim.linalg.tree_blocks import make_tree_blocks
from sapsim.math.block import barrier


def make_tree_cholesky(R, struct):
    """wp.funcs factor_small, solve_small (s, w, tree) for one lane; factor, solve (s, w, lane, tree) for all lanes.

    Factoring returns whether A is positive definite; solving replaces x by A^-1 x.
    """
    mat33, vec3 = R.mat33, R.vec3
    inverse_cholesky = make_block3(R).inverse_cholesky
    A_block = make_tree_blocks(R, struct).block
    vectors = wp.array2d(dtype=vec3)

    @wp.func
    def remainder(s: struct, w: int, first: int, r: int, c: int) -> mat33:
        """A_rc - sum_{m<c} L_rm L_cm'."""
        acc = A_block(s, w, first + r, first + c)
        row_r = s.L_row[first + r]
        row_c = s.L_row[first + c]
        for m in range(c):
            acc = acc - s.L[w, row_r + m] * wp.transpose(s.L[w, row_c + m])
        return acc

    @wp.func
    def factor_small(s: struct, w: int, t: int) -> bool:
        """The blocks of one or two rows follow one another, in A as in L."""
        first = s.tree_block_start[t]
        at = s.A_row[first]
        to = s.L_row[first]
        inverse, positive = inverse_cholesky(s.A[w, at])
        s.L[w, to] = inverse
        if s.tree_block_start[t + 1] - first == 2:
            below = s.A[w, at + 1] * wp.transpose(inverse)
            second, also = inverse_cholesky(s.A[w, at + 2] - below * wp.transpose(below))
            positive = positive and also
            s.L[w, to + 1] = below
            s.L[w, to + 2] = second
        return positive

    @wp.func
    def factor(s: struct, w: int, lane: int, t: int) -> bool:
        first = s.tree_block_start[t]
        nb = s.tree_block_start[t + 1] - first
        positive = bool(True)
        for c in range(nb):
            inverse, ok = inverse_cholesky(remainder(s, w, first, c, c))
            positive = positive and ok
            if lane == 0:
                s.L[w, s.L_diagonal[first + c]] = inverse
            inverse_T = wp.transpose(inverse)
            for r in range(c + 1 + lane, nb, wp.block_dim()):
                s.L[w, s.L_row[first + r] + c] = remainder(s, w, first, r, c) * inverse_T
            barrier()
        return positive

    @wp.func
    def solve_small(s: struct, w: int, t: int, x: vectors):
        first = s.tree_block_start[t]
        at = s.L_row[first]
        inverse = s.L[w, at]
        y0 = inverse * x[w, first]
        if s.tree_block_start[t + 1] - first == 2:
            below = s.L[w, at + 1]
            second = s.L[w, at + 2]
            y1 = second * (x[w, first + 1] - below * y0)
            x1 = wp.transpose(second) * y1
            x[w, first + 1] = x1
            y0 = y0 - wp.transpose(below) * x1
        x[w, first] = wp.transpose(inverse) * y0

    @wp.func
    def solve(s: struct, w: int, lane: int, t: int, x: vectors):
        """Each solved block is taken from the others: forward from x into solve_b, backward into x again."""
        first = s.tree_block_start[t]
        nb = s.tree_block_start[t + 1] - first
        for c in range(nb):
            y = s.L[w, s.L_diagonal[first + c]] * x[w, first + c]
            if lane == 0:
                s.solve_b[w, first + c] = y
            for r in range(c + 1 + lane, nb, wp.block_dim()):
                x[w, first + r] = x[w, first + r] - s.L[w, s.L_row[first + r] + c] * y
            barrier()
        for i in range(nb):
            c = nb - 1 - i
            row = s.L_row[first + c]
            y = wp.transpose(s.L[w, s.L_diagonal[first + c]]) * s.solve_b[w, first + c]
            if lane == 0:
                x[w, first + c] = y
            for r in range(lane, c, wp.block_dim()):
                s.solve_b[w, first + r] = s.solve_b[w, first + r] - wp.transpose(s.L[w, row + r]) * y
            barrier()

    return SimpleNamespace(factor_small=factor_small, solve_small=solve_small, factor=factor, solve=solve)
