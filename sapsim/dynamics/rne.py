"""Recursive Newton-Euler at zero joint acceleration: the generalized force of free motion.

With f = m a_Bcm and n = I alpha + omega x I omega of each body, less the applied force, moved to the tree's point T and summed
over subtrees (leaf to root; no shifts are needed because all share T):

    tau_k = -S_T,k . F_T(subtree) - damping_k v_k

so that tau = applied - bias - damping v0, gravity included through the base acceleration (Featherstone 2008, chapter 5).
Contact, limits and drives are no part of tau.
"""

from functools import cache

import warp as wp

from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "tree_body_start", "tree_block_start", "dof_body", "body_parent", "body_dof_start", "body_nv",
    "body_mass", "body_com", "body_inertia",
    "dof_damping", "p_WB", "R_WB", "V_WB", "A_WB", "F_applied", "p_WT", "S_T", "v", "F_T", "tau",
)  # fmt: skip
SCALARS = (("ntree", "int"),)


@cache
def make(R) -> Stage:
    """The stage `rne`; writes F_T and tau."""
    real, mat33, vec6 = R.t, R.mat33, R.vec6
    spatial = make_spatial(R)
    top, bottom, join, rotate_inertia = spatial.top, spatial.bottom, spatial.join, spatial.rotate_inertia
    struct = make_struct("Rne", R, ARRAYS, SCALARS)

    @wp.func
    def body_force(s: struct, w: int, t: int, b: int) -> vec6:
        R_WB = s.R_WB[w, b]
        omega = top(s.V_WB[w, b])
        alpha = top(s.A_WB[w, b])
        p_BoBcm = R_WB * s.body_com[w, b]
        a_cm = bottom(s.A_WB[w, b]) + wp.cross(alpha, p_BoBcm) + wp.cross(omega, wp.cross(omega, p_BoBcm))
        I_W = mat33(rotate_inertia(R_WB, s.body_inertia[w, b]))
        f = s.body_mass[w, b] * a_cm
        n = I_W * alpha + wp.cross(omega, I_W * omega)
        p_TB = s.p_WB[w, b] - s.p_WT[w, t]
        applied = s.F_applied[w, b]
        f_applied = bottom(applied)
        return join(n + wp.cross(p_TB + p_BoBcm, f) - top(applied) - wp.cross(p_TB, f_applied), f - f_applied)

    @wp.func
    def rne(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            first = s.tree_body_start[t]
            last = s.tree_body_start[t + 1]
            for b in range(first, last):
                s.F_T[w, b] = body_force(s, w, t, b)
            for i in range(last - first):
                b = last - 1 - i
                F = s.F_T[w, b]
                for k in range(s.body_dof_start[b], s.body_dof_start[b] + s.body_nv[b]):
                    s.tau[w, k] = -wp.dot(s.S_T[w, k], F) - s.dof_damping[w, k] * s.v[w, k]
                parent = s.body_parent[b]
                if parent >= 0:
                    s.F_T[w, parent] = s.F_T[w, parent] + F
            end = 3 * s.tree_block_start[t + 1]
            for k in range(end - 2, end):  # padding feels no force
                if s.dof_body[k] < 0:
                    s.tau[w, k] = real(0.0)

    return make_stage("rne", R, struct, rne, SCALARS)
