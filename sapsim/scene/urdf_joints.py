"""Joints of a URDF: types, ends, axes, limits, dynamics, mimics."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sapsim.kinds.base import registry
from sapsim.scene.models import ModelJoint
from sapsim.scene.poses import as_vec3
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import WORLD, Limit, Mimic, Vec3
from sapsim.scene.urdf_geometry import read_origin
from sapsim.scene.xml_tree import Element
from sapsim.scene.xml_values import Notices, note_unknown, only_child, read_name, read_number, read_numbers, require

# Elements that other programs use: told once a file, all together.
EXTENSIONS = ("gazebo", "transmission", "sensor", "ros2_control", "calibration", "safety_controller")


@dataclass(frozen=True)
class _JointType:
    """What a joint type of URDF takes: an axis; position limits."""

    has_axis: bool = False
    has_range: bool = False
    rotates_freely: bool = False


_TYPES = {
    "fixed": _JointType(),
    "revolute": _JointType(has_axis=True, has_range=True),
    "continuous": _JointType(has_axis=True, rotates_freely=True),
    "prismatic": _JointType(has_axis=True, has_range=True),
    "floating": _JointType(),
    "planar": _JointType(has_axis=True),
}


class JointReader:
    """Reads the joints of one file; `links` and `joints` are its elements by name."""

    def __init__(self, links: Mapping[str, Element], joints: Mapping[str, Element], notices: Notices, report: Report):
        self.links, self.joints, self.notices, self.report = links, joints, notices, report

    def read(self, name: str, element: Element) -> ModelJoint:
        """A joint; its kind, parent or child is "" where it is not known."""
        known = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", *EXTENSIONS)
        note_unknown(element, known, ("name", "type"), self.notices)
        kind = self._type(element)
        parent, child = self._end(element, "parent"), self._end(element, "child")
        allowed = _TYPES.get(kind, _JointType())
        moves = bool(kind) and registry("joints")[kind].moves
        damping, friction = self._dynamics(element)
        limit = self._limit(name, element, allowed)
        mimic = self._mimic(element)
        return ModelJoint(
            kind=kind,
            parent=parent,
            child=child,
            X_PF=read_origin(element, self.notices, self.report),
            axis=self._axis(element, allowed),
            damping=damping if moves else 0.0,
            armature=0.0,
            collide=False,
            where=element.where,
            friction=friction if moves else 0.0,
            limit=limit if moves else Limit(),
            mimic=mimic if moves else None,
        )

    def _type(self, element: Element) -> str:
        """The joint's type, or "" with an error."""
        kind = read_name(element, "type", self.report)
        if not kind or (kind in registry("joints") and kind in _TYPES):
            return kind
        allowed = [t for t in _TYPES if t in registry("joints")]
        if kind in _TYPES:
            text = f'joints of type "{kind}" are not supported yet; supported: {listing(allowed)}'
            self.report.error(element.at("type"), "not-supported", text)
        else:
            text = f'type="{kind}" is no joint type; allowed: {listing(allowed)}'
            self.report.error(element.at("type"), "unknown-value", text, did_you_mean(kind, _TYPES))
        return ""

    def _end(self, element: Element, tag: str) -> str:
        """The link at one end of a joint, or "" with an error."""
        end = only_child(element, tag, self.report)
        if end is None:
            text = f'joint "{element.attributes.get("name", "")}" has no <{tag}>'
            self.report.error(element.where, "missing-element", text, f'add <{tag} link="..."/>')
            return ""
        note_unknown(end, (), ("link",), self.notices)
        name = read_name(end, "link", self.report)
        if not name or name in self.links or (name == WORLD and tag == "parent"):
            return name
        text = f'<{tag} link="{name}">: unknown link; links of this robot: {listing(self.links)}'
        if name == WORLD:
            text = f'<{tag} link="world">: the world cannot be a child; links of this robot: {listing(self.links)}'
        self.report.error(end.at("link"), "unknown-name", text, did_you_mean(name, self.links))
        return ""

    def _axis(self, element: Element, allowed: _JointType) -> Vec3:
        """The unit axis; URDF's default is x."""
        default = (1.0, 0.0, 0.0)
        given = only_child(element, "axis", self.report)
        if given is None or not allowed.has_axis:
            return default
        note_unknown(given, (), ("xyz",), self.notices)
        axis = read_numbers(given, "xyz", 3, self.report) if require(given, "xyz", self.report) else None
        if axis is None:
            return default
        norm = math.hypot(*axis)
        if norm == 0.0:
            text = f'xyz="{given.attributes["xyz"]}": an axis needs a direction'
            self.report.error(given.at("xyz"), "zero-axis", text, "leave <axis> away for 1 0 0")
            return default
        return as_vec3(axis) if norm == 1.0 else as_vec3([a / norm for a in axis])

    def _dynamics(self, element: Element) -> tuple[float, float]:
        """Damping and dry friction."""
        given = only_child(element, "dynamics", self.report)
        if given is None:
            return 0.0, 0.0
        note_unknown(given, (), ("damping", "friction"), self.notices)
        damping, friction = (
            read_number(given, a, self.report, least=0.0) if a in given.attributes else None for a in ("damping", "friction")
        )
        return damping or 0.0, friction or 0.0

    def _limit(self, name: str, element: Element, allowed: _JointType) -> Limit:
        given = only_child(element, "limit", self.report)
        if given is None:
            if allowed.has_range:
                text = "no <limit>: no bounds on {names}"
                self.notices.add(element.where, "no-limit", text, "a continuous joint has none either", name)
            return Limit()
        note_unknown(given, (), ("lower", "upper", "effort", "velocity"), self.notices)
        values = {}
        for attribute, least in (("lower", -math.inf), ("upper", -math.inf), ("effort", 0.0), ("velocity", 0.0)):
            if attribute in given.attributes:
                value = read_number(given, attribute, self.report, least=least)
                if value is None:
                    return Limit()
                values[attribute] = value
        if values.get("effort") == 0.0 and (allowed.has_range or allowed.rotates_freely):
            text = 'effort="0": actuators cannot drive {names}'
            self.notices.add(given.at("effort"), "no-effort", text, "without the attribute there is no bound", name)
        return Limit(
            **self._range(name, given, values, allowed), **{k: values[k] for k in values.keys() & {"effort", "velocity"}}
        )

    def _range(self, name: str, given: Element, values: dict[str, float], allowed: _JointType) -> dict[str, float]:
        """`lower` and `upper` where the joint type has them; with only one, the other is 0, which is URDF's default."""
        bounds = {k: values[k] for k in ("lower", "upper") if k in values}
        if not allowed.has_range:
            if bounds and allowed.rotates_freely:
                text = "a continuous joint has no lower and upper; they are ignored on {names}"
                self.notices.add(given.where, "ignored-limit", text, 'type="revolute" has bounds', name)
            return {}
        if not bounds:
            text = "<limit> without lower and upper: no bounds on {names}"
            self.notices.add(given.where, "no-limit", text, "URDF's default of 0 for both would lock the joint", name)
            return {}
        if len(bounds) == 1:
            missing = "upper" if "lower" in bounds else "lower"
            text = f"<limit> without {missing}, which is then 0 by URDF's default, on {{names}}"
            self.notices.add(given.where, "default-limit", text, f"give {missing}", name)
        bounds = {"lower": 0.0, "upper": 0.0} | bounds
        if bounds["lower"] > bounds["upper"]:
            text = f'lower {bounds["lower"]:g} is above upper {bounds["upper"]:g} on joint "{name}"'
            self.report.error(given.at("lower"), "out-of-range", text, "exchange them")
        return bounds

    def _mimic(self, element: Element) -> Mimic | None:
        given = only_child(element, "mimic", self.report)
        if given is None:
            return None
        note_unknown(given, (), ("joint", "multiplier", "offset"), self.notices)
        leader = read_name(given, "joint", self.report)
        values = {a: read_number(given, a, self.report) for a in ("multiplier", "offset") if a in given.attributes}
        if not leader:
            return None
        if leader not in self.joints:
            text = f'<mimic joint="{leader}">: unknown joint; joints of this robot: {listing(self.joints)}'
            self.report.error(given.at("joint"), "unknown-name", text, did_you_mean(leader, self.joints))
        elif leader == element.attributes["name"].strip():
            self.report.error(given.at("joint"), "unknown-name", f'joint "{leader}" cannot mimic itself', "name another joint")
        return Mimic(leader, **{k: v for k, v in values.items() if v is not None})
