"""Which materials meet in the pairs of shapes that are tested: each two of them once, whatever shapes have them."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapsim.model.pairs import PairTable

MOST = 64  # materials that are told apart where there is no list of pairs


@dataclass(frozen=True)
class MaterialPair:
    """Two materials that can meet, and what the pair rule makes of them (solver/problem.py).

    Fields:
        names: of the materials, "" for the default one.
        stiffness: [N/m] of the pair.
        relaxation_time: [s] of the pair.
    """

    names: tuple[str, str]
    stiffness: float
    relaxation_time: float


def find_material_pairs(shapes: list[Any], pairs: PairTable) -> tuple[dict[str, np.ndarray], list[MaterialPair]]:
    """shape_surface (nshape,) and surface_pair (nsurface^2,), and what the pairs of materials are that the latter numbers.

    Those that meet in the list of pairs; where there is none, all pairs, of at most `MOST` materials: the rarer ones are then
    counted together, as the stiffest of them.
    """
    keys = [_key(s) for s in shapes]
    known = sorted(set(keys))
    if not pairs.listed and len(known) > MOST:
        count = Counter(keys)
        common = sorted(known, key=lambda key: -count[key])[: MOST - 1]
        others = max(set(known) - set(common), key=lambda key: key[1])
        known = sorted([*common, ("other materials", *others[1:])])
        keys = [key if key in common else ("other materials", *others[1:]) for key in keys]
    n = len(known)
    number = {key: i for i, key in enumerate(known)}
    of_shape = np.array([number[key] for key in keys], np.int64)
    of_a, of_b = (of_shape[pairs.a], of_shape[pairs.b]) if pairs.listed and len(pairs.a) else np.zeros((2, 0), np.int64)
    if not pairs.listed:
        of_a, of_b = np.triu_indices(n)
    found = np.unique(np.minimum(of_a, of_b) * n + np.maximum(of_a, of_b))
    table = np.full((n, n), -1, np.int32)
    first, second = np.divmod(found, max(1, n))
    table[first, second] = table[second, first] = np.arange(len(found))
    arrays = {"shape_surface": of_shape.astype(np.int32), "surface_pair": table.ravel()}
    return arrays, [_pair(known[i], known[j]) for i, j in zip(first, second, strict=True)]


def _key(shape: Any) -> tuple:
    """Shapes of equal keys are of one material; a name alone does not tell, since overlays can change what it stands for."""
    m = shape.material
    return (shape.material_name, m.stiffness, m.dissipation, m.relaxation_time, m.friction)


def _pair(first: tuple, second: tuple) -> MaterialPair:
    (name_a, k_a, _, tau_a, _), (name_b, k_b, _, tau_b, _) = first, second
    return MaterialPair((name_a, name_b), k_a * k_b / (k_a + k_b) if k_a + k_b > 0.0 else 0.0, tau_a + tau_b)
