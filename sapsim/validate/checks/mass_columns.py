"""M e_i = RNEA(q, 0, e_i) - h(q, 0), a column at a time."""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, ratio, worst_name


def measure(s: Samples) -> Measured:
    zero = np.zeros(s.dynamics.nv)
    g, *columns = s.dynamics.rnea_many(s.q, zero, [zero, *np.eye(s.dynamics.nv)])
    worst = np.zeros((len(s.q), s.dynamics.nv))
    for i, tau in enumerate(columns):
        scale = np.maximum(s.norm(tau), s.norm(g))
        worst[:, i] = ratio(s.norm(s.M[:, :, i] - (tau - g)), scale)
    return Measured(worst.max(axis=1, initial=0.0), lambda w: worst_name(worst[w], s.dynamics.dof_names))


CHECK = Check("mass_columns", "M e_i = RNEA(e_i) - h", measure)
