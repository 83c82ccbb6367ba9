"""The SAP solve of a step: Newton's method on one world, in one block, until that world has converged (sap_formulas 4).

    minimise  l(v) = 1/2 (v - v_star)' A (v - v_star) + sum_i l_i(J_i v)   over the trees that take part, from v0

The first term can have another form with the same minimum (solver/forms.py).

The stop test comes before any factorisation, so a good guess costs no iteration.  Success is either criterion, kept apart:
    optimality  residual <= absolute_tolerance + relative_tolerance * scale
    cost        |l - l_before| < cost_absolute + cost_relative (|l| + |l_before|) / 2,  with alpha > 1/2
A failure is a status and the last iterate stands.  Trees without contacts and active constraints take
no part: they get v_star; a world where none does gets no iteration.  In the momentum form every tree takes part.

Each island (solver/participants.py) is a problem of its own, with its own line search and stop test; all lanes work on one
island after the other.  The statistics of a step: residual and scale of the island with the worst ratio, the sum of costs, the
largest numbers of iterations, all status bits.  Optimality is reached where all islands reached it; cost where all have
converged and one met that criterion; so a step has converged, by either, where all islands have.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from sapsim.kinds.base import registry
from sapsim.kinds.constraints._bounded import make_bounded
from sapsim.linalg.island import Island, make_island
from sapsim.linalg.tree_blocks import ARRAYS as BLOCKS
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage, variant
from sapsim.solver import forms, linear
from sapsim.solver.gradient import make_gradient
from sapsim.solver.hessian import make_hessian
from sapsim.solver.line_search import make_line_search
from sapsim.solver.tie_rows import make_tie_rows
from sapsim.status import StepStatus

ARRAYS = (
    "tree_block_start", *BLOCKS, "dinv", "v_b", "v_next_b", "stopped",
    "ncontact", "contact_tree", "contact_entries", "contact_row", "J", "J_block",
    "npart", "part_tree", "part_start", "part_side",
    "nisland", "island_start", "island_contact_start", "island_contact", "island_item_start", "island_item",
    "island_active_start", "island_sums",
    "vc", "dvc", "gamma", "G", "grad", "momentum", "Adv", "dv", "part_sum", "lane_sum",
    "constraint_row", "constraint_J", "constraint_block", "tree_constraint_start", "tree_constraint", "nactive",
    "active_constraint", "item_row",
    "constraint_vc", "constraint_dvc", "constraint_gamma", "constraint_G",
    "solve_int", "solve_real",
)  # fmt: skip
SCALARS = (
    ("nblock", "int"), ("nconstraint", "int"), ("nitem", "int"), ("slots", "int"),
    ("max_iterations", "int"), ("backtracking", "int"),
    ("absolute_tolerance", "real"), ("relative_tolerance", "real"),
    ("cost_absolute_tolerance", "real"), ("cost_relative_tolerance", "real"),
)  # fmt: skip

OPTIMALITY, COST = 1, 2  # bits of solve_int[1]


@cache
def make_parts(R, law_name: str, form_name: str, linear_name: str) -> SimpleNamespace:
    """The struct of a contact law, a form of the problem and a linear solver, and the functions over it that the solve is
    made of."""
    law = registry("contacts")[law_name].make(R)
    wide_law = law if R.wide is R else registry("contacts")[law_name].make(R.wide)
    bounded = make_bounded(R.wide)
    scalars = SCALARS + forms.SCALARS[form_name] + linear.SCALARS[linear_name]
    struct = make_struct("Newton", R, ARRAYS + forms.ARRAYS[form_name] + linear.ARRAYS[linear_name], scalars)
    form = forms.make_form(R, struct, form_name)
    ties = make_tie_rows(R, struct, bounded)
    gradient = make_gradient(R, struct, wide_law, bounded, form, ties)
    hessian = make_hessian(R, struct, law, bounded, ties)
    return SimpleNamespace(
        struct=struct,
        scalars=scalars,
        form=form,
        gradient=gradient,
        hessian=hessian,
        search=make_line_search(R, struct, wide_law, bounded, ties, gradient),
        linear=linear.make_direction(R, struct, linear_name, hessian, gradient),
        island_of=make_island(struct),
    )


@cache
def make(R, law_name: str, form_name: str = "v_star", linear_name: str = "auto") -> Stage:
    """The stage `newton` of a contact law, a form of the problem and a linear solver; writes v_next, gamma, vc and the
    solve_* results."""
    real, vec3, wide, wide3 = R.t, R.vec3, R.wide.t, R.wide.vec3
    parts = make_parts(R, law_name, form_name, linear_name)
    struct, form, gradient, hessian = parts.struct, parts.form, parts.gradient, parts.hessian
    search, linear_direction, island_of = parts.search, parts.linear, parts.island_of

    @wp.func
    def start(s: struct, w: int, lane: int):
        """v_star for all trees, then the guess v0 for those that take part; a lane owns trees.  No constraint acts yet."""
        for r in range(lane, s.nconstraint, wp.block_dim()):
            s.constraint_gamma[w, r] = wide(0.0)
        for r in range(lane, s.nblock, wp.block_dim()):
            s.v_next_b[w, r] = wide3(form.outside(s, w, r))
        barrier()
        for p in range(lane, s.npart[w], wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.v_next_b[w, r] = wide3(s.v_b[w, r])
            form.start_tree(s, w, p)
        gradient.start_items(s, w, lane)
        barrier()

    @wp.func
    def direction(s: struct, w: int, lane: int, island: Island, first: bool, residual: wide, goal: wide) -> int:
        """dv = -H^-1 grad and dvc = J dv; a status bit where that fails, 0 otherwise."""
        hessian.curvature(s, w, lane, island)
        barrier()
        status = linear_direction(s, w, lane, island, first, residual, goal)
        if status != 0:
            return status
        gradient.along_contacts(s, w, lane, island)
        gradient.along_trees(s, w, lane, island)
        barrier()
        return 0

    @wp.func
    def line_search(s: struct, w: int, lane: int, island: Island, m0: wide, l0: wide):
        """(alpha, iterations, ok) along dv; not ok where dv is no descent direction."""
        sums = gradient.sum_trees(s, w, island)
        barrier()
        alpha = wide(0.0)
        n = int(0)
        ok = bool(False)
        if sums[1] > wide(0.0) and sums[2] < wide(0.0):
            if s.backtracking == 1:
                alpha, n, ok = search.backtracking(s, w, lane, island, m0, l0, sums[0], sums[1], sums[2])
            else:
                alpha, n, ok = search.exact(s, w, lane, island, m0, l0, sums[0], sums[1], sums[2])
        return alpha, n, ok

    @wp.func
    def measure(s: struct, w: int, lane: int, island: Island):
        """Gradient and impulses at v_next: (residual, scale, cost, its momentum part)."""
        gradient.at_contacts(s, w, lane, island)
        barrier()
        gradient.at_trees(s, w, lane, island)
        barrier()
        sums = gradient.sum_trees(s, w, island)
        cost = sums[3] + gradient.sum_contacts(s, w, island)[0]
        barrier()
        return wp.sqrt(sums[0]), wp.sqrt(wp.max(sums[1], sums[2])), cost, sums[3]

    @wp.func
    def merge_island(s: struct, w: int, first: bool, ended: wp.vec4i, found: vec3):
        """Adds an island to the statistics of the step: status, flags, iterations, those of searches; residual, scale, cost."""
        flags = ended[1]
        cost = found[2]
        if not first:
            before = s.solve_int[w, 1]
            if before == 0 or flags == 0:
                flags = 0
            else:
                flags = (before & flags & wp.static(OPTIMALITY)) | ((before | flags) & wp.static(COST))
            cost += s.solve_real[w, 2]
        # the worst ratio residual / scale, compared without dividing; what is not finite is worst
        residual = s.solve_real[w, 0]
        scale = s.solve_real[w, 1]
        if first or scale == real(0.0) or found[0] * scale > residual * found[1] or not wp.isfinite(found[0]):
            s.solve_real[w, 0] = found[0]
            s.solve_real[w, 1] = found[1]
        s.solve_real[w, 2] = cost
        if first:
            for i in range(4):
                s.solve_int[w, i] = 0
        s.solve_int[w, 0] = s.solve_int[w, 0] | ended[0]
        s.solve_int[w, 1] = flags
        s.solve_int[w, 2] = wp.max(s.solve_int[w, 2], ended[2])
        s.solve_int[w, 3] = wp.max(s.solve_int[w, 3], ended[3])

    @wp.func
    def iterate(s: struct, w: int, lane: int):
        """Solves the islands, in one loop over the iterations of them all: a struct is passed by value to a function that the
        compiler does not inline."""
        k = int(0)
        n = int(0)
        searched = int(0)
        alpha = wide(1.0)
        cost_before = wide(0.0)
        while k < s.nisland[w]:
            island = island_of(s, w, k)
            residual, scale, cost, m0 = measure(s, w, lane, island)
            status = int(0)
            flags = int(0)
            goal = wide(s.absolute_tolerance) + wide(s.relative_tolerance) * scale
            if residual <= goal:
                flags += wp.static(OPTIMALITY)
            if n > 0 and alpha > wide(0.5):
                mean = wide(0.5) * (wp.abs(cost) + wp.abs(cost_before))
                if wp.abs(cost - cost_before) < wide(s.cost_absolute_tolerance) + wide(s.cost_relative_tolerance) * mean:
                    flags += wp.static(COST)
            if not (wp.isfinite(residual) and wp.isfinite(cost)):
                status = wp.static(int(StepStatus.NON_FINITE))
            elif flags == 0 and n == s.max_iterations:
                status = wp.static(int(StepStatus.MAX_ITERATIONS))
            elif flags == 0:
                status = direction(s, w, lane, island, n == 0, residual, goal)
                if status == 0:
                    alpha, tried, ok = line_search(s, w, lane, island, m0, cost)
                    searched += tried
                    if not ok:
                        status = wp.static(int(StepStatus.LINE_SEARCH_FAILED))
            if status == 0 and flags == 0:
                gradient.move(s, w, lane, island, alpha)
                barrier()
                cost_before = cost
                n += 1
            else:
                if lane == 0:
                    merge_island(s, w, k == 0, wp.vec4i(status, flags, n, searched), vec3(wide3(residual, scale, cost)))
                k += 1
                n = 0
                searched = 0

    @wp.func
    def newton(s: struct, w: int, lane: int):
        start(s, w, lane)
        if lane == 0:
            s.solve_int[w, 7] = 0  # iterations of linear solves; the others follow with the first island
        if s.npart[w] > 0 and s.stopped[w] == 0:
            iterate(s, w, lane)
        elif lane == 0:
            s.solve_int[w, 0] = 0
            s.solve_int[w, 1] = wp.static(OPTIMALITY)
            s.solve_int[w, 2] = 0
            s.solve_int[w, 3] = 0
            for i in range(3):
                s.solve_real[w, i] = real(0.0)

    return make_stage(linear.variant(variant(f"newton_{law_name}", form_name), linear_name), R, struct, newton, parts.scalars)
