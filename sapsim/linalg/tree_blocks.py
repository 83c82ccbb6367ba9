"""A as stored: rows of 3x3 blocks along the paths of the tree of blocks (model/trees.py), lower half.

A struct that is passed here has A, A_row, block_parent, block_depth and block_last (fields.py).
"""

from types import SimpleNamespace

import warp as wp

ARRAYS = ("A", "A_row", "block_parent", "block_depth", "block_last")


def make_tree_blocks(R, struct):
    """wp.funcs block(s, w, r, c) -> A_rc for r >= c of one tree, and times(s, w, r, x) -> block row r of A x."""
    real, mat33 = R.t, R.mat33

    @wp.func
    def block(s: struct, w: int, r: int, c: int) -> mat33:
        """Zero between branches."""
        if r > s.block_last[c]:
            return mat33(real(0.0))
        return s.A[w, s.A_row[r] + s.block_depth[c]]

    return SimpleNamespace(block=block, times=make_times(R, struct, R.vec3))


def make_times(R, struct, x_vec3):
    """wp.func times(s, w, r, x) -> block row r of A x, summed in the bundle R; x holds x_vec3."""
    real, vec3, mat33 = R.t, R.vec3, R.mat33
    vectors = wp.array2d(dtype=x_vec3)

    @wp.func
    def times(s: struct, w: int, r: int, x: vectors) -> vec3:
        """The row itself, up its path, then the rows of the blocks below that hold its column."""
        depth = s.block_depth[r]
        row = s.A_row[r]
        y = vec3(real(0.0))
        c = r
        for i in range(depth + 1):
            y += mat33(s.A[w, row + depth - i]) * vec3(x[w, c])
            c = s.block_parent[c]
        for b in range(r + 1, s.block_last[r] + 1):
            y += wp.transpose(mat33(s.A[w, s.A_row[b] + depth])) * vec3(x[w, b])
        return y

    return times
