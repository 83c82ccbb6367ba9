"""A figure stands only where every step of every run was sound; runs alternate; medians come with their extremes."""

import numpy as np
import pytest

from sapsim.bench import measure as measuring
from sapsim.bench.cases import Wishes, make_cases
from sapsim.bench.engine import Fault, Seen
from sapsim.cli.bench import _cells, _exit_code


class Fake:
    """An engine whose runs take what it is told and fail when it is told."""

    REQUIREMENT = PACKAGE = "fake"
    version, device, precision, threads, boxes = "1", "cpu", "float64", 1, ""

    def __init__(self, name="sapsim", seen=None, fault_at=None, start=0.0, log=None):
        self.NAME, self.seen, self.fault_at, self.start = name, seen or Seen(2.0, 3.0, 1.0), fault_at, start
        self.log = [] if log is None else log
        self.runs = 0

    def restart(self):
        self.log.append((self.NAME, "restart"))

    def advance(self, n):
        self.log.append((self.NAME, n))
        self.runs += 1

    def observe(self, n):
        return self.seen

    def fault(self):
        return Fault("failed", "not finite") if self.fault_at is not None and self.runs >= self.fault_at else None

    def poses(self):
        return np.full((1, 3, 4), self.start)


@pytest.fixture(scope="module")
def case():
    return make_cases(["S2"], [4], Wishes(steps=50))[0]


def test_runs_alternate_from_the_initial_state(case):
    log = []
    engines = [Fake("sapsim", log=log), Fake("drake", log=log)]
    rows = measuring.measure(case, [], engines=engines, runs=2)
    a, b = ([(name, "restart"), (name, 50)] for name in ("sapsim", "drake"))
    assert log == [*a, *b, *a, *b]
    assert [row.void for row in rows] == ["", ""]


def test_at_rest_runs_go_on(case):
    log = []
    measuring.measure(case, [], engines=[Fake(log=log)], runs=2, rest=0.3)
    assert log == [("sapsim", 300), ("sapsim", 50), ("sapsim", 50)]


def test_the_figures_of_a_row(case, monkeypatch):
    """Median, extremes, and world-steps/s = worlds / step."""
    times = iter([(3.0, 30.0), (1.0, 10.0), (2.0, 20.0)])
    monkeypatch.setattr(measuring, "timed", lambda advance, n: next(times))
    row = measuring.measure(case, [], engines=[Fake()], runs=3)[0]
    assert (row.us_per_step, row.us_min, row.us_max, row.wall_us_per_step) == (2.0, 1.0, 3.0, 20.0)
    assert row.world_steps_per_second == 4 * 1e6 / 2.0
    assert (row.contacts_mean, row.iterations_mean, row.converged_fraction) == (2.0, 3.0, 1.0)


@pytest.mark.parametrize(
    "engine, kind, code",
    [
        (Fake(seen=Seen(1.0, 1.0, 0.98)), "unconverged", 3),
        (Fake(fault_at=0), "failed", 4),
        (Fake(fault_at=2), "failed", 4),  # in the second timed run
    ],
    ids=["unconverged", "at once", "later"],
)
def test_a_fault_voids_the_figure(case, engine, kind, code):
    row = measuring.measure(case, [], engines=[engine, Fake("drake")], runs=3)[0]
    assert row.fault == kind and row.void
    assert [row.us_per_step, row.us_min, row.us_max, row.world_steps_per_second, row.wall_us_per_step] == [None] * 5
    assert _exit_code([row]) == code
    cells = _cells(row.as_dict())
    assert "void" in cells and row.void in cells


def test_a_fault_of_a_peer_is_not_ours(case):
    rows = measuring.measure(case, [], engines=[Fake(), Fake("drake", fault_at=1)], runs=3)
    assert [row.fault for row in rows] == ["", "failed"] and _exit_code(rows) == 0


def test_engines_that_start_elsewhere_are_a_bug(case):
    with pytest.raises(RuntimeError, match="drake does not start"):
        measuring.measure(case, [], engines=[Fake(), Fake("drake", start=1e-6)], runs=1)
