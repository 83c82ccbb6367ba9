"""Channel `contacts`: a ragged list of contacts with count and start for each row and world (contract 3)."""

import numpy as np

from ...step.block import Block
from ..layout import Channel, Counts, Dataset

SCALE = "contacts/contact"
WORLD_AXES = "world"


def _each(name: str, dtype: str, units: str, long_name: str, frame: str = "", xyz: bool = False) -> Dataset:
    """A dataset with one entry, or one vector, for each contact."""
    return Dataset(f"contacts/{name}", (SCALE, "xyz") if xyz else (SCALE,), dtype, units, long_name, frame)


CONTACT = Dataset(SCALE, (SCALE,), "int64", "1", "number of the contact in the file")
COUNT = Dataset(
    "contacts/count",
    ("time", "world"),
    "int32",
    "1",
    "number of contacts in the step that ended at this row; 0 in row 0",
    attrs={"sample_dimension": "contact"},
)
START = Dataset("contacts/start", ("time", "world"), "int64", "1", "first contact of this row and world")
GROWS = (
    COUNT,
    START,
    _each("time_index", "int64", "1", "row of the contact"),
    _each("world_index", "int32", "1", "place of the contact's world along the axis world"),
    _each("shape_a", "int32", "1", "shape A, index into shape; less than shape_b"),
    _each("shape_b", "int32", "1", "shape B, index into shape"),
    _each("body_a", "int32", "1", "link of shape A, index into body; -1 = world"),
    _each("body_b", "int32", "1", "link of shape B, index into body; -1 = world"),
    _each("part", "int32", "1", "number of the flat piece of a surface that is touched; -1 where there is none"),
    _each("feature", "int32", "1", "id of the touching features, the same from step to step"),
    _each("point", "real", "m", "contact point at the start of the step", WORLD_AXES, xyz=True),
    _each("normal", "real", "1", "unit normal from A to B", WORLD_AXES, xyz=True),
    _each("depth", "real", "m", "overlap at the start of the step, positive where the shapes overlap"),
    _each("impulse", "real", "N s", "impulse on B over the step", WORLD_AXES, xyz=True),
    _each("slip_velocity", "real", "m/s", "tangential velocity of B against A at the end of the step", WORLD_AXES, xyz=True),
    _each("stiffness", "real", "N/m", "stiffness as realised; below the pair's where the near-rigid limit acts"),
    _each("friction", "real", "1", "friction coefficient of the pair"),
)
COPIED = ("shape_a", "shape_b", "body_a", "body_b", "part", "feature", "point", "normal", "depth")
COPIED += ("impulse", "slip_velocity", "stiffness", "friction")


def rows(block: Block, counts: Counts) -> dict[str, np.ndarray]:
    """Contacts of the block, numbered on from those already in the file."""
    count = np.asarray(block.contact_count, np.int64)
    start = counts.contacts + (np.cumsum(count) - count.ravel()).reshape(count.shape)
    if counts.rows == 0 and len(start):
        start[0] = 0
    c = block.contacts
    out = {f"contacts/{name}": getattr(c, name) for name in COPIED}
    out[COUNT.name] = count
    out[START.name] = start
    out[CONTACT.name] = counts.contacts + np.arange(len(c.row))
    out["contacts/time_index"] = counts.rows + np.asarray(c.row, np.int64)
    out["contacts/world_index"] = c.world
    return out


CHANNEL = Channel("contacts", grows=GROWS, rows=rows, scales=(CONTACT,))
