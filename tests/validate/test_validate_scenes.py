"""`validate` passes on every scene of scenes/, in both precisions."""

from pathlib import Path

import pytest

from sapsim.scene.read import load, loads
from sapsim.validate.base import TOLERANCE
from sapsim.validate.report import validate

MANY = {"convex_bin"}  # a hundred free bodies: no other mechanism than mixed_bin's twenty, and minutes
SCENES = [path for path in sorted((Path(__file__).parents[2] / "scenes").glob("*.yaml")) if path.stem not in MANY]


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("path", SCENES, ids=lambda p: p.stem)
def test_scene(path, precision):
    found = validate(load(str(path)), samples=20, precision=precision)
    assert [f"{c.name} {c.worst:.2e} at {c.where}" for c in found.checks if not c.passed] == []


STILL = """
models: {m: {links: {a: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}}}}
instances: {m: {model: m, base: fixed}}
"""


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize(
    "content",
    ["", STILL],
    ids=["empty", "fixed"],
)
def test_a_scene_in_which_nothing_moves(content, precision):
    scene = loads(f"sapsim: 1\ntime_step: 0.001\nsteps: 1\n{content}", file="still.yaml")
    found = validate(scene, samples=3, precision=precision)
    assert found.passed and found.nv == 0 and max(c.worst for c in found.checks) <= 0.0
