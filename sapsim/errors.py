"""Messages with a place, and the exceptions that carry them.  Imports nothing of the package."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Message:
    """One located finding: what was found, what is allowed, how to fix it.

    `code` is a short stable word ("unknown-key", "not-supported", "wrong-type", ...); `path` the key's path in the file.
    """

    file: str
    line: int
    column: int
    path: str
    code: str
    message: str
    suggestion: str = ""

    def __str__(self) -> str:
        place = ":".join(str(x) for x in (self.file, self.line, self.column) if x)
        path = f"{self.path}: " if self.path else ""
        hint = f" ({self.suggestion})" if self.suggestion else ""
        return f"{place}: {path}{self.message}{hint}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class SapsimError(Exception):
    """Base of the errors that a user can cause or must know; the command line turns each into an exit code."""


class SceneError(SapsimError):
    """Bad input: every fault that was found, and the warnings beside them.  Exit code 2."""

    def __init__(self, errors: list[Message], warnings: list[Message] | None = None):
        self.errors = list(errors)
        self.warnings = list(warnings or [])
        super().__init__("\n".join(str(e) for e in self.errors))


class UsageError(SapsimError):
    """Options that do not fit together, or that are not supported yet.  Exit code 2."""


class MachineError(SapsimError):
    """The machine failed: no device, out of memory, disk full.  Exit code 6."""
