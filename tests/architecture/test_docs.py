"""README and docs/: their scenes load, their code runs, their links lead somewhere."""

import os
import re
import subprocess
import sys

import pytest
from source import ROOT

from sapsim.scene.read import loads

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PARITY = ROOT / "docs" / "drake_parity.md"
TUTORIALS = {"README.md": "ball.yaml", "docs/quickstart.md": "box.yaml"}


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def whole_scenes() -> list:
    found = []
    for page in PAGES:
        for i, text in enumerate(blocks(page.read_text("utf-8"), "yaml")):
            if text.startswith("sapsim:"):
                found.append(pytest.param(text, id=f"{page.name}-{i}"))
    return found


@pytest.mark.parametrize("text", whole_scenes())
def test_scenes_of_the_documentation_load(text):
    scene = loads(text, file="scene.yaml")
    assert scene.warnings == () and scene.steps > 0


@pytest.mark.parametrize("page, scene", TUTORIALS.items(), ids=TUTORIALS)
def test_a_tutorial_works_as_written(page, scene, tmp_path):
    """Its scene meets its `expect` entries, and all its Python runs in a folder with the result."""
    text = (ROOT / page).read_text("utf-8")
    (tmp_path / scene).write_text(blocks(text, "yaml")[0])
    result = scene.replace(".yaml", ".h5")
    script = "\n".join(blocks(text, "python"))
    assert script.count("import") >= 3
    for command in (["-m", "sapsim", "run", scene, "-o", result, "--check", "--quiet"], ["-c", script]):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, env=os.environ, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]*)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert [t for t in targets if t and not (page.parent / t).exists()] == []


def test_the_parity_page_names_files_and_tests_that_exist():
    """Its tables are an inventory: what they name must be there."""
    text = PARITY.read_text("utf-8")
    defined = "".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("*/*.py"))
    files, tests = set(re.findall(r"`(\w+/\w+\.py)`", text)), set(re.findall(r"`(test_\w+)`", text))
    assert len(files) > 10 and len(tests) > 30
    assert [name for name in sorted(files) if not (ROOT / "tests" / name).exists()] == []
    assert [name for name in sorted(tests) if f"def {name}(" not in defined] == []
    cases = set(re.findall(r"`(b\d\d_\w+\.yaml)`", text))
    assert cases == {path.name for path in (ROOT / "scenes" / "user_cases").glob("*.yaml")}
