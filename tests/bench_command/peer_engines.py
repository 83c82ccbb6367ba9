"""What the tests of peers share: their engines, and a case of a scene's text."""

import pytest

from sapsim.bench.cases import Case, Wishes, make_cases


def engine(name: str):
    """The engine of a peer; the test is skipped where its package is not installed."""
    module = pytest.importorskip(f"sapsim.bench.peers.{name}")
    pytest.importorskip(module.Engine.PACKAGE)
    return module.Engine


def case_of(folder, text: str) -> Case:
    path = folder / "arm.yaml"
    path.write_text(text)
    return make_cases([str(path)], [None], Wishes())[0]
