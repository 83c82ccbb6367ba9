"""What an engine offers to be measured, and how engines are found."""

import importlib
import importlib.util
import pkgutil
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sapsim.bench import peers
from sapsim.bench.cases import Case
from sapsim.errors import UsageError
from sapsim.scene.report import did_you_mean, listing

SAMPLES = 200  # instants at which a peer is looked at in the run that is not timed
LATER = ("mujoco_warp", "newton")


class Unfit(Exception):
    """The engine cannot run the scene as sapsim does; the row says why and has no figure."""


@dataclass(frozen=True)
class Seen:
    """Means over a run and all worlds: contacts and solver iterations a step, part of the steps that converged.

    None where the engine does not tell.
    """

    contacts: float
    iterations: float | None
    converged: float | None


@dataclass(frozen=True)
class Fault:
    """Why a figure is void: `kind` is "unconverged" or "failed"."""

    kind: str
    text: str


class Engine(Protocol):
    """A scene in an engine, at its initial state; all worlds advance one after another or together.

    Attributes:
        NAME: as in rows.
        PACKAGE: the module to import, and REQUIREMENT, what pip calls it.
        version, device, precision: as in rows; threads that step.
        boxes: how boxes collide, "" where there is no choice.
    """

    NAME: str
    PACKAGE: str
    REQUIREMENT: str
    version: str
    device: str
    precision: str
    threads: int
    boxes: str

    def __init__(self, case: Case): ...

    def restart(self) -> None:
        """All worlds back to the initial state."""

    def advance(self, n: int) -> None:
        """n steps of all worlds, ended when it returns."""

    def observe(self, n: int) -> Seen:
        """The same n steps, looked at."""

    def fault(self) -> Fault | None:
        """What went wrong since the start or the last restart."""

    def poses(self) -> np.ndarray:
        """(n, 3, 4) [R_WB, p_WB] of the moving bodies of world 0 that have mass, in the order of the model."""


def find_peers() -> list[str]:
    """Names of the engines of the folder, sorted; what begins with _ is shared by them."""
    return sorted(info.name for info in pkgutil.iter_modules(peers.__path__) if not info.name.startswith("_"))


def load_peers(names: list[str]) -> list[type[Engine]]:
    """The engines' classes, in the order given.  Raises UsageError for one that is not known or not installed."""
    known, found = find_peers(), []
    for name in names:
        if name in LATER:
            raise UsageError(f"--peers {name}: not supported yet; known are {listing(known)}")
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f"--peers {name}: known are {listing(known)}" + (f"; {hint}" if hint else ""))
        engine = importlib.import_module(f"{peers.__name__}.{name}").Engine
        if importlib.util.find_spec(engine.PACKAGE) is None:
            need = f"needs the package {engine.REQUIREMENT}: pip install 'sapsim[peers]'"
            raise UsageError(f"--peers {name}: {need}")
        found.append(engine)
    return found
