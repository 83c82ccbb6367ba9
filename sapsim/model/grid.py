"""The grid of the broad phase (collide/grid.py): which shapes it holds on which level, and which are tested against all others.

A level holds shapes whose largest half extents differ by at most two.  Sizes that only a few shapes have, as planes, floors and
walls, make no level: below `FEW` shapes it is cheaper to test them against all others than to look them up.
"""

import numpy as np

from sapsim.model.pairs import PairTable

FEW = 12
LARGE, UNTESTED = -1, -2  # values of shape_level


def place_in_grid(arrays: dict[str, np.ndarray], pairs: PairTable) -> dict[str, np.ndarray]:
    """grid_shape, large_shape, shape_level, and level_reach (1, ngridlevel); all empty where the model lists its pairs."""
    rules = pairs.rules.arrays
    n = 0 if pairs.listed else len(rules["shape_body"])
    low, high, round_ = (arrays[name][0, :n] for name in ("shape_low", "shape_high", "shape_round"))
    finite = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    reach = np.full(n, np.inf)
    reach[finite] = np.linalg.norm(high[finite] - low[finite], axis=1) / 2.0 + round_[finite].max(axis=1, initial=0.0)
    level = np.full(n, LARGE, np.int32)
    level[(rules["shape_contype"][:n] | rules["shape_conaffinity"][:n]) == 0] = UNTESTED
    sized = finite & (level == LARGE)
    octave = np.full(n, np.iinfo(np.int32).min)
    octave[sized] = np.floor(np.log2(reach[sized] / reach[sized].min(initial=np.inf)))
    found, count = np.unique(octave[sized], return_counts=True)
    kept = found[count >= FEW]
    in_grid = sized & np.isin(octave, kept)
    level[in_grid] = np.searchsorted(kept, octave[in_grid])
    return {
        "grid_shape": np.flatnonzero(level >= 0).astype(np.int32),
        "large_shape": np.flatnonzero(level == LARGE).astype(np.int32),
        "shape_level": level,
        "level_reach": np.array([[reach[level == k].max() for k in range(len(kept))]], float),
    }


def bucket_count(ngrid: int) -> int:
    """A power of two, twice the number of shapes or more; at least the cells of a row that a shape can reach."""
    return 1 << max(6, (2 * ngrid - 1).bit_length()) if ngrid else 0
