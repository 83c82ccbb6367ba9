"""The shape of the trees, for passes that all lanes share: bodies level by level, and the tree of the 3x3 blocks of A.

A **level** holds the bodies of one depth, those of all trees of the world together.  A pass goes from level to level; within
one no body needs another.  Sums from leaf to root are gathered by the parents from lists of children, in a fixed order.

**Tree of blocks.**  Degrees of freedom follow one another depth first and three make a block, so a block can hold the end of
one branch and the start of the next.  Its parent is the last earlier block in which an ancestor of any of its degrees of
freedom lies.  All other blocks with such ancestors then are on the path from there to the root, and the blocks that hang on a
block are a range, both because a depth-first order keeps subtrees together.  So A has entries only where one block is an
ancestor of the other, and its factor from the leaves to the root fills none beside (Featherstone 2008, section 6.5, for
blocks).  A row is stored as its path: block (r, c) is at A_row[r] + depth of c.
"""

from itertools import pairwise

import numpy as np

BRANCH_DOFS = 6  # a branch of so many degrees of freedom starts a block of its own
DENSE_DOFS = 64  # the largest tree with a dense factor
SMALL_BLOCKS = 2  # trees of so many blocks are factorised by a lane each
FACTORS = ("auto", "dense", "sparse")
BLOCK = 3


def levels(parent: np.ndarray) -> dict[str, np.ndarray]:
    """level_start, level_body, child_start, child_body of bodies whose parents (-1: world) come before them.

    The children of a body descend: they are added in the order in which a sweep from the last body to the first meets them.
    """
    depth = depths(parent)
    children: list[list[int]] = [[] for _ in parent]
    for b in range(len(parent) - 1, -1, -1):
        if parent[b] >= 0:
            children[parent[b]].append(b)
    return {
        "level_start": level_starts(depth),
        "level_body": np.argsort(depth, kind="stable"),
        "child_start": np.cumsum([0] + [len(c) for c in children]),
        "child_body": np.array([b for c in children for b in c], np.int32),
    }


def depths(parent: np.ndarray) -> np.ndarray:
    """Number of ancestors of each node; parents come before their children."""
    depth = np.zeros(len(parent), np.int32)
    for b, p in enumerate(parent):
        if p >= 0:
            depth[b] = depth[p] + 1
    return depth


def subtree_ends(parent: np.ndarray) -> np.ndarray:
    """The last node of each subtree, whose nodes follow one another."""
    last = np.arange(len(parent), dtype=np.int32)
    for b in range(len(parent) - 1, -1, -1):
        if parent[b] >= 0:
            last[parent[b]] = max(last[parent[b]], last[b])
    return last


def level_starts(depth: np.ndarray) -> np.ndarray:
    """First places of the levels in a list of nodes that is sorted by depth, and one past the end."""
    return np.searchsorted(np.sort(depth), np.arange(depth.max(initial=-1) + 2)).astype(np.int32)


def starts_branch(parent: np.ndarray, body_last: np.ndarray, nv: np.ndarray) -> np.ndarray:
    """(nbody,) bool: bodies with siblings and many degrees of freedom in their subtree, for which a block of their own pays.

    Else a block can hold the end of one leg and the start of the next, which puts the one under the other in the tree of
    blocks.
    """
    siblings = np.bincount(parent[parent >= 0], minlength=len(parent))
    total = np.concatenate([[0], np.cumsum(nv)])
    dofs = total[body_last + 1] - total[:-1]
    return (parent >= 0) & (siblings[parent] > 1) & (dofs >= BRANCH_DOFS)


def block_tree(dof_body: np.ndarray, parent: np.ndarray, body_last: np.ndarray) -> dict[str, np.ndarray]:
    """block_parent, block_depth, block_last, A_row and A_mask of degrees of freedom (-1: padding) whose bodies are given."""
    nblock = len(dof_body) // BLOCK
    block_parent = np.full(nblock, -1, np.int32)
    last_block: dict[int, int] = {-1: -1}  # of a body: the last block with degrees of freedom of it or its ancestors
    for k, b in enumerate(dof_body):
        if b >= 0:
            r = k // BLOCK
            above = last_block[int(parent[b])] if b not in last_block else last_block[b]
            if above < r:
                block_parent[r] = max(block_parent[r], above)
            last_block[b] = r
    depth = depths(block_parent)
    return {
        "block_parent": block_parent,
        "block_depth": depth,
        "block_last": subtree_ends(block_parent),
        "A_row": np.cumsum([0, *(depth + 1)])[:-1].astype(np.int32),
        "A_mask": _masks(dof_body, body_last, block_parent, depth),
    }


def _masks(dof_body, body_last, block_parent, depth) -> np.ndarray:
    """Of every stored block: bit 3 i + j where entry (i, j) is of a degree of freedom and an ancestor's, or its own body's."""
    found = []
    for r in range(len(block_parent)):
        row = []
        c = r
        while c >= 0:
            mask = 0
            for i in range(BLOCK):
                for j in range(BLOCK):
                    b, a = dof_body[BLOCK * r + i], dof_body[BLOCK * c + j]
                    if a >= 0 and a <= b <= body_last[a]:
                        mask |= 1 << (BLOCK * i + j)
            row.append(mask)
            c = block_parent[c]
        found.extend(reversed(row))
    return np.array(found, np.int32)


def factors(factor: str, block_start: np.ndarray, dof_body: np.ndarray, blocks: dict[str, np.ndarray]):
    """How A of each tree is factorised: (arrays, sizes).

    The arrays are factor_tree, L_row, L_diagonal and the schedule of the sparse factor, sparse_*; the sizes count trees:
    `nsmall` small dense ones come first in factor_tree, dense ones end at `ndense`.

    `factor` is one of FACTORS; "auto" takes the sparse one for trees of more than DENSE_DOFS degrees of freedom, and for those
    whose branches save at least half of the products.
    """
    if factor not in FACTORS:
        raise ValueError(f"factor {factor!r} is none of {', '.join(FACTORS)}")
    depth, last = blocks["block_depth"], blocks["block_last"]
    kinds: list[list[int]] = [[], [], []]  # small and dense, dense, sparse
    L_row, L_diagonal, size = np.zeros(len(depth), np.int32), np.zeros(len(depth), np.int32), 0
    for t, (first, end) in enumerate(pairwise(block_start)):
        sparse = factor == "sparse" or (factor == "auto" and prefers_sparse(int(first), int(end), dof_body, depth, last))
        kinds[2 if sparse else 0 if end - first <= SMALL_BLOCKS else 1].append(t)
        for r in range(first, end):
            L_row[r] = size
            L_diagonal[r] = size + (depth[r] if sparse else r - first)
            size = L_diagonal[r] + 1
    rows = [r for t in kinds[2] for r in range(block_start[t], block_start[t + 1])]
    arrays = {
        "factor_tree": np.array([t for kind in kinds for t in kind], np.int32),
        "L_row": L_row,
        "L_diagonal": L_diagonal,
        **_schedule(np.array(rows, int), depth),
    }
    levels = len(arrays["sparse_start"]) // 2
    return arrays, {
        "nsmall": len(kinds[0]),
        "ndense": len(kinds[0]) + len(kinds[1]),
        "nL": size,
        "nsparse": len(arrays["sparse_row"]),
        "nsparse_level": levels,
        "nsparse_part": 2 * levels,
    }


def prefers_sparse(first: int, end: int, dof_body: np.ndarray, depth: np.ndarray, last: np.ndarray) -> bool:
    """Whether the tree of blocks first .. end - 1 is large, or branches so much that the sparse factor halves the products."""
    if np.count_nonzero(dof_body[BLOCK * first : BLOCK * end] >= 0) > DENSE_DOFS:
        return True
    n = end - first
    own = slice(first, end)
    sparse = int(((depth[own] + 1) * (last[own] - np.arange(first, end) + 1)).sum())
    return 2 * sparse <= n * (n + 1) * (n + 2) // 6


def _schedule(rows: np.ndarray, depth: np.ndarray) -> dict[str, np.ndarray]:
    """sparse_start, sparse_row, sparse_place: the blocks of the sparse factors level by level, first those on the diagonal.

    Level d has its diagonal blocks from sparse_start[2 d] and the others from sparse_start[2 d + 1].
    """
    start, items = [0], []
    for d in range(depth[rows].max(initial=-1) + 1):
        here = rows[depth[rows] == d]
        for places in ([d], range(d)):
            items += [(r, p) for r in here for p in places]
            start.append(len(items))
    row, place = np.array(items, np.int32).reshape(-1, 2).T
    return {"sparse_start": np.array(start, np.int32), "sparse_row": row, "sparse_place": place}
