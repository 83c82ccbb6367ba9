"""Composite rigid body algorithm at the tree's mass centre: A = M + armature + h damping (seed 000).

    I_T(composite) = sum over the subtree,   F_i = I_T(body of i) S_i,   M_ij = S_j . F_i  for j an ancestor of i or i itself

A is stored as lower 3x3 blocks per tree; entries between different branches are zero, padded degrees of freedom have a unit
diagonal.  `dinv` = 1 / diag(A) scales the solver's norms and the Delassus estimate.
"""

from functools import cache

import warp as wp

from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "tree_body_start", "tree_block_start", "tree_A_start", "body_parent", "body_last", "dof_body",
    "body_mass", "body_com", "body_inertia", "dof_armature", "dof_damping",
    "p_WB", "R_WB", "p_WT", "S_T", "I_T", "A", "dinv",
)  # fmt: skip
SCALARS = (("ntree", "int"), ("h", "real"))


@cache
def make(R) -> Stage:
    """The stage `crba`; writes I_T, A and dinv."""
    real, vec3, vec6, mat33 = R.t, R.vec3, R.vec6, R.mat33
    spatial = make_spatial(R)
    rotate_inertia, inertia_about, inertia_times = (
        spatial.rotate_inertia, spatial.inertia_about, spatial.inertia_times,
    )  # fmt: skip
    struct = make_struct("Crba", R, ARRAYS, SCALARS)

    @wp.func
    def composite(s: struct, w: int, t: int):
        first = s.tree_body_start[t]
        last = s.tree_body_start[t + 1]
        for b in range(first, last):
            R_WB = s.R_WB[w, b]
            p_TBcm = s.p_WB[w, b] + R_WB * s.body_com[w, b] - s.p_WT[w, t]
            s.I_T[w, b] = inertia_about(s.body_mass[w, b], p_TBcm, mat33(rotate_inertia(R_WB, s.body_inertia[w, b])))
        for i in range(last - first):
            b = last - 1 - i
            parent = s.body_parent[b]
            if parent >= 0:
                s.I_T[w, parent] = s.I_T[w, parent] + s.I_T[w, b]

    @wp.func
    def row_force(s: struct, w: int, i: int) -> vec6:
        """F_i, zero in padding."""
        b = s.dof_body[i]
        if b < 0:
            return vec6(real(0.0))
        return inertia_times(s.I_T[w, b], s.S_T[w, i])

    @wp.func
    def entry(s: struct, w: int, i: int, j: int, F_i: vec6) -> real:
        """M_ij, i >= j: zero where the body of i is not in the subtree of j's."""
        bi = s.dof_body[i]
        bj = s.dof_body[j]
        if bi < bj or bj < 0:
            return real(0.0)
        if bi > s.body_last[bj]:
            return real(0.0)
        return wp.dot(s.S_T[w, j], F_i)

    @wp.func
    def added(s: struct, w: int, i: int) -> real:
        """What the diagonal carries beside M."""
        if s.dof_body[i] < 0:
            return real(1.0)
        return s.dof_armature[w, i] + s.h * s.dof_damping[w, i]

    @wp.func
    def block_row(s: struct, w: int, t: int, r: int):
        first = s.tree_block_start[t]
        i = 3 * (first + r)
        F0 = row_force(s, w, i)
        F1 = row_force(s, w, i + 1)
        F2 = row_force(s, w, i + 2)
        at = s.tree_A_start[t] + (r * (r + 1)) // 2
        for c in range(r):
            j = 3 * (first + c)
            s.A[w, at + c] = mat33(
                entry(s, w, i, j, F0), entry(s, w, i, j + 1, F0), entry(s, w, i, j + 2, F0),
                entry(s, w, i + 1, j, F1), entry(s, w, i + 1, j + 1, F1), entry(s, w, i + 1, j + 2, F1),
                entry(s, w, i + 2, j, F2), entry(s, w, i + 2, j + 1, F2), entry(s, w, i + 2, j + 2, F2),
            )  # fmt: skip
        a00 = entry(s, w, i, i, F0) + added(s, w, i)
        a11 = entry(s, w, i + 1, i + 1, F1) + added(s, w, i + 1)
        a22 = entry(s, w, i + 2, i + 2, F2) + added(s, w, i + 2)
        a10 = entry(s, w, i + 1, i, F1)
        a20 = entry(s, w, i + 2, i, F2)
        a21 = entry(s, w, i + 2, i + 1, F2)
        s.A[w, at + r] = mat33(a00, a10, a20, a10, a11, a21, a20, a21, a22)
        d = vec3(real(1.0) / a00, real(1.0) / a11, real(1.0) / a22)
        for k in range(3):
            if s.dof_body[i + k] < 0:
                d[k] = real(0.0)
        s.dinv[w, first + r] = d

    @wp.func
    def crba(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            composite(s, w, t)
            for r in range(s.tree_block_start[t + 1] - s.tree_block_start[t]):
                block_row(s, w, t, r)

    return make_stage("crba", R, struct, crba, SCALARS)
