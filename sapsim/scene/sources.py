"""The other files of a scene or model: which may be read, and where `package://` leads (contract 1.6).

A scene reads only what lies below its own folder, below `--allow` folders and below `--package` folders; links are
followed before that is judged.  A model file that is given on the command line finds packages also in the environment
and in its own ancestors.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import Where
from sapsim.scene.yaml_loader import MAX_BYTES

PACKAGE = "package://"
FILE = "file://"


@dataclass
class Sources:
    """Where the files that a scene or model names are found.

    Fields:
        folder: relative paths of a scene's keys start here.
        roots: only what lies below one of these is read; None: no bounds.
        packages: folders of packages by name.
        searched: whether packages that are not named are looked for (a model file on the command line).
        geometry: whether collision geometry is wanted, so that a shape that cannot be used is an error.
    """

    folder: Path
    roots: tuple[Path, ...] | None = None
    packages: dict[str, Path] = field(default_factory=dict)
    searched: bool = False
    geometry: bool = True

    def allows(self, path: Path) -> bool:
        """Whether a path, its links followed, may be read."""
        if self.roots is None:
            return True
        try:
            real = Path(os.path.realpath(path))
        except ValueError:  # a NUL in it
            return False
        return any(real.is_relative_to(root) for root in self.roots)

    def with_packages(self, more: Mapping[str, Path]) -> "Sources":
        """The same with packages of a model; those of the command line come first."""
        return Sources(self.folder, self.roots, {**more, **self.packages}, self.searched, self.geometry)

    def find(self, address: str, beside: Path) -> tuple[Path | None, str]:
        """The file that an address leads to, and "", or None and why there is none.

        `package://NAME/PATH`, `file://PATH`, or a path; a relative one starts in the folder of the file `beside`.
        """
        if address.startswith(PACKAGE):
            return self._in_package(address, beside)
        scheme, colon, rest = address.partition("://")
        if colon and address.startswith(FILE):
            path = Path(rest)
        elif colon:
            return None, f'"{scheme}://" is not supported; supported: {PACKAGE}, {FILE}, and paths'
        else:
            path = beside.parent / address
        return self._existing(path)

    def _existing(self, path: Path) -> tuple[Path | None, str]:
        if not self.allows(path):
            return None, f"{path} is outside of what may be read: {listing(map(str, self.roots or ()))}"
        if os.path.isdir(path):
            return None, f"{path} is a folder, not a file"
        return (path, "") if os.path.isfile(path) else (None, f"{path} does not exist")

    def _in_package(self, address: str, beside: Path) -> tuple[Path | None, str]:
        name, _, inside = address.removeprefix(PACKAGE).partition("/")
        tried, missing = [], ""
        for folder in self._folders(name, beside):
            if not os.path.isdir(folder):
                tried.append(str(folder))
                continue
            path, problem = self._existing(folder / inside)
            if path is not None:
                return path, ""
            missing = missing or problem
        if missing:
            return None, missing
        if self.searched:
            return None, f'package "{name}" was not found; tried {", ".join(tried) or "no folder"}'
        known = f"packages: {listing(self.packages)}" + (f"; tried {', '.join(tried)}" if tried else "")
        return None, f'package "{name}" is not known; {known}'

    def _folders(self, name: str, beside: Path) -> Iterable[Path]:
        """Where a package may be, the likeliest place first."""
        places = [self.packages[name]] if name in self.packages else []
        if self.searched:
            for folder in _path_variable("ROS_PACKAGE_PATH"):
                places += [folder] if folder.name == name else [folder / name]
            places += [folder / "share" / name for folder in _path_variable("AMENT_PREFIX_PATH")]
            for ancestor in Path(os.path.abspath(beside)).parents:
                places += [ancestor] if ancestor.name == name else [ancestor / name]
        return dict.fromkeys(places)


def _path_variable(name: str) -> list[Path]:
    return [Path(p) for p in os.environ.get(name, "").split(os.pathsep) if p]


def sources_of_scene(
    file: str, allow: Iterable[str | Path], packages: Mapping[str, str | Path], geometry: bool, report: Report
) -> Sources:
    """The Sources of a scene: its folder (the current one for standard input), and what the command line adds."""
    folder = Path(file).parent
    roots = [Path(os.path.realpath(folder))]
    for given in allow:
        if _is_folder(given, "--allow", report):
            roots.append(Path(os.path.realpath(given)))
    named = _packages(packages, report)
    roots += [Path(os.path.realpath(p)) for p in named.values()]
    return Sources(folder, tuple(roots), named, geometry=geometry)


def sources_of_model(file: str, packages: Mapping[str, str | Path], report: Report) -> Sources:
    """The Sources of a model file that is given on the command line; its meshes are only named, never read."""
    return Sources(Path(file).parent, None, _packages(packages, report), searched=True, geometry=False)


def _packages(packages: Mapping[str, str | Path], report: Report) -> dict[str, Path]:
    return {name: Path(given) for name, given in packages.items() if _is_folder(given, f"--package {name}", report)}


def _is_folder(path: str | Path, option: str, report: Report) -> bool:
    if os.path.isdir(path):
        return True
    report.error(Where(f"{option}={path}"), "missing-file", "no such folder")
    return False


def read_bytes(path: Path, where: Where, suffixes: Iterable[str], report: Report) -> bytes | None:
    """The content of a file, or None with an error at the place that names it; similar names have one of the suffixes.

    One byte more than is allowed where it is too large.
    """
    named = "" if where.file == str(path) else f"{path}: "
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        folder = path.parent
        if not folder.is_dir():
            report.error(where, "missing-file", f'{named}no such file, and no folder "{folder}"')
            return None
        near = [p.name for p in folder.iterdir() if p.suffix in tuple(suffixes)]
        report.error(where, "missing-file", f"{named}no such file", did_you_mean(path.name, near))
    except IsADirectoryError:
        report.error(where, "missing-file", f"{named}this is a folder, not a file")
    except OSError as error:
        report.error(where, "missing-file", f"{named}cannot be read: {error.strerror or error}")
    except ValueError as error:
        report.error(where, "missing-file", f"{named}not a path: {error}")
    return None
