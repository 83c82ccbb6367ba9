"""A mechanism that hangs on nothing falls with g: at rest, without forces, every link accelerates with g and no joint moves.

Of trees whose joint to the world gives them all six degrees of freedom.  Armature on that joint is inertia without weight; it
gets the force that it needs to keep up.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, worst_name


def measure(s: Samples) -> Measured:
    d, m = s.dynamics, s.dynamics.model.arrays
    of_dof = np.asarray(m["dof_to_body"], int)
    zero = np.zeros(d.nv)
    expected, free = np.zeros((len(s.q), d.nv)), np.zeros(d.nv, bool)
    for b in np.flatnonzero((np.asarray(m["body_parent"]) < 0) & (np.asarray(m["body_nv"]) == 6)):
        tree = m["body_tree"][b]
        link = next(name for name, body in zip(d.link_names, m["link_body"], strict=True) if body == b)
        falls = np.concatenate([np.zeros(3), d.gravity[tree]])
        expected[:, of_dof == b] = np.linalg.solve(d.jacobian(s.q, link)[:, :, of_dof == b], falls[:, None])[..., 0]
        free |= np.asarray(m["body_tree"])[of_dof] == tree
    if not free.any():
        return Measured(np.zeros(len(s.q)), lambda w: "no floating base")
    error = np.where(free, d.aba(s.q, zero, d.armature * expected) - expected, 0.0)
    r = np.einsum("wij,wj->wi", s.M, error)
    return Measured(s.relative(r), lambda w: worst_name(s.D[w] * r[w], d.dof_names))


CHECK = Check("floating_base", "a floating base without forces falls with g", measure)
