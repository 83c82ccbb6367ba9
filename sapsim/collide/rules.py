"""Whether two shapes are tested for contact at all, and by which kind of pair: model/pairs.py on the device."""

import warp as wp

ARRAYS = (
    "shape_body", "shape_link", "shape_kind", "shape_contype", "shape_conaffinity", "shape_instance", "kind_pair",
    "excluded_start", "excluded_link",
)  # fmt: skip


def make_rules(struct):
    """wp.func kind_of(s, a, b) -> int: near_kind of shapes a < b, -1 where they are not tested.

    A struct that is passed here has the arrays of ARRAYS and the scalar nshapekind.
    """

    @wp.func
    def is_excluded(s: struct, high: int, low: int) -> bool:
        """Whether link `low` is in the ascending list of link `high`."""
        if high < 0:
            return False
        first = s.excluded_start[high]
        last = s.excluded_start[high + 1]
        end = last
        while first < last:
            middle = (first + last) // 2
            if s.excluded_link[middle] < low:
                first = middle + 1
            else:
                last = middle
        return first < end and s.excluded_link[wp.min(first, end - 1)] == low

    @wp.func
    def kind_of(s: struct, a: int, b: int) -> int:
        if s.shape_body[a] == s.shape_body[b]:
            return -1
        if ((s.shape_contype[a] & s.shape_conaffinity[b]) | (s.shape_contype[b] & s.shape_conaffinity[a])) == 0:
            return -1
        one = s.shape_instance[a]
        other = s.shape_instance[b]
        if one >= 0 and one // 2 == other // 2 and (one & other & 1) == 0:
            return -1
        link_a = s.shape_link[a]
        link_b = s.shape_link[b]
        if is_excluded(s, wp.max(link_a, link_b), wp.min(link_a, link_b)):
            return -1
        return s.kind_pair[s.shape_kind[a] * s.nshapekind + s.shape_kind[b]]

    return kind_of
