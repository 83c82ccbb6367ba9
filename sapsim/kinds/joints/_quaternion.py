"""Host functions of coordinates that hold a quaternion xyzw."""

import numpy as np


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """A quaternion of a rotation that is uniform over all of them."""
    Q = rng.normal(size=4)
    return Q / np.linalg.norm(Q)


def rotation_between(Q0, Q1) -> np.ndarray:
    """The velocity omega, axes of F, with which Q0 + N(Q0) omega, normalised, is the rotation of Q1.

    N(Q0) omega = 1/2 [omega, 0] (x) Q0, so that Q1 (x) Q0^-1 is along [omega / 2, 1]: omega = 2 u / w of that product,
    |omega| = 2 tan(angle / 2).  No step reaches a half-turn.
    """
    u0, w0 = np.asarray(Q0[:3], float), Q0[3]
    u1, w1 = np.asarray(Q1[:3], float), Q1[3]
    return 2.0 * (w0 * u1 - w1 * u0 - np.cross(u1, u0)) / (w1 * w0 + u1 @ u0)


def turn(axis, angle: float) -> tuple[float, float, float, float]:
    """The quaternion of a rotation by `angle` [rad] about a unit axis."""
    s = np.sin(0.5 * angle)
    return (s * axis[0], s * axis[1], s * axis[2], np.cos(0.5 * angle))


def product(a, b) -> tuple[float, float, float, float]:
    """The rotation b, then a."""
    u = a[3] * np.asarray(b[:3], float) + b[3] * np.asarray(a[:3], float) + np.cross(a[:3], b[:3])
    return (*u, a[3] * b[3] - np.dot(a[:3], b[:3]))
