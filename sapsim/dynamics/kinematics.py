"""Kinematics: placements, twists, bias accelerations and the motion subspace, root to leaf (seed 000).

For body B on joint frame F of parent P, with r = p_WB - p_WP, everything in world axes and classical accelerations:

    X_WB = X_WP X_PF X_FM(q)
    omega_B = omega_P + omega_rel                   v_B = v_P + omega_P x r + v_rel,     [omega_rel; v_rel] = sum_k S_k qd_k
    alpha_B = alpha_P + omega_P x omega_rel + bias  a_B = a_P + alpha_P x r + omega_P x (omega_P x r) + 2 omega_P x v_rel + bias

The world accelerates with -g, which puts gravity into the bias once.  Afterwards S is shifted to the tree's mass centre T,
where twists and inertias of a tree add without shifts.  A lane owns whole trees.
"""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import make_joints
from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

TOPOLOGY = (
    "tree_body_start", "body_parent", "body_joint", "body_q_start", "body_dof_start", "body_nv",
)  # fmt: skip
MODEL = ("body_p_PF", "body_Q_PF", "body_axis", "body_axis2", "body_mass", "body_com", "tree_gravity")
DATA = ("q", "v", "p_WB", "Q_WB", "R_WB", "V_WB", "A_WB", "R_WF", "p_WT", "S_T")


@cache
def make(R) -> Stage:
    """The stage `kinematics`; reads q and v, writes the data fields above."""
    real, vec3, vec6, quat = R.t, R.vec3, R.vec6, R.quat
    joints, spatial = make_joints(R), make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join
    struct = make_struct("Kinematics", R, TOPOLOGY + MODEL + DATA, (("ntree", "int"),))

    @wp.func
    def relative_twist(s: struct, w: int, b: int) -> vec6:
        """Writes the columns of S at Bo and returns S qd."""
        V = vec6(real(0.0))
        for k in range(s.body_nv[b]):
            S = joints.S_W(s.body_joint[b], s.body_axis[w, b], s.body_axis2[w, b], s.R_WF[w, b], s.q, w, s.body_q_start[b], k)
            s.S_T[w, s.body_dof_start[b] + k] = S
            V += S * s.v[w, s.body_dof_start[b] + k]
        return V

    @wp.func
    def update_body(s: struct, w: int, t: int, b: int):
        parent = s.body_parent[b]
        p_WP = vec3(real(0.0))
        Q_WP = quat(real(0.0), real(0.0), real(0.0), real(1.0))
        V_P = vec6(real(0.0))
        A_P = join(vec3(real(0.0)), -s.tree_gravity[w, t])
        if parent >= 0:
            p_WP = s.p_WB[w, parent]
            Q_WP = s.Q_WB[w, parent]
            V_P = s.V_WB[w, parent]
            A_P = s.A_WB[w, parent]
        Q_WF = Q_WP * s.body_Q_PF[w, b]
        R_WF = wp.quat_to_matrix(Q_WF)
        s.R_WF[w, b] = R_WF
        kind = s.body_joint[b]
        iq = s.body_q_start[b]
        axis = s.body_axis[w, b]
        axis2 = s.body_axis2[w, b]
        p_FM, Q_FM = joints.X_FM(kind, axis, axis2, s.q, w, iq)
        p_WB = p_WP + wp.quat_rotate(Q_WP, s.body_p_PF[w, b]) + R_WF * p_FM
        Q_WB = wp.normalize(Q_WF * Q_FM)
        s.p_WB[w, b] = p_WB
        s.Q_WB[w, b] = Q_WB
        s.R_WB[w, b] = wp.quat_to_matrix(Q_WB)
        V_rel = relative_twist(s, w, b)
        bias_F = joints.bias_F(kind, axis, axis2, s.q, s.v, w, iq, s.body_dof_start[b])
        r = p_WB - p_WP
        omega_P = top(V_P)
        v_rel = bottom(V_rel)
        s.V_WB[w, b] = join(omega_P + top(V_rel), bottom(V_P) + wp.cross(omega_P, r) + v_rel)
        alpha = top(A_P) + wp.cross(omega_P, top(V_rel)) + R_WF * top(bias_F)
        a = (
            bottom(A_P) + wp.cross(top(A_P), r) + wp.cross(omega_P, wp.cross(omega_P, r) + real(2.0) * v_rel)
            + R_WF * bottom(bias_F)
        )  # fmt: skip
        s.A_WB[w, b] = join(alpha, a)

    @wp.func
    def shift_to_mass_centre(s: struct, w: int, t: int):
        first = s.tree_body_start[t]
        last = s.tree_body_start[t + 1]
        m = real(0.0)
        mp = vec3(real(0.0))
        for b in range(first, last):
            m += s.body_mass[w, b]
            mp += s.body_mass[w, b] * (s.p_WB[w, b] + s.R_WB[w, b] * s.body_com[w, b])
        p_WT = s.p_WB[w, first]  # a tree with inertia but no mass
        if m > real(0.0):
            p_WT = mp / m
        s.p_WT[w, t] = p_WT
        for b in range(first, last):
            p_BT = p_WT - s.p_WB[w, b]
            for k in range(s.body_dof_start[b], s.body_dof_start[b] + s.body_nv[b]):
                S = s.S_T[w, k]
                s.S_T[w, k] = join(top(S), bottom(S) + wp.cross(top(S), p_BT))

    @wp.func
    def kinematics(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            for b in range(s.tree_body_start[t], s.tree_body_start[t + 1]):
                update_body(s, w, t, b)
            shift_to_mass_centre(s, w, t)

    return make_stage("kinematics", R, struct, kinematics, (("ntree", "int"),))
