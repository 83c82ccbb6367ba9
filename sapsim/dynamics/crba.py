"""Composite rigid body algorithm at the tree's mass centre: A = M + armature + h damping (seed 000).

    I_T(composite) = sum over the subtree,   F_i = I_T(body of i) S_i,   M_ij = S_j . F_i  for j an ancestor of i or i itself

A is stored as lower 3x3 blocks along the paths of the tree of blocks (model/trees.py); what of a block is between branches is
zero, padded degrees of freedom have a unit diagonal.  `dinv` = 1 / diag(A) scales the solver's norms and the Delassus estimate.
Composite inertias are gathered level by level; a lane owns block rows of A.
"""

from functools import cache

import warp as wp

from sapsim.dynamics.levels import make_subtree_sums
from sapsim.math.block import barrier
from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "level_start", "level_body", "child_start", "child_body", "body_tree", "dof_body",
    "block_parent", "block_depth", "A_row", "A_mask",
    "body_mass", "body_inertia", "dof_armature", "dof_damping",
    "p_WBcm", "R_WB", "p_WT", "S_T", "I_T", "A", "dinv",
)  # fmt: skip
SCALARS = (("nbody", "int"), ("nblock", "int"), ("nlevel", "int"), ("h", "real"))
FULL = 0b111111111  # the mask of a block without structural zeros


@cache
def make(R) -> Stage:
    """The stage `crba`; writes I_T, A and dinv."""
    real, vec3, vec6, mat33 = R.t, R.vec3, R.vec6, R.mat33
    spatial = make_spatial(R)
    rotate_inertia, inertia_about, inertia_times = (
        spatial.rotate_inertia, spatial.inertia_about, spatial.inertia_times,
    )  # fmt: skip
    struct = make_struct("Crba", R, ARRAYS, SCALARS)
    composites = make_subtree_sums(struct, R.vec10)

    @wp.func
    def own_inertia(s: struct, w: int, b: int):
        p_TBcm = s.p_WBcm[w, b] - s.p_WT[w, s.body_tree[b]]
        s.I_T[w, b] = inertia_about(s.body_mass[w, b], p_TBcm, mat33(rotate_inertia(s.R_WB[w, b], s.body_inertia[w, b])))

    @wp.func
    def row_force(s: struct, w: int, i: int) -> vec6:
        """F_i, zero in padding."""
        b = s.dof_body[i]
        if b < 0:
            return vec6(real(0.0))
        return inertia_times(s.I_T[w, b], s.S_T[w, i])

    @wp.func
    def kept(mask: int, n: int, value: real) -> real:
        """The n-th entry of a block, unless it is a structural zero."""
        if (mask & (1 << n)) == 0:
            return real(0.0)
        return value

    @wp.func
    def products(s: struct, w: int, j: int, mask: int, F0: vec6, F1: vec6, F2: vec6) -> mat33:
        """The block of rows F and the columns j, j + 1, j + 2."""
        S0 = s.S_T[w, j]
        S1 = s.S_T[w, j + 1]
        S2 = s.S_T[w, j + 2]
        B = mat33(
            wp.dot(S0, F0), wp.dot(S1, F0), wp.dot(S2, F0), wp.dot(S0, F1), wp.dot(S1, F1), wp.dot(S2, F1),
            wp.dot(S0, F2), wp.dot(S1, F2), wp.dot(S2, F2),
        )  # fmt: skip
        if mask == wp.static(FULL):
            return B
        return mat33(
            kept(mask, 0, B[0, 0]), kept(mask, 1, B[0, 1]), kept(mask, 2, B[0, 2]),
            kept(mask, 3, B[1, 0]), kept(mask, 4, B[1, 1]), kept(mask, 5, B[1, 2]),
            kept(mask, 6, B[2, 0]), kept(mask, 7, B[2, 1]), kept(mask, 8, B[2, 2]),
        )  # fmt: skip

    @wp.func
    def added(s: struct, w: int, i: int) -> real:
        """What the diagonal carries beside M."""
        if s.dof_body[i] < 0:
            return real(1.0)
        return s.dof_armature[w, i] + s.h * s.dof_damping[w, i]

    @wp.func
    def inverted(s: struct, i: int, a: real) -> real:
        if s.dof_body[i] < 0:
            return real(0.0)
        return real(1.0) / a

    @wp.func
    def block_row(s: struct, w: int, r: int):
        """The row of block r, from the diagonal up its path."""
        i = 3 * r
        F0 = row_force(s, w, i)
        F1 = row_force(s, w, i + 1)
        F2 = row_force(s, w, i + 2)
        at = s.A_row[r] + s.block_depth[r]
        D = products(s, w, i, s.A_mask[at], F0, F1, F2)
        a00 = D[0, 0] + added(s, w, i)
        a11 = D[1, 1] + added(s, w, i + 1)
        a22 = D[2, 2] + added(s, w, i + 2)
        s.A[w, at] = mat33(a00, D[1, 0], D[2, 0], D[1, 0], a11, D[2, 1], D[2, 0], D[2, 1], a22)
        s.dinv[w, r] = vec3(inverted(s, i, a00), inverted(s, i + 1, a11), inverted(s, i + 2, a22))
        c = s.block_parent[r]
        while c >= 0:
            at -= 1
            s.A[w, at] = products(s, w, 3 * c, s.A_mask[at], F0, F1, F2)
            c = s.block_parent[c]

    @wp.func
    def crba(s: struct, w: int, lane: int):
        for b in range(lane, s.nbody, wp.block_dim()):
            own_inertia(s, w, b)
        barrier()
        composites(s, s.I_T, w, lane)  # I_T of bodies becomes that of their subtrees
        for r in range(lane, s.nblock, wp.block_dim()):
            block_row(s, w, r)

    return make_stage("crba", R, struct, crba, SCALARS)
