"""Channel `reactions`: the torque and force that crosses every joint (contract 3; step/reactions.py)."""

import numpy as np

from ...step.block import Block
from ..layout import Channel, Counts, Dataset

COMPONENT = "reactions/component"
NAMES = ("tx", "ty", "tz", "fx", "fy", "fz")
WRENCH = Dataset(
    "reactions/wrench",
    ("time", "world", "joint", COMPONENT),
    "real",
    "N m N m N m N N N",
    "torque and force of the joint on its child link in the step that ended at this row; 0 in row 0",
    "axes of the child link at the start of the step",
    {"order": "torque,force", "point": "origin of the child link"},
)
FIXED = (Dataset(COMPONENT, (COMPONENT,), "text", "1", "component of a wrench: torque, force"),)


def rows(block: Block, counts: Counts) -> dict[str, np.ndarray]:
    """The block's wrenches as they are."""
    return {WRENCH.name: block.reaction}


CHANNEL = Channel("reactions", grows=(WRENCH,), rows=rows, fixed=FIXED, values=lambda sim: {COMPONENT: NAMES})
