"""J v and J a + J-dot v of a point on a link are the rates of its place and velocity, and of the link's rotation.

In float64, by central differences of sixth order along the motion: with rates of 10 rad/s the step 0.001 leaves 7e-14, and
round-off 2e-16 / 0.001 of the place.  Residuals are relative to one plus the largest entry of what is compared, in metres
and radians.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, derivative

STEP = 1.0e-3


def measure(s: Samples) -> Measured:
    d = s.exact
    if not d.nlink:
        return Measured(np.zeros(len(s.q)))
    points = s.rng.uniform(-0.3, 0.3, (d.nlink, 3))
    place = d.along(s.q, s.v)

    def state(t: float) -> np.ndarray:
        """(W, nlink, 18): place and velocity of the point, angular velocity and rotation of the link."""
        place(t, s.v + t * s.a)
        links = d.links()
        both = np.concatenate([links.points(points), links.velocities(points), links.V[..., :3]], axis=-1)
        return np.concatenate([both, links.R.reshape(*links.R.shape[:2], 9)], axis=-1)

    rate = derivative(state, STEP)
    body = np.asarray(d.model.arrays["link_body"], int)
    links = d.forward_kinematics(s.q, s.v)
    p_WP = links.points(points)
    bias = d.bias_accelerations_at(body, p_WP)
    worst = []
    for i in range(d.nlink):
        J = d.jacobian_at(int(body[i]), p_WP[:, i])
        V, A = (np.einsum("wij,wj->wi", J, x) for x in (s.v, s.a))
        A = A + bias[:, i]
        turned = np.cross(V[:, None, :3], np.swapaxes(links.R[:, i], 1, 2))  # omega x each column of R
        expected = np.swapaxes(rate[:, i, 9:].reshape(-1, 3, 3), 1, 2)
        pairs = (V[:, 3:], rate[:, i, :3]), (turned.reshape(-1, 9), expected.reshape(-1, 9))
        pairs += (A[:, 3:], rate[:, i, 3:6]), (A[:, :3], rate[:, i, 6:9])
        worst.append(np.max([_error(x, y) for x, y in pairs], axis=0))
    worst = np.stack(worst, axis=1)
    return Measured(worst.max(axis=1), lambda w: d.link_names[int(np.argmax(worst[w]))])


def _error(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.abs(x - y).max(axis=1) / (1.0 + np.abs(y).max(axis=1))


CHECK = Check("jacobian", "J v and J a + J-dot v are the rates of places and velocities", measure)
