"""Starting Warp quietly, building a simulation, and telling that the first run compiles kernels."""

import contextlib
import glob
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

from sapsim.errors import MachineError, UsageError

from .messages import note

COMPILING = "compiling the kernels; this happens once, later runs load them from the cache"
SOON = 4.0  # [s] a start that takes longer is compiling something, even where other kernels are cached

DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")
# what Warp's native code says on a machine without a GPU; it is no news where none was asked for
NO_DRIVER = re.compile(rb"^Warp CUDA warning: .*(\n|$)", re.MULTILINE)


def check_device(name: str) -> None:
    """Raises UsageError for what cannot be a device's name."""
    if not DEVICE.fullmatch(name):
        raise UsageError(f"--device {name}: known are auto, cpu, cuda, cuda:0, cuda:1, ...")


class stdout_to_stderr:
    """Sends everything that is written to file descriptor 1, also by native code, to stderr: stdout is for results."""

    def __enter__(self) -> "stdout_to_stderr":
        sys.stdout.flush()
        self._saved = os.dup(1)
        os.dup2(2, 1)
        return self

    def restore(self) -> None:
        """Gives stdout back; leaving the context does it too."""
        sys.stdout.flush()
        os.dup2(self._saved, 1)

    def __exit__(self, *error: Any) -> None:
        self.restore()
        os.close(self._saved)


@contextlib.contextmanager
def _without_driver_warning() -> Iterator[None]:
    """Holds back stderr, and passes on all but Warp's remark that there is no CUDA driver."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)
            held.seek(0)
            os.write(2, NO_DRIVER.sub(b"", held.read()))


def start_warp(device: str) -> Any:
    """Imports and initialises Warp without its banner; returns the module.  Raises MachineError where a CUDA device was
    asked for that is not there."""
    import warp as wp

    wp.config.log_level = wp.LOG_WARNING
    with _without_driver_warning() if device in ("auto", "cpu") else contextlib.nullcontext():
        wp.init()
    kind, _, number = device.partition(":")
    if kind == "cuda" and int(number or 0) >= wp.get_cuda_device_count():
        known = ", ".join(str(d) for d in wp.get_devices())
        raise MachineError(f"device {device} is not there; this machine has {known}")
    return wp


def _cached(wp: Any) -> bool:
    """Whether the kernel cache holds any kernel of sapsim."""
    return bool(glob.glob(os.path.join(wp.config.kernel_cache_dir or "", "wp_sapsim_*")))


@contextlib.contextmanager
def telling_of_compilation(wp: Any, quiet: bool) -> Iterator[None]:
    """While kernels load: a spinner on a terminal, one line elsewhere, and only where they are compiled."""
    if quiet:
        yield
        return
    with contextlib.ExitStack() as stack:
        lock = threading.Lock()
        ended = threading.Event()

        def tell() -> None:
            with lock:
                if ended.is_set():
                    return
                if sys.stderr.isatty():
                    from rich.console import Console

                    stack.enter_context(Console(stderr=True).status(COMPILING))
                else:
                    note(f"sapsim: {COMPILING}")

        timer = threading.Timer(0.0 if not _cached(wp) else SOON, tell)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            with lock:
                ended.set()


def build_simulation(
    scene: Any, device: str, precision: str, quiet: bool, steps: int = 0, **options: Any
) -> tuple[Any, list[Any], float]:
    """A Simulation of the scene with its `options`; its blocks: row 0 and, where `steps` > 0, that many steps, so that all
    kernels that a step needs are loaded; and the time that all this took [s]."""
    began = time.monotonic()
    wp = start_warp(device)
    with telling_of_compilation(wp, quiet):
        from sapsim.step.simulation import Simulation

        sim = Simulation(scene, device=device, precision=precision, **options)
        blocks = [sim.initial(), sim.advance(steps)] if steps else []
    return sim, blocks, time.monotonic() - began
