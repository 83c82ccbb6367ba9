"""What a reader finds: errors and warnings with their places, collected so that all faults come out in one pass."""

from collections.abc import Iterable
from difflib import get_close_matches

from sapsim.errors import Message
from sapsim.scene.spec import Where


class Report:
    """Collects messages; the same one twice is one."""

    def __init__(self) -> None:
        self._errors: dict[Message, Message] = {}
        self._warnings: dict[Message, Message] = {}

    def error(self, where: Where, code: str, message: str, suggestion: str = "") -> None:
        """Record a fault: what was found and what is allowed in `message`, how to mend it in `suggestion`."""
        self._add(self._errors, where, code, message, suggestion)

    def warn(self, where: Where, code: str, message: str, suggestion: str = "") -> None:
        """Record something that is accepted but should be looked at."""
        self._add(self._warnings, where, code, message, suggestion)

    def extend(self, other: "Report") -> None:
        """Take over all messages of another report."""
        self._errors |= other._errors
        self._warnings |= other._warnings

    @staticmethod
    def _add(store: dict[Message, Message], where: Where, code: str, message: str, suggestion: str) -> None:
        text = Message(where.file, where.line, where.column, where.path, code, message, suggestion)
        store.setdefault(text, text)

    @property
    def errors(self) -> list[Message]:
        """All errors, in the order of their places."""
        return sorted(self._errors.values(), key=_place)

    @property
    def warnings(self) -> list[Message]:
        """All warnings, in the order of their places."""
        return sorted(self._warnings.values(), key=_place)


def _place(message: Message) -> tuple:
    return (message.file, message.line, message.column)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that `word` is most likely meant to be, or "" where none is near."""
    known = list(known)
    by_lower = {k.lower(): k for k in known}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean "x"?`, or "" where no known word is near."""
    near = nearest(word, known)
    return f'did you mean "{near}"?' if near else ""


def listing(words: Iterable[str], limit: int = 16) -> str:
    """`a, b, c`, cut after `limit` words."""
    words = list(words)
    if not words:
        return "none"
    tail = f", ... ({len(words)} in all)" if len(words) > limit else ""
    return ", ".join(words[:limit]) + tail
