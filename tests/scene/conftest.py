"""Kinds of shapes that meshes become, present or absent whatever is installed; and a folder of its own for cached hulls."""

import pytest

from sapsim.kinds.base import registry
from sapsim.scene import built_shapes


def _shapes(monkeypatch, names):
    monkeypatch.setattr(built_shapes, "registry", lambda family: names if family == "shapes" else registry(family))


@pytest.fixture
def convex_kind(monkeypatch):
    """Convex shapes are there."""
    _shapes(monkeypatch, {*registry("shapes"), "convex"})


@pytest.fixture
def no_convex_kind(monkeypatch):
    """Convex shapes are not there."""
    _shapes(monkeypatch, set(registry("shapes")) - {"convex"})


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of cached hulls, empty."""
    monkeypatch.setenv("SAPSIM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "hulls"
