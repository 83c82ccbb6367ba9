"""The part of a world that is one problem: ranges of the lists of the stage `participants`."""

import warp as wp


@wp.struct
class Island:
    """Ranges [x, x_end) of participating trees, contacts, items of ties and active scalar constraint rows, in the lists that
    are sorted by island; and the number of partial sums over the last three."""

    tree: int
    tree_end: int
    contact: int
    contact_end: int
    item: int
    item_end: int
    row: int
    row_end: int
    sums: int


def make_island(struct):
    """wp.func island(s, w, k) -> Island."""

    @wp.func
    def island(s: struct, w: int, k: int) -> Island:
        found = Island()
        found.tree = s.island_start[w, k]
        found.tree_end = s.island_start[w, k + 1]
        found.contact = s.island_contact_start[w, k]
        found.contact_end = s.island_contact_start[w, k + 1]
        found.item = s.island_item_start[w, k]
        found.item_end = s.island_item_start[w, k + 1]
        found.row = s.island_active_start[w, k]
        found.row_end = s.island_active_start[w, k + 1]
        found.sums = s.island_sums[w, k]
        return found

    return island


@wp.func
def count_places(island: Island) -> int:
    """How many contacts and items of ties the island has."""
    return island.contact_end - island.contact + island.item_end - island.item


def make_place(struct):
    """wp.func place(s, w, island, x) -> the place, in arrays of contacts and items, of the x-th of the island's contacts and,
    behind them, items."""

    @wp.func
    def place(s: struct, w: int, island: Island, x: int) -> int:
        contacts = island.contact_end - island.contact
        if x < contacts:
            return s.island_contact[w, island.contact + x]
        return s.ncontact[w] + s.island_item[w, island.item + x - contacts]

    return place
