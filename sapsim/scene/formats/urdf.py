"""URDF -> Model, read strictly, with the line of everything that is wrong or not used (docs/urdf.md).

Inertial frames are rotated into their link's axes, R I R^T.  Visuals and their materials are not read.  A root link
named `world` is the frame in which the robot stands.
"""

from pathlib import Path

import numpy as np

from sapsim.scene.inertials import UNKNOWN, as_mat33
from sapsim.scene.models import Model, ModelLink, check_tree
from sapsim.scene.poses import matrix
from sapsim.scene.report import Report
from sapsim.scene.sources import Sources
from sapsim.scene.spec import WORLD, Inertial, Material, Where
from sapsim.scene.urdf_geometry import GeometryReader, read_origin
from sapsim.scene.urdf_joints import EXTENSIONS, JointReader
from sapsim.scene.xml_tree import Element, parse_xml
from sapsim.scene.xml_values import Notices, note_unknown, only_child, read_name, read_number, require

SUFFIXES = (".urdf",)
KEY = "urdf"
ROOT = "robot"  # the tag of the root element

_MOMENTS = ("ixx", "iyy", "izz")
_PRODUCTS = ("ixy", "ixz", "iyz")
_XACRO = "http://www.ros.org/wiki/xacro"


def read_model(data: bytes, file: str, name: str, default: Material, sources: Sources, report: Report) -> Model:
    """The model of a file; its name is that of the robot where `name` is "".  `default` is the material of its shapes."""
    model = Model(name, Where(file, 1, 1))
    root = parse_xml(data, file, report)
    if root is None or not _is_robot(root, report):
        model.sound = model.known = model.tree_known = False
        return model
    _Reader(model, root, file, default, sources, report).read()
    return model


def _is_robot(root: Element, report: Report) -> bool:
    """Whether this is a URDF, and not one that has still to be expanded."""
    if root.tag != "robot":
        text = f"<{root.tag}> is no URDF; its root must be <robot>"
        report.error(root.where, "unknown-format", text, "give a URDF file")
        return False
    found = _xacro(root)
    if found is None:
        return True
    where, what = found
    text = f"this is un-expanded xacro, not URDF: {what}"
    report.error(where, "xacro", text, "expand it first: xacro robot.urdf.xacro > robot.urdf")
    return False


def _xacro(root: Element) -> tuple[Where, str] | None:
    """Where xacro is left, and what; the declaration of its name space alone is not, expanded files keep it."""
    prefixes = {"xacro"}
    todo = [root]
    while todo:
        element = todo.pop()
        prefixes |= {a[6:] for a, v in element.attributes.items() if a.startswith("xmlns:") and v.rstrip("/") == _XACRO}
        prefix, colon, _ = element.tag.partition(":")
        if colon and prefix in prefixes:
            return element.where, f"<{element.tag}>"
        for attribute, value in element.attributes.items():
            if "${" in value or "$(" in value:
                return element.at(attribute), f'{attribute}="{value}"'
        todo.extend(c for c in reversed(element.children) if c.tag not in EXTENSIONS)
    return None


class _Reader:
    """Reads the elements of one file into a model."""

    def __init__(self, model: Model, root: Element, file: str, default: Material, sources: Sources, report: Report):
        self.model, self.root, self.report = model, root, report
        self.notices = Notices()
        self.geometry = GeometryReader(file, default, sources, self.notices, report)
        self.links: dict[str, Element] = {}
        self.joints: dict[str, Element] = {}

    def read(self) -> None:
        model, root = self.model, self.root
        model.where = root.where
        model.name = model.name or self._robot_name()
        note_unknown(root, ("link", "joint", "material", *EXTENSIONS), ("name", "version"), self.notices)
        self.links = self._by_name("link")
        self.joints = self._by_name("joint")
        self._take_world()
        model.link_names, model.joint_names = tuple(self.links), tuple(self.joints)
        for name, element in self.links.items():
            self._link(name, element)
        joints = JointReader(self.links, self.joints, self.notices, self.report)
        for name, element in self.joints.items():
            joint = joints.read(name, element)
            model.joints[name] = joint
            model.sound = model.sound and all((joint.kind, joint.parent, joint.child))
        if not self.links:
            self.report.error(root.where, "no-links", "a robot without links", "add a <link>")
            model.sound = False
        check_tree(model, {name: e.where for name, e in self.links.items()}, self.report)
        self._check_roots()
        self._note_extensions()
        self.notices.tell(self.report)

    def _robot_name(self) -> str:
        name = self.root.attributes.get("name", "").strip()
        if name:
            return name
        stem = Path(self.root.where.file).stem
        text = f'<robot> has no name; "{stem}" is used'
        self.report.warn(self.root.where, "missing-attribute", text, 'write <robot name="...">')
        return stem

    def _by_name(self, tag: str) -> dict[str, Element]:
        """The elements with a tag by their name; what has none, or one that is taken, is an error."""
        found: dict[str, Element] = {}
        for element in self.root.all(tag):
            name = read_name(element, "name", self.report)
            if name in found:
                lines = f"in line {found[name].where.line} and in line {element.where.line}"
                text = f'{tag} "{name}" is given twice: {lines}'
                self.report.error(element.at("name"), "duplicate-name", text, "rename one of them")
            if not name or name in found:
                self.model.sound = self.model.tree_known = False
                continue
            found[name] = element
        return found

    def _take_world(self) -> None:
        """Take a link named `world` out of the links: it is the frame in which the robot stands."""
        world = self.links.pop(WORLD, None)
        if world is None:
            return
        note_unknown(world, ("inertial", "collision", "visual", *EXTENSIONS), ("name",), self.notices)
        for child in world.children:
            if child.tag in ("inertial", "collision"):
                text = f'link "world" stands for the world, and cannot have <{child.tag}>'
                self.report.error(child.where, "reserved-name", text, "rename the link, or join one of another name to it")
        ends = [e.attributes.get("link", "").strip() for j in self.joints.values() for e in j.all("parent")]
        if WORLD not in ends and self.links:
            roots = f'"world" and "{next(iter(self.links))}"'
            text = f'the robot has two roots: {roots}; no joint has the parent "world"'
            self.report.error(world.where, "two-roots", text, "join them with a joint, or remove link world")
            self.model.sound = False

    def _check_roots(self) -> None:
        """A root beside the world; a joint that has the name of the one which carries the root."""
        model = self.model
        if model.from_world and len(model.roots) == 1:
            root = model.roots[0]
            text = f'the robot has two roots: "world" and "{root}" are nobody\'s child; one is allowed'
            self.report.error(self.links[root].where, "two-roots", text, "join them with a joint")
            model.sound = False
        if "base" in self.joints and model.roots:
            text = 'a joint named "base" in a robot with a root: that is the name of the joint that carries the root'
            self.report.error(self.joints["base"].at("name"), "duplicate-name", text, "choose another name")

    def _link(self, name: str, element: Element) -> None:
        note_unknown(element, ("inertial", "collision", "visual", *EXTENSIONS), ("name",), self.notices)
        inertial = only_child(element, "inertial", self.report)
        where = inertial.where if inertial is not None else element.where
        own = self._inertial(inertial) if inertial is not None else Inertial()
        self.model.links[name] = ModelLink(own, self.geometry.shapes_of(element), element.where, where)

    def _inertial(self, element: Element) -> Inertial:
        """Mass, com and inertia in the link's frame.  Without `<inertia>` it is that of a point: zero."""
        note_unknown(element, ("origin", "mass", "inertia"), (), self.notices)
        X_LI = read_origin(element, self.notices, self.report)
        given = only_child(element, "mass", self.report)
        if given is None:
            self.report.error(element.where, "missing-element", "<inertial> without <mass>", 'add <mass value="..."/>')
            return UNKNOWN
        note_unknown(given, (), ("value",), self.notices)
        mass = read_number(given, "value", self.report, least=0.0) if require(given, "value", self.report) else None
        moments = self._moments(only_child(element, "inertia", self.report))
        if mass is None or moments is None:
            return UNKNOWN
        R_LI = matrix(X_LI.q)
        return Inertial(mass, X_LI.p, as_mat33(R_LI @ moments @ R_LI.T))

    def _moments(self, element: Element | None) -> np.ndarray | None:
        """The matrix of `<inertia>`, in the inertial frame; products that are not given are zero."""
        if element is None:
            return np.zeros((3, 3))
        note_unknown(element, (), (*_MOMENTS, *_PRODUCTS), self.notices)
        complete = all([require(element, a, self.report) for a in _MOMENTS])
        given = [a for a in (*_MOMENTS, *_PRODUCTS) if a in element.attributes]
        values = {a: read_number(element, a, self.report) for a in given}
        if not complete or None in values.values():
            return None
        xx, yy, zz = (values[a] for a in _MOMENTS)
        xy, xz, yz = (values.get(a, 0.0) for a in _PRODUCTS)
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def _note_extensions(self) -> None:
        """One warning for all elements that only other programs use."""
        found: dict[str, list[Element]] = {}
        for parent in (self.root, *self.links.values(), *self.joints.values()):
            for child in parent.children:
                if child.tag in EXTENSIONS:
                    found.setdefault(child.tag, []).append(child)
        if found:
            what = ", ".join(f"<{tag}> ({len(items)})" for tag, items in found.items())
            first = min((items[0] for items in found.values()), key=lambda e: e.where.line)
            self.report.warn(first.where, "ignored-element", f"not used: {what}", "nothing of them is simulated")
