"""Which trees take part in the solve, and the islands that they form: trees joined by contacts and ties.

Trees without contacts and active constraints take no part: their velocity is v_star, and they have no share in the solver's
norms.  No term of the cost joins two islands, so each is a problem of its own.  Islands are numbered by their first use, the
trees of an island by theirs, and an island's contacts, items and active rows keep their order: what is solved for an island
does not depend on what else is in the world.  Without islands all that takes part is one island.

Islands are found by union of sets (Tarjan 1975), the root of a set being its tree of first use.  Functions that loops call take
arrays: a struct is passed by value, which costs as much as a contact where the compiler does not inline.
"""

from functools import cache

import warp as wp

from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage, variant

ARRAYS = (
    "ncontact", "contact_tree", "npart", "tree_part", "part_tree", "part_start", "part_side",
    "constraint_tree", "constraint_row", "nactive", "active_constraint",
    "used_tree", "tree_root", "tree_sides", "tree_island", "nisland", "island_start",
    "island_contact_start", "island_contact", "island_item_start", "island_item", "island_active_start", "island_sums",
)  # fmt: skip
SUMS = 32  # partial sums of an island, at most
SCALARS = (("ntree", "int"), ("nscalar", "int"), ("nitem", "int"), ("islands", "int"))


@wp.func
def close_counts(start: wp.array2d(dtype=int), w: int, n: int):
    """Ends of n lists that lie behind one another, where start[k + 1] holds the length of list k."""
    start[w, 0] = 0
    for k in range(n):
        start[w, k + 1] = start[w, k] + start[w, k + 1]


@wp.func
def place_last(start: wp.array2d(dtype=int), w: int, k: int) -> int:
    """The last free place of list k, whose end moves down: lists that are filled backwards come out in order."""
    at = start[w, k + 1] - 1
    start[w, k + 1] = at
    return at


@wp.func
def end_lists(start: wp.array2d(dtype=int), w: int, n: int, total: int):
    """Puts the ends back: filling has left the start of list k in start[k + 1]."""
    for k in range(n):
        start[w, k] = start[w, k + 1]
    start[w, n] = total


@wp.func
def root(tree_root: wp.array2d(dtype=int), w: int, t: int) -> int:
    """The root of the tree's set; halves the path."""
    at = int(t)
    while tree_root[w, at] != at:
        above = tree_root[w, tree_root[w, at]]
        tree_root[w, at] = above
        at = above
    return at


@wp.func
def join(tree_root: wp.array2d(dtype=int), tree_part: wp.array2d(dtype=int), w: int, t: int, u: int):
    """Makes one set of two; its root is the one of first use."""
    a = root(tree_root, w, t)
    b = root(tree_root, w, u)
    if tree_part[w, a] < tree_part[w, b]:
        tree_root[w, b] = a
    else:
        tree_root[w, a] = b


@cache
def make(R, form: str = "v_star") -> Stage:
    """The stage `participants`.  In the momentum form all trees take part; those that nothing touches come behind."""
    real = R.t
    struct = make_struct("Participants", R, ARRAYS, SCALARS)

    @wp.func
    def use(s: struct, w: int, t: int, n: int) -> int:
        """Counts tree t where it is new; returns how many there are."""
        if s.tree_part[w, t] >= 0:
            return n
        s.tree_part[w, t] = n
        s.used_tree[w, n] = t
        s.tree_root[w, t] = t
        s.tree_sides[w, t] = 0
        return n + 1

    @wp.func
    def touched(s: struct, w: int) -> int:
        """Trees of contacts and ties in order of first use, their sides counted and their sets joined."""
        n = int(0)
        for c in range(s.ncontact[w] + s.nitem):
            trees = s.contact_tree[w, c]
            for side in range(2):
                t = trees[side]
                if t >= 0:
                    n = use(s, w, t, n)
                    s.tree_sides[w, t] = s.tree_sides[w, t] + 1
            if s.islands == 1 and trees[1] >= 0:
                if s.tree_root[w, trees[0]] != s.tree_root[w, trees[1]]:
                    join(s.tree_root, s.tree_part, w, trees[0], trees[1])
        return n

    @wp.func
    def constrained(s: struct, w: int, before: int) -> int:
        n = int(before)
        for r in range(s.nscalar):
            if s.constraint_row[w, r][0] > real(0.0):
                n = use(s, w, s.constraint_tree[r], n)
        return n

    if form == "v_star":

        @wp.func
        def others(s: struct, w: int, before: int) -> int:
            return before
    else:

        @wp.func
        def others(s: struct, w: int, before: int) -> int:
            n = int(before)
            for t in range(s.ntree):
                n = use(s, w, t, n)
            return n

    @wp.func
    def number_islands(s: struct, w: int, n: int) -> int:
        """Islands of the trees in use, and the length of each in island_start[k + 1]; returns their number."""
        count = int(0)
        for i in range(n):
            t = s.used_tree[w, i]
            k = int(0)
            if s.islands == 1:
                top = root(s.tree_root, w, t)
                k = count
                if top != t:
                    k = s.tree_island[w, top]
            if k == count:
                s.island_start[w, count + 1] = 0
                count += 1
            s.tree_island[w, t] = k
            s.island_start[w, k + 1] = s.island_start[w, k + 1] + 1
        return count

    @wp.func
    def list_one(s: struct, w: int, n: int):
        """Lists of all where there is one island.  An item that is not active keeps its place only where nothing is split."""
        for p in range(n):
            s.part_tree[w, p] = s.used_tree[w, p]
        for c in range(s.ncontact[w]):
            s.island_contact[w, c] = c
        items = int(0)
        for i in range(s.nitem):
            if s.islands == 0 or s.contact_tree[w, s.ncontact[w] + i][0] >= 0:
                s.island_item[w, items] = i
                items += 1
        rows = int(0)
        for r in range(s.nscalar):
            if s.constraint_row[w, r][0] > real(0.0):
                s.active_constraint[w, rows] = r
                rows += 1
        s.island_start[w, 0] = 0
        s.island_contact_start[w, 0] = 0
        s.island_contact_start[w, 1] = s.ncontact[w]
        s.island_item_start[w, 0] = 0
        s.island_item_start[w, 1] = items
        s.island_active_start[w, 0] = 0
        s.island_active_start[w, 1] = rows

    @wp.func
    def list_trees(s: struct, w: int, n: int, nisland: int):
        """Numbers the trees island by island."""
        close_counts(s.island_start, w, nisland)
        for j in range(n):
            t = s.used_tree[w, n - 1 - j]
            p = place_last(s.island_start, w, s.tree_island[w, t])
            s.part_tree[w, p] = t
            s.tree_part[w, t] = p
        end_lists(s.island_start, w, nisland, n)

    @wp.func
    def list_contacts(s: struct, w: int, first: int, n: int, nisland: int,
                      start: wp.array2d(dtype=int), found: wp.array2d(dtype=int)):  # fmt: skip
        """Numbers of contacts, or of items from place `first` on, by island; an item that is not active has none."""
        for k in range(nisland):
            start[w, k + 1] = 0
        for i in range(n):
            t = s.contact_tree[w, first + i][0]
            if t >= 0:
                k = s.tree_island[w, t]
                start[w, k + 1] = start[w, k + 1] + 1
        close_counts(start, w, nisland)
        total = start[w, nisland]
        for j in range(n):
            i = n - 1 - j
            t = s.contact_tree[w, first + i][0]
            if t >= 0:
                at = place_last(start, w, s.tree_island[w, t])
                found[w, at] = i
        end_lists(start, w, nisland, total)

    @wp.func
    def list_active(s: struct, w: int, nisland: int):
        """Active scalar constraint rows by island."""
        for k in range(nisland):
            s.island_active_start[w, k + 1] = 0
        for r in range(s.nscalar):
            if s.constraint_row[w, r][0] > real(0.0):
                k = s.tree_island[w, s.constraint_tree[r]]
                s.island_active_start[w, k + 1] = s.island_active_start[w, k + 1] + 1
        close_counts(s.island_active_start, w, nisland)
        total = s.island_active_start[w, nisland]
        for j in range(s.nscalar):
            r = s.nscalar - 1 - j
            if s.constraint_row[w, r][0] > real(0.0):
                at = place_last(s.island_active_start, w, s.tree_island[w, s.constraint_tree[r]])
                s.active_constraint[w, at] = r
        end_lists(s.island_active_start, w, nisland, total)

    @wp.func
    def list_sides(s: struct, w: int, n: int):
        for p in range(n):
            s.part_start[w, p + 1] = s.tree_sides[w, s.part_tree[w, p]]
        close_counts(s.part_start, w, n)
        total = s.part_start[w, n]
        count = s.ncontact[w] + s.nitem
        for i in range(2 * count):
            side = 2 * count - 1 - i
            t = s.contact_tree[w, side // 2][side % 2]
            if t >= 0:
                at = place_last(s.part_start, w, s.tree_part[w, t])
                s.part_side[w, at] = side
        end_lists(s.part_start, w, n, total)

    @wp.func
    def count_sums(s: struct, w: int, nisland: int):
        for k in range(nisland):
            contacts = s.island_contact_start[w, k + 1] - s.island_contact_start[w, k]
            items = s.island_item_start[w, k + 1] - s.island_item_start[w, k]
            rows = s.island_active_start[w, k + 1] - s.island_active_start[w, k]
            s.island_sums[w, k] = wp.min(wp.max(contacts, wp.max(rows, items)), wp.static(SUMS))

    @wp.func
    def participants(s: struct, w: int, lane: int):
        for t in range(lane, s.ntree, wp.block_dim()):
            s.tree_part[w, t] = -1
        barrier()
        if lane == 0:
            n = others(s, w, constrained(s, w, touched(s, w)))
            nisland = number_islands(s, w, n)
            if nisland == 1:
                list_one(s, w, n)
            elif nisland > 1:
                list_trees(s, w, n, nisland)
                list_contacts(s, w, 0, s.ncontact[w], nisland, s.island_contact_start, s.island_contact)
                list_contacts(s, w, s.ncontact[w], s.nitem, nisland, s.island_item_start, s.island_item)
                list_active(s, w, nisland)
            active = int(0)
            if nisland > 0:
                list_sides(s, w, n)
                count_sums(s, w, nisland)
                active = s.island_active_start[w, nisland]
            s.npart[w] = n
            s.nisland[w] = nisland
            s.nactive[w] = active

    return make_stage(variant("participants", form), R, struct, participants, SCALARS)
