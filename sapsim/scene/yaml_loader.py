"""YAML text -> a tree of nodes that know their places.

The events come from PyYAML; scalars are resolved here by the core schema of YAML 1.2 (section 10.3.2), so `1e-6` is a
number, and `yes`, `1:30` and `2024-01-01` are strings.  Nothing is constructed but mappings, lists, strings, numbers,
booleans and null.  Duplicate keys are errors.  Size, depth and the number of nodes after expansion of aliases are
bounded, so that a small hostile file can neither fill the memory nor overflow the stack.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from sapsim.scene.report import Report
from sapsim.scene.spec import Where

MAX_BYTES = 32 * 1024 * 1024
MAX_NODES = 1_000_000
MAX_DEPTH = 64

_NULL = re.compile(r"null|Null|NULL|~|")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"[-+]?(\.inf|\.Inf|\.INF)")
_NAN = re.compile(r"\.nan|\.NaN|\.NAN")

_TAG = "tag:yaml.org,2002:"


@dataclass(eq=False)
class Node:
    """A mapping, list or scalar with its place.

    `value` is a dict of nodes, a list of nodes, or a str, int, float, bool or None.  `keys` holds the keys' own nodes
    of a mapping, whose places are those of the keys.  `text` is a scalar as written.
    """

    kind: str  # map | seq | scalar
    value: Any
    file: str = ""
    line: int = 0
    column: int = 0
    text: str = ""
    keys: dict[str, "Node"] = field(default_factory=dict)
    size: int = 1  # nodes in the subtree
    height: int = 0  # levels below

    def at(self, path: str) -> Where:
        """The place of this node, under the key path `path`."""
        return Where(self.file, self.line, self.column, path)

    def enclose(self, child: "Node") -> None:
        """Count a child that has been composed."""
        self.size += child.size
        self.height = max(self.height, child.height + 1)

    @property
    def form(self) -> str:
        """map | seq | str | number | bool | null."""
        if self.kind != "scalar":
            return self.kind
        if self.value is None:
            return "null"
        if isinstance(self.value, bool):
            return "bool"
        return "str" if isinstance(self.value, str) else "number"


class _Refused(Exception):
    """A fault after which the rest of the text cannot be read."""

    def __init__(self, mark: Any, code: str, message: str, suggestion: str = ""):
        super().__init__(message)
        self.mark, self.code, self.message, self.suggestion = mark, code, message, suggestion


def resolve_plain(text: str) -> Any:
    """The value of a plain scalar by the core schema of YAML 1.2.  A number too large for float64 becomes infinite."""
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text):
        return True
    if _FALSE.fullmatch(text):
        return False
    # int() refuses very long numerals; as floats they are infinite, which the grammar refuses with the place
    if _DECIMAL.fullmatch(text) and len(text) < 400:
        return int(text)
    if _OCTAL.fullmatch(text) or _HEX.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITY.fullmatch(text):
        return float(text.replace(".", ""))
    if _NAN.fullmatch(text):
        return float("nan")
    return text


def decode(data: bytes, file: str, report: Report) -> str | None:
    """The text of a file, or None with an error where it is too large or not UTF-8."""
    if len(data) > MAX_BYTES:
        text = f"the file has {len(data)} bytes; at most {MAX_BYTES} are read"
        report.error(Where(file, 1, 1), "too-large", text, "write equal bodies with `repeat`")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        text = f"byte 0x{data[error.start]:02x} is not UTF-8"
        report.error(Where(file, line, column), "not-utf8", text, "save the file as UTF-8")
        return None


def parse(text: str, file: str, report: Report) -> Node | None:
    """The document's root node, or None where there is none; faults go to `report`."""
    root = _compose(text, file, report)
    if root is None and not report.errors:
        report.error(Where(file, 1, 1), "empty", "the file is empty", "a scene starts with `sapsim: 1`")
    return root


def _compose(text: str, file: str, report: Report) -> Node | None:
    if not hasattr(yaml, "CSafeLoader"):
        return _parse_in_python(text, file, report)
    trial = Report()
    try:
        root = _Composer(text, file, trial, yaml.CSafeLoader).document()
    except (yaml.YAMLError, _Refused):
        # libyaml words its messages differently: the Python parser gives the message, however PyYAML was built
        return _parse_in_python(text, file, report)
    report.extend(trial)
    return root


def _parse_in_python(text: str, file: str, report: Report) -> Node | None:
    try:
        return _Composer(text, file, report, yaml.SafeLoader).document()
    except _Refused as fault:
        where = Where(file, fault.mark.line + 1, fault.mark.column + 1)
        report.error(where, fault.code, fault.message, fault.suggestion)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Where(file, mark.line + 1, mark.column + 1) if mark else Where(file, 1, 1)
        what = ", ".join(part for part in (error.context, error.problem) if part)
        hint = "indent with spaces, not with tabs" if "\\t" in what else "see the line, and the one above it"
        report.error(where, "yaml-syntax", what, hint)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        where = Where(file, before.count("\n") + 1, error.position - before.rfind("\n"))
        report.error(where, "yaml-syntax", f"character U+{ord(text[error.position]):04X} is not allowed in YAML")
    return None


class _Composer:
    """Builds nodes from the events of one text."""

    def __init__(self, text: str, file: str, report: Report, loader: Any):
        self.events = yaml.parse(text, Loader=loader)
        self.file, self.report = file, report
        self.anchors: dict[str, Node] = {}
        self.aliased = False
        self.count = 0

    def document(self) -> Node | None:
        """The only document of the text."""
        root = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise _Refused(event.start_mark, "yaml-syntax", "a second document starts here; one is allowed")
                root = self.node(next(self.events), 0)
        if root is not None and self.aliased:
            _unshare(root, set())
        return root

    def node(self, event: Any, depth: int) -> Node:
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, depth)
        self.spend(1, event, "nodes")
        self.check_depth(depth, event)
        place = {"file": self.file, "line": mark.line + 1, "column": mark.column + 1}
        if isinstance(event, yaml.ScalarEvent):
            node = Node("scalar", self.scalar(event), text=event.value, **place)
        elif isinstance(event, yaml.SequenceStartEvent):
            self.check_tag(event, "seq")
            node = Node("seq", [], **place)
            while not isinstance(inner := next(self.events), yaml.SequenceEndEvent):
                node.value.append(self.node(inner, depth + 1))
            for child in node.value:
                node.enclose(child)
        else:
            self.check_tag(event, "map")
            node = self.mapping(Node("map", {}, **place), depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def mapping(self, node: Node, depth: int) -> Node:
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.node(event, depth + 1)
            child = self.node(next(self.events), depth + 1)
            node.enclose(key)
            node.enclose(child)
            if key.kind != "scalar":
                raise _Refused(event.start_mark, "yaml-syntax", "a key must be a word, not a list or a mapping")
            if key.text in node.keys:
                first = node.keys[key.text]
                self.report.error(
                    key.at(key.text),
                    "duplicate-key",
                    f'key "{key.text}" is given twice: in line {first.line} and in line {key.line}',
                    "remove or rename one of them",
                )
                continue
            node.keys[key.text] = key
            node.value[key.text] = child
        return node

    def scalar(self, event: Any) -> Any:
        if event.tag is None or event.tag == "!":
            return resolve_plain(event.value) if event.implicit[0] and event.tag is None else event.value
        if event.tag == _TAG + "str":
            return event.value
        value = resolve_plain(event.value)
        types = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}
        wanted = types.get(event.tag.removeprefix(_TAG))
        if wanted is None or not isinstance(value, wanted):
            self.check_tag(event, "")
        return value

    def check_tag(self, event: Any, allowed: str) -> None:
        if event.tag not in (None, "!", _TAG + allowed):
            tag = "!!" + event.tag.removeprefix(_TAG) if event.tag.startswith(_TAG) else event.tag
            raise _Refused(event.start_mark, "bad-tag", f"tag {tag} is not allowed here", "remove the tag")

    def alias(self, event: Any, depth: int) -> Node:
        target = self.anchors.get(event.anchor)
        if target is None:
            what = f"alias *{event.anchor} has no anchor &{event.anchor} that ends before it"
            raise _Refused(event.start_mark, "yaml-syntax", what)
        self.spend(target.size, event, "nodes after its aliases are expanded")
        self.check_depth(depth + target.height, event)
        self.aliased = True
        return target

    def check_depth(self, depth: int, event: Any) -> None:
        if depth > MAX_DEPTH:
            raise _Refused(event.start_mark, "too-deep", f"the nesting is deeper than {MAX_DEPTH} levels")

    def spend(self, nodes: int, event: Any, what: str) -> None:
        self.count += nodes
        if self.count > MAX_NODES:
            code = "alias-bomb" if self.anchors else "too-large"
            raise _Refused(event.start_mark, code, f"the document has more than {MAX_NODES} {what}")


def _unshare(node: Node, seen: set[int]) -> None:
    """Give every use of an anchor a tree of its own, so that an override of one leaves the others alone.

    Done when the whole text has been counted: a hostile file is refused before anything is expanded.
    """
    if node.kind == "scalar":
        return
    for key, child in list(node.value.items() if node.kind == "map" else enumerate(node.value)):
        if id(child) in seen:
            node.value[key] = _copy(child)
        else:
            seen.add(id(child))
            _unshare(child, seen)


def _copy(node: Node) -> Node:
    """The same tree once more, at the same places."""
    if node.kind == "map":
        value: Any = {k: _copy(child) for k, child in node.value.items()}
    elif node.kind == "seq":
        value = [_copy(child) for child in node.value]
    else:
        value = node.value
    return replace(node, value=value, keys=dict(node.keys))
