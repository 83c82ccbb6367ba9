"""ABA(RNEA(a)) = a, measured by the force that the two accelerations need."""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, ratio


def measure(s: Samples) -> Measured:
    a = s.dynamics.aba(s.q, s.v, s.tau)
    plain = ratio(np.linalg.norm(a - s.a, axis=1), np.linalg.norm(s.a, axis=1))
    figures = {"acceleration_error": float(plain.max(initial=0.0))}
    return s.of_forces(s.dynamics.rnea(s.q, s.v, a) - s.tau, plain=figures)


CHECK = Check("aba_rnea", "ABA(RNEA(a)) = a", measure)
