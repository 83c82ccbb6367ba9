"""Which materials meet in the pairs of shapes that are tested: each two of them once, whatever shapes have them."""

from dataclasses import dataclass
from typing import Any

import numpy as np


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


def find_material_pairs(shapes: list[Any], a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, list[MaterialPair]]:
    """Of pairs of shapes a, b (npair,): the number of each pair's materials (npair,), and what these are."""
    known = sorted({_key(s) for s in shapes})
    number = {key: i for i, key in enumerate(known)}
    of_shape = np.array([number[_key(s)] for s in shapes], np.int64)
    of_a, of_b = (of_shape[np.asarray(x, int)] if len(x) else np.zeros(0, np.int64) for x in (a, b))
    both = np.minimum(of_a, of_b) * len(known) + np.maximum(of_a, of_b)
    found, place = np.unique(both, return_inverse=True)
    return place.astype(np.int32), [_pair(*(known[i] for i in divmod(int(x), len(known)))) for x in found]


def _key(shape: Any) -> tuple:
    """Shapes of equal keys are of one material; a name alone does not tell, since overlays can change what it stands for."""
    m = shape.material
    return (shape.material_name, m.stiffness, m.dissipation, m.relaxation_time, m.friction)


def _pair(first: tuple, second: tuple) -> MaterialPair:
    (name_a, k_a, _, tau_a, _), (name_b, k_b, _, tau_b, _) = first, second
    return MaterialPair((name_a, name_b), k_a * k_b / (k_a + k_b) if k_a + k_b > 0.0 else 0.0, tau_a + tau_b)
