"""The tables of /model that say what shapes made of meshes look like: corners and triangles, each mesh once.

With them, the poses of shapes and links, and the lengths of the other shapes, a scene can be drawn from its result file alone.
"""

from typing import Any

import numpy as np

from .layout import Dataset

MESH, VERTEX, TRIANGLE, CORNER = (f"model/{name}" for name in ("mesh", "mesh_vertex", "mesh_triangle", "mesh_corner"))


def mesh_tables(shapes: list[Any]) -> list[tuple[Dataset, Any]]:
    """Of the convex polytopes and surfaces among a scene's shapes, in order of first use; nothing where there are none."""
    place: dict[Any, int] = {}
    meshes = [s.hull or s.surface for s in shapes]
    of_shape = [-1 if mesh is None else place.setdefault(mesh, len(place)) for mesh in meshes]
    if not place:
        return []
    vertices, triangles = [mesh.vertices for mesh in place], [mesh.triangles for mesh in place]

    def scale(name: str, values: Any, long_name: str) -> tuple[Dataset, Any]:
        return Dataset(name, (name,), "int32", "1", long_name), values

    def table(name: str, dims: tuple[str, ...], dtype: str, long_name: str, units: str = "1", frame: str = "") -> Dataset:
        return Dataset(f"model/{name}", dims, dtype, units, long_name, frame)

    return [
        scale(MESH, np.arange(len(place)), "number of the mesh"),
        scale(VERTEX, _numbers(vertices), "number of the vertex within its mesh"),
        scale(TRIANGLE, _numbers(triangles), "number of the triangle within its mesh"),
        scale(CORNER, np.arange(3), "corner of a triangle, anticlockwise seen from outside"),
        (table("shape_mesh", ("shape",), "int32", "mesh of the shape, index into mesh; -1 = none"), of_shape),
        (table("mesh_vertex_start", (MESH,), "int32", "first vertex of the mesh, index into mesh_vertex"), _starts(vertices)),
        (table("mesh_vertex_count", (MESH,), "int32", "number of its vertices"), [len(v) for v in vertices]),
        (table("mesh_triangle_start", (MESH,), "int32", "first triangle, index into mesh_triangle"), _starts(triangles)),
        (table("mesh_triangle_count", (MESH,), "int32", "number of its triangles"), [len(t) for t in triangles]),
        (table("mesh_position", (VERTEX, "xyz"), "float64", "position of the vertex", "m", "shape"), np.concatenate(vertices)),
        (table("mesh_corners", (TRIANGLE, CORNER), "int32", "vertices of the triangle"), np.concatenate(triangles)),
    ]


def _numbers(parts: list[np.ndarray]) -> np.ndarray:
    """0, 1, .. within each part."""
    return np.concatenate([np.arange(len(part)) for part in parts])


def _starts(parts: list[np.ndarray]) -> np.ndarray:
    """Where each part begins among all of them."""
    return np.cumsum([0, *(len(part) for part in parts[:-1])])
