"""The structure of a new result file: attributes of /, scales, datasets with their attributes (contract 3)."""

import math
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import h5py
import numpy as np

from .growing import Growing
from .layout import (
    CONVENTIONS,
    FORMAT,
    FORMAT_VERSION,
    ROW_SCALES,
    TIME,
    Channel,
    Dataset,
    chunk_contacts,
    chunk_rows,
    scale_tables,
)
from .model_tables import Table, config_tables, digest, model_tables

TEXT = h5py.string_dtype()


def rows_of_run(steps: int, every: int) -> int:
    """Rows of a finished run: row 0, every K-th step, and always the last."""
    return math.ceil(steps / every) + 1


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def package_version(package: str) -> str:
    """The installed version of a package, "unknown" where it is not installed (a source tree on the path)."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def root_attributes(sim: Any, tables: list[Table], command: str) -> dict[str, Any]:
    """Attributes of /: conventions, provenance, and the state of the file."""
    scene = sim.scene
    return {
        "Conventions": CONVENTIONS,
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "status": "running",
        "rows_valid": np.int64(0),
        "quaternion_order": "xyzw",
        "frame": "world, right-handed; SI units, angles in radians",
        "title": scene.name,
        "time_step": scene.time_step,
        "steps": np.int64(scene.steps),
        "every": np.int64(scene.output.every),
        "gravity": np.array(scene.gravity, np.float64),
        "contact_law": scene.contact.law,
        "precision": sim.precision,
        "device": sim.device,
        "seed": np.int64(scene.seed),
        "deterministic": np.int32(1),  # an integer: netCDF has no attributes of type bool
        "sapsim_version": package_version("sapsim"),
        "warp_version": package_version("warp-lang"),
        "scene_sha256": sha256(scene.resolved.encode()).hexdigest(),
        "model_sha256": digest(tables),
        "command": command,
        "host": socket.gethostname(),
        "started_at": now(),
        "finished_at": "",
        "wall_seconds": 0.0,
    }


class Structure:
    """A file with its whole structure and constant datasets, ready for rows.

    Fields:
        growing: {dataset name: Growing} of all datasets that rows are appended to.
        by_contact: names of those whose first axis is not time.
        running: {attribute of Totals: dataset} that is rewritten with every flush.
    """

    def __init__(self, file: h5py.File, sim: Any, chosen: Sequence[Channel], worlds: np.ndarray, command: str):
        self.file = file
        self.output = sim.scene.output
        self.growing: dict[str, Growing] = {}
        self.by_contact: set[str] = set()
        self.running: dict[str, h5py.Dataset] = {}
        self._scales: dict[str, h5py.Dataset] = {}
        model = model_tables(sim.scene, sim)
        file.attrs.update(root_attributes(sim, model, command))
        for dataset, values in scale_tables(sim, worlds):
            self._constant(dataset, values)
        for channel in chosen:
            values = channel.values(sim)
            for dataset in channel.fixed:
                self._constant(dataset, values[dataset.name])
        rows = rows_of_run(sim.scene.steps, self.output.every)
        lengths = {name: len(scale) for name, scale in self._scales.items()}
        widest = max((self._row_bytes(d, lengths) for c in chosen for d in c.grows if d.dims[0] == TIME), default=8)
        chunk = {TIME: chunk_rows(widest, rows)}
        for dataset in ROW_SCALES:
            self._grow(dataset, chunk[TIME])
        for channel in chosen:
            for dataset in channel.scales:
                chunk[dataset.name] = chunk_contacts(chunk[TIME], len(worlds), len(sim.shape_names))
            for dataset in (*channel.scales, *channel.grows):
                self._grow(dataset, chunk[dataset.dims[0]])
            for total, dataset in channel.running.items():
                self.running[total] = self._constant(dataset, np.full(len(worlds), -1))
        for dataset, values in (*model, *config_tables(sim.scene)):
            self._constant(dataset, values)

    def _dtype(self, dataset: Dataset) -> Any:
        return {"real": np.dtype(self.output.dtype), "text": TEXT, "bool": np.dtype(bool)}.get(dataset.dtype, dataset.dtype)

    def _row_bytes(self, dataset: Dataset, lengths: dict[str, int]) -> int:
        return np.dtype(self._dtype(dataset)).itemsize * math.prod(max(1, lengths[d]) for d in dataset.dims[1:])

    def _constant(self, dataset: Dataset, values: Any) -> h5py.Dataset:
        """A dataset of constant size."""
        values = np.asarray(values, object) if dataset.dtype == "text" else np.asarray(values, self._dtype(dataset))
        # netCDF knows axes of length 0 only as axes that can grow
        growable = {"maxshape": (None, *values.shape[1:]), "chunks": (1, *values.shape[1:])} if 0 in values.shape[:1] else {}
        made = self.file.create_dataset(dataset.name, values.shape, self._dtype(dataset), **growable)
        if values.size:
            made[...] = values
        return self._finish(made, dataset)

    def _grow(self, dataset: Dataset, chunk: int) -> None:
        """A dataset that grows along its first axis, compressed as the scene asks."""
        rest = tuple(len(self._scales[d]) for d in dataset.dims[1:])
        compress = self.output.compression == "gzip"
        made = self.file.create_dataset(
            dataset.name,
            (0, *rest),
            self._dtype(dataset),
            maxshape=(None, *(n or None for n in rest)),
            chunks=(chunk, *(max(1, n) for n in rest)),
            **({"compression": "gzip", "compression_opts": 1, "shuffle": True} if compress else {}),
        )
        self._finish(made, dataset)
        self.growing[dataset.name] = Growing(made, compress)
        if dataset.dims[0] != TIME:
            self.by_contact.add(dataset.name)

    def _finish(self, made: h5py.Dataset, dataset: Dataset) -> h5py.Dataset:
        """Attributes and scales: a scale is its own axis; other datasets get a scale on every axis."""
        made.attrs["units"] = dataset.units
        made.attrs["long_name"] = dataset.long_name
        if dataset.frame:
            made.attrs["frame"] = dataset.frame
        for key, value in dataset.attrs.items():
            made.attrs[key] = value
        if dataset.dims == (dataset.name,):
            made.make_scale(dataset.name.rsplit("/", 1)[-1])
            self._scales[dataset.name] = made
        else:
            for axis, name in enumerate(dataset.dims):
                made.dims[axis].attach_scale(self._scales[name])
        return made
