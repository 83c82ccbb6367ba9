"""How many Jacobian blocks a contact can have (solver/paths.py)."""

import numpy as np

from sapsim.model.pairs import PairTable


def most_blocks(arrays: dict[str, np.ndarray], pairs: PairTable) -> int:
    """The most Jacobian blocks of a contact: of a pair in the list, or, where there is none, of any two bodies with shapes."""
    body = arrays["shape_body"]
    if pairs.listed:
        both = np.unique(np.array([body[pairs.a], body[pairs.b]], np.int64).T.reshape(-1, 2), axis=0)
        return max([1, *(_blocks(arrays, int(a), int(b)) for a, b in both)])
    start = arrays["body_path_start"]
    moving = np.unique(body[body >= 0])
    longest = np.sort(np.diff(start)[moving])[::-1]
    return max(1, int(longest[:2].sum()))


def _blocks(arrays: dict[str, np.ndarray], a: int, b: int) -> int:
    """Of bodies a and b, -1 being the world: the paths of two trees one after another, their union in one tree."""
    start, path, tree = arrays["body_path_start"], arrays["body_path"], arrays["body_tree"]
    blocks_a = set(path[start[a] : start[a + 1]]) if a >= 0 else set()
    blocks_b = set(path[start[b] : start[b + 1]]) if b >= 0 else set()
    same = a >= 0 and b >= 0 and tree[a] == tree[b]
    return len(blocks_a | blocks_b) if same else len(blocks_a) + len(blocks_b)
