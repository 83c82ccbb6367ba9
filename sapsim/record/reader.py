"""Reads a result file: a thin helper over h5py that knows the layout (contract 3).

It reads finished files and what a killed run left (`FILE.h5.partial`); rows beyond `rows_valid` do not exist for it.
"""

import os
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np

from ..errors import UsageError
from .layout import FORMAT, FORMAT_VERSION

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_result(path: str) -> bool:
    """Whether a file is HDF5, by its first bytes."""
    try:
        with open(path, "rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:
        return False


@dataclass(frozen=True)
class State:
    """State of one row and world, in the units and frames of files: joint_q (nq), joint_qd (nv), body_q (nbody, 7), body_qd
    (nbody, 6)."""

    joint_q: np.ndarray
    joint_qd: np.ndarray
    body_q: np.ndarray
    body_qd: np.ndarray


def open_run(path: str | os.PathLike) -> "Run":
    """Opens a result file for reading.  Raises UsageError where it cannot be read as one."""
    return Run(os.fspath(path))


class Run:
    """An open result file.  Use as a context manager, or call `close`.

    Fields:
        file: the h5py file, for everything not offered here.
        rows: number of valid rows; row 0 is the initial state.
        time (rows,) [s], step (rows,).
        worlds (W,): numbers of the recorded worlds; methods take places along this axis.
        bodies, joints, coordinates, dofs, shapes: names along the axes.
    """

    def __init__(self, path: str):
        self.path = path
        if not is_result(path):
            found = "is not an HDF5 file" if os.path.isfile(path) else "there is no such file"
            raise UsageError(f"{path}: {found}")
        try:
            self.file = h5py.File(path, "r")
        except OSError as error:
            raise UsageError(f"{path}: cannot be opened: {error}") from error
        attrs = self.file.attrs
        if attrs.get("format") != FORMAT:
            self.close()
            raise UsageError(f"{path}: is HDF5 but no result of sapsim")
        version = str(attrs["format_version"])
        if version.split(".")[0] != FORMAT_VERSION.split(".")[0]:
            self.close()
            raise UsageError(f"{path}: has format version {version}; this sapsim reads {FORMAT_VERSION}")
        self.rows = int(attrs["rows_valid"])
        self.time = self.file["time"][: self.rows]
        self.step = self.file["step"][: self.rows]
        self.worlds = self.file["world"][:]
        self.bodies, self.joints = self._names("body"), self._names("joint")
        self.coordinates, self.dofs = self._names("coordinate"), self._names("dof")
        self.shapes = self._names("shape")

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self.file.close()

    def _names(self, scale: str) -> list[str]:
        return [name.decode() for name in self.file[scale][:]]

    @property
    def status(self) -> str:
        """running (a partial file) | complete | interrupted | failed."""
        return str(self.file.attrs["status"])

    @property
    def time_step(self) -> float:
        """Step h [s]."""
        return float(self.file.attrs["time_step"])

    def has(self, channel: str) -> bool:
        """Whether a channel was recorded."""
        return channel in self.file

    def rows_of(self, name: str) -> np.ndarray:
        """All valid rows of a dataset that begins with the time axis."""
        return self.file[name][: self.rows]

    def state(self, row: int, world: int = 0) -> State:
        """State at a row (negative: from the end) of the world at place `world`."""
        row = range(self.rows)[row]
        group = self.file["state"]
        return State(*(group[name][row, world] for name in ("joint_q", "joint_qd", "body_q", "body_qd")))

    def contacts(self, row: int, world: int = 0) -> dict[str, np.ndarray]:
        """Contacts of the step that ended at a row (negative: from the end), all datasets of /contacts with one entry each."""
        row = range(self.rows)[row]
        group = self.file["contacts"]
        first = int(group["start"][row, world])
        part = slice(first, first + int(group["count"][row, world]))
        return {name: group[name][part] for name in group if name not in ("count", "start")}
