"""Models: links and joints before they are placed, and the rules of their tree (contract 1.2).

A format turns its own text into `Model`s; `instances.py` places them.  So a new model format writes only the first
half.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sapsim.kinds.base import JointKind, registry
from sapsim.scene.grammar import Items, Section
from sapsim.scene.inertials import read_inertial
from sapsim.scene.limits import read_limit
from sapsim.scene.materials import Materials, read_shapes
from sapsim.scene.poses import as_vec3, read_pose
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import WORLD, Actuator, Inertial, Limit, Mimic, Pose, Shape, UnbuiltShape, Vec3, Where

AXIS2: Vec3 = (0.0, 1.0, 0.0)  # the second axis where the file gives none
PARALLEL = 1.0e-6  # two unit vectors whose cross product is shorter are one direction


@dataclass
class ModelLink:
    """A link of a model, under its name in the model.

    A shape whose file names no material has `material_name` ""; placing the model gives it one.  `shapes` also holds
    those that could only be named.
    """

    inertial: Inertial
    shapes: tuple[Shape | UnbuiltShape, ...]
    where: Where
    inertial_where: Where


@dataclass
class ModelJoint:
    """A joint of a model; `parent` may be WORLD, the frame in which the instance stands."""

    kind: str
    parent: str
    child: str
    X_PF: Pose
    axis: Vec3
    damping: float
    armature: float
    collide: bool
    where: Where
    stiffness: float = 0.0
    reference: float = 0.0
    axis2: Vec3 = AXIS2
    pitch: float = 0.0
    friction: float = 0.0
    limit: Limit = field(default_factory=Limit)
    mimic: Mimic | None = None
    start: tuple[float, ...] | None = None  # coordinates where an instance gives none; None: neutral
    locked: bool = False


@dataclass
class Model:
    """Links and joints by name, in the order of the file.

    `roots` are the links that are nobody's child; `sound` is False where a fault makes the tree unknown, so that
    nothing more can be said about its bodies.  `link_names` and `joint_names` also hold what could not be read.
    """

    name: str
    where: Where
    links: dict[str, ModelLink] = field(default_factory=dict)
    joints: dict[str, ModelJoint] = field(default_factory=dict)
    link_names: tuple[str, ...] = ()
    joint_names: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    sound: bool = True
    known: bool = True  # False where not even the names could be read
    tree_known: bool = True  # False where it cannot be said which links are roots
    from_file: bool = (
        False  # whether a file describes it; then `base: fixed` is also allowed where its joints start at the world
    )
    policy: str = "error"  # what is done about impossible inertias (inertia_policy.py)
    filters: tuple[tuple[str, str], ...] = ()  # pairs of links that are never tested
    actuators: tuple[Actuator, ...] = ()  # under names of the model
    defaults: Section | None = None  # material, gravity, collision, self_collision, velocity

    @property
    def from_world(self) -> bool:
        """Whether a joint starts at the world."""
        return any(j.parent == WORLD for j in self.joints.values())


def read_model(name: str, section: Section, materials: Materials, report: Report) -> Model:
    """A Model from an entry of `models`."""
    model = Model(name, section.where(), defaults=section, policy=section.get("inertia", "error"))
    links: Section | None = section.get("links")
    joints: Section | None = section.get("joints")
    if links is None or section.broken("joints"):
        model.sound = model.known = False
        return model
    model.link_names = tuple(links.places)
    model.joint_names = tuple(joints.places) if joints is not None else ()
    if not links.places:
        report.error(section.where("links"), "no-links", "a model without links", "add a link")
    for link, content in links.items():
        model.links[link] = _read_link(content, materials, model.policy, report)
    for joint, content in (joints or {}).items():
        _read_joint(model, joint, content, report)
    model.sound = model.sound and len(model.links) == len(model.link_names) > 0
    model.sound = model.sound and len(model.joints) == len(model.joint_names)
    check_tree(model, links.places, report)
    _check_names(model, links, joints, report)
    return model


def _check_names(model: Model, links: Section, joints: Section | None, report: Report) -> None:
    if WORLD in model.link_names:
        report.error(links.where(WORLD), "reserved-name", 'a link cannot be named "world"', "choose another name")
        model.sound = False
        model.roots = ()
    if "base" in model.joint_names and model.roots and joints is not None:
        text = 'a joint named "base" in a model with a root: that is the name of the joint that carries the root'
        report.error(joints.where("base"), "duplicate-name", text, "choose another name")


def _read_link(section: Section, materials: Materials, policy: str, report: Report) -> ModelLink:
    items = section.get("collision", Items())
    shapes = read_shapes(items, materials, report)
    complete = items.complete and len(shapes) == len(items) and not section.broken("collision")
    inertial = read_inertial(section.get("inertial"), shapes, complete and _all_given(items), report, policy != "error")
    if section.broken("inertial"):
        inertial = Inertial(mass=math.nan)
    where = section.where("inertial")
    return ModelLink(inertial, shapes, section.where(), where)


def _all_given(items: Items) -> bool:
    """Whether no pose among the shapes was refused, so that mass properties can be taken from them."""
    return not any(s.broken("pose") for _, s in items)


def _read_joint(model: Model, name: str, section: Section, report: Report) -> None:
    """Read one joint; the model is not sound where its type or its ends are unknown."""
    ends = []
    for key in ("parent", "child"):
        end = section.get(key, "")
        known = end in model.link_names or (end == WORLD and key == "parent")
        if end and not known:
            allowed = (WORLD, *model.link_names) if key == "parent" else model.link_names
            text = f'unknown {key} "{end}"; links of model {model.name}: {listing(allowed)}'
            if end == WORLD:
                text = f'"world" cannot be a child; links of model {model.name}: {listing(allowed)}'
            report.error(section.where(key), "unknown-name", text, did_you_mean(end, allowed))
        model.sound = model.sound and known
        ends.append(end if known else "")
    if "type" not in section:
        model.sound = False
        kind = None
    else:
        kind = registry("joints")[section["type"]]
        if kind.needs_world and ends[0] not in (WORLD, ""):
            text = f'a {kind.name} joint must have the parent "world"; found "{ends[0]}"'
            report.error(section.where("parent"), "not-on-world", text, "give a floating base with `base: floating`")
            model.sound = False
    axis = _read_axis(section, kind, report)
    model.joints[name] = ModelJoint(
        kind=kind.name if kind else "",
        parent=ends[0],
        child=ends[1],
        X_PF=read_pose(section.get("origin"), report),
        axis=axis,
        damping=section.get("damping", 0.0),
        armature=section.get("armature", 0.0),
        collide=section.get("collide", False),
        where=section.where(),
        stiffness=section.get("stiffness", 0.0),
        reference=section.get("reference", 0.0),
        axis2=_read_axis2(section, kind, axis, report),
        pitch=section.get("pitch", 0.0),
        friction=section.get("friction", 0.0),
        limit=read_limit(section.get("limit"), Limit(), kind, report),
        locked=section.get("locked", False) and kind is not None and kind.moves,
    )
    if kind is not None:
        _check_keys(section, kind, report)


def _check_keys(section: Section, kind: JointKind, report: Report) -> None:
    """Refuse a spring on a joint of several coordinates; warn of keys that do nothing."""
    if kind.nv > 1 and section.get("stiffness", 0.0) > 0.0:
        text = f"a {kind.name} joint has {kind.nv} degrees of freedom; `stiffness` needs a joint with one"
        report.error(section.where("stiffness"), "not-one-dof", text, "remove it, or chain joints of one degree of freedom")
    for key in ("axis", "damping", "friction", "armature", "stiffness", "reference", "locked"):
        unused = not kind.uses_axis if key == "axis" else kind.nv == 0
        if key in section and unused:
            report.warn(section.where(key), "no-effect", f"`{key}` has no effect on a {kind.name} joint", "remove it")
    for key in ("axis2", "pitch"):
        if key in section and key not in kind.own_keys:
            report.warn(section.where(key), "no-effect", f"`{key}` has no effect on a {kind.name} joint", "remove it")
    if "pitch" in kind.own_keys and not section.given("pitch"):
        text = f"a {kind.name} joint without `pitch` has pitch 0: it turns and does not advance"
        report.warn(section.where(), "no-pitch", text, "give `pitch` [m/rad]")


def _read_axis(section: Section, kind: JointKind | None, report: Report) -> Vec3:
    default = kind.default_axis if kind else (1.0, 0.0, 0.0)
    return _unit(section, "axis", default, kind is None or kind.uses_axis, report)


def _read_axis2(section: Section, kind: JointKind | None, axis: Vec3, report: Report) -> Vec3:
    """The second axis of a joint that has one; it must differ from the first, or the joint turns about one axis only."""
    has_one = kind is not None and "axis2" in kind.own_keys
    axis2 = _unit(section, "axis2", AXIS2, has_one, report)
    known = not section.broken("axis", "axis2") and all(any(section.get(key, AXIS2)) for key in ("axis", "axis2"))
    if has_one and known:
        x, y, z = (axis[i - 2] * axis2[i - 1] - axis[i - 1] * axis2[i - 2] for i in range(3))
        if math.hypot(x, y, z) < PARALLEL:
            given = section.where("axis2") if "axis2" in section else section.where()
            text = f"`axis2` {_shown(axis2)} lies along `axis` {_shown(axis)}; a {kind.name} joint needs two directions"
            report.error(given, "parallel-axes", text, f"the default of `axis2` is {[int(a) for a in AXIS2]}")
    return axis2


def _shown(axis: Vec3) -> str:
    return "[" + ", ".join(f"{a:g}" for a in axis) + "]"


def _unit(section: Section, key: str, default: Vec3, needed: bool, report: Report) -> Vec3:
    """A direction, normalised; the default where it has no length."""
    axis = section.get(key, default)
    norm = math.hypot(*axis)
    if norm == 0.0:
        if needed:
            text = f"found {list(axis)}; an axis needs a direction"
            report.error(section.where(key), "zero-axis", text, f"leave it away for {[int(a) for a in default]}")
        return default
    return axis if norm == 1.0 else as_vec3([a / norm for a in axis])


def check_tree(model: Model, links: Mapping[str, Where], report: Report) -> None:
    """Find the roots; refuse two parents of a link, cycles, and two roots (contract 1.2).  `links`: the places of all links."""
    parent_joint: dict[str, str] = {}
    for name, joint in model.joints.items():
        other = parent_joint.get(joint.child)
        if other is not None and joint.child:
            text = f'link "{joint.child}" is the child of two joints: {other} and {name}'
            report.error(joint.where, "two-parents", text, "a model is a tree; close loops with a constraint")
            model.sound = False
            continue
        parent_joint[joint.child] = name
    _check_cycles(model, parent_joint, report)
    if not all(j.child for j in model.joints.values()) or len(model.joints) < len(model.joint_names):
        model.sound = model.tree_known = False
        return  # where a joint's child is unknown, a link may only seem to be a root
    model.roots = tuple(link for link in model.link_names if link not in parent_joint)
    if len(model.roots) > 1:
        names = " and ".join(f'"{r}"' for r in model.roots)
        text = f"model {model.name} has {len(model.roots)} roots: {names} are nobody's child; one is allowed"
        report.error(links[model.roots[1]], "two-roots", text, "join them with a joint, or make two models")
    model.sound = model.sound and len(model.roots) <= 1


def _check_cycles(model: Model, parent_joint: Mapping[str, str], report: Report) -> None:
    done: set[str] = set()
    for start in model.link_names:
        path: list[str] = []
        link = start
        while link and link not in done and link in parent_joint:
            done.add(link)
            path.append(link)
            link = model.joints[parent_joint[link]].parent
        if link in path:
            loop = path[path.index(link) :][::-1]
            closing = max((parent_joint[x] for x in loop), key=list(model.joints).index)
            joints = ", ".join(parent_joint[x] for x in loop)
            text = f"joints {joints} form a cycle through links {' -> '.join([loop[-1], *loop])}"
            report.error(model.joints[closing].where, "joint-cycle", text, "close loops with a constraint")
            model.sound = False
        done.update(path)
