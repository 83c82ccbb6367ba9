"""What the recursive algorithms share: the force of Newton and Euler that a body's motion needs, and sums over subtrees.

    f = m a_Bcm,   n = I alpha + omega x I omega       of each body, less the applied force, moved to the tree's point T

A struct that is passed here has the arrays below and `nlevel` (fields.py).
"""

from types import SimpleNamespace

import warp as wp

from sapsim.dynamics.levels import make_subtree_sums
from sapsim.math.spatial import make_spatial

ARRAYS = (
    "body_tree", "level_start", "level_body", "child_start", "child_body",
    "body_mass", "body_inertia", "p_WB", "p_WBcm", "R_WB", "V_WB", "A_WB", "F_applied", "p_WT", "F_T",
)  # fmt: skip


def make_newton_euler(R, struct):
    """wp.funcs body_force(s, w, b, A) -> vec6 at T, acceleration(s, w, b, dA_T) -> vec6 at Bo, and subtrees(s, w, lane)."""
    vec3, vec6 = R.vec3, R.vec6
    spatial = make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join

    @wp.func
    def body_force(s: struct, w: int, b: int, A: vec6) -> vec6:
        """The wrench that body b needs beside the applied force; A is its classical acceleration at Bo."""
        R_WB = s.R_WB[w, b]
        R_BW = wp.transpose(R_WB)
        omega = top(s.V_WB[w, b])
        alpha = top(A)
        p_WB = s.p_WB[w, b]
        p_WBcm = s.p_WBcm[w, b]
        p_BoBcm = p_WBcm - p_WB
        a_cm = bottom(A) + wp.cross(alpha, p_BoBcm) + wp.cross(omega, wp.cross(omega, p_BoBcm))
        f = s.body_mass[w, b] * a_cm
        omega_B = R_BW * omega
        I_B = s.body_inertia[w, b]
        n = R_WB * (I_B * (R_BW * alpha) + wp.cross(omega_B, I_B * omega_B))
        p_WT = s.p_WT[w, s.body_tree[b]]
        applied = s.F_applied[w, b]
        f_applied = bottom(applied)
        moment = wp.cross(p_WBcm - p_WT, f) - top(applied) - wp.cross(p_WB - p_WT, f_applied)
        return join(n + moment, f - f_applied)

    @wp.func
    def acceleration(s: struct, w: int, b: int, dA_T: vec6) -> vec6:
        """Classical acceleration at Bo, less gravity: that at zero joint acceleration and what joint accelerations add."""
        p_TB = s.p_WB[w, b] - s.p_WT[w, s.body_tree[b]]
        return s.A_WB[w, b] + join(top(dA_T), bottom(dA_T) + wp.cross(vec3(top(dA_T)), p_TB))

    sum_up = make_subtree_sums(struct, vec6)

    @wp.func
    def subtrees(s: struct, w: int, lane: int):
        """F_T of bodies becomes that of their subtrees."""
        sum_up(s, s.F_T, w, lane)

    return SimpleNamespace(body_force=body_force, acceleration=acceleration, subtrees=subtrees)
