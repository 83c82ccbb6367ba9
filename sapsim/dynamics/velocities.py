"""Velocities of files into internal ones and back, once the placements at q are known; and motion along a velocity.

Internal velocities are those of `v` (fields.py): a floating joint's are [omega, v_Bo] in world axes; files hold what the
joint's kind says (contract 3).
"""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import make_joints
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

SET_ARRAYS = ("body_joint", "body_dof_start", "body_nv", "body_com", "R_WB", "v_in", "v")
GET_ARRAYS = ("body_joint", "dof_from", "dof_entry", "dof_to_body", "body_com", "R_WB", "v", "v_out")
MOVE_ARRAYS = ("body_joint", "body_q_start", "body_dof_start", "R_WF", "q", "v")
BODIES = (("nbody", "int"),)
DOFS = (("nv", "int"),)


@cache
def make_set(R) -> Stage:
    """The stage `set_velocity`; reads v_in, writes v."""
    from_external = make_joints(R).from_external
    struct = make_struct("SetVelocity", R, SET_ARRAYS, BODIES)

    @wp.func
    def set_velocity(s: struct, w: int, lane: int):
        for b in range(lane, s.nbody, wp.block_dim()):
            p_BoBcm = s.R_WB[w, b] * s.body_com[w, b]
            first = s.body_dof_start[b]
            for k in range(s.body_nv[b]):
                s.v[w, first + k] = from_external(s.body_joint[b], s.v_in, w, first, k, p_BoBcm)

    return make_stage("set_velocity", R, struct, set_velocity, BODIES)


@cache
def make_get(R) -> Stage:
    """The stage `get_velocity`; reads v, writes v_out."""
    real, to_external = R.t, make_joints(R).to_external
    struct = make_struct("GetVelocity", R, GET_ARRAYS, DOFS)

    @wp.func
    def get_velocity(s: struct, w: int, lane: int):
        for i in range(lane, s.nv, wp.block_dim()):
            b = s.dof_to_body[i]
            s.v_out[w, i] = real(0.0)
            if b >= 0:
                p_BoBcm = s.R_WB[w, b] * s.body_com[w, b]
                s.v_out[w, i] = to_external(s.body_joint[b], s.v, w, s.dof_from[i], s.dof_entry[i], p_BoBcm)

    return make_stage("get_velocity", R, struct, get_velocity, DOFS)


@cache
def make_move(R) -> Stage:
    """The stage `move`: q <- q + h N(q) v on every joint's manifold, once the placements at q are known."""
    step_q = make_joints(R).step_q
    scalars = (("nbody", "int"), ("h", "real"))
    struct = make_struct("Move", R, MOVE_ARRAYS, scalars)

    @wp.func
    def move(s: struct, w: int, lane: int):
        for b in range(lane, s.nbody, wp.block_dim()):
            step_q(s.body_joint[b], s.q, s.v, w, s.body_q_start[b], s.body_dof_start[b], s.h, s.R_WF[w, b])

    return make_stage("move", R, struct, move, scalars)
