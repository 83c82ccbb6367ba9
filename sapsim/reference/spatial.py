"""Rotations, placements and spatial vectors of the twin.  NumPy, float64.

Spatial vectors are [rotation; translation] (twists [omega; v_o], wrenches [moment about o; force]) at a stated point,
in world axes.  Quaternions are xyzw; X_AB = (R_AB, p_AB) takes coordinates of a point from B to A.
"""

from dataclasses import dataclass, field

import numpy as np


def skew(a: np.ndarray) -> np.ndarray:
    """[a]x, so that skew(a) @ b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def quaternion_to_rotation(q: np.ndarray) -> np.ndarray:
    """R(q) of a quaternion xyzw of any length but zero: the rotation of q / |q|."""
    u = np.asarray(q, dtype=float)
    x, y, z, w = u / np.linalg.norm(u)
    a = np.array([x, y, z])
    # p' = p + 2 w a x p + 2 a x (a x p)
    return np.eye(3) + 2.0 * w * skew(a) + 2.0 * skew(a) @ skew(a)


def rotation_to_quaternion(R: np.ndarray) -> np.ndarray:
    """Unit quaternion xyzw of R, with the largest of its four components positive."""
    # 4 q q^T, one row for each choice of pivot; the row with the largest diagonal loses no digits.
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    a, b, c = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    four_qq = np.array(
        [
            [1.0 + R[0, 0] - R[1, 1] - R[2, 2], a, b, x],
            [a, 1.0 - R[0, 0] + R[1, 1] - R[2, 2], c, y],
            [b, c, 1.0 - R[0, 0] - R[1, 1] + R[2, 2], z],
            [x, y, z, 1.0 + R[0, 0] + R[1, 1] + R[2, 2]],
        ]
    )
    row = four_qq[np.argmax(np.diag(four_qq))]
    return row / np.linalg.norm(row)


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, xyzw: R(a b) = R(a) R(b)."""
    vec = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vec, a[3] * b[3] - a[:3] @ b[:3])


def axis_angle_to_rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation by `angle` about the unit `axis` (Rodrigues)."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


@dataclass(frozen=True)
class Placement:
    """X_AB: rotation R_AB and position p_AB of B's origin in A [m]."""

    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    p: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: "Placement") -> "Placement":
        """X_AC = X_AB X_BC."""
        return Placement(self.R @ other.R, self.p + self.R @ other.p)

    def point(self, p_B: np.ndarray) -> np.ndarray:
        """Coordinates in A of a point given in B."""
        return self.p + self.R @ np.asarray(p_B)


def placement(pose) -> Placement:
    """The Placement of a scene's Pose (p, quaternion xyzw)."""
    return Placement(quaternion_to_rotation(pose.q), np.array(pose.p, dtype=float))


def shift_twist(V: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Twist(s) at the point o + r of the same rigid motion whose twist(s) at o are V, (6,) or (6, n)."""
    omega, v = V[:3], V[3:]
    return np.concatenate([omega, v - skew(r) @ omega])


def shift_wrench(F: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Wrench about o of the wrench F that is given about o + r."""
    return np.concatenate([F[:3] + np.cross(r, F[3:]), F[3:]])


def spatial_inertia(mass: float, c: np.ndarray, I_cm: np.ndarray) -> np.ndarray:
    """6x6 inertia about o of a body with its com at o + c [m] and inertia I_cm about it [kg m^2] (seed 000, step 1)."""
    C = skew(np.asarray(c))
    return np.block([[I_cm - mass * C @ C, mass * C], [-mass * C, mass * np.eye(3)]])
