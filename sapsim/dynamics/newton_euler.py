"""What the recursive algorithms share: the force of Newton and Euler that a body's motion needs, and padding.

    f = m a_Bcm,   n = I alpha + omega x I omega       of each body, less the applied force, moved to the tree's point T

A struct that is passed here has body_mass, body_com, body_inertia, p_WB, R_WB, V_WB, F_applied, p_WT (fields.py).
"""

from types import SimpleNamespace

import warp as wp

from sapsim.math.spatial import make_spatial

ARRAYS = ("body_mass", "body_com", "body_inertia", "p_WB", "R_WB", "V_WB", "A_WB", "F_applied", "p_WT")


def make_newton_euler(R, struct):
    """wp.funcs body_force(s, w, t, b, A) -> vec6 at T, and acceleration(s, w, t, b) -> vec6 at Bo."""
    mat33, vec6 = R.mat33, R.vec6
    spatial = make_spatial(R)
    top, bottom, join, rotate_inertia = spatial.top, spatial.bottom, spatial.join, spatial.rotate_inertia

    @wp.func
    def body_force(s: struct, w: int, t: int, b: int, A: vec6) -> vec6:
        """The wrench that body b of tree t needs beside the applied force; A is its classical acceleration at Bo."""
        R_WB = s.R_WB[w, b]
        omega = top(s.V_WB[w, b])
        alpha = top(A)
        p_BoBcm = R_WB * s.body_com[w, b]
        a_cm = bottom(A) + wp.cross(alpha, p_BoBcm) + wp.cross(omega, wp.cross(omega, p_BoBcm))
        I_W = mat33(rotate_inertia(R_WB, s.body_inertia[w, b]))
        f = s.body_mass[w, b] * a_cm
        n = I_W * alpha + wp.cross(omega, I_W * omega)
        p_TB = s.p_WB[w, b] - s.p_WT[w, t]
        applied = s.F_applied[w, b]
        f_applied = bottom(applied)
        return join(n + wp.cross(p_TB + p_BoBcm, f) - top(applied) - wp.cross(p_TB, f_applied), f - f_applied)

    @wp.func
    def acceleration(s: struct, w: int, t: int, b: int, dA_T: vec6) -> vec6:
        """Classical acceleration at Bo, less gravity: that at zero joint acceleration and what joint accelerations add."""
        p_TB = s.p_WB[w, b] - s.p_WT[w, t]
        return s.A_WB[w, b] + join(top(dA_T), bottom(dA_T) + wp.cross(top(dA_T), p_TB))

    return SimpleNamespace(body_force=body_force, acceleration=acceleration)
