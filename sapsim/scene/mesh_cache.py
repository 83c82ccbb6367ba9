"""Convex hulls on disk, by the hash of what they were made of: hulls of large meshes and decompositions take seconds.

The folder is SAPSIM_CACHE_DIR, else `sapsim` in XDG_CACHE_HOME, else ~/.cache/sapsim.  It may be deleted at any time; a file
that cannot be read is made again, and where none can be written everything works as if there were no cache.
"""

import hashlib
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from sapsim.scene.hull import ConvexHull

VARIABLE = "SAPSIM_CACHE_DIR"
FORMAT = b"1"  # another one where the same input is to give other hulls


def folder() -> Path:
    """Where cached hulls are."""
    own = os.environ.get(VARIABLE)
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sapsim"


def cached_hulls(recipe: str, arrays: Sequence[np.ndarray], make: Callable[[], list[ConvexHull]]) -> list[ConvexHull]:
    """What `make` gives, from the disk where it was made before of equal arrays by the same recipe."""
    content = hashlib.sha256(FORMAT + recipe.encode())
    for a in arrays:
        content.update(repr((a.dtype.str, a.shape)).encode())
        content.update(np.ascontiguousarray(a).tobytes())
    try:
        path = folder() / "hulls" / f"{content.hexdigest()}.npz"
    except RuntimeError:  # a user without a home
        return make()
    found = _read(path)
    if found is None:
        found = make()
        _write(path, found)
    return found


def _read(path: Path) -> list[ConvexHull] | None:
    """The hulls of a file; None where there is none, or its content is not what was written."""
    from zipfile import BadZipFile

    try:
        with np.load(path, allow_pickle=False) as stored:
            return [_hull(stored, i, str(digest)) for i, digest in enumerate(stored["digests"])]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None


def _hull(stored: Mapping[str, np.ndarray], i: int, digest: str) -> ConvexHull:
    """The hull number i.  Raises ValueError where it has another digest."""
    ends = np.cumsum(stored[f"counts{i}"])
    faces = tuple(tuple(part.tolist()) for part in np.split(stored[f"corners{i}"], ends[:-1]))
    hull = ConvexHull(stored[f"vertices{i}"], faces)
    if hull.digest() != digest:
        raise ValueError("another digest")
    return hull


def _write(path: Path, hulls: Sequence[ConvexHull]) -> None:
    """Write a file as a whole or not at all, so that no one reads half of it."""
    arrays = {"digests": np.array([hull.digest() for hull in hulls], "U64")}
    for i, hull in enumerate(hulls):
        arrays[f"vertices{i}"] = hull.vertices
        arrays[f"counts{i}"] = np.array([len(face) for face in hull.faces], np.int64)
        arrays[f"corners{i}"] = np.array([k for face in hull.faces for k in face], np.int64)
    from tempfile import NamedTemporaryFile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, suffix=".partial", delete=False) as stream:
            np.savez_compressed(stream, **arrays)
        os.replace(stream.name, path)
    except OSError:  # read-only, full, a file where a folder should be: only the next run is slower
        return
