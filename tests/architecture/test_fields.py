"""The table of device arrays: each is declared once, bound to a stage, and used there."""

import ast
import inspect
import sys

import pytest
from source import ROOT, files, imported_files

from sapsim.dynamics import api
from sapsim.kinds.base import registry
from sapsim.math.real import real
from sapsim.model.document import page
from sapsim.model.fields import FIELDS
from sapsim.solver.forms import FORMS
from sapsim.solver.linear import SOLVERS
from sapsim.step.pipeline import all_stages

R = real("float64")
VARIANTS = [(law, form, linear) for law in registry("contacts") for form in FORMS for linear in SOLVERS]
STEP = {stage.name: stage for variant in VARIANTS for stage in all_stages(R, *variant)}
FUNCTIONS = {stage.name: stage for stage in api.stages(R)}
STAGES = STEP | FUNCTIONS


def test_every_field_is_an_array_of_some_stage():
    """Itself, or as the array under a view in blocks."""
    bound = {name for stage in STAGES.values() for name in stage.struct.array_names}
    bound |= {FIELDS[name].type.split("@")[1] for name in bound if "@" in FIELDS[name].type}
    assert set(FIELDS) - bound == set()


def closure(path: str) -> set[str]:
    """The file and the files of the package that it imports, directly or not."""
    found, todo = set(), [path]
    while todo:
        here = todo.pop()
        if here in found:
            continue
        found.add(here)
        todo += imported_files(here)
    return found


def attributes(path: str) -> set[str]:
    return {node.attr for node in ast.walk(files()[path]) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_a_stage_uses_what_it_takes(stage):
    """Every array and scalar of a stage's struct is named in its file or in one that this imports."""
    module = sys.modules[inspect.unwrap(stage.func.func).__module__]
    path = module.__name__.removeprefix("sapsim.").replace(".", "/") + ".py"
    used = set().union(*(attributes(p) for p in closure(path)))
    assert {*stage.struct.array_names, *(name for name, _ in stage.scalars)} - used == set()


def test_only_the_dynamics_functions_use_the_arrays_of_their_group():
    """A simulation does not allocate them; the field names the function that writes it."""
    own = {f.name: f for f in FIELDS.values() if f.group == "dynamics"}
    assert {f.stage for f in own.values()} <= set(FUNCTIONS)
    assert {name for stage in STEP.values() for name in stage.struct.array_names} & set(own) == set()


def test_array_views_name_an_array():
    for field in FIELDS.values():
        if "@" in field.type:
            base = FIELDS[field.type.split("@")[1]]
            assert base.group == field.group and list(FIELDS).index(base.name) < list(FIELDS).index(field.name)


def test_every_field_says_what_it_is():
    assert [f.name for f in FIELDS.values() if not (f.doc and f.unit and f.frame and f.stage)] == []


def test_the_page_of_arrays_is_current():
    """Write it with `python -m sapsim.model.document > docs/arrays.md`."""
    assert (ROOT / "docs" / "arrays.md").read_text("utf-8") == page()
