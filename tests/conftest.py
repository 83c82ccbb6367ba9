"""Set-up of all tests."""

import os
from pathlib import Path

import warp as wp

wp.config.log_level = wp.LOG_WARNING  # before wp.init(), or its banner lands on stdout

# Processes that tests start find the package that these tests test, installed or not.
_ROOT = str(Path(__file__).parents[1])
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_ROOT, os.environ.get("PYTHONPATH")]))


def pytest_collection_modifyitems(items):
    """Slow tests last, so that a fault shows early."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
