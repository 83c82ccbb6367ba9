"""Dynamics of a scene's mechanism as functions: `Dynamics` (api.py), `ExternalForce`, `LinkMotion`, `MassCentre`; beside them
a file to a stage.

The public names are imported when they are first used, since they bring Warp.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Dynamics": "sapsim.dynamics.api",
    "ExternalForce": "sapsim.dynamics.api",
    "LinkMotion": "sapsim.dynamics.links",
    "MassCentre": "sapsim.dynamics.momentum",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
