"""Channel `energy`: kinetic energy, that of gravity, and that of the springs of joints, at each row (contract 3).

What compliant contacts, limits and drives hold is no part of it: their laws are impulses of a step, not springs that give back
what they took.
"""

import numpy as np

from ...step.block import Block
from ..layout import Channel, Counts, Dataset


def _each(name: str, long_name: str) -> Dataset:
    return Dataset(f"energy/{name}", ("time", "world"), "real", "J", long_name)


GROWS = (
    _each("kinetic", "kinetic energy of the links and of the joints' reflected inertia"),
    _each("potential", "energy of gravity, zero at the world's origin"),
    _each("elastic", "energy of the springs of joints, zero at their references"),
)


def rows(block: Block, counts: Counts) -> dict[str, np.ndarray]:
    """The block's energies, a dataset each."""
    return {dataset.name: block.energy[..., i] for i, dataset in enumerate(GROWS)}


CHANNEL = Channel("energy", grows=GROWS, rows=rows)
