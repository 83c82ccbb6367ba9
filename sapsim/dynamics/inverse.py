"""Inverse dynamics: the generalized force of a motion, by recursive Newton-Euler with joint accelerations (seed 001).

Joint accelerations add dA_T = sum over the body's path of S_T,k vdot_k to its acceleration at zero joint acceleration, all at
the tree's point T, where twists add without shifts.  Body forces are then summed leaf to root:

    tau_k = S_T,k . F_T(subtree) + armature_k vdot_k  =  M vdot + h(q, v) - sum of J' f_applied

Gravity comes with the base acceleration, once.  Damping, contact, limits and drives are no part of it.
"""

from functools import cache

import warp as wp

from sapsim.dynamics.newton_euler import ARRAYS as NEWTON_EULER
from sapsim.dynamics.newton_euler import make_newton_euler
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "body_parent", "body_dof_start", "body_nv", "dof_body", "dof_armature",
    *NEWTON_EULER, "S_T", "vdot", "dA_T", "tau_motion",
)  # fmt: skip
SCALARS = (("nbody", "int"), ("ndof", "int"), ("nlevel", "int"))


@cache
def make(R) -> Stage:
    """The stage `inverse`; reads vdot, writes dA_T, F_T and tau_motion."""
    real, vec6 = R.t, R.vec6
    struct = make_struct("Inverse", R, ARRAYS, SCALARS)
    newton_euler = make_newton_euler(R, struct)
    body_force, acceleration, subtrees = newton_euler.body_force, newton_euler.acceleration, newton_euler.subtrees

    @wp.func
    def accelerate(s: struct, w: int, b: int):
        """dA_T, after the parent's."""
        dA = vec6(real(0.0))
        if s.body_parent[b] >= 0:
            dA = s.dA_T[w, s.body_parent[b]]
        for k in range(s.body_dof_start[b], s.body_dof_start[b] + s.body_nv[b]):
            dA += s.S_T[w, k] * s.vdot[w, k]
        s.dA_T[w, b] = dA

    @wp.func
    def inverse(s: struct, w: int, lane: int):
        for level in range(s.nlevel):
            for i in range(s.level_start[level] + lane, s.level_start[level + 1], wp.block_dim()):
                accelerate(s, w, s.level_body[i])
            barrier()
        for b in range(lane, s.nbody, wp.block_dim()):
            s.F_T[w, b] = body_force(s, w, b, vec6(acceleration(s, w, b, s.dA_T[w, b])))
        barrier()
        subtrees(s, w, lane)
        for k in range(lane, s.ndof, wp.block_dim()):
            if s.dof_body[k] >= 0:
                F = s.F_T[w, s.dof_body[k]]
                s.tau_motion[w, k] = wp.dot(s.S_T[w, k], F) + s.dof_armature[w, k] * s.vdot[w, k]

    return make_stage("inverse", R, struct, inverse, SCALARS)
