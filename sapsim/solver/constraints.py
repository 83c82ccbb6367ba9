"""The scalar rows of constraints: which are active in the step, and what is frozen for it.

Rows of all kinds stand in one pool in a fixed order, that of the result file: kind by kind, and within a kind as the scene has
them; scalar rows first, then those of ties (solver/ties.py).  A scalar row acts on one degree of freedom, vc = J v over its
3-block.
"""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import make_constraints
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage, variant
from sapsim.solver.shared_bounds import ARRAYS as SHARED_BOUNDS
from sapsim.solver.shared_bounds import make_shared_bounds

ARRAYS = (
    "constraint_kind", "constraint_coordinate", "constraint_block", "constraint_J", "constraint_parameters",
    "constraint_input_start", "constraint_input_place", "constraint_input", "signal",
    "q", "v_b", "dinv", *SHARED_BOUNDS,
)  # fmt: skip
FORM_ARRAYS = {"v_star": ("v_star_b",), "momentum": ()}
SCALARS = (("nscalar", "int"), ("ngroup", "int"), ("h", "real"))


@cache
def make(R, form: str = "v_star") -> Stage:
    """The stage `constraints`; writes constraint_row.

    Kinds look ahead with v_star to leave out what the step cannot reach; where the form has none, nothing is out of reach.
    """
    real, vec3 = R.t, R.vec3
    prepare = make_constraints(R).prepare
    struct = make_struct("Constraints", R, ARRAYS + FORM_ARRAYS[form], SCALARS)
    bound = make_shared_bounds(R, struct)

    if form == "v_star":

        @wp.func
        def free_velocity(s: struct, w: int, block: int, one: vec3) -> real:
            return wp.dot(one, s.v_star_b[w, block])
    else:

        @wp.func
        def free_velocity(s: struct, w: int, block: int, one: vec3) -> real:
            return real(wp.inf)

    @wp.func
    def constraints(s: struct, w: int, lane: int):
        for r in range(lane, s.nscalar, wp.block_dim()):
            block = s.constraint_block[r]
            J = s.constraint_J[w, r]
            one = wp.cw_mul(J, J)  # picks the row's degree of freedom out of its block
            p = s.constraint_parameters[w, r]
            for i in range(s.constraint_input_start[r], s.constraint_input_start[r + 1]):
                p[s.constraint_input_place[i]] = s.signal[w, s.constraint_input[i]]
            s.constraint_row[w, r] = prepare(
                s.constraint_kind[r], s.h, p, wp.dot(one, vec3(s.dinv[w, block])),
                s.q[w, s.constraint_coordinate[r]], wp.dot(one, s.v_b[w, block]), free_velocity(s, w, block, one),
            )  # fmt: skip
        barrier()
        for g in range(lane, s.ngroup, wp.block_dim()):
            bound(s, w, g, s.h)

    return make_stage(variant("constraints", form), R, struct, constraints, SCALARS)
