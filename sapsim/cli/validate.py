"""`sapsim validate`: checks the dynamics of a scene or a model file against identities they must satisfy."""

import os
import sys
from typing import Annotated, Any

import typer

from sapsim.errors import UsageError
from sapsim.status import ExitCode

from .messages import note, print_findings, print_json, say
from .options import PRECISIONS, Allow, Inertia, Json, Package, Traceback, packages_of
from .warp_start import start_warp, stdout_to_stderr, telling_of_compilation

HELP = """Check the dynamics of a scene or a robot's file: identities between RNEA, CRBA, ABA, momenta, energies and forces.

Exit code 0 where every check passed, 5 where one did not. No collision geometry is built, nothing is simulated.

Example: sapsim validate scenes/double_pendulum.yaml --samples 100 --precision float32
"""
BASES = ("fixed", "floating")
WIDE = 130  # [columns] of a terminal that has room for the identities


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Scene, URDF or MJCF file; - reads a scene from standard input.")],
    base: Annotated[
        str | None, typer.Option("--base", metavar="KIND", help="fixed (default) or floating: how a model file's root stands.")
    ] = None,
    samples: Annotated[int, typer.Option("--samples", metavar="N", min=1, max=100_000, help="Random states.")] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Of the random states.")] = 0,
    precision: Annotated[str, typer.Option("--precision", metavar="TYPE", help="float64 or float32.")] = "float64",
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", metavar="T", help="Default: 1e-10 in float64, 1e-4 in float32.")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="NAME", help="Compare with another library, too: pinocchio.")
    ] = None,
    inertia: Inertia = None,
    package: Package = None,
    allow: Allow = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> int:
    """Reads, draws states, runs every check, prints a table or one object."""
    _check_options(base, precision, tolerance)
    scene = _load(file, base, inertia, packages_of(package), allow or ())
    if not as_json:
        print_findings([], list(scene.warnings))
    with stdout_to_stderr():
        wp = start_warp("cpu")
        with telling_of_compilation(wp, as_json):
            from sapsim.validate.report import validate

            report = validate(scene, samples=samples, seed=seed, precision=precision, tolerance=tolerance, against=against)
    found = report.as_dict() | {"file": file, "base": scene.extra.get("base")}
    if as_json:
        print_json(found | {"warnings": [w.as_dict() for w in scene.warnings]})
    else:
        _print(found)
    return int(ExitCode.OK if report.passed else ExitCode.CHECK_FAILED)


def _check_options(base: str | None, precision: str, tolerance: float | None) -> None:
    if base is not None and base not in BASES:
        raise UsageError(f"--base {base}: known are {', '.join(BASES)}")
    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: known are {', '.join(PRECISIONS)}")
    if tolerance is not None and not 0.0 <= tolerance < float("inf"):
        raise UsageError(f"--tolerance {tolerance}: must be a number >= 0")


def _load(file: str, base: str | None, inertia: str | None, packages: dict[str, str], allow: Any) -> Any:
    """The scene, or the model file alone in the world; without collision geometry."""
    from sapsim.scene.read import is_model_file, load, load_model

    if is_model_file(file):
        return load_model(file, base=base, packages=packages, inertia=inertia or "error")
    if base is not None:
        raise UsageError("--base is for model files; in a scene every instance says `base`")
    if inertia is not None:
        raise UsageError("--inertia is for model files; in a scene every model says `inertia`")
    return load(file, packages=packages, allow=allow, geometry=False)


def _print(found: dict[str, Any]) -> None:
    """The table, the figures that decide nothing, and the verdict."""
    on_base = f", {found['base']} base" if found["base"] else ""
    title = (
        f"{os.path.basename(found['file'])}{on_base}: nq {found['nq']}, nv {found['nv']}, {found['nbody']} links, "
        f"{found['samples']} samples, {found['precision']}"
    )
    if sys.stdout.isatty():
        _print_table(title, found["checks"])
    else:
        say(title)
        for c in found["checks"]:
            place = f"  sample {c['sample']}" * (c["sample"] is not None) + f"  {c['where']}" * bool(c["where"])
            say(f"{'pass' if c['passed'] else 'FAIL'}  {c['name']:22} {c['worst']:10.2e} <= {c['tolerance']:.0e}{place}")
    say("shown, not judged: " + ", ".join(f"{name} {value:.3g}" for name, value in found["plain"].items()))
    failed = [c["name"] for c in found["checks"] if not c["passed"]]
    if failed:
        note(f"{len(failed)} of {len(found['checks'])} checks failed: {', '.join(failed)}")
    else:
        say(f"all {len(found['checks'])} checks passed")


def _print_table(title: str, checks: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    wide = console.width >= WIDE
    table = Table(title=title)
    table.add_column("check", no_wrap=True)
    if wide:
        table.add_column("identity")
    for name in ("worst", "tolerance", "verdict", "sample"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("where", overflow="fold")
    for c in checks:
        verdict = "[green]pass[/green]" if c["passed"] else "[bold red]FAIL[/bold red]"
        sample = "" if c["sample"] is None else str(c["sample"])
        says = (_plain(c["says"]),) if wide else ()
        table.add_row(c["name"], *says, f"{c['worst']:.2e}", f"{c['tolerance']:.0e}", verdict, sample, _plain(c["where"]))
    console.print(table)


def _plain(text: str) -> str:
    """Text in which rich sees no markup, such as the [0] of a degree of freedom."""
    return text.replace("[", "\\[")
