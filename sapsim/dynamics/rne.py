"""Recursive Newton-Euler at zero joint acceleration: the generalized force of free motion.

Body forces (newton_euler.py) at the tree's point T are summed over subtrees (leaf to root; no shifts are needed because all
share T):

    tau_k = -S_T,k . F_T(subtree) + effort_k - damping_k v_k - stiffness_k (q_k - reference_k)

so that tau = applied + open-loop effort - bias - damping v0 - spring, the spring at the step's start; gravity comes in
through the base acceleration (Featherstone 2008, chapter 5).
Contact, limits and drives with gains are no part of tau.
"""

from functools import cache

import warp as wp

from sapsim.dynamics.newton_euler import ARRAYS as NEWTON_EULER
from sapsim.dynamics.newton_euler import make_newton_euler
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "tree_body_start", "tree_block_start", "dof_body", "body_parent", "body_q_start", "body_dof_start", "body_nv",
    "dof_damping", "dof_stiffness", "dof_reference", "dof_effort", *NEWTON_EULER, "S_T", "q", "v", "F_T", "tau",
)  # fmt: skip
SCALARS = (("ntree", "int"),)


@cache
def make(R) -> Stage:
    """The stage `rne`; writes F_T and tau."""
    real = R.t
    struct = make_struct("Rne", R, ARRAYS, SCALARS)
    body_force = make_newton_euler(R, struct).body_force

    @wp.func
    def rne(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            first = s.tree_body_start[t]
            last = s.tree_body_start[t + 1]
            for b in range(first, last):
                s.F_T[w, b] = body_force(s, w, t, b, s.A_WB[w, b])
            for j in range(last - first):
                b = last - 1 - j
                F = s.F_T[w, b]
                for i in range(s.body_nv[b]):
                    k = s.body_dof_start[b] + i
                    # stiffness is zero where coordinates and velocities do not match one to one
                    stretch = s.q[w, s.body_q_start[b] + i] - s.dof_reference[w, k]
                    spring = s.dof_stiffness[w, k] * stretch
                    tau = -wp.dot(s.S_T[w, k], F) - s.dof_damping[w, k] * s.v[w, k] - spring
                    s.tau[w, k] = tau + s.dof_effort[w, k]
                parent = s.body_parent[b]
                if parent >= 0:
                    s.F_T[w, parent] = s.F_T[w, parent] + F
            end = 3 * s.tree_block_start[t + 1]
            for k in range(end - 2, end):  # padding feels no force
                if s.dof_body[k] < 0:
                    s.tau[w, k] = real(0.0)

    return make_stage("rne", R, struct, rne, SCALARS)
