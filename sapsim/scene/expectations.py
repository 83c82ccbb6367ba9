"""Entries of `expect` (contract 1.8), and the forces on links (contract 1.6)."""

from sapsim.kinds.base import registry
from sapsim.scene.grammar import Section
from sapsim.scene.names import Names
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.series import SeriesReader
from sapsim.scene.settings import world_list
from sapsim.scene.spec import WORLD, Expect, Force, Joint, Where


def _xyz(name: str) -> tuple[str, ...]:
    return tuple(f"{name}.{axis}" for axis in "xyz")


QUANTITIES = {
    "link": (
        *_xyz("position"),
        "rotation.angle",
        *_xyz("velocity"),
        *_xyz("angular_velocity"),
        *_xyz("contact_force"),
        "contact_count",
        "depth_max",
    ),
    "joint": ("q", "qd", *_xyz("reaction_force"), *_xyz("reaction_torque")),
    "world": (*_xyz("contact_force"), "contact_count", "depth_max", "energy"),
    "solver": ("converged_fraction", "iterations_mean", "iterations_max"),
}


def read_expect(
    items: list[tuple[Where, Section]], names: Names, joints: tuple[Joint, ...], nworld: int, report: Report
) -> tuple[Expect, ...]:
    """All entries of `expect`."""
    kinds = {j.name: registry("joints")[j.kind] for j in joints}
    found = []
    for where, section in items:
        target = next((t for t in QUANTITIES if t in section), "")
        name = _target_name(target, section, names, report)
        quantity = section.get("quantity", "")
        if target and quantity:
            _check_quantity(target, quantity, section, report)
            if quantity in ("q", "qd") and name in kinds and kinds[name].nq != 1:
                text = f'joint "{name}" is {kinds[name].name} and has {kinds[name].nq} coordinates; q and qd need one'
                report.error(section.where("joint"), "unknown-value", text, "ask for a quantity of its link")
        bounds = section.only("value", "min", "max")
        if not bounds and not section.given("value", "min", "max"):
            text = "nothing to compare with: one of value, min, max is missing"
            report.error(section.where(), "missing-key", text, "add `value` with `atol`, or `min`, or `max`")
        if bounds.get("min", 0.0) > bounds.get("max", 0.0) and len(bounds) == 2:
            text = f"min {bounds['min']:g} is above max {bounds['max']:g}"
            report.error(section.where("min"), "out-of-range", text, "exchange them")
        rest = section.only("at", "atol", "rtol")
        worlds = world_list(section, nworld, report)
        found.append(Expect(target, name, quantity, **bounds, **rest, worlds=worlds, where=where))
    return tuple(found)


def _target_name(target: str, section: Section, names: Names, report: Report) -> str:
    if target == "link":
        return names.find_link(section["link"], section.where("link"), report) or ""
    if target == "joint":
        return names.find_joint(section["joint"], section.where("joint"), report) or ""
    return ""


def _check_quantity(target: str, quantity: str, section: Section, report: Report) -> None:
    where = section.where("quantity")
    allowed = QUANTITIES[target]
    if quantity not in allowed:
        text = f'unknown quantity "{quantity}" of a {target}; allowed: {listing(allowed)}'
        report.error(where, "unknown-value", text, did_you_mean(quantity, allowed))


def read_forces(section: Section | None, names: Names, series: SeriesReader, report: Report) -> tuple[Force, ...]:
    """All entries of `forces`."""
    forces = []
    for name, entry in (section or {}).items():
        link = _force_link(entry, names, report)
        times = {"start": entry.get("from"), "until": entry.get("until")}
        times = {k: v for k, v in times.items() if v is not None}
        if len(times) == 2 and times["start"] > times["until"]:
            text = f"from {times['start']:g} s is after until {times['until']:g} s"
            report.error(entry.where("from"), "out-of-range", text, "exchange them")
        values = entry.only("point", "frame") | series.values(entry, 3, "force", "torque")
        forces.append(Force(name, link or "", **values, **times, where=entry.where()))
    return tuple(forces)


def _force_link(entry: Section, names: Names, report: Report) -> str | None:
    name = entry.get("link")
    if name is None:
        return None
    if name == WORLD:
        report.error(entry.where("link"), "unknown-name", "a force cannot act on the world", "name a link")
        return None
    return names.find_link(name, entry.where("link"), report)
