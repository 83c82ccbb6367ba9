"""Entries of `constraints`, and mimics of joints, which are couplers."""

import math
from collections.abc import Sequence

from sapsim.kinds.base import ConstraintKind, registry
from sapsim.scene.grammar import Items, Section
from sapsim.scene.names import Names
from sapsim.scene.poses import as_vec3, quat_from_rpy
from sapsim.scene.report import Report
from sapsim.scene.spec import WORLD, Attachment, Constraint, Joint, Pose

MIMIC = "coupler"  # the kind that a mimic becomes


def read_constraints(section: Section | None, names: Names, joints: Sequence[Joint], report: Report) -> tuple[Constraint, ...]:
    """All entries, in the order of the file."""
    by_name = {joint.name: joint for joint in joints}
    found = []
    for name, entry in (section or {}).items():
        if "type" not in entry:
            continue
        kind = registry("constraints")[entry["type"]]
        values = entry.only("ratio", "offset", "lower", "upper", "length", "stiffness", "damping", "unilateral")
        if "joints" in kind.keys:
            values |= _read_joints(entry, names, by_name, report)
        for key in ("a", "b"):
            if key in entry:
                values[key] = _read_end(entry[key], names, report)
        _check(entry, kind, values, report)
        found.append(Constraint(name, kind.name, **values, where=entry.where()))
    return tuple(found)


def _read_joints(entry: Section, names: Names, by_name: dict[str, Joint], report: Report) -> dict:
    """`joints` and `coefficients`; joints must have one degree of freedom each and be different."""
    found: list[str] = []
    items = entry.get("joints", Items())
    for where, pattern in items:
        name = names.find_joint(pattern, where, report)
        if name is None or name not in by_name:
            continue
        kind = registry("joints")[by_name[name].kind]
        if kind.nv != 1:
            text = f'joint "{name}" is {kind.name} and has {kind.nv} degrees of freedom; a constraint needs joints with one'
            report.error(where, "not-one-dof", text, "name joints of one degree of freedom, or give `a` and `b`")
        elif name in found:
            report.error(where, "duplicate-name", f'joint "{name}" stands twice', "name every joint once")
        found.append(name)
    out = {"joints": tuple(found)}
    if "coefficients" in entry:
        coefficients = entry["coefficients"]
        if coefficients.complete and items.complete and len(coefficients) != len(items):
            text = f"found {len(coefficients)} coefficients for {len(items)} joints; allowed: one to each joint"
            report.error(entry.where("coefficients"), "wrong-length", text)
        out["coefficients"] = tuple(x for _, x in coefficients)
        if coefficients.complete and not any(out["coefficients"]):
            text = "all coefficients are zero: nothing would be constrained"
            report.error(entry.where("coefficients"), "out-of-range", text, "give one that is not")
    return out


def _read_end(section: Section, names: Names, report: Report) -> Attachment:
    """A frame on a link or the world."""
    link = section.get("link", "")
    if link and link != WORLD:
        link = names.find_link(link, section.where("link"), report) or ""
    rpy = section.get("rpy", (0.0, 0.0, 0.0))
    if "rpy_deg" in section:
        rpy = as_vec3([math.radians(x) for x in section["rpy_deg"]])
    return Attachment(link, Pose(section.get("point", (0.0, 0.0, 0.0)), quat_from_rpy(rpy)))


def _check(entry: Section, kind: ConstraintKind, values: dict, report: Report) -> None:
    """Bounds, and keys that have no effect."""
    if "lower" in kind.keys and not entry.given("lower", "upper"):
        text = "neither `lower` nor `upper`: nothing would be constrained"
        report.error(entry.where(), "missing-key", text, "give one of them, or both")
    if values.get("lower", -math.inf) > values.get("upper", math.inf):
        text = f"lower {values['lower']:g} is above upper {values['upper']:g}"
        report.error(entry.where("lower"), "out-of-range", text, "exchange them")
    rigid = math.isinf(values.get("stiffness", math.inf)) and not entry.broken("stiffness")
    if rigid and values.get("damping", 0.0) > 0.0:
        text = "`damping` has no effect: stiffness is .inf, and a rigid constraint is damped by itself"
        report.warn(entry.where("damping"), "no-effect", text, "give `stiffness`")


def with_mimics(constraints: tuple[Constraint, ...], joints: Sequence[Joint], report: Report) -> tuple[Constraint, ...]:
    """The constraints, and a coupler `JOINT:mimic` for each joint that follows another."""
    by_name = {joint.name: joint for joint in joints}
    found = list(constraints)
    for joint in joints:
        leader = by_name.get(joint.mimic.joint) if joint.mimic is not None else None
        if leader is None:
            continue
        bad = next((j for j in (joint, leader) if registry("joints")[j.kind].nv != 1), None)
        if bad is not None:
            text = (
                f'"{joint.name}" cannot mimic "{leader.name}": "{bad.name}" is {bad.kind}, and both need one degree of freedom'
            )
            report.warn(joint.where, "not-enforced", text, "the joint moves freely")
            continue
        ends = (joint.name, leader.name)
        ratio, offset = joint.mimic.multiplier, joint.mimic.offset
        found.append(Constraint(f"{joint.name}:mimic", MIMIC, ends, ratio=ratio, offset=offset, where=joint.where))
    return tuple(found)
