"""Articulated-body algorithm: joint accelerations from forces, in three sweeps (Featherstone 2008, ch. 7; seed 001).

All of a tree is taken at its point T in world axes, where twists, forces and inertias add without shifts.  A body's
acceleration is split into that at zero joint acceleration, A_WB of the kinematics, which holds gravity and all terms of
velocity, and dA_T, what joint accelerations add; so p_A starts as the force of Newton and Euler at A_WB, and no bias
acceleration appears below.

    leaf to root, for the joint's degrees of freedom k from last to first:
        U = IA S_k     d = S_k . U + armature_k     u = tau_k - S_k . p_A     IA <- IA - U U' / d     p_A <- p_A + U u / d
    then IA and p_A are added to the parent's; root to leaf, k from first to last:
        vdot_k = (u - U . dA) / d      dA <- dA + S_k vdot_k

Degrees of freedom of one joint are eliminated one after another, as joints with massless bodies between them would be.  That
is the LDL' factorisation of the joint's block S' IA S + armature, exact for any number of them, with no matrix of varying
size. The inertia IA is kept in three 3x3 blocks: [n; f] = [ww wv; wv' vv] [alpha; a].  Where a pivot is not positive, what
comes out is not finite or not meaningful: the mass matrix is not positive definite.  Damping is no part of it.  Bodies go level
by level; a body gathers what its children have left.
"""

from functools import cache

import warp as wp

from sapsim.dynamics.newton_euler import ARRAYS as NEWTON_EULER
from sapsim.dynamics.newton_euler import make_newton_euler
from sapsim.math.block import barrier
from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "body_parent", "body_dof_start", "body_nv", "dof_armature",
    *NEWTON_EULER, "S_T", "tau_motion", "dA_T", "IA_ww", "IA_wv", "IA_vv", "U_T", "pivot", "vdot",
)  # fmt: skip
SCALARS = (("nbody", "int"), ("nlevel", "int"))


@cache
def make(R) -> Stage:
    """The stage `aba`; reads tau_motion, writes vdot and dA_T, and what it needs on the way."""
    real, vec2, vec3, vec6, mat33 = R.t, R.vec2, R.vec3, R.vec6, R.mat33
    spatial = make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join
    rotate_inertia, inertia_about = spatial.rotate_inertia, spatial.inertia_about
    struct = make_struct("Aba", R, ARRAYS, SCALARS)
    body_force = make_newton_euler(R, struct).body_force

    @wp.func
    def start(s: struct, w: int, b: int):
        """The body's own inertia at T, and the force that its motion at zero joint acceleration needs."""
        p_TBcm = s.p_WBcm[w, b] - s.p_WT[w, s.body_tree[b]]
        I = inertia_about(s.body_mass[w, b], p_TBcm, mat33(rotate_inertia(s.R_WB[w, b], s.body_inertia[w, b])))
        zero = real(0.0)
        s.IA_ww[w, b] = mat33(I[4], I[7], I[8], I[7], I[5], I[9], I[8], I[9], I[6])
        s.IA_wv[w, b] = mat33(zero, -I[3], I[2], I[3], zero, -I[1], -I[2], I[1], zero)
        s.IA_vv[w, b] = mat33(I[0], zero, zero, zero, I[0], zero, zero, zero, I[0])
        s.F_T[w, b] = body_force(s, w, b, s.A_WB[w, b])

    @wp.func
    def eliminate(s: struct, w: int, b: int):
        """Adds what the children left to IA and p_A and takes the joint's degrees of freedom out of them."""
        ww = s.IA_ww[w, b]
        wv = s.IA_wv[w, b]
        vv = s.IA_vv[w, b]
        p = s.F_T[w, b]
        for x in range(s.child_start[b], s.child_start[b + 1]):
            c = s.child_body[x]
            ww = ww + s.IA_ww[w, c]
            wv = wv + s.IA_wv[w, c]
            vv = vv + s.IA_vv[w, c]
            p += s.F_T[w, c]
        first = s.body_dof_start[b]
        n = s.body_nv[b]
        for i in range(n):
            k = first + n - 1 - i
            S = s.S_T[w, k]
            omega = top(S)
            v = bottom(S)
            U_w = vec3(ww * omega + wv * v)
            U_v = vec3(wp.transpose(wv) * omega + vv * v)
            d_inverse = real(1.0) / (wp.dot(omega, U_w) + wp.dot(v, U_v) + s.dof_armature[w, k])
            u = s.tau_motion[w, k] - wp.dot(S, p)
            ww = ww - wp.outer(d_inverse * U_w, U_w)
            wv = wv - wp.outer(d_inverse * U_w, U_v)
            vv = vv - wp.outer(d_inverse * U_v, U_v)
            U = join(U_w, U_v)
            p = p + U * (u * d_inverse)
            s.U_T[w, k] = U
            s.pivot[w, k] = vec2(d_inverse, u)
        s.IA_ww[w, b] = ww
        s.IA_wv[w, b] = wv
        s.IA_vv[w, b] = vv
        s.F_T[w, b] = p

    @wp.func
    def accelerate(s: struct, w: int, b: int):
        dA = vec6(real(0.0))
        if s.body_parent[b] >= 0:
            dA = s.dA_T[w, s.body_parent[b]]
        for k in range(s.body_dof_start[b], s.body_dof_start[b] + s.body_nv[b]):
            pivot = s.pivot[w, k]
            a = (pivot[1] - wp.dot(s.U_T[w, k], dA)) * pivot[0]
            s.vdot[w, k] = a
            dA += s.S_T[w, k] * a
        s.dA_T[w, b] = dA

    @wp.func
    def aba(s: struct, w: int, lane: int):
        for b in range(lane, s.nbody, wp.block_dim()):
            start(s, w, b)
        barrier()
        for i in range(s.nlevel):
            level = s.nlevel - 1 - i
            for x in range(s.level_start[level] + lane, s.level_start[level + 1], wp.block_dim()):
                eliminate(s, w, s.level_body[x])
            barrier()
        for level in range(s.nlevel):
            for x in range(s.level_start[level] + lane, s.level_start[level + 1], wp.block_dim()):
                accelerate(s, w, s.level_body[x])
            barrier()

    return make_stage("aba", R, struct, aba, SCALARS)
