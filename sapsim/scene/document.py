"""The page docs/scene_file.md, written from the grammar: `python -m sapsim.scene.document > docs/scene_file.md`.

A test fails while the page differs from what this prints.
"""

from typing import Any

from sapsim.scene.grammar import ByForm, ByWord, Key, Later, ListOf, MapOf, Record, Type, Vector
from sapsim.scene.report import listing
from sapsim.scene.schema import defaults, is_later, named_types

HEAD = """# The scene file

Generated from `sapsim/scene/keys.py` by `python -m sapsim.scene.document`; do not edit. `sapsim schema` prints the same as a
JSON Schema, and `sapsim check` says what is wrong with a file.

YAML 1.2 in UTF-8: `1e-6` is a number, `yes` a string, a key that stands twice is an error. SI units; angles in radians, with
`_deg` twins where this page has them. Unknown keys are errors. Frames and signs: [conventions.md](conventions.md); scenes to
start from: [quickstart.md](quickstart.md) and [`scenes/`](../scenes/).

A name in `code` after a type leads to the section of that name below. **Required** keys have it in the column of defaults.
"""
TITLES = {"SCENE": "The file"}


def page() -> str:
    """The whole page."""
    named = named_types()
    order = ["SCENE", *(name for name in named if name != "SCENE")]
    return "\n".join([HEAD, *(_section(name, named[name]) for name in order)])


def _title(name: str) -> str:
    return TITLES.get(name, name.lower().replace("_", " "))


def _section(name: str, type_: Type) -> str:
    lines = [f"## {_title(name)}", ""]
    if isinstance(type_, ByWord):
        for word, record in type_.records.items():
            lines += [f"With `{type_.key}: {word}`:", "", "| key | value | default | |", "|---|---|---|---|"]
            lines += [*_rows(record, ""), ""]
        return "\n".join(lines)
    if hasattr(type_, "records"):  # one of several sections
        for record in {id(r): r for r in type_.records.values()}.values():
            given = " or ".join(f"`{key}`" for key, r in type_.records.items() if r is record)
            lines.append(f"With {given}: {_words(record)}.")
        return "\n".join([*lines, f"Otherwise: {_words(type_.otherwise)}.", ""])
    if isinstance(type_, ListOf):
        lines += ["A list; the keys of an entry:", ""]
        type_ = type_.item
    lines += ["| key | value | default | |", "|---|---|---|---|"]
    lines += _rows(type_, "")
    lines += ["", *_groups(type_)]
    later = [key for key, entry in type_.keys.items() if is_later(entry.type)]
    if later:
        lines += [f"Not supported yet: {', '.join(f'`{key}`' for key in later)}.", ""]
    return "\n".join(lines)


def _rows(record: Record, prefix: str) -> list[str]:
    """A row to a key; keys of a section without a name of its own are written with dots."""
    given, rows = defaults(record), []
    for name, key in record.keys.items():
        if is_later(key.type):
            continue
        default = "**required**" if key.required else _value(given.get(name))
        doc = key.doc.rstrip()
        if isinstance(key.type, Later):
            doc = f"{doc}; not supported yet" if doc else "not supported yet"
        cells = (f"`{prefix}{name}`", _words(key.type), default, doc)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if isinstance(key.type, Record) and key.type.keys and not _is_named(key.type):
            rows += _rows(key.type, f"{prefix}{name}.")
    return rows


def _groups(record: Record) -> list[str]:
    """Keys that exclude one another, in words."""
    lines = []
    for group in record.groups:
        names = [k for k in group.keys if not is_later(record.keys.get(k, Key(Later())).type)]
        if group.required and len(names) > 1:
            lines += [f"Exactly one of {listing(tuple(f'`{n}`' for n in names))}.", ""]
        elif len(names) > 1:
            lines += [f"At most one of {listing(tuple(f'`{n}`' for n in names))}.", ""]
    return lines


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_named(type_: Type) -> bool:
    return any(value is type_ for value in named_types().values())


def _words(type_: Type) -> str:
    """What a value may be; a link where its type has a section."""
    name = next((n for n, value in named_types().items() if value is type_), None)
    if name:
        title = _title(name)
        return f"[`{title}`](#{title.replace(' ', '-')})"
    if isinstance(type_, MapOf):
        return f"{{{type_.noun}: {_words(type_.item)}}}"
    if isinstance(type_, ListOf):
        return f"list, each {_words(type_.item)}" if type_.n is None else f"{type_.n} values: {_words(type_.item)}"
    if isinstance(type_, Vector):
        return f"{type_.n} values: {_words(type_.item)}"
    if isinstance(type_, ByForm):
        return " or ".join(dict.fromkeys(_words(form) for form in type_.forms.values() if not is_later(form)))
    if isinstance(type_, Record):
        return f"section: {', '.join(f'`{key}`' for key in type_.keys)}" if type_.keys else "`{}`"
    return type_.describe()


if __name__ == "__main__":
    print(page(), end="")
