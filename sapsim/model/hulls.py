"""Hulls of convex shapes as arrays, one hull for all shapes that share it, and what finds their support points fast.

**Cells.**  A direction pierces the cube [-1, 1]^3 in one of 6 CELLS^2 squares, its cell.  A vertex that another one surpasses
in all four corners of a cell is surpassed in all directions between them, so the support point is found among the rest, the
cell's candidates: seven or so in a hull of 256 vertices.  No surface and no path over it is needed, so near-duplicate
vertices and flat faces do no harm, and the vertex found is the one that a walk over all would find.
"""

from typing import Any

import numpy as np

from sapsim.kinds.convexity import CELLS

LARGE = 20  # vertices; in a hull of more, candidates are faster than all
SLACK = 1.0e-5  # of the radius: far above what products with coordinates in float32 lose, 30 eps


def place_hulls(shapes: list[Any]) -> tuple[dict[str, np.ndarray], list[tuple[float, ...]]]:
    """The hull_* arrays (fields.py), and the params of every shape: its own, or (index of its hull, radius, 0)."""
    hulls: list[Any] = []
    place: dict[Any, int] = {}
    params = []
    for shape in shapes:
        if shape.hull is None:
            params.append(shape.params)
            continue
        if shape.hull not in place:
            place[shape.hull] = len(hulls)
            hulls.append(shape.hull)
        params.append((float(place[shape.hull]), shape.hull.radius, 0.0))
    return hull_arrays(hulls), params


def hull_arrays(hulls: list[Any]) -> dict[str, np.ndarray]:
    """Of scene.hull.ConvexHulls, in order."""
    faces = [face for hull in hulls for face in hull.faces]
    edges = [edge for hull in hulls for face in hull.edges() for edge in face]
    vertices = np.concatenate([np.zeros((0, 3)), *(hull.vertices for hull in hulls)])
    normals = np.concatenate([np.zeros((0, 3)), *(hull.normals for hull in hulls)])
    first_vertex, first_face = starts(len(hull.vertices) for hull in hulls), starts(len(hull.faces) for hull in hulls)
    large = np.array([len(hull.vertices) > LARGE for hull in hulls], bool)
    candidates = [c + first for hull, first in zip(hulls, first_vertex, strict=False) for c in _candidates_if_large(hull)]
    vertex_faces = [f + first for hull, first in zip(hulls, first_face, strict=False) for f in faces_at_vertices(hull)]
    return {
        "hull_vertex_start": first_vertex,
        "hull_face_start": first_face,
        "hull_corner_start": starts(map(len, faces)),
        "hull_corner": np.array([i for face in faces for i in face], np.int32),
        "hull_edge": np.array(edges, np.int32),
        "hull_cell": np.where(large, 6 * CELLS**2 * (np.cumsum(large) - large), -1).astype(np.int32),
        "hull_candidate_start": starts(map(len, candidates)),
        "hull_candidate": np.concatenate([np.zeros(0), *candidates]).astype(np.int32),
        "hull_vertex_face_start": starts(map(len, vertex_faces)),
        "hull_vertex_face": np.concatenate([np.zeros(0), *vertex_faces]).astype(np.int32),
        "hull_vertex": vertices[None],
        "hull_normal": normals[None],
    }


def starts(lengths) -> np.ndarray:
    """Where each of some lists begins that stand one after another, and where the last one ends."""
    return np.cumsum([0, *lengths]).astype(np.int32)


def _candidates_if_large(hull: Any) -> list[np.ndarray]:
    return cell_candidates(hull.vertices, hull.radius) if len(hull.vertices) > LARGE else []


def cell_candidates(vertices: np.ndarray, radius: float) -> list[np.ndarray]:
    """Of each cell its candidates, ascending.  Cells stand by axis, by its sign (+ first), and by the next two coordinates."""
    reach = _cell_corners() @ vertices.T
    strongest = np.concatenate([reach.argmax(axis=2), reach.sum(axis=1).argmax(axis=1)[:, None]], axis=1)
    found = []
    for heights, rivals in zip(reach, strongest, strict=True):
        left = np.flatnonzero(~_surpassed(heights, heights[:, rivals], radius))
        found.append(left[~_surpassed(heights[:, left], heights[:, left], radius)])
    return found


def _surpassed(heights: np.ndarray, rivals: np.ndarray, radius: float) -> np.ndarray:
    """(n,): whether some column of rivals (4, m) exceeds the column of heights (4, n) in all rows, by more than rounding."""
    return (heights[:, :, None] < rivals[:, None, :] - SLACK * radius).all(axis=0).any(axis=1)


def _cell_corners() -> np.ndarray:
    """(6 CELLS^2, 4, 3): the directions to the corners of each cell, of greatest coordinate 1."""
    at = np.linspace(-1.0, 1.0, CELLS + 1)
    corners = np.empty((3, 2, CELLS, CELLS, 4, 3))
    for axis in range(3):
        for k in range(4):
            corners[axis, 0, :, :, k, axis], corners[axis, 1, :, :, k, axis] = 1.0, -1.0
            corners[axis, :, :, :, k, (axis + 1) % 3] = at[k // 2 :][:CELLS, None]
            corners[axis, :, :, :, k, (axis + 2) % 3] = at[k % 2 :][None, :CELLS]
    return corners.reshape(-1, 4, 3)


def faces_at_vertices(hull: Any) -> list[np.ndarray]:
    """Of each vertex the faces whose planes it lies in, or nearly, ascending."""
    offsets = np.einsum("ij,ij->i", hull.normals, hull.vertices[[face[0] for face in hull.faces]])
    depth = offsets - hull.vertices @ hull.normals.T
    return [np.flatnonzero(row <= SLACK * hull.radius) for row in depth]
