"""Cost, gradient and the solver's norms at v_next, and the scalars of a search direction.

    l = 1/2 (v - v_star)' A (v - v_star) + sum_i l_i(J_i v),     grad = A (v - v_star) - J' gamma = momentum - J' gamma
    residual = ||D grad||,  scale = max(||D A v||, ||D J' gamma||),  D = diag(A)^-1/2   (sap_formulas 4.3)

All of it is of one island.  Its contacts, ties and active constraints are summed in 32 strided partial sums whatever the
number of lanes; trees in the order of participation.  How the momentum starts, and what it costs, is the matter of the form of
the problem (solver/forms.py).
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.island import Island, count_places, make_place
from sapsim.linalg.tree_blocks import make_times
from sapsim.solver.participants import SUMS
from sapsim.solver.products import make_add_transposed, make_contact_times


def make_gradient(R, struct, law, bounded, form, ties):
    """wp.funcs over the Newton struct; each of them is one phase between barriers, but for contact_times: J x of a contact."""
    vec3, W = R.vec3, R.wide
    wide, wide3, wide4, wide8 = W.t, W.vec3, W.vec4, W.vec8
    A_times = make_times(W, struct, vec3)
    times_velocity = make_contact_times(R, struct, wide3)
    times_change = make_contact_times(R, struct, vec3)
    add_transposed = make_add_transposed(R, struct)
    place = make_place(struct)

    @wp.func
    def start_items(s: struct, w: int, lane: int):
        """vc = J v at the guess v0, of items of ties; it is carried along by alpha dvc afterwards.

        So the rounding of J v, a sum that cancels where bodies move fast along a constraint, stays the same in all iterations:
        a rigid row turns a change of vc by 1e-7 into an impulse 4000 times larger, and float32 would not converge.
        """
        for i in range(lane, s.nitem, wp.block_dim()):
            c = s.ncontact[w] + i
            s.vc[w, c] = times_change(s, w, c, s.v_b)

    @wp.func
    def move(s: struct, w: int, lane: int, island: Island, alpha: wide):
        """v <- v + alpha dv, its momentum, and vc of ties."""
        for x in range(island.item + lane, island.item_end, wp.block_dim()):
            c = s.ncontact[w] + s.island_item[w, x]
            s.vc[w, c] = s.vc[w, c] + alpha * s.dvc[w, c]
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.v_next_b[w, r] = s.v_next_b[w, r] + alpha * wide3(s.dv[w, r])
                s.momentum[w, r] = s.momentum[w, r] + alpha * s.Adv[w, r]

    @wp.func
    def at_item(s: struct, w: int, i: int, c: int) -> wide:
        """gamma of an item of a tie at place c, and the impulses of its rows; returns its cost."""
        vc = s.vc[w, c]
        gamma = ties.gamma(s, w, i, vc)
        s.gamma[w, c] = gamma
        for r in range(s.item_row[i], s.item_row[i + 1]):
            s.constraint_gamma[w, r] = gamma[r - s.item_row[i]]
        return ties.cost(s, w, i, vc)

    @wp.func
    def at_contacts(s: struct, w: int, lane: int, island: Island):
        """vc, gamma, and partial sums of the cost, of contacts, ties and active constraints."""
        n = s.ncontact[w]
        for p in range(lane, island.sums, wp.block_dim()):
            cost = wide(0.0)
            for x in range(island.contact + p, island.contact_end, wp.static(SUMS)):
                c = s.island_contact[w, x]
                row = wide8(s.contact_row[w, c])
                vc = times_velocity(s, w, c, s.v_next_b)
                s.vc[w, c] = vc
                s.gamma[w, c] = law.gamma(row, vc)
                cost += law.cost(row, vc)
            for x in range(island.item + p, island.item_end, wp.static(SUMS)):
                i = s.island_item[w, x]
                cost += at_item(s, w, i, n + i)
            for x in range(island.row + p, island.row_end, wp.static(SUMS)):
                r = s.active_constraint[w, x]
                bounds = wide4(s.constraint_row[w, r])
                vr = wp.dot(wide3(s.constraint_J[w, r]), s.v_next_b[w, s.constraint_block[r]])
                s.constraint_vc[w, r] = vr
                s.constraint_gamma[w, r] = bounded.gamma(bounds, vr)
                cost += bounded.cost(bounds, vr)
            s.lane_sum[w, p] = wide3(cost, wide(0.0), wide(0.0))

    @wp.func
    def at_trees(s: struct, w: int, lane: int, island: Island):
        """grad, and per tree (|D grad|^2, |D A v|^2, |D J' gamma|^2, momentum cost)."""
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.grad[w, r] = wide3(wide(0.0))
            add_transposed(s, w, p, s.gamma, s.constraint_gamma, s.grad)
            sums = wide4(wide(0.0))
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                momentum = s.momentum[w, r]
                Av = wide3(form.free_momentum(s, w, r)) + momentum
                dinv = wide3(s.dinv[w, r])
                impulse = s.grad[w, r]
                grad = momentum - impulse
                s.grad[w, r] = grad
                sums += wide4(
                    wp.dot(grad, wp.cw_mul(dinv, grad)),
                    wp.dot(Av, wp.cw_mul(dinv, Av)),
                    wp.dot(impulse, wp.cw_mul(dinv, impulse)),
                    form.cost(s, w, r, momentum),
                )
            s.part_sum[w, p] = sums

    @wp.func
    def sum_contacts(s: struct, w: int, island: Island) -> wide3:
        total = wide3(wide(0.0))
        for p in range(island.sums):
            total += s.lane_sum[w, p]
        return total

    @wp.func
    def sum_trees(s: struct, w: int, island: Island) -> wide4:
        total = wide4(wide(0.0))
        for p in range(island.tree, island.tree_end):
            total += s.part_sum[w, p]
        return total

    @wp.func
    def along_contacts(s: struct, w: int, lane: int, island: Island):
        """dvc = J dv, of contacts, ties and active constraints."""
        for x in range(lane, count_places(island), wp.block_dim()):
            c = place(s, w, island, x)
            s.dvc[w, c] = times_change(s, w, c, s.dv)
        for x in range(island.row + lane, island.row_end, wp.block_dim()):
            r = s.active_constraint[w, x]
            s.constraint_dvc[w, r] = wp.dot(wide3(s.constraint_J[w, r]), wide3(s.dv[w, s.constraint_block[r]]))

    @wp.func
    def along_trees(s: struct, w: int, lane: int, island: Island):
        """A dv, and per tree (dv . A (v - v_star), dv' A dv, dv . grad, 0)."""
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            sums = wide4(wide(0.0))
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                dv = wide3(s.dv[w, r])
                Adv = A_times(s, w, r, s.dv)
                s.Adv[w, r] = Adv
                sums += wide4(wp.dot(dv, s.momentum[w, r]), wp.dot(dv, Adv), wp.dot(dv, s.grad[w, r]), wide(0.0))
            s.part_sum[w, p] = sums

    return SimpleNamespace(
        contact_times=times_change,
        start_items=start_items,
        move=move,
        at_contacts=at_contacts,
        at_trees=at_trees,
        sum_contacts=sum_contacts,
        sum_trees=sum_trees,
        along_contacts=along_contacts,
        along_trees=along_trees,
    )
