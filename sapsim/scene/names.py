"""The names of a scene: what is addressed by `a/b`, by a body's name, or by a pattern (contract 1.2)."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import WORLD, Where


class Names:
    """Full names of links and joints, and the groups (instances, bodies, repeated bodies) that contain links.

    `open_groups` are instances whose model could not be read: any name below them may be right.  `all_open` where not even
    the names of instances or bodies could be read.
    """

    def __init__(self) -> None:
        self.links: dict[str, Where] = {}
        self.joints: dict[str, Where] = {}
        self.groups: dict[str, list[str]] = {}
        self.open_groups: set[str] = set()
        self.all_open = False
        self._other_names: dict[str, str] = {}  # `ball/ball` -> `ball`

    def add_group(self, name: str, where: Where, places: dict[str, Where], report: Report) -> bool:
        """An instance or body: its name must be new, must not be `world`, and has no slash.  Whether that is so."""
        faults = len(report.errors)
        if name == WORLD:
            report.error(where, "reserved-name", '"world" is reserved', "choose another name")
        elif "/" in name:
            text = f'"{name}" has a slash, which separates an instance from its links'
            report.error(where, "bad-name", text, "choose another name")
        elif name in places:
            other = places[name]
            text = f'the name "{name}" is given twice: also in line {other.line}'
            report.error(where, "duplicate-name", text, "instances and bodies share their names: rename one")
        places.setdefault(name, where)
        self.groups.setdefault(name, [])
        return len(report.errors) == faults

    def add_link(self, group: str, name: str, where: Where, other_name: str = "") -> None:
        """A link under its full name."""
        self.links.setdefault(name, where)
        self.groups.setdefault(group, []).append(name)
        if other_name:
            self._other_names[other_name] = name

    def find_link(self, name: str, where: Where, report: Report) -> str | None:
        """The full name of a link, or None with an error (none where its instance could not be read)."""
        name = self._other_names.get(name, name)
        if name in self.links:
            return name
        if not self._is_open(name):
            text = f'unknown link "{name}"; links of this scene: {listing(self.links)}'
            report.error(where, "unknown-name", text, self._hint(name, self.links))
        return None

    def find_joint(self, name: str, where: Where, report: Report) -> str | None:
        """The full name of a joint, or None with an error."""
        if name in self.joints:
            return name
        if not self._is_open(name):
            text = f'unknown joint "{name}"; joints of this scene: {listing(self.joints)}'
            report.error(where, "unknown-name", text, self._hint(name, self.joints))
        return None

    def match_joints(self, pattern: str, where: Where, report: Report) -> list[str]:
        """The joints that a pattern with * or ? finds, in the order of the scene; none with an error."""
        found = [joint for joint in self.joints if fnmatchcase(joint, pattern.replace("[", "[[]"))]
        group = pattern.partition("/")[0]
        if not found and not self.all_open and not any(fnmatchcase(g, group) for g in self.open_groups):
            text = f'no joint is named like "{pattern}"; joints of this scene: {listing(self.joints)}'
            report.error(where, "unknown-name", text, "")
        return found

    def _is_open(self, name: str) -> bool:
        """Whether the name may be that of something that could not be read."""
        return self.all_open or name.partition("/")[0] in self.open_groups

    def _hint(self, name: str, known: Iterable[str]) -> str:
        if name == WORLD:
            return "of the world, `expect` has `world: true`"
        inside = self.groups.get(name)
        if inside:
            return f'"{name}" has the links {listing(inside, 4)}'
        return did_you_mean(name, known)

    def expand(self, name: str, where: Where, report: Report) -> list[str]:
        """The links (or WORLD) that an entry of `filter` means: a link, instance, body, world, or a pattern with *."""
        full = self._other_names.get(name, name)
        if full == WORLD or full in self.links:
            return [full]
        if full in self.groups:
            return self.groups[full]
        if "*" in full or "?" in full:
            found = [link for link in self.links if fnmatchcase(link, full.replace("[", "[[]"))]
            if found or self.all_open or any(fnmatchcase(g, full.partition("/")[0]) for g in self.open_groups):
                return found
        elif self._is_open(full):
            return []
        known = [WORLD, *self.groups, *self.links]
        text = f'unknown name "{name}"; instances and bodies: {listing([WORLD, *self.groups])}'
        report.error(where, "unknown-name", text, did_you_mean(name, known))
        return []
