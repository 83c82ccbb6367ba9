"""The standard scenes with robots: their numbers, and their motion beside Drake's and MuJoCo's."""

import numpy as np
import pytest

from sapsim.bench.cases import Wishes, make_cases
from sapsim.bench.engine import Unfit
from sapsim.bench.own import Engine as Own
from sapsim.bench.peers import drake, mujoco, pinocchio
from sapsim.bench.robots import HUMANOID, PANDA, SOLO, RobotFile
from sapsim.bench.scenes import left_out
from sapsim.errors import UsageError


def only(name):
    return make_cases([name], [None], Wishes())[0]


def test_the_files_are_there():
    assert all(file.find() for file in (PANDA, SOLO, HUMANOID)) and left_out(["S1", "S5", "S6quad", "S6hum", "x.yaml"]) == {}


def test_sizes():
    """Degrees of freedom, drives, limits (two to a hinge), pairs of shapes."""
    found = {}
    for name in ("S5", "S6quad", "S6hum"):
        scene, model = only(name).scene()
        limits = sum(np.isfinite([j.limit.lower, j.limit.upper]).sum() for j in scene.joints)
        found[name] = (model.sizes["nv"], sum(a.has_gains for a in scene.actuators), limits)
    assert found == {"S5": (7, 7, 14), "S6quad": (18, 12, 24), "S6hum": (27, 0, 42)}


def test_panda_numbers():
    scene, model = only("S5").scene()
    assert model.q0 == pytest.approx([0, -0.3, 0, -1.8, 0, 1.6, 0.5]) and not any(model.qd0) and model.sizes["npair"] == 0
    assert [a.kp for a in scene.actuators] == [600] * 4 + [250, 150, 50]
    assert [a.kd for a in scene.actuators] == [50] * 4 + [20, 15, 5]
    assert [a.target for a in scene.actuators] == [0.4, 0.1, -0.3, -1.4, 0.3, 1.9, 0.8]
    assert [a.highest for a in scene.actuators] == [87] * 4 + [12] * 3  # the robot's own


def test_solo_numbers():
    scene, model = only("S6quad").scene()
    assert [s.params for link in scene.links for s in link.shapes] == [(0.016,)] * 4
    assert model.q0[:7] == pytest.approx([0, 0, 0.26, 0, 0, 0, 1])
    targets = [0.1, 0.8, -1.6, -0.1, 0.8, -1.6, 0.1, -0.8, 1.6, -0.1, -0.8, 1.6]
    assert model.q0[7:] == pytest.approx(targets) and [a.target for a in scene.actuators] == targets
    assert {(a.kp, a.kd) for a in scene.actuators} == {(8.0, 0.2)}


def test_humanoid_numbers():
    scene, model = only("S6hum").scene()
    assert model.q0[2] == pytest.approx(1.282) and not any(model.qd0)
    assert {s.kind for link in scene.links for s in link.shapes} == {"plane", "sphere", "capsule"}
    assert {s.material.friction for link in scene.links for s in link.shapes} == {0.5}
    assert sum(link.inertial.mass for link in scene.links) == pytest.approx(40.84, abs=0.01)


def test_a_humanoid_of_balls_has_the_ends_of_its_capsules():
    scene, model = only("S6humballs").scene()
    limp, _ = only("S6hum").scene()
    balls = [shape for link in scene.links for shape in link.shapes if shape.kind == "sphere"]
    capsules = [shape for link in limp.links for shape in link.shapes if shape.kind == "capsule"]
    spheres = [shape for link in limp.links for shape in link.shapes if shape.kind == "sphere"]
    assert len(balls) == 2 * len(capsules) + len(spheres) and len(capsules) == 16
    radii = sorted([2 * c.params[:1] for c in capsules] + [s.params for s in spheres])
    assert sorted(b.params[0] for b in balls) == pytest.approx(sorted(r for params in radii for r in params))
    # the first thigh-like pair of ends is as far apart as its capsule is long
    by_link = {link.name: [s for s in link.shapes if s.kind == "sphere"] for link in scene.links}
    for link in limp.links:
        if [s.kind for s in link.shapes] == ["capsule"]:
            a, b = (np.array(s.X_LG.p) for s in by_link[link.name])
            assert np.linalg.norm(b - a) == pytest.approx(link.shapes[0].params[1])
    assert model.sizes["nv"] == 27 and [x.inertial for x in scene.links] == [x.inertial for x in limp.links]


def advanced(name: str, steps: int, *peers) -> list[np.ndarray]:
    made = only(name)
    engines = [Own(made, "cpu"), *(peer(made) for peer in peers)]
    for e in engines:
        e.advance(steps)
        assert e.fault() is None
    return [e.poses() for e in engines]


@pytest.mark.parametrize("name, steps", [("S5", 2000), ("S6quad", 1000)])
def test_the_same_motion_as_in_drake(name, steps):
    """Arm and quadruped to the end.  Both solvers stop at a relative residual of 1e-6, often at the same iterate: 1e-6 m."""
    own, peer = advanced(name, steps, drake.Engine)
    assert np.abs(own - peer).max() < 1e-6


def test_nearly_the_same_motion_as_in_mujoco():
    """The arm: kp at the step's start in MuJoCo, h v kp / A of the rate; 5 mm under way, and the same place at the end."""
    own, peer = advanced("S5", 100, mujoco.Engine)
    assert 1e-5 < np.abs(own - peer).max() < 5e-3
    own, peer = advanced("S5", 2000, mujoco.Engine)
    assert np.abs(own - peer).max() < 1e-6


def test_the_quadruped_flies_as_in_mujoco():
    """Until the feet touch, and with the feet at rest where the drives hold them: round-off."""
    own, peer = advanced("S6quad", 50, mujoco.Engine)
    assert np.abs(own - peer).max() < 1e-9


def test_the_humanoid_falls_beside_the_others():
    """Its first tenth of a second has contacts between its own limbs, where Drake has one point for two of ours.

    3 cm, later 15 cm: what one point for two, and softer contacts, make of a fall from 1.3 m to 0.25 m.
    """
    own, d, m = advanced("S6hum", 100, drake.Engine, mujoco.Engine)
    assert np.abs(own - d).max() < 0.03 and np.abs(own - m).max() < 0.03
    own, d, m = advanced("S6hum", 2000, drake.Engine, mujoco.Engine)
    assert np.abs(own - d).max() < 0.15 and np.abs(own - m).max() < 0.15
    assert own[0, 2, 3] == pytest.approx(0.23, abs=0.05) and own[:, 2, 3].min() > 0.0


def test_pinocchio_has_no_solver_for_them():
    for name, reason in (("S5", "joint limits"), ("S6quad", "without contact"), ("S6hum", "without contact")):
        with pytest.raises(Unfit, match=reason):
            pinocchio.Engine(only(name))


def test_a_missing_package_leaves_its_scene_out(monkeypatch, capsys):
    from sapsim.cli.bench import _without

    gone = RobotFile("no-such-package", "robot.urdf")
    assert gone.find() is None and RobotFile(PANDA.package, "no/such.urdf").find() is None
    monkeypatch.setattr(RobotFile, "find", lambda self: None)
    told = left_out(["S1", "S5", "S6hum"])
    assert list(told) == ["S5", "S6hum"]
    assert told["S5"] == "S5 is left out: it needs the package example-robot-data: pip install example-robot-data"
    assert _without(["S1", "S5", "S6hum"], told) == ["S1"]
    assert "S6hum is left out: it needs the package mujoco-warp" in capsys.readouterr().err
    with pytest.raises(UsageError, match="S5 is left out"):
        _without(["S5"], left_out(["S5"]))
