"""RNEA(ABA(tau)) = tau under forces on links: forward dynamics of forces that come from nowhere else, then inverse dynamics.

aba_rnea starts from an acceleration.  Here tau and the forces on all links are drawn, what drives a floating base directly is
zero as on a real robot, and forward dynamics must find the accelerations that inverse dynamics answers with the same tau.

Where M is badly conditioned, forces from nowhere make accelerations whose inertial forces cancel in M a; the residual is
measured against |M| |a|, what is added up there, and h.
"""

import numpy as np

from sapsim.dynamics.api import ExternalForce
from sapsim.validate.base import Check, Measured, Samples, worst_name


def measure(s: Samples) -> Measured:
    d, m = s.dynamics, s.dynamics.model.arrays
    # forces as large as those of a common motion, joint by joint and link by link
    tau = s.tau * s.rng.normal(size=s.tau.shape)
    free = (np.asarray(m["body_parent"]) < 0) & (np.asarray(m["body_nv"]) == 6)
    tau[:, free[np.asarray(m["dof_to_body"], int)]] = 0.0
    pushes = []
    for link, mass in zip(d.link_names, d.inertias.mass, strict=True):
        force, torque = s.rng.normal(size=(2, len(s.q), 3)) * 10.0 * mass
        pushes.append(ExternalForce(link, force, 0.01 * torque, tuple(s.rng.uniform(-0.01, 0.01, 3))))
    a = d.aba(s.q, s.v, tau, pushes)
    r = d.rnea(s.q, s.v, a, pushes) - tau
    h = d.nonlinear_effects(s.q, s.v, pushes)
    added = np.einsum("wij,wj->wi", np.abs(s.M), np.abs(a))
    return Measured(s.relative(r, added, h), lambda w: worst_name(s.D[w] * r[w], d.dof_names))


CHECK = Check("forward_inverse", "RNEA(ABA(tau)) = tau under forces on links", measure)
