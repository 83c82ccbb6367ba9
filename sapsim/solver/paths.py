"""Jacobians of points and of angular velocities along ancestor paths, as 3x3 blocks over degrees of freedom.

A contact, or an item of a tie, has one or two *sides*: the trees of its bodies.  Two bodies of one tree make one side over the
union of their paths, where shared ancestors cancel exactly.  Each has `slots` places for blocks, so that any lane can fill any.
"""

from types import SimpleNamespace

import warp as wp

ARRAYS = (
    "body_tree", "body_path_start", "body_path", "body_path_mask", "S_T", "p_WT", "contact_tree", "contact_entries", "J",
    "J_block",
)  # fmt: skip


def make_paths(R, struct):
    """wp.func sides(s, w, c, a, b, p_a, p_b, D, turns): fills the place c with J = D (J_b - J_a) of bodies a and b (-1: fixed).

    J_a is that of the point of a at p_a (world), or of a's angular velocity where `turns` is 1.
    """
    real, vec3, mat33 = R.t, R.vec3, R.mat33

    @wp.func
    def column(s: struct, w: int, k: int, moves: int, p_TC: vec3, turns: int) -> vec3:
        """Velocity of the point (or angular velocity) per unit velocity of degree of freedom k, world axes."""
        if moves == 0:
            return vec3(real(0.0))
        S = s.S_T[w, k]
        omega = vec3(S[0], S[1], S[2])
        if turns == 1:
            return omega
        return vec3(S[3], S[4], S[5]) + wp.cross(omega, p_TC)

    @wp.func
    def path_block(s: struct, w: int, path: int, p_TC: vec3, turns: int) -> mat33:
        """The same over the three degrees of freedom of one block on a body's path."""
        k = 3 * s.body_path[path]
        mask = s.body_path_mask[path]
        return wp.matrix_from_cols(
            column(s, w, k, mask & 1, p_TC, turns),
            column(s, w, k + 1, mask & 2, p_TC, turns),
            column(s, w, k + 2, mask & 4, p_TC, turns),
        )

    @wp.func
    def fill_side(s: struct, w: int, first: int, body: int, p: vec3, D: mat33, turns: int) -> int:
        """Blocks of one body's path, D carrying the side's sign; returns their number."""
        n = int(0)
        if body >= 0:
            p_TC = p - s.p_WT[w, s.body_tree[body]]
            for path in range(s.body_path_start[body], s.body_path_start[body + 1]):
                s.J[w, first + n] = D * path_block(s, w, path, p_TC, turns)
                s.J_block[w, first + n] = s.body_path[path]
                n += 1
        return n

    @wp.func
    def fill_union(s: struct, w: int, first: int, a: int, b: int, p_a: vec3, p_b: vec3, D: mat33, turns: int) -> int:
        """Blocks of the union of two paths in one tree; both path lists ascend."""
        p_WT = s.p_WT[w, s.body_tree[a]]
        i = s.body_path_start[a]
        j = s.body_path_start[b]
        n = int(0)
        while i < s.body_path_start[a + 1] or j < s.body_path_start[b + 1]:
            block_a = int(2147483647)
            block_b = int(2147483647)
            if i < s.body_path_start[a + 1]:
                block_a = s.body_path[i]
            if j < s.body_path_start[b + 1]:
                block_b = s.body_path[j]
            Jv = mat33(real(0.0))
            if block_b <= block_a:
                Jv = path_block(s, w, j, p_b - p_WT, turns)
                j += 1
            if block_a <= block_b:
                Jv = Jv - path_block(s, w, i, p_a - p_WT, turns)
                i += 1
            s.J[w, first + n] = D * Jv
            s.J_block[w, first + n] = wp.min(block_a, block_b)
            n += 1
        return n

    @wp.func
    def sides(s: struct, w: int, c: int, a: int, b: int, p_a: vec3, p_b: vec3, D: mat33, turns: int):
        first = c * s.slots
        tree_a = int(-1)
        tree_b = int(-1)
        if a >= 0:
            tree_a = s.body_tree[a]
        if b >= 0:
            tree_b = s.body_tree[b]
        if tree_a >= 0 and tree_a == tree_b:
            s.contact_tree[w, c] = wp.vec2i(tree_a, -1)
            s.contact_entries[w, c] = wp.vec2i(fill_union(s, w, first, a, b, p_a, p_b, D, turns), 0)
        else:
            n_a = fill_side(s, w, first, a, p_a, -D, turns)
            n_b = fill_side(s, w, first + n_a, b, p_b, D, turns)
            if n_a == 0:  # A is fixed in the world: its side is left out
                s.contact_tree[w, c] = wp.vec2i(tree_b, -1)
                s.contact_entries[w, c] = wp.vec2i(n_b, 0)
            else:
                s.contact_tree[w, c] = wp.vec2i(tree_a, tree_b)
                s.contact_entries[w, c] = wp.vec2i(n_a, n_b)

    return SimpleNamespace(sides=sides)
