"""A force enters the equations of motion as J' f: on every link, in world and link axes, at a point off the link's origin."""

import numpy as np

from sapsim.dynamics.api import ExternalForce
from sapsim.validate.base import Check, Measured, Samples

AT_ONCE = 16  # links whose forces are kept in memory together


def measure(s: Samples) -> Measured:
    d = s.dynamics
    if not d.nlink:
        return Measured(np.zeros(len(s.q)))
    size = 1.0 + 10.0 * d.inertias.mass.sum()  # of the order of the weight
    links = d.forward_kinematics(s.q)
    worst, names = [], []
    for first in range(0, d.nlink, AT_ONCE):
        pushes, wrenches = [], []
        for i in range(first, min(first + AT_ONCE, d.nlink)):
            point = s.rng.uniform(-0.3, 0.3, 3)
            p_WP = links.p[:, i] + links.R[:, i] @ point
            for frame in ("world", "link"):
                torque, force = s.rng.normal(size=(2, len(s.q), 3)) * np.array([0.1, 1.0])[:, None, None] * size
                pushes.append([ExternalForce(d.link_names[i], force, torque, tuple(point), frame)])
                world = [np.einsum("wij,wj->wi", links.R[:, i], x) if frame == "link" else x for x in (torque, force)]
                wrenches.append((i, p_WP, np.concatenate(world, axis=1)))
                names.append(f"{d.link_names[i]}, {frame} axes")
        pushed = d.rnea_pushed(s.q, s.v, s.a, pushes)
        for tau, (i, p_WP, wrench) in zip(pushed, wrenches, strict=True):
            J = d.jacobian_at(int(d.model.arrays["link_body"][i]), p_WP)
            expected = s.tau - np.einsum("wij,wi->wj", J, wrench)
            worst.append(s.relative(tau - expected, tau))
    worst = np.stack(worst, axis=1)
    return Measured(worst.max(axis=1), lambda w: names[int(np.argmax(worst[w]))])


CHECK = Check("external_force", "RNEA with f = RNEA - J' f", measure)
