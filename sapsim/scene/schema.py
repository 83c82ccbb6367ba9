"""The JSON Schema (draft 2020-12) of the scene file, written from the grammar of keys.py.

Keys and words that are not supported yet are left out, or allowed only with the value that changes nothing.  What a schema
cannot say (names that must exist, sound trees, possible inertias) the reader checks: `sapsim check`.
"""

import math
import re
from dataclasses import asdict, fields
from typing import Any

from sapsim.scene import keys
from sapsim.scene.grammar import INVALID, Key, ListOf, OneOf, Record, Type
from sapsim.scene.spec import Contact, Expect, Force, Joint, Material, Output, Scene, Solver

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Sections whose defaults are those of a dataclass of the same fields.
_DEFAULTS_OF = {
    "SCENE": Scene, "CONTACT": Contact, "SOLVER": Solver, "JOINT": Joint, "FORCE": Force, "OUTPUT": Output, "EXPECT": Expect,
}  # fmt: skip
_UNIT = re.compile(r"\[([^\]]+)\]\s*$")
NOT_YET = "not supported yet: no other value is allowed"


def named_types() -> dict[str, Type]:
    """The types of keys.py that have names of their own and are sections or lists of sections, by that name."""
    found = {}
    for name, value in vars(keys).items():
        is_section = isinstance(value, Record) or hasattr(value, "records")
        if not name.startswith("_") and (is_section or (isinstance(value, ListOf) and isinstance(value.item, Record))):
            found[name] = value
    return found


def _name_of(type_: Type) -> str | None:
    return next((name for name, value in named_types().items() if value is type_), None)


def schema() -> dict[str, Any]:
    """The whole schema: the scene at the root, every named section under `$defs`."""
    defs = {name.lower(): _write(type_) for name, type_ in named_types().items() if type_ is not keys.SCENE}
    head = {"$schema": DIALECT, "title": "sapsim scene", "description": "A scene of sapsim. SI units, angles in radians."}
    return head | _write(keys.SCENE) | {"$defs": defs}


def defaults(type_: Type) -> dict[str, Any]:
    """Default values of a section's keys, where they are plain values."""
    source = _DEFAULTS_OF.get(_name_of(type_) or "")
    if source is None:
        return {}
    found = {f.name: f.default for f in fields(source) if _is_plain(f.default)}
    if source is Contact:
        found["default_material"] = asdict(Material())
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(isinstance(x, int | float | str) for x in value)
    return isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))


def is_later(type_: Type) -> bool:
    """Whether nothing at all is allowed yet."""
    return type(type_).__name__ == "Later" and type_.neutral is INVALID


def _of(type_: Type) -> dict[str, Any]:
    """The schema of a value: a reference where its type has a name."""
    name = _name_of(type_)
    return {"$ref": f"#/$defs/{name.lower()}"} if name else _write(type_)


def _write(type_: Type) -> dict[str, Any]:
    return _WRITERS[type(type_).__name__](type_)


def _key(key: Key, default: Any) -> dict[str, Any]:
    found = _of(key.type)
    note = "; ".join(part for part in (key.doc, found.pop("description", "")) if part)
    if note:
        found["description"] = note
    unit = _UNIT.search(key.doc)
    if unit:
        found["x-unit"] = unit.group(1)
    if default is not None:
        found["default"] = default
    return found


def _record(type_: Record) -> dict[str, Any]:
    known = {name: key for name, key in type_.keys.items() if not is_later(key.type)}
    given = defaults(type_)
    found: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _key(key, given.get(name)) for name, key in known.items()},
    }
    required = [name for name, key in known.items() if key.required]
    if required:
        found["required"] = required
    groups = [rule for group in type_.groups for rule in _group(group, known)]
    if groups:
        found["allOf"] = groups
    return found


def _group(group: OneOf, known: dict[str, Key]) -> list[dict[str, Any]]:
    """Keys that exclude one another."""
    names = [name for name in group.keys if name in known]
    if group.required:
        return [{"oneOf": [{"required": [name]} for name in names]}]
    pairs = [{"required": [a, b]} for i, a in enumerate(names) for b in names[i + 1 :]]
    return [{"not": {"anyOf": pairs}}] if pairs else []


def _by_key(type_: Any) -> dict[str, Any]:
    """The first record whose key is there, else the last one."""
    found = _of(type_.otherwise)
    for name, record in reversed(type_.records.items()):
        found = {"if": {"required": [name]}, "then": _of(record), "else": found}
    return {"type": "object"} | found


def _by_word(type_: Any) -> dict[str, Any]:
    """The record of the word at the key."""
    found = _write(type_.otherwise)
    for word, record in reversed(type_.records.items()):
        has = {"properties": {type_.key: {"const": word}}, "required": [type_.key]}
        found = {"if": has, "then": _of(record), "else": found}
    return {"type": "object"} | found


def _number_or_inf(type_: Any) -> dict[str, Any]:
    """Infinity is a number beyond any maximum."""
    return {key: value for key, value in _number(type_).items() if key != "maximum"}


def _number(type_: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "integer" if type_.noun == "a whole number" else "number"}
    if type_.above is not None and type_.above == 0.0 and type_.smallest > 0.0:
        found["minimum"] = type_.smallest
    elif type_.above is not None:
        found["exclusiveMinimum"] = type_.above
    elif type_.least is not None:
        found["minimum"] = type_.least
    if type_.most is not None:
        found["maximum"] = type_.most
    elif found["type"] == "number" and math.isfinite(type_.largest):
        found["maximum"] = type_.largest
        if not {"minimum", "exclusiveMinimum"} & set(found):
            found["minimum"] = -type_.largest
    return found


def _array(item: Type, n: int | None) -> dict[str, Any]:
    return {"type": "array", "items": _of(item)} | ({} if n is None else {"minItems": n, "maxItems": n})


def _map(type_: Any) -> dict[str, Any]:
    return {"type": "object", "propertyNames": {"pattern": "\\S"}, "additionalProperties": _of(type_.item)}


_WRITERS = {
    "Record": _record,
    "ByKey": _by_key,
    "ByWord": _by_word,
    "MapOf": _map,
    "ListOf": lambda t: _array(t.item, t.n),
    "Vector": lambda t: _array(t.item, t.n),
    "ByForm": lambda t: {"anyOf": [_of(form) for form in t.forms.values() if not is_later(form)]},
    "Later": lambda t: {"enum": [t.neutral], "description": NOT_YET},
    "Number": _number,
    "NumberOrInf": _number_or_inf,
    "Integer": _number,
    "Boolean": lambda t: {"type": "boolean"},
    "Text": lambda t: {"type": "string", "pattern": "\\S"},
    "Choice": lambda t: {"enum": list(t.words)},
    "Nothing": lambda t: {"enum": [True, None]},
}
