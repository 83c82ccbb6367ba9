"""The two forms of the convex problem (solver/forms.py) have one minimum: one step from the same state, both at a tight
tolerance, on every scene of `scenes/`; and the momentum form against the NumPy twin.

The error is |D^-1 (v - v')| / max(|D A v|, |D J^T gamma|), D = diag(A)^-1/2.  1e-9 leaves four digits for the conditioning of
D A D above the residual of 1e-13 at which both stop.
"""

from pathlib import Path

import numpy as np
import pytest

from sapsim.reference.step import Twin
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

NO_TWIN = {"convex_bin", "rolling_floor", "terrain"}  # of pairs of their shapes
SCENES = [path for path in sorted((Path(__file__).parents[2] / "scenes").glob("*.yaml")) if path.stem not in NO_TWIN]
TIGHT = ("solver.relative_tolerance=1e-13", "output.every=1", "worlds.count=1")
TOLERANCE = 1e-9
INSTANTS = (0.0, 0.05, 0.2, 0.6, 1.0)  # shares of the scene's steps, at most MOST
MOST = 400


def at(sim: Simulation, q: np.ndarray, qd: np.ndarray, step: int) -> None:
    """Puts a simulation into a state of files, as of the end of a step (forces look at the time)."""
    sim.set_state(q, qd)
    sim.arrays["step"].fill_(step)
    sim.steps_done = step


@pytest.mark.parametrize("path", SCENES, ids=[path.stem for path in SCENES])
def test_both_forms_give_the_same_velocity(path):
    scene = load(str(path), overrides=TIGHT)
    walker, one = Simulation(scene, device="cpu"), Simulation(scene, device="cpu")
    other = Simulation(load(str(path), overrides=(*TIGHT, "solver.form=momentum")), device="cpu")
    twin = Twin(scene)
    block = walker.initial()
    for share in INSTANTS:
        target = min(int(share * (scene.steps - 1)), int(share * MOST))
        if target > walker.steps_done:
            block = walker.advance(target - walker.steps_done)
        q, qd = block.joint_q[-1], block.joint_qd[-1]
        found = []
        for sim in (one, other):
            sim.reset()
            at(sim, q, qd, target)
            row = sim.advance(1)
            assert row.converged.all() and row.step.tolist() == [target + 1]
            found.append(row)
        # scales are the twin's, which needs its own step for them
        result = twin.step(q[0], qd[0], target)
        v, w = (twin.internal(row.joint_q[-1, 0], row.joint_qd[-1, 0]) for row in found)
        # and it was this step: the twin's, to the tolerance at which it stops
        assert result.velocity_error(v) <= 1e-4
        error = np.linalg.norm((v - w) / result.D)
        assert error <= TOLERANCE * result.momentum_scale


def test_the_momentum_form_takes_all_trees_and_factorises_nothing_before_the_solve(tmp_path):
    """A ball far from anything: v* form needs no iteration, the momentum form finds free fall by one."""
    path = tmp_path / "fall.yaml"
    path.write_text("sapsim: 1\ntime_step: 0.01\nsteps: 3\nbodies: {ball: {sphere: 0.1, mass: 2.0}}\n")
    for form, iterations in (("v_star", 0), ("momentum", 1)):
        sim = Simulation(load(str(path), overrides=(f"solver.form={form}",)), device="cpu")
        block = sim.advance(3)
        assert (block.iterations == iterations).all()
        assert block.joint_qd[-1, 0, 2] == pytest.approx(-9.81 * 0.03, rel=1e-15)


def test_a_limit_that_the_step_reaches_acts_in_both_forms(tmp_path):
    """The window of a limit looks ahead with v_star, which the momentum form does not have: there it is always open."""
    path = tmp_path / "limit.yaml"
    path.write_text(
        "sapsim: 1\ntime_step: 0.01\nsteps: 60\n"
        "models:\n  m:\n    links: {a: {inertial: {mass: 1.0}, collision: [{sphere: 0.1}]}}\n"
        "    joints: {slide: {type: prismatic, parent: world, child: a, axis: [0, 0, 1], limit: {lower: -0.1, upper: 1}}}\n"
        "instances: {m: {model: m}}\n"
    )
    rows = []
    for form in ("v_star", "momentum"):
        overrides = (f"solver.form={form}", "solver.relative_tolerance=1e-13")
        rows.append(Simulation(load(str(path), overrides=overrides), device="cpu").advance(60))
    assert np.abs(rows[0].joint_q[-1] + 0.1).max() < 1e-3, "the slider must have come to its lower bound"
    # h v of the last digits at which both stop, summed over the steps at rest
    np.testing.assert_allclose(rows[0].joint_q, rows[1].joint_q, atol=1e-12)
