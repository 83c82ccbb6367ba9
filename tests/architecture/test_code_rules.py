"""Rules of the source: sizes, kernel files, atomics, and branches on kinds."""

import ast

from source import PACKAGE, decorator_name, device_functions, files, has_device_code

from sapsim.kinds.base import registry

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
FAMILIES = ("joints", "shapes", "pairs", "contacts", "constraints")
# `base: fixed | floating` of an instance says how a root is placed; that is a word of the scene file before it is a joint.
BASE_WORDS = {"fixed", "floating"}


def test_files_are_short():
    lines = {path: len((PACKAGE / path).read_text("utf-8").splitlines()) for path in files()}
    assert {path: n for path, n in lines.items() if n > MAX_FILE_LINES} == {}


def test_kernels_and_device_functions_are_short():
    """Counted from `def` to the last line of the body."""
    long = [
        f"{path}:{f.lineno} {f.name} has {f.end_lineno - f.lineno + 1} lines"
        for path, f, _ in device_functions()
        if f.end_lineno - f.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_kernel_files_do_not_postpone_annotations():
    """`from __future__ import annotations` turns the types of kernels in factories into names that Warp cannot resolve."""
    found = [
        path
        for path, tree in files().items()
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and has_device_code(path)
    ]
    assert found == []


def test_kernels_have_no_backward_pass_and_a_named_module():
    """A backward pass doubles compile time; unique modules compile 3.5 times slower than named ones."""
    kernels = [(path, f, d) for path, f, d in device_functions() if decorator_name(d) == "wp.kernel"]
    assert kernels
    for path, f, decorator in kernels:
        keywords = {k.arg: ast.unparse(k.value) for k in decorator.keywords} if isinstance(decorator, ast.Call) else {}
        assert keywords.get("enable_backward") == "False", f"{path}:{f.lineno} {f.name}"
        assert {"module", "name"} <= set(keywords), f"{path}:{f.lineno} {f.name}"


def test_no_atomics():
    """Float atomics add in the order of arrival; integer ones give places in that order.  Only bits may be or-ed."""
    found = [
        f"{path}:{node.lineno} {node.attr}"
        for path, tree in files().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("atomic_") and node.attr != "atomic_or"
    ]
    assert found == []


def kind_names() -> set[str]:
    return {name for family in FAMILIES for name in registry(family)}


def kind_branches(path: str, tree: ast.AST, names: set[str]) -> list[str]:
    """Comparisons with the name of a kind."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            constants = {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
            about_base = "base" in ast.unparse(node) and constants <= BASE_WORDS | {"base"}
            if constants & names and not about_base:
                found.append(f"{path}:{node.lineno} {ast.unparse(node)}")
        if isinstance(node, ast.match_case):
            constants = {c.value for c in ast.walk(node.pattern) if isinstance(c, ast.Constant)}
            found += [f"{path}:{node.pattern.lineno} case {c!r}" for c in constants & names]
    return found


def test_no_branch_on_a_kind_outside_its_file():
    """The oracle in reference/ is exempt: a page of NumPy that is written without the registry it checks."""
    outside = {path: tree for path, tree in files().items() if not path.startswith(("kinds/", "reference/"))}
    assert [v for path, tree in outside.items() for v in kind_branches(path, tree, kind_names())] == []


def test_a_branch_on_a_kind_is_found():
    tree = ast.parse('if kind == "revolute" or shape in ("box", "sphere"):\n    pass\nif base == "fixed":\n    pass')
    assert len(kind_branches("x.py", tree, kind_names())) == 2
