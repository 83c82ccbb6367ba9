"""Approximate convex decomposition of meshes by CoACD, its seed and all its settings fixed: one mesh, always the same parts.

X. Wei et al., "Approximate convex decomposition for 3D meshes with collision-aware concavity and tree search", 2022.
"""

import importlib

import numpy as np

from sapsim.scene.hull import ConvexHull, FlatError, convex_hull
from sapsim.scene.mesh_file import EXTRA, MeshError

CONCAVITY = 0.05  # how far a part may be from its hull, over the size of the mesh: CoACD's own default
SEED = 0


def recipe() -> str:
    """What a decomposition depends on beside the mesh.  Raises MeshError where CoACD is not installed."""
    from importlib import metadata  # slow to import

    _coacd()
    return f"coacd {metadata.version('coacd')} {CONCAVITY} {SEED}"


def decompose(vertices: np.ndarray, faces: np.ndarray, tolerance: float) -> list[ConvexHull]:
    """Convex parts that cover a mesh (n, 3), (m, 3), in CoACD's order; flat ones, which are no bodies, are left out."""
    coacd = _coacd()
    coacd.set_log_level("off")
    mesh = coacd.Mesh(np.ascontiguousarray(vertices, np.float64), np.ascontiguousarray(faces, np.int32))
    hulls = []
    for points, _ in coacd.run_coacd(mesh, threshold=CONCAVITY, seed=SEED):
        try:
            hulls.append(convex_hull(points, tolerance))
        except FlatError:
            continue
    if not hulls:
        raise MeshError("a decomposition without parts", "repair the mesh, or choose `as: hull`")
    return hulls


def _coacd():
    try:
        return importlib.import_module("coacd")
    except ImportError as error:
        raise MeshError("`as: decompose` needs the package coacd, which is not installed", EXTRA) from error
