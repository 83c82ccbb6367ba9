"""What a result file holds: the declarations of datasets, channels and dimension scales (contract 3).

A channel is one file in `record/channels/` that defines `CHANNEL`, whose name is the file's name; it is found by being
there.  It declares its datasets (name, axes, type, units, frame) and turns a `Block` into their rows.  Every axis of a
dataset names a dimension scale by its path in the file, so that a file opens as netCDF-4 and in xarray.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..step.block import Block

FORMAT = "sapsim"
FORMAT_VERSION = "1.0"
CONVENTIONS = "CF-1.11"

TIME = "time"  # the one axis of rows; a dataset that begins with it grows by one entry a row

POSE_NAMES = ("x", "y", "z", "qx", "qy", "qz", "qw")
TWIST_NAMES = ("vx", "vy", "vz", "wx", "wy", "wz")
XYZ_NAMES = ("x", "y", "z")


@dataclass(frozen=True)
class Dataset:
    """One dataset of a result file.

    Fields:
        name: path in the file.
        dims: paths of the dimension scales of its axes, in order; empty for a scalar.
        dtype: a NumPy type name, "bool", "text", or "real" (the type that `output.dtype` asks for).
        units: SI units; "1" for numbers without a dimension and for names.
        long_name: what it is, in words.
        frame: the frame its components are written in, where it applies.
        attrs: further attributes.
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    units: str
    long_name: str
    frame: str = ""
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Counts:
    """How much a file holds before the block at hand: rows, and entries along the scale of contacts."""

    rows: int = 0
    contacts: int = 0


@dataclass(frozen=True)
class Channel:
    """One output channel.

    Fields:
        name: its name in `output.channels`.
        grows: datasets that grow; their first axis is TIME or one of `scales`.
        rows: (Block, Counts) -> {dataset name: array}, one entry for each of `grows` and `scales`.
        scales: growing dimension scales of the channel's own; each is its own axis.
        fixed: datasets of constant size, known before the first step; a scale of constant size comes before what lies along it.
        values: (simulation) -> {dataset name: value}, one entry for each of `fixed`.
        always: (simulation) -> whether it is recorded although `output.channels` does not name it.
        running: per-world datasets that are rewritten with every flush: {name of the attribute of `Totals`: dataset}.
    """

    name: str
    grows: tuple[Dataset, ...]
    rows: "Callable[[Block, Counts], dict[str, np.ndarray]]"
    scales: tuple[Dataset, ...] = ()
    fixed: tuple[Dataset, ...] = ()
    values: Callable[[Any], dict[str, Any]] = lambda sim: {}
    running: Mapping[str, Dataset] = field(default_factory=dict)
    always: Callable[[Any], bool] = lambda sim: False


@cache
def channels() -> dict[str, Channel]:
    """All channels, sorted by name.  Raises RuntimeError where a file defines no CHANNEL or one of another name."""
    package = importlib.import_module(f"{__package__}.channels")
    found = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        channel = getattr(importlib.import_module(f"{package.__name__}.{info.name}"), "CHANNEL", None)
        if channel is None or channel.name != info.name:
            raise RuntimeError(f"record/channels/{info.name}.py must define CHANNEL with the name {info.name!r}")
        found[info.name] = channel
    return found


def scale_tables(sim: Any, worlds: np.ndarray) -> list[tuple[Dataset, Any]]:
    """The dimension scales of constant size with their values.  `worlds` (W,) are the numbers of the recorded worlds."""

    def names(name: str, long_name: str, values: Any) -> tuple[Dataset, list[str]]:
        return Dataset(name, (name,), "text", "1", long_name), list(values)

    return [
        (Dataset("world", ("world",), "int32", "1", "number of the world"), worlds),
        names("body", "name of the link", sim.link_names),
        names("joint", "name of the joint", sim.joint_names),
        names("coordinate", "name of the position coordinate", sim.coordinate_names),
        names("dof", "name of the degree of freedom", sim.dof_names),
        names("shape", "name of the collision shape", sim.shape_names),
        names("pose", "component of a pose: position, quaternion xyzw", POSE_NAMES),
        names("twist", "component of a twist: linear, angular", TWIST_NAMES),
        names("xyz", "component of a vector", XYZ_NAMES),
    ]


ROW_SCALES = (
    Dataset(TIME, (TIME,), "float64", "s", "time: step times time_step"),
    Dataset("step", (TIME,), "int64", "1", "number of steps done"),
)


def chunk_rows(row_bytes: int, rows: int) -> int:
    """Rows in a chunk, a power of two: about 256 kB in the widest dataset, at most 256, and no more than the run needs."""
    most = min(256, max(1, 262144 // max(1, row_bytes)), 1 << max(0, rows - 1).bit_length())
    return 1 << (most.bit_length() - 1)


def chunk_contacts(rows: int, worlds: int, shapes: int) -> int:
    """Contacts in a chunk, a power of two: about one contact a shape in the rows of a chunk, within 64 .. 4096."""
    guess = min(4096, max(64, rows * worlds * shapes))
    return 1 << (guess.bit_length() - 1)
