"""Bodies that overlap at t = 0 more than a contact at rest can explain: most often a mistake in the scene's poses.

The contacts of the first step are those of the initial state, so nothing is computed for this.  What counts is deeper than all
that rest explains:

    1/1000 of the thinner shape's thickness
    what the weight of all bodies together presses into the contact, as no pile is heavier than that; where this is much, in a
    large scene, the larger of 1/50 of the thickness and what twenty times the lighter body's tree presses
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

LEAST, MOST = 1.0e-3, 2.0e-2  # of the thickness
STACKED = 20.0  # times its own weight that a body carries at rest
TINY = 1.0e-300


@dataclass(frozen=True)
class Overlap:
    """Two shapes that overlap at the start: their places in `Simulation.shape_names`, and the largest depth [m], in `world`."""

    shape_a: int
    shape_b: int
    depth: float
    world: int


def read(sim: Any) -> list[Overlap]:
    """The overlaps of a simulation that has made its first step, the deepest first; of equal ones, by their shapes."""
    count, a, b, depth = (sim.arrays[x].numpy() for x in ("ncontact", "contact_a", "contact_b", "contact_depth"))
    world, at = np.nonzero(np.arange(a.shape[1]) < count[:, None])
    a, b, depth = (x[world, at] for x in (a, b, depth.astype(float)))
    deep = depth > _limits(sim, world, a, b)
    deepest: dict[tuple[int, int], Overlap] = {}
    for i in np.flatnonzero(deep):
        pair = (int(a[i]), int(b[i]))
        if pair not in deepest or depth[i] > deepest[pair].depth:
            deepest[pair] = Overlap(*pair, float(depth[i]), int(world[i]))
    return sorted(deepest.values(), key=lambda o: (-o.depth, o.shape_a, o.shape_b))


def _limits(sim: Any, world: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The depth [m] from which each contact counts."""
    m = sim.model.arrays
    half = 0.5 * (m["shape_high"][0] - m["shape_low"][0]) + m["shape_round"][0]
    thickness = np.where(m["shape_mesh"] >= 0, np.inf, 2.0 * half.min(axis=1))  # surfaces are as thick as what is behind them
    k_a, k_b = (sim.arrays["shape_material"].numpy()[world, x, 0].astype(float) for x in (a, b))
    stiffness = np.maximum(k_a * k_b / np.maximum(k_a + k_b, TINY), TINY)
    weight = _weights(sim)
    tree = np.append(m["body_tree"], -1)[m["shape_body"]]  # -1 of what is fixed in the world
    lighter = np.minimum(*(np.where(tree[x] >= 0, weight[world, tree[x]], np.inf) for x in (a, b)))
    thinner = np.minimum(thickness[a], thickness[b])
    own = np.maximum(MOST * thinner, STACKED * lighter / stiffness)
    return np.maximum(LEAST * thinner, np.minimum(own, weight.sum(axis=1)[world] / stiffness))


def _weights(sim: Any) -> np.ndarray:
    """The weight [N] of every tree in every world (W, ntree + 1), the last one zero."""
    m = sim.model.arrays
    mass, ntree = sim.arrays["body_mass"].numpy(), sim.model.sizes["ntree"]
    found = np.zeros((sim.nworld, ntree + 1))
    for b, tree in enumerate(m["body_tree"]):
        found[:, tree] += mass[:, b] * np.linalg.norm(m["tree_gravity"][0, tree])
    return found
