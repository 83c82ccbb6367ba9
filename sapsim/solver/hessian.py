"""Assembly of H = A + J' G J into the panels of the block-sparse factor, by gather: a lane owns columns of 3x3 blocks.

Every column starts from A (its own tree) or zero and adds its tree's contacts and constraints in their order, so no two lanes
write one block.
A contact between two trees adds to the panel of the tree that is eliminated first.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.island import Island
from sapsim.linalg.tree_blocks import make_tree_blocks


def make_hessian(R, struct, law, bounded, ties):
    """wp.funcs (s, w, lane, island) curvature, which evaluates G of contacts, ties and active constraints, and assemble."""
    real, vec3, mat33, wide4 = R.t, R.vec3, R.mat33, R.wide.vec4
    A_block = make_tree_blocks(R, struct).block

    @wp.func
    def curvature(s: struct, w: int, lane: int, island: Island):
        for x in range(island.contact + lane, island.contact_end, wp.block_dim()):
            c = s.island_contact[w, x]
            s.G[w, c] = law.hessian(s.contact_row[w, c], vec3(s.vc[w, c]))
        for x in range(island.item + lane, island.item_end, wp.block_dim()):
            i = s.island_item[w, x]
            c = s.ncontact[w] + i
            s.G[w, c] = wp.diag(vec3(ties.hessian(s, w, i, s.vc[w, c])))
        for x in range(island.row + lane, island.row_end, wp.block_dim()):
            r = s.active_constraint[w, x]
            s.constraint_G[w, r] = real(bounded.hessian(wide4(s.constraint_row[w, r]), s.constraint_vc[w, r]))

    @wp.func
    def start_column(s: struct, w: int, e: int, t: int, q: int, nb: int):
        base = s.column_base[w, e] + q
        first = s.tree_block_start[t]
        for r in range(q, nb):
            s.H[w, base + r * nb] = A_block(s, w, first + r, first + q)
        for x in range(nb, nb + s.row_start[w, e + 1] - s.row_start[w, e]):
            s.H[w, base + x * nb] = mat33(real(0.0))

    @wp.func
    def add_contact(s: struct, w: int, e: int, t: int, q: int, nb: int, side: int):
        """Adds J_x' G J_q over the rows x of both sides that lie in this column."""
        contact = side // 2
        which = side % 2
        entries = s.contact_entries[w, contact]
        first = contact * s.slots + which * entries[0]
        own = s.tree_block_start[t]
        at = s.column_base[w, e] + q - own * nb
        for i in range(first, first + entries[which]):
            if s.J_block[w, i] == own + q:
                GJ = s.G[w, contact] * s.J[w, i]
                for j in range(i, first + entries[which]):  # blocks ascend: those before are above the diagonal
                    a = at + s.J_block[w, j] * nb
                    s.H[w, a] = s.H[w, a] + wp.transpose(s.J[w, j]) * GJ
                cross = s.contact_cross[w, contact]
                if entries[1] > 0 and cross[0] == which:
                    other = contact * s.slots + (1 - which) * entries[0]
                    start = s.tree_block_start[s.contact_tree[w, contact][1 - which]]
                    a0 = s.column_base[w, e] + q + (nb + cross[1] - s.row_start[w, e] - start) * nb
                    for j in range(other, other + entries[1 - which]):
                        a = a0 + s.J_block[w, j] * nb
                        s.H[w, a] = s.H[w, a] + wp.transpose(s.J[w, j]) * GJ

    @wp.func
    def add_constraints(s: struct, w: int, e: int, t: int, q: int, nb: int):
        """Adds J' G J of the active constraints on block q of the tree: to its diagonal block."""
        at = s.column_base[w, e] + q * nb + q
        for i in range(s.tree_constraint_start[t], s.tree_constraint_start[t + 1]):
            r = s.tree_constraint[i]
            if s.constraint_block[r] == s.tree_block_start[t] + q and s.constraint_row[w, r][0] > real(0.0):
                J = s.constraint_J[w, r]
                s.H[w, at] = s.H[w, at] + s.constraint_G[w, r] * wp.outer(J, J)

    @wp.func
    def assemble_pair(s: struct, w: int, c: int, e: int, t: int):
        """Both columns of a tree of two blocks, as free bodies have: its own blocks stay in registers."""
        base = s.column_base[w, e]
        own = s.tree_block_start[t]
        h00 = A_block(s, w, own, own)
        h10 = A_block(s, w, own + 1, own)
        h11 = A_block(s, w, own + 1, own + 1)
        for x in range(4, 4 + 2 * (s.row_start[w, e + 1] - s.row_start[w, e])):
            s.H[w, base + x] = mat33(real(0.0))
        for x in range(s.part_start[w, c], s.part_start[w, c + 1]):
            contact = s.part_side[w, x] // 2
            which = s.part_side[w, x] % 2
            entries = s.contact_entries[w, contact]
            first = contact * s.slots + which * entries[0]
            G = s.G[w, contact]
            GJ0 = mat33(real(0.0))
            GJ1 = mat33(real(0.0))
            for i in range(first, first + entries[which]):
                J = s.J[w, i]
                if s.J_block[w, i] == own:
                    GJ0 = G * J
                    h00 += wp.transpose(J) * GJ0
                else:
                    GJ1 = G * J
                    h10 += wp.transpose(J) * GJ0
                    h11 += wp.transpose(J) * GJ1
            cross = s.contact_cross[w, contact]
            if entries[1] > 0 and cross[0] == which:
                other = contact * s.slots + (1 - which) * entries[0]
                start = s.tree_block_start[s.contact_tree[w, contact][1 - which]]
                a0 = base + 2 * (2 + cross[1] - s.row_start[w, e] - start)
                for j in range(other, other + entries[1 - which]):
                    a = a0 + 2 * s.J_block[w, j]
                    J_T = wp.transpose(s.J[w, j])
                    s.H[w, a] = s.H[w, a] + J_T * GJ0
                    s.H[w, a + 1] = s.H[w, a + 1] + J_T * GJ1
        s.H[w, base] = h00
        s.H[w, base + 2] = h10
        s.H[w, base + 3] = h11
        if s.nactive[w] > 0:
            add_constraints(s, w, e, t, 0, 2)
            add_constraints(s, w, e, t, 1, 2)

    @wp.func
    def assemble(s: struct, w: int, lane: int, island: Island):
        item = int(0)
        for c in range(island.tree, island.tree_end):
            t = s.part_tree[w, c]
            e = s.part_rank[w, c]
            nb = s.tree_block_start[t + 1] - s.tree_block_start[t]
            if nb == 2:
                if item % wp.block_dim() == lane:
                    assemble_pair(s, w, c, e, t)
                item += 1
                nb = 0
            for q in range(nb):
                if item % wp.block_dim() == lane:
                    start_column(s, w, e, t, q, nb)
                    for x in range(s.part_start[w, c], s.part_start[w, c + 1]):
                        add_contact(s, w, e, t, q, nb, s.part_side[w, x])
                    if s.nactive[w] > 0:
                        add_constraints(s, w, e, t, q, nb)
                item += 1

    return SimpleNamespace(curvature=curvature, assemble=assemble)
