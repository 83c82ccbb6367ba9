"""`sapsim check`: reads a scene and builds its model, and says everything that is wrong with it."""

from typing import Annotated

import typer

from sapsim.errors import SceneError
from sapsim.status import ExitCode

from .messages import findings, note, print_findings, print_json, say
from .options import Allow, Json, Package, Strict, Traceback, packages_of

HELP = """Check a scene file: every error and warning, with its place.

Example: sapsim check scenes/falling_ball.yaml --strict
"""


def command(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="Scene file; - reads it from standard input.")],
    strict: Strict = False,
    no_geometry: Annotated[bool, typer.Option("--no-geometry", help="Build no collision geometry.")] = False,
    package: Package = None,
    allow: Allow = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> int:
    """Reads and builds; nothing is simulated and nothing written."""
    from sapsim.scene.read import load

    packages = packages_of(package)
    loaded = None
    errors, warnings = [], []
    try:
        loaded = load(scene, allow=allow or (), packages=packages, geometry=not no_geometry)
        warnings = list(loaded.warnings)
        if not no_geometry:
            from sapsim.model.build import build

            build(loaded)
    except SceneError as error:
        errors, warnings = error.errors, error.warnings
    code = ExitCode.BAD_INPUT if errors else ExitCode.NOT_CONVERGED if strict and warnings else ExitCode.OK
    if as_json:
        print_json(findings(errors, warnings) | {"ok": code == ExitCode.OK})
        return int(code)
    print_findings(errors, warnings)
    verdict = f"{len(errors)} error{'s' * (len(errors) != 1)}, {len(warnings)} warning{'s' * (len(warnings) != 1)}"
    if errors:
        note(verdict)
    else:
        say(f"{loaded.name}: {len(loaded.links)} links, {len(loaded.joints)} joints, {verdict}")
    return int(code)
