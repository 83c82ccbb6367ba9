"""Writes a result file while the simulation runs: a thread that takes blocks of rows from a bounded queue.

The file is built under a temporary name, flushed, and renamed to FILE.h5.partial; it becomes FILE.h5 when it is closed.
After a kill the .partial opens with plain h5py and holds `rows_valid` whole rows: HDF5 holds all metadata back between
flushes, data goes to places that the flushed file does not refer to (`growing`), and a flush is let out as a whole
(`durable`).
"""

import contextlib
import os
import queue
import threading
import time
from collections.abc import Sequence
from typing import Any

import h5py
import numpy as np

from ..errors import MachineError, UsageError
from ..step.block import Block
from . import select
from .durable import DurableFile
from .layout import ROW_SCALES, Counts, channels
from .model_tables import WARNINGS, warnings_text
from .structure import Structure, now

QUEUE_BLOCKS = 2  # blocks that may wait: the simulation runs on while one is compressed, and memory stays bounded


def partial_name(path: str) -> str:
    """The name of a file that is being written."""
    return f"{path}.partial"


def check_target(path: str, overwrite: bool) -> None:
    """Raises UsageError where a result cannot be written to `path`, or must not without `overwrite`."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise UsageError(f"{path}: is a directory; give the name of a file")
    if not os.path.isdir(folder):
        raise UsageError(f"{path}: there is no directory {folder}")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{path}: the directory {folder} is not writable")
    for name in (path, partial_name(path)):
        if os.path.isdir(name):
            raise UsageError(f"{name}: is a directory")
        if os.path.lexists(name) and not overwrite:
            raise UsageError(f"{name}: exists already; --overwrite replaces it")


class Recorder:
    """Takes the rows of a run into a result file.

    Use: `put` blocks in order, the first being `Simulation.initial()`; then `close` with the run's status, once.
    `put` blocks while the queue is full.  A failure of the thread (disk full) comes back from the next `put` or from
    `close` as MachineError.

    Fields:
        step: the last step whose row was written.
    """

    def __init__(self, path: str, sim: Any, *, command: str = "", overwrite: bool = False):
        check_target(path, overwrite)
        self.path = path
        self._scene = sim.scene
        self._started = time.monotonic()
        chosen = self._scene.output.worlds
        self._worlds = np.arange(sim.nworld) if chosen is None else np.array(chosen, np.int64)
        self._all_worlds = len(self._worlds) == sim.nworld
        found = channels()
        self._channels = [c for name, c in found.items() if name in self._scene.output.channels or c.always(sim)]
        self._counts = Counts()
        self.step = 0
        self._totals: dict[str, np.ndarray] = {}
        self._warnings: Sequence[Any] = ()
        self._error: Exception | None = None
        self._queue: queue.Queue = queue.Queue(QUEUE_BLOCKS)
        try:
            self._create(sim, command)
        except OSError as error:
            raise MachineError(f"{path}: {error}") from error
        self._thread = threading.Thread(target=self._work, name="sapsim-recorder", daemon=True)
        self._thread.start()

    def _create(self, sim: Any, command: str) -> None:
        """Writes the structure under a temporary name beside the target, and renames it to the partial name."""
        folder, name = os.path.split(os.path.abspath(self.path))
        temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
        self._disk = DurableFile(temporary)
        try:
            self._file = h5py.File(self._disk, "w")
            _hold_metadata(self._file)
            self._parts = Structure(self._file, sim, self._channels, self._worlds, command)
            # room for a last save of unfinished chunks when the disk is full
            self._disk.reserve += sum(growing.chunk_bytes for growing in self._parts.growing.values())
            with self._disk.whole():
                self._file.flush()
            os.replace(temporary, partial_name(self.path))
        except BaseException:
            os.remove(temporary)
            raise

    def put(self, block: Block, totals: Any = None) -> None:
        """Hands over the rows of a block, and a copy of the counters of the run so far."""
        copy = {name: np.array(getattr(totals, name))[self._worlds] for name in self._parts.running} if totals else None
        while True:
            self._raise()
            try:
                self._queue.put((block, copy), timeout=0.1)
                return
            except queue.Full:
                continue

    def close(self, status: str, warnings: Sequence[Any] = ()) -> str:
        """Writes what is left, sets `status` (complete | interrupted | failed) and adds `warnings` about the run to those about
        the scene; closes and renames.  Returns the path.

        Raises MachineError where rows could not be written.  The file then holds those that could, with status failed; where
        not even that succeeds, it keeps its partial name and what the last flush left in it.
        """
        self._warnings = warnings
        self._queue.put(None)
        self._thread.join()
        saved = self._error is None and self._try_save(status)
        if not saved:
            self._cut()
            saved = self._try_save("failed")
        if not saved:
            with contextlib.suppress(OSError, RuntimeError):
                self._file.close()
        self._disk.close()
        if saved:
            os.replace(partial_name(self.path), self.path)
        self._raise()
        return self.path

    def _try_save(self, status: str) -> bool:
        """The last save; False where it failed."""
        try:
            self._save(last=True, status=status)
        except (OSError, RuntimeError, MemoryError) as error:
            self._error = self._error or error
            return False
        return True

    def _cut(self) -> None:
        """Brings all datasets back to the rows that all of them have."""
        for name, growing in self._parts.growing.items():
            rows = self._counts.contacts if name in self._parts.by_contact else self._counts.rows
            growing.cut(rows)

    def _raise(self) -> None:
        if self._error is not None and (self._disk.failure or isinstance(self._error, OSError | MemoryError)):
            text = self._disk.failure or self._error
            raise MachineError(f"{partial_name(self.path)}: writing failed: {text}") from self._error
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        """The thread: appends blocks, and flushes when `flush_seconds` have passed."""
        due = time.monotonic() + self._scene.output.flush_seconds
        while True:
            try:
                # after a failure blocks are taken and dropped, so that the producer never waits for this thread
                item = self._queue.get(timeout=None if self._error else max(0.0, due - time.monotonic()))
            except queue.Empty:
                item = ()
            if item is None:
                return
            if self._error:
                continue
            try:
                if item:
                    self._append(*item)
                if time.monotonic() >= due:
                    self._save()
                    due = time.monotonic() + self._scene.output.flush_seconds
            except Exception as error:
                self._error = error

    def _append(self, block: Block, totals: dict[str, np.ndarray] | None) -> None:
        if not self._all_worlds:
            block = select.worlds(block, self._worlds)
        step = np.asarray(block.step, np.int64)
        rows = {ROW_SCALES[0].name: step * self._scene.time_step, ROW_SCALES[1].name: step}
        for channel in self._channels:
            rows.update(channel.rows(block, self._counts))
        for name, values in rows.items():
            self._parts.growing[name].append(values)
        self._counts.rows += len(step)
        self.step = int(step[-1]) if len(step) else self.step
        self._counts.contacts += len(block.contacts.row)
        self._totals = totals or self._totals

    def _save(self, last: bool = False, status: str = "running") -> None:
        """Brings the file on disk up to date with all rows so far; `last`: nothing will follow."""
        for growing in self._parts.growing.values():
            growing.save(last)
        for name, values in self._totals.items():
            self._parts.running[name][...] = values
        self._file.attrs.modify("rows_valid", np.int64(self._counts.rows))
        self._file.attrs.modify("wall_seconds", time.monotonic() - self._started)
        if last:
            self._file.attrs["status"] = status
            self._file.attrs["finished_at"] = now()
            if self._warnings:
                self._file[f"config/{WARNINGS}"][()] = warnings_text(self._scene, self._warnings)
        with self._disk.whole():
            self._file.flush()
            if last:
                self._file.close()


def _hold_metadata(file: h5py.File) -> None:
    """Makes HDF5 write metadata at flushes only: between them the file on disk stays as the last flush left it."""
    config = file.id.get_mdc_config()
    config.incr_mode = config.flash_incr_mode = config.decr_mode = 0  # evictions can be off only with a fixed size
    config.evictions_enabled = False
    file.id.set_mdc_config(config)
