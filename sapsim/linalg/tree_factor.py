"""The factor of A tree by tree, dense or sparse as model/trees.py chose at build, and solves with it.

Dense: L L' (tree_cholesky.py), small trees by a lane each, larger ones by all lanes one after another.  Sparse: L'DL
(tree_ldlt.py), all trees level by level.  Both say the same where A is not positive definite: free_status 1, and a factor that
is not usable.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.tree_blocks import ARRAYS as BLOCKS
from sapsim.linalg.tree_cholesky import make_tree_cholesky
from sapsim.linalg.tree_ldlt import make_tree_ldlt

ARRAYS = (
    "tree_block_start", "factor_tree", "L_row", "L_diagonal", "sparse_start", "sparse_row", "sparse_place",
    *BLOCKS, "L", "solve_b", "free_status",
)  # fmt: skip
SCALARS = (("ntree", "int"), ("nsmall", "int"), ("ndense", "int"), ("nsparse_level", "int"))


def make_tree_factor(R, struct):
    """wp.funcs factor(s, w, lane): writes L and free_status; solve(s, w, lane, x): x <- A^-1 x.

    What they need must stand behind a barrier, and so what they write.
    """
    dense, sparse = make_tree_cholesky(R, struct), make_tree_ldlt(R, struct)
    vectors = wp.array2d(dtype=R.vec3)

    @wp.func
    def tell(s: struct, w: int, t: int, positive: bool):
        s.free_status[w, t] = 0
        if not positive:
            s.free_status[w, t] = 1

    @wp.func
    def factor(s: struct, w: int, lane: int):
        for i in range(lane, s.nsmall, wp.block_dim()):
            t = s.factor_tree[i]
            tell(s, w, t, dense.factor_small(s, w, t))
        for i in range(s.nsmall, s.ndense):
            positive = dense.factor(s, w, lane, s.factor_tree[i])
            if lane == 0:
                tell(s, w, s.factor_tree[i], positive)
        if s.nsparse_level > 0:
            sparse.factor(s, w, lane)
            for i in range(s.ndense + lane, s.ntree, wp.block_dim()):
                tell(s, w, s.factor_tree[i], sparse.positive(s, w, s.factor_tree[i]))

    @wp.func
    def solve(s: struct, w: int, lane: int, x: vectors):
        for i in range(lane, s.nsmall, wp.block_dim()):
            dense.solve_small(s, w, s.factor_tree[i], x)
        for i in range(s.nsmall, s.ndense):
            dense.solve(s, w, lane, s.factor_tree[i], x)
        if s.nsparse_level > 0:
            sparse.solve(s, w, lane, x)

    return SimpleNamespace(factor=factor, solve=solve)
