"""Evaluation of `expect` entries against values that are known from the stand-in simulation's formulas."""

import math

import pytest
from fake_simulation import FakeSimulation, H, scene
from recording import record

from sapsim.record.expect import channel_of, evaluate
from sapsim.record.reader import open_run
from sapsim.record.writer import Recorder
from sapsim.scene.spec import Expect

END = 0.4  # s: 40 steps of 0.01 s
# target, name, quantity, at, value; balls fall from 1 m, turn about z at 2 rad/s, and each ground force is the weight
VALUES = [
    ("link", "ball1", "position.x", "end", 1.0),
    ("link", "ball0", "position.z", "end", 1 - 4.905 * END**2),
    ("link", "ball0", "position.z", 0.1, 1 - 4.905 * 0.01),
    ("link", "ball0", "position.z", 0.0, 1.0),
    ("link", "ball0", "velocity.z", 0.2, -9.81 * 0.2),
    ("link", "ball0", "angular_velocity.z", "all", 2.0),
    ("link", "ball0", "rotation.angle", 0.3, 0.6),
    ("link", "ball1", "contact_force.z", "end", 2 * 9.81),
    ("link", "ball1", "contact_force.x", "end", 0.0),
    ("link", "ball1", "contact_count", "end", 1),
    ("link", "ball1", "contact_count", 0.02, 0),
    ("link", "ball1", "depth_max", 0.2, 20e-3),
    ("world", "", "contact_count", "end", 2),
    ("world", "", "contact_force.z", "end", -3 * 9.81),
    ("world", "", "depth_max", "end", 40e-3),
    ("solver", "", "converged_fraction", "end", 1.0),
    ("solver", "", "converged_fraction", "all", 1.0),
    ("solver", "", "iterations_mean", 0.1, 2.0),
    ("solver", "", "iterations_max", "all", 2),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("expect") / "run.h5"
    record(path)
    with open_run(path) as opened:
        yield opened


@pytest.mark.parametrize("target, name, quantity, at, value", VALUES)
def test_quantity(run, target, name, quantity, at, value):
    # 1e-12: values go through a handful of roundings of numbers of order 10
    good = Expect(target, name, quantity, at, value=value, atol=1e-12)
    bad = Expect(target, name, quantity, at, value=value + 1e-6, atol=1e-9)
    results = evaluate(run, [good, bad])
    assert [r.passed for r in results] == [True, False]
    assert results[0].found == pytest.approx(value, abs=1e-12)


def test_all_takes_the_worst_row(run):
    lowest = 1 - 4.905 * END**2
    entry = Expect("link", "ball0", "position.z", "all", min=lowest + 0.1)
    (result,) = evaluate(run, [entry])
    assert not result.passed and result.found == pytest.approx(lowest) and "0.4 s" in result.where
    (result,) = evaluate(run, [Expect("link", "ball0", "position.z", "all", min=lowest, max=1.0)])
    assert result.passed


def test_contact_quantities_begin_with_the_first_step(run):
    """Row 0 has no step, so an entry about all steps does not fail on its zero."""
    (result,) = evaluate(run, [Expect("link", "ball0", "depth_max", "all", max=0.04)])
    assert result.passed and result.found == 0.04
    (result,) = evaluate(run, [Expect("link", "ball0", "contact_count", "all", min=1)])
    assert not result.passed and f"{H} s" in result.where


@pytest.mark.parametrize(
    "bounds, found, passed",
    [
        ({"value": 2.0, "rtol": 1e-3}, 2.0, True),
        ({"value": 2.1, "rtol": 0.04}, 2.0, False),
        ({"value": 2.1, "rtol": 0.05}, 2.0, True),
        ({"min": 2.0}, 2.0, True),
        ({"min": 2.01}, 2.0, False),
        ({"min": 2.01, "atol": 0.02}, 2.0, True),
        ({"max": 1.99}, 2.0, False),
        ({"min": 1.0, "max": 3.0}, 2.0, True),
    ],
)
def test_tolerances(run, bounds, found, passed):
    (result,) = evaluate(run, [Expect("link", "ball0", "angular_velocity.z", "end", **bounds)])
    assert result.found == found and result.passed == passed


def test_worlds(tmp_path):
    record(tmp_path / "run.h5", nworld=3, worlds=(0, 2))
    one = {"target": "link", "name": "ball0", "quantity": "position.x", "at": "end", "atol": 1e-12}
    with open_run(tmp_path / "run.h5") as run:
        results = evaluate(
            run,
            [
                Expect(**one, value=0.002, worlds=(2,)),
                Expect(**one, value=0.0, worlds=(0,)),
                Expect(**one, value=0.0),
                Expect(**one, value=0.0, worlds=(1,)),
            ],
        )
    assert [r.passed for r in results] == [True, True, False, False]
    assert "world 2" in results[2].where and "not recorded" in results[3].where and results[3].found is None


def test_converged_fraction_counts_rows(tmp_path):
    record(tmp_path / "run.h5", failing={0: 31})
    entries = [
        Expect("solver", "", "converged_fraction", "end", value=0.75, atol=1e-12),
        Expect("solver", "", "converged_fraction", 0.3, value=1.0),
        Expect("solver", "", "converged_fraction", "all", value=0.75, atol=1e-12),
    ]
    with open_run(tmp_path / "run.h5") as run:
        assert all(r.passed for r in evaluate(run, entries))


def test_iterations_up_to_a_row(tmp_path):
    """The stand-in says 2 in every step; here step k says k."""
    sim = FakeSimulation(scene(steps=4))
    recorder = Recorder(str(tmp_path / "run.h5"), sim)
    recorder.put(sim.initial())
    block = sim.advance(4)
    block.iterations[...] = [[3], [1], [4], [2]]
    recorder.put(block)
    recorder.close("complete")
    entries = [
        Expect("solver", "", "iterations_mean", 2 * H, value=2.0),
        Expect("solver", "", "iterations_max", 2 * H, value=3),
        Expect("solver", "", "iterations_mean", "end", value=2.5),
        Expect("solver", "", "iterations_max", "all", value=4),
        Expect("solver", "", "iterations_max", "all", max=3),
    ]
    with open_run(tmp_path / "run.h5") as run:
        assert [r.passed for r in evaluate(run, entries)] == [True, True, True, True, False]


def test_not_a_number_is_never_allowed(tmp_path):
    sim = FakeSimulation(scene(steps=1))
    recorder = Recorder(str(tmp_path / "run.h5"), sim)
    recorder.put(sim.initial())
    block = sim.advance(1)
    block.body_q[...] = math.nan
    recorder.put(block)
    recorder.close("complete")
    with open_run(tmp_path / "run.h5") as run:
        (result,) = evaluate(run, [Expect("link", "ball0", "position.z", "end", max=math.inf)])
    assert not result.passed


def test_a_run_that_ended_early_has_no_end(tmp_path):
    record(tmp_path / "run.h5", 5, status="interrupted", upto=20)
    entry = {"target": "link", "name": "ball0", "quantity": "position.z", "max": 1.0}
    with open_run(tmp_path / "run.h5") as run:
        end, late, early = evaluate(run, [Expect(**entry), Expect(**entry, at=0.3), Expect(**entry, at=0.2)])
    assert not end.passed and "ended early" in end.where and end.found is None
    assert not late.passed and "no row at 0.3" in late.where
    assert early.passed


def test_joint_quantities(tmp_path):
    """A joint of one coordinate; here the first coordinate of a floating joint stands in for it."""
    record(tmp_path / "run.h5")
    entries = [
        Expect("joint", "ball1/base", "q", "end", value=1.0, atol=1e-12),
        Expect("joint", "ball1/base", "qd", "end", value=0.0),
    ]
    with open_run(tmp_path / "run.h5") as run:
        assert all(r.passed for r in evaluate(run, entries))


def test_energy_is_that_of_all_forms_from_row_0_on(tmp_path):
    """The stand-in says 4 + t, -3 t and 0.5 J."""
    record(tmp_path / "run.h5", channels=("energy",))
    entries = [
        Expect("world", "", "energy", "end", value=4.5 - 2 * END, atol=1e-12),
        Expect("world", "", "energy", 0.0, value=4.5, atol=1e-12),
        Expect("world", "", "energy", "all", min=4.5 - 2 * END - 1e-12, max=4.5),
        Expect("world", "", "energy", "all", max=4.4),
    ]
    with open_run(tmp_path / "run.h5") as run:
        assert [r.passed for r in evaluate(run, entries)] == [True, True, True, False]


@pytest.mark.parametrize(
    "quantity, channel",
    [
        ("position.x", "state"),
        ("q", "state"),
        ("contact_force.z", "contacts"),
        ("converged_fraction", "solver"),
        ("iterations_mean", "solver"),
        ("energy", "energy"),
    ],
)
def test_entries_name_their_channel(quantity, channel):
    assert channel_of(Expect("link", "ball0", quantity, value=0.0)) == channel


def test_a_channel_that_is_not_there_fails_the_entry(tmp_path):
    record(tmp_path / "run.h5", channels=("solver",))
    entries = [Expect("link", "ball0", "position.z", value=0.0), Expect("link", "ball0", "contact_count", value=0)]
    with open_run(tmp_path / "run.h5") as run:
        assert [r.where for r in evaluate(run, entries)] == [
            "channel state was not recorded",
            "channel contacts was not recorded",
        ]
