"""`validate` passes on real robots, fixed and floating, in both precisions, and they agree with Pinocchio."""

from importlib.metadata import distribution
from pathlib import Path

import pytest

from sapsim.scene.read import load_model
from sapsim.validate.base import TOLERANCE
from sapsim.validate.report import validate

FOLDER = Path(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
ROBOTS = {
    "panda": "panda_description/urdf/panda.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
}


def robot(name: str, base: str):
    return load_model(str(FOLDER / ROBOTS[name]), base=base)


def failures(report) -> list[str]:
    return [f"{c.name} {c.worst:.2e} at {c.where}" for c in report.checks if not c.passed]


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_robot(name, base, precision):
    """Tolerances of the contract: 1e-10 and 1e-4 in the norm of momentum."""
    scene = robot(name, base)
    found = validate(scene, samples=5, precision=precision, against="pinocchio")
    assert failures(found) == [] and found.nbody == len(scene.links)


@pytest.mark.slow
@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_robot_on_many_states(name, base, precision):
    assert failures(validate(robot(name, base), samples=100, precision=precision, against="pinocchio")) == []
