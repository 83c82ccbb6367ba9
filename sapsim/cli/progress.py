"""Progress of a run on stderr: a bar with rate and remaining time on a terminal, a line every 10 % elsewhere."""

import sys
import time
from typing import Any

from .messages import note


class NoProgress:
    """Prints nothing."""

    def __enter__(self) -> "NoProgress":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def update(self, step: int) -> None:
        """`step` steps are done."""

    def close(self) -> None:
        """Ends the display."""


class Lines(NoProgress):
    """One plain line every 10 %."""

    def __init__(self, steps: int):
        self.steps = steps
        self._told = 0
        self._began = time.monotonic()

    def update(self, step: int) -> None:
        tenth = 10 * step // max(1, self.steps)
        if tenth <= self._told:
            return
        self._told = tenth
        rate = step / max(1e-9, time.monotonic() - self._began)
        left = (self.steps - step) / max(1e-9, rate)
        note(f"{10 * tenth:3d} %  step {step} of {self.steps}  {rate:.0f} steps/s  {left:.1f} s left")


class Bar(NoProgress):
    """A bar of rich."""

    def __init__(self, steps: int):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("steps", total=steps, rate="")
        self._began = time.monotonic()
        self._progress.start()

    def update(self, step: int) -> None:
        rate = step / max(1e-9, time.monotonic() - self._began)
        self._progress.update(self._task, completed=step, rate=f"{rate:.0f} steps/s")

    def close(self) -> None:
        self._progress.stop()


def make_progress(steps: int, quiet: bool) -> NoProgress:
    """The display that suits stderr."""
    if quiet:
        return NoProgress()
    return Bar(steps) if sys.stderr.isatty() else Lines(steps)
