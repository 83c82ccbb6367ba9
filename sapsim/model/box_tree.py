"""A tree of boxes over triangles that stand in Morton order, laid out for a walk without a stack (model/surfaces.py)."""

import numpy as np

LEAF = 4  # triangles of a leaf
BITS = 20  # of each coordinate in the order


def morton_order(corners: np.ndarray) -> np.ndarray:
    """The order of triangles (m, 3, 3) along a curve that fills space, by their middles."""
    middle = corners.mean(axis=1)
    low, high = middle.min(axis=0), middle.max(axis=0)
    longest = max(float((high - low).max()), np.finfo(float).tiny)
    cell = np.minimum((middle - low) / longest * 2**BITS, 2**BITS - 1).astype(np.int64)
    key = np.zeros(len(corners), np.int64)
    for bit in range(BITS):
        for axis in range(3):
            key |= (cell[:, axis] >> bit & 1) << (3 * bit + axis)
    return np.argsort(key, kind="stable")


def box_tree(corners: np.ndarray) -> dict[str, np.ndarray]:
    """Nodes in depth-first order over triangles (m, 3, 3): node_low, node_high (n, 3); node_tri the first triangle of a leaf,
    -1 of other nodes; node_tri_end the one after its last; node_next, where a walk goes on that misses the node."""
    m = len(corners)
    leaves = (m + LEAF - 1) // LEAF
    levels = _levels(leaves)
    n = 2 * leaves - 1
    part, end = np.full(n, -1), np.zeros(n, np.int64)
    after = np.zeros(n, np.int64)
    low, high = np.zeros((n, 3)), np.zeros((n, 3))
    starts = np.arange(0, m, LEAF)
    leaf_low = np.minimum.reduceat(corners.min(axis=1), starts, axis=0)
    leaf_high = np.maximum.reduceat(corners.max(axis=1), starts, axis=0)
    for node, first, count in reversed(levels):
        after[node] = node + 2 * count - 1
        one = count == 1
        at, leaf = node[one], first[one]
        part[at], end[at] = LEAF * leaf, np.minimum(LEAF * (leaf + 1), m)
        low[at], high[at] = leaf_low[leaf], leaf_high[leaf]
        at, left = node[~one], node[~one] + 1
        right = left + 2 * ((count[~one] + 1) // 2) - 1
        low[at], high[at] = np.minimum(low[left], low[right]), np.maximum(high[left], high[right])
    return {"node_low": low, "node_high": high, "node_tri": part, "node_tri_end": end, "node_next": after}


def _levels(leaves: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Nodes of each depth: (place in depth-first order, first leaf, number of leaves); a node gives its left child the larger
    half."""
    node, first, count = np.array([0]), np.array([0]), np.array([leaves])
    levels = []
    while len(node):
        levels.append((node, first, count))
        inner = count > 1
        node, first, count = node[inner], first[inner], count[inner]
        larger = (count + 1) // 2
        node = np.concatenate([node + 1, node + 2 * larger])
        first = np.concatenate([first, first + larger])
        count = np.concatenate([larger, count - larger])
    return levels
