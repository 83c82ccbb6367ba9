"""Options that several commands share."""

from typing import Annotated

import typer

from sapsim.errors import UsageError

PRECISIONS = ("float64", "float32")  # of --precision

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 3 where there is any warning.")]
Traceback = Annotated[bool, typer.Option("--traceback", help="Print the traceback of an internal error.")]
Package = Annotated[
    list[str] | None,
    typer.Option("--package", metavar="NAME=DIR", help="Folder of package://NAME; repeatable."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="DIR", help="A folder below which the scene may read files; repeatable."),
]
Inertia = Annotated[
    str | None,
    typer.Option("--inertia", metavar="POLICY", help="error (default), estimate or fix: what is put in for impossible ones."),
]
Device = Annotated[str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or cuda:N.")]


def packages_of(options: list[str] | None) -> dict[str, str]:
    """The folders of `--package NAME=DIR` by name."""
    found = {}
    for option in options or []:
        name, equals, folder = option.partition("=")
        if not (name and equals and folder):
            raise UsageError(f"--package {option}: write --package NAME=DIR")
        found[name] = folder
    return found
