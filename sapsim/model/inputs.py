"""Inputs over time as arrays (fields.py): channels, each a number over time, and who takes them.

Times and values of all channels lie behind one another.  Drives take them as parameters of their rows, degrees of freedom as
open-loop efforts, forces as six components each.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

COMPONENTS = 6  # of a force: torque, then force


class Channels:
    """Collects channels; `add` gives the number of one."""

    def __init__(self) -> None:
        self._series: list[tuple[Sequence[float], Sequence[float], bool]] = []

    def add(self, times: Sequence[float], values: Sequence[float], hold: bool) -> int:
        self._series.append((times, values, hold))
        return len(self._series) - 1

    def __len__(self) -> int:
        return len(self._series)

    def arrays(self) -> dict[str, np.ndarray]:
        """input_start, input_hold, input_time, input_value."""
        return {
            "input_start": np.cumsum([0] + [len(times) for times, _, _ in self._series]),
            "input_hold": np.array([int(hold) for _, _, hold in self._series], np.int32),
            "input_time": np.array([t for times, _, _ in self._series for t in times], float).reshape(1, -1),
            "input_value": np.array([v for _, values, _ in self._series for v in values], float).reshape(1, -1),
        }


def row_inputs(rows: Sequence[Any], channels: Channels) -> dict[str, np.ndarray]:
    """Parameters of constraint rows that change: constraint_input_start, constraint_input_place, constraint_input."""
    starts, places, numbers = [0], [], []
    for row in rows:
        for place, series in row.inputs:
            places.append(place)
            numbers.append(channels.add(series.times, series.values, series.hold))
        starts.append(len(places))
    return {
        "constraint_input_start": np.array(starts, np.int32),
        "constraint_input_place": np.array(places, np.int32),
        "constraint_input": np.array(numbers, np.int32),
    }


def effort_inputs(scene: Any, dof_of_joint: dict[str, int], ndof: int, channels: Channels) -> dict[str, np.ndarray]:
    """Open-loop efforts that change, by degree of freedom, and the bounds under which they act with the joint's drives."""
    by_dof: dict[int, list[tuple[int, float]]] = {}
    reach, bound = np.zeros((1, ndof)), np.full((1, ndof), np.inf)
    changing = {a.joint for a in scene.actuators if _changes(a)}
    limits = {joint.name: joint.limit.effort for joint in scene.joints}
    for actuator in scene.actuators:
        if actuator.joint not in changing:
            continue
        dof = dof_of_joint[actuator.joint]
        bound[0, dof] = limits[actuator.joint]
        if actuator.has_gains:
            reach[0, dof] += actuator.effort_limit
        else:
            effort = actuator.effort
            channel = channels.add(effort.times, effort.values, effort.hold)
            by_dof.setdefault(dof, []).append((channel, actuator.effort_limit))
    listed = [item for dof in range(ndof) for item in by_dof.get(dof, [])]
    return {
        "effort_start": np.cumsum([0] + [len(by_dof.get(dof, [])) for dof in range(ndof)]),
        "effort_input": np.array([channel for channel, _ in listed], np.int32),
        "effort_limit": np.array([limit for _, limit in listed], float).reshape(1, -1),
        "effort_reach": reach,
        "effort_bound": bound,
    }


def _changes(actuator: Any) -> bool:
    return not actuator.has_gains and not isinstance(actuator.effort, float | int)


def force_channels(torque: Any, force: Any, R_BL: np.ndarray, channels: Channels) -> int:
    """The first of six channels of a torque and a force, of which one at least is a Series, in the axes of R_BL."""
    first = len(channels)
    for vector in (torque, force):
        if hasattr(vector, "times"):
            rows, times, hold = np.array(vector.values, float) @ R_BL.T, vector.times, vector.hold
        else:
            rows, times, hold = (np.asarray(vector, float) @ R_BL.T)[None], (0.0,), True
        for k in range(3):
            channels.add(times, rows[:, k].tolist(), hold)
    return first
