"""h(q, 0) = dV/dq: gravity's generalized force is the gradient of the potential energy of the links, joint by joint.

The gradient is by central differences of sixth order along each degree of freedom, in float64.  A rotation moves a centre of
mass along a circle, so the step 0.01 leaves 0.01^6 / 140 = 7e-15; round-off of V over the step, 2e-16 sum m |g| |p| / 0.01,
is taken off the residual, for it says nothing about h.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, derivative

STEP = 1.0e-2
ROUND_OFF = 16.0 * np.finfo(float).eps  # of V: a few roundings of each term


def measure(s: Samples) -> Measured:
    d, own = s.exact, s.exact.inertias
    g = s.dynamics.nonlinear_effects(s.q, np.zeros(d.nv))
    size = own.mass * np.linalg.norm(own.gravity, axis=1)
    terms = np.linalg.norm(d.forward_kinematics(s.q).points(own.com), axis=-1) @ size
    r = np.zeros_like(g)
    for i, unit in enumerate(np.eye(d.nv)):
        slope = derivative(lambda t, unit=unit: d.potential_energy(d.move(s.q, unit, t)), STEP)
        r[:, i] = np.maximum(np.abs(g[:, i] - slope) - ROUND_OFF * terms / STEP, 0.0)
    return s.of_forces(r)


CHECK = Check("gravity", "h(q, 0) = gradient of the potential energy", measure)
