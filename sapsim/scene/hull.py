"""Convex hull of points: vertices, faces with coplanar triangles merged, edges, and its mass properties."""

from dataclasses import dataclass

import numpy as np

MOST_VERTICES = 8000  # vertices and edges of a hull have names of 15 bits (kinds/convexity.py)


@dataclass(frozen=True, eq=False)
class ConvexHull:
    """A convex polytope in its shape's frame [m].

    Fields:
        vertices: (n, 3), float64.
        faces: of each face its vertices, anticlockwise seen from outside, the lowest first; sorted.
        normals: (nface, 3), outward unit normals.
    """

    vertices: np.ndarray
    faces: tuple[tuple[int, ...], ...]
    normals: np.ndarray

    @property
    def radius(self) -> float:
        """Of a ball about the origin that holds it [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max())

    def edges(self) -> tuple[tuple[int, ...], ...]:
        """Of each face the numbers of its edges, the one from its first to its second vertex first."""
        number: dict[frozenset[int], int] = {}
        found = []
        for face in self.faces:
            pairs = [frozenset(pair) for pair in zip(face, face[1:] + face[:1], strict=True)]
            found.append(tuple(number.setdefault(pair, len(number)) for pair in pairs))
        return tuple(found)

    def volume_properties(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Volume [m^3], its centre (3,) [m] and inertia per unit mass about that (3, 3) [m^2], exact.

        Sums over the tetrahedra between a point inside and the triangles of the faces: of one with vertices 0, a, b, c the
        second moments of volume are V/20 (sum of x x' over a, b, c and of s s'), s = a + b + c.
        """
        inside = self.vertices.mean(axis=0)
        v = self.vertices - inside
        triangles = np.array([(f[0], f[k], f[k + 1]) for f in self.faces for k in range(1, len(f) - 1)])
        abc = v[triangles]
        volumes = np.linalg.det(abc) / 6.0
        total = float(volumes.sum())
        s = abc.sum(axis=1)
        centre = (volumes[:, None] * s).sum(axis=0) / (4.0 * total)
        second = np.einsum("t,tki,tkj->ij", volumes, abc, abc) + np.einsum("t,ti,tj->ij", volumes, s, s)
        second = second / (20.0 * total) - np.outer(centre, centre)
        return total, inside + centre, np.trace(second) * np.eye(3) - second


def convex_hull(points: np.ndarray, tolerance: float = 1.0e-7) -> ConvexHull:
    """The hull of points (n, 3) [m]; triangles that are one plane but for `tolerance` times the size become one face.

    Vertices that this leaves inside a face or an edge are dropped, and the rest keep their order among the points.  Raises
    ValueError where the points lie in a plane, or the hull has more than MOST_VERTICES vertices.
    """
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    points = np.unique(np.asarray(points, float).reshape(-1, 3), axis=0)
    size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    try:
        hull = Qhull(points)
    except (QhullError, ValueError) as error:
        raise ValueError(f"{len(points)} different points that span no volume") from error
    outlines = [_outline(points, group, n) for group, n in _planes(points, hull, tolerance * size)]
    corners = _corners(points, outlines, tolerance * size)
    if len(corners) > MOST_VERTICES:
        raise ValueError(f"a hull of {len(corners)} vertices; {MOST_VERTICES} are allowed")
    place = {old: new for new, old in enumerate(sorted(corners))}
    faces = []
    for outline in outlines:
        face = [place[i] for i in outline if i in place]
        first = face.index(min(face)) if face else 0
        if len(face) >= 3:
            faces.append(tuple(face[first:] + face[:first]))
    vertices = np.ascontiguousarray(points[sorted(corners)])
    faces.sort()
    return ConvexHull(vertices, tuple(faces), np.array([_normal(vertices[list(f)]) for f in faces]))


def _planes(points: np.ndarray, hull, thick: float) -> list[tuple[set[int], np.ndarray]]:
    """Vertices of each plane of the hull, and its normal: triangles, the largest first, with all that lie in their plane."""
    triangles = points[hull.simplices]
    areas = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    free = set(range(len(hull.simplices)))
    found = []
    for first in np.argsort(-areas, kind="stable"):
        if first not in free:
            continue
        n, offset = hull.equations[first, :3], hull.equations[first, 3]
        group, todo = set(), [int(first)]
        while todo:
            here = todo.pop()
            if here in free and np.abs(triangles[here] @ n + offset).max() <= thick and hull.equations[here, :3] @ n > 0.5:
                free.discard(here)
                group.update(int(i) for i in hull.simplices[here])
                todo += [int(k) for k in hull.neighbors[here]]
        if group:
            found.append((group, n))
        free.discard(int(first))
    return found


def _outline(points: np.ndarray, group: set[int], n: np.ndarray) -> list[int]:
    """The points of a plane, anticlockwise about n."""
    members = sorted(group)
    centre = points[members].mean(axis=0)
    e = points[members] - centre
    u = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    angles = np.arctan2(e @ np.cross(n, u), e @ u)
    return [members[i] for i in np.argsort(angles, kind="stable")]


def _corners(points: np.ndarray, outlines: list[list[int]], thick: float) -> set[int]:
    """Points that are corners of some outline: not on the line between their neighbours."""
    found = set()
    for outline in outlines:
        for before, here, after in zip(outline[-1:] + outline[:-1], outline, outline[1:] + outline[:1], strict=True):
            e = points[after] - points[before]
            off = np.cross(points[here] - points[before], e)
            if np.linalg.norm(off) > thick * np.linalg.norm(e):
                found.add(here)
    return found


def _normal(corners: np.ndarray) -> np.ndarray:
    """Of a polygon, by its vector area."""
    e = corners - corners.mean(axis=0)
    n = np.cross(e, np.roll(e, -1, axis=0)).sum(axis=0)
    return n / np.linalg.norm(n)
