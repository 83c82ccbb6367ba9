"""Who may import whom:

    cli -> bench, gradient, validate, record -> step -> solver, dynamics, collide -> linalg, model -> kinds -> math

Arrows may be followed, also over several places, never reversed; modules of one place do not import each other.  Beside them:
`scene` imports `kinds` and `errors`; only model/build.py imports `scene`, and cli and bench read scenes; `reference` is an
oracle and imports nothing that it checks; `errors` and `status` import nothing and may be imported by all.
"""

import pytest
from source import PACKAGE, files, imports

PLACES = [
    ["math"],
    ["kinds"],
    ["linalg", "model"],
    ["solver", "dynamics", "collide"],
    ["step"],
    ["bench", "gradient", "validate", "record"],
    ["cli"],
]
LEVEL = {name: level for level, names in enumerate(PLACES) for name in names}
FREE = {"errors", "status"}
TOP = {"__init__", "__main__"}  # the public names, and `python -m sapsim`
BESIDE = {"scene": {"kinds"}, "reference": set()}
# Who may import what of `scene`, beside scene itself.
SCENE_READERS = {
    "model/build.py": ("scene.",),
    "bench/": ("scene.poses", "scene.read", "scene.report"),
    "cli/": ("scene.read", "scene.schema", "scene.spec"),
}


def package_of(path: str) -> str:
    return path.split("/")[0].removesuffix(".py")


def may_import_scene(path: str, name: str) -> bool:
    readers = [names for start, names in SCENE_READERS.items() if path.startswith(start)]
    return any(name.startswith(prefix) for names in readers for prefix in names)


def allowed(path: str, name: str) -> bool:
    """Whether a file may import a name, both relative to the package."""
    here, there = package_of(path), name.split(".")[0]
    if there == here or there in FREE or here in TOP:
        return here not in FREE
    if there == "__version__":
        return here in ("bench", "cli")
    if there == "scene":
        return may_import_scene(path, name)
    if here in BESIDE:
        return there in BESIDE[here]
    return here in LEVEL and there in LEVEL and LEVEL[here] > LEVEL[there]


def violations(path: str, tree) -> list[str]:
    return [f"{path}:{line} imports {name}" for line, name in imports(path, tree) if not allowed(path, name)]


def test_every_import_follows_the_arrows():
    assert [v for path, tree in files().items() for v in violations(path, tree)] == []


def test_every_folder_has_a_place():
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir() and not p.name.startswith("__")}
    folders |= {p.stem for p in PACKAGE.glob("*.py")} - FREE - TOP
    assert folders == set(LEVEL) | set(BESIDE)


@pytest.mark.parametrize(
    "path, name",
    [
        ("math/real.py", "kinds.base"),
        ("model/build.py", "step.simulation"),
        ("model/pairs.py", "scene.spec"),
        ("solver/newton.py", "dynamics.crba"),
        ("scene/read.py", "model.build"),
        ("reference/step.py", "dynamics.crba"),
        ("record/writer.py", "cli.main"),
        ("step/simulation.py", "bench.measure"),
        ("bench/measure.py", "validate.report"),
        ("errors.py", "status"),
    ],
)
def test_a_reversed_arrow_is_found(path, name):
    assert not allowed(path, name)


def test_scene_checking_imports_neither_warp_nor_trimesh_at_the_top():
    """`sapsim check` and `--help` must answer at once: warp costs a second, trimesh more."""
    import ast

    heavy = []
    for path, tree in files().items():
        if path.startswith(("scene/", "cli/", "kinds/")) and path != "kinds/dispatch.py":
            for node in tree.body:
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                heavy += [f"{path}:{node.lineno} {n}" for n in names if n.split(".")[0] in ("warp", "trimesh")]
    assert heavy == []
