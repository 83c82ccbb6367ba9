"""What was read and is not used: shapes without geometry, and joint properties that are not enforced yet."""

from collections.abc import Iterable

from sapsim.kinds.base import registry
from sapsim.scene.report import Report, listing
from sapsim.scene.spec import Joint, Limit, Link, UnbuiltShape


def check_shapes(links: Iterable[Link], geometry: bool, report: Report) -> None:
    """One message for each file and reason: an error where collision geometry is wanted, else a warning.

    A link that does not collide needs no shapes.
    """
    found: dict[tuple[str, str], list[tuple[Link, UnbuiltShape]]] = {}
    for link in links:
        for shape in link.unbuilt if link.collide else ():
            if shape.reason:
                found.setdefault((shape.where.file, shape.reason), []).append((link, shape))
    for (_, reason), items in found.items():
        names = listing(dict.fromkeys(link.name for link, _ in items), 6)
        count = f"{len(items)} collision shape{'s' * (len(items) != 1)}"
        of_model = any("/" in link.name for link, _ in items)  # overlays are there for links of models alone
        overlay = "leave them out by an overlay: links: {LINK: {collision_off: true}}, and add primitives there"
        hint = overlay if geometry and of_model else ""
        place, hint = items[0][1].where, items[0][1].hint or hint
        tell = report.error if geometry else report.warn
        tell(place, "unusable-shape", f"{reason} ({count}, of {names})", hint)


def warn_of_unenforced(joints: Iterable[Joint], report: Report) -> None:
    """One warning for each file: velocity limits that are read and not enforced yet."""
    found: dict[str, dict[str, list[Joint]]] = {}
    for joint in joints:
        if registry("joints")[joint.kind].moves:
            for what in _unenforced(joint):
                found.setdefault(joint.where.file, {}).setdefault(what, []).append(joint)
    for what in found.values():
        concerned = [j for items in what.values() for j in items]
        first = min(concerned, key=lambda j: (j.where.line, j.where.column))
        parts = [f"{name} ({listing(dict.fromkeys(j.name for j in items), 3)})" for name, items in what.items()]
        text = f"read, but not enforced yet: {'; '.join(parts)}"
        report.warn(first.where, "not-enforced", text, "the joints move as if these were not there")


def _unenforced(joint: Joint) -> list[str]:
    limit, free = joint.limit, Limit()
    given = {
        "velocity limits": limit.velocity != free.velocity,
    }
    return [name for name, there in given.items() if there]
