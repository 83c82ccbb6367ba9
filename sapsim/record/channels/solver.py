"""Channel `solver`: how the solve of each row went, for each world (contract 3).

With `every: K` a row covers K steps: flags are `all`, counts the largest, status words `or`, the residual that with the
worst ratio to its scale, the cost that of the last step.  The simulation merges; this channel writes.
"""

import numpy as np

from ...status import StepStatus
from ...step.block import Block
from ..layout import Channel, Counts, Dataset


def _each(name: str, dtype: str, units: str, long_name: str, **attrs) -> Dataset:
    return Dataset(f"solver/{name}", ("time", "world"), dtype, units, long_name, attrs=attrs)


GROWS = (
    _each("converged", "bool", "1", "optimality_reached or cost_reached, in every step of the row"),
    _each("optimality_reached", "bool", "1", "the residual met its tolerance"),
    _each("cost_reached", "bool", "1", "the decrease of the cost met its tolerance"),
    _each("iterations", "int32", "1", "Newton iterations"),
    _each("line_search_iterations", "int32", "1", "iterations of the line search, summed over the Newton iterations"),
    _each("linear_iterations", "int32", "1", "iterations of conjugate gradients, summed over the Newton iterations"),
    _each("residual", "real", "J^0.5", "norm of the scaled gradient of the cost, D = diag(A)^-1/2"),
    _each("residual_scale", "real", "J^0.5", "the larger of the scaled momentum and the scaled constraint impulse"),
    _each("cost", "real", "J", "cost at the solution"),
    _each(
        "status",
        "uint32",
        "1",
        "status bits of the step; 0 = clean",
        flag_masks=np.array([int(bit) for bit in StepStatus], np.uint32),
        flag_meanings=" ".join(bit.name.lower() for bit in StepStatus),
    ),
)
FIRST_BAD = Dataset(
    "solver/first_bad_step", ("world",), "int64", "1", "first step that did not converge or hit a hard limit; -1 = none"
)


def rows(block: Block, counts: Counts) -> dict[str, np.ndarray]:
    """The block's statistics as they are."""
    return {dataset.name: getattr(block, dataset.name.split("/")[1]) for dataset in GROWS}


CHANNEL = Channel("solver", grows=GROWS, rows=rows, running={"first_bad_step": FIRST_BAD})
