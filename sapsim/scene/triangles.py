"""Triangle meshes: clean-up, whether they bound a volume, and the volume's mass properties.

A mesh bounds a volume where every edge is passed as often in one direction as in the other: then the integrals below do not
depend on where the origin is.
"""

from dataclasses import dataclass

import numpy as np

from sapsim.scene.hull import size_of, tetrahedra, volume_properties
from sapsim.scene.inertials import as_mat33
from sapsim.scene.mesh_file import MeshError
from sapsim.scene.poses import as_vec3
from sapsim.scene.spec import Inertial

# Two corners of a file are one where they are nearer than a few units of the last digit of float32, in which STL keeps them;
# but of a small mesh far from the origin not more than a small part of its size is.
SAME_POINT, SAME_PART = 4.0e-7, 1.0e-5
NO_AREA = 1.0e-12  # twice a triangle's area over the square of its longest edge that counts as none
LARGEST = 1.0e30  # [m] as of lengths in scene files; volumes of such do not overflow

CLOSED, TURNED, OPEN = "closed", "turned", "open"


@dataclass(frozen=True)
class Triangles:
    """A mesh whose corners are each there once and used.

    Fields:
        vertices: (n, 3) [m].
        faces: (m, 3) indices, counter-clockwise seen from outside where the mesh is closed.
        state: CLOSED, and all triangles turned alike; TURNED: closed, some turned the wrong way; OPEN.
        reversed: whether all triangles of the file were turned inside out, and have been turned round.
        dropped: how many triangles had no area.
    """

    vertices: np.ndarray
    faces: np.ndarray
    state: str
    reversed: bool
    dropped: int


def clean(vertices: np.ndarray, faces: np.ndarray) -> Triangles:
    """The mesh of a file's corners (n, 3) and triangles (m, 3).  Raises MeshError where nothing is left of it."""
    if not len(faces):
        raise MeshError("a mesh without triangles", "export its faces")
    if not np.isfinite(vertices).all():
        bad = int((~np.isfinite(vertices)).any(axis=1).sum())
        raise MeshError(f"{bad} of {len(vertices)} corners are not finite numbers", "repair the mesh")
    if np.abs(vertices).max() > LARGEST:
        raise MeshError(f"coordinates up to {np.abs(vertices).max():g} m; at most {LARGEST:g} are allowed", "units are m")
    vertices, faces = _used(*_merged(vertices, faces))
    distinct = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    state, reversed_ = _state(vertices, faces[distinct])
    # Thin triangles count for what is closed: other triangles share their edges.
    kept = faces[distinct & (_flatness(vertices, faces) > NO_AREA)]
    if not len(kept):
        raise MeshError("a mesh of triangles without area", "repair the mesh")
    dropped = len(faces) - len(kept)
    vertices, kept = _used(vertices, kept)
    return Triangles(vertices, kept[:, ::-1] if reversed_ else kept, state, reversed_, dropped)


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """The signed volume that triangles bound, about the middle of the corners [m^3]."""
    return float(tetrahedra(vertices, faces)[0].sum())


def solid(vertices: np.ndarray, faces: np.ndarray) -> Inertial:
    """Volume [m^3], its centre [m], and moments about that [m^5]: the inertial of density 1 kg/m^3."""
    own, com, moments = volume_properties(vertices, faces)
    return Inertial(own, as_vec3(com), as_mat33(own * moments))


def _merged(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners that are one as one: equal ones, and where the mesh is not closed then, near ones."""
    vertices, index = np.unique(vertices + 0.0, axis=0, return_inverse=True)
    faces = index.reshape(-1)[faces]
    if not _odd_edges(faces).any():
        return vertices, faces
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    near = min(SAME_POINT * np.abs(vertices).max(), SAME_PART * size_of(vertices))
    pairs = cKDTree(vertices).query_pairs(near, output_type="ndarray")
    if not len(pairs):
        return vertices, faces
    n = len(vertices)
    group = connected_components(coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (n, n)), directed=False)[1]
    first = np.unique(group, return_index=True)[1]  # of each group the first corner in lexicographic order
    return vertices[first], group[faces]


def _used(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Without the corners that no triangle has."""
    used, index = np.unique(faces, return_inverse=True)
    return vertices[used], index.reshape(faces.shape)


def _flatness(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Twice each triangle's area over the square of its longest edge."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    return area / np.where(longest > 0.0, longest, 1.0)


def _edges(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(number of the edge, direction) of every side of every triangle, without sides from a corner to itself."""
    sides = np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])
    sides = sides[sides[:, 0] != sides[:, 1]]
    edge = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)[1]
    return edge.reshape(-1), np.where(sides[:, 0] < sides[:, 1], 1, -1)


def turned_sides(faces: np.ndarray) -> int:
    """How many edges two triangles pass in the same direction."""
    edge, direction = _edges(faces)
    return int(((np.bincount(edge) == 2) & (np.abs(np.bincount(edge, direction)) == 2.0)).sum())


def _odd_edges(faces: np.ndarray) -> np.ndarray:
    """Of each edge, whether an odd number of triangles has it."""
    return np.bincount(_edges(faces)[0]) % 2 == 1


def _state(vertices: np.ndarray, faces: np.ndarray) -> tuple[str, bool]:
    """The state of a mesh, and whether it is inside out."""
    edge, direction = _edges(faces)
    if not len(edge) or (np.bincount(edge) % 2 == 1).any():
        return OPEN, False
    if (np.bincount(edge, direction) != 0.0).any():
        return TURNED, False
    inside_out = volume(vertices, faces) < 0.0
    return (CLOSED if _parts_agree(vertices, faces, -1.0 if inside_out else 1.0) else TURNED), inside_out


def _parts_agree(vertices: np.ndarray, faces: np.ndarray, sign: float) -> bool:
    """Whether connected parts are turned alike, or bound a cavity: then their box lies in that of another part."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    i, j = np.concatenate([faces[:, :2], faces[:, 1:]]).T
    n = len(vertices)
    count, part = connected_components(coo_array((np.ones(len(i)), (i, j)), (n, n)), directed=False)
    V = sign * np.bincount(part[faces[:, 0]], tetrahedra(vertices, faces)[0], count)
    if not (V < 0.0).any():
        return True
    boxes = [(vertices[part == k].min(axis=0), vertices[part == k].max(axis=0)) for k in range(count)]
    outer = [boxes[k] for k in np.flatnonzero(V > 0.0)]
    holes = [boxes[k] for k in np.flatnonzero(V < 0.0)]
    return all(any((lo <= low).all() and (high <= hi).all() for lo, hi in outer) for low, high in holes)


def largest_side(vertices: np.ndarray) -> float:
    """The longest side of the bounding box [m]."""
    return float(np.ptp(vertices, axis=0).max())
