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

    def momentum(t: float) -> np.ndarray:
        """(W, nlink, 6) [I omega; m v_com] of the links at q(t), v + a t."""
        links = d.forward_kinematics(d.move(s.q, s.v, t), s.v + t * s.a)
        angular = np.einsum("wlij,wlj->wli", own.in_world(links), links.V[..., :3])
        return np.concatenate([angular, own.mass[:, None] * links.velocities(own.com)], axis=-1)

    force = derivative(momentum, STEP)
    force[..., 3:] -= own.mass[:, None] * own.gravity
    tau = d.armature * s.a
    for i, name in enumerate(d.link_names):
        if own.mass[i] > 0.0 or own.inertia[i].any():
            tau = tau + np.einsum("wij,wi->wj", d.jacobian(s.q, name, own.com[i]), force[:, i])
    return s.of_forces(s.tau - tau)


CHECK = Check("newton_euler", "RNEA = sum over links of J' (rate of momentum - weight)", measure)
