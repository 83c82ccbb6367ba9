"""Models placed in the world: full names, the joint that carries the root, initial coordinates (contract 1.2, 1.3)."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

from sapsim.kinds.base import JointKind, registry
from sapsim.scene.grammar import Items, Section
from sapsim.scene.materials import Materials, give_material
from sapsim.scene.models import Model, ModelJoint
from sapsim.scene.names import Names
from sapsim.scene.overlays import overlaid
from sapsim.scene.poses import compose, normalised, read_pose, read_quaternion
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import WORLD, Actuator, Joint, Link, Pose, Shape, UnbuiltShape, Where

BASE = "base"  # the joint that carries a root


@dataclass
class Placed:
    """Links and joints under their full names, in the order of the file."""

    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    filters: list[tuple[str, str]] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)


def name_shapes(shapes: tuple[Shape, ...], link: str) -> tuple[Shape, ...]:
    """The shapes of a link with the names of the result file: the item's own, or `link/index`."""
    return tuple(s if s.name else replace(s, name=f"{link}/{i}") for i, s in enumerate(shapes))


def place_instance(
    name: str, section: Section, models: dict[str, Model] | None, materials: Materials, names: Names, report: Report
) -> Placed:
    """The links and joints of one instance.  Nothing where its model is not known well enough."""
    X_WI = read_pose(section.get("pose"), report)
    model = _find_model(section, models, report)
    if model is None or not model.known:
        names.open_groups.add(name)
        return Placed()
    for link in model.link_names:
        names.add_link(name, f"{name}/{link}", section.where())
    for joint in (*model.joint_names, *([BASE] if model.roots else [])):
        names.joints[f"{name}/{joint}"] = section.where()
    if model.tree_known:
        _check_base(section, model, report)
    else:
        names.open_groups.add(name)
    model = overlaid(model, section, materials, report)
    start = _Start(section, model, report)
    if not model.sound or (model.roots and "base" not in section):
        return Placed()
    joints = _joints(name, section, model, X_WI, start, report)
    if joints is None:
        return Placed()
    filters = [(f"{name}/{a}", f"{name}/{b}") for a, b in model.filters]
    moving = [a for a in model.actuators if registry("joints")[model.joints[a.joint].kind].moves]
    drives = [replace(a, name=f"{name}/{a.name}", joint=f"{name}/{a.joint}") for a in moving]
    return Placed(_links(name, section, model, materials), joints, filters, drives)


def _find_model(section: Section, models: dict[str, Model] | None, report: Report) -> Model | None:
    """The model that an instance names; None with an error, or where the models could not be read."""
    name = section.get("model")
    if name is None or models is None:
        return None
    if name not in models:
        text = f'unknown model "{name}"; models of this scene: {listing(models)}'
        report.error(section.where("model"), "unknown-name", text, did_you_mean(name, models))
    return models.get(name)


def _check_base(section: Section, model: Model, report: Report) -> None:
    if len(model.roots) == 1 and not section.given("base"):
        text = f'`base` is missing: model {model.name} has the root "{model.roots[0]}"; allowed: fixed, floating'
        report.error(section.where(), "missing-base", text, "add `base: fixed` or `base: floating`")
    if not model.sound:
        return
    if not model.roots and section.given("base") and not (model.from_file and _holds_still(section)):
        text = f"`base` is not allowed: model {model.name} has no root, its joints start at the world"
        report.error(section.where("base"), "base-not-allowed", text, "remove `base`")
    if "velocity" in section and not (model.roots and section.get("base", "floating") == "floating"):
        text = "`velocity` is that of a floating base, and this instance has none"
        report.error(section.where("velocity"), "no-floating-base", text, "use `joint_qd`")


def _holds_still(section: Section) -> bool:
    """Whether the base of an instance is fixed in the world."""
    kind = registry("joints").get(section.get("base", ""))
    return kind is not None and not kind.moves


def _setting(section: Section, model: Model, key: str, default: Any) -> Any:
    """A setting of the instance, else of its model, else the default (overlays of contract 1.3)."""
    return section.get(key, model.defaults.get(key, default) if model.defaults is not None else default)


def _links(name: str, section: Section, model: Model, materials: Materials) -> list[Link]:
    material = _setting(section, model, "material", "")
    flags = {
        "collide": _setting(section, model, "collision", True),
        "gravity": _setting(section, model, "gravity", True),
        "self_collision": _setting(section, model, "self_collision", True),
    }
    links = []
    for link, content in model.links.items():
        full = f"{name}/{link}"
        shapes = name_shapes(give_material(content.shapes, material, materials), full)
        links.append(
            Link(
                full,
                name,
                content.inertial,
                tuple(s for s in shapes if isinstance(s, Shape)),
                **flags,
                where=content.where,
                inertial_where=content.inertial_where,
                unbuilt=tuple(s for s in shapes if isinstance(s, UnbuiltShape)),
                inertia_policy=model.policy,
            )
        )
    return links


def base_joint(name: str, child: str, kind: str, X_WB: Pose, velocity: Section | None, where: Where) -> Joint:
    """The joint `name/base` that carries a root at X_WB: fixed, or floating with a velocity."""
    if not registry("joints")[kind].moves:
        return Joint(f"{name}/{BASE}", kind, WORLD, child, X_PF=X_WB, where=where)
    v = velocity if velocity is not None else {}
    zero = (0.0, 0.0, 0.0)
    qd0 = (*v.get("linear", zero), *v.get("angular", zero))
    # the coordinates of a floating joint are the pose in the world (contract 3): F is the world's frame
    return Joint(f"{name}/{BASE}", kind, WORLD, child, q0=(*X_WB.p, *X_WB.q), qd0=qd0, where=where)


def _joints(name: str, section: Section, model: Model, X_WI: Pose, start: "_Start", report: Report) -> list[Joint] | None:
    """All joints of the instance, that of its root first; None where one cannot stand where the model has it."""
    joints = []
    for root in model.roots:
        velocity = _setting(section, model, "velocity", None) if section["base"] == "floating" else None
        joint = base_joint(name, f"{name}/{root}", section["base"], X_WI, velocity, section.where())
        joints.append(
            replace(joint, q0=start.q.get(BASE, joint.q0), qd0=start.qd.get(BASE, joint.qd0))
            if section["base"] == "floating"
            else joint
        )
    for joint, content in model.joints.items():
        X_IP = Pose() if content.parent == WORLD else None
        if registry("joints")[content.kind].needs_world:
            X_IP = _place_on_world(content.parent, model, _holds_still(section))
            if X_IP is None:
                text = (
                    f'{content.kind} joint "{joint}" must start at the world; its parent "{content.parent}" is not fixed there'
                )
                report.error(content.where, "not-on-world", text, "give a floating base with `base: floating`")
                return None
        joints.append(_place_joint(name, joint, content, X_WI, X_IP, start))
    return joints


def _place_on_world(link: str, model: Model, base_fixed: bool) -> Pose | None:
    """X_IL of a link that fixed joints hold in the instance's frame; None of one that moves."""
    carried_by = {j.child: j for j in model.joints.values()}
    X = Pose()
    while link != WORLD:
        if link not in carried_by:
            return X if base_fixed else None
        joint = carried_by[link]
        if registry("joints")[joint.kind].moves:
            return None
        X = compose(joint.X_PF, X)
        link = joint.parent
    return X


def _place_joint(name: str, joint: str, content: ModelJoint, X_WI: Pose, X_IP: Pose | None, start: "_Start") -> Joint:
    """The joint under its full name; X_IP is given where it starts at the world."""
    kind: JointKind = registry("joints")[content.kind]
    on_world = X_IP is not None
    X_PF = compose(X_WI, compose(X_IP, content.X_PF)) if on_world else content.X_PF
    q0 = start.q.get(joint, content.start or kind.neutral)
    if kind.needs_world:
        if joint not in start.q:
            q0 = (*X_PF.p, *X_PF.q)
        X_PF = Pose()  # as base_joint: the coordinates are the pose in the world
    return Joint(
        name=f"{name}/{joint}",
        kind=content.kind,
        parent=WORLD if on_world else f"{name}/{content.parent}",
        child=f"{name}/{content.child}",
        X_PF=X_PF,
        axis=content.axis,
        q0=q0,
        qd0=start.qd.get(joint, (0.0,) * kind.nv),
        damping=content.damping,
        armature=content.armature,
        friction=content.friction,
        limit=content.limit,
        mimic=replace(content.mimic, joint=f"{name}/{content.mimic.joint}") if content.mimic is not None else None,
        collide=content.collide,
        where=content.where,
        stiffness=content.stiffness,
        reference=content.reference,
        axis2=content.axis2,
        pitch=content.pitch,
        locked=content.locked,
    )


class _Start:
    """Initial coordinates `q` and velocities `qd` by joint name, as an instance gives them."""

    def __init__(self, section: Section, model: Model, report: Report):
        self.report, self.section, self.model = report, section, model
        self.q: dict[str, tuple[float, ...]] = {}
        self.qd: dict[str, tuple[float, ...]] = {}
        for key, store in (("joint_q", self.q), ("joint_q_deg", self.q), ("joint_qd", self.qd)):
            for joint, value in section.get(key, {}).items():
                self.read(key, store, joint, value, section[key].where(joint))

    def read(self, key: str, store: dict, joint: str, value: Any, where: Where) -> None:
        kind = self.kind_of(joint, where)
        if kind is None or (isinstance(value, Items) and not value.complete):
            return
        names, units = (kind.v_names, kind.v_units) if key == "joint_qd" else (kind.q_names, kind.q_units)
        numbers = [v for _, v in value] if isinstance(value, Items) else [value]
        if len(numbers) != len(units):
            what = f"{len(units)} ({listing(names)})" if units else "none: the joint is fixed"
            text = f"found {len(numbers)} numbers for a {kind.name} joint; allowed: {what}"
            self.report.error(where, "wrong-length", text)
            return
        if key == "joint_q_deg":
            if any(u != "rad" for u in units):
                text = f"coordinates of a {kind.name} joint are not angles"
                self.report.error(where, "wrong-unit", text, "give it under `joint_q`")
                return
            numbers = [math.radians(v) for v in numbers]
        other = "velocity" if key == "joint_qd" else "pose"
        if joint in store:
            text = f'joint "{joint}" stands under `joint_q` and under `joint_q_deg`'
            self.report.error(where, "exclusive-keys", text, "remove one of them")
        elif joint == BASE and self.section.given(other):
            text = f"the floating base is given twice: here and by `{other}`"
            self.report.error(where, "exclusive-keys", text, "remove one of them")
        store[joint] = self.on_manifold(numbers, kind, key, where)

    def on_manifold(self, numbers: list[float], kind: JointKind, key: str, where: Where) -> tuple[float, ...]:
        """The coordinates with their quaternion, if they have one, normalised."""
        if key == "joint_qd" or "qw" not in kind.q_names:
            return tuple(numbers)
        i = kind.q_names.index("qx")
        q = read_quaternion(tuple(numbers[i : i + 4]), where, self.report)
        return (*numbers[:i], *normalised(q), *numbers[i + 4 :])

    def kind_of(self, joint: str, where: Where) -> JointKind | None:
        """The kind of a joint of the instance, or None with an error, or None where it is known to be unknown."""
        model = self.model
        if joint in model.joints:
            return registry("joints").get(model.joints[joint].kind)
        if joint == BASE and model.roots:
            return registry("joints").get(self.section.get("base", ""))
        if joint not in model.joint_names:
            known = (*model.joint_names, *([BASE] if model.roots else []))
            text = f'unknown joint "{joint}"; joints of model {model.name}: {listing(known)}'
            self.report.error(where, "unknown-name", text, did_you_mean(joint, known))
        return None
