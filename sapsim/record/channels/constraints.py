"""Channel `constraints`: impulses of limits, drives, dry friction and ties, a row each (contract 3).

It is there whenever the scene has such rows, whatever `output.channels` says.  With `every: K` it holds the impulse of the last
of the K steps.
"""

import numpy as np

from ...step.block import Block
from ..layout import Channel, Counts, Dataset

ROW = "constraints/row"
IMPULSE = Dataset(
    "constraints/impulse",
    ("time", "world", ROW),
    "real",
    "see units",
    "impulse along the row over the step, 0 where it was not active; divided by time_step it is the force",
    attrs={"units_variable": "units"},
)
FIXED = (
    Dataset(ROW, (ROW,), "int32", "1", "number of the constraint row"),
    Dataset("constraints/name", (ROW,), "text", "1", "name: of an actuator, or of a joint or constraint with its row"),
    Dataset("constraints/kind", (ROW,), "text", "1", "kind of the constraint"),
    Dataset("constraints/units", (ROW,), "text", "1", "units of the impulse of each row"),
)


def rows(block: Block, counts: Counts) -> dict[str, np.ndarray]:
    """The block's impulses as they are."""
    return {IMPULSE.name: block.constraint_impulse}


def values(sim) -> dict:
    """Names, kinds and units of the rows."""
    number = np.arange(len(sim.constraint_names))
    return dict(
        zip(
            (dataset.name for dataset in FIXED),
            (number, list(sim.constraint_names), list(sim.constraint_kinds), list(sim.constraint_units)),
            strict=True,
        )
    )


CHANNEL = Channel(
    "constraints",
    grows=(IMPULSE,),
    rows=rows,
    fixed=FIXED,
    values=values,
    always=lambda sim: len(sim.constraint_names) > 0,
)
