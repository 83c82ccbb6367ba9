"""XML with places: bytes -> elements that know their line and column.

Built on the standard library's expat.  Nothing is loaded from elsewhere: a document type, and with it every entity, is
refused.  The encoding is what the file declares, UTF-8 where it declares none.
"""

from dataclasses import dataclass, field, replace
from xml.parsers import expat

from sapsim.scene.report import Report
from sapsim.scene.spec import Where
from sapsim.scene.yaml_loader import MAX_BYTES

MAX_ELEMENTS = 1_000_000
MAX_DEPTH = 100


@dataclass(eq=False)
class Element:
    """An element with its attributes; text between elements is not kept.

    `where` is the place of its tag, with a path such as `robot/link[arm]/inertial`.
    """

    tag: str
    attributes: dict[str, str]
    where: Where
    children: list["Element"] = field(default_factory=list)

    def at(self, attribute: str) -> Where:
        """The place of an attribute: its element's, for XML parsers tell no other."""
        return replace(self.where, path=f"{self.where.path}@{attribute}")

    def all(self, tag: str) -> list["Element"]:
        """The children with a tag, in order."""
        return [c for c in self.children if c.tag == tag]


class _Refused(Exception):
    """What is well-formed but not read."""

    def __init__(self, code: str, message: str, suggestion: str = ""):
        self.code, self.message, self.suggestion = code, message, suggestion
        super().__init__(message)


def parse_xml(data: bytes, file: str, report: Report) -> Element | None:
    """The root element, or None with an error."""
    if len(data) > MAX_BYTES:
        report.error(Where(file, 1, 1), "too-large", f"the file has more than {MAX_BYTES} bytes, which are not read")
        return None
    if not data.strip():
        report.error(Where(file, 1, 1), "empty", "the file is empty")
        return None
    builder = _Builder(file)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.errors.messages.get(error.code, str(error))
        hint = "see the line, and the tags that are open above it"
        report.error(Where(file, error.lineno, error.offset + 1), "xml-syntax", f"this is no XML: {what}", hint)
        return None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know or cannot use here
        report.error(Where(file, 1, 1), "xml-syntax", f"cannot be read: {error}", "save the file as UTF-8")
        return None
    except _Refused as fault:
        line, column = builder.parser.CurrentLineNumber, builder.parser.CurrentColumnNumber + 1
        report.error(Where(file, line, column), fault.code, fault.message, fault.suggestion)
        return None
    return builder.root


class _Builder:
    """Makes elements of expat's events."""

    def __init__(self, file: str):
        self.file = file
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse_doctype

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise _Refused("too-large", f"the document has more than {MAX_ELEMENTS} elements")
        if len(self.open) >= MAX_DEPTH:
            raise _Refused("too-deep", f"the nesting is deeper than {MAX_DEPTH} levels")
        name = f"[{attributes['name']}]" if attributes.get("name") else ""
        path = f"{self.open[-1].where.path}/{tag}{name}" if self.open else tag
        place = Where(self.file, self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1, path)
        element = Element(tag, attributes, place)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def refuse_doctype(self, *declaration) -> None:
        raise _Refused("doctype", "a document type (<!DOCTYPE>) is not allowed", "remove it, and what it defines")
