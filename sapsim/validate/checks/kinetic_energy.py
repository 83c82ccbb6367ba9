"""v' M v / 2 = the sum of the kinetic energies of the links, each with its own mass and inertia, and of the armatures.

The links' own mass properties do not go through the merging of links that fixed joints hold together.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, ratio


def measure(s: Samples) -> Measured:
    links = s.exact.kinetic_energy(s.q, s.v)
    matrix = 0.5 * np.einsum("wi,wij,wj->w", s.v, s.M, s.v)
    return Measured(ratio(np.abs(matrix - links), links))


CHECK = Check("kinetic_energy", "v' M v / 2 = sum over links", measure)
