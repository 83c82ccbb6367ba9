"""M is positive definite: the smallest eigenvalue of D M D, whose diagonal is one, is positive.  The residual is minus it."""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, worst_name


def measure(s: Samples) -> Measured:
    nv = s.dynamics.nv
    if not nv:
        return Measured(np.zeros(len(s.q)))
    scaled = s.D[:, :, None] * s.M * s.D[:, None, :]
    sound = np.isfinite(scaled).all(axis=(1, 2))
    scaled = np.where(sound[:, None, None], scaled, np.eye(nv))
    values = np.linalg.eigvalsh(scaled)
    smallest = np.where(sound, values[:, 0], np.nan)
    size = np.abs(np.linalg.eigvalsh(np.where(sound[:, None, None], s.M, np.eye(nv))))
    with np.errstate(all="ignore"):
        condition = float(np.max(size.max(axis=1) / size.min(axis=1)))
        condition_scaled = float(np.max(values[:, -1] / np.abs(values[:, 0])))
    return Measured(
        -smallest,
        lambda w: worst_name(np.linalg.eigh(scaled[w])[1][:, 0], s.dynamics.dof_names),
        {"condition": condition, "condition_scaled": condition_scaled},
    )


CHECK = Check("mass_positive", "M > 0: minus the smallest eigenvalue of D M D", measure, tolerance=0.0)
