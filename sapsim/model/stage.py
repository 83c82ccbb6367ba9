"""A stage of the step: a device function (args, world, lane), the struct it takes, and the thin kernel around it."""

from dataclasses import dataclass
from typing import Any

import warp as wp

from sapsim.math.block import lane_func
from sapsim.math.real import Real


@dataclass(frozen=True)
class Stage:
    """`func(s: struct, w: int, lane: int)` is what one block does for its world; `kernel` launches it for all worlds.

    `needs`: a size of the model (model.sizes) without which the stage has nothing to do and need not be launched.
    """

    name: str
    struct: Any
    scalars: tuple[tuple[str, str], ...]
    func: Any
    kernel: Any
    needs: str = ""


def variant(name: str, form: str) -> str:
    """The name of a stage that the forms of the problem do not share (solver/forms.py)."""
    return name if form == "v_star" else f"{name}_{form}"


def make_stage(name: str, R: Real, struct: Any, func: Any, scalars: tuple[tuple[str, str], ...] = (), needs: str = "") -> Stage:
    """Wraps `func` in a kernel of its own module, whose name carries the stage and the precision (and law where it has one)."""
    lane = lane_func()

    @wp.kernel(module=f"sapsim_{name}_{R.name}", name=f"{name}_{R.name}", enable_backward=False)
    def kernel(s: struct):
        w, tid = wp.tid()
        func(s, w, lane(tid))

    return Stage(name, struct, scalars, func, kernel, needs)
