"""No barrier under a condition that depends on the lane: on a GPU that is a deadlock, and fibers do not show it.

Read from the source.  A value depends on the lane where it is computed from `lane`, or from such a value, or assigned under a
condition on one; an array element depends on it through its indices only (what lanes exchange goes through arrays, and
the lane tests check that).  Whether a function's result depends on the lane is found from its body.
"""

import ast

import pytest
from source import device_functions, files, imported_files

LANE = "lane"
SYNCHRONISES = "barrier"


def calls(node: ast.AST) -> list[ast.Call]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Call)]


def called(call: ast.Call) -> str:
    """The last part of the called name."""
    return ast.unparse(call.func).split(".")[-1]


class Program:
    """All device functions as (path, name): which synchronise, and which return values that depend on the lane."""

    def __init__(self, functions: list[tuple[str, ast.FunctionDef]], imported: dict[str, set[str]]):
        self.functions = functions
        self.imported = imported  # files whose functions a file can name
        self.by_name: dict[str, set[str]] = {}
        for path, f in functions:
            self.by_name.setdefault(f.name, set()).add(path)
        self.synchronising: set[tuple[str, str]] = set()
        self.lane_results: set[tuple[str, str]] = set()
        self._fixpoint(self.synchronising, lambda path, f: self.synchronises(path, f))
        self._fixpoint(self.lane_results, lambda path, f: Function(path, f, self).returns_lane)

    def _fixpoint(self, known: set, holds) -> None:
        """Adds functions of which `holds` until nothing changes; `holds` reads `known`."""
        before = -1
        while len(known) != before:
            before = len(known)
            known |= {(path, f.name) for path, f in self.functions if holds(path, f)}

    def resolve(self, path: str, name: str) -> set[tuple[str, str]]:
        """The functions that a name can mean in a file: its own and imported ones, or any where it has none (registries)."""
        paths = self.by_name.get(name, set())
        near = paths & (self.imported.get(path, set()) | {path})
        return {(p, name) for p in near or paths}

    def synchronises(self, path: str, node: ast.AST) -> bool:
        names = {called(c) for c in calls(node)}
        return SYNCHRONISES in names or any(self.resolve(path, name) & self.synchronising for name in names)


class Function:
    """One device function: the names that depend on the lane, and the barriers that do."""

    def __init__(self, path: str, f: ast.FunctionDef, program: Program):
        self.path = path
        self.program = program
        self.names = {a.arg for a in f.args.args if a.arg == LANE}
        self.returns_lane = False
        self.faults: set[int] = set()
        self._block(f.body, False)

    def depends(self, node: ast.AST | None) -> bool:
        """Whether an expression depends on the lane."""
        if node is None:
            return False
        if isinstance(node, ast.Call):
            known = self.program.resolve(self.path, called(node))
            if known:
                others = [a for a in node.args if not (isinstance(a, ast.Name) and a.id == LANE)]
                return bool(known & self.program.lane_results) or any(self.depends(a) for a in others)
            return any(self.depends(a) for a in [*node.args, *(k.value for k in node.keywords)])
        if isinstance(node, ast.Name):
            return node.id in self.names
        return any(self.depends(child) for child in ast.iter_child_nodes(node))

    def _assign(self, target: ast.AST, dependent: bool) -> None:
        if isinstance(target, ast.Name):
            (self.names.add if dependent else self.names.discard)(target.id)
        elif isinstance(target, ast.Tuple):
            for item in target.elts:
                self._assign(item, dependent)

    def _block(self, body: list[ast.stmt], under: bool) -> set[type]:
        """Goes through statements, `under` a lane-dependent condition or not; how some lanes, not all, leave the block."""
        left = set()
        for statement in body:
            divergent = under or bool(left)
            compound = isinstance(statement, ast.If | ast.For | ast.While)
            if divergent and not compound and self.program.synchronises(self.path, statement):
                self.faults.add(statement.lineno)
            left |= self._statement(statement, divergent)
        return left

    def _statement(self, node: ast.stmt, under: bool) -> set[type]:
        """Goes through a statement; how some lanes, not all, leave the statements behind it."""
        if isinstance(node, ast.Assign | ast.AnnAssign):
            dependent = under or self.depends(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._assign(target, dependent)
        elif isinstance(node, ast.AugAssign):
            self._assign(node.target, under or self.depends(node.value) or self.depends(node.target))
        elif isinstance(node, ast.Return):
            self.returns_lane |= node.value is not None and (under or self.depends(node.value))
        elif isinstance(node, ast.If):
            return self._if(node, under)
        elif isinstance(node, ast.For | ast.While):
            return self._loop(node, under)
        return {type(node)} if under and isinstance(node, ast.Return | ast.Break | ast.Continue) else set()

    def _if(self, node: ast.If, under: bool) -> set[type]:
        inner = under or self.depends(node.test)
        self._branch_test(node.test, under)
        before = set(self.names)
        left = self._block(node.body, inner)
        after_body, self.names = self.names, before
        left |= self._block(node.orelse, inner)
        self.names |= after_body
        return left

    def _loop(self, node: ast.For | ast.While, under: bool) -> set[type]:
        head = node.iter if isinstance(node, ast.For) else node.test
        left: set[type] = set()
        while True:  # names and ways out grow until nothing changes, because a loop carries them back
            before = set(self.names), set(left)
            inner = under or self.depends(head) or ast.Break in left or ast.Return in left
            self._branch_test(head, inner)
            if isinstance(node, ast.For):
                self._assign(node.target, inner)
            left |= self._block(node.body, inner)
            self.names |= before[0]
            if (self.names, left) == before:
                return left & {ast.Return}

    def _branch_test(self, test: ast.AST, under: bool) -> None:
        """A barrier in a condition, where only some lanes evaluate it."""
        if under and self.program.synchronises(self.path, test):
            self.faults.add(test.lineno)


def faults(program: Program) -> list[str]:
    return [f"{path}:{n} in {f.name}" for path, f in program.functions for n in sorted(Function(path, f, program).faults)]


def package() -> Program:
    functions = [(path, f) for path, f, _ in device_functions()]
    return Program(functions, {path: imported_files(path) for path in files()})


def test_no_barrier_depends_on_the_lane():
    program = package()
    assert len(program.synchronising) > 10  # the names are found at all
    assert faults(program) == []


FAULTY = {
    "plain": "if lane == 0:\n        barrier()",
    "loop": "for i in range(lane, n, d):\n        barrier()",
    "through a name": "first = lane < 2\n    if first:\n        barrier()",
    "through an assignment under a condition": "x = 0\n    if lane == 0:\n        x = 1\n    if x == 1:\n        barrier()",
    "through a result": "if helper(lane) == 0:\n        barrier()",
    "in a called function": "if lane == 0:\n        deep(lane)",
    "after an early return": "if lane > 3:\n        return\n    barrier()",
    "after a break": "for k in range(n):\n        if lane == k:\n            break\n        barrier()",
    "before a break": "for k in range(n):\n        barrier()\n        if lane == k:\n            break",
    "while": "i = lane\n    while i < n:\n        i += 1\n        barrier()",
    "return inside a loop": "for k in range(n):\n        if lane == k:\n            return\n    barrier()",
    "through a loop": "y = 0\n    for k in range(n):\n        if y > 2:\n            barrier()\n        y = y + lane",
}
SOUND = {
    "around work of one lane": "barrier()\n    if lane == 0:\n        s[0] = 1\n    barrier()",
    "uniform condition": "if s[0] > 0:\n        barrier()",
    "result of a synchronising function": "if uniform(lane) > 0:\n        barrier()",
    "uniform return": "if n == 0:\n        return\n    barrier()",
    "name used again": "x = lane\n    x = s[0]\n    if x > 0:\n        barrier()",
    "own element": "s[lane] = lane\n    barrier()\n    if s[0] > 0:\n        barrier()",
    "one lane of a loop": "for k in range(n):\n        if k % d == lane:\n            s[k] = 1\n        barrier()",
}
HELPERS = """
def helper(lane):
    return lane % 2
def uniform(lane):
    barrier()
    return s[0]
def deep(lane):
    uniform(lane)
"""


def planted(body: str) -> list[str]:
    tree = ast.parse(HELPERS + f"def f(lane, n, d, s):\n    {body}\n")
    return faults(Program([("x.py", f) for f in tree.body], {}))


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_a_divergent_barrier_is_found(body):
    assert planted(body) != []


@pytest.mark.parametrize("body", SOUND.values(), ids=SOUND)
def test_a_uniform_barrier_is_accepted(body):
    assert planted(body) == []
