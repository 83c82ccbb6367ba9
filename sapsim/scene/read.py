"""Reading scenes: a path -> a Scene, or a SceneError with every fault."""

import importlib
import pkgutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

from sapsim.errors import SceneError
from sapsim.scene import formats
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.resolved import resolved_text, scene_sha256
from sapsim.scene.spec import Scene, Where
from sapsim.scene.yaml_loader import MAX_BYTES, decode

__all__ = ["load", "loads", "scene_sha256"]

STDIN = "-"
_STDIN_NAME = "<stdin>"


def load(path: str | Path, *, overrides: Sequence[str] = (), strict: bool = False) -> Scene:
    """Read a scene file; "-" reads standard input.

    Args:
        path: the file; its suffix chooses the format.
        overrides: `key.path=value` as of `--set`, values in YAML; checked like the file.
        strict: whether warnings are faults.

    Raises SceneError with all faults.  Warnings are in `scene.warnings`.
    """
    report = Report()
    file = _STDIN_NAME if str(path) == STDIN else str(path)
    data = _bytes(file, report)
    text = decode(data, file, report) if data is not None else None
    reader = _format(file, report) if text is not None else None
    if text is None or reader is None:
        raise SceneError(report.errors, report.warnings)
    return _finish(reader.read(text, file, overrides, report), report, strict)


def loads(text: str, *, file: str = "scene.yaml", overrides: Sequence[str] = (), strict: bool = False) -> Scene:
    """Read a scene from a text, as `load` does from a file; `file` is what messages name."""
    report = Report()
    reader = _format(file, report)
    scene = reader.read(text, file, overrides, report) if reader is not None else None
    return _finish(scene, report, strict)


def _finish(scene: Scene | None, report: Report, strict: bool) -> Scene:
    errors = report.errors + (report.warnings if strict else [])
    if errors or scene is None:
        raise SceneError(errors, report.warnings)
    scene = replace(scene, warnings=tuple(report.warnings))
    return replace(scene, resolved=resolved_text(scene))


def _bytes(file: str, report: Report) -> bytes | None:
    """The content of a file; one byte more than is allowed where it is too large."""
    if file == _STDIN_NAME:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    path = Path(file)
    where = Where(file)
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        folder = path.parent
        if not folder.is_dir():
            report.error(where, "missing-file", f'no such file, and no folder "{folder}"')
            return None
        near = [p.name for p in folder.iterdir() if p.suffix in (".yaml", ".yml")]
        report.error(where, "missing-file", "no such file", did_you_mean(path.name, near))
    except IsADirectoryError:
        report.error(where, "missing-file", "this is a folder; a scene is a file")
    except OSError as error:
        report.error(where, "missing-file", f"cannot be read: {error.strerror or error}")
    except ValueError as error:
        report.error(where, "missing-file", f"not a path: {error}")
    return None


@cache
def _formats() -> dict[str, ModuleType]:
    """Modules of `formats` by suffix: each has SUFFIXES and read(text, file, overrides, report)."""
    found = {}
    for info in sorted(pkgutil.iter_modules(formats.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{formats.__name__}.{info.name}")
        found.update({suffix: module for suffix in module.SUFFIXES})
    return found


def _format(file: str, report: Report) -> ModuleType | None:
    """The format of a file by its suffix; standard input is YAML."""
    suffix = ".yaml" if file == _STDIN_NAME else Path(file).suffix.lower()
    known = _formats()
    if suffix in known:
        return known[suffix]
    text = f'files with suffix "{suffix}" are not supported' + (" yet" if suffix in (".urdf", ".xml", ".mjcf") else "")
    code = "not-supported" if text.endswith("yet") else "unknown-format"
    report.error(Where(file), code, f"{text}; supported: {listing(sorted(known))}", "rename a YAML scene to .yaml")
    return None
