"""Convex hulls on the host: a polyhedron with its coplanar triangles merged to polygons.

Qhull (scipy.spatial.ConvexHull) gives triangles.  A box comes out as twelve of them, and which diagonals they have depends on
round-off; contact polygons want its six faces.  So triangles grow together, the largest first, over neighbours whose corners
are within a tolerance from its plane.  `COPLANAR` is far above round-off of coordinates in float64 (1e-16 of their size, 1e-10
where a hull of 1 m stands 1000 km from the origin) and far below what float32 on the device resolves (6e-8).  Points of files
have fewer digits, and their reader a larger tolerance.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

COPLANAR = 1.0e-9  # distance from a plane, over the size of the hull, that counts as none
# 256 vertices leave gaps of 2 % of the radius to a ball, and take 2.5 % of its volume off; bodies with faces need far fewer.
MAX_VERTICES = 256


class FlatError(ValueError):
    """Points that lie in a plane, on a line or in a point: they have no hull with a volume."""


class Cornered:
    """What bounds a body that is the hull of its `vertices` (n, 3) [m], or lies within it."""

    vertices: np.ndarray

    @cached_property
    def radius(self) -> float:
        """Of the ball about the origin that holds it [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max())

    @cached_property
    def box(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Least and greatest coordinates along the axes [m]."""
        return tuple(self.vertices.min(axis=0).tolist()), tuple(self.vertices.max(axis=0).tolist())


@dataclass(frozen=True, eq=False)
class ConvexHull(Cornered):
    """A convex polyhedron with positive volume.

    Fields:
        vertices: (n, 3) float64 [m], in the frame of the points; each is a corner, in lexicographic order.
        faces: indices of the corners of each face, counter-clockwise seen from outside, the smallest first; in order.
    """

    vertices: np.ndarray
    faces: tuple[tuple[int, ...], ...]

    def digest(self) -> str:
        """SHA-256 of the content, hexadecimal."""
        counts = np.array([len(f) for f in self.faces], "<i8")
        corners = np.array([i for f in self.faces for i in f], "<i8")
        parts = (np.ascontiguousarray(self.vertices, "<f8"), counts, corners)
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, ConvexHull) and self.faces == other.faces
        return same and np.array_equal(self.vertices, other.vertices)

    def __hash__(self) -> int:
        return hash(self.faces)

    @cached_property
    def triangles(self) -> np.ndarray:
        """(m, 3) indices: the faces as fans about their first corner."""
        return np.array([(f[0], f[i], f[i + 1]) for f in self.faces for i in range(1, len(f) - 1)])

    @cached_property
    def normals(self) -> np.ndarray:
        """(number of faces, 3): outward unit normals, those of the faces' vector areas."""
        local = self.vertices - self.vertices.mean(axis=0)
        areas = np.array([np.cross(p, np.roll(p, -1, axis=0)).sum(axis=0) for p in (local[list(f)] for f in self.faces)])
        return areas / np.linalg.norm(areas, axis=1)[:, None]

    def edges(self) -> tuple[tuple[int, ...], ...]:
        """Of each face the numbers of its edges, the one from its first to its second corner first."""
        number: dict[tuple[int, int], int] = {}
        sides = [[tuple(sorted(side)) for side in zip(f, (*f[1:], f[0]), strict=True)] for f in self.faces]
        return tuple(tuple(number.setdefault(side, len(number)) for side in face) for face in sides)

    def volume_properties(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Volume [m^3], its centre (3,) [m], and inertia per unit mass about that (3, 3) [m^2]."""
        return volume_properties(self.vertices, self.triangles)


def volume_properties(vertices: np.ndarray, triangles: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume [m^3], its centre [m] and inertia per unit mass about that [m^2] of what triangles, turned outwards, bound.

    Sums over the tetrahedra from the middle of the corners: integral of 1, x, x x^T = V, V s / 4, V (a a^T + b b^T + c c^T +
    s s^T) / 20 with s = a + b + c (F. Tonon, "Explicit exact formulas for the 3-D tetrahedron inertia tensor", 2004).
    """
    V, (a, b, c), middle = tetrahedra(vertices, triangles)
    total, s = float(V.sum()), a + b + c
    com = (V @ s) / (4.0 * total)
    second = sum(np.einsum("i,ij,ik->jk", V, p, p) for p in (a, b, c, s)) / (20.0 * total) - np.outer(com, com)
    return total, middle + com, np.trace(second) * np.eye(3) - second


def tetrahedra(vertices: np.ndarray, triangles: np.ndarray):
    """Signed volumes of the tetrahedra of all triangles, their three corners from their apex, and the apex."""
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    a, b, c = (vertices[triangles[:, k]] - middle for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0, (a, b, c), middle


def size_of(points: np.ndarray) -> float:
    """The diagonal of the bounding box [m]."""
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def convex_hull(points: np.ndarray, tolerance: float = COPLANAR) -> ConvexHull:
    """The hull of points (n, 3), whatever their order and however often each is there.

    Corners that are within `tolerance` of the size from a plane are in it.

    Raises FlatError where they span no volume.
    """
    points = np.unique(np.asarray(points, np.float64) + 0.0, axis=0)  # + 0.0 turns -0.0 into 0.0
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0)) if len(points) else np.zeros(3)
    _check_volume(points - centre)
    unit = (points - centre) / size_of(points)
    corners = np.arange(len(points))
    while True:
        triangles, neighbours = _triangles(unit[corners])
        patches = _patches(unit[corners], triangles, neighbours, tolerance)
        kept = _corners(patches)
        if len(kept) == len(corners) or len(kept) < 4:
            break
        corners = corners[kept]  # without the points in faces and edges, Qhull makes no slivers between them
    faces = [_outline(patch) for patch in patches]
    if not _is_polyhedron(faces):
        faces = [tuple(t) for t in triangles.tolist()]
    return _in_order(points[corners], faces)


def reduced_hull(hull: ConvexHull, limit: int = MAX_VERTICES, tolerance: float = COPLANAR) -> ConvexHull:
    """A hull of at most `limit` of its corners, which lies within it; the hull itself where it has no more.

    From the extremes along the axes on, every round takes the corners that are farthest outside of what has been taken, at most
    one above each face and at most a quarter of those there are.
    """
    if len(hull.vertices) <= limit:
        return hull
    points = hull.vertices
    taken = _extremes(points)
    while len(taken) < limit:
        inner = convex_hull(points[taken])
        normals, offsets = _planes(inner.vertices, inner.triangles)
        above = points @ normals.T - offsets
        nearest, height = above.argmax(axis=1), above.max(axis=1)
        height[taken] = -np.inf
        best: dict[int, int] = {}
        for i in np.argsort(-height, kind="stable").tolist():
            if height[i] > 0.0:
                best.setdefault(int(nearest[i]), i)
        if not best:
            break  # all that is left is on the hull already, within round-off
        taken += list(best.values())[: min(limit - len(taken), max(1, len(taken) // 4))]
    return convex_hull(points[taken], tolerance)


def _check_volume(local: np.ndarray) -> None:
    """Refuse points whose extent along one of their principal axes is nothing, beside their size."""
    if len(local) < 4:
        raise FlatError("fewer than four points")
    axes = np.linalg.svd(local - local.mean(axis=0), full_matrices=False)[2]
    extents = np.ptp(local @ axes.T, axis=0)
    if not extents.min() > COPLANAR * size_of(local):
        raise FlatError("points in a plane")


def _triangles(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Qhull's triangles (m, 3), counter-clockwise seen from outside, and their neighbours (m, 3)."""
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    try:
        found = Qhull(points)
    except QhullError as error:  # thinner than Qhull resolves
        raise FlatError("points in a plane") from error
    triangles = found.simplices.copy()
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return triangles, found.neighbors


def _planes(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (m, 3), zero for triangles without area, and distances from the origin (m)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    normals /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return normals, np.einsum("ij,ij->i", normals, a)


def _patches(points: np.ndarray, triangles: np.ndarray, neighbours: np.ndarray, tolerance: float) -> list[np.ndarray]:
    """The triangles, those that are coplanar with the largest of them together; points of size 1."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    normals, offsets = _planes(points, triangles)
    free = np.ones(len(triangles), bool)
    patches = []
    for seed in np.argsort(-area, kind="stable").tolist():
        if not free[seed]:
            continue
        free[seed], grown, todo = False, [seed], [seed]
        while todo:
            for t in neighbours[todo.pop()].tolist():
                if free[t] and np.abs(points[triangles[t]] @ normals[seed] - offsets[seed]).max() <= tolerance:
                    free[t] = False
                    grown.append(t)
                    todo.append(t)
        patches.append(triangles[grown])
    return patches


def _corners(patches: list[np.ndarray]) -> np.ndarray:
    """The points of three patches or more; those of two lie within an edge, those of one within a face."""
    points = np.concatenate([np.unique(patch) for patch in patches])
    corners, count = np.unique(points, return_counts=True)
    return corners[count > 2]


def _outline(triangles: np.ndarray) -> tuple[int, ...]:
    """The corners around a patch of triangles; () where its outline is not one loop."""
    edges = {(t[i], t[(i + 1) % 3]) for t in triangles.tolist() for i in range(3)}
    following = {p: q for p, q in edges if (q, p) not in edges}
    if not following:
        return ()
    start = min(following)
    loop, at = [start], following[start]
    while at != start and at in following and len(loop) <= len(following):
        loop.append(at)
        at = following[at]
    return tuple(loop) if at == start and len(loop) == len(following) else ()


def _is_polyhedron(faces: list[tuple[int, ...]]) -> bool:
    """Whether every edge is in two faces, once in each direction, and V - E + F = 2."""
    edges = [(f[i], f[(i + 1) % len(f)]) for f in faces for i in range(len(f))]
    known = set(edges)
    closed = len(known) == len(edges) and all((q, p) in known for p, q in edges)
    corners = {i for face in faces for i in face}
    return closed and min(map(len, faces)) >= 3 and len(corners) - len(edges) // 2 + len(faces) == 2


def _in_order(points: np.ndarray, faces: list[tuple[int, ...]]) -> ConvexHull:
    """The hull with the corners that faces have, numbered in the order of the points."""
    corners = sorted({i for face in faces for i in face})
    number = {old: new for new, old in enumerate(corners)}
    renumbered = []
    for face in faces:
        loop = [number[i] for i in face]
        first = loop.index(min(loop))
        renumbered.append(tuple(loop[first:] + loop[:first]))
    return ConvexHull(points[corners], tuple(sorted(renumbered)))


def _extremes(points: np.ndarray) -> list[int]:
    """Corners that span a volume: the extremes along the axes and the diagonals of space, each once."""
    signs = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)])
    local = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    return list(dict.fromkeys((local @ signs.T).argmax(axis=0).tolist()))
