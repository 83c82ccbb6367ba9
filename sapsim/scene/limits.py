"""`limit` of a joint: bounds of its coordinate, of the effort of its actuators, and of its velocity."""

import math
from dataclasses import replace

from sapsim.kinds.base import JointKind
from sapsim.scene.grammar import Section
from sapsim.scene.report import Report
from sapsim.scene.spec import Limit

_BOUNDS = ("lower", "upper", "lower_deg", "upper_deg")


def read_limit(section: Section | None, before: Limit, kind: JointKind | None, report: Report) -> Limit:
    """The limit of a joint whose limit was `before`, which an overlay may change in part."""
    if section is None:
        return before
    if kind is not None and kind.nv != 1:
        _refuse(section, kind, report)
        return before
    if kind is not None and not kind.bounded:
        for key in section.only(*_BOUNDS):
            text = f"`{key}` has no effect on a {kind.name} joint"
            report.warn(section.where(key), "no-effect", text, "a revolute joint has bounds")
    values = section.only("lower", "upper", "effort", "velocity")
    for key in ("lower", "upper"):
        if f"{key}_deg" in section:
            values[key] = math.radians(section[f"{key}_deg"])
            if kind is not None and kind.q_units != ("rad",):
                text = f"the coordinate of a {kind.name} joint is not an angle"
                report.error(section.where(f"{key}_deg"), "wrong-unit", text, f"give it as `{key}`")
    if kind is not None and not kind.bounded:
        values = {k: v for k, v in values.items() if k not in _BOUNDS}
    limit = replace(before, **values)
    if limit.lower > limit.upper and not section.broken(*_BOUNDS):
        key = next(iter(section.only(*_BOUNDS)), "")
        text = f"lower {limit.lower:g} is above upper {limit.upper:g}"
        report.error(section.where(key), "out-of-range", text, "exchange them")
    return limit


def _refuse(section: Section, kind: JointKind, report: Report) -> None:
    """A joint of several degrees of freedom cannot have a limit; on one of none it does nothing."""
    for key in section.only(*_BOUNDS, "effort", "velocity"):
        if kind.nv == 0:
            report.warn(section.where(key), "no-effect", f"`{key}` has no effect on a {kind.name} joint", "remove it")
        else:
            text = f"a {kind.name} joint has {kind.nv} degrees of freedom; `limit` needs a joint with one"
            report.error(section.where(key), "not-one-dof", text, "remove it, or chain joints of one degree of freedom")
            return
