"""Hulls of convex shapes as arrays, one hull for all shapes that share it."""

from typing import Any

import numpy as np


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
    return {
        "hull_vertex_start": np.cumsum([0] + [len(hull.vertices) for hull in hulls]).astype(np.int32),
        "hull_face_start": np.cumsum([0] + [len(hull.faces) for hull in hulls]).astype(np.int32),
        "hull_corner_start": np.cumsum([0] + [len(face) for face in faces]).astype(np.int32),
        "hull_corner": np.array([i for face in faces for i in face], np.int32),
        "hull_edge": np.array(edges, np.int32),
        "hull_vertex": vertices[None],
        "hull_normal": normals[None],
    }
