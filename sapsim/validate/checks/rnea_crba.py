"""RNEA = M a + h: inverse dynamics and the mass matrix are made by different recursions."""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples


def measure(s: Samples) -> Measured:
    return s.of_forces(s.tau - np.einsum("wij,wj->wi", s.M, s.a) - s.h)


CHECK = Check("rnea_crba", "RNEA(q, v, a) = M a + h", measure)
