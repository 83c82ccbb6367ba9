"""Reading scenes: a path -> a Scene, or a SceneError with every fault."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from sapsim.errors import SceneError
from sapsim.scene.bare_model import is_model_file, load_model, without_geometry
from sapsim.scene.formats import model_formats, scene_formats
from sapsim.scene.report import Report, listing
from sapsim.scene.resolved import resolved_text, scene_sha256
from sapsim.scene.sources import read_bytes, sources_of_scene
from sapsim.scene.spec import Scene, Where
from sapsim.scene.yaml_loader import MAX_BYTES, decode

__all__ = ["is_model_file", "load", "load_model", "loads", "scene_sha256", "without_geometry"]

STDIN = "-"
_STDIN_NAME = "<stdin>"


def load(
    path: str | Path,
    *,
    overrides: Sequence[str] = (),
    strict: bool = False,
    allow: Sequence[str | Path] = (),
    packages: Mapping[str, str | Path] | None = None,
    geometry: bool = True,
) -> Scene:
    """Read a scene file; "-" reads standard input.

    Args:
        path: the file; its suffix chooses the format.
        overrides: `key.path=value` as of `--set`, values in YAML; checked like the file.
        strict: whether warnings are faults.
        allow: folders below which the scene may read files, beside its own.
        packages: folders of `package://` names; the scene may read files below them.
        geometry: whether collision geometry is wanted; without it a shape that cannot be used is a warning.

    Raises SceneError with all faults.  Warnings are in `scene.warnings`.
    """
    report = Report()
    file = _STDIN_NAME if str(path) == STDIN else str(path)
    data = _bytes(file, report)
    text = decode(data, file, report) if data is not None else None
    reader = _format(file, report) if text is not None else None
    if text is None or reader is None:
        raise SceneError(report.errors, report.warnings)
    sources = sources_of_scene(file, allow, packages or {}, geometry, report)
    return _finish(reader.read(text, file, overrides, sources, report), report, strict)


def loads(
    text: str,
    *,
    file: str = "scene.yaml",
    overrides: Sequence[str] = (),
    strict: bool = False,
    allow: Sequence[str | Path] = (),
) -> Scene:
    """Read a scene from a text, as `load` does from a file; `file` is what messages name, its folder what is read."""
    report = Report()
    reader = _format(file, report)
    sources = sources_of_scene(file, allow, {}, True, report)
    scene = reader.read(text, file, overrides, sources, report) if reader is not None else None
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
    return read_bytes(Path(file), Where(file), scene_formats(), report)


def _format(file: str, report: Report) -> ModuleType | None:
    """The format of a file by its suffix; standard input is YAML."""
    suffix = ".yaml" if file == _STDIN_NAME else Path(file).suffix.lower()
    known = scene_formats()
    if suffix in known:
        return known[suffix]
    if suffix in model_formats():
        text = "this is a model, not a scene"
        hint = f"name it in a scene: models: {{robot: {{{model_formats()[suffix].KEY}: {Path(file).name}}}}}"
        report.error(Where(file), "not-a-scene", text, hint)
        return None
    text = f'files with suffix "{suffix}" are not supported; supported: {listing(sorted(known))}'
    report.error(Where(file), "unknown-format", text, "rename a YAML scene to .yaml")
    return None
