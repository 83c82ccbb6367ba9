"""The package's source as syntax trees, for the tests of its rules."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sapsim.errors

PACKAGE = Path(sapsim.errors.__file__).parent
ROOT = PACKAGE.parent


@cache
def files() -> dict[str, ast.Module]:
    """Syntax trees of all files of the package, by path relative to it."""
    found = {str(p.relative_to(PACKAGE).as_posix()): ast.parse(p.read_text("utf-8")) for p in PACKAGE.rglob("*.py")}
    return dict(sorted(found.items()))


def imports(path: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, dotted name within the package) of all imports of the package's own modules, module level or not.

    `from sapsim.a import b` gives "a.b": b may be a module.
    """
    package = ["sapsim", *Path(path).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = [*base, *(node.module or "").split(".")] if node.module else base
            names = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "sapsim" and rest:
                yield node.lineno, rest


def imported_files(path: str) -> set[str]:
    """The package's files that a file imports directly."""
    found = set()
    for _, name in imports(path, files()[path]):
        parts = name.split(".")
        found |= {"/".join(parts[:n]) + ".py" for n in (len(parts), len(parts) - 1)} & set(files())
    return found


def decorator_name(node: ast.expr) -> str:
    """ "wp.kernel" for both `@wp.kernel` and `@wp.kernel(...)`."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def device_functions() -> Iterator[tuple[str, ast.FunctionDef, ast.expr]]:
    """(path, function, decorator) of all kernels and device functions."""
    for path, tree in files().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if decorator_name(decorator) in ("wp.kernel", "wp.func", "wp.func_native"):
                        yield path, node, decorator


def has_device_code(path: str) -> bool:
    return any(p == path for p, _, _ in device_functions())
