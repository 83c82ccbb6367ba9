"""Assembly of H = A + J' G J into the panels of the block-sparse factor, by gather: a lane owns columns of 3x3 blocks.

Every column starts from A (its own tree) or zero and adds its tree's contacts in their order, so no two lanes write one block.
A contact between two trees adds to the panel of the tree that is eliminated first.
"""

from types import SimpleNamespace

import warp as wp


def make_hessian(R, struct, law):
    """wp.funcs curvature(s, w, lane), which evaluates G of every contact, and assemble(s, w, lane)."""
    real, mat33 = R.t, R.mat33

    @wp.func
    def curvature(s: struct, w: int, lane: int):
        for c in range(lane, s.ncontact[w], wp.block_dim()):
            s.G[w, c] = law.hessian(s.contact_row[w, c], s.vc[w, c])

    @wp.func
    def start_column(s: struct, w: int, c: int, q: int, nb_c: int):
        t = s.part_tree[w, c]
        at = s.H_address[w, c, c] + q
        for r in range(q, nb_c):
            s.H[w, at + r * nb_c] = s.A[w, s.tree_A_start[t] + (r * (r + 1)) // 2 + q]
        e = s.part_rank[w, c]
        for x in range(s.column_start[w, e], s.column_start[w, e + 1]):
            i = s.column_part[w, x]
            ti = s.part_tree[w, i]
            at = s.H_address[w, i, c] + q
            for r in range(s.tree_block_start[ti + 1] - s.tree_block_start[ti]):
                s.H[w, at + r * nb_c] = mat33(real(0.0))

    @wp.func
    def add_side(s: struct, w: int, first: int, n: int, base: int, from_block: int, at: int, nb_c: int, GJ: mat33):
        """Adds J_r' GJ for the blocks of one side at or below from_block; `base` is the row tree's first block."""
        for e in range(first, first + n):
            block = s.J_block[w, e]
            if block >= from_block:
                a = at + (block - base) * nb_c
                s.H[w, a] = s.H[w, a] + wp.transpose(s.J[w, e]) * GJ

    @wp.func
    def add_contact(s: struct, w: int, c: int, q: int, nb_c: int, side: int):
        contact = side // 2
        which = side % 2
        entries = s.contact_entries[w, contact]
        first = contact * s.slots + which * entries[0]
        own = s.tree_block_start[s.part_tree[w, c]]
        for e in range(first, first + entries[which]):
            if s.J_block[w, e] == own + q:
                GJ = s.G[w, contact] * s.J[w, e]
                add_side(s, w, first, entries[which], own, own + q, s.H_address[w, c, c] + q, nb_c, GJ)
                other_tree = s.contact_tree[w, contact][1 - which]
                if other_tree >= 0:
                    o = s.tree_part[w, other_tree]
                    if s.part_rank[w, o] > s.part_rank[w, c]:
                        base = s.tree_block_start[other_tree]
                        add_side(
                            s, w, contact * s.slots + (1 - which) * entries[0], entries[1 - which], base, base,
                            s.H_address[w, o, c] + q, nb_c, GJ,
                        )  # fmt: skip

    @wp.func
    def assemble(s: struct, w: int, lane: int):
        item = int(0)
        for c in range(s.npart[w]):
            t = s.part_tree[w, c]
            nb_c = s.tree_block_start[t + 1] - s.tree_block_start[t]
            for q in range(nb_c):
                if item % wp.block_dim() == lane:
                    start_column(s, w, c, q, nb_c)
                    for x in range(s.part_start[w, c], s.part_start[w, c + 1]):
                        add_contact(s, w, c, q, nb_c, s.part_side[w, x])
                item += 1

    return SimpleNamespace(curvature=curvature, assemble=assemble)
