"""Contact frames and Jacobians by ancestor path.

    C frame: z = n from A to B, x and y from n alone (sap_formulas 2.2), so v_n > 0 separates
    J = R_WC' (Jv_B - Jv_A) at the contact point, as 3x3 blocks over the blocks of degrees of freedom on the ancestor paths

A contact has one or two sides: the trees of its bodies.  Two bodies of one tree make one side over the union of their paths,
where shared ancestors cancel exactly.  Every contact has `slots` places for blocks, so that any lane can fill any contact.
"""

from functools import cache

import warp as wp

from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "pair_a", "pair_b", "shape_body", "body_tree", "body_path_start", "body_path", "body_path_mask",
    "S_T", "p_WT", "ncontact", "contact_pair", "contact_p", "contact_n",
    "contact_tree", "contact_entries", "contact_R_WC", "J", "J_block",
)  # fmt: skip
SCALARS = (("slots", "int"),)


@cache
def make(R) -> Stage:
    """The stage `jacobian`; writes contact_tree, contact_entries, contact_R_WC, J and J_block."""
    real, vec3, mat33 = R.t, R.vec3, R.mat33
    struct = make_struct("Jacobian", R, ARRAYS, SCALARS)

    @wp.func
    def frame(n: vec3) -> mat33:
        """R_WC, columns x, y, z = n."""
        i = int(0)
        if wp.abs(n[1]) < wp.abs(n[0]):
            i = 1
        if wp.abs(n[2]) < wp.abs(n[i]):
            i = 2
        u_i = n[i]
        u_j = n[(i + 1) % 3]
        u_k = n[(i + 2) % 3]
        mag = wp.sqrt(real(1.0) - u_i * u_i)
        r = real(1.0) / mag
        zero = real(0.0)
        x_j = -r * u_k
        x_k = r * u_j
        y_j = -r * u_i * u_j
        y_k = -r * u_i * u_k
        if i == 0:
            return mat33(zero, mag, n[0], x_j, y_j, n[1], x_k, y_k, n[2])
        if i == 1:
            return mat33(x_k, y_k, n[0], zero, mag, n[1], x_j, y_j, n[2])
        return mat33(x_j, y_j, n[0], x_k, y_k, n[1], zero, mag, n[2])

    @wp.func
    def column(s: struct, w: int, k: int, moves: int, p_TC: vec3) -> vec3:
        """Velocity of the contact point per unit velocity of degree of freedom k, world axes."""
        if moves == 0:
            return vec3(real(0.0))
        S = s.S_T[w, k]
        return vec3(S[3], S[4], S[5]) + wp.cross(vec3(S[0], S[1], S[2]), p_TC)

    @wp.func
    def point_block(s: struct, w: int, path: int, p_TC: vec3) -> mat33:
        """Jv over the three degrees of freedom of one block on a body's path, world axes."""
        k = 3 * s.body_path[path]
        mask = s.body_path_mask[path]
        return wp.matrix_from_cols(
            column(s, w, k, mask & 1, p_TC), column(s, w, k + 1, mask & 2, p_TC), column(s, w, k + 2, mask & 4, p_TC)
        )

    @wp.func
    def fill_side(s: struct, w: int, first: int, body: int, p: vec3, R_CW: mat33) -> int:
        """Blocks of one body's path, R_CW carrying the side's sign; returns their number."""
        n = int(0)
        if body >= 0:
            p_TC = p - s.p_WT[w, s.body_tree[body]]
            for path in range(s.body_path_start[body], s.body_path_start[body + 1]):
                s.J[w, first + n] = R_CW * point_block(s, w, path, p_TC)
                s.J_block[w, first + n] = s.body_path[path]
                n += 1
        return n

    @wp.func
    def fill_union(s: struct, w: int, first: int, a: int, b: int, p: vec3, R_CW: mat33) -> int:
        """Blocks of the union of two paths in one tree; both path lists ascend."""
        p_TC = p - s.p_WT[w, s.body_tree[a]]
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
                Jv = point_block(s, w, j, p_TC)
                j += 1
            if block_a <= block_b:
                Jv = Jv - point_block(s, w, i, p_TC)
                i += 1
            s.J[w, first + n] = R_CW * Jv
            s.J_block[w, first + n] = wp.min(block_a, block_b)
            n += 1
        return n

    @wp.func
    def jacobian(s: struct, w: int, lane: int):
        for c in range(lane, s.ncontact[w], wp.block_dim()):
            pair = s.contact_pair[w, c]
            a = s.shape_body[s.pair_a[pair]]
            b = s.shape_body[s.pair_b[pair]]
            R_WC = frame(s.contact_n[w, c])
            R_CW = wp.transpose(R_WC)
            s.contact_R_WC[w, c] = R_WC
            p = s.contact_p[w, c]
            first = c * s.slots
            tree_a = int(-1)
            tree_b = int(-1)
            if a >= 0:
                tree_a = s.body_tree[a]
            if b >= 0:
                tree_b = s.body_tree[b]
            if tree_a >= 0 and tree_a == tree_b:
                s.contact_tree[w, c] = wp.vec2i(tree_a, -1)
                s.contact_entries[w, c] = wp.vec2i(fill_union(s, w, first, a, b, p, R_CW), 0)
            else:
                n_a = fill_side(s, w, first, a, p, -R_CW)
                n_b = fill_side(s, w, first + n_a, b, p, R_CW)
                if n_a == 0:  # A is fixed in the world: its side is left out
                    s.contact_tree[w, c] = wp.vec2i(tree_b, -1)
                    s.contact_entries[w, c] = wp.vec2i(n_b, 0)
                else:
                    s.contact_tree[w, c] = wp.vec2i(tree_a, tree_b)
                    s.contact_entries[w, c] = wp.vec2i(n_a, n_b)

    return make_stage("jacobian", R, struct, jacobian, SCALARS)
