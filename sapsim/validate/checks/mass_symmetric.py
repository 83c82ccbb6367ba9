"""M is symmetric: as CRBA makes it, and as RNEA gives it column by column without gravity, where nothing forces it to be."""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, ratio, worst_name


def by_rnea(s: Samples) -> np.ndarray:
    """(W, nv, nv) whose columns are RNEA(q, 0, e_i) at zero gravity."""
    d, zero = s.dynamics, np.zeros(s.dynamics.nv)
    gravity = d.gravity.copy()
    d.gravity = 0.0
    try:
        _, *columns = d.rnea_many(s.q, zero, [zero, *np.eye(d.nv)])
    finally:
        d.gravity = gravity
    return np.stack(columns, axis=2) if columns else np.zeros((len(s.q), 0, 0))


def measure(s: Samples) -> Measured:
    D = s.D[:, :, None]
    g = s.norm(s.dynamics.nonlinear_effects(s.q, np.zeros(s.dynamics.nv)))[:, None]
    worst = np.zeros((len(s.q), s.dynamics.nv))
    for M in (s.M, by_rnea(s)):
        asymmetry = np.linalg.norm(D * (M - np.swapaxes(M, 1, 2)), axis=1)
        worst = np.maximum(worst, ratio(asymmetry, np.maximum(np.linalg.norm(D * M, axis=1), g)))
    return Measured(worst.max(axis=1, initial=0.0), lambda w: worst_name(worst[w], s.dynamics.dof_names))


CHECK = Check("mass_symmetric", "M = M'", measure)
