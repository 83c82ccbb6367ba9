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
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "dof_body", "body_q_start", "body_dof_start",
    "dof_damping", "dof_stiffness", "dof_reference", "dof_effort", "dof_input", *NEWTON_EULER, "S_T", "q", "v", "tau",
)  # fmt: skip
SCALARS = (("nbody", "int"), ("ndof", "int"), ("nlevel", "int"), ("ninput", "int"))


@cache
def make(R) -> Stage:
    """The stage `rne`; writes F_T and tau."""
    real = R.t
    struct = make_struct("Rne", R, ARRAYS, SCALARS)
    newton_euler = make_newton_euler(R, struct)
    body_force, subtrees = newton_euler.body_force, newton_euler.subtrees

    @wp.func
    def force(s: struct, w: int, k: int) -> real:
        """tau of a degree of freedom; padding feels none."""
        b = s.dof_body[k]
        if b < 0:
            return real(0.0)
        # stiffness is zero where coordinates and velocities do not match one to one
        stretch = s.q[w, s.body_q_start[b] + k - s.body_dof_start[b]] - s.dof_reference[w, k]
        spring = s.dof_stiffness[w, k] * stretch
        tau = -wp.dot(s.S_T[w, k], s.F_T[w, b]) - s.dof_damping[w, k] * s.v[w, k] - spring + s.dof_effort[w, k]
        if s.ninput > 0:
            tau += s.dof_input[w, k]
        return tau

    @wp.func
    def rne(s: struct, w: int, lane: int):
        for b in range(lane, s.nbody, wp.block_dim()):
            s.F_T[w, b] = body_force(s, w, b, s.A_WB[w, b])
        barrier()
        subtrees(s, w, lane)
        for k in range(lane, s.ndof, wp.block_dim()):
            s.tau[w, k] = force(s, w, k)

    return make_stage("rne", R, struct, rne, SCALARS)
