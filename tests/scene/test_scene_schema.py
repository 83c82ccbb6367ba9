"""`sapsim schema`: a valid schema, written from the reader's grammar, that accepts and refuses what the reader does."""

from pathlib import Path

import jsonschema
import pytest

from sapsim.errors import SceneError
from sapsim.scene import grammar, keys, scalars
from sapsim.scene.document import page
from sapsim.scene.grammar import Record
from sapsim.scene.read import loads
from sapsim.scene.report import Report
from sapsim.scene.schema import _WRITERS, is_later, named_types, schema
from sapsim.scene.yaml_loader import parse

ROOT = Path(__file__).parents[2]
SCENES = sorted((ROOT / "scenes").glob("*.yaml"))
CHECKER = jsonschema.Draft202012Validator(schema())

GOOD = """
sapsim: 1
time_step: 0.001
steps: 10
contact: {law: sap, default_material: {stiffness: 1.0e+5}}
solver: {islands: false}
materials: {rubber: {friction: 0.7}}
models:
  arm:
    links: {base: {inertial: {mass: 1}, collision: [{sphere: 0.1}]}, tip: {inertial: {mass: 1}, collision: [{box: [1, 1, 1]}]}}
    joints: {j: {type: revolute, parent: base, child: tip, axis: [0, 0, 1]}}
instances:
  arm: {model: arm, base: floating, joint_q: {j: 0.5}, pose: {xyz: [0, 0, 1], rpy_deg: [0, 0, 90]}}
bodies:
  ball: {sphere: 0.05, mass: 1.0, pose: {xyz: [5, 0, 1]}}
world: {collision: [{plane: {}}]}
constraints:
  rope: {type: distance, a: {link: ball}, b: {link: world, point: [5, 0, 2]}, length: 1, stiffness: .inf, unilateral: true}
  seam: {type: weld, a: {link: arm/tip, point: [5, 0, 0], rpy_deg: [0, 0, 0]}, b: {link: ball}}
forces: {push: {link: ball, force: [1, 0, 0], from: 0.0, until: 1.0e+300}}
worlds: {count: 2}
output: {every: 5, worlds: all, channels: [state]}
expect: [{link: ball, quantity: position.z, at: end, min: 0}, {solver: true, quantity: converged_fraction, at: 0.005, value: 1}]
"""
# What replaces what, to make it bad.
BAD = {
    "unknown key": ("steps: 10", "steps: 10\nfrictoin: 1"),
    "missing key": ("time_step: 0.001\n", ""),
    "another version": ("sapsim: 1", "sapsim: 2"),
    "neither steps nor duration": ("steps: 10\n", ""),
    "steps and duration": ("steps: 10", "steps: 10\nduration: 0.01"),
    "word for a number": ("time_step: 0.001", "time_step: fast"),
    "negative": ("mass: 1.0", "mass: -1.0"),
    "zero length": ("sphere: 0.05", "sphere: 0"),
    "a mesh without a file": ("sphere: 0.05", "mesh: {as: hull}"),
    "an unknown use of a mesh": ("sphere: 0.05", "mesh: {file: a.stl, as: box}"),
    "two shapes": ("sphere: 0.05,", "sphere: 0.05, box: [1, 1, 1],"),
    "no shape": ("sphere: 0.05, ", ""),
    "mass and density": ("mass: 1.0", "mass: 1.0, density: 5"),
    "short list": ("axis: [0, 0, 1]", "axis: [0, 1]"),
    "unknown law": ("law: sap", "law: rigid"),
    "unknown joint": ("type: revolute", "type: magnetic"),
    "a fraction of a step": ("steps: 10", "steps: 1.5"),
    "two rotations": ("rpy_deg: [0, 0, 90]", "rpy_deg: [0, 0, 90], rpy: [0, 0, 1]"),
    "not supported yet": ("worlds: {count: 2}", "worlds: {vary: {gravity: {values: []}}}"),
    "unknown linear solver": ("solver: {islands: false}", "solver: {linear_solver: cholesky}"),
    "a list for a mapping": ("materials: {rubber: {friction: 0.7}}", "materials: [rubber]"),
    "value and min": ("value: 1}", "value: 1, min: 0}"),
    "a string for a flag": ("solver: true", "solver: maybe"),
    "a key for later": ("world:", "include: [a.yaml]\nworld:"),
    "a weld without an end": (", b: {link: ball}}", "}"),
    "a constraint without a type": ("type: distance, ", ""),
    "an unknown constraint": ("type: distance", "type: rope"),
    "a key of another constraint": ("unilateral: true", "ratio: 2"),
    "a soft constraint below zero": ("stiffness: .inf", "stiffness: -1"),
    "an empty name": ("rubber:", '"":'),
}


def plain(text: str):
    """The data of a YAML text by the reader's own loader, so that scalars are those of YAML 1.2."""
    report = Report()
    node = parse(text, "scene.yaml", report)
    assert report.errors == []

    def value(node):
        if node.kind == "map":
            return {key: value(child) for key, child in node.value.items()}
        return [value(child) for child in node.value] if node.kind == "seq" else node.value

    return value(node)


def faults(text: str) -> list[str]:
    return [f"{list(e.absolute_path)}: {e.message[:100]}" for e in CHECKER.iter_errors(plain(text))]


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$schema"].endswith("2020-12/schema")


@pytest.mark.parametrize("path", SCENES, ids=lambda p: p.stem)
def test_scenes_are_accepted(path):
    assert faults(path.read_text("utf-8")) == []


def test_a_scene_with_most_keys_is_accepted():
    assert loads(GOOD).steps == 10
    assert faults(GOOD) == []


@pytest.mark.parametrize("old, new", BAD.values(), ids=BAD)
def test_what_the_reader_refuses_the_schema_refuses(old, new):
    assert GOOD.count(old) == 1
    text = GOOD.replace(old, new)
    with pytest.raises(SceneError):
        loads(text)
    assert faults(text) != []


def test_every_type_of_the_grammar_is_written():
    types = {
        name
        for module in (grammar, scalars)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, grammar.Type) and value is not grammar.Type
    }
    assert types - set(_WRITERS) == set()


def test_every_supported_key_is_described():
    """Sections of the schema have the keys of the grammar, and each says what it means."""
    written = schema()
    for name, type_ in named_types().items():
        if not isinstance(type_, Record):
            continue
        section = written if type_ is keys.SCENE else written["$defs"][name.lower()]
        assert set(section["properties"]) == {k for k, key in type_.keys.items() if not is_later(key.type)}, name
    assert written["$defs"]["contact"]["properties"]["margin"]["x-unit"] == "m"
    assert written["$defs"]["solver"]["properties"]["max_iterations"]["default"] == 100
    assert written["properties"]["gravity"]["default"] == [0.0, 0.0, -9.81]


def test_the_page_of_the_scene_file_is_current():
    """Write it with `python -m sapsim.scene.document > docs/scene_file.md`."""
    assert (ROOT / "docs" / "scene_file.md").read_text("utf-8") == page()
