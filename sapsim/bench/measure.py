"""Measuring engines on a case: alternating runs of the same steps, medians with their extremes.

All engines start in the same state, which is checked.  Each makes one run that is not timed, in which it is looked at and warms
up; then come the timed runs, A B A B, each from the initial state again (or, `rest`, all from the state at rest that came
after so many seconds).  A figure stands only where every run of the engine was sound: converged, where it tells, and finite.

On the CPU a figure is process CPU time, which other processes disturb less; on a GPU it is wall time.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sapsim.bench.cases import Case
from sapsim.bench.engine import Engine, Fault, Seen, Unfit
from sapsim.bench.own import Engine as Own

SAME = 1.0e-9  # [m] and entries of rotations: round-off of start states, which are of order one
MICRO = 1.0e6


@dataclass
class Row:
    """One engine on one scene.  Times are of one step of all worlds [us]; None where void, and `void` says why."""

    scene: str
    time_step: float
    law: str
    engine: str
    engine_version: str
    worlds: int
    precision: str
    device: str
    threads: int
    us_per_step: float | None
    us_min: float | None
    us_max: float | None
    world_steps_per_second: float | None
    contacts_mean: float | None
    iterations_mean: float | None
    converged_fraction: float | None
    wall_us_per_step: float | None
    clock: str  # of the first three: "cpu" or "wall"
    boxes: str  # how boxes collide, "" where there is no choice
    steps: int
    runs: int
    rest_seconds: float
    void: str
    fault: str = ""  # kind of the fault that voided it

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Course:
    """An engine under way: times of its runs [us] as (CPU, wall), what was seen, and the first fault."""

    engine: Engine
    seen: Seen
    fault: Fault | None
    times: list[tuple[float, float]] = field(default_factory=list)

    def run(self, steps: int, rest: bool) -> None:
        """One timed run; none after a fault."""
        if self.fault:
            return
        if not rest:
            self.engine.restart()
        self.times.append(timed(self.engine.advance, steps))
        self.fault = self.engine.fault()


def timed(advance: Callable[[int], None], n: int) -> tuple[float, float]:
    """(process CPU, wall) time of a step [us]."""
    wall, cpu = time.perf_counter(), time.process_time()
    advance(n)
    return (time.process_time() - cpu) / n * MICRO, (time.perf_counter() - wall) / n * MICRO


def begin(engine: Engine, steps: int, rest_steps: int) -> Course:
    """Settles, where wanted, and makes the run that is not timed."""
    if rest_steps:
        engine.advance(rest_steps)
    return Course(engine, engine.observe(steps), engine.fault())


def measure(
    case: Case,
    peers: list[type[Engine]],
    *,
    device: str = "cpu",
    precision: str = "float64",
    runs: int = 5,
    rest: float = 0.0,
    engines: list[Engine] | None = None,
) -> list[Row]:
    """Rows of sapsim and then of the peers on a case.  `engines` in the place of sapsim and peers."""
    made: list[Engine] = [] if engines is None else list(engines)
    unfit: dict[str, tuple[type[Engine], str]] = {}
    if engines is None:
        made.append(Own(case, device, precision))
        for peer in peers:
            try:
                made.append(peer(case))
            except Unfit as reason:
                unfit[peer.NAME] = (peer, str(reason))
    require_same_start(made)
    scene, _ = case.scene()
    rest_steps = round(rest / scene.time_step)
    courses = [begin(engine, case.steps, rest_steps) for engine in made]
    for _ in range(runs):
        for course in courses:
            course.run(case.steps, rest_steps > 0)
    rows = [_row(case, course, runs, rest) for course in courses]
    return rows + [_unfit_row(case, peer, reason, rest) for peer, reason in unfit.values()]


def require_same_start(engines: list[Engine]) -> None:
    """Raises RuntimeError where bodies of two engines do not stand in the same places: a fault of a translation."""
    own = engines[0].poses()
    for engine in engines[1:]:
        theirs = engine.poses()
        if theirs.shape != own.shape or np.abs(theirs - own).max(initial=0.0) > SAME:
            raise RuntimeError(f"{engine.NAME} does not start in the state of {engines[0].NAME}")


def _row(case: Case, course: Course, runs: int, rest: float) -> Row:
    engine, seen, fault = course.engine, course.seen, course.fault
    if fault is None and seen.converged is not None and seen.converged < 1.0:
        fault = Fault("unconverged", f"only {seen.converged:.4g} of the steps converged")
    clock = "cpu" if engine.device == "cpu" else "wall"
    figures: dict[str, Any] = dict.fromkeys(("us_per_step", "us_min", "us_max", "world_steps_per_second", "wall_us_per_step"))
    if fault is None:
        cpu, wall = zip(*course.times, strict=True)
        shown = cpu if clock == "cpu" else wall
        median = statistics.median(shown)
        figures = {
            "us_per_step": median,
            "us_min": min(shown),
            "us_max": max(shown),
            "world_steps_per_second": case.nworld * MICRO / median,
            "wall_us_per_step": statistics.median(wall),
        }
    return Row(
        **_names(case, engine, rest),
        **figures,
        engine_version=engine.version,
        precision=engine.precision,
        device=engine.device,
        threads=engine.threads,
        contacts_mean=seen.contacts,
        iterations_mean=seen.iterations,
        converged_fraction=seen.converged,
        clock=clock,
        boxes=engine.boxes,
        runs=runs,
        void=fault.text if fault else "",
        fault=fault.kind if fault else "",
    )


def _unfit_row(case: Case, peer: type[Engine], reason: str, rest: float) -> Row:
    nothing = dict.fromkeys(
        ("us_per_step", "us_min", "us_max", "world_steps_per_second", "contacts_mean", "iterations_mean",
         "converged_fraction", "wall_us_per_step")
    )  # fmt: skip
    words = {"engine_version": "", "precision": "float64", "device": "cpu", "clock": "cpu", "boxes": ""}
    return Row(**_names(case, peer, rest), **nothing, **words, threads=1, runs=0, void=reason, fault="unfit")


def _names(case: Case, engine: Any, rest: float) -> dict[str, Any]:
    scene, _ = case.scene()
    return {
        "scene": case.name,
        "time_step": scene.time_step,
        "law": scene.contact.law,
        "engine": engine.NAME,
        "worlds": case.nworld,
        "steps": case.steps,
        "rest_seconds": rest,
    }
