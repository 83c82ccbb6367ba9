"""The two forms of the convex problem: what free motion contributes (sap_formulas 1.1; seed 000).

    v_star     1/2 (v - v_star)' A (v - v_star),                      v_star = v0 + h A^-1 tau
    momentum   1/2 (v - v0)' A (v - v0) - h tau' (v - v0)

They differ by a constant, so both have the same minimum.  The first factorises A, and trees that nothing touches are done with
v_star; in the second A is only multiplied with, every tree takes part, and the solve finds free motion on its way.

A form gives four functions over the Newton struct, which holds its ARRAYS:
    outside(s, w, r)            velocity of a block of a tree that takes no part
    start_tree(s, w, p)         writes `momentum`, A (v - v_star) at the guess, of the p-th participating tree
    free_momentum(s, w, r)      A v_star
    cost(s, w, r, momentum)     the block's share of the cost above
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.tree_blocks import make_times

FORMS = ("v_star", "momentum")
ARRAYS = {"v_star": ("v_star_b", "Av_star"), "momentum": ("p_free", "tau_b")}
SCALARS = {"v_star": (), "momentum": (("h", "real"),)}


def make_form(R, struct, name: str) -> SimpleNamespace:
    """The functions of the form `name`."""
    return {"v_star": _make_v_star, "momentum": _make_momentum}[name](R, struct)


def _make_v_star(R, struct) -> SimpleNamespace:
    vec3, wide, wide3 = R.vec3, R.wide.t, R.wide.vec3
    A_times = make_times(R, struct, vec3)
    A_times_wide = make_times(R.wide, struct, wide3)

    @wp.func
    def outside(s: struct, w: int, r: int) -> vec3:
        return s.v_star_b[w, r]

    @wp.func
    def start_tree(s: struct, w: int, p: int):
        t = s.part_tree[w, p]
        for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
            s.Av_star[w, r] = A_times(s, w, r, s.v_star_b)
            s.grad[w, r] = s.v_next_b[w, r] - wide3(s.v_star_b[w, r])
        for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
            s.momentum[w, r] = A_times_wide(s, w, r, s.grad)

    @wp.func
    def free_momentum(s: struct, w: int, r: int) -> vec3:
        return s.Av_star[w, r]

    @wp.func
    def cost(s: struct, w: int, r: int, momentum: wide3) -> wide:
        return wide(0.5) * wp.dot(momentum, s.v_next_b[w, r] - wide3(s.v_star_b[w, r]))

    return SimpleNamespace(outside=outside, start_tree=start_tree, free_momentum=free_momentum, cost=cost)


def _make_momentum(R, struct) -> SimpleNamespace:
    vec3, wide, wide3 = R.vec3, R.wide.t, R.wide.vec3

    @wp.func
    def outside(s: struct, w: int, r: int) -> vec3:
        return s.v_b[w, r]

    @wp.func
    def start_tree(s: struct, w: int, p: int):
        t = s.part_tree[w, p]
        for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
            s.momentum[w, r] = -wide(s.h) * wide3(s.tau_b[w, r])

    @wp.func
    def free_momentum(s: struct, w: int, r: int) -> vec3:
        return s.p_free[w, r]

    @wp.func
    def cost(s: struct, w: int, r: int, momentum: wide3) -> wide:
        return wide(0.5) * wp.dot(momentum - wide(s.h) * wide3(s.tau_b[w, r]), s.v_next_b[w, r] - wide3(s.v_b[w, r]))

    return SimpleNamespace(outside=outside, start_tree=start_tree, free_momentum=free_momentum, cost=cost)
