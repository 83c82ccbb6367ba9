"""Sparse L'DL of all trees that take it, from the leaves to the root, level by level in the tree of blocks (model/trees.py).

A = L' D L with L unit lower triangular in 3x3 blocks (Featherstone 2008, section 6.5) fills no block beyond those of A.  What
is kept are the rows of V = C' L, where D_r = C_r C_r', and on the diagonal C_r^-1: then a block needs one product for each
block below it, and solves do not divide.  With p the place of the column in its row, the depth of the column's block,

    V_kp = C_k^-1 (A_kp - sum over r below k of V_rk' V_rp),   D_k = A_kk - sum over r below k of V_rk' V_rk

The blocks below k are the range k + 1 .. block_last[k], and places are the same in all their rows.  All blocks of a level are
independent but for C_k: two barriers to a level.  A lane owns blocks and gathers in the order of the range.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.block3 import make_block3
from sapsim.math.block import barrier


def make_tree_ldlt(R, struct):
    """wp.funcs factor(s, w, lane), of all sparse trees; positive(s, w, tree); solve(s, w, lane, x): x <- A^-1 x."""
    real, mat33, vec3 = R.t, R.mat33, R.vec3
    inverse_cholesky = make_block3(R).inverse_cholesky
    vectors = wp.array2d(dtype=vec3)

    @wp.func
    def remainder(s: struct, w: int, k: int, place: int) -> mat33:
        """A_kp - sum of V_rk' V_rp."""
        acc = s.A[w, s.A_row[k] + place]
        depth = s.block_depth[k]
        for r in range(k + 1, s.block_last[k] + 1):
            row = s.L_row[r]
            acc = acc - wp.transpose(s.L[w, row + depth]) * s.L[w, row + place]
        return acc

    @wp.func
    def factor(s: struct, w: int, lane: int):
        for i in range(s.nsparse_level):
            part = 2 * (s.nsparse_level - 1 - i)
            for x in range(s.sparse_start[part] + lane, s.sparse_start[part + 1], wp.block_dim()):
                k = s.sparse_row[x]
                inverse, _ = inverse_cholesky(remainder(s, w, k, s.sparse_place[x]))  # zero where it is not positive
                s.L[w, s.L_diagonal[k]] = inverse
            for x in range(s.sparse_start[part + 1] + lane, s.sparse_start[part + 2], wp.block_dim()):
                k = s.sparse_row[x]
                s.L[w, s.L_row[k] + s.sparse_place[x]] = remainder(s, w, k, s.sparse_place[x])
            barrier()
            for x in range(s.sparse_start[part + 1] + lane, s.sparse_start[part + 2], wp.block_dim()):
                k = s.sparse_row[x]
                at = s.L_row[k] + s.sparse_place[x]
                s.L[w, at] = s.L[w, s.L_diagonal[k]] * s.L[w, at]
            barrier()

    @wp.func
    def positive(s: struct, w: int, t: int) -> bool:
        """Whether every pivot of the tree was positive."""
        for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
            inverse = s.L[w, s.L_diagonal[r]]
            if not (inverse[0, 0] > real(0.0)):
                return False
        return True

    @wp.func
    def from_leaves(s: struct, w: int, k: int, x: vectors):
        y = x[w, k]
        depth = s.block_depth[k]
        for r in range(k + 1, s.block_last[k] + 1):
            y = y - wp.transpose(s.L[w, s.L_row[r] + depth]) * x[w, r]
        x[w, k] = s.L[w, s.L_diagonal[k]] * y

    @wp.func
    def from_root(s: struct, w: int, k: int, x: vectors):
        y = x[w, k]
        at = s.L_diagonal[k]
        c = s.block_parent[k]
        for i in range(s.block_depth[k]):
            y = y - s.L[w, at - 1 - i] * x[w, c]
            c = s.block_parent[c]
        x[w, k] = wp.transpose(s.L[w, at]) * y

    @wp.func
    def solve(s: struct, w: int, lane: int, x: vectors):
        for i in range(s.nsparse_level):
            part = 2 * (s.nsparse_level - 1 - i)
            for y in range(s.sparse_start[part] + lane, s.sparse_start[part + 1], wp.block_dim()):
                from_leaves(s, w, s.sparse_row[y], x)
            barrier()
        for level in range(s.nsparse_level):
            for y in range(s.sparse_start[2 * level] + lane, s.sparse_start[2 * level + 1], wp.block_dim()):
                from_root(s, w, s.sparse_row[y], x)
            barrier()

    return SimpleNamespace(factor=factor, positive=positive, solve=solve)
