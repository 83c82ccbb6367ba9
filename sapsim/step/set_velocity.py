"""Velocities of files into internal ones, once the placements at q are known."""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import make_joints
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = ("body_joint", "body_dof_start", "body_nv", "body_com", "R_WB", "v_in", "v")
SCALARS = (("nbody", "int"),)


@cache
def make(R) -> Stage:
    """The stage `set_velocity`; reads v_in, writes v."""
    from_external = make_joints(R).from_external
    struct = make_struct("SetVelocity", R, ARRAYS, SCALARS)

    @wp.func
    def set_velocity(s: struct, w: int, lane: int):
        for b in range(lane, s.nbody, wp.block_dim()):
            p_BoBcm = s.R_WB[w, b] * s.body_com[w, b]
            first = s.body_dof_start[b]
            for k in range(s.body_nv[b]):
                s.v[w, first + k] = from_external(s.body_joint[b], s.v_in, w, first, k, p_BoBcm)

    return make_stage("set_velocity", R, struct, set_velocity, SCALARS)
