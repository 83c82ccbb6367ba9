"""What commands print: JSON on stdout, messages on stderr."""

import json
import math
import os
import sys
from typing import Any, TextIO

from sapsim.errors import Message, SapsimError, SceneError
from sapsim.status import ExitCode


def print_json(value: Any) -> None:
    """One JSON object on stdout; numbers that JSON does not know become null."""
    say(json.dumps(_plain(value), allow_nan=False, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def say(text: str) -> None:
    """One line of the result, on stdout."""
    _write(text, sys.stdout)


def note(text: str) -> None:
    """One message on stderr."""
    _write(text, sys.stderr)


def _write(text: str, stream: TextIO) -> None:
    """Prints; where the reader has gone (`| head`), what is left goes nowhere and the command goes on to its exit code."""
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def findings(errors: list[Message], warnings: list[Message]) -> dict[str, Any]:
    """The object of `check --json`, which every command prints on exit 2."""
    return {
        "ok": not errors,
        "errors": [m.as_dict() for m in errors],
        "warnings": [m.as_dict() for m in warnings],
    }


def print_findings(errors: list[Message], warnings: list[Message]) -> None:
    """Every warning and error, one a line, on stderr."""
    for warning in warnings:
        note(f"warning: {warning}")
    for error in errors:
        note(f"error: {error}")


def as_messages(error: SapsimError | str) -> tuple[list[Message], list[Message]]:
    """Errors and warnings of what was raised; a usage error has no place in a file."""
    if isinstance(error, SceneError):
        return error.errors, error.warnings
    return [Message("", 0, 0, "", "usage", str(error))], []


def report_input_error(error: SapsimError | str, as_json: bool) -> ExitCode:
    """Bad usage or bad input: exit 2."""
    errors, warnings = as_messages(error)
    if as_json:
        print_json(findings(errors, warnings))
    elif isinstance(error, SceneError):
        print_findings(errors, warnings)
        note(f"{len(errors)} error{'s' * (len(errors) != 1)}")
    else:
        note(f"error: {error}")
    return ExitCode.BAD_INPUT


def report_failure(text: str, code: ExitCode, as_json: bool) -> ExitCode:
    """Anything that ended a command before it had a result."""
    note(f"error: {text}" if code != ExitCode.INTERRUPTED else text)
    if as_json:
        status = "interrupted" if code == ExitCode.INTERRUPTED else "failed"
        print_json({"status": status, "exit_code": int(code), "error": text})
    return code
