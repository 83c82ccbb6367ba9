"""Values of XML attributes, read strictly: numbers, names, and what a file has beyond what is known."""

import math
import re
from collections.abc import Iterable, Sequence

from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import Where
from sapsim.scene.xml_tree import Element

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# As in YAML (scalars.Number): far beyond all physics in SI units, but products of a few neither overflow nor vanish.
LARGEST = 1.0e30
SMALLEST_LENGTH = 1.0e-30


def read_numbers(element: Element, attribute: str, n: int, report: Report) -> tuple[float, ...] | None:
    """Exactly n finite numbers with white space between them; None with an error.  The attribute must be there."""
    text = element.attributes[attribute]
    words = text.split()
    shown = f'{attribute}="{_short(text)}"'
    allowed = "a finite number is allowed" if n == 1 else f"{n} finite numbers, separated by blanks, are allowed"
    place = element.at(attribute)
    for word in words:
        if not _NUMBER.fullmatch(word):
            report.error(place, *_bad_number(word, shown, allowed))
            return None
        if abs(float(word)) > LARGEST:
            report.error(place, "out-of-range", f'{shown}: "{word}" is larger than {LARGEST:g}', "units are SI")
            return None
    if len(words) != n:
        text = f"{shown}: found {len(words)} number{'s' * (len(words) != 1)}; {allowed}"
        report.error(place, "wrong-length", text, "leave the attribute out for its default, or give all of it")
        return None
    return tuple(float(w) for w in words)


def _bad_number(word: str, shown: str, allowed: str) -> tuple[str, str, str]:
    """(code, message, suggestion) for a word that is no number."""
    if word.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        hint = "leave the attribute out where there is no bound" if "nan" not in word.lower() else "give its value"
        return "not-finite", f'{shown}: "{word}" is not finite; {allowed}', hint
    hint = "write plain numbers without units; units are SI"
    if "," in word:
        hint = "separate numbers by blanks, and write a decimal point"
    return "wrong-type", f'{shown}: "{word}" is not a number; {allowed}', hint


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def read_number(
    element: Element,
    attribute: str,
    report: Report,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
) -> float | None:
    """One finite number with bounds; None with an error.  The attribute must be there."""
    values = read_numbers(element, attribute, 1, report)
    if values is None:
        return None
    if not check_bounds(element, attribute, values, report, least=least, above=above):
        return None
    return values[0]


def check_bounds(
    element: Element,
    attribute: str,
    values: Sequence[float],
    report: Report,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
) -> bool:
    """Whether all values are >= least and > above; else an error.  A length that is > 0 must not vanish in products."""
    smallest = SMALLEST_LENGTH if above == 0.0 else -math.inf
    if all(v >= least and v > above and (v <= 0.0 or v >= smallest) for v in values):
        return True
    bound = f"> {above:g}" if above > -math.inf else f">= {least:g}"
    text = (
        f'{attribute}="{_short(element.attributes[attribute])}": {"each number" if len(values) > 1 else "it"} must be {bound}'
    )
    report.error(element.at(attribute), "out-of-range", text, "units are SI")
    return False


def require(element: Element, attribute: str, report: Report) -> bool:
    """Whether an attribute is there; else an error."""
    if attribute in element.attributes:
        return True
    text = f'<{element.tag}> has no attribute "{attribute}"'
    report.error(
        element.where, "missing-attribute", text, did_you_mean(attribute, element.attributes) or f"add {attribute}=..."
    )
    return False


def read_name(element: Element, attribute: str, report: Report) -> str:
    """A name that is not empty, or "" with an error."""
    if not require(element, attribute, report):
        return ""
    name = element.attributes[attribute].strip()
    if not name:
        report.error(element.at(attribute), "bad-name", f'{attribute}="" is empty', "give a name")
    return name


def only_child(element: Element, tag: str, report: Report) -> Element | None:
    """The child with a tag, or None; an error where there are two."""
    found = element.all(tag)
    if len(found) > 1:
        text = f"<{tag}> is given twice in <{element.tag}>: in line {found[0].where.line} and in line {found[1].where.line}"
        report.error(found[1].where, "duplicate-element", text, "remove one of them")
    return found[0] if found else None


class Notices:
    """Warnings that a file gets once each, at their first place, with all the names that they concern."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[Where, str, list[str]]] = {}

    def add(self, where: Where, code: str, text: str, hint: str = "", name: str = "") -> None:
        """`text` may hold `{names}`: the names so far; without it, their number is told where there are several."""
        place = self._found.setdefault((code, text), (where, hint, []))
        place[2].append(name)

    def tell(self, report: Report) -> None:
        """Pass everything on as warnings."""
        for (code, text), (where, hint, names) in self._found.items():
            if "{names}" in text:
                text = text.replace("{names}", listing(dict.fromkeys(names), 6))
            elif len(names) > 1:
                text = f"{text} ({len(names)} times; this is the first)"
            report.warn(where, code, text, hint)


def note_unknown(element: Element, children: Iterable[str], attributes: Iterable[str], notices: Notices) -> None:
    """Note what an element holds beyond the children and attributes that are read."""
    children, attributes = tuple(children), tuple(attributes)
    for child in element.children:
        if child.tag not in children:
            text = f"<{child.tag}> in <{element.tag}> is not known, and is ignored"
            notices.add(child.where, "unknown-element", text, did_you_mean(child.tag, children) or _known(children))
    for attribute in element.attributes:
        if attribute not in attributes and not attribute.startswith("xmlns"):
            text = f'the attribute "{attribute}" of <{element.tag}> is not known, and is ignored'
            hint = did_you_mean(attribute, attributes) or _known(attributes)
            notices.add(element.at(attribute), "unknown-attribute", text, hint)


def _known(words: tuple[str, ...]) -> str:
    return f"known here: {listing(words)}" if words else "nothing is known here"
