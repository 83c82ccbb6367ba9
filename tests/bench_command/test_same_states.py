"""Both engines on one path: states and contacts are the same, and what is not makes the row void."""

from dataclasses import replace

import numpy as np
import pytest
from peer_engines import engine

from sapsim.bench.cases import Wishes, make_cases

SMALL = {"rest": 0.3, "steps": 12, "chunk": 5, "runs": 1, "free": False}


@pytest.fixture(scope="module")
def same_states():
    engine("drake")
    from sapsim.bench import same_states

    return same_states


def only(name: str, **wishes):
    return make_cases([name], [None], Wishes(boxes="points", **wishes))[0]


@pytest.mark.parametrize(
    "name, apart",
    [
        ("S2", 1e-12),
        # balls that fall: Drake stops at 1e-6 of the momentum of all, ours at 1e-6 of an island's; m v with v = 3 m/s, 5 steps
        ("S4sph20", 1e-7),
        ("S5", 1e-12),
        ("S6quad", 1e-12),
        ("S6humballs", 1e-12),
    ],
)
def test_steps_are_the_same_in_both_engines(name, apart, same_states):
    row = same_states.measure_same(only(name), **SMALL)
    assert row.void == "" and row.place_apart < apart
    assert row.us > 0.0 and row.drake_us > 0.0 and (row.steps, row.chunk) == (12, 5)
    found = row.as_dict()
    assert found["ratio"] == pytest.approx(row.drake_us / row.us)
    assert found["free_ratio"] is None and (row.contacts > 0.0 or name in ("S5", "S4sph20", "S6humballs"))


def test_boxes_that_meet_in_several_points_make_the_row_void(same_states):
    """S4mix20 by corners, where cubes meet each other by their faces, too, after a second in the bin."""
    case = make_cases(["S4mix20"], [None], Wishes())[0]
    row = same_states.measure_same(case, **(SMALL | {"rest": 1.2}))
    assert "contacts, and" in row.void and row.us is None and row.as_dict()["ratio"] is None


def test_another_motion_makes_the_row_void(same_states):
    """A path whose bodies are said to move 1 mm/s faster than they do."""
    case = only("S2")
    path = same_states.find_path(case, "points", 0.3, 4, 2)
    drake = engine("drake")(case)
    assert same_states.compare(drake, path, 2)[0] == ""
    void, _, velocity = same_states.compare(drake, replace(path, V_WB=path.V_WB + 1e-3), 2)
    assert "m/s from Drake's" in void and velocity == pytest.approx(1e-3, rel=1e-6)
    void, _, _ = same_states.compare(drake, replace(path, contacts=path.contacts + 1), 2)
    assert void == "step 0: 5 contacts, and 4 in Drake"


def test_the_path_is_that_of_one_run(same_states):
    """States one after another, with contacts and iterations of the step between them; restarts change no state."""
    case = only("S3")
    path = same_states.find_path(case, "points", 0.1, 6, 3)
    other = same_states.find_path(case, "points", 0.1, 6, 2)
    assert path.joint_q.shape == (7, 70) and path.joint_qd.shape == (7, 60) and path.X_WB.shape == (6, 10, 3, 4)
    assert np.array_equal(path.joint_q, other.joint_q) and np.array_equal(path.contacts, np.full(6, 40))
    # a stack is one island: Drake's problem is ours
    assert path.iterations == path.drake_iterations == other.drake_iterations
    assert path.X_WB[-1, :, 2, 3] == pytest.approx(path.joint_q[-1].reshape(10, 7)[:, 2], abs=1e-15)


def test_elliptic_cones_are_told_to_mujoco():
    mujoco, elliptic = engine("mujoco"), engine("mujoco_elliptic")
    case = only("S2")
    cones = [int(peer(case).model.opt.cone) for peer in (mujoco, elliptic)]
    assert cones == [0, 1] and elliptic.NAME == "mujoco_elliptic"
