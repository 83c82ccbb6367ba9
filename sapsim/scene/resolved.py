"""The resolved scene as text: what will be simulated, with every default written out; and its hash.

YAML that reads the same as YAML 1.1 and 1.2.  Places, warnings and the file's own text are left out, so that two
files that mean the same scene give the same text.
"""

import hashlib
import math
from dataclasses import fields, is_dataclass
from typing import Any

from sapsim.scene.hull import ConvexHull
from sapsim.scene.spec import Scene
from sapsim.scene.surface import Surface

_LEFT_OUT = frozenset(
    {
        "file",
        "where",
        "inertial_where",
        "unbuilt",
        "inertia_policy",
        "warnings",
        "text",
        "resolved",
        "overrides",
        "extra",
        "mesh",
    }
)
_IF_THERE = ("hull", "surface")  # what most shapes have not


def resolved_text(scene: Scene) -> str:
    """The whole scene as YAML, in the order of spec.Scene, one line for each link, joint, shape and so on."""
    return "\n".join(_block(_plain(scene), 0)) + "\n"


def scene_sha256(scene: Scene) -> str:
    """SHA-256 of the resolved scene, hexadecimal."""
    return hashlib.sha256((scene.resolved or resolved_text(scene)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Dataclasses and tuples as dicts and lists."""
    if isinstance(value, ConvexHull):
        return {"vertices": len(value.vertices), "faces": len(value.faces), "sha256": value.digest()}
    if isinstance(value, Surface):
        return {"vertices": len(value.vertices), "triangles": len(value.triangles), "sha256": value.digest()}
    if is_dataclass(value):
        found = {f.name: getattr(value, f.name) for f in fields(value) if f.name not in _LEFT_OUT}
        return {name: _plain(x) for name, x in found.items() if x is not None or name not in _IF_THERE}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value


def _block(mapping: dict[str, Any], depth: int) -> list[str]:
    """The lines of a mapping: sections and lists of mappings over several lines, all else on one."""
    pad = "  " * depth
    lines = []
    for key, value in mapping.items():
        if isinstance(value, dict) and depth == 0:
            lines.append(f"{pad}{key}:")
            lines.extend(_block(value, depth + 1))
        elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            lines.append(f"{pad}{key}:")
            lines.extend(f"{pad}  - {_flow(v)}" for v in value)
        else:
            lines.append(f"{pad}{key}: {_flow(value)}")
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    return str(value) if isinstance(value, int) else _string(value)


def _float(value: float) -> str:
    """The shortest text that reads back as the same number, with a point, which YAML 1.1 wants before an exponent."""
    if math.isinf(value):
        return ".inf" if value > 0.0 else "-.inf"
    if math.isnan(value):
        return ".nan"
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else text


def _string(value: str) -> str:
    """A double-quoted scalar."""
    return '"' + "".join(_character(c) for c in value) + '"'


def _character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c.isprintable():
        return c
    return f"\\U{ord(c):08X}"
