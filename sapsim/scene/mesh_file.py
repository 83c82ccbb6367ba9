"""Files of meshes: OBJ, STL, PLY, glTF and DAE, read by trimesh, which is imported when the first one is.

Of a file with several objects all are taken, where its own transforms have them.  Axes are the file's; its unit is taken for
metres, but DAE says itself what it is.  Materials and textures are not read.
"""

import importlib
import io
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sapsim.scene.mesh_error import MeshError
from sapsim.scene.mesh_text import LFS, check_glb, check_gltf, plain_obj, plain_stl
from sapsim.scene.report import listing

SUFFIXES = (".obj", ".stl", ".ply", ".gltf", ".glb", ".dae")
MAX_BYTES = 256 * 1024 * 1024
EXTRA = "pip install 'sapsim[mesh]'"
# Packages, beside trimesh, that a suffix needs.
_NEEDS = {".dae": "collada"}
_TEXTS = (".obj",)  # names and comments may be in any encoding; of numbers all are the same
_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']*)[\"']")
_BUFFER = ".bin"  # the only other file that a mesh may name: the numbers of a glTF


def read_mesh_file(path: Path, allows: Callable[[Path], bool]) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) float64 [m] and triangles (m, 3) of a file; `allows` says what else may be read.

    Raises MeshError.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise MeshError(f'files with suffix "{path.suffix}" are no meshes; supported: {listing(SUFFIXES)}', "convert it")
    data = _PLAIN.get(suffix, lambda data: data)(file_bytes(path))
    _CHECKS.get(suffix, lambda data: None)(data)
    _import_needed(suffix)
    import trimesh

    logging.getLogger("trimesh").addHandler(logging.NullHandler())  # else it writes on stderr beside what it raises
    options = {"process": False, "skip_materials": True, "resolver": _resolver(path, allows)}
    try:
        stream = io.StringIO(data.decode("utf-8", "replace")) if suffix in _TEXTS else io.BytesIO(data)
        loaded = trimesh.load(stream, file_type=suffix[1:], **options)
        vertices, faces = _gathered(loaded)
    except MeshError:
        raise
    except Exception as error:  # whatever its parsers stumble over: struct, json, index and key errors, ...
        said = " ".join(str(error).split())[:200]
        raise MeshError(
            f"no {suffix[1:].upper()} that can be read: {said or type(error).__name__}", "export it again"
        ) from error
    return vertices * (_unit(data) if suffix in _NEEDS else 1.0), faces


def file_bytes(path: Path) -> bytes:
    """The content of a file.  Raises MeshError."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise MeshError(f"cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise MeshError(f"more than {MAX_BYTES} bytes, which are not read", "simplify the mesh")
    if not data.strip():
        raise MeshError("an empty file", "export it again")
    if data.startswith(LFS):
        raise MeshError("a pointer of Git LFS, in place of the file itself", "fetch it: git lfs pull")
    return data


_PLAIN: dict[str, Callable[[bytes], bytes]] = {".obj": plain_obj, ".stl": plain_stl}
_CHECKS: dict[str, Callable[[bytes], None]] = {".gltf": check_gltf, ".glb": check_glb}


def _import_needed(suffix: str) -> None:
    if suffix in _NEEDS:
        try:
            importlib.import_module(_NEEDS[suffix])
        except ImportError as error:
            raise MeshError("reading DAE needs the package pycollada, which is not installed", EXTRA) from error


def _resolver(path: Path, allows: Callable[[Path], bool]) -> Any:
    """What gives trimesh the other files that a mesh names."""
    from urllib.parse import unquote

    import trimesh

    class Beside(trimesh.resolvers.Resolver):
        """The buffers of a glTF, where they may be read; nothing else."""

        def __init__(self) -> None:
            """It has no state."""

        def get(self, name: str) -> bytes:
            other = path.parent / unquote(name)
            if other.suffix.lower() != _BUFFER:
                raise FileNotFoundError(name)
            if not allows(other):
                raise MeshError(f"its buffer {other} is outside of what may be read", f"--allow {other.parent}")
            try:
                return file_bytes(other)
            except MeshError as error:
                raise MeshError(f"its buffer {other}: {error}", "export it again, with its buffers") from error

        def write(self, name: str, data: Any) -> None:
            raise PermissionError(name)

        def namespaced(self, namespace: str) -> "Beside":
            return self

        def keys(self) -> tuple[str, ...]:
            return ()

    return Beside()


def _gathered(loaded: Any) -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles of all objects together, in the frame of the file."""
    placed = [(np.eye(4), loaded)] if not hasattr(loaded, "graph") else _objects(loaded)
    corners, triangles, first = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for X, mesh in placed:
        faces = np.asarray(getattr(mesh, "faces", ()), np.int64).reshape(-1, 3)
        vertices = np.asarray(mesh.vertices, np.float64).reshape(-1, 3)
        if len(faces) and not (faces.min() >= 0 and faces.max() < len(vertices)):
            raise MeshError("a triangle names a corner that is not there", "export it again")
        triangles.append((faces if np.linalg.det(X[:3, :3]) > 0.0 else faces[:, ::-1]) + first)
        corners.append(vertices @ X[:3, :3].T + X[:3, 3])
        first += len(vertices)
    return np.concatenate(corners), np.concatenate(triangles)


def _objects(scene: Any) -> list[tuple[np.ndarray, Any]]:
    """(X of the object in the scene, object), in the order of names."""
    placed = [scene.graph[node] for node in sorted(scene.graph.nodes_geometry)]
    return [(np.asarray(X, np.float64), scene.geometry[name]) for X, name in placed]


def _unit(data: bytes) -> float:
    """The unit of a DAE [m], in which its numbers are given; 1 where it says none."""
    found = _UNIT.search(data)
    if found is None:
        return 1.0
    try:
        unit = float(found[1])
    except ValueError:
        unit = 0.0
    if not 0.0 < unit < np.inf:
        raise MeshError(f'its unit is "{found[1].decode("utf-8", "replace")}" m; it must be > 0', "export it again")
    return unit
