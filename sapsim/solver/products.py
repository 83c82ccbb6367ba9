"""Products with the Jacobian of contacts, ties and scalar constraints, over the Newton struct: J x of one, J' y of a tree."""

import warp as wp


def make_contact_times(R, struct, vec3):
    """wp.func contact_times(s, w, c, x) -> J x of contact c, or of an item of a tie, added in the wide type; x of vec3."""
    wide, wide3, wide33 = R.wide.t, R.wide.vec3, R.wide.mat33
    vectors = wp.array2d(dtype=vec3)

    @wp.func
    def contact_times(s: struct, w: int, c: int, x: vectors) -> wide3:
        entries = s.contact_entries[w, c]
        y = wide3(wide(0.0))
        for e in range(c * s.slots, c * s.slots + entries[0] + entries[1]):
            y += wide33(s.J[w, e]) * wide3(x[w, s.J_block[w, e]])
        return y

    return contact_times


def make_add_transposed(R, struct):
    """wp.func add_transposed(s, w, p, y, y_scalar, to): to <- to + J' (y, y_scalar) over the blocks of the p-th participating
    tree: its own sides of contacts and items in the order of those, then its active scalar rows."""
    real, wide, wide3, wide33 = R.t, R.wide.t, R.wide.vec3, R.wide.mat33
    vectors, scalars = wp.array2d(dtype=wide3), wp.array2d(dtype=wide)

    @wp.func
    def add_transposed(s: struct, w: int, p: int, y: vectors, y_scalar: scalars, to: vectors):
        for i in range(s.part_start[w, p], s.part_start[w, p + 1]):
            side = s.part_side[w, i]
            c = side // 2
            entries = s.contact_entries[w, c]
            first = c * s.slots + (side % 2) * entries[0]
            y_c = y[w, c]
            for e in range(first, first + entries[side % 2]):
                block = s.J_block[w, e]
                to[w, block] = to[w, block] + wp.transpose(wide33(s.J[w, e])) * y_c
        if s.nactive[w] == 0:
            return
        t = s.part_tree[w, p]
        for i in range(s.tree_constraint_start[t], s.tree_constraint_start[t + 1]):
            r = s.tree_constraint[i]
            if s.constraint_row[w, r][0] > real(0.0):
                block = s.constraint_block[r]
                to[w, block] = to[w, block] + y_scalar[w, r] * wide3(s.constraint_J[w, r])

    return add_transposed
