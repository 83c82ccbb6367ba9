"""sapsim's own scene files: YAML text -> Scene, or all faults in one pass (contract 1).

The order of links, joints and shapes is that of the file; `instances` and `bodies` follow one another as they stand
there.
"""

from collections.abc import Sequence
from pathlib import Path

from sapsim.scene.actuators import read_actuators
from sapsim.scene.built_shapes import build_shapes
from sapsim.scene.constraint_checks import check_constraints
from sapsim.scene.constraints import read_constraints, with_mimics
from sapsim.scene.expectations import read_expect, read_forces
from sapsim.scene.grammar import INVALID, Section
from sapsim.scene.inertia_policy import settle_inertias
from sapsim.scene.instances import Placed, name_shapes, place_instance
from sapsim.scene.keys import SCENE
from sapsim.scene.locking import still_locked
from sapsim.scene.materials import Materials, read_materials, read_shapes
from sapsim.scene.model_files import read_any_model
from sapsim.scene.names import Names
from sapsim.scene.overrides import apply_overrides
from sapsim.scene.physical import check_masses
from sapsim.scene.repeat import place_body
from sapsim.scene.report import Report
from sapsim.scene.series import SeriesReader
from sapsim.scene.settings import read_contact, read_output, read_solver, read_steps, read_worlds
from sapsim.scene.sources import Sources
from sapsim.scene.spec import WORLD, Scene, Shape, Where
from sapsim.scene.unused import warn_of_unenforced
from sapsim.scene.yaml_loader import parse

SUFFIXES = (".yaml", ".yml")
MAX_PAIRS = 2_000_000  # that an entry of `filter` may stand for


def read(text: str, file: str, overrides: Sequence[str], sources: Sources, report: Report) -> Scene | None:
    """The scene that a text describes, sound where `report` has no errors; None where it cannot be read at all."""
    root_node = parse(text, file, report)
    if root_node is None:
        return None
    apply_overrides(root_node, SCENE, overrides, report)
    root = SCENE.parse(root_node, Where(file, root_node.line, root_node.column), report)
    if root is INVALID:
        return None
    return _scene(root, text, file, tuple(overrides), sources, report)


def _scene(root: Section, text: str, file: str, overrides: tuple[str, ...], sources: Sources, report: Report) -> Scene:
    materials = read_materials(root, sources)
    names = Names()
    placed = _place_all(root, materials, names, sources, report)
    nworld, seed = read_worlds(root)
    links, joints = tuple(placed.links), tuple(placed.joints)
    series = SeriesReader(sources, report)
    scene = Scene(
        name=_name(root, file, report),
        file=file,
        time_step=root.get("time_step", 0.0),
        steps=read_steps(root, report),
        gravity=root.get("gravity", (0.0, 0.0, -9.81)),
        contact=read_contact(root),
        solver=read_solver(root),
        links=links,
        joints=joints,
        world_shapes=_world_shapes(root, materials, report),
        forces=read_forces(root.get("forces"), names, series, report),
        actuators=read_actuators(root.get("actuators"), placed.actuators, names, joints, series, report),
        constraints=with_mimics(read_constraints(root.get("constraints"), names, joints, report), joints, report),
        filters=_filters(root, placed.filters, names, report),
        nworld=nworld,
        seed=seed,
        output=read_output(root, nworld, report),
        expect=read_expect(root.get("expect", []), names, joints, nworld, report),
        text=text,
        overrides=overrides,
    )
    scene = settle_inertias(still_locked(scene, report), report)
    check_masses(scene, report)
    scene = build_shapes(scene, sources.geometry, report)
    warn_of_unenforced(scene.joints, report)
    if not report.errors:
        check_constraints(scene, report)
    return scene


def _name(root: Section, file: str, report: Report) -> str:
    """The scene's name, which also names the default output file."""
    name = root.get("name", "stdin" if file == "<stdin>" else Path(file).stem)
    if "/" in name or "\0" in name:
        report.error(root.where("name"), "bad-name", f'"{name}" cannot name a file', "leave out slashes")
    return name


def _place_all(root: Section, materials: Materials, names: Names, sources: Sources, report: Report) -> Placed:
    models = {name: read_any_model(name, m, materials, sources, report) for name, m in root.get("models", {}).items()}
    known = set(root["models"].places) if "models" in root else set()
    names.all_open = root.broken("instances", "bodies")
    _check_default_materials(root, materials, report)
    places: dict[str, Where] = {}
    placed = Placed()
    for key in root:
        if key not in ("instances", "bodies"):
            continue
        for name, where in root[key].places.items():
            good = names.add_group(name, where, places, report)
            section = root[key].get(name)
            unread = key == "instances" and section is not None and section.get("model") in known - set(models)
            if section is None or unread or not good:
                names.open_groups.add(name)
            elif key == "instances":
                _append(
                    placed, place_instance(name, section, None if root.broken("models") else models, materials, names, report)
                )
            else:
                _append(placed, place_body(name, section, materials, names, report))
    return placed


def _append(placed: Placed, more: Placed) -> None:
    placed.links.extend(more.links)
    placed.joints.extend(more.joints)
    placed.filters.extend(more.filters)
    placed.actuators.extend(more.actuators)


def _check_default_materials(root: Section, materials: Materials, report: Report) -> None:
    """`material` of models and instances must be known, whether or not a shape uses it."""
    for key in ("models", "instances"):
        for section in root.get(key, {}).values():
            if "material" in section:
                materials.find(section["material"], section.where("material"), report)


def _world_shapes(root: Section, materials: Materials, report: Report) -> tuple[Shape, ...]:
    items = root.get("world", {}).get("collision", [])
    return name_shapes(read_shapes(items, materials, report), WORLD)


def _filters(root: Section, of_models: list[tuple[str, str]], names: Names, report: Report) -> tuple[tuple[str, str], ...]:
    """Pairs of links that are never tested, each once, names in order: those of models, then those of the scene."""
    pairs = {(a, b) if a < b else (b, a): None for a, b in of_models}
    for where, pair in root.get("filter", []):
        sides = [names.expand(name, place, report) for place, name in pair]
        if not pair.complete:
            continue
        first, second = sides
        if len(first) * len(second) > MAX_PAIRS:
            text = f"this makes {len(first) * len(second)} pairs of links; at most {MAX_PAIRS} are allowed"
            report.error(where, "too-large", text, "see `collision` and `self_collision`")
            continue
        for x in first:
            for y in second:
                if x != y:
                    pairs[(x, y) if x < y else (y, x)] = None
    return tuple(pairs)
