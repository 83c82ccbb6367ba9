"""Evaluates the `expect` entries of a scene against its result file (contract 1.8).

An entry names a quantity, rows (`at`: a time, end or all) and worlds; every one of these values must be allowed.  Quantities
of contacts, solver and reactions belong to a step, so row 0 is not one of their rows.  `found` is the value that is farthest
from being allowed.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .reader import Run

Expect = Any  # sapsim.scene.spec.Expect: record does not import scene

AXES = {"x": 0, "y": 1, "z": 2}
CONTACT = ("contact_force", "contact_count", "depth_max")
SOLVER = ("converged_fraction", "iterations_mean", "iterations_max")
REACTION = ("reaction_force", "reaction_torque")
CHANNELS = {"energy": "energy"} | dict.fromkeys(CONTACT, "contacts") | dict.fromkeys(SOLVER, "solver")
CHANNELS |= dict.fromkeys(REACTION, "reactions")


@dataclass(frozen=True)
class Result:
    """What came of one entry: `entry` and `allowed` in words, `found` None where there is no such value."""

    entry: str
    found: float | None
    allowed: str
    passed: bool
    where: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class _Missing(Exception):
    """The file does not hold what the entry asks for."""


def channel_of(entry: Expect) -> str:
    """The output channel that an entry needs."""
    return CHANNELS.get(entry.quantity.split(".")[0], "state")


def evaluate(run: Run, entries: Sequence[Expect]) -> list[Result]:
    """Results of all entries, in order."""
    return [_evaluate(run, entry) for entry in entries]


def allowed(entry: Expect) -> tuple[float, float]:
    """The range of values that an entry allows."""

    def slack(value: float) -> float:
        return entry.atol + entry.rtol * abs(value)

    if entry.value is not None:
        return entry.value - slack(entry.value), entry.value + slack(entry.value)
    low = -np.inf if entry.min is None else entry.min - slack(entry.min)
    high = np.inf if entry.max is None else entry.max + slack(entry.max)
    return low, high


def describe(entry: Expect) -> str:
    """An entry in one line."""
    target = f"{entry.target} {entry.name}" if entry.name else entry.target
    at = entry.at if isinstance(entry.at, str) else f"{entry.at:g} s"
    return f"{target}: {entry.quantity} at {at}"


def _describe_range(entry: Expect) -> str:
    if entry.value is not None:
        low, high = allowed(entry)
        return f"{entry.value:g} +- {(high - low) / 2:.3g}"
    bounds = (("min", entry.min), ("max", entry.max))
    return ", ".join(f"{name} {bound:g}" for name, bound in bounds if bound is not None)


def _evaluate(run: Run, entry: Expect) -> Result:
    text = describe(entry)
    try:
        worlds = _worlds(run, entry)
        rows = _rows(run, entry)
        values = _values(run, entry, rows, worlds)  # (rows, worlds, ...)
    except _Missing as reason:
        return Result(text, None, _describe_range(entry), False, str(reason))
    low, high = allowed(entry)
    excess = np.maximum(low - values, values - high)
    excess = np.where(np.isnan(values), np.inf, excess)
    worst = np.unravel_index(np.argmax(excess), excess.shape)
    where = f"t = {run.time[rows[worst[0]]]:g} s"
    if len(run.worlds) > 1:
        where += f", world {run.worlds[worlds[worst[1]]]}"
    return Result(text, float(values[worst]), _describe_range(entry), bool(excess[worst] <= 0), where)


def _worlds(run: Run, entry: Expect) -> np.ndarray:
    """Places along the world axis."""
    if entry.worlds is None:
        return np.arange(len(run.worlds))
    places = {number: place for place, number in enumerate(run.worlds.tolist())}
    lost = [w for w in entry.worlds if w not in places]
    if lost:
        raise _Missing(f"world {lost[0]} was not recorded")
    return np.array([places[w] for w in entry.worlds], int)


def _rows(run: Run, entry: Expect) -> np.ndarray:
    """Row numbers: all, the last, or the one nearest to a time, which must be within half a recording interval."""
    first = 0 if channel_of(entry) in ("state", "energy") else 1
    if run.rows <= first:
        raise _Missing("the file holds no step")
    if entry.at == "all":
        return np.arange(first, run.rows)
    last_step = int(run.step[-1])
    if entry.at == "end":
        if last_step < int(run.file.attrs["steps"]):
            raise _Missing(f"the run ended early, at step {last_step}")
        return np.array([run.rows - 1])
    row = int(np.argmin(np.abs(run.time - float(entry.at))))
    interval = run.time_step * int(run.file.attrs["every"])
    # a little more than half: a time between two rows belongs to either of them
    if abs(run.time[row] - float(entry.at)) > 0.501 * interval or row < first:
        raise _Missing(f"no row at {entry.at:g} s; the file ends at {run.time[-1]:g} s")
    return np.array([row])


def _values(run: Run, entry: Expect, rows: np.ndarray, worlds: np.ndarray) -> np.ndarray:
    """Values (rows, worlds, ...) of the entry's quantity."""
    base, _, axis = entry.quantity.partition(".")
    if not run.has(channel_of(entry)):
        raise _Missing(f"channel {channel_of(entry)} was not recorded")
    quantity = QUANTITIES.get(base)
    if quantity is None:
        raise _Missing(f"unknown quantity {entry.quantity}")
    return quantity(run, entry, axis, rows)[:, worlds]


def _pick(run: Run, name: str, rows: np.ndarray) -> np.ndarray:
    """Rows of a dataset; a contiguous read, whatever rows are asked for."""
    return run.file[name][rows[0] : rows[-1] + 1]


def _index(names: list[str], name: str) -> int:
    """Place of a link or joint."""
    if name in names:
        return names.index(name)
    raise _Missing(f"there is no {name!r} in the file")


def _position(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    return _pick(run, "state/body_q", rows)[:, :, _index(run.bodies, entry.name), AXES[axis]]


def _velocity(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    return _pick(run, "state/body_qd", rows)[:, :, _index(run.bodies, entry.name), AXES[axis]]


def _angular_velocity(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    return _pick(run, "state/body_qd", rows)[:, :, _index(run.bodies, entry.name), 3 + AXES[axis]]


def _rotation(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    """Angle of the rotation from the start [rad], 0 .. pi."""
    body = _index(run.bodies, entry.name)
    q0 = run.file["state/body_q"][0, :, body, 3:]
    q = _pick(run, "state/body_q", rows)[:, :, body, 3:]
    # q q0^-1 = [w0 v - w v0 - v x v0; w w0 + v . v0]
    v, w, v0, w0 = q[..., :3], q[..., 3:], q0[..., :3], q0[..., 3:]
    vector = w0 * v - w * v0 - np.cross(v, v0)
    return 2 * np.arctan2(np.linalg.norm(vector, axis=-1), np.abs(np.sum(q * q0, axis=-1)))


def _joint(dataset: str, starts: str) -> Callable:
    """The coordinate, or the velocity, of a joint that has one."""

    def values(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
        start = int(run.file[f"model/{starts}"][_index(run.joints, entry.name)])
        return _pick(run, dataset, rows)[:, :, start]

    return values


def _contacts_of(run: Run, entry: Expect, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Places (row - first row, world) of the rows' contacts, their part of the arrays of /contacts, and +1, -1 or 0 where
    the entry's link is body B, A, or neither.  `world` is every contact, with the sign of its side."""
    first = int(run.file["contacts/start"][rows[0], 0])
    part = slice(first, first + int(_pick(run, "contacts/count", rows).sum()))
    row = run.file["contacts/time_index"][part] - rows[0]
    world = run.file["contacts/world_index"][part]
    body = -1 if entry.target == "world" else _index(run.bodies, entry.name)
    sign = (run.file["contacts/body_b"][part] == body).astype(int) - (run.file["contacts/body_a"][part] == body)
    return row, world, part, sign


def _contact_force(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    """Sum of the contact forces on the link, impulse / h, in the step that ended at the row [N]."""
    row, world, part, sign = _contacts_of(run, entry, rows)
    out = np.zeros((len(rows), len(run.worlds)))
    np.add.at(out, (row, world), sign * run.file["contacts/impulse"][part][:, AXES[axis]] / run.time_step)
    return out


def _contact_count(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    """Number of contacts of the link; of `world`, all contacts."""
    row, world, _, sign = _contacts_of(run, entry, rows)
    out = np.zeros((len(rows), len(run.worlds)))
    np.add.at(out, (row, world), 1.0 if entry.target == "world" else np.abs(sign).astype(float))
    return out


def _depth_max(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    """Largest depth of the link's contacts [m], 0 without contact; of `world`, of all contacts."""
    row, world, part, sign = _contacts_of(run, entry, rows)
    depth = run.file["contacts/depth"][part]
    out = np.zeros((len(rows), len(run.worlds)))
    np.maximum.at(out, (row, world), depth if entry.target == "world" else np.where(sign != 0, depth, 0.0))
    return out


def _reaction(first: int) -> Callable:
    """Components of the wrench of a joint on its child link, from the first one on."""

    def values(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
        return _pick(run, "reactions/wrench", rows)[:, :, _index(run.joints, entry.name), first + AXES[axis]]

    return values


def _converged_fraction(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    """Fraction of the rows from the first step to the row that converged; with `at: all`, that of the whole run."""
    fraction = _running_mean(run.rows_of("solver/converged")[1:])
    return np.repeat(fraction[-1:], len(rows), axis=0) if entry.at == "all" else fraction[rows - 1]


def _iterations(accumulate: Callable) -> Callable:
    """Newton iterations of the rows from the first step to the row, put together; with `at: all`, those of the whole run."""

    def values(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
        found = accumulate(run.rows_of("solver/iterations")[1:])
        return np.repeat(found[-1:], len(rows), axis=0) if entry.at == "all" else found[rows - 1]

    return values


def _running_mean(values: np.ndarray) -> np.ndarray:
    """Means (R, W) of the rows up to each."""
    return np.cumsum(values, axis=0) / np.arange(1, len(values) + 1)[:, None]


def _energy(run: Run, entry: Expect, axis: str, rows: np.ndarray) -> np.ndarray:
    """Kinetic, potential and elastic energy together [J]."""
    return sum(_pick(run, f"energy/{name}", rows) for name in ("kinetic", "potential", "elastic"))


QUANTITIES: dict[str, Callable[[Run, Expect, str, np.ndarray], np.ndarray]] = {
    "position": _position,
    "velocity": _velocity,
    "angular_velocity": _angular_velocity,
    "rotation": _rotation,
    "q": _joint("state/joint_q", "joint_q_start"),
    "qd": _joint("state/joint_qd", "joint_qd_start"),
    "contact_force": _contact_force,
    "contact_count": _contact_count,
    "depth_max": _depth_max,
    "converged_fraction": _converged_fraction,
    "iterations_mean": _iterations(_running_mean),
    "iterations_max": _iterations(lambda values: np.maximum.accumulate(values, axis=0)),
    "reaction_torque": _reaction(0),
    "reaction_force": _reaction(3),
    "energy": _energy,
}
