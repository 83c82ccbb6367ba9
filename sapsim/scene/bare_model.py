"""A model file by itself, as a scene: one robot in an empty world, for `validate` and `info` (contract 2).

Names are those of the file, without an instance in front.  No collision geometry is built: shapes are only named.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from sapsim.errors import SceneError
from sapsim.kinds.base import registry
from sapsim.scene.actuators import bounded
from sapsim.scene.built_shapes import build_shapes
from sapsim.scene.formats import model_formats
from sapsim.scene.grammar import Section
from sapsim.scene.inertia_policy import POLICIES, settle_inertias
from sapsim.scene.instances import Placed, place_instance
from sapsim.scene.materials import Materials
from sapsim.scene.model_files import read_model_file
from sapsim.scene.models import Model
from sapsim.scene.names import Names
from sapsim.scene.physical import check_masses
from sapsim.scene.report import Report, listing
from sapsim.scene.resolved import resolved_text
from sapsim.scene.sources import sources_of_model
from sapsim.scene.spec import WORLD, Actuator, Joint, Link, Material, Scene, Shape, UnbuiltShape, Where
from sapsim.scene.xml_tree import parse_xml
from sapsim.scene.yaml_loader import MAX_BYTES

BASES = ("fixed", "floating")
XACRO = ".xacro"
SHARED = ".xml"  # a suffix of several formats
TIME_STEP = 1.0e-3  # [s]; a scene needs one, and none is taken


def is_model_file(path: str | Path) -> bool:
    """Whether a file's suffix is that of a model format, or of what makes models."""
    return Path(path).suffix.lower() in (*model_formats(), XACRO)


def load_model(
    path: str | Path,
    *,
    base: str | None = None,
    packages: Mapping[str, str | Path] | None = None,
    strict: bool = False,
    inertia: str = "error",
) -> Scene:
    """Read a model file as a scene of its own.

    Args:
        path: the file; its suffix chooses the format.
        base: how the root stands in the world, "fixed" (default) or "floating"; a model whose joints start at the
            world can only be fixed.
        packages: folders of `package://` names; others are looked for in ROS_PACKAGE_PATH, AMENT_PREFIX_PATH and the
            file's own ancestors.
        strict: whether warnings are faults.
        inertia: "error", "estimate" or "fix": what is done about impossible inertias; what is put in is a warning.

    The Scene has one step, gravity, no world shapes; `extra["base"]` is the base.  Raises SceneError with all faults.
    Warnings are in `scene.warnings`.
    """
    report = Report()
    scene = _read(Path(path), base, packages or {}, inertia, report)
    errors = report.errors + (report.warnings if strict else [])
    if errors or scene is None:
        raise SceneError(errors, report.warnings)
    scene = without_geometry(replace(scene, warnings=tuple(report.warnings)))
    return replace(scene, resolved=resolved_text(scene))


def _read(path: Path, base: str | None, packages: Mapping[str, str | Path], inertia: str, report: Report) -> Scene | None:
    where = Where(str(path))
    formats = model_formats()
    module = _format_of(path, formats)
    if module is None:
        text = f'files with suffix "{path.suffix}" are no models that can be read; supported: {listing(sorted(formats))}'
        hint = "expand it first: xacro robot.urdf.xacro > robot.urdf" if path.suffix.lower() == XACRO else ""
        report.error(where, "unknown-format", text, hint)
        return None
    for key, value, allowed in (("base", base or BASES[0], BASES), ("inertia", inertia, POLICIES)):
        if value not in allowed:
            report.error(where, "unknown-value", f'{key} "{value}" is not known; allowed: {listing(allowed)}')
            return None
    sources = sources_of_model(str(path), packages, report)
    model = read_model_file(path, "", where, module, Material(), sources, report)
    model.policy = inertia
    own_base = getattr(module, "OWN_BASE", False)
    if own_base and not _accept_base(model, base, report):
        return None
    placed = _place(model, None if own_base else base, report)
    if placed is None:
        return None
    scene = Scene(
        model.name,
        str(path),
        TIME_STEP,
        1,
        links=tuple(placed.links),
        joints=tuple(placed.joints),
        filters=tuple(placed.filters),
        actuators=bounded(placed.actuators, {joint.name: joint for joint in placed.joints}),
        extra={"base": _stands(model) if own_base else base or BASES[0]},
    )
    scene = settle_inertias(scene, report)
    check_masses(scene, report)
    return build_shapes(scene, False, report)


def _format_of(path: Path, formats: Mapping[str, ModuleType]) -> ModuleType | None:
    """The format of a file: by its suffix, and where that is shared, as .xml is, by the root element."""
    module = formats.get(path.suffix.lower())
    if module is None or path.suffix.lower() != SHARED or not path.is_file():
        return module
    found = parse_xml(path.read_bytes()[: MAX_BYTES + 1], str(path), Report())
    by_root = {m.ROOT: m for m in formats.values() if hasattr(m, "ROOT")}
    return by_root.get(found.tag, module) if found is not None else module


def _stands(model: Model) -> str:
    """How a model that brings its own base stands: whether a body of it floats."""
    floats = any(registry("joints")[joint.kind].needs_world for joint in model.joints.values() if joint.kind)
    return BASES[1] if floats else BASES[0]


def _accept_base(model: Model, base: str | None, report: Report) -> bool:
    """Whether the base that was asked for is the one that the file brings."""
    if not model.known or base in (None, _stands(model)):
        return True
    text = f"the base cannot be {base}: the file itself says how its bodies stand, and they are {_stands(model)}"
    report.error(model.where, "base-not-allowed", text, "leave --base away")
    return False


def _place(model: Model, base: str | None, report: Report) -> Placed | None:
    """The model's links and joints in the world; None where it is not sound."""
    if not model.known:
        return None
    if base == "floating" and model.sound and model.from_world:
        joints = listing([name for name, j in model.joints.items() if j.parent == WORLD])
        text = f"the base cannot float: the robot is joined to the world, by {joints}"
        report.error(model.where, "base-not-allowed", text, "remove link world, or leave --base away")
        return None
    values = {"model": model.name, "base": base or "fixed"}
    instance = Section(model.where, values, dict.fromkeys(values, model.where))
    placed = place_instance(model.name, instance, {model.name: model}, Materials(Material(), {}, ()), Names(), report)
    return _unprefixed(placed, model.name)


def _unprefixed(placed: Placed, instance: str) -> Placed:
    """The same under the model's own names."""
    start = len(instance) + 1

    def own(name: str) -> str:
        return name if name == WORLD else name[start:]

    def link(x: Link) -> Link:
        shapes = tuple(_own_shape(s, x.name, own(x.name)) for s in x.shapes)
        unbuilt = tuple(_own_shape(s, x.name, own(x.name)) for s in x.unbuilt)
        return replace(x, name=own(x.name), shapes=shapes, unbuilt=unbuilt)

    def joint(x: Joint) -> Joint:
        mimic = replace(x.mimic, joint=own(x.mimic.joint)) if x.mimic is not None else None
        return replace(x, name=own(x.name), parent=own(x.parent), child=own(x.child), mimic=mimic)

    def drive(x: Actuator) -> Actuator:
        return replace(x, name=own(x.name), joint=own(x.joint))

    filters = [(own(a), own(b)) for a, b in placed.filters]
    drives = [drive(a) for a in placed.actuators]
    return Placed([link(x) for x in placed.links], [joint(x) for x in placed.joints], filters, drives)


def _own_shape(shape, link: str, own: str):
    """A shape that is named after its link takes the link's own name."""
    return replace(shape, name=own + shape.name[len(link) :]) if shape.name.startswith(f"{link}/") else shape


def without_geometry(scene: Scene) -> Scene:
    """The scene with its links' collision shapes named only, and without those of the world."""

    def named(shape: Shape) -> UnbuiltShape:
        return UnbuiltShape(shape.name, shape.kind, "", shape.where)

    links = [replace(x, shapes=(), unbuilt=(*map(named, x.shapes), *x.unbuilt)) for x in scene.links]
    return replace(scene, links=tuple(links), world_shapes=())
