"""Running the checks on a scene, and what they found as an object."""

import importlib
import math
import pkgutil
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapsim.errors import UsageError
from sapsim.validate import peers
from sapsim.validate.base import TOLERANCE, Check, Samples, find_checks


@dataclass(frozen=True)
class Outcome:
    """What became of one check: the worst residual, the state (its number) and the place where it was found."""

    name: str
    says: str
    worst: float
    tolerance: float
    sample: int | None
    where: str
    plain: dict[str, float]

    @property
    def passed(self) -> bool:
        """A residual that is not a number has not passed."""
        return bool(self.worst <= self.tolerance)

    def as_dict(self) -> dict[str, Any]:
        keys = ("name", "worst", "tolerance", "passed", "sample", "where", "says", "plain")
        return {key: getattr(self, key) for key in keys}


@dataclass(frozen=True)
class Report:
    """All outcomes for a scene; sizes nq, nv, and nbody links; the condition number of M, the largest over the states."""

    nq: int
    nv: int
    nbody: int
    samples: int
    seed: int
    precision: str
    checks: list[Outcome]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def plain(self) -> dict[str, float]:
        """Figures that decide nothing."""
        return {name: value for check in self.checks for name, value in check.plain.items()}

    def as_dict(self) -> dict[str, Any]:
        keys = ("passed", "nq", "nv", "nbody", "samples", "seed", "precision", "plain")
        return {key: getattr(self, key) for key in keys} | {"checks": [check.as_dict() for check in self.checks]}


def validate(
    scene,
    *,
    samples: int = 100,
    seed: int = 0,
    precision: str = "float64",
    tolerance: float | None = None,
    against: str | None = None,
) -> Report:
    """Runs every check on `samples` random states of a scene.

    `tolerance` takes the place of the precision's (1e-10, 1e-4); checks with one of their own keep it.  `against` names a
    library to compare with.  Raises UsageError where it is not installed or not known.
    """
    checks = find_checks()
    if against is not None:
        checks += peer(against)(scene)
    drawn = Samples.draw(scene, samples, seed, precision)
    usual = TOLERANCE[precision] if tolerance is None else tolerance
    d = drawn.dynamics
    outcomes = [_outcome(check, drawn, usual) for check in checks]
    return Report(d.nq, d.nv, d.nlink, samples, seed, precision, outcomes)


def _outcome(check: Check, samples: Samples, usual: float) -> Outcome:
    with np.errstate(all="ignore"):  # what is not finite is reported as such
        measured = check.measure(samples)
    w = int(np.argmax(measured.residual))  # not a number counts as the largest
    worst = float(measured.residual[w])
    tolerance = usual if check.tolerance is None else check.tolerance
    where = measured.where(w) if math.isfinite(worst) else (measured.where(w) or "not finite")
    return Outcome(check.name, check.says, worst, tolerance, w if check.of_states else None, where, measured.plain)


def peer(name: str):
    """The function that makes a library's checks: (scene) -> list of Check."""
    known = sorted(info.name for info in pkgutil.iter_modules(peers.__path__))
    if name not in known:
        raise UsageError(f"--against {name}: known are {', '.join(known)}")
    return importlib.import_module(f"{peers.__name__}.{name}").compare
