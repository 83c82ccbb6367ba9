"""YAML as sapsim reads it: scalars of YAML 1.2, places of nodes, bounds."""

import math

import pytest
import yaml

from sapsim.scene import yaml_loader
from sapsim.scene.report import Report
from sapsim.scene.yaml_loader import parse, resolve_plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-6", 1e-6),
        ("1E6", 1e6),
        ("1.", 1.0),
        (".5", 0.5),
        ("-0.5e+3", -500.0),
        ("012", 12),
        ("+7", 7),
        ("0x1F", 31),
        ("0o17", 15),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("true", True),
        ("False", False),
        ("", None),
        ("~", None),
        ("null", None),
        ("yes", "yes"),
        ("on", "on"),
        ("No", "No"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("1e", "1e"),
        ("e5", "e5"),
        (".", "."),
        ("1.2.3", "1.2.3"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("0.5m", "0.5m"),
        ("tRUE", "tRUE"),
    ],
)
def test_plain_scalars_follow_the_core_schema(text, value):
    found = resolve_plain(text)
    assert type(found) is type(value)
    assert found == value


def test_not_a_number_is_one():
    assert math.isnan(resolve_plain(".nan"))


def tree(node):
    """A node tree as plain data with every place."""
    place = (node.line, node.column)
    if node.kind == "map":
        return place, {k: (tree(node.keys[k]), tree(v)) for k, v in node.value.items()}
    return place, [tree(v) for v in node.value] if node.kind == "seq" else (type(node.value).__name__, node.value, node.text)


TEXT = """# a comment
a: {b: [1, 'two', "3"], "quoted key": !!float 4}
anchor: &x
  - 1e-6
  - {deep: [true, ~]}
again: *x
text: |
  two
  lines
? complex
: é 5
!!str 6: !!str 7
"""


def test_places_and_values():
    root = parse(TEXT, "f.yaml", Report())
    a = root.value["a"]
    assert (root.keys["a"].line, root.keys["a"].column) == (2, 1)
    assert (a.line, a.column, a.kind) == (2, 4, "map")
    two = a.value["b"].value[1]
    assert (two.line, two.column, two.value) == (2, 12, "two")
    assert a.value["b"].value[2].value == "3"
    assert type(a.value["quoted key"].value) in (int, float)
    assert root.value["text"].value == "two\nlines\n"
    assert root.value["6"].value == "7"
    # an alias is a tree of its own, at the places of its anchor
    again, anchor = root.value["again"], root.value["anchor"]
    assert again is not anchor and again.value[0] is not anchor.value[0]
    assert tree(again) == tree(anchor)
    assert (again.value[0].line, again.value[0].value) == (4, 1e-6)


def test_both_parsers_of_pyyaml_give_the_same_tree():
    # a PyYAML without libyaml has one parser only
    parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    fast = yaml_loader._Composer(TEXT, "f.yaml", Report(), parser).document()
    slow = yaml_loader._Composer(TEXT, "f.yaml", Report(), yaml.SafeLoader).document()
    assert tree(fast) == tree(slow)


def test_every_duplicate_key_is_reported_with_both_lines():
    report = Report()
    root = parse("a: 1\nb: {c: 1, c: 2}\na: 2\n", "f.yaml", report)
    assert [(e.line, e.column, e.code) for e in report.errors] == [(2, 11, "duplicate-key"), (3, 1, "duplicate-key")]
    assert "line 1" in report.errors[1].message and "line 3" in report.errors[1].message
    assert root.value["a"].value == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: !!int x", "bad-tag"),
        ("a: !mine {}", "bad-tag"),
        ("!!python/object/apply:os.system ['true']", "bad-tag"),
        ("? [1, 2]\n: 3", "yaml-syntax"),
        ("a: *nothing", "yaml-syntax"),
        ("a: 'open", "yaml-syntax"),
        ("a: b: c", "yaml-syntax"),
        ("%YAML 9.9\n---\na: 1", "yaml-syntax"),
    ],
)
def test_what_cannot_be_read(text, code):
    report = Report()
    parse(text, "f.yaml", report)
    assert [e.code for e in report.errors] == [code]
    assert report.errors[0].line >= 1 and report.errors[0].column >= 1


def test_size_and_number_of_nodes_are_bounded(monkeypatch):
    report = Report()
    monkeypatch.setattr(yaml_loader, "MAX_BYTES", 10)
    assert yaml_loader.decode(b"x" * 11, "f.yaml", report) is None
    assert yaml_loader.decode(b"x" * 10, "f.yaml", report) == "x" * 10
    monkeypatch.setattr(yaml_loader, "MAX_NODES", 5)
    parse("[1, 2, 3, 4, 5]", "f.yaml", report)
    parse("[1, 2, 3, 4]", "g.yaml", report)
    assert [(e.file, e.code) for e in report.errors] == [("f.yaml", "too-large"), ("f.yaml", "too-large")]


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert yaml_loader.decode("\ufeffa: 1".encode(), "f.yaml", Report()) == "a: 1"
