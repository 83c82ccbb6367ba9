"""What a contact law freezes for the step, and which trees take part in the solve.

    pair rule (Drake, sap_formulas 2.3): k = k1 k2 / (k1 + k2), d = (k2 d1 + k1 d2) / (k1 + k2), tau = tau1 + tau2,
                                         mu = 2 mu1 mu2 / (mu1 + mu2)
    Delassus estimate (sap_formulas 3.0): w = || sum over sides J diag(A)^-1 J' ||_F / 3

Trees without contacts and active constraints take no part: their velocity is v_star, and they have no share in the solver's
norms.
"""

from functools import cache

import warp as wp

from sapsim.kinds.base import registry
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage, variant

LAW_ARRAYS = (
    "pair_a", "pair_b", "shape_material", "ncontact", "contact_pair", "contact_depth", "contact_entries",
    "J", "J_block", "v_b", "dinv", "contact_mu", "contact_row",
)  # fmt: skip
LAW_SCALARS = (
    ("slots", "int"), ("h", "real"), ("sigma", "real"), ("stiction_tolerance", "real"), ("near_rigid", "real"),
)  # fmt: skip


@cache
def make_law(R, law_name: str) -> Stage:
    """The stage `problem` of a contact law; writes contact_mu and contact_row."""
    real, vec3, vec4, mat33 = R.t, R.vec3, R.vec4, R.mat33
    prepare = registry("contacts")[law_name].make(R).prepare
    struct = make_struct("Problem", R, LAW_ARRAYS, LAW_SCALARS)

    @wp.func
    def pair_material(a: vec4, b: vec4) -> vec4:
        """(k, d, tau, mu) of a pair of surfaces."""
        zero = real(0.0)
        k = zero
        d = zero
        if a[0] + b[0] > zero:
            k = a[0] * b[0] / (a[0] + b[0])
            d = (b[0] * a[1] + a[0] * b[1]) / (a[0] + b[0])
        mu = zero
        if a[3] + b[3] > zero:
            mu = real(2.0) * a[3] * b[3] / (a[3] + b[3])
        return vec4(k, d, a[2] + b[2], mu)

    @wp.func
    def problem(s: struct, w: int, lane: int):
        for c in range(lane, s.ncontact[w], wp.block_dim()):
            entries = s.contact_entries[w, c]
            W = mat33(real(0.0))
            vc0 = vec3(real(0.0))
            for e in range(c * s.slots, c * s.slots + entries[0] + entries[1]):
                Je = s.J[w, e]
                block = s.J_block[w, e]
                W += Je * wp.diag(s.dinv[w, block]) * wp.transpose(Je)
                vc0 += Je * s.v_b[w, block]
            pair = s.contact_pair[w, c]
            m = pair_material(s.shape_material[w, s.pair_a[pair]], s.shape_material[w, s.pair_b[pair]])
            s.contact_mu[w, c] = m[3]
            s.contact_row[w, c] = prepare(
                s.h, m[0], m[1], m[2], m[3], s.contact_depth[w, c], vc0[2], wp.sqrt(wp.ddot(W, W)) / real(3.0),
                vec4(s.sigma, s.stiction_tolerance, s.near_rigid, real(0.0)),
            )  # fmt: skip

    return make_stage(f"problem_{law_name}", R, struct, problem, LAW_SCALARS)


PARTICIPANT_ARRAYS = (
    "ncontact", "contact_tree", "npart", "tree_part", "part_tree", "part_start", "part_side",
    "constraint_tree", "constraint_row", "nactive", "active_constraint",
)  # fmt: skip
PARTICIPANT_SCALARS = (("ntree", "int"), ("nscalar", "int"), ("nitem", "int"))


@cache
def make_participants(R, form: str = "v_star") -> Stage:
    """The stage `participants`: trees with contacts or active constraints, numbered in order of first use, and the sides of
    contacts and ties of each; and the list of active scalar constraints.  In the momentum form all other trees come behind."""
    real = R.t
    struct = make_struct("Participants", R, PARTICIPANT_ARRAYS, PARTICIPANT_SCALARS)

    @wp.func
    def number_trees(s: struct, w: int) -> int:
        """Numbers the trees and leaves the count of sides of part p in part_start[p + 1]."""
        n = int(0)
        for c in range(s.ncontact[w] + s.nitem):
            trees = s.contact_tree[w, c]
            for side in range(2):
                t = trees[side]
                if t >= 0:
                    p = s.tree_part[w, t]
                    if p < 0:
                        p = n
                        s.tree_part[w, t] = p
                        s.part_tree[w, p] = t
                        s.part_start[w, p + 1] = 0
                        n += 1
                    s.part_start[w, p + 1] = s.part_start[w, p + 1] + 1
        return n

    @wp.func
    def number_constrained(s: struct, w: int, n: int) -> int:
        """Lists active scalar constraints and numbers trees that have no contact or tie; returns the number of trees."""
        active = int(0)
        for r in range(s.nscalar):
            if s.constraint_row[w, r][0] > real(0.0):
                s.active_constraint[w, active] = r
                active += 1
                t = s.constraint_tree[r]
                if s.tree_part[w, t] < 0:
                    s.tree_part[w, t] = n
                    s.part_tree[w, n] = t
                    s.part_start[w, n + 1] = 0
                    n += 1
        s.nactive[w] = active
        return n

    if form == "v_star":

        @wp.func
        def number_others(s: struct, w: int, n: int) -> int:
            return n
    else:

        @wp.func
        def number_others(s: struct, w: int, n: int) -> int:
            for t in range(s.ntree):
                if s.tree_part[w, t] < 0:
                    s.tree_part[w, t] = n
                    s.part_tree[w, n] = t
                    s.part_start[w, n + 1] = 0
                    n += 1
            return n

    @wp.func
    def list_sides(s: struct, w: int, n: int):
        for p in range(1, n):
            s.part_start[w, p + 1] = s.part_start[w, p] + s.part_start[w, p + 1]
        total = s.part_start[w, n]
        # backwards, so that each part's end moves down to its start and its sides ascend
        count = s.ncontact[w] + s.nitem
        for i in range(2 * count):
            side = 2 * count - 1 - i
            t = s.contact_tree[w, side // 2][side % 2]
            if t >= 0:
                p = s.tree_part[w, t]
                at = s.part_start[w, p + 1] - 1
                s.part_side[w, at] = side
                s.part_start[w, p + 1] = at
        # now part_start[p + 1] is the start of p: move the starts down one place
        for p in range(n):
            s.part_start[w, p] = s.part_start[w, p + 1]
        s.part_start[w, n] = total

    @wp.func
    def participants(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            s.tree_part[w, t] = -1
        barrier()
        if lane == 0:
            n = number_others(s, w, number_constrained(s, w, number_trees(s, w)))
            if n > 0:
                list_sides(s, w, n)
            s.npart[w] = n

    return make_stage(variant("participants", form), R, struct, participants, PARTICIPANT_SCALARS)
