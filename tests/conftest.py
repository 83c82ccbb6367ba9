"""Set-up of all tests: which worker runs which, and which kernels they compile, the greatest part of their time."""

import os
import re
from functools import wraps
from pathlib import Path

import pytest
import warp as wp

wp.config.log_level = wp.LOG_WARNING  # before wp.init(), or its banner lands on stdout

# Processes that tests start find the package that these tests test, installed or not.
_ROOT = str(Path(__file__).parents[1])
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_ROOT, os.environ.get("PYTHONPATH")]))

# Pipelines that tests run as one kernel unless they say otherwise, as a user's CPU does: precision, contact law, whether there
# are convex pairs.  A kernel of all stages takes half a minute to compile.  Of another law or form only the stage `newton` is
# new where stages are kernels of their own, 7 s; the bits are the same, and tests/lanes compares them for each law and form.
FUSED = {("float64", "lagged", False), ("float64", "lagged", True), ("float64", "sap", False)}


def pytest_configure():
    from sapsim.step.simulation import Simulation

    build = Simulation.__init__

    @wraps(build)
    def build_sparing(self, scene, *, fused=None, **options):
        build(self, scene, fused=fused, **options)
        if fused is None and self._fused:
            R, law, form, linear, convexes = self._variant
            self._fused = (R.name, law, convexes) in FUSED and (form, linear) == ("v_star", "auto")

    Simulation.__init__ = build_sparing


def pytest_collection_modifyitems(items):
    """Slow tests last, so that a fault shows early.  Before others of their speed those that compile for a GPU: they share no
    kernel, so one worker is busy with them while another one compiles what many tests share."""
    items.sort(key=lambda item: (item.get_closest_marker("slow") is not None, "/aot/" not in item.nodeid))


def _work_unit(nodeid: str) -> str:
    """Tests that one worker runs, one after another: those of a file, which share kernels and fixtures, and of the lane tests
    those of one build."""
    file, _, test = nodeid.partition("::")
    build = re.search(r"\[(\d+-(?:up|down))-", test) if "/lanes/" in file else None
    return f"{file}::{build[1]}" if build else file


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Two workers never compile the same kernels at once, each for itself; in the order of collection."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class WorkUnits(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _work_unit(nodeid)

    config.option.loadscopereorder = False
    return WorkUnits(config, log)
