"""Contact points of two shapes.  NumPy twins of kinds/pairs, float64, written for reading.

Each twin takes the lengths of the two shapes as scene files give them (sphere: radius; box: full lengths; capsule:
radius and length; plane: none), their placements X_WA, X_WB and the margin, and returns (nhat, points): the unit normal
from A to B in world axes, and for each point (p, depth, feature): p the witness on A's surface [m, world], depth [m] >
-margin along nhat, and the name of the features that meet there.  The witness on B is p - depth nhat.  What is reported,
and how ties are broken, is said in the files of kinds/pairs; box against box is in box_pair.py, capsules are in
capsule_pairs.py.
"""

import numpy as np

from sapsim.reference.box_pair import box_box
from sapsim.reference.capsule_pairs import box_capsule, capsule_capsule, capsule_plane, capsule_sphere
from sapsim.reference.convex_pairs import cone_plane, cylinder_plane, ellipsoid_plane
from sapsim.reference.spatial import Placement

Points = list[tuple[np.ndarray, float, int]]
UP = np.array([0.0, 0.0, 1.0])


def sphere_sphere(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """One point on the line of centres; coincident centres: +z of the world."""
    reach = params_a[0] + params_b[0]
    distance = float(np.linalg.norm(X_WB.p - X_WA.p))
    nhat = (X_WB.p - X_WA.p) / distance if distance > np.finfo(float).eps * reach else UP
    return nhat, _keep([(X_WA.p + params_a[0] * nhat, reach - distance, 0)], margin)


def plane_sphere(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """One point of the plane, below the centre of the sphere."""
    c_A = X_WA.R.T @ (X_WB.p - X_WA.p)
    p = X_WA.p + X_WA.R @ np.array([c_A[0], c_A[1], 0.0])
    return X_WA.R[:, 2], _keep([(p, params_b[0] - c_A[2], 0)], margin)


def box_plane(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """Every corner of the box, at its depth below the plane; feature: bit i is set where coordinate i is positive."""
    points = []
    for corner in range(8):
        signs = np.array([1.0 if corner >> i & 1 else -1.0 for i in range(3)])
        p = X_WA.p + X_WA.R @ (0.5 * signs * np.array(params_a))
        height = (X_WB.R.T @ (p - X_WB.p))[2]
        points.append((p, -height, corner))
    return -X_WB.R[:, 2], _keep(points, margin)


def box_sphere(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """One point of the box's surface, nearest to the sphere's centre; of equal faces the lowest axis, its + side."""
    h = 0.5 * np.array(params_a)
    c = X_WA.R.T @ (X_WB.p - X_WA.p)
    # how far the centre is beyond each of the six faces; negative: behind it
    beyond = np.array([[c[i] - h[i], -c[i] - h[i]] for i in range(3)])
    outside = np.maximum(beyond.max(axis=1), 0.0)
    distance = float(np.linalg.norm(outside))
    if distance > np.finfo(float).eps * h.max():
        n = np.where(beyond[:, 0] > beyond[:, 1], outside, -outside) / distance
    else:
        axis, side = divmod(int(np.argmax(beyond)), 2)
        n = np.eye(3)[axis] * (1.0, -1.0)[side]
        distance = beyond[axis, side]
    return X_WA.R @ n, _keep([(X_WB.p - distance * (X_WA.R @ n), params_b[0] - distance, 0)], margin)


def cylinder_sphere(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """One point of the cylinder's surface, nearest to the sphere's centre; of equal ones the side's, then the upper cap's."""
    r, half = params_a[0], 0.5 * params_a[1]
    outline = [((r, half), (r, -half)), ((0.0, half), (r, half)), ((0.0, -half), (r, -half))]
    return _revolved_sphere(outline, [(1.0, 0.0), (0.0, 1.0), (0.0, -1.0)], X_WA, params_b[0], X_WB, margin)


def cone_sphere(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """One point of the cone's surface, nearest to the sphere's centre; of equal ones that of the mantle."""
    r, half = params_a[0], 0.5 * params_a[1]
    outline = [((0.0, half), (r, -half)), ((0.0, -half), (r, -half))]
    return _revolved_sphere(outline, [(2.0 * half, r), (0.0, -1.0)], X_WA, params_b[0], X_WB, margin)


def _revolved_sphere(outline, outward, X_WA: Placement, r: float, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """A shape of revolution about z, given by the segments of its outline in (rho, z) and their outward normals."""
    c = X_WA.R.T @ (X_WB.p - X_WA.p)
    rho = np.hypot(c[0], c[1])
    e = np.array([c[0] / rho, c[1] / rho, 0.0]) if rho > np.finfo(float).eps else np.array([1.0, 0.0, 0.0])
    x = np.array([rho, c[2]])
    nearest, normals = [], []
    for (p, q), n in zip(np.array(outline, float), np.array(outward, float), strict=True):
        nearest.append(p + np.clip((x - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0) * (q - p))
        normals.append(n / np.linalg.norm(n))
    inside = all((x - p) @ n <= 0.0 for (p, _), n in zip(np.array(outline, float), normals, strict=True))
    k = int(np.argmin([np.linalg.norm(x - p) for p in nearest]))
    distance = np.linalg.norm(x - nearest[k])
    m = normals[k] if inside or distance <= 1.0e-15 else (x - nearest[k]) / distance
    nhat = X_WA.R @ (m[0] * e + m[1] * UP)
    gap = -distance if inside else distance
    return nhat, _keep([(X_WB.p - gap * nhat, r - gap, 0)], margin)


def _keep(points: Points, margin: float) -> Points:
    return [point for point in points if point[1] > -margin]


# by the kinds of the two shapes, in the order of the arguments
PAIRS = {
    ("box", "box"): box_box,
    ("box", "capsule"): box_capsule,
    ("box", "plane"): box_plane,
    ("box", "sphere"): box_sphere,
    ("capsule", "capsule"): capsule_capsule,
    ("capsule", "plane"): capsule_plane,
    ("capsule", "sphere"): capsule_sphere,
    ("cone", "plane"): cone_plane,
    ("cone", "sphere"): cone_sphere,
    ("cylinder", "plane"): cylinder_plane,
    ("cylinder", "sphere"): cylinder_sphere,
    ("ellipsoid", "plane"): ellipsoid_plane,
    ("plane", "sphere"): plane_sphere,
    ("sphere", "sphere"): sphere_sphere,
}
