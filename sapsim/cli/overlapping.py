"""Warnings of shapes that overlap at the start of a run (step/overlaps.py)."""

from typing import Any

from sapsim.errors import Message

LINES = 10  # pairs that are named
FIX = "set them apart, or put the pair under `filter` where it is meant"


def overlapping(scene: Any, overlaps: list[Any]) -> list[Message]:
    """A warning for each of the deepest pairs, and one that counts the others.  `overlaps`: step.overlaps.Overlap."""
    shapes = [*scene.world_shapes, *(shape for link in scene.links for shape in link.shapes)]
    found = []
    for o in overlaps[:LINES]:
        a, b = shapes[o.shape_a], shapes[o.shape_b]
        where = b.where
        world = f" in world {o.world}" if scene.nworld > 1 else ""
        text = f"shapes {a.name} and {b.name} overlap by {o.depth:.3g} m at the start{world}"
        found.append(Message(where.file or scene.file, where.line, where.column, where.path, "overlap", text, FIX))
    if len(overlaps) > LINES:
        rest = overlaps[LINES:]
        text = f"{len(rest)} more pairs of shapes overlap at the start, by {rest[0].depth:.3g} m at most"
        found.append(Message(scene.file, 0, 0, "", "overlap", text))
    return found
