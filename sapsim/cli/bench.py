"""`sapsim bench`: the time of a step on standard scenes and scene files, beside other engines."""

import math
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from sapsim.errors import UsageError
from sapsim.status import ExitCode

from .messages import note, print_findings, print_json, say
from .options import PRECISIONS, Allow, Device, Json, Package, Traceback, packages_of
from .warp_start import check_device, start_warp, stdout_to_stderr, telling_of_compilation

HELP = """Measure the time of a step, on standard scenes or scene files, beside other engines in the same process.

SCENE is a file, or S1 S2 S3 S4sph20 S4sph50 S4sph100 S4mix20 S4mix50 S4mix100 S5 S6quad S6hum
S6humballs; without any: S1 S2 S3 S4sph20 S4mix20. S5 and S6quad need the package example-robot-data, S6hum and S6humballs
mujoco-warp; without it a scene is left out.
Nothing is recorded. Figures are medians of alternating runs; one whose steps did not all converge is void.

Example: sapsim bench S2 S3 --peers drake,mujoco --worlds 1,16 --steps 1000
"""
BOXES = ("faces", "corners", "points")


def command(
    scenes: Annotated[list[str] | None, typer.Argument(metavar="[SCENE]...", help="Files or standard scenes.")] = None,
    time_step: Annotated[
        float | None, typer.Option("--time-step", metavar="H", help="[s] Default: the scene's; 0.001 in standard scenes.")
    ] = None,
    law: Annotated[
        str | None, typer.Option("--law", metavar="L", help="Contact law. Default: the scene's; lagged in standard scenes.")
    ] = None,
    worlds: Annotated[
        str | None, typer.Option("--worlds", metavar="N,N,...", help="Numbers of worlds. Default: the scene's.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option("--steps", metavar="N", min=1, help="Steps of a run. Default: the scene's; 2 s in standard ones."),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="Timed runs.")] = 5,
    rest: Annotated[
        float, typer.Option("--rest", metavar="T", min=0.0, help="Advance T seconds first and time the steps that follow.")
    ] = 0.0,
    boxes: Annotated[
        str,
        typer.Option(
            "--boxes", metavar="KIND", help="faces; corners: as Drake's, with spheres there; points: without pairs of boxes."
        ),
    ] = "faces",
    device: Device = "auto",
    precision: Annotated[str, typer.Option("--precision", metavar="P", help="float64 or float32.")] = "float64",
    peers: Annotated[
        str | None,
        typer.Option("--peers", metavar="NAME,...", help="Engines beside sapsim: drake, mujoco, mujoco_elliptic, pinocchio."),
    ] = None,
    package: Package = None,
    allow: Allow = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> int:
    """Reads all scenes, measures one after another, prints a table or one list of rows."""
    _check_options(precision, boxes, rest)
    check_device(device)
    counts = _counts(worlds)
    with stdout_to_stderr():
        wp = start_warp(device)
        from sapsim.bench.cases import Wishes, make_cases
        from sapsim.bench.engine import load_peers
        from sapsim.bench.measure import measure
        from sapsim.bench.scenes import USUAL, left_out

        engines = load_peers([name for name in (peers or "").split(",") if name])
        wishes = Wishes(time_step, law, steps, boxes)
        names = _without(scenes or USUAL, left_out(scenes or USUAL))
        cases = make_cases(names, counts, wishes, allow=allow or (), packages=packages_of(package))
        rows = []
        for case in cases:
            if not as_json:
                print_findings([], list(case.scene()[0].warnings))
                note(f"{case.name}: {_count(case.nworld, 'world')}, {_count(runs, 'run')} of {_count(case.steps, 'step')}")
            with telling_of_compilation(wp, as_json):
                rows += measure(case, engines, device=device, precision=precision, runs=runs, rest=rest)
    if as_json:
        print_json([row.as_dict() for row in rows])
    else:
        _print([row.as_dict() for row in rows])
    return int(_exit_code(rows))


def _check_options(precision: str, boxes: str, rest: float) -> None:
    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: known are {', '.join(PRECISIONS)}")
    if boxes not in BOXES:
        raise UsageError(f"--boxes {boxes}: known are {', '.join(BOXES)}")
    if not math.isfinite(rest):
        raise UsageError(f"--rest {rest}: must be a number >= 0")


def _without(names: Sequence[str], missing: dict[str, str]) -> list[str]:
    """The scenes that can be measured; what is left out is told."""
    names = [name for name in names if name not in missing]
    if not names:
        raise UsageError("; ".join(missing.values()))
    for text in missing.values():
        note(text)
    return names


def _counts(worlds: str | None) -> list[int | None]:
    """The numbers of `--worlds 1,16,256`; without it the scene's own."""
    if worlds is None:
        return [None]
    try:
        counts = [int(part) for part in worlds.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1:
        raise UsageError(f"--worlds {worlds}: write whole numbers >= 1 with commas, such as 1,16,256")
    return list(counts)


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}{'s' * (n != 1)}"


def _exit_code(rows: list[Any]) -> ExitCode:
    """Of sapsim's own rows: what voids a peer's figure is no fault of ours."""
    faults = {row.fault for row in rows if row.engine == "sapsim"}
    if "failed" in faults:
        return ExitCode.FAILED
    return ExitCode.NOT_CONVERGED if "unconverged" in faults else ExitCode.OK


COLUMNS = (
    "scene",
    "h [ms]",
    "law",
    "engine",
    "worlds",
    "us/step",
    "[min, max]",
    "wall",
    "world-steps/s",
    "contacts",
    "iterations",
)
TEXTS = 4  # columns of words, but for h


def _cells(row: dict[str, Any]) -> list[str]:
    """A row's texts; a void figure leaves its places to the reason."""
    boxes = f" {row['boxes']}" if row["boxes"] else ""
    head = [row["scene"], f"{1e3 * row['time_step']:g}", row["law"], row["engine"] + boxes, str(row["worlds"])]
    means = [_number(row["contacts_mean"]), _number(row["iterations_mean"])]
    if row["void"]:
        return [*head, "void", row["void"], "", "", *means]
    spread = f"[{_number(row['us_min'])}, {_number(row['us_max'])}]"
    rate = f"{row['world_steps_per_second']:.3g}"
    return [*head, _number(row["us_per_step"]), spread, _number(row["wall_us_per_step"]), rate, *means]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def _print(rows: list[dict[str, Any]]) -> None:
    """A table: rich on a terminal, plain columns elsewhere."""
    table = [_cells(row) for row in rows]
    clocks = sorted({row["clock"] for row in rows})
    versions = sorted({f"{r['engine']} {r['engine_version']}" for r in rows if r["engine_version"]})
    if sys.stdout.isatty():
        _print_table(table)
    else:
        shown = [[c for c in cells if c] if cells[5] == "void" else cells for cells in table]
        widths = [max(len(c[i]) for c in [list(COLUMNS), *(t for t in table if t[5] != "void")]) for i in range(len(COLUMNS))]
        for cells in [list(COLUMNS), *shown]:
            say("  ".join(c.ljust(w) if i < TEXTS else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=False))))
    say(f"us/step: one step of all worlds, {' and '.join(clocks)} time; {', '.join(versions)}")


def _print_table(table: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table()
    for i, name in enumerate(COLUMNS):
        shown.add_column(name.replace("[", "\\["), justify="left" if i < TEXTS else "right", overflow="fold")
    for cells in table:
        shown.add_row(*(c.replace("[", "\\[") for c in cells))
    Console().print(shown)
