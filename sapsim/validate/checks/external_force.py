"""A force enters the equations of motion as J' f: on every link, in world and link axes, at a point off the link's origin."""

import numpy as np

from sapsim.dynamics.api import ExternalForce
from sapsim.validate.base import Check, Measured, Samples


def measure(s: Samples) -> Measured:
    d = s.dynamics
    size = 1.0 + 10.0 * d.inertias.mass.sum()  # of the order of the weight
    links = d.forward_kinematics(s.q)
    worst, names = [np.zeros(len(s.q))], [""]
    for i, link in enumerate(d.link_names):
        point = s.rng.uniform(-0.3, 0.3, 3)
        J = d.jacobian(s.q, link, point)
        for frame in ("world", "link"):
            torque, force = s.rng.normal(size=(2, len(s.q), 3)) * np.array([0.1, 1.0])[:, None, None] * size
            pushed = d.rnea(s.q, s.v, s.a, [ExternalForce(link, force, torque, tuple(point), frame)])
            wrench = [np.einsum("wij,wj->wi", links.R[:, i], x) if frame == "link" else x for x in (torque, force)]
            expected = s.tau - np.einsum("wij,wi->wj", J, np.concatenate(wrench, axis=1))
            worst.append(s.relative(pushed - expected, pushed))
            names.append(f"{link}, {frame} axes")
    worst = np.stack(worst, axis=1)
    return Measured(worst.max(axis=1), lambda w: names[int(np.argmax(worst[w]))])


CHECK = Check("external_force", "RNEA with f = RNEA - J' f", measure)
