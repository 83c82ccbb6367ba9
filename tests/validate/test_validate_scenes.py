"""`validate` passes on every scene of scenes/, in both precisions."""

from pathlib import Path

import pytest

from sapsim.scene.read import load
from sapsim.validate.base import TOLERANCE
from sapsim.validate.report import validate

SCENES = sorted((Path(__file__).parents[2] / "scenes").glob("*.yaml"))


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("path", SCENES, ids=lambda p: p.stem)
def test_scene(path, precision):
    found = validate(load(str(path)), samples=20, precision=precision)
    assert [f"{c.name} {c.worst:.2e} at {c.where}" for c in found.checks if not c.passed] == []
