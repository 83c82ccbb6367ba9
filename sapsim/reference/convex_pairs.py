"""Convex shapes, by their definitions: support functions, signed distances, and contact with a plane.  NumPy twins.

Shapes are (kind, params, X_WG, vertices): lengths as scene files give them, and vertices (n, 3) in the shape's frame of a
convex polytope, else None.

    depth = min over unit vectors n of h(n),   h(n) = support of A along n + support of B along -n,

which is minus the distance where the shapes are apart.  Two polytopes: h is least at a facet of the hull of all differences of
vertices, or at the point of that hull nearest to the origin.  Else the least of many directions is refined by a simplex search.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from sapsim.reference.spatial import Placement

Points = list[tuple[np.ndarray, float, int]]


def support(kind: str, params, vertices, n: np.ndarray) -> np.ndarray:
    """Greatest n . x over the shape, for directions n (m, 3) in its frame."""
    across, along = np.hypot(n[:, 0], n[:, 1]), n[:, 2]
    if vertices is not None:
        return (n @ vertices.T).max(axis=1)
    if kind == "sphere":
        return params[0] * np.linalg.norm(n, axis=1)
    if kind == "box":
        return np.abs(n) @ (0.5 * np.array(params))
    if kind == "ellipsoid":
        return np.linalg.norm(n * np.array(params), axis=1)
    r, half = params[0], 0.5 * params[1]
    ends = {
        "capsule": half * np.abs(along) + r * np.linalg.norm(n, axis=1),
        "cylinder": half * np.abs(along) + r * across,
        "cone": np.maximum(half * along, r * across - half * along),
    }
    return ends[kind]


def width(a, b, n: np.ndarray) -> np.ndarray:
    """h of directions n (m, 3), world."""
    total = np.zeros(len(n))
    for (kind, params, X_WG, vertices), sign in ((a, 1.0), (b, -1.0)):
        total += support(kind, params, vertices, sign * n @ X_WG.R) + sign * n @ X_WG.p
    return total


def depth(a, b, starts: int = 4000, refined: int = 8) -> tuple[float, np.ndarray]:
    """The least h and its n."""
    rng = np.random.default_rng(0)
    n = rng.normal(size=(starts, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    corners = [_corners(*shape) for shape in (a, b)]
    if all(c is not None for c in corners):
        normals = ConvexHull((corners[0][:, None] - corners[1][None]).reshape(-1, 3)).equations[:, :3]
        n = np.concatenate([n, normals])
    h = width(a, b, n)
    best, best_n = float(h.min()), n[np.argmin(h)]
    for start in n[np.argsort(h)[:refined]]:
        u = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])
        u /= np.linalg.norm(u)
        v = np.cross(start, u)

        def turned(x, start=start, u=u, v=v):
            m = start + x[0] * u + x[1] * v
            return m / np.linalg.norm(m)

        scale = 2.0 / np.sqrt(starts)
        for _ in range(3):  # begun anew: a simplex that has become flat gets its shape back
            simplex = np.array([[0.0, 0.0], [scale, 0.0], [0.0, scale]])
            options = {"initial_simplex": simplex, "xatol": 1e-10, "fatol": 1e-15, "maxiter": 500}
            found = minimize(lambda x, t=turned: width(a, b, t(x)[None])[0], np.zeros(2), method="Nelder-Mead", options=options)
            m = turned(found.x)
            if found.fun < best:
                best, best_n = float(found.fun), m
            scale *= 0.05
            start = m
            u = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])
            u /= np.linalg.norm(u)
            v = np.cross(start, u)
            turned.__defaults__ = (start, u, v)
    return best, best_n


def _corners(kind: str, params, X_WG: Placement, vertices) -> np.ndarray | None:
    """World vertices of a polytope."""
    if kind == "box":
        signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        vertices = signs * np.array(params)
    return None if vertices is None else X_WG.p + vertices @ X_WG.R.T


def cylinder_plane(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """Six points of the rim nearer to the plane, from the lowest on, and the lowest of the other."""
    r, half = params_a[0], 0.5 * params_a[1]
    n = -X_WA.R.T @ X_WB.R[:, 2]
    end = 1 if n[2] > 0.0 else 0
    z = half if end else -half
    lowest = _azimuth(n)
    points = [(r * np.cos(lowest + k * np.pi / 3), r * np.sin(lowest + k * np.pi / 3), z, 8 * end + k) for k in range(6)]
    points.append((r * np.cos(lowest), r * np.sin(lowest), -z, 8 - 8 * end))
    return _below(points, X_WA, X_WB, margin)


def cone_plane(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """Six points of the rim, from the lowest on, and the apex."""
    r, half = params_a[0], 0.5 * params_a[1]
    lowest = _azimuth(-X_WA.R.T @ X_WB.R[:, 2])
    points = [(r * np.cos(lowest + k * np.pi / 3), r * np.sin(lowest + k * np.pi / 3), -half, k) for k in range(6)]
    return _below([*points, (0.0, 0.0, half, 6)], X_WA, X_WB, margin)


def ellipsoid_plane(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """The lowest point: the ellipsoid is the unit ball stretched, and the plane's normal is stretched back."""
    stretch = np.diag(params_a)
    m = stretch @ (-X_WA.R.T @ X_WB.R[:, 2])
    return _below([(*(stretch @ (m / np.linalg.norm(m))), 0)], X_WA, X_WB, margin)


def _azimuth(n: np.ndarray) -> float:
    """Of the rim's lowest point; zero where the axis is along the normal but for rounding."""
    return float(np.arctan2(n[1], n[0])) if np.hypot(n[0], n[1]) > 1.0e-6 * abs(n[2]) else 0.0


def _below(points, X_WA: Placement, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    found = []
    for x, y, z, feature in points:
        p = X_WA.p + X_WA.R @ np.array([x, y, z])
        height = (X_WB.R.T @ (p - X_WB.p))[2]
        if -height > -margin:
            found.append((p, -height, feature))
    return -X_WB.R[:, 2], found
