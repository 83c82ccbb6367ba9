"""A compiled MJCF and the places of its elements.

MuJoCo's own compiler resolves defaults, includes, units, frames and inertias; we take its numbers.  It keeps the line of an
element of the file itself, and none of one in an included file, so elements with names are looked up in our own parse.
"""

import importlib
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sapsim.scene.poses import as_vec3, normalised
from sapsim.scene.report import Report
from sapsim.scene.sources import Sources, read_bytes
from sapsim.scene.spec import Pose, Where
from sapsim.scene.xml_tree import Element, parse_xml

# Sections whose children have tags of many kinds and share their names.
_SECTIONS = ("actuator", "equality", "tendon", "contact")
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_LINE = re.compile(r"line (\d+)")


@dataclass
class Compiled:
    """MuJoCo, its specification and its model of one file; `lines` are places of elements by (kind, id)."""

    mujoco: ModuleType
    spec: Any
    model: Any
    file: str
    named: dict[tuple[str, str], Where]
    lines: dict[tuple[str, int], Where] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, attribute in (
            ("body", "bodies"),
            ("joint", "joints"),
            ("geom", "geoms"),
            ("actuator", "actuators"),
            ("equality", "equalities"),
            ("tendon", "tendons"),
            ("contact", "pairs"),
        ):
            for element in getattr(self.spec, attribute):
                self.lines[kind, element.id] = self._line(element, kind)

    def _line(self, element: Any, kind: str) -> Where:
        found = _LINE.search(element.info)
        line = int(found[1]) if found else 0
        where = Where(self.file, max(line, 1), 1, kind)
        return self.named.get((kind, element.name), where) if element.name else where

    def where(self, kind: str, index: int) -> Where:
        """The place of an element of the compiled model."""
        return self.lines.get((kind, index), Where(self.file, 1, 1, kind))

    def name(self, kind: str, index: int) -> str:
        """Its name, "" where it has none."""
        types = {"equality": "EQUALITY", "contact": "PAIR"}
        type_ = getattr(self.mujoco.mjtObj, f"mjOBJ_{types.get(kind, kind.upper())}")
        return self.mujoco.mj_id2name(self.model, type_, index) or ""

    def pose(self, kind: str, index: int) -> Pose:
        """The placement of a body in its parent, or of a geom in its body."""
        return pose(getattr(self.model, f"{kind}_pos")[index], getattr(self.model, f"{kind}_quat")[index])

    def word(self, enum: str, value: int) -> str:
        """The last word of a MuJoCo constant in lower case: 2 of mjtGeom is "sphere"."""
        return getattr(self.mujoco, enum)(value).name.rpartition("_")[2].lower()


def pose(p: np.ndarray, quat: np.ndarray) -> Pose:
    """A pose of MuJoCo's position and quaternion wxyz."""
    w, x, y, z = (float(a) for a in quat)
    return Pose(as_vec3(p), normalised((x, y, z, w)))


def compile_mjcf(root: Element, file: str, sources: Sources, report: Report) -> Compiled | None:
    """The compiled model of a parsed file, or None with errors."""
    try:
        mujoco = importlib.import_module("mujoco")
    except ImportError:
        text = "reading MJCF needs the package mujoco, which is not installed"
        report.error(root.where, "missing-package", text, "pip install 'sapsim[mjcf]'")
        return None
    before = len(report.errors)
    documents = [root, *_included(root, Path(file), sources, report, {Path(file)})]
    for document in documents:
        _check_files(document, Path(file).parent, documents, sources, report)
    if len(report.errors) > before:
        return None
    try:
        with _listening(mujoco) as told:
            spec = mujoco.MjSpec.from_file(file)
            model = spec.compile()
    except ValueError as error:  # what MuJoCo's parser and compiler raise
        said = _one_line(error)
        line = _LINE.search(said)
        where = replace(root.where, line=int(line[1]), column=1) if line and int(line[1]) else root.where
        report.error(where, "mjcf", f"MuJoCo refuses this file: {said}", "its message names the element")
        return None
    for text in told:
        report.warn(root.where, "mjcf", f"MuJoCo warns: {text}", "its message names the element")
    return Compiled(mujoco, spec, model, file, _named(documents))


@contextmanager
def _listening(mujoco: ModuleType) -> Iterator[list[str]]:
    """What MuJoCo warns of, which it would else print and write into a file of the current folder."""
    heard: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: heard.append(_one_line(text)))
    told: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield told
    finally:
        mujoco.set_mju_user_warning(before)
    told += dict.fromkeys(_one_line(w.message) for w in caught)
    told += [text for text in dict.fromkeys(heard) if not any(longer.startswith(text) for longer in told)]


def _one_line(said: object) -> str:
    return " ".join(str(said).split())


def _included(root: Element, file: Path, sources: Sources, report: Report, seen: set[Path]) -> Iterator[Element]:
    """The parsed files that `<include>` names, which start in the folder of the main file, and theirs."""
    for element in _walk(root):
        if element.tag != "include" or "file" not in element.attributes:
            continue
        path = file.parent / element.attributes["file"]
        if path in seen or not _may_read(path, element, sources, report):
            continue
        seen.add(path)
        data = read_bytes(path, element.at("file"), (".xml",), report)
        found = parse_xml(data, str(path), report) if data is not None else None
        if found is not None:
            yield found
            yield from _included(found, file, sources, report, seen)


def _walk(root: Element) -> Iterator[Element]:
    todo = [root]
    while todo:
        element = todo.pop()
        yield element
        todo.extend(reversed(element.children))


def _may_read(path: Path, element: Element, sources: Sources, report: Report) -> bool:
    if sources.allows(path):
        return True
    text = f'"{element.attributes["file"]}": {path} is outside of what may be read'
    report.error(element.at("file"), "not-allowed", text, f"allow it on the command line: --allow {path.parent}")
    return False


def _check_files(document: Element, folder: Path, documents: list[Element], sources: Sources, report: Report) -> None:
    """Refuse assets that lie where the scene may not read: MuJoCo would open them by itself."""
    compilers = [e.attributes for d in documents for e in _walk(d) if e.tag == "compiler"]
    folders = ["", *(c[key] for c in compilers for key in _FOLDERS if key in c)]
    for element in _walk(document):
        if "file" in element.attributes and element.tag != "include":
            for inside in dict.fromkeys(folders):
                if not _may_read(folder / inside / element.attributes["file"], element, sources, report):
                    break


def _named(documents: list[Element]) -> dict[tuple[str, str], Where]:
    """Places of the elements that have a name, by (kind, name)."""
    found = {}
    for document in documents:
        for parent in _walk(document):
            for element in parent.children:
                if element.attributes.get("name"):
                    kind = parent.tag if parent.tag in _SECTIONS else element.tag.removeprefix("free")
                    found[kind, element.attributes["name"]] = element.where
    return found
