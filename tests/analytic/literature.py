"""Scenes of `scenes/literature/` under other settings, and the recurrences that their expected values come from.

A scheme of first order in h is compared with its own recurrence, or with a closed form that has the step in it; where the
exact motion is meant, the tolerance says so.
"""

from pathlib import Path

import numpy as np

from sapsim.scene.read import load
from sapsim.step.block import Block
from sapsim.step.simulation import Simulation

FOLDER = Path(__file__).parents[2] / "scenes" / "literature"
G = 9.81


def simulate(name: str, *overrides: str) -> tuple[Simulation, Block]:
    """All steps of a scene of the folder; the rows start with the first step.  Every step must converge.

    Its `expect` is left out: it may name bodies that the overrides take away.
    """
    sim = Simulation(load(str(FOLDER / f"{name}.yaml"), overrides=(*overrides, "expect=[]")), device="cpu")
    block = sim.advance(sim.scene.steps)
    assert block.converged.all()
    return sim, block


def velocity(sim: Simulation, block: Block, name: str) -> np.ndarray:
    """(R, 6) velocities [v_com, omega] of a link in world 0."""
    return block.body_qd[:, 0, sim.link_names.index(name)]


def position(sim: Simulation, block: Block, name: str) -> np.ndarray:
    """(R, 3) positions of a link's origin in world 0."""
    return block.body_q[:, 0, sim.link_names.index(name), :3]


def falling_ball(h: float, steps: int, k: float, m: float, r: float, z0: float, tau: float = 0.0) -> np.ndarray:
    """(steps + 1, 2) height and velocity of a ball that bounces on a spring with relaxation time, let go at z0.

    v' = v - g h, or (m (v - g h) + h k delta) / (m + h k (h + tau)) while that is more;  z' = z + h v'.
    """
    z, v = z0, 0.0
    states = [(z, v)]
    for _ in range(steps):
        v, delta = v - G * h, r - z
        if delta >= 0.0:
            v = max(v, (m * v + h * k * delta) / (m + h * k * (h + tau)))
        z += h * v
        states.append((z, v))
    return np.array(states)


def mean_squared_error(found: np.ndarray, expected: np.ndarray) -> float:
    """Mean over rows of the squared norm of the difference (R, n)."""
    return float(np.mean(np.sum((found - expected) ** 2, axis=-1)))
