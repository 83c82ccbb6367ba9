"""Inputs over time for the twin: the scene of one step, in which every Series is the number that it has at the step's start."""

from dataclasses import replace

import numpy as np


def value(x, t: float, h: float):
    """A number or vector, or what a Series is at t: linear, or the last value whose time is not beyond t + h/2."""
    if not hasattr(x, "times"):
        return x
    values = np.array(x.values, float)
    if x.hold:
        return _plain(values[max(0, np.searchsorted(x.times, t + 0.5 * h, side="right") - 1)])
    if values.ndim == 1:
        return float(np.interp(t, x.times, values))
    return tuple(float(np.interp(t, x.times, column)) for column in values.T)


def _plain(x):
    return tuple(map(float, x)) if np.ndim(x) else float(x)


def scene_at(scene, t: float):
    """The scene with constant inputs: those of the step that starts at t."""
    h = scene.time_step
    forces = tuple(replace(f, force=value(f.force, t, h), torque=value(f.torque, t, h)) for f in scene.forces)
    limit = {joint.name: joint.limit.effort for joint in scene.joints}
    changing = {a.joint for a in scene.actuators if hasattr(a.effort, "times")}
    keys = ("target", "target_velocity", "feedforward", "effort")
    actuators = [replace(a, **{key: value(getattr(a, key), t, h) for key in keys}) for a in scene.actuators]
    for joint in changing:
        members = [i for i, a in enumerate(actuators) if a.joint == joint]
        open_loop = [i for i in members if not actuators[i].has_gains]
        drives = [i for i in members if actuators[i].has_gains]
        total = sum(min(max(actuators[i].effort, -actuators[i].effort_limit), actuators[i].effort_limit) for i in open_loop)
        bounds = (-limit[joint] - total, limit[joint] - total)
        if abs(total) - sum(actuators[i].effort_limit for i in drives) >= limit[joint]:
            total, bounds = min(max(total, -limit[joint]), limit[joint]), (0.0, 0.0)
        for i in open_loop:  # only their sum matters
            actuators[i] = replace(actuators[i], effort=total if i == open_loop[0] else 0.0)
        for i in drives:
            if limit[joint] < np.inf:
                actuators[i] = replace(actuators[i], sum_bounds=bounds)
    return replace(scene, forces=forces, actuators=tuple(actuators))
