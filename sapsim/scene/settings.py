"""The settings of a scene: contact, solver, time, worlds, output (contract 1)."""

from sapsim.scene.grammar import Items, Section
from sapsim.scene.report import Report
from sapsim.scene.spec import Contact, Output, Solver

# How far `duration` may be from a whole number of steps, in steps, before a warning says so.
STEP_TOLERANCE = 1.0e-6


def read_contact(root: Section) -> Contact:
    """The `contact` section; defaults are those of spec.Contact."""
    section = root.get("contact")
    if section is None:
        return Contact()
    return Contact(**section.only("law", "stiction_tolerance", "near_rigid", "sigma", "margin"))


def read_solver(root: Section) -> Solver:
    """The `solver` section; defaults are those of spec.Solver."""
    return Solver(**root.get("solver", {}))


def read_steps(root: Section, report: Report) -> int:
    """The number of steps: `steps`, or round(duration / h)."""
    if "steps" in root:
        return root["steps"]
    if not {"duration", "time_step"} <= set(root):
        return 0
    h, duration = root["time_step"], root["duration"]
    ratio = duration / h
    if not ratio < 2**53:
        report.error(root.where("duration"), "out-of-range", f"{duration:g} s are {ratio:g} steps; at most 2^53 are allowed")
        return 0
    steps = round(ratio)
    if steps < 1:
        text = f"{duration:g} s are less than one step of {h:g} s"
        report.error(root.where("duration"), "out-of-range", text, "make it at least one time step")
    elif abs(steps * h - duration) > STEP_TOLERANCE * h:
        text = f"{duration:g} s are {ratio:.9g} steps of {h:g} s; {steps} steps are taken, {steps * h:.9g} s"
        report.warn(root.where("duration"), "duration", text, "give a multiple of time_step, or `steps`")
    return steps


def read_worlds(root: Section) -> tuple[int, int]:
    """The number of worlds, and the seed."""
    section = root.get("worlds", {})
    return section.get("count", 1), section.get("seed", 0)


def world_list(section: Section, nworld: int, report: Report) -> tuple[int, ...] | None:
    """The `worlds` key of `output` or of an entry of `expect`: sorted indices, or None for all."""
    worlds: str | Items = section.get("worlds", "all")
    if isinstance(worlds, str):
        return None
    if not worlds and worlds.complete:
        report.error(section.where("worlds"), "wrong-length", "an empty list of worlds", "write `all`, or some indices")
    chosen = []
    for where, index in worlds:
        if index >= nworld:
            text = f"world {index} does not exist; allowed: 0 to {nworld - 1}"
            report.error(where, "out-of-range", text, "see worlds.count")
        elif index in chosen:
            report.error(where, "duplicate-name", f"world {index} stands twice in this list", "remove one")
        else:
            chosen.append(index)
    return tuple(sorted(chosen))


def read_output(root: Section, nworld: int, report: Report) -> Output:
    """The `output` section; defaults are those of spec.Output."""
    section = root.get("output")
    if section is None:
        return Output()
    values = section.only("every", "dtype", "compression", "flush_seconds")
    if "channels" in section:
        values["channels"] = _channels(section, report)
    return Output(**values, worlds=world_list(section, nworld, report))


def _channels(section: Section, report: Report) -> tuple[str, ...]:
    chosen: list[str] = []
    for where, channel in section["channels"]:
        if channel in chosen:
            report.error(where, "duplicate-name", f'channel "{channel}" stands twice in this list', "remove one")
        chosen.append(channel)
    return tuple(dict.fromkeys(chosen))
