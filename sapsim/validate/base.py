"""What a check is, and the random states that all checks share.

Residuals of forces are measured in momentum's own norm: with D = diag(M)^-1/2 of the state,

    ||D r|| / max(||D tau||, ||D h||)

where tau = rnea(q, v, a) and h = h(q, v) (architecture of the solver's stop test, likewise).  A plain ||a' - a|| / ||a|| is
large on badly conditioned robots whose dynamics are right to the last digit; it is shown and decides nothing.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sapsim.dynamics.api import Dynamics
from sapsim.validate import checks

TOLERANCE = {"float64": 1.0e-10, "float32": 1.0e-4}


@dataclass(frozen=True)
class Measured:
    """What a check found.

    Fields:
        residual: (W,) one to a state, or (1,) where the check needs none.
        where: for the worst state, in words: takes its number.
        plain: figures that are shown and decide nothing, by name.
    """

    residual: np.ndarray
    where: Callable[[int], str] = lambda sample: ""
    plain: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """One identity.

    Fields:
        name: the file's name.
        says: the identity in words.
        measure: (Samples) -> Measured.
        tolerance: its own, where the precision's does not fit.
        of_states: False where it looks at the model only.
    """

    name: str
    says: str
    measure: Callable[["Samples"], Measured]
    tolerance: float | None = None
    of_states: bool = True


def find_checks() -> list[Check]:
    """All checks of the folder, sorted by name.  Raises RuntimeError where a file has none or one of another name."""
    found = []
    for info in sorted(pkgutil.iter_modules(checks.__path__), key=lambda m: m.name):
        if info.name.startswith("_"):
            continue
        check = getattr(importlib.import_module(f"{checks.__name__}.{info.name}"), "CHECK", None)
        if check is None or check.name != info.name:
            raise RuntimeError(f"validate/checks/{info.name}.py must define CHECK with the name {info.name!r}")
        found.append(check)
    return found


@dataclass
class Samples:
    """W random states of a scene's mechanism, and its dynamics in the precision under test.

    Fields:
        dynamics: in that precision.  exact: in float64, for what is differentiated by finite differences.
        q (W, nq), v, a (W, nv): internal velocities (dynamics/api.py); exactly representable in the precision.
        rng: for what a check draws beside.
    """

    dynamics: Dynamics
    exact: Dynamics
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    rng: np.random.Generator

    @staticmethod
    def draw(scene, count: int, seed: int, precision: str) -> "Samples":
        """Coordinates by a random walk on the joints' manifolds from the scene's own, of any kind of joint."""
        dynamics = Dynamics(scene, nworld=count, precision=precision)
        exact = dynamics if precision == "float64" else Dynamics(scene, nworld=count)
        rng = np.random.default_rng(seed)
        q = np.tile(exact.neutral, (count, 1))
        for _ in range(3):
            q = exact.move(q, rng.normal(size=(count, exact.nv)), 1.0)
        v, a = rng.normal(size=(2, count, exact.nv))
        q, v, a = (x.astype(precision).astype(float) for x in (q, v, 3.0 * a))
        return Samples(dynamics, exact, q, v, a, rng)

    @cached_property
    def M(self) -> np.ndarray:
        """(W, nv, nv) the mass matrix under test."""
        return self.dynamics.crba(self.q)

    @cached_property
    def tau(self) -> np.ndarray:
        """(W, nv) rnea(q, v, a)."""
        return self.dynamics.rnea(self.q, self.v, self.a)

    @cached_property
    def h(self) -> np.ndarray:
        """(W, nv) gravity and the terms of velocity."""
        return self.dynamics.nonlinear_effects(self.q, self.v)

    @cached_property
    def D(self) -> np.ndarray:
        """(W, nv) diag(M)^-1/2; not a number where the diagonal is not positive, which no check passes."""
        diagonal = np.einsum("wii->wi", self.M)
        return np.where(diagonal > 0.0, 1.0, np.nan) / np.sqrt(np.abs(diagonal))

    def norm(self, r: np.ndarray) -> np.ndarray:
        """(W,) ||D r||."""
        return np.linalg.norm(self.D * r, axis=-1)

    def relative(self, r: np.ndarray, tau: np.ndarray | None = None, h: np.ndarray | None = None) -> np.ndarray:
        """(W,) ||D r|| / max(||D tau||, ||D h||)."""
        scale = np.maximum(self.norm(self.tau if tau is None else tau), self.norm(self.h if h is None else h))
        return ratio(self.norm(r), scale)

    def of_forces(self, r: np.ndarray, **more) -> Measured:
        """A residual of generalized forces (W, nv), and its degree of freedom that sticks out most."""
        return Measured(self.relative(r), lambda w: worst_name(self.D[w] * r[w], self.dynamics.dof_names), **more)


def ratio(size: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """size / scale; 0 / 0 = 0, for nothing was wrong."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size == 0.0, 0.0, np.asarray(size) / scale)


def worst_name(r: np.ndarray, names: list[str]) -> str:
    """The name of the largest entry in size; "" where there is none."""
    return names[int(np.argmax(np.abs(r)))] if len(names) else ""


def derivative(f: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    """f'(0) by central differences of sixth order: error step^6 f^(7) / 140, and round-off of f over step."""
    d1, d2, d3 = (f(k * step) - f(-k * step) for k in (1, 2, 3))
    return (45.0 * d1 - 9.0 * d2 + d3) / (60.0 * step)


def subtrees_moved_at_once(d: Dynamics) -> list[tuple[np.ndarray, np.ndarray]]:
    """Degrees of freedom in groups whose subtrees are disjoint, and what each is answerable for.

    Each group is (dofs (k,), members (k, nbody)): members[i, b] is 1 where dof i moves body b; bodies that none of the group
    moves belong to the first, so that every body belongs to one.
    """
    moves = d.moves_body().T  # (nv, nbody)
    m = d.model.arrays
    above = moves[:, np.asarray(m["dof_to_body"], int)].sum(axis=0)  # dofs on the path, those of the same joint with it
    order = above - np.asarray(m["body_nv"], int)[np.asarray(m["dof_to_body"], int)] + np.asarray(m["dof_entry"], int)
    groups = []
    for depth in range(int(order.max(initial=-1)) + 1):
        dofs = np.flatnonzero(order == depth)
        members = moves[dofs].astype(float)
        members[:1] += 1.0 - members.sum(axis=0)
        groups.append((dofs, members))
    return groups
