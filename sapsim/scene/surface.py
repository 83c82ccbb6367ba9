"""Surfaces: triangles that bodies touch from the side from which their corners run anticlockwise."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sapsim.scene.hull import Cornered

MOST = 1 << 24  # triangles of all surfaces of a scene: their numbers are exact in float32


@dataclass(frozen=True, eq=False)
class Surface(Cornered):
    """Triangles in the frame of their shape, each corner there once.

    Fields:
        vertices: (n, 3) [m].
        triangles: (m, 3) indices, anticlockwise seen from the side from which it is touched.
        flat: how far from a plane corners may lie whose triangles are one flat piece [m].
    """

    vertices: np.ndarray
    triangles: np.ndarray
    flat: float

    @cached_property
    def _digest(self) -> str:
        parts = (np.ascontiguousarray(self.vertices, "<f8"), np.ascontiguousarray(self.triangles, "<i8"), np.float64(self.flat))
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()

    def digest(self) -> str:
        """SHA-256 of the content, hexadecimal."""
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surface) and self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash(self.digest())
