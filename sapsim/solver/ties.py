"""Ties: constraints over several degrees of freedom of one or two trees, as items of three rows that stand behind the contacts.

An item has the layout of a contact, J in 3x3 blocks, sides, vc, gamma, G, at place ncontact + item; so gradient, Hessian,
elimination and participation treat both alike.  What is frozen for its rows stands with that of all constraint rows.  J comes
from the kind's `frames`, or from terms: coefficients of joint coordinates.

    w = || sum over blocks J diag(A)^-1 J' ||_F / n over all n rows of a tie (sap_formulas 3.0),   v_hat = -g / (h + tau)

A tie that is not active in the step keeps its places with no blocks and takes no part.
"""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import make_constraints
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage, variant
from sapsim.solver.paths import ARRAYS as PATHS
from sapsim.solver.paths import make_paths

FRAMES = ("tie_kind", "tie_body_a", "tie_body_b", "tie_p_BP", "tie_Q_BP", "tie_p_BQ", "tie_Q_BQ", "p_WB", "Q_WB")
ARRAYS = (
    "tie_kind", "tie_body_a", "tie_body_b", "tie_item", "item_row", "tie_term", "term_dof", "term_coordinate", "term_tree",
    "tie_parameters", "tie_bias", "tie_p_BP", "tie_Q_BP", "tie_p_BQ", "tie_Q_BQ", "term_coefficient",
    "p_WB", "Q_WB", "q", "v_b", "dinv", "ncontact", "item_gap", "constraint_row", *PATHS,
)  # fmt: skip
FORM_ARRAYS = {"v_star": ("v_star_b",), "momentum": ()}
SCALARS = (("ntie", "int"), ("slots", "int"), ("h", "real"))


def make_frames(R, struct):
    """wp.func frames_of(s, w, t, item) -> what the kind's `frames` says of an item of tie t, at the placements as they are.

    A struct that is passed here has the arrays of FRAMES.
    """
    vec3, quat = R.vec3, R.quat
    frames = make_constraints(R).frames

    @wp.func
    def position(s: struct, w: int, body: int, p: vec3) -> vec3:
        if body < 0:
            return p
        return s.p_WB[w, body] + wp.quat_rotate(s.Q_WB[w, body], p)

    @wp.func
    def orientation(s: struct, w: int, body: int, Q: quat) -> quat:
        if body < 0:
            return Q
        return s.Q_WB[w, body] * Q

    @wp.func
    def frames_of(s: struct, w: int, t: int, item: int):
        a = s.tie_body_a[t]
        b = s.tie_body_b[t]
        p_WP = position(s, w, a, s.tie_p_BP[w, t])
        p_WQ = position(s, w, b, s.tie_p_BQ[w, t])
        Q_WP = orientation(s, w, a, s.tie_Q_BP[w, t])
        Q_WQ = orientation(s, w, b, s.tie_Q_BQ[w, t])
        return frames(s.tie_kind[t], item, p_WP, Q_WP, p_WQ, Q_WQ)

    return frames_of


@cache
def make(R, form: str = "v_star") -> Stage:
    """The stage `ties`; writes item_gap, J and sides of the items, and constraint_row of their rows.

    Kinds look ahead with v_star; where the form of the problem has none, nothing is out of reach (solver/forms.py).
    """
    real, vec3, vec4, mat33 = R.t, R.vec3, R.vec4, R.mat33
    kinds = make_constraints(R)
    compliance = kinds.compliance
    struct = make_struct("Ties", R, ARRAYS + FORM_ARRAYS[form], SCALARS)
    frames_of = make_frames(R, struct)
    sides = make_paths(R, struct).sides

    @wp.func
    def fill_frames(s: struct, w: int, t: int, i: int):
        """Item i from frames P and Q."""
        D, g, p_a, p_b, turns = frames_of(s, w, t, i - s.tie_item[t])
        s.item_gap[w, i] = g + s.tie_bias[w, t]
        sides(s, w, s.ncontact[w] + i, s.tie_body_a[t], s.tie_body_b[t], p_a, p_b, D, turns)

    @wp.func
    def fill_terms(s: struct, w: int, t: int, i: int):
        """Item i from joint coordinates; terms stand by tree and block."""
        c = s.ncontact[w] + i
        at = c * s.slots - 1
        g = s.tie_bias[w, t]
        trees = wp.vec2i(-1, -1)
        entries = wp.vec2i(0, 0)
        block = int(-1)
        for k in range(s.tie_term[t], s.tie_term[t + 1]):
            x = s.term_coefficient[w, k]
            dof = s.term_dof[k]
            if dof // 3 != block:
                block = dof // 3
                at += 1
                side = int(0)
                if trees[0] >= 0 and trees[0] != s.term_tree[k]:
                    side = 1
                trees[side] = s.term_tree[k]
                entries[side] = entries[side] + 1
                s.J_block[w, at] = block
                s.J[w, at] = mat33(real(0.0))
            one = vec3(real(0.0))
            one[dof % 3] = real(1.0)
            s.J[w, at] = s.J[w, at] + wp.outer(x, one)
            g += s.q[w, s.term_coordinate[k]] * x
        s.item_gap[w, i] = g
        s.contact_tree[w, c] = trees
        s.contact_entries[w, c] = entries

    @wp.func
    def delassus(s: struct, w: int, t: int) -> real:
        """w of the whole tie; all its items have the same blocks."""
        squares = real(0.0)
        for i in range(s.tie_item[t], s.tie_item[t + 1]):
            c = s.ncontact[w] + i
            entries = s.contact_entries[w, c]
            for j in range(s.tie_item[t], s.tie_item[t + 1]):
                W = mat33(real(0.0))
                for e in range(entries[0] + entries[1]):
                    at = c * s.slots + e
                    to = (c + j - i) * s.slots + e
                    W += s.J[w, at] * wp.diag(s.dinv[w, s.J_block[w, at]]) * wp.transpose(s.J[w, to])
                squares += wp.ddot(W, W)
        rows = s.item_row[s.tie_item[t + 1]] - s.item_row[s.tie_item[t]]
        return wp.sqrt(squares) / real(rows)

    if form == "v_star":

        @wp.func
        def free_velocity(s: struct, w: int, first: int, n: int) -> vec3:
            v = vec3(real(0.0))
            for e in range(first, first + n):
                v += s.J[w, e] * s.v_star_b[w, s.J_block[w, e]]
            return v
    else:

        @wp.func
        def free_velocity(s: struct, w: int, first: int, n: int) -> vec3:
            return vec3(real(wp.inf), real(wp.inf), real(wp.inf))

    @wp.func
    def freeze(s: struct, w: int, t: int, i: int, weight: real):
        """constraint_row of the rows of item i; an item that is not active loses its blocks."""
        c = s.ncontact[w] + i
        entries = s.contact_entries[w, c]
        v0 = vec3(real(0.0))
        for e in range(c * s.slots, c * s.slots + entries[0] + entries[1]):
            v0 += s.J[w, e] * s.v_b[w, s.J_block[w, e]]
        v_star = free_velocity(s, w, c * s.slots, entries[0] + entries[1])
        g = s.item_gap[w, i]
        law = compliance(s.tie_kind[t], s.h, s.tie_parameters[w, t], weight, g, v0, v_star)
        if law[0] == real(0.0):
            s.contact_tree[w, c] = wp.vec2i(-1, -1)
            s.contact_entries[w, c] = wp.vec2i(0, 0)
        for r in range(s.item_row[i], s.item_row[i + 1]):
            v_hat = -g[r - s.item_row[i]] / (s.h + law[1])
            s.constraint_row[w, r] = vec4(law[0], v_hat, law[2], law[3])

    @wp.func
    def ties(s: struct, w: int, lane: int):
        for t in range(lane, s.ntie, wp.block_dim()):
            for i in range(s.tie_item[t], s.tie_item[t + 1]):
                if s.tie_term[t] < s.tie_term[t + 1]:
                    fill_terms(s, w, t, i)
                else:
                    fill_frames(s, w, t, i)
            weight = delassus(s, w, t)
            for i in range(s.tie_item[t], s.tie_item[t + 1]):
                freeze(s, w, t, i, weight)

    return make_stage(variant("ties", form), R, struct, ties, SCALARS)
