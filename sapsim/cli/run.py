"""`sapsim run`: simulates a scene into a result file."""

import os
import shlex
import sys
import time
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from sapsim.errors import MachineError, UsageError

from .messages import note, print_findings, print_json, report_failure, say
from .options import PRECISIONS, Allow, Device, Json, Package, Strict, Traceback, packages_of
from .warp_start import build_simulation, check_device, stdout_to_stderr

HELP = """Simulate a scene and write an HDF5 file.

Example: sapsim run scenes/falling_ball.yaml -o ball.h5 --steps 500 --set bodies.ball.mass=2
"""
LATER = "not supported yet"
SHOW_CURSOR = "\x1b[?25h"  # a spinner hides it


def command(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="Scene file; - reads it from standard input.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE.h5", help="Result file. Default: the scene's name.")
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", metavar="N", help="Number of steps, for the scene's.")] = None,
    duration: Annotated[float | None, typer.Option("--duration", metavar="T", help="Duration [s], for the scene's.")] = None,
    time_step: Annotated[float | None, typer.Option("--time-step", metavar="H", help="Time step [s].")] = None,
    worlds: Annotated[int | None, typer.Option("--worlds", metavar="N", help="Number of worlds.")] = None,
    device: Device = "auto",
    precision: Annotated[str, typer.Option("--precision", metavar="P", help="float64 or float32.")] = "float64",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the scene; repeatable.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="S", help="Seed of what is drawn.")] = None,
    every: Annotated[int | None, typer.Option("--every", metavar="K", help="Steps from row to row.")] = None,
    package: Package = None,
    allow: Allow = None,
    check: Annotated[bool, typer.Option("--check", help="Check the scene's expect entries; exit 5 where one fails.")] = False,
    strict: Strict = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing result.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help=LATER)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Json = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved scene and sizes; simulate nothing.")] = False,
    traceback: Traceback = False,
) -> int:
    """Parses, checks what can be checked without simulating, and runs."""
    later = {"--resume": resume}
    for option, given in later.items():
        if given:
            raise UsageError(f"{option}: {LATER}")
    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: known are {' and '.join(PRECISIONS)}")
    if steps is not None and duration is not None:
        raise UsageError("--steps and --duration: give one of the two")
    check_device(device)
    overrides = [
        *(set_ or []),
        *_override("time_step", time_step),
        *_override("steps", steps),
        *_override("duration", duration),
        *_override("worlds.count", worlds),
        *_override("worlds.seed", seed),
        *_override("output.every", every),
    ]
    loaded = _load(scene, overrides, check, allow=allow or (), packages=packages_of(package))
    options = Options(
        output=output or f"{loaded.name}.h5",
        device=device,
        precision=precision,
        check=check,
        strict=strict,
        overwrite=overwrite,
        quiet=quiet,
        as_json=as_json,
    )
    if not as_json:
        print_findings([], list(loaded.warnings))
    return _dry_run(loaded, options) if dry_run else _run(loaded, options)


@dataclass(frozen=True)
class Options:
    """Options that outlive the reading of the scene."""

    output: str
    device: str
    precision: str
    check: bool
    strict: bool
    overwrite: bool
    quiet: bool
    as_json: bool


def _override(key: str, value: float | None) -> list[str]:
    return [] if value is None else [f"{key}={value!r}"]


def _load(path: str, overrides: list[str], check: bool, **files: Any) -> Any:
    """The scene; with `check`, one whose expectations can be checked."""
    from sapsim.scene.read import load

    scene = load(path, overrides=overrides, **files)
    if not check:
        return scene
    if not scene.expect:
        raise UsageError(f"{path}: --check needs entries under expect, and there are none")
    from sapsim.record.expect import channel_of, describe

    for entry in scene.expect:
        if channel_of(entry) not in scene.output.channels:
            raise UsageError(f"{path}: expect, {describe(entry)}: needs channel {channel_of(entry)} in output.channels")
    return scene


def _dry_run(scene: Any, options: Options) -> int:
    from sapsim.record.structure import rows_of_run

    with stdout_to_stderr():
        sim, _, _ = build_simulation(scene, options.device, options.precision, options.quiet)
    sizes = {
        "worlds": scene.nworld,
        "steps": scene.steps,
        "rows": rows_of_run(scene.steps, scene.output.every),
        "nbody": len(sim.link_names),
        "njoint": len(sim.joint_names),
        "nq": len(sim.coordinate_names),
        "nv": len(sim.dof_names),
        "nshape": len(sim.shape_names),
        "device": sim.device,
        "memory_bytes": int(sim.memory_bytes),
        "output": options.output,
    }
    if options.as_json:
        warnings = [w.as_dict() for w in scene.warnings]
        print_json({"status": "dry-run", "exit_code": 0, **sizes, "warnings": warnings, "resolved": scene.resolved})
    else:
        say(scene.resolved)
        for name, value in sizes.items():
            say(f"# {name}: {value}")
    return 0


def _run(scene: Any, options: Options) -> int:
    """Builds, simulates and records, checks, sums up."""
    from sapsim.record.writer import check_target

    from .interrupt import Interrupt
    from .summary import Outcome, print_summary

    check_target(options.output, options.overwrite)

    with stdout_to_stderr() as stdout:

        def leave() -> None:
            stdout.restore()
            if sys.stderr.isatty():
                note(SHOW_CURSOR)
            report_failure("interrupted before the first step; nothing was written", 130, options.as_json)
            sys.stdout.flush()

        def answer() -> None:
            if not options.quiet:
                note("interrupted: closing the file")

        with Interrupt(leave, answer) as interrupt:
            sim, blocks, build_seconds = build_simulation(scene, options.device, options.precision, options.quiet, steps=1)
            outcome = Outcome(scene, options.output, build_seconds)
            _simulate(sim, blocks, options, interrupt, outcome)
    if options.check and outcome.status == "complete":
        outcome.checks = _check(scene, outcome.output)
    code = outcome.exit_code(options.strict)
    if options.as_json:
        print_json(outcome.as_dict(code))
    else:
        print_summary(outcome)
    return int(code)


def _simulate(sim: Any, blocks: list[Any], options: Options, interrupt: Any, outcome: Any) -> None:
    """Records the run and closes the file, whatever happens; fills in the outcome."""
    from sapsim.record.writer import Recorder, partial_name

    from .loop import record_run
    from .progress import make_progress

    interrupt.critical = True
    command = shlex.join(["sapsim", *sys.argv[1:]])
    recorder = Recorder(options.output, sim, command=command, overwrite=options.overwrite)
    began = time.monotonic()
    status = "failed"
    try:
        with make_progress(sim.scene.steps, options.quiet) as progress:
            status, outcome.steps = record_run(sim, blocks, recorder, interrupt, progress)
        outcome.softened = sim.softened
    except MachineError as error:
        outcome.machine_error = str(error)
    finally:
        outcome.wall_seconds = time.monotonic() - began
        try:
            recorder.close(status, outcome.run_warnings)
        except MachineError as error:
            outcome.machine_error = outcome.machine_error or str(error)
            status = "failed"
            if os.path.exists(partial_name(options.output)):
                outcome.output = partial_name(options.output)
        if outcome.machine_error:
            outcome.steps = recorder.step
    outcome.status = status
    outcome.totals = sim.totals
    outcome.wall_seconds = time.monotonic() - began


def _check(scene: Any, path: str) -> list[Any]:
    from sapsim.record.expect import evaluate
    from sapsim.record.reader import open_run

    with open_run(path) as run:
        return evaluate(run, scene.expect)
