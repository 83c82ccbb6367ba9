"""Entries of `models`: described in the scene itself, or by a file of a model format."""

import os
from pathlib import Path
from types import ModuleType

from sapsim.scene.formats import model_formats
from sapsim.scene.grammar import Section
from sapsim.scene.materials import Materials
from sapsim.scene.models import Model, read_model
from sapsim.scene.overlays import changed_links, overlaid
from sapsim.scene.report import Report
from sapsim.scene.sources import Sources, read_bytes
from sapsim.scene.spec import Material, Where


def read_any_model(name: str, section: Section, materials: Materials, sources: Sources, report: Report) -> Model:
    """The model of an entry of `models`, with its overlays."""
    modules = {module.KEY: module for module in model_formats().values()}
    key = next((k for k in section.places if k in modules), "")
    if not key:
        return changed_links(read_model(name, section, materials, report), section.get("links", {}), materials, report)
    model = _from_file(name, section, key, modules[key], materials.default, sources, report)
    model.defaults, model.policy = section, section.get("inertia", "error")
    return overlaid(model, section, materials, report)


def _unknown(name: str, where: Where) -> Model:
    """A model of which nothing can be said."""
    return Model(name, where, sound=False, known=False, tree_known=False, from_file=True)


def _from_file(
    name: str, section: Section, key: str, module: ModuleType, default: Material, sources: Sources, report: Report
) -> Model:
    if section.broken(key, "packages"):
        return _unknown(name, section.where())
    where, given = section.where(key), section[key]
    sources = sources.with_packages(_packages(section, sources, report))
    path, problem = sources.find(given, sources.folder / "scene")
    if path is None and "://" in given:
        report.error(where, "missing-file", f'"{given}": {problem}', "see `packages`, and --package NAME=DIR")
        return _unknown(name, where)
    path = path or sources.folder / given
    if not sources.allows(path):
        report.error(where, "not-allowed", f'"{given}": {problem}', f"allow it on the command line: --allow {path.parent}")
        return _unknown(name, where)
    return read_model_file(path, name, where, module, default, sources, report)


def _packages(section: Section, sources: Sources, report: Report) -> dict[str, Path]:
    """The folders of `packages`, relative to the scene's."""
    found = {}
    for name, given in section.get("packages", {}).items():
        where = section["packages"].where(name)
        folder = sources.folder / given
        if not sources.allows(folder):
            text = f"{folder} is outside of what this scene may read"
            report.error(where, "not-allowed", text, f"allow it on the command line: --package {name}={folder}")
        elif not os.path.isdir(folder):
            report.error(where, "missing-file", f"{folder}: no such folder")
        else:
            found[name] = folder
    return found


def read_model_file(
    path: Path, name: str, where: Where, module: ModuleType, default: Material, sources: Sources, report: Report
) -> Model:
    """The model of a file that is named at `where`; not known where it cannot be read."""
    data = read_bytes(path, where, module.SUFFIXES, report)
    if data is None:
        return _unknown(name, where)
    model = module.read_model(data, str(path), name, default, sources, report)
    model.from_file = True
    return model
