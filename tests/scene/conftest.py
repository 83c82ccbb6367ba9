"""A folder of its own for cached hulls."""

import pytest


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of cached hulls, empty."""
    monkeypatch.setenv("SAPSIM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "hulls"
