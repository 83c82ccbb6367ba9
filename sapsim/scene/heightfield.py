"""Heightfields: heights over a rectangle, which become a surface of two triangles to a cell, felt from above.

Row i, column j of the heights stands at x = (j / (columns - 1) - 1/2) size_x, y = (i / (rows - 1) - 1/2) size_y: the shape's
origin is the middle of the rectangle, at height zero.  A cell is cut from its corner of least x and y to the opposite one.
"""

import io
from pathlib import Path

import numpy as np

from sapsim.scene.grammar import ByKey, Key, ListOf, Record, Section, Vector
from sapsim.scene.mesh import Mesh, MeshSource, missing_file
from sapsim.scene.mesh_error import MeshError
from sapsim.scene.mesh_file import file_bytes
from sapsim.scene.report import Report, listing
from sapsim.scene.scalars import Number, Text
from sapsim.scene.sources import Sources

HEIGHTFIELD_KEY = "heightfield"
SUFFIXES = (".npy", ".csv", ".txt")
_COMMON = {
    "size": Key(Vector(2, Number(above=0.0)), "lengths along x and y [m]", required=True),
    "scale": Key(Number(), "unit of the heights [m]; default 1"),
}
HEIGHTS_TABLE = Record(
    {"heights": Key(ListOf(ListOf(Number())), "rows along x, those of least y first", required=True), **_COMMON}
)
HEIGHTS_FILE = Record({"file": Key(Text("a path"), "the rows: NPY, or numbers in CSV or TXT", required=True), **_COMMON})
HEIGHTFIELD = ByKey({"file": HEIGHTS_FILE}, HEIGHTS_TABLE)


def grid_triangles(heights: np.ndarray, size: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Corners (rows * columns, 3) and triangles of heights (rows, columns) [m]."""
    rows, columns = heights.shape
    x, y = np.meshgrid((np.arange(columns) / (columns - 1) - 0.5) * size[0], (np.arange(rows) / (rows - 1) - 0.5) * size[1])
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (at[i : rows - 1 + i, j : columns - 1 + j].ravel() for i, j in ((0, 0), (0, 1), (1, 1), (1, 0)))
    triangles = np.stack([np.column_stack([a, b, c]), np.column_stack([a, c, d])], axis=1).reshape(-1, 3)
    return np.column_stack([x.ravel(), y.ravel(), heights.ravel()]), triangles


def read_heightfield(section: Section, sources: Sources | None, report: Report) -> Mesh | None:
    """The surface of a `heightfield` section; None where a part of it was refused."""
    wanted = "file" if section.given("file") else "heights"
    if section.broken(wanted, "size", "scale") or not {wanted, "size"} <= set(section):
        return None
    size, scale, where = section["size"], section.get("scale", 1.0), section.where(wanted)
    if wanted == "heights":
        rows = section["heights"]
        if not (rows.complete and all(row.complete for _, row in rows)):
            return None
        name, missing = HEIGHTFIELD_KEY, None

        def heights() -> np.ndarray:
            return _table([[value for _, value in row] for _, row in rows])

    elif sources is None:
        return None
    else:
        name = section["file"]
        path, missing = missing_file(name, sources.folder / "scene", sources, SUFFIXES)

        def heights() -> np.ndarray:
            return _of_file(path)

    def read() -> tuple[np.ndarray, np.ndarray]:
        return grid_triangles(_checked(heights()) * scale, size)

    return Mesh(MeshSource(name, read, (1.0, 1.0, 1.0), where, report, missing), "surface")


def _table(rows: list[list[float]]) -> np.ndarray:
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise MeshError(f"rows of {listing(sorted(map(str, lengths)))} heights", "give as many in every row")
    return np.array(rows, float)


def _of_file(path: Path) -> np.ndarray:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise MeshError(f'files with suffix "{path.suffix}" are no heightfields; supported: {listing(SUFFIXES)}', "convert it")
    data = file_bytes(path)
    try:
        return _npy(data) if suffix == ".npy" else _text(data.decode("utf-8-sig"))
    except (ValueError, TypeError, EOFError, OSError, MemoryError) as error:
        if isinstance(error, MeshError):
            raise
        said = " ".join(str(error).split())[:200]
        raise MeshError(f"no table of numbers: {said}", "a row of the file is a row of heights") from error


def _npy(data: bytes) -> np.ndarray:
    if not data.startswith(b"\x93NUMPY"):
        raise MeshError("no NPY file", "write it with numpy.save")
    found = np.load(io.BytesIO(data), allow_pickle=False)
    if found.dtype.kind not in "biuf":
        raise MeshError(f"an array of {found.dtype}; allowed: integers and real numbers", "convert it")
    return found.astype(float)


def _text(text: str) -> np.ndarray:
    """Numbers between commas or blanks; lines after # are comments."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        cells = [cell.strip() for cell in line.split(",")] if "," in line else line.split()
        for k, cell in enumerate(cells, 1):
            if not cell:
                raise MeshError(f"line {number}, column {k}: an empty cell", "give every cell a height")
            if not is_number(cell):
                hint = "leave names of columns out" if not rows else "a row of the file is a row of heights"
                raise MeshError(f'line {number}, column {k}: "{cell[:40]}" is no number', hint)
        rows.append([float(cell) for cell in cells])
    return _table(rows)


def is_number(word: str) -> bool:
    """Whether a word is what float() takes, but for digits with underscores."""
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word


def _checked(heights: np.ndarray) -> np.ndarray:
    if heights.ndim != 2 or min(heights.shape) < 2:
        shape = " x ".join(map(str, heights.shape))
        raise MeshError(f"heights of shape {shape}; at least two rows and two columns are needed", "add rows or columns")
    bad = np.argwhere(~np.isfinite(heights))
    if len(bad):
        row, column = bad[0]
        text = f"{len(bad)} of {heights.size} heights are not finite numbers, the first in row {row + 1}, column {column + 1}"
        raise MeshError(text, "fill the holes")
    return heights
