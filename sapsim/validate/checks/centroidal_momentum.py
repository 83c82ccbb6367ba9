"""A_G v = the momentum of the links about their mass centre, of every tree and of all; its linear part is m times the
velocity of that centre.

A_G is made of composite inertias of bodies; the links' own mass properties do not go through the merging of links that fixed
joints hold together.  Linear momentum is measured against sqrt(m v' M v), which bounds it (Cauchy and Schwarz), angular
momentum against sqrt(I v' M v), with I the sum of m |p|^2 and of the links' own moments.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, ratio


def measure(s: Samples) -> Measured:
    if not s.dynamics.nv:
        return Measured(np.zeros(len(s.q)))
    found: dict[str, np.ndarray] = {}
    for by_tree, label in ((False, "all"), (True, "tree")):
        found |= _residuals(s, by_tree, label)
    names, worst = list(found), np.stack(list(found.values()), axis=1)
    return Measured(worst.max(axis=1), lambda w: names[int(np.argmax(worst[w]))])


def _residuals(s: Samples, by_tree: bool, label: str) -> dict[str, np.ndarray]:
    """(W,) each, by name."""
    d, own, count = s.exact, s.exact.inertias, len(s.q)
    energy = np.einsum("wi,wij,wj->w", s.v, s.M, s.v)[:, None]
    matrix = s.dynamics.centroidal_momentum_matrix(s.q, by_tree).reshape(count, -1, 6, d.nv)
    summed = d.centroidal_momentum(s.q, s.v, by_tree).reshape(count, -1, 6)
    centre = d.centre_of_mass(s.q, s.v, by_tree)
    error = np.einsum("wtij,wj->wti", matrix, s.v) - summed
    drift = centre.mass[:, None] * centre.v.reshape(count, -1, 3) - summed[..., 3:]
    member = d.members(by_tree)
    away = d.forward_kinematics(s.q).points(own.com)[:, None] - centre.p.reshape(count, -1, 1, 3)
    moment = np.einsum("tl,wtl->wt", member * own.mass, np.sum(away**2, axis=-1))
    moment = moment + member @ np.trace(own.inertia, axis1=1, axis2=2)
    linear, angular = np.sqrt(centre.mass * energy), np.sqrt(moment * energy)
    parts = (error[..., 3:], linear, "linear"), (error[..., :3], angular, "angular"), (drift, linear, "mass centre")
    found = {}
    for r, scale, what in parts:
        sizes = ratio(np.linalg.norm(r, axis=-1), scale)
        found |= {f"{label} {t}, {what}": sizes[:, t] for t in range(sizes.shape[1])}
    return found


CHECK = Check("centroidal_momentum", "A_G v = sum over links of momentum about the mass centre", measure)
