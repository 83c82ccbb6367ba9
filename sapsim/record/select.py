"""Parts of a block: some of its worlds, or its first rows."""

from dataclasses import fields, replace

import numpy as np

from ..status import FAILURES, StepStatus
from ..step.block import Block, Contacts

STOPPED = int(FAILURES | StepStatus.WORLD_STOPPED)


def _contacts(contacts: Contacts, keep: np.ndarray) -> Contacts:
    return Contacts(**{f.name: getattr(contacts, f.name)[keep] for f in fields(Contacts)})


def worlds(block: Block, numbers: np.ndarray) -> Block:
    """The block with the worlds `numbers` (ascending) only; contacts name their world's place in `numbers`."""
    place = np.full(block.converged.shape[1], -1, np.int32)
    place[numbers] = np.arange(len(numbers))
    kept = _contacts(block.contacts, place[block.contacts.world] >= 0)
    kept = replace(kept, world=place[kept.world])
    parts = {f.name: getattr(block, f.name) for f in fields(Block) if f.name not in ("step", "contacts")}
    return Block(step=block.step, contacts=kept, **{name: a[:, numbers] for name, a in parts.items()})


def head(block: Block, rows: int) -> Block:
    """The first rows of the block."""
    parts = {f.name: getattr(block, f.name)[:rows] for f in fields(Block) if f.name != "contacts"}
    return Block(contacts=_contacts(block.contacts, block.contacts.row < rows), **parts)


def rows_until_stopped(block: Block) -> int | None:
    """Rows up to and with the first at which all worlds have stopped; None where one goes on.

    A run that no world goes on with ends at this row, whatever the sizes of its blocks.
    """
    stopped = np.flatnonzero(((block.status & STOPPED) != 0).all(axis=1))
    return int(stopped[0]) + 1 if len(stopped) else None
