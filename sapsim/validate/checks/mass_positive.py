"""M is positive definite: the smallest eigenvalue of D M D, whose diagonal is one, is positive.  The residual is minus it."""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, worst_name


def measure(s: Samples) -> Measured:
    if not s.dynamics.nv:
        return Measured(np.zeros(len(s.q)))
    scaled = s.D[:, :, None] * s.M * s.D[:, None, :]
    sound = np.isfinite(scaled).all(axis=(1, 2))
    values, vectors = np.linalg.eigh(np.where(sound[:, None, None], scaled, np.eye(s.dynamics.nv)))
    smallest = np.where(sound, values[:, 0], np.nan)
    with np.errstate(all="ignore"):
        condition = float(np.max(np.linalg.cond(np.where(sound[:, None, None], s.M, np.eye(s.dynamics.nv)))))
    return Measured(
        -smallest,
        lambda w: worst_name(vectors[w, :, 0], s.dynamics.dof_names),
        {"condition": condition, "condition_scaled": float(np.max(values[:, -1] / np.abs(values[:, 0])))},
    )


CHECK = Check("mass_positive", "M > 0: minus the smallest eigenvalue of D M D", measure, tolerance=0.0)
