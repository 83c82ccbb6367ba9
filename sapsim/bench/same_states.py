"""The time of a step of two engines from the very same states, with the very same contacts.

sapsim settles for some seconds; the states that follow, one to a step, are the path.  Both engines make the steps from each
state of the path to the next.  sapsim makes them in one go; Drake starts again from a state of the path every `chunk` steps, so
that round-off has no time to grow.  In a pass that is not timed, Drake's number of contacts is compared with ours in every
state, and its bodies' places and velocities after every step.  Where they differ there is no figure, and the row says why.

Drake does not tell its iterations.  With `islands: false` our solver minimises Drake's problem, all trees at once, from
Drake's guess, by Drake's line search and stop tests: its iterations stand for Drake's.

Beside that (`free`): both engines from the initial state through the seconds in which ours settles, each on its own path.
"""

import statistics
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sapsim.bench.cases import Case
from sapsim.bench.measure import MICRO, timed
from sapsim.bench.own import Engine as Own
from sapsim.bench.peers.drake import Engine as Drake
from sapsim.step.simulation import Simulation

PLACE = 1.0e-7  # [m] and entries of rotations, after a step: depths at rest are 1e-4 m
VELOCITY = 1.0e-4  # [m/s, rad/s]: PLACE in a step of 1 ms
LEAST = 5.0e-3  # [s] of a timed run of ours, which is repeated until it has lasted so long


@dataclass
class SameRow:
    """Both engines on one path.  Times are of one step of one world [us]; None where `void` says why, or not measured.

    Fields:
        contacts: mean number in the states of the path, the same in both.
        iterations, drake_iterations: Newton iterations a step: of sapsim, and of all trees as one island.
        place_apart, velocity_apart: the largest differences of bodies after a step.
        free, drake_free: a step of the run from the initial state, each engine on its own path.
    """

    scene: str
    time_step: float
    law: str
    steps: int
    chunk: int
    contacts: float
    iterations: float
    drake_iterations: float
    us: float | None = None
    us_min: float | None = None
    us_max: float | None = None
    drake_us: float | None = None
    drake_min: float | None = None
    drake_max: float | None = None
    place_apart: float = 0.0
    velocity_apart: float = 0.0
    free: float | None = None
    drake_free: float | None = None
    void: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The fields, and the ratios Drake / sapsim of a step, of an iteration, of the run from the start."""
        us, of = self.us, self.drake_us
        ratio = of / us if us and of else None
        some = min(self.iterations, self.drake_iterations) >= 0.5  # fewer, and a step's time is that of other stages
        per_iteration = us / self.iterations if us and some else None
        drake_per_iteration = of / self.drake_iterations if of and some else None
        both = per_iteration and drake_per_iteration
        return asdict(self) | {
            "ratio": ratio,
            "us_per_iteration": per_iteration,
            "drake_per_iteration": drake_per_iteration,
            "iteration_ratio": drake_per_iteration / per_iteration if both else None,
            "free_ratio": self.drake_free / self.free if self.drake_free and self.free else None,
        }


@dataclass(frozen=True)
class Path:
    """States of sapsim, as files hold them: joint_q (n + 1, nq), joint_qd (n + 1, nv); and of the n steps between them
    the contacts (n,) at their start, the bodies (n, nbody, 3, 4) and twists (n, nbody, 6) [omega; v] at their end, and the mean
    number of iterations of sapsim and of all trees as one island."""

    joint_q: np.ndarray
    joint_qd: np.ndarray
    contacts: np.ndarray
    X_WB: np.ndarray
    V_WB: np.ndarray
    iterations: float
    drake_iterations: float


def recorded(case: Case, boxes: str, *, islands: bool = True) -> Simulation:
    """sapsim with a row to a step, on the CPU."""
    scene, _ = case.scene(boxes)
    output, solver = replace(scene.output, every=1), replace(scene.solver, islands=islands)
    return Simulation(replace(scene, output=output, solver=solver), device="cpu")


def find_path(case: Case, boxes: str, rest: float, steps: int, chunk: int) -> Path:
    """The path after `rest` seconds.  Raises RuntimeError where a step of ours did not converge."""
    simulation = recorded(case, boxes)
    settled = simulation.advance(max(1, round(rest / simulation.scene.time_step)))
    q, qd = [settled.joint_q[-1, 0]], [settled.joint_qd[-1, 0]]
    simulation.set_state(q[0][None], qd[0][None])
    contacts, X, V, iterations, converged = [], [], [], [], bool(settled.converged.all())
    for _ in range(steps):
        row = simulation.advance(1)
        q.append(row.joint_q[0, 0])
        qd.append(row.joint_qd[0, 0])
        contacts.append(int(row.contact_count[0, 0]))
        iterations.append(int(row.iterations[0, 0]))
        converged = converged and bool(row.converged.all())
        X.append(bodies_of(simulation))
        V.append(simulation.arrays["V_WB"].numpy()[0, : X[-1].shape[0]].copy())
    if not converged:
        raise RuntimeError(f"{case.name}: some step of sapsim did not converge")
    q, qd = np.array(q), np.array(qd)
    whole = recorded(case, boxes, islands=False)
    of_drake = []
    for first in range(0, steps, chunk):
        whole.set_state(q[first][None], qd[first][None])
        of_drake += [int(n) for n in whole.advance(min(chunk, steps - first)).iterations[:, 0]]
    return Path(q, qd, np.array(contacts), np.array(X), np.array(V), float(np.mean(iterations)), float(np.mean(of_drake)))


def bodies_of(simulation: Simulation) -> np.ndarray:
    """(nbody, 3, 4) [R_WB, p_WB] of all bodies of world 0."""
    arrays, n = simulation.arrays, simulation.model.sizes["nbody"]
    R, p = arrays["R_WB"].numpy()[0, :n], arrays["p_WB"].numpy()[0, :n]
    return np.concatenate([R, p[:, :, None]], axis=2)


def compare(drake: Drake, path: Path, chunk: int) -> tuple[str, float, float]:
    """What is not the same in Drake ("" where all is), and the largest differences of places and velocities after a step."""
    place = velocity = 0.0
    for i, contacts in enumerate(path.contacts):
        if i % chunk == 0:
            drake.start_from(path.joint_q[i], path.joint_qd[i])
        found = drake.contacts()
        if found != contacts:
            return f"step {i}: {contacts} contacts, and {found} in Drake", place, velocity
        drake.advance(1)
        if fault := drake.fault():
            return f"Drake, step {i}: {fault.text}", place, velocity
        heavy = [b for b, body in enumerate(drake.mechanism.bodies) if body.mass > 0.0]
        place = max(place, float(np.abs(drake.poses() - path.X_WB[i, heavy]).max(initial=0.0)))
        velocity = max(velocity, float(np.abs(drake.twists() - path.V_WB[i, heavy]).max(initial=0.0)))
    if place > PLACE or velocity > VELOCITY:
        return f"after a step bodies are {place:.1e} m and {velocity:.1e} m/s from Drake's", place, velocity
    return "", place, velocity


def time_launch(own: Own, path: Path, n: int) -> float:
    """[us] of the launch of the kernels that make the path's first n steps."""
    simulation, spent = own.simulation, []
    simulation.set_state(path.joint_q[:1], path.joint_qd[:1])
    run = simulation._run
    simulation._run = lambda k: spent.append(timed(run, k)[0] * k)
    try:
        simulation.advance(n)
    finally:
        del simulation._run
    return sum(spent)


def time_own(own: Own, path: Path) -> float:
    """[us] of a step of the path, made in one go: the launch of all steps less that of the first, which pays for arguments.

    Of the first, the shortest of the launches counts, so that what disturbs them does not flatter the figure.
    """
    n, all_steps, first = len(path.contacts), [], []
    while sum(all_steps) < LEAST * MICRO or len(all_steps) < 3:
        first.append(time_launch(own, path, 1))
        all_steps.append(time_launch(own, path, n))
    return (statistics.median(all_steps) - min(first)) / (n - 1)


def time_drake(drake: Drake, path: Path, chunk: int) -> float:
    """[us] of a step of the path, made in chunks from states of ours."""
    total, n = 0.0, len(path.contacts)
    for first in range(0, n, chunk):
        drake.start_from(path.joint_q[first], path.joint_qd[first])
        steps = min(chunk, n - first)
        total += timed(drake.advance, steps)[0] * steps
    return total / n


def time_free(engine: Own | Drake, steps: int) -> float:
    """[us] of a step of the run from the initial state.  Ours is made twice: the first run makes room."""
    if isinstance(engine, Own):
        engine.restart()
        engine.advance(steps)
    engine.restart()
    return timed(engine.advance, steps)[0]


def measure_same(
    case: Case, *, rest: float = 3.0, steps: int = 200, chunk: int = 20, runs: int = 5, free: bool = True
) -> SameRow:
    """sapsim and Drake on one path, in alternating runs; medians with their extremes."""
    boxes = case.one_point
    scene, _ = case.scene(boxes)
    path = find_path(case, boxes, rest, steps, chunk)
    row = SameRow(
        case.name, scene.time_step, scene.contact.law, steps, chunk, float(path.contacts.mean()), path.iterations,
        path.drake_iterations,
    )  # fmt: skip
    drake, own = Drake(case), Own(case, "cpu", boxes=boxes)
    row.void, row.place_apart, row.velocity_apart = compare(drake, path, chunk)
    if row.void:
        return row
    time_own(own, path)  # the first call loads kernels and makes room
    times = [(time_own(own, path), time_drake(drake, path, chunk)) for _ in range(runs)]
    ours, theirs = zip(*times, strict=True)
    row.us, row.us_min, row.us_max = statistics.median(ours), min(ours), max(ours)
    row.drake_us, row.drake_min, row.drake_max = statistics.median(theirs), min(theirs), max(theirs)
    if free:
        settle = max(1, round(rest / scene.time_step))
        row.free, row.drake_free = time_free(own, settle), time_free(drake, settle)
        fault = own.fault() or drake.fault()
        row.void = f"from the start: {fault.text}" if fault else ""
    return row
