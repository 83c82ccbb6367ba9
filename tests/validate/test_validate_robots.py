"""Every check passes on random mechanisms of every registered joint, with the base fixed and floating, in both precisions;
and the
mechanisms agree with Pinocchio's."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import KINDS, random_tree

from sapsim.dynamics import Dynamics
from sapsim.errors import UsageError
from sapsim.scene.spec import Scene
from sapsim.validate import report as report_module
from sapsim.validate.base import TOLERANCE, find_checks
from sapsim.validate.report import validate


def failures(report) -> list[str]:
    return [f"{c.name} {c.worst:.2e} at {c.where}" for c in report.checks if not c.passed]


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("root", ["floating", "fixed", "revolute"])
@pytest.mark.parametrize("seed", range(3))
def test_random_trees(seed, root, precision):
    """All checks and Pinocchio at the tolerances of the precision, the contract's 1e-10 and 1e-4 in the norm of momentum."""
    found = validate(random_tree(seed, root), samples=10, seed=seed, precision=precision, against="pinocchio")
    assert failures(found) == []
    names = [c.name for c in found.checks]
    assert len(names) >= 16 and sum("pinocchio" in name for name in names) == 4


@pytest.mark.parametrize("precision", TOLERANCE)
def test_thirty_degrees_of_freedom(precision):
    """B55: a floating tree of some thirty degrees of freedom."""
    found = validate(random_tree(5, "floating", 26), samples=10, precision=precision)
    assert found.nv >= 25 and failures(found) == []
    assert max(c.worst for c in found.checks if c.tolerance == TOLERANCE[precision]) > 0.0


def test_other_gravity_for_other_trees():
    """A tree that feels no gravity beside one that does, in Pinocchio too, which knows one gravity only."""
    scene = random_tree(1, "floating")
    weightless = random_tree(2, "fixed")
    links = [replace(k, name=f"other/{k.name}", gravity=False) for k in weightless.links]
    joints = [
        replace(
            j,
            name=f"other/{j.name}",
            parent=j.parent if j.parent == "world" else f"other/{j.parent}",
            child=f"other/{j.child}",
        )
        for j in weightless.joints
    ]
    both = replace(scene, links=(*scene.links, *links), joints=(*scene.joints, *joints))
    assert failures(validate(both, samples=10, against="pinocchio")) == []


def test_a_scene_without_bodies_passes():
    found = validate(Scene("empty", "", 1.0e-3, 1), samples=3)
    assert (found.nq, found.nv, found.nbody, found.passed) == (0, 0, 0, True)


def test_the_same_seed_gives_the_same_report():
    scene = random_tree(3, "floating")
    first, second, other = (validate(scene, samples=5, seed=s) for s in (1, 1, 2))
    assert first == second and first != other


def test_checks_are_found_by_their_place():
    names = [c.name for c in find_checks()]
    assert names == sorted(names) and {"aba_rnea", "rnea_crba", "gravity", "external_force", "armature"} <= set(names)


def test_the_page_names_every_check_and_its_script_runs():
    page = (Path(__file__).parents[2] / "docs" / "validate.md").read_text("utf-8")
    assert [c.name for c in find_checks() if f"| `{c.name}` |" not in page] == []
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(script, {})


def test_a_tolerance_of_ones_own():
    """It takes the place of the precision's, not of those that checks have themselves."""
    found = validate(random_tree(0, "fixed"), samples=3, tolerance=0.0)
    by_name = {c.name: c for c in found.checks}
    assert not found.passed and not by_name["rnea_crba"].passed and by_name["inertia"].tolerance == 1.0e-5


def test_unknown_peers_and_missing_packages_are_named(monkeypatch):
    with pytest.raises(UsageError, match="known are pinocchio"):
        report_module.peer("simbody")
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(UsageError, match="pip install"):
        validate(random_tree(0, "fixed"), samples=1, against="pinocchio")


@pytest.mark.parametrize("root", ["floating", "fixed", "universal"])
def test_random_states_and_their_differences(root):
    """move(q0, difference(q0, q1), 1) places every link as q1 does; difference(q, move(q, v, 1)) = v."""
    dynamics = Dynamics(random_tree(4, root, 20), nworld=8)
    rng = np.random.default_rng(0)
    q0, q1 = dynamics.random(rng), dynamics.random(rng)
    v = dynamics.difference(q0, q1)
    reached, expected = dynamics.forward_kinematics(dynamics.move(q0, v, 1.0)), dynamics.forward_kinematics(q1)
    # round-off of twenty joints in a row, and of turns near a half-turn, which need fast velocities
    assert np.allclose(reached.p, expected.p, atol=1e-11) and np.allclose(reached.R, expected.R, atol=1e-11)
    v = rng.normal(size=v.shape)
    assert np.allclose(dynamics.difference(q1, dynamics.move(q1, v, 1.0)), v, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**31 - 1),
    root=st.sampled_from(["floating", "fixed", *KINDS]),
    joints=st.integers(1, 40),
)
def test_drawn_trees(seed, root, joints):
    """200 trees of 1 to 40 joints of every kind: all identities and Pinocchio, in float64."""
    assert failures(validate(random_tree(seed, root, joints), samples=3, seed=seed, against="pinocchio")) == []
