"""The types of which the scene file's grammar is made: each knows what it allows, and turns a node into a value.

A type's `parse` never raises: a fault goes to the report and the value is INVALID.  Mappings become `Section`s, which
remember where everything stood and which keys were given but wrong, so that later checks neither lose a place nor
complain twice about one fault.  `keys.py` builds the grammar of a whole scene from these; a JSON Schema can be
derived from it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sapsim.scene.report import Report, did_you_mean, listing, nearest
from sapsim.scene.spec import Where
from sapsim.scene.yaml_loader import Node


class _Invalid:
    """The value of what could not be read."""

    def __repr__(self) -> str:
        return "INVALID"

    def __bool__(self) -> bool:
        return False


INVALID = _Invalid()


def join(path: str, key: str) -> str:
    """The path of a key below `path`; a segment with a dot, a bracket or a quote is quoted."""
    if not key or any(c in key for c in ".[]\"' ="):
        key = json.dumps(key, ensure_ascii=False)
    return f"{path}.{key}" if path else key


def found(node: Node) -> str:
    """What stands there, for a message."""
    if node.kind == "seq":
        return f"a list of {len(node.value)}"
    if node.kind == "map":
        return "a mapping"
    if node.form == "null":
        return "nothing"
    text = node.text if len(node.text) <= 60 else node.text[:57] + "..."
    return json.dumps(text, ensure_ascii=False) if node.form == "str" else text


class Type:
    """What a value may be."""

    def describe(self) -> str:
        """What is allowed, in words: "a number > 0"."""
        raise TypeError(f"{type(self).__name__} must say what it allows")

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        """The value of `node`, or INVALID.  `at` is the place of its key, and carries the path."""
        raise TypeError(f"{type(self).__name__} must say how it is read")

    def child(self, segment: str) -> "Type | None":
        """The type of what stands at `segment` below, or None where nothing can."""
        return None

    def chosen(self, node: Node) -> "Type":
        """The type by which this very node is read: itself, where there is no choice."""
        return self

    def refuse(self, node: Node, at: Where, report: Report, code: str = "wrong-type", hint: str = "") -> _Invalid:
        """Report that `node` is not what this type allows."""
        text = f"found {found(node)}; allowed: {self.describe()}"
        report.error(node.at(at.path), code, text, hint)
        return INVALID


@dataclass(frozen=True)
class Vector(Type):
    """A list of exactly `n` values of one type; becomes a tuple."""

    n: int
    item: Type

    def describe(self) -> str:
        return f"a list of {self.n}, each {self.item.describe()}"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.kind != "seq":
            return self.refuse(node, at, report)
        if len(node.value) != self.n:
            return self.refuse(node, at, report, "wrong-length")
        values = tuple(value for _, value in _items(self.item, node, at, report))
        return INVALID if INVALID in values else values

    def child(self, segment: str) -> Type | None:
        return self.item if segment.isdigit() and int(segment) < self.n else None


def _items(item: Type, node: Node, at: Where, report: Report) -> list[tuple[Where, Any]]:
    places = [child.at(f"{at.path}[{i}]") for i, child in enumerate(node.value)]
    return [(w, item.parse(child, w, report)) for w, child in zip(places, node.value, strict=True)]


class Items(list):
    """Entries (place, value) of a list, without those that were refused; `complete` says that none was."""

    complete: bool = True


@dataclass(frozen=True)
class ListOf(Type):
    """A list of any length, or of exactly `n` entries; becomes Items, which know their places."""

    item: Type
    n: int | None = None

    def describe(self) -> str:
        return f"a list of {self.n if self.n is not None else 'any length'}, each {self.item.describe()}"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.kind != "seq":
            return self.refuse(node, at, report)
        if self.n is not None and len(node.value) != self.n:
            return self.refuse(node, at, report, "wrong-length")
        items = Items((w, value) for w, value in _items(self.item, node, at, report) if value is not INVALID)
        items.complete = len(items) == len(node.value)
        return items

    def child(self, segment: str) -> Type | None:
        return self.item if segment.isdigit() else None


@dataclass(eq=False)
class Section(Mapping[str, Any]):
    """The values of a mapping: those that are valid, in the order of the file.

    `given(key)` is also true for a key whose value was refused; `where(key)` is the place of the key, `where()` that
    of the section.
    """

    place: Where
    values_: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Where] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __iter__(self):
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    def given(self, *keys: str) -> bool:
        """Whether one of the keys stands in the file, right or wrong."""
        return any(k in self.places for k in keys)

    def broken(self, *keys: str) -> bool:
        """Whether one of the keys stands in the file with a value that was refused."""
        return any(k in self.places and k not in self.values_ for k in keys)

    def where(self, key: str = "") -> Where:
        """The place of a key that is given, or of the section."""
        return self.places.get(key, self.place) if key else self.place

    def only(self, *keys: str) -> dict[str, Any]:
        """The valid values among these keys."""
        return {k: self.values_[k] for k in keys if k in self.values_}


@dataclass(frozen=True)
class MapOf(Type):
    """A mapping from names of the user's choice to values of one type; becomes a Section.

    `named_elsewhere`: the names are those of something else (an overlay's links), so that an override may add entries.
    """

    item: Type
    noun: str = "name"
    named_elsewhere: bool = False

    def describe(self) -> str:
        return f"a mapping {{{self.noun}: {self.item.describe()}}}"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.kind != "map":
            return self.refuse(node, at, report)
        section = Section(at)
        for name, child in node.value.items():
            here = node.keys[name].at(join(at.path, name))
            section.places[name] = here
            if not name.strip():
                report.error(here, "bad-name", f"an empty {self.noun} is not allowed")
                continue
            value = self.item.parse(child, here, report)
            if value is not INVALID:
                section.values_[name] = value
        return section

    def child(self, segment: str) -> Type | None:
        return self.item


@dataclass(frozen=True)
class Key:
    """A key of a record: its type, whether it must be there, and what it means."""

    type: Type
    doc: str = ""
    required: bool = False


@dataclass(frozen=True)
class OneOf:
    """Keys that exclude one another; exactly one must be given where `required`."""

    keys: tuple[str, ...]
    required: bool = False


@dataclass(frozen=True)
class Record(Type):
    """A mapping with known keys; becomes a Section."""

    keys: Mapping[str, Key]
    groups: Sequence[OneOf] = ()

    def describe(self) -> str:
        return f"a mapping with keys {listing(self.keys, 24)}" if self.keys else "an empty mapping {}"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.kind != "map":
            return self.refuse(node, at, report)
        section = Section(at)
        meant = set()  # known keys that an unknown key was probably meant to be
        for key, child in node.value.items():
            here = node.keys[key].at(join(at.path, key))
            known = self.keys.get(key)
            if known is None:
                meant.add(nearest(key, self.keys))
                text = f'unknown key "{key}"; allowed: {listing(self.keys, 24)}'
                report.error(here, "unknown-key", text, did_you_mean(key, self.keys))
                continue
            section.places[key] = here
            value = known.type.parse(child, here, report)
            if value is not INVALID:
                section.values_[key] = value
        self._check_missing(section, meant, report)
        return section

    def _check_missing(self, section: Section, meant: set[str], report: Report) -> None:
        for name, key in self.keys.items():
            if key.required and not section.given(name) and name not in meant:
                where = _below(section.place, name)
                hint = f"add `{name}: ...`" + (f", {key.doc}" if key.doc else "")
                report.error(where, "missing-key", f'key "{name}" is missing; it must be {key.type.describe()}', hint)
        for group in self.groups:
            given = [k for k in section.places if k in group.keys]
            if len(given) > 1:
                names = " and ".join(f'"{k}"' for k in given)
                text = f"{names} exclude one another; one of {listing(group.keys)} is allowed"
                report.error(section.where(given[1]), "exclusive-keys", text, f'remove all but "{given[0]}"')
            if not given and group.required and meant.isdisjoint(group.keys):
                text = f"one of the keys {listing(group.keys)} is missing"
                report.error(section.place, "missing-key", text, "give exactly one of them")

    def child(self, segment: str) -> Type | None:
        known = self.keys.get(segment)
        return known.type if known else None


def _below(place: Where, key: str) -> Where:
    return Where(place.file, place.line, place.column, join(place.path, key))


@dataclass(frozen=True)
class ByKey(Type):
    """A mapping that is one of several records: that of the first key of `records` which it has, else `otherwise`."""

    records: Mapping[str, Record]
    otherwise: Record

    def describe(self) -> str:
        return self.otherwise.describe()

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        return self.chosen(node).parse(node, at, report)

    def child(self, segment: str) -> Type | None:
        return self.otherwise.child(segment)

    def chosen(self, node: Node) -> Type:
        given = node.value if node.kind == "map" else {}
        return next((record for key, record in self.records.items() if key in given), self.otherwise)


@dataclass(frozen=True)
class ByWord(Type):
    """A mapping that is one of several records: that of the word which stands at `key`; `otherwise` where that is none of them.

    Every record has the key itself.
    """

    key: str
    records: Mapping[str, Record]
    otherwise: Record

    def describe(self) -> str:
        return f"a mapping with `{self.key}`: {listing(self.records)}"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.kind != "map":
            return self.refuse(node, at, report)
        return self.chosen(node).parse(node, at, report)

    def child(self, segment: str) -> Type | None:
        return self.otherwise.child(segment)

    def chosen(self, node: Node) -> Type:
        word = node.value.get(self.key) if node.kind == "map" else None
        return self.records.get(word.text, self.otherwise) if word is not None and word.form == "str" else self.otherwise


@dataclass(frozen=True)
class Later(Type):
    """What the contract names and is not supported yet.  A value equal to `neutral` changes nothing and is accepted."""

    type: Type | None = None
    neutral: Any = INVALID

    def describe(self) -> str:
        if self.neutral is INVALID:
            return "nothing: this key is not supported yet"
        return f"only {json.dumps(self.neutral)} yet"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        empty = node.kind in ("map", "seq") and not node.value
        if self.type is None and self.neutral is not INVALID and empty and type(node.value) is type(self.neutral):
            return self.neutral
        if self.type is not None:
            value = self.type.parse(node, at, report)
            if value is INVALID or value == self.neutral:
                return value
        only = f"; supported: {json.dumps(self.neutral)}" if self.type is not None and self.neutral is not INVALID else ""
        name = at.path.rpartition(".")[2]
        report.error(at, "not-supported", f"`{name}` is not supported yet{only}", "remove the key")
        return INVALID

    def child(self, segment: str) -> Type | None:
        return self


@dataclass(frozen=True)
class ByForm(Type):
    """A value that may have several forms: map, seq, str, number, bool, null."""

    forms: Mapping[str, Type]

    def describe(self) -> str:
        return ", or ".join(dict.fromkeys(t.describe() for t in self.forms.values()))

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        chosen = self.forms.get(node.form)
        return chosen.parse(node, at, report) if chosen else self.refuse(node, at, report)

    def child(self, segment: str) -> Type | None:
        children = (t.child(segment) for t in self.forms.values())
        return next((c for c in children if c is not None), None)
