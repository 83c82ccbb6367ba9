"""Inverse dynamics: the generalized force of a motion, by recursive Newton-Euler with joint accelerations (seed 001).

Joint accelerations add dA_T = sum over the body's path of S_T,k vdot_k to its acceleration at zero joint acceleration, all at
the tree's point T, where twists add without shifts.  Body forces are then summed leaf to root:

    tau_k = S_T,k . F_T(subtree) + armature_k vdot_k  =  M vdot + h(q, v) - sum of J' f_applied

Gravity comes with the base acceleration, once.  Damping, contact, limits and drives are no part of it.  A lane owns whole
trees.
"""

from functools import cache

import warp as wp

from sapsim.dynamics.newton_euler import ARRAYS as NEWTON_EULER
from sapsim.dynamics.newton_euler import make_newton_euler
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "tree_body_start", "body_parent", "body_dof_start", "body_nv", "dof_armature",
    *NEWTON_EULER, "S_T", "vdot", "dA_T", "F_T", "tau_motion",
)  # fmt: skip
SCALARS = (("ntree", "int"),)


@cache
def make(R) -> Stage:
    """The stage `inverse`; reads vdot, writes dA_T, F_T and tau_motion."""
    real, vec6 = R.t, R.vec6
    struct = make_struct("Inverse", R, ARRAYS, SCALARS)
    newton_euler = make_newton_euler(R, struct)
    body_force, acceleration = newton_euler.body_force, newton_euler.acceleration

    @wp.func
    def forward(s: struct, w: int, t: int, b: int):
        """Accelerations and body forces, root to leaf."""
        dA = vec6(real(0.0))
        if s.body_parent[b] >= 0:
            dA = s.dA_T[w, s.body_parent[b]]
        for k in range(s.body_dof_start[b], s.body_dof_start[b] + s.body_nv[b]):
            dA += s.S_T[w, k] * s.vdot[w, k]
        s.dA_T[w, b] = dA
        s.F_T[w, b] = body_force(s, w, t, b, vec6(acceleration(s, w, t, b, dA)))

    @wp.func
    def backward(s: struct, w: int, b: int):
        """Forces of the subtree on the joint's axes, leaf to root."""
        F = s.F_T[w, b]
        for k in range(s.body_dof_start[b], s.body_dof_start[b] + s.body_nv[b]):
            s.tau_motion[w, k] = wp.dot(s.S_T[w, k], F) + s.dof_armature[w, k] * s.vdot[w, k]
        parent = s.body_parent[b]
        if parent >= 0:
            s.F_T[w, parent] = s.F_T[w, parent] + F

    @wp.func
    def inverse(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            first = s.tree_body_start[t]
            last = s.tree_body_start[t + 1]
            for b in range(first, last):
                forward(s, w, t, b)
            for i in range(last - first):
                backward(s, w, last - 1 - i)

    return make_stage("inverse", R, struct, inverse, SCALARS)
