"""The scalar types of the grammar: numbers, truth values, strings, words of a list."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sapsim.scene.grammar import INVALID, Type, found
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import Where
from sapsim.scene.yaml_loader import Node


@dataclass(frozen=True)
class Number(Type):
    """A finite number, with bounds.  `above` is an open lower bound, `least` and `most` are closed ones.

    `largest` bounds the size, `smallest` that of a number that is not zero: far beyond all physics in SI units, but such
    that products of a few of them neither overflow nor vanish.
    """

    noun: ClassVar[str] = "a finite number"
    above: float | None = None
    least: float | None = None
    most: float | None = None
    smallest: float = 0.0
    largest: float = 1.0e30

    def describe(self) -> str:
        bounds = [
            f"{sign} {bound if isinstance(bound, int) else format(bound, 'g')}"
            for sign, bound in ((">", self.above), (">=", self.least), ("<=", self.most))
            if bound is not None
        ]
        return " ".join([self.noun, " and ".join(bounds)]).strip()

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.form != "number":
            return self.refuse(node, at, report, hint=_number_hint(node))
        try:
            value = float(node.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            return self.refuse(node, at, report, "not-finite")
        if value != 0.0 and not self.smallest <= abs(value) <= self.largest:
            text = f"found {found(node)}; numbers from {self.smallest:g} to {self.largest:g} in size are allowed"
            report.error(node.at(at.path), "out-of-range", text, "units are SI")
            return INVALID
        return self.bounded(value, node, at, report)

    def bounded(self, value: Any, node: Node, at: Where, report: Report) -> Any:
        low = (self.above is not None and value <= self.above) or (self.least is not None and value < self.least)
        high = self.most is not None and value > self.most
        return self.refuse(node, at, report, "out-of-range") if low or high else value


def _number_hint(node: Node) -> str:
    if node.form != "str":
        return ""
    if any(c.isdigit() for c in node.text):
        return "write a plain number without quotes and units; units are SI"
    return ""


@dataclass(frozen=True)
class NumberOrInf(Number):
    """A number with bounds, or .inf."""

    noun: ClassVar[str] = "a number"

    def describe(self) -> str:
        return f"{super().describe()}, or .inf"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.form == "number" and node.value == math.inf:
            return math.inf
        return super().parse(node, at, report)


@dataclass(frozen=True)
class Integer(Number):
    """A whole number, with bounds."""

    noun: ClassVar[str] = "a whole number"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        value = node.value
        if node.form != "number" or not (isinstance(value, int) or (math.isfinite(value) and value.is_integer())):
            code = "not-finite" if node.form == "number" and not math.isfinite(value) else "wrong-type"
            return self.refuse(node, at, report, code, _number_hint(node))
        return self.bounded(int(value), node, at, report)


@dataclass(frozen=True)
class Boolean(Type):
    """true or false."""

    def describe(self) -> str:
        return "true or false"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.form == "bool":
            return node.value
        word = node.form == "str" and node.text.lower() in ("yes", "no", "on", "off")
        return self.refuse(node, at, report, hint="in YAML 1.2 this is a word, not a truth value" if word else "")


@dataclass(frozen=True)
class Text(Type):
    """A string that is not empty."""

    noun: str = "a string"

    def describe(self) -> str:
        return self.noun

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.form == "str" and node.value.strip():
            return node.value
        hint = f'write "{node.text}" with quotes' if node.form in ("number", "bool") else ""
        return self.refuse(node, at, report, hint=hint)


@dataclass(frozen=True)
class Choice(Type):
    """One of some words.  Words in `later` are in the contract but not supported yet."""

    words: tuple[str, ...]
    later: tuple[str, ...] = ()

    def describe(self) -> str:
        return listing(self.words)

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.form == "str" and node.value in self.words:
            return node.value
        if node.form == "str" and node.value in self.later:
            text = f'"{node.value}" is not supported yet; supported: {self.describe()}'
            report.error(node.at(at.path), "not-supported", text)
            return INVALID
        if node.form != "str":
            return self.refuse(node, at, report)
        return self.refuse(node, at, report, "unknown-value", did_you_mean(node.text, self.words + self.later))


@dataclass(frozen=True)
class Nothing(Type):
    """true, or nothing after the colon: a key that says all by being there."""

    def describe(self) -> str:
        return "true, or nothing after the colon"

    def parse(self, node: Node, at: Where, report: Report) -> Any:
        if node.form == "null" or node.value is True:
            return True
        return self.refuse(node, at, report)
