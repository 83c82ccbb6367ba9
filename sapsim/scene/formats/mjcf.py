"""MJCF -> Model: compiled by the package `mujoco`, and taken from there (docs/mjcf.md).

The file says itself how its bodies stand in the world: a body of the world with a free joint floats, one without joints is
fixed.  So all joints of the model start at the world, and it has no root.
"""

from pathlib import Path

from sapsim.scene.mjcf_actuators import drives_of
from sapsim.scene.mjcf_compiled import Compiled, compile_mjcf
from sapsim.scene.mjcf_omitted import note_omissions
from sapsim.scene.mjcf_tree import TreeReader
from sapsim.scene.models import Model, check_tree
from sapsim.scene.report import Report
from sapsim.scene.sources import Sources
from sapsim.scene.spec import WORLD, Material, Where
from sapsim.scene.xml_tree import parse_xml
from sapsim.scene.xml_values import Notices

SUFFIXES = (".xml",)
KEY = "mjcf"
ROOT = "mujoco"  # the tag of the root element
OWN_BASE = True  # the file says how its bodies stand in the world


def read_model(data: bytes, file: str, name: str, default: Material, sources: Sources, report: Report) -> Model:
    """The model of a file; its name is that of the file's where `name` is "".  `default` is the material of its shapes."""
    model = Model(name, Where(file, 1, 1))
    root = parse_xml(data, file, report)
    if root is not None and root.tag != ROOT:
        text = f"<{root.tag}> is no MJCF; its root must be <{ROOT}>"
        report.error(root.where, "unknown-format", text, "give an MJCF file")
    compiled = compile_mjcf(root, file, sources, report) if root is not None and root.tag == ROOT else None
    if root is None or compiled is None:
        model.sound = model.known = model.tree_known = False
        return model
    model.where = root.where
    model.name = name or compiled.spec.modelname or Path(file).stem
    notices = Notices()
    reader = TreeReader(compiled, model, default, report)
    reader.read()
    model.link_names, model.joint_names = tuple(model.links), tuple(model.joints)
    model.filters = _excluded(compiled, reader.link)
    model.actuators = drives_of(compiled, reader.joint, notices)
    check_tree(model, {link: content.where for link, content in model.links.items()}, report)
    if not model.links:
        report.error(root.where, "no-links", "a model without bodies", "add a <body> to <worldbody>")
        model.sound = False
    note_omissions(compiled, notices)
    notices.tell(report)
    return model


def _excluded(compiled: Compiled, links: list[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of links that `<exclude>` keeps from meeting."""
    by_name = {compiled.name("body", b): link for b, link in enumerate(links) if link != WORLD}
    pairs = ((e.bodyname1, e.bodyname2) for e in compiled.spec.excludes)
    return tuple((by_name[a], by_name[b]) for a, b in pairs if a in by_name and b in by_name)
