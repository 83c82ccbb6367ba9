"""Assembly of H = A + J' G J in packed lower 3x3 blocks (linalg/packed_cholesky.py), by gather: a lane owns columns.

Block rows follow the trees in the order of participation.  The same text makes the matrix of an island and that of one tree
without its neighbours, which is the island's diagonal block of that tree.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.packed_cholesky import packed
from sapsim.linalg.tree_blocks import make_tree_blocks


def make_packed_hessian(R, struct):
    """wp.funcs column(s, w, p, q, base, offset, n), column q of the p-th participating tree, whose rows start at `offset` of n;
    two_blocks(s, w, p) -> (h00, h10, h11), the same of a whole tree of one block or two, in local blocks."""
    real, mat33 = R.t, R.mat33
    A_block = make_tree_blocks(R, struct).block

    @wp.func
    def add_side(s: struct, w: int, own: int, q: int, base: int, offset: int, beyond: int, n: int, side: int):
        """Adds J_x' G J_q over the rows x of its own tree, and of the other side where that tree comes later in the matrix."""
        contact = side // 2
        which = side % 2
        entries = s.contact_entries[w, contact]
        first = contact * s.slots + which * entries[0]
        for i in range(first, first + entries[which]):
            if s.J_block[w, i] == own + q:
                GJ = s.G[w, contact] * s.J[w, i]
                for j in range(i, first + entries[which]):  # blocks ascend: those before are above the diagonal
                    at = base + packed(offset + s.J_block[w, j] - own, offset + q)
                    s.H[w, at] = s.H[w, at] + wp.transpose(s.J[w, j]) * GJ
                if beyond < n and entries[1] > 0:
                    other = contact * s.slots + (1 - which) * entries[0]
                    if s.row_at[w, s.J_block[w, other]] >= beyond:
                        for j in range(other, other + entries[1 - which]):
                            at = base + packed(s.row_at[w, s.J_block[w, j]], offset + q)
                            s.H[w, at] = s.H[w, at] + wp.transpose(s.J[w, j]) * GJ

    @wp.func
    def column(s: struct, w: int, p: int, q: int, base: int, offset: int, n: int):
        t = s.part_tree[w, p]
        own = s.tree_block_start[t]
        nb = s.tree_block_start[t + 1] - own
        for r in range(q, nb):
            s.H[w, base + packed(offset + r, offset + q)] = A_block(s, w, own + r, own + q)
        for r in range(offset + nb, n):
            s.H[w, base + packed(r, offset + q)] = mat33(real(0.0))
        for x in range(s.part_start[w, p], s.part_start[w, p + 1]):
            add_side(s, w, own, q, base, offset, offset + nb, n, s.part_side[w, x])
        if s.nactive[w] > 0:
            at = base + packed(offset + q, offset + q)
            for i in range(s.tree_constraint_start[t], s.tree_constraint_start[t + 1]):
                r = s.tree_constraint[i]
                if s.constraint_block[r] == own + q and s.constraint_row[w, r][0] > real(0.0):
                    J = s.constraint_J[w, r]
                    s.H[w, at] = s.H[w, at] + s.constraint_G[w, r] * wp.outer(J, J)

    @wp.func
    def two_blocks(s: struct, w: int, p: int):
        """A second block that is not there is the identity.  The blocks of A follow one another, as in tree_cholesky.py."""
        t = s.part_tree[w, p]
        own = s.tree_block_start[t]
        at = s.A_row[own]
        h00 = s.A[w, at]
        h10 = mat33(real(0.0))
        h11 = wp.identity(n=3, dtype=real)
        if s.tree_block_start[t + 1] - own == 2:
            h10 = s.A[w, at + 1]
            h11 = s.A[w, at + 2]
        for x in range(s.part_start[w, p], s.part_start[w, p + 1]):
            side = s.part_side[w, x]
            contact = side // 2
            entries = s.contact_entries[w, contact]
            first = contact * s.slots + (side % 2) * entries[0]
            J = s.J[w, first]
            GJ = s.G[w, contact] * J
            if s.J_block[w, first] == own:
                h00 = h00 + wp.transpose(J) * GJ
                if entries[side % 2] == 2:
                    J1 = s.J[w, first + 1]
                    h10 = h10 + wp.transpose(J1) * GJ
                    h11 = h11 + wp.transpose(J1) * (s.G[w, contact] * J1)
            else:
                h11 = h11 + wp.transpose(J) * GJ
        if s.nactive[w] > 0:
            for i in range(s.tree_constraint_start[t], s.tree_constraint_start[t + 1]):
                r = s.tree_constraint[i]
                if s.constraint_row[w, r][0] > real(0.0):
                    JJ = s.constraint_G[w, r] * wp.outer(s.constraint_J[w, r], s.constraint_J[w, r])
                    if s.constraint_block[r] == own:
                        h00 = h00 + JJ
                    else:
                        h11 = h11 + JJ
        return h00, h10, h11

    return SimpleNamespace(column=column, two_blocks=two_blocks)
