"""The command line: one file per command; parse, call, turn what comes back or is raised into an exit code."""

import errno
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, TextIO

import typer

from sapsim.errors import MachineError, SapsimError
from sapsim.status import ExitCode

from . import bench, check, info, run, schema, validate
from .messages import note, report_failure, report_input_error

HELP = """Simulates rigid bodies with joints and frictional contact: a scene file in, an HDF5 file out.

Example: sapsim run scenes/falling_ball.yaml -o ball.h5
"""
EPILOG = """Exit codes: 0 clean, 1 internal error, 2 bad input, 3 not converged, 4 failed, 5 check failed,
6 machine failed, 130 interrupted."""

# Plain help: no markup, so that showing it does not import rich.
app = typer.Typer(
    name="sapsim",
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run", help=run.HELP)(run.command)
app.command("validate", help=validate.HELP)(validate.command)
app.command("check", help=check.HELP)(check.command)
app.command("info", help=info.HELP)(info.command)
app.command("bench", help=bench.HELP)(bench.command)
app.command("schema", help=schema.HELP)(schema.command)

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)

# typer 0.12 .. 0.28 raise click's exceptions, later ones their own copies of them
ClickException = typer.BadParameter.__mro__[2]


def _print_version(wanted: bool) -> None:
    if wanted:
        from sapsim import __version__

        typer.echo(f"sapsim {__version__}")
        raise typer.Exit()


Version = typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)


@app.callback()
def _callback(version: Annotated[bool, Version] = False) -> None:
    """Options of sapsim itself."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: runs a command and exits with its code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    code = _run(arguments)
    for stream in (sys.stdout, sys.stderr):
        _flush(stream)
    sys.exit(int(code or 0))


def _run(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        return typer.main.get_command(app).main(arguments, prog_name="sapsim", standalone_mode=False)
    except ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return ExitCode.BAD_INPUT
        if not as_json and getattr(error, "ctx", None) is not None:
            note(error.ctx.get_usage())
        return report_input_error(_with_value(error.format_message(), arguments), as_json)
    except MachineError as error:
        return report_failure(str(error), ExitCode.MACHINE, as_json)
    except MemoryError:
        return report_failure("out of memory", ExitCode.MACHINE, as_json)
    except SapsimError as error:
        return report_input_error(error, as_json)
    except (KeyboardInterrupt, typer.Abort):
        return report_failure("interrupted", ExitCode.INTERRUPTED, as_json)
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            return _internal(error, arguments)
        return report_failure(f"the disk failed: {error}", ExitCode.MACHINE, as_json)
    except Exception as error:
        return _internal(error, arguments)


def _with_value(text: str, arguments: list[str]) -> str:
    """The message with what was given to the option that it names: conversion errors leave it out."""
    named = re.search(r"for '[^']*?(--[\w-]+)'", text)
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if named and argument.split("=")[0] == named[1]:
            got = argument.partition("=")[2] or following
            return f"{text}, got {got!r}" if got not in text else text
    return text


def _internal(error: Exception, arguments: list[str]) -> ExitCode:
    """A bug."""
    if "--traceback" in arguments:
        traceback.print_exception(error)
    text = f"internal error: {type(error).__name__}: {error}"
    hint = "this is a bug in sapsim; please report it with the scene, the command, and what --traceback prints"
    return report_failure(f"{text}\n{hint}", ExitCode.INTERNAL, "--json" in arguments)


def _flush(stream: TextIO) -> None:
    """Writes what is buffered; a stream whose reader has gone is replaced, so that the interpreter does not complain."""
    try:
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
