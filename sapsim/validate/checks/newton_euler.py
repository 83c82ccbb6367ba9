"""RNEA = sum over links of J' d/dt (angular, linear momentum) less gravity, and armature a: Newton and Euler, link by link.

The momentum of each link, with its own mass and inertia, is differentiated along the motion by central differences of sixth
order in float64: with rates of 10 rad/s the step 0.001 leaves 10^7 0.001^6 / 140 = 7e-14, and round-off 2e-16 / 0.001.  No
recursion, no composite inertia and no formula of Coriolis' terms is used, so this is the check that sees when one of them is
missing.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, derivative

STEP = 1.0e-3


def measure(s: Samples) -> Measured:
    d, own = s.exact, s.exact.inertias
    place = d.along(s.q, s.v)

    def momentum(t: float) -> np.ndarray:
        """(W, nlink, 6) [I omega; m v_com] of the links at q(t), v + a t."""
        place(t, s.v + t * s.a)
        links = d.links()
        angular = np.einsum("wlij,wlj->wli", own.in_world(links), links.V[..., :3])
        return np.concatenate([angular, own.mass[:, None] * links.velocities(own.com)], axis=-1)

    force = derivative(momentum, STEP)
    force[..., 3:] -= own.mass[:, None] * own.gravity
    com = d.forward_kinematics(s.q).points(own.com)
    return s.of_forces(s.tau - d.armature * s.a - d.generalized_force(force, com))


CHECK = Check("newton_euler", "RNEA = sum over links of J' (rate of momentum - weight)", measure)
