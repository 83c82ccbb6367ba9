"""Overrides of the command line: `key.path=value`, put into the tree of the file before the grammar reads it.

So an override is checked as the file is.  A path follows the grammar: a segment with a dot is quoted, an entry of a
list is `[2]` or `.2`.  An override of a key replaces the keys that exclude it (`steps` replaces `duration`, `box`
replaces `sphere`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sapsim.scene.grammar import Later, ListOf, MapOf, OneOf, Record, Type, Vector, join
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import Where
from sapsim.scene.yaml_loader import Node, parse

_SEGMENT = re.compile(r"""\[(\d+)\]|"((?:[^"\\]|\\.)*)"|'([^']*)'|([^.\[\]"'=]+)""")


@dataclass(frozen=True)
class _Override:
    source: str  # the whole text
    segments: tuple[str, ...]
    value: Node

    @property
    def file(self) -> str:
        return self.value.file


def apply_overrides(root: Node, grammar: Type, overrides: Sequence[str], report: Report) -> None:
    """Put all overrides into the tree, the later ones over the earlier ones; faults go to `report`."""
    for source in overrides:
        override = _read(source, report)
        if override is not None:
            _put(root, grammar, override, report)


def _read(source: str, report: Report) -> _Override | None:
    """Split `path=value`; the value is YAML."""
    file = f"--set {source}"
    segments, rest = _split(source)
    if not segments or not rest.startswith("="):
        text = f'"{source}" is not of the form key.path=value'
        hint = 'for instance `--set bodies.ball.mass=2`; quote a segment with a dot: links."a.b".mass'
        report.error(Where(file), "bad-override", text, hint)
        return None
    trial = Report()
    value = parse(rest[1:], file, trial) if rest[1:].strip() else Node("scalar", None, file)
    for m in trial.errors:
        report.error(Where(file, 0, 0, m.path or ".".join(segments)), m.code, m.message, m.suggestion)
    if value is None or trial.errors:
        return None
    _without_lines(value)
    return _Override(source, segments, value)


def _split(source: str) -> tuple[tuple[str, ...], str]:
    """The segments of the path, and what follows it."""
    segments = []
    position = 0
    while match := _SEGMENT.match(source, position):
        index, quoted, single, plain = match.groups()
        text = next(t for t in (index, quoted, single, plain) if t is not None)
        segments.append(re.sub(r"\\(.)", r"\1", text) if quoted is not None else text.strip())
        position = match.end()
        if source[position : position + 1] == ".":
            position += 1
        elif source[position : position + 1] != "[":
            break
    return tuple(segments), source[position:]


def _without_lines(node: Node) -> None:
    """Lines and columns of an override mean nothing: the path and the option say where it stands."""
    node.line = node.column = 0
    children = node.value.values() if node.kind == "map" else node.value if node.kind == "seq" else ()
    for child in (*children, *node.keys.values()):
        _without_lines(child)


def _put(root: Node, grammar: Type, override: _Override, report: Report) -> None:
    """Follow the path, making the mappings that are missing, and set the value at its end."""
    node, kind, path = root, grammar, ""
    last = len(override.segments) - 1
    for i, segment in enumerate(override.segments):
        path = join(path, segment) if node.kind != "seq" else f"{path}[{segment}]"
        kind = kind.chosen(node)
        inner = kind.child(segment)
        if not _can_enter(node, kind, segment, inner, path, i == last, override, report):
            return
        if i == last:
            _set(node, kind, segment, override.value, override.file)
            return
        node = _enter(node, kind, segment, override.file)
        kind = inner if inner is not None else Later()


def _can_enter(
    node: Node, kind: Type, segment: str, inner: Type | None, path: str, last: bool, override: _Override, report: Report
) -> bool:
    """Whether the segment means something there; else an error with what is known."""
    where = Where(override.file, 0, 0, path)
    if node.kind == "seq":
        if segment.isdigit() and int(segment) < len(node.value):
            return True
        text = f"{segment} is no entry of a list of {len(node.value)}"
        report.error(where, "unknown-key", text, "entries count from 0")
        return False
    if node.kind != "map":
        report.error(where, "unknown-key", f'nothing can be set below a value: "{segment}"')
        return False
    if isinstance(kind, Record) and inner is None:
        text = f'unknown key "{segment}"; allowed: {listing(kind.keys, 24)}'
        report.error(where, "unknown-key", text, did_you_mean(segment, kind.keys))
        return False
    if isinstance(inner, Vector | ListOf) and segment not in node.value and not last:
        text = f'"{segment}" is not in the file, so that none of its entries can be set'
        report.error(where, "unknown-key", text, f"set all of it: {path}=[...]")
        return False
    if isinstance(kind, MapOf) and not kind.named_elsewhere and segment not in node.value and not last:
        text = f'unknown {kind.noun} "{segment}"; in this scene: {listing(node.value)}'
        report.error(where, "unknown-name", text, did_you_mean(segment, node.value))
        return False
    return True


def _enter(node: Node, kind: Type, segment: str, file: str) -> Node:
    """What stands at the segment; a mapping that is made where nothing does."""
    if node.kind == "seq":
        return node.value[int(segment)]
    if segment not in node.value:
        _set(node, kind, segment, Node("map", {}, file), file)
    return node.value[segment]


def _set(node: Node, kind: Type, segment: str, value: Node, file: str) -> None:
    if node.kind == "seq":
        node.value[int(segment)] = value
        return
    for other in _excluded(kind, segment):
        node.value.pop(other, None)
        node.keys.pop(other, None)
    node.keys[segment] = Node("scalar", segment, file, text=segment)
    node.value[segment] = value


def _excluded(kind: Type, key: str) -> set[str]:
    groups: Sequence[OneOf] = kind.groups if isinstance(kind, Record) else ()
    return {other for g in groups if key in g.keys for other in g.keys if other != key}
