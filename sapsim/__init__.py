"""sapsim: multibody simulation with frictional contact, from a scene file to HDF5.

Public names: `load` (scene file -> Scene), `build` (Scene -> Model), `Simulation` (a scene in motion), `open_run` (a result
file), `__version__`.  They are imported when they are first used, so that `import sapsim` costs nothing.
"""

from importlib import import_module
from typing import Any

__all__ = ["Simulation", "__version__", "build", "load", "open_run"]

_HOMES = {
    "load": "sapsim.scene.read",
    "build": "sapsim.model.build",
    "Simulation": "sapsim.step.simulation",
    "open_run": "sapsim.record.reader",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _version() -> str:
    """The installed version; "unknown" for a source tree that is on the path without being installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sapsim")
    except PackageNotFoundError:
        return "unknown"
