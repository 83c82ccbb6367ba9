"""Actuators: drives of joints of one degree of freedom, and the bounds of what they put out (contract 1, 1.6).

An actuator's own `effort_limit` bounds it first; then `limit.effort` of the joint bounds the sum of the joint's actuators.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from sapsim.kinds.base import registry
from sapsim.scene.grammar import Section
from sapsim.scene.names import Names
from sapsim.scene.report import Report
from sapsim.scene.series import SeriesReader
from sapsim.scene.spec import Actuator, Joint, Series

INITIAL = "initial"  # the target that is the joint's coordinate at t = 0


def read_actuators(
    section: Section | None,
    of_models: Sequence[Actuator],
    names: Names,
    joints: Sequence[Joint],
    series: SeriesReader,
    report: Report,
) -> tuple[Actuator, ...]:
    """Those of models, then all entries of `actuators`, patterns expanded, with the bounds of their joints."""
    by_name = {joint.name: joint for joint in joints}
    found = list(of_models)
    taken = {actuator.name for actuator in of_models}
    for name, entry in (section or {}).items():
        if name in taken:
            text = f'the name "{name}" is that of an actuator of a model'
            report.error(entry.where(), "duplicate-name", text, "choose another name")
        pattern = entry.get("joint", "")
        several = any(c in pattern for c in "*?")
        values = series.values(entry, 1, "target", "target_velocity", "feedforward", "effort")
        for joint in _joints(entry, pattern, several, names, by_name, report):
            found.append(_read(f"{name}:{joint.name}" if several else name, joint, entry, values, report))
        _check_use(entry, report)
    return bounded(found, by_name)


def _joints(entry: Section, pattern: str, several: bool, names: Names, by_name: Mapping[str, Joint], report: Report):
    """The joints that an actuator drives: one, or those of one degree of freedom that a pattern finds."""
    if not pattern:
        return []
    if several:
        found = [by_name[n] for n in names.match_joints(pattern, entry.where("joint"), report) if n in by_name]
        one = [joint for joint in found if registry("joints")[joint.kind].nv == 1]
        if found and not one:
            text = f'no joint of "{pattern}" has one degree of freedom'
            report.error(entry.where("joint"), "not-one-dof", text, "name joints that have")
        return one
    name = names.find_joint(pattern, entry.where("joint"), report)
    if name is None or name not in by_name:
        return []
    kind = registry("joints")[by_name[name].kind]
    if kind.nv != 1:
        text = f'joint "{name}" is {kind.name} and has {kind.nv} degrees of freedom; an actuator needs a joint with one'
        report.error(entry.where("joint"), "not-one-dof", text, "chain joints of one degree of freedom")
        return []
    return [by_name[name]]


def _read(name: str, joint: Joint, entry: Section, in_time: Mapping[str, Any], report: Report) -> Actuator:
    """`in_time`: what may be a Series."""
    values = entry.only("kp", "kd", "effort_limit")
    values |= {key: in_time[key] for key in ("target_velocity", "feedforward") if key in in_time}
    target = in_time.get("target", 0.0)
    if target == INITIAL:
        target = (joint.q0 or registry("joints")[joint.kind].neutral)[0]
    if "target_deg" in entry:
        target = math.radians(entry["target_deg"])
        if registry("joints")[joint.kind].q_units != ("rad",):
            text = f'the coordinate of joint "{joint.name}" is not an angle'
            report.error(entry.where("target_deg"), "wrong-unit", text, "give it as `target`")
    if "effort" in in_time:
        values["feedforward"] = in_time["effort"]
    return Actuator(name, joint.name, target=target, **values, where=entry.where())


def _check_use(entry: Section, report: Report) -> None:
    """Warn of targets without the gain that uses them, and of an actuator that does nothing."""
    if not entry.given("kp", "kd", "feedforward", "effort"):
        text = "an actuator without kp, kd, feedforward and effort does nothing"
        report.warn(entry.where(), "no-effect", text, "give gains, or `effort`")
        return
    for keys, gain in ((("target", "target_deg"), "kp"), (("target_velocity",), "kd")):
        for key in entry.only(*keys):
            if entry.get(gain, 0.0) == 0.0 and not entry.broken(gain):
                report.warn(entry.where(key), "no-effect", f"`{key}` has no effect: {gain} is 0", f"give `{gain}`")


def bounded(actuators: list[Actuator], by_name: Mapping[str, Joint]) -> tuple[Actuator, ...]:
    """The actuators with the bounds that they have together with the others of their joint, in their order."""
    by_joint: dict[str, list[int]] = {}
    for i, actuator in enumerate(actuators):
        by_joint.setdefault(actuator.joint, []).append(i)
    out = list(actuators)
    for joint, members in by_joint.items():
        shared = _share([actuators[i] for i in members], by_name[joint].limit.effort)
        for i, actuator in zip(members, shared, strict=True):
            out[i] = actuator
    return tuple(out)


def _share(actuators: list[Actuator], total: float) -> list[Actuator]:
    """The actuators of one joint, whose sum is bounded by `total`."""
    if any(isinstance(a.feedforward, Series) and not a.has_gains for a in actuators):
        return [_bounded_in_the_step(a, total) for a in actuators]
    efforts = [0.0 if a.has_gains else _clip(a.feedforward, a.effort_limit) for a in actuators]
    drives = [a for a in actuators if a.has_gains]
    reach = sum(a.effort_limit for a in drives)
    offset = sum(efforts)
    if abs(offset) - reach >= total:  # the sum is at its bound whatever the drives do
        efforts, reach, offset = _capped(efforts, total), 0.0, _clip(offset, total)
    narrowed = reach > 0.0 and abs(offset) + reach > total
    low, high = -total - offset, total - offset
    out = []
    for a, effort in zip(actuators, efforts, strict=True):
        own = a.effort_limit if reach > 0.0 else 0.0
        if not a.has_gains:
            out.append(replace(a, effort=effort))
        elif narrowed and len(drives) == 1:
            out.append(replace(a, lowest=max(-own, low), highest=min(own, high)))
        else:
            out.append(replace(a, lowest=-own, highest=own, sum_bounds=(low, high) if narrowed else None))
    return out


def _bounded_in_the_step(a: Actuator, total: float) -> Actuator:
    """An actuator beside open-loop efforts that change: what is left of the bounds is known in the step only."""
    if a.has_gains:
        sum_bounds = (-total, total) if total < math.inf else None
        return replace(a, lowest=-a.effort_limit, highest=a.effort_limit, sum_bounds=sum_bounds)
    effort = a.feedforward
    return replace(a, effort=effort if isinstance(effort, Series) else Series((0.0,), (effort,)))


def _clip(effort: float, bound: float) -> float:
    return min(max(effort, -bound), bound)


def _capped(efforts: list[float], bound: float) -> list[float]:
    """What is left of each effort, in their order, so that their sum is the bounded sum."""
    sums = [0.0]
    for effort in efforts:
        sums.append(sums[-1] + effort)
    capped = [_clip(s, bound) for s in sums]
    return [after - before for before, after in pairwise(capped)]
