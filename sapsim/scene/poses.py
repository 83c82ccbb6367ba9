"""Rotations and placements on the host: plain tuples in, plain tuples out.

Quaternions are xyzw.  `rpy` are URDF's: rotations about the fixed x, y and z axes, in that order, so that
R = Rz(yaw) Ry(pitch) Rx(roll).  X_AB X_BC = X_AC.
"""

import math

import numpy as np

from sapsim.scene.grammar import Section
from sapsim.scene.report import Report
from sapsim.scene.spec import Pose, Quat, Vec3

# A quaternion whose norm is further than this from 1 was probably not meant as written: a warning.
QUATERNION_TOLERANCE = 1.0e-3


def as_vec3(a) -> Vec3:
    """Three Python floats."""
    return (float(a[0]), float(a[1]), float(a[2]))


def quat_multiply(a: Quat, b: Quat) -> Quat:
    """The Hamilton product a b: the rotation b, then a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def normalised(q: Quat) -> Quat:
    """q / |q|; |q| must not be zero."""
    norm = math.hypot(*q)
    return q if norm == 1.0 else (q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm)


def quat_from_rpy(rpy: Vec3) -> Quat:
    """The quaternion of URDF's roll, pitch, yaw [rad]."""
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(0.5 * a), math.cos(0.5 * a)) for a in rpy)
    q_xy = quat_multiply((0.0, sp, 0.0, cp), (sr, 0.0, 0.0, cr))
    return normalised(quat_multiply((0.0, 0.0, sy, cy), q_xy))


def matrix(q: Quat) -> np.ndarray:
    """R (3, 3) of a unit quaternion."""
    x, y, z, w = q
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def rotate(q: Quat, p: Vec3) -> Vec3:
    """R p."""
    return as_vec3(matrix(q) @ np.asarray(p))


def compose(X_AB: Pose, X_BC: Pose) -> Pose:
    """X_AC = X_AB X_BC."""
    if X_AB == Pose():
        return X_BC  # exact, so that a model placed at the origin keeps its numbers
    p_AC = np.asarray(X_AB.p) + matrix(X_AB.q) @ np.asarray(X_BC.p)
    return Pose(as_vec3(p_AC), normalised(quat_multiply(X_AB.q, X_BC.q)))


def read_quaternion(q: Quat, where, report: Report) -> Quat:
    """A quaternion from a file, normalised: a warning where it is far from unit length, an error where it is zero."""
    norm = math.hypot(*q)
    if norm == 0.0 or not math.isfinite(norm):
        report.error(where, "zero-quaternion", "this quaternion has no direction", "[0, 0, 0, 1] is no rotation (x y z w)")
        return Pose().q
    if abs(norm - 1.0) > QUATERNION_TOLERANCE:
        report.warn(
            where, "quaternion-norm", f"the quaternion has norm {norm:.6g}; it was normalised", "check its four numbers"
        )
    return normalised((q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm))


def read_pose(section: Section | None, report: Report) -> Pose:
    """The Pose of a `pose` or `origin` section; nothing is the identity."""
    if section is None:
        return Pose()
    q = Pose().q
    if "rpy" in section:
        q = quat_from_rpy(section["rpy"])
    elif "rpy_deg" in section:
        q = quat_from_rpy(as_vec3([math.radians(a) for a in section["rpy_deg"]]))
    elif "quaternion" in section:
        q = read_quaternion(section["quaternion"], section.where("quaternion"), report)
    return Pose(section.get("xyz", (0.0, 0.0, 0.0)), q)
