"""Kinematics: placements, twists, bias accelerations and the motion subspace, root to leaf (seed 000).

For body B on joint frame F of parent P, with r = p_WB - p_WP, everything in world axes and classical accelerations:

    X_WB = X_WP X_PF X_FM(q)
    omega_B = omega_P + omega_rel                   v_B = v_P + omega_P x r + v_rel,     [omega_rel; v_rel] = sum_k S_k qd_k
    alpha_B = alpha_P + omega_P x omega_rel + bias  a_B = a_P + alpha_P x r + omega_P x (omega_P x r) + 2 omega_P x v_rel + bias

The world accelerates with -g, which puts gravity into the bias once.  Afterwards S is shifted to the tree's mass centre T,
where twists and inertias of a tree add without shifts.  Bodies go level by level, all trees of a world together.
"""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import make_joints
from sapsim.math.block import barrier
from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

TOPOLOGY = (
    "tree_body_start", "body_parent", "body_tree", "body_joint", "body_q_start", "body_dof_start", "body_nv",
    "level_start", "level_body",
)  # fmt: skip
MODEL = ("body_p_PF", "body_Q_PF", "body_axis", "body_axis2", "body_mass", "body_com")
PLACEMENTS = ("q", "p_WB", "Q_WB", "R_WB", "p_WBcm", "p_WT", "S_T")
MOTION = ("v", "R_WF", "V_WB", "A_WB")
SCALARS = (("ntree", "int"), ("nbody", "int"), ("nlevel", "int"))


@cache
def make(R) -> Stage:
    """The stage `kinematics`; reads q and v, writes the data fields above."""
    return _make(R, moves=True)


@cache
def make_placements(R) -> Stage:
    """The stage `placements`: the same at rest, less twists and accelerations; reads q."""
    return _make(R, moves=False)


def _make(R, moves: bool) -> Stage:
    real, vec3, vec6 = R.t, R.vec3, R.vec6
    joints, spatial = make_joints(R), make_spatial(R)
    top, bottom, join, rotation = spatial.top, spatial.bottom, spatial.join, spatial.rotation
    arrays = TOPOLOGY + MODEL + PLACEMENTS + (("tree_gravity", *MOTION) if moves else ())
    struct = make_struct("Kinematics" if moves else "Placements", R, arrays, SCALARS)

    @wp.func
    def place(s: struct, w: int, b: int) -> vec6:
        """X_WB, the joint frame, the mass centre, and the columns of S at Bo; returns S v where that is wanted."""
        parent = s.body_parent[b]
        p_WF = s.body_p_PF[w, b]
        Q_WF = s.body_Q_PF[w, b]
        if parent >= 0:
            p_WF = s.p_WB[w, parent] + s.R_WB[w, parent] * p_WF
            Q_WF = s.Q_WB[w, parent] * Q_WF
        R_WF = rotation(Q_WF)
        kind = s.body_joint[b]
        iq = s.body_q_start[b]
        axis = s.body_axis[w, b]
        axis2 = s.body_axis2[w, b]
        p_FM, Q_FM = joints.X_FM(kind, axis, axis2, s.q, w, iq)
        p_WB = p_WF + R_WF * p_FM
        Q_WB = Q_WF * Q_FM
        # all factors have unit norm: what rounding has added is gone after one step of Newton's method
        Q_WB = (real(1.5) - real(0.5) * wp.dot(Q_WB, Q_WB)) * Q_WB
        R_WB = rotation(Q_WB)
        s.p_WB[w, b] = p_WB
        s.Q_WB[w, b] = Q_WB
        s.R_WB[w, b] = R_WB
        s.p_WBcm[w, b] = p_WB + R_WB * s.body_com[w, b]
        if wp.static(moves):
            s.R_WF[w, b] = R_WF
        first = s.body_dof_start[b]
        V_rel = vec6(real(0.0))
        for k in range(s.body_nv[b]):
            S = joints.S_W(kind, axis, axis2, R_WF, s.q, w, iq, k)
            s.S_T[w, first + k] = S
            if wp.static(moves):
                V_rel += S * s.v[w, first + k]
        return V_rel

    @wp.func
    def move(s: struct, w: int, b: int, V_rel: vec6):
        """V_WB and A_WB, once it is placed."""
        parent = s.body_parent[b]
        V_P = vec6(real(0.0))
        A_P = join(vec3(real(0.0)), -s.tree_gravity[w, s.body_tree[b]])
        r = s.p_WB[w, b]
        if parent >= 0:
            V_P = s.V_WB[w, parent]
            A_P = s.A_WB[w, parent]
            r = r - s.p_WB[w, parent]
        kind = s.body_joint[b]
        bias_F = joints.bias_F(kind, s.body_axis[w, b], s.body_axis2[w, b], s.q, s.v, w, s.body_q_start[b], s.body_dof_start[b])
        R_WF = s.R_WF[w, b]
        omega_P = top(V_P)
        omega_rel = top(V_rel)
        v_rel = bottom(V_rel)
        s.V_WB[w, b] = join(omega_P + omega_rel, bottom(V_P) + wp.cross(omega_P, r) + v_rel)
        alpha = top(A_P) + wp.cross(omega_P, omega_rel) + R_WF * top(bias_F)
        a = (
            bottom(A_P) + wp.cross(top(A_P), r) + wp.cross(omega_P, wp.cross(omega_P, r) + real(2.0) * v_rel)
            + R_WF * bottom(bias_F)
        )  # fmt: skip
        s.A_WB[w, b] = join(alpha, a)

    @wp.func
    def find_mass_centre(s: struct, w: int, t: int):
        first = s.tree_body_start[t]
        m = real(0.0)
        mp = vec3(real(0.0))
        for b in range(first, s.tree_body_start[t + 1]):
            m += s.body_mass[w, b]
            mp += s.body_mass[w, b] * s.p_WBcm[w, b]
        p_WT = s.p_WB[w, first]  # a tree with inertia but no mass
        if m > real(0.0):
            p_WT = mp / m
        s.p_WT[w, t] = p_WT

    @wp.func
    def shift(s: struct, w: int, b: int):
        """The columns of S, from the body's origin to T."""
        p_BT = s.p_WT[w, s.body_tree[b]] - s.p_WB[w, b]
        for k in range(s.body_dof_start[b], s.body_dof_start[b] + s.body_nv[b]):
            S = s.S_T[w, k]
            s.S_T[w, k] = join(top(S), bottom(S) + wp.cross(top(S), p_BT))

    @wp.func
    def kinematics(s: struct, w: int, lane: int):
        for level in range(s.nlevel):
            for i in range(s.level_start[level] + lane, s.level_start[level + 1], wp.block_dim()):
                b = s.level_body[i]
                V_rel = place(s, w, b)
                if wp.static(moves):
                    move(s, w, b, V_rel)
            barrier()
        for t in range(lane, s.ntree, wp.block_dim()):
            find_mass_centre(s, w, t)
        barrier()
        for b in range(lane, s.nbody, wp.block_dim()):
            shift(s, w, b)

    return make_stage("kinematics" if moves else "placements", R, struct, kinematics, SCALARS)
