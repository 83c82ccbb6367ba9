"""Both factors of the mass matrix on every robot of example-robot-data that loads, fixed and floating, in both precisions.

Errors are in momentum's norm, D = diag(M)^(-1/2).  Robots are badly scaled: fingers of grams on arms of kilograms, so solves
may lose six of sixteen digits, and of the eight of float32 keep two.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sapsim.dynamics import Dynamics
from sapsim.model.trees import DENSE_DOFS
from sapsim.scene.read import load_model
from sapsim.step.simulation import Simulation

sys.path.append(str(Path(__file__).parents[1] / "scene"))
from test_urdf_robots import FILES, REFUSED, ROBOTS, stands_on_world

TOLERANCE = {"float64": 1e-10, "float32": 2e-2}
TIAGO = "tiago_description/robots/tiago_dual.urdf"
CASES = [
    pytest.param(file, base, marks=() if file == TIAGO else pytest.mark.slow)
    for file in FILES
    if file not in REFUSED
    for base in (("fixed",) if stands_on_world(file) else ("fixed", "floating"))
]


def weighed(M: np.ndarray, r: np.ndarray) -> float:
    """The worst ||D r|| over the samples."""
    return float(np.linalg.norm(r / np.sqrt(np.einsum("wii->wi", M)), axis=1).max(initial=0.0))


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("file, base", CASES)
def test_both_factors_solve(file, base, precision):
    """M x = tau by both, and the same x."""
    scene = load_model(ROBOTS / file, base=base)
    rng = np.random.default_rng(0)
    found = []
    for factor in ("dense", "sparse"):
        d = Dynamics(scene, nworld=3, factor=factor, precision=precision)
        if not found:
            q = d.random(rng)
            M = d.crba(q)
            tau = np.einsum("wij,wj->wi", M, rng.normal(size=(3, d.nv)))
        x = d.solve(q, tau)
        assert weighed(M, np.einsum("wij,wj->wi", M, x) - tau) <= TOLERANCE[precision] * weighed(M, tau)
        found.append(x)
    assert weighed(M, np.einsum("wij,wj->wi", M, found[0] - found[1])) <= TOLERANCE[precision] * weighed(M, tau)


@pytest.mark.parametrize("file, base", CASES)
def test_both_factors_give_one_free_motion(file, base):
    """v_star of a step from both, as momentum."""
    scene = replace(load_model(ROBOTS / file, base=base), time_step=0.01)
    found = []
    for factor in ("dense", "sparse"):
        sim = Simulation(scene, device="cpu", factor=factor)
        sim.advance(1)
        assert not sim.arrays["free_status"].numpy().any()
        ndof = sim.model.sizes["ndof"]  # none where a robot without joints stands on the world
        found.append(sim.arrays["v_star"].numpy()[:, :ndof])
    dinv = sim.arrays["dinv"].numpy().reshape(1, -1)[:, :ndof]
    D = 1.0 / np.sqrt(np.where(dinv > 0.0, dinv, 1.0))  # sqrt(diag A) weighs velocities; padding has none
    assert np.linalg.norm(D * (found[0] - found[1])) <= 1e-9 * np.linalg.norm(D * found[0])


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_tiago_dual_takes_the_sparse_factor(base):
    """With its base fixed the casters are trees of their own, and small."""
    model = Dynamics(load_model(ROBOTS / TIAGO, base=base)).model
    assert model.sizes["nsparse_level"] > 1 and model.sizes["nv"] > DENSE_DOFS
    (tree,) = model.arrays["factor_tree"][model.sizes["ndense"] :]
    assert np.count_nonzero(model.arrays["body_tree"][model.arrays["dof_to_body"]] == tree) > DENSE_DOFS
