"""`validate` passes on real robots, fixed and floating, in both precisions, and they agree with Pinocchio.

How the files are read is compared with Pinocchio's own reading in tests/scene/test_urdf_robots.py.
"""

import os
from importlib.metadata import distribution
from pathlib import Path

import pytest

from sapsim.errors import SceneError
from sapsim.scene.read import load_model
from sapsim.validate.base import TOLERANCE
from sapsim.validate.report import validate

SAMPLES = int(os.environ.get("SAPSIM_ROBOT_SAMPLES", "10"))
FOLDER = Path(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
ROBOTS = {
    "panda": "panda_description/urdf/panda.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
}


# Left out for their licences.
LEFT_OUT = ("alex_description", "icub_description")
FILES = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.urdf") if p.relative_to(FOLDER).parts[0] not in LEFT_OUT)
# Links of which `inertia: fix` changes the mass properties.
FINGERS = [f"{side}{finger}Link" for side in "LR" for finger in ("Finger13", "Finger23", "Finger33", "Thumb3")]
FIXED = {
    "romeo_description/urdf/romeo.urdf": FINGERS,
    "romeo_description/urdf/romeo_laas_small.urdf": [
        "l_gripper", "r_gripper", "LShoulderYaw_link", "LElbowYaw_link", "LHipPitch_link", "RHipPitch_link",
    ],
    "romeo_description/urdf/romeo_small.urdf": ["RShoulderYawLink", "RElbowYawLink"],
}  # fmt: skip


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


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("file", FIXED)
def test_an_impossible_robot_is_fixed_and_says_where(file, base):
    scene = load_model(str(FOLDER / file), base=base, inertia="fix")
    told = [w for w in scene.warnings if w.code == "inertia-fixed"]
    expected = FIXED[file] + ["body"] * (base == "floating" and "laas" in file)  # its root is impossible, too
    assert sorted(w.message.split('"')[1] for w in told) == sorted(expected)
    assert all(w.line > 0 and ' joint "' in w.message and "; put in: " in w.message for w in told)
    assert failures(validate(scene, samples=5, against="pinocchio")) == []


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("file", FILES)
def test_every_robot(file, base):
    """It is refused with link and joint named, or passes every check and is Pinocchio's.

    SAPSIM_ROBOT_SAMPLES=1000 draws as many states as a release should; the default keeps CI within its time.
    """
    try:
        scene = load_model(str(FOLDER / file), base=base)
    except SceneError as refused:
        for error in refused.errors:
            named = '"' in error.message and "joint" in error.message
            assert error.line > 0 and (named or error.code in ("base-not-allowed", "no-links"))
        if file not in FIXED:
            assert refused.errors[0].code in ("base-not-allowed", "no-links")
            return
        scene = load_model(str(FOLDER / file), base=base, inertia="fix")
    assert failures(validate(scene, samples=SAMPLES)) == []
    assert failures(validate(scene, samples=max(3, SAMPLES // 10), seed=1, against="pinocchio")) == []
