"""RNEA(q, v, a + delta e_i) - RNEA(q, v, a) = delta M e_i, at full speed and acceleration, a column at a time.

Only the column's own terms may change; mass_columns, at rest, would not see a term of velocity and acceleration together.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, ratio, worst_name

DELTA = 3.0  # [rad/s^2, m/s^2], of the size of a


def measure(s: Samples) -> Measured:
    d = s.dynamics
    tau, *raised = d.rnea_many(s.q, s.v, [s.a, *(s.a + DELTA * unit for unit in np.eye(d.nv))])
    worst = np.zeros((len(s.q), d.nv))
    for i, more in enumerate(raised):
        scale = np.maximum(s.norm(more), s.norm(s.h))
        worst[:, i] = ratio(s.norm(more - tau - DELTA * s.M[:, :, i]), scale)
    return Measured(worst.max(axis=1, initial=0.0), lambda w: worst_name(worst[w], d.dof_names))


CHECK = Check("delta_column", "RNEA(a + delta e_i) - RNEA(a) = delta M e_i", measure)
