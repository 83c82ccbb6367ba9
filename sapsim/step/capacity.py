"""Room for what a step finds: near pairs, contacts, Hessian blocks, recorded rows.  Declared here, grown between blocks.

The first guess is small; a block of steps that needed more is taken back and replayed with more (simulation.py).  Where the
model bounds a need, the room never exceeds the bound, and then it cannot overflow.  A user may set a hard limit of contacts:
then the room for them does not grow beyond it, and steps that find more carry StepStatus.CONTACT_OVERFLOW.
"""

from dataclasses import dataclass, replace

import numpy as np

from sapsim.collide.narrowphase import SLOTS
from sapsim.model.build import Model

ROW_BYTES = 64_000_000  # room for recorded rows of a block
MAX_ROWS = 1024
GROWTH = 1.5


@dataclass(frozen=True)
class Capacity:
    """Entries per world: near pairs, contacts, 3x3 blocks of the Hessian; recorded rows; and the hard limit of contacts."""

    near: int
    contacts: int
    hessian: int
    rows: int
    most_contacts: int | None = None

    def sizes(self, model: Model) -> dict[str, int]:
        """The dimension symbols of fields.py that depend on it.  Items of ties stand behind the contacts."""
        items = self.contacts + model.sizes["nitem"]
        return {
            "cnear": self.near,
            "cfound": self.near if model.sizes["nlevelled"] else 0,
            "cpoint": SLOTS * (self.near + 1),  # and those that one lane uses for all
            "ccontact": self.contacts,
            "citem": items,
            "cjac": model.slots * items,
            "cside": 2 * items,
            "chess": self.hessian,
            "crow": self.rows,
        }


def _hessian_bound(model: Model) -> int:
    """Blocks of a factor in which every tree is connected with every other."""
    nb = np.diff(model.arrays["tree_block_start"]).astype(np.int64)
    return int((nb.sum() ** 2 + (nb**2).sum()) // 2)


def first_guess(model: Model, nworld: int, most_contacts: int | None = None, *, couples: bool = True) -> Capacity:
    """A start that most scenes never outgrow, within the hard limit of contacts where there is one.  `couples`: whether H has
    blocks between trees; without, it never grows."""
    sizes = model.sizes
    nb = np.diff(model.arrays["tree_block_start"])
    contacts = min(model.pairs.max_points, 6 * sizes["nbody"] + 16)
    if most_contacts is not None:
        contacts = min(contacts, most_contacts)
    guess = Capacity(
        near=max(1, min(model.pairs.max_near, 6 * sizes["nbody"] + 16)),
        contacts=max(1, contacts),
        hessian=max(1, min(_hessian_bound(model), int((nb**2).sum()) + 12 * sizes["nblock"] * couples)),
        rows=1,
        most_contacts=most_contacts,
    )
    return _with_rows(guess, model, nworld)


def _with_rows(c: Capacity, model: Model, nworld: int) -> Capacity:
    sizes = model.sizes
    links = 13 * sizes["nlink"] + 6 * sizes["nreaction"]
    row = 8 * nworld * (sizes["nq"] + sizes["nv"] + links + sizes["nconstraint"] + 16 * c.contacts + 16)
    return replace(c, rows=int(np.clip(ROW_BYTES // row, 1, MAX_ROWS)))


def grown(c: Capacity, need: np.ndarray, model: Model, nworld: int) -> Capacity | None:
    """A capacity that holds `need` = (near pairs, contacts, Hessian blocks) with some to spare; None where `c` does."""
    have = (c.near, c.contacts, c.hessian)
    most_contacts = model.pairs.max_points if c.most_contacts is None else c.most_contacts
    need = (need[0], min(int(need[1]), most_contacts), need[2])
    if all(n <= h for n, h in zip(need, have, strict=True)):
        return None
    bounds = (model.pairs.max_near, most_contacts, _hessian_bound(model))
    near, contacts, hessian = (
        h if n <= h else min(bound, max(int(n), int(GROWTH * h))) for n, h, bound in zip(need, have, bounds, strict=True)
    )
    if (near, contacts, hessian) == have:
        raise AssertionError(f"a step needs more than the model's bounds: {need} of {bounds}")
    return _with_rows(replace(c, near=near, contacts=contacts, hessian=hessian), model, nworld)
