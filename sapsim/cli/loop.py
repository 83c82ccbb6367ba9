"""The run loop: blocks of steps from the simulation to the recorder, sized so that a block takes a quarter of a second."""

import time
from typing import Any

from sapsim.record import select
from sapsim.record.writer import Recorder

from .interrupt import Interrupt
from .progress import NoProgress

AIM = 0.2  # [s] of wall time a block; a block may take 0.25 s, and rates vary
GROWTH = 4  # a block's size grows at most by this factor, since the first blocks are no measure
# Most rows in a block: what waits for the disk when a run is interrupted must be written within a second.
BLOCK_BYTES = 16_000_000
BLOCK_ROWS = 8192


def next_size(size: int, seconds: float, most: int) -> int:
    """Steps of the next block after one of `size` steps took `seconds`."""
    wished = int(size * AIM / max(seconds, 1e-6))
    return max(1, min(wished, GROWTH * size, most))


def most_steps(sim: Any) -> int:
    """Steps in a block whose rows fit BLOCK_BYTES, with one contact for each shape."""
    reactions = 6 * len(sim.joint_names) * ("reactions" in sim.scene.output.channels)
    numbers = (
        reactions + len(sim.coordinate_names) + len(sim.dof_names) + 13 * len(sim.link_names) + 20 * len(sim.shape_names) + 16
    )
    rows = max(1, min(BLOCK_ROWS, BLOCK_BYTES // (8 * sim.nworld * numbers)))
    return rows * sim.scene.output.every


def record_run(sim: Any, blocks: list[Any], recorder: Recorder, interrupt: Interrupt, progress: NoProgress) -> tuple[str, int]:
    """Records `blocks`, which the simulation has already made, and advances to the scene's last step.

    Returns the run's status, and the number of steps that the file accounts for.
    """
    size, most = 1, most_steps(sim)
    while True:
        for block in blocks:
            rows = select.rows_until_stopped(block)
            if rows is not None:
                block = select.head(block, rows)
            recorder.put(block, sim.totals)
            if rows is not None:
                return "failed", int(block.step[-1])
        progress.update(sim.steps_done)
        if sim.steps_done >= sim.scene.steps:
            return "complete", sim.steps_done
        if interrupt.requested:
            return "interrupted", sim.steps_done
        began = time.monotonic()
        blocks = [sim.advance(min(size, sim.scene.steps - sim.steps_done))]
        size = next_size(size, time.monotonic() - began, most)
