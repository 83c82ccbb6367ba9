"""The pizza saver of Drake's solver test (sap_formulas 10.1) as a scene: every row of its table, and two of quadratic cost.

A slab of 3 kg on three feet at R = 1.5 m, g = 10 m/s^2, h = 10 ms; it slides where the torque about z exceeds mu m g R.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sapsim.scene.read import load, loads
from sapsim.status import StepStatus
from sapsim.step.simulation import Simulation

SCENE = Path(__file__).parents[2] / "scenes" / "pizza_saver.yaml"
H, R, SIGMA, G = 0.01, 1.5, 1e-3, 10.0
# values of the pair; the stiffness of each surface is twice it, the relaxation time half
TAU_H = "materials.crust.relaxation_time=0.005"
NEAR_RIGID = ("materials.crust.stiffness=2e20", TAU_H, "duration=0.3")
NO_TOLERANCE = ("solver.absolute_tolerance=0", "solver.relative_tolerance=0")
MACHINE_EPSILON = repr(float(np.finfo(float).eps))


@dataclass
class Step:
    """What the contacts of a step do: impulses by foot in world axes (n, 3), and their sum as (x, y, z, about z)."""

    feet: np.ndarray
    total: np.ndarray

    @property
    def friction(self) -> np.ndarray:
        return np.linalg.norm(self.feet[:, :2], axis=1)


def run(*overrides: str):
    """(simulation, rows, last step) of the scene."""
    sim = Simulation(load(str(SCENE), overrides=overrides), device="cpu")
    block = sim.advance(sim.scene.steps)
    return sim, block, step_of(block, len(block.step) - 1)


def step_of(block, row: int) -> Step:
    at = block.contacts.row == row
    impulse, point = block.contacts.impulse[at], block.contacts.point[at]
    return Step(impulse, np.array([*impulse.sum(0), np.cross(point, impulse)[:, 2].sum()]))


def test_no_torque():
    """dt .01, mu 1, k 1e4, tau = dt: each foot takes .1 N s, and nothing moves."""
    _, block, last = run("actuators.turn.effort=0", "materials.crust.friction=1", TAU_H, "duration=0.3")
    assert block.converged.all()
    np.testing.assert_allclose(last.feet, np.tile([0, 0, 0.1], (3, 1)), rtol=2e-6, atol=1e-9)
    assert np.abs(block.joint_qd[-1]).max() < 1e-6


@pytest.mark.parametrize("search", ["exact", "backtracking"])
@pytest.mark.parametrize("tight", [False, True], ids=["default tolerance", "tolerance 0"])
def test_stiction(tight, search):
    """mu 2/3, tau = 2 dt, Mz = 20, 40 steps: j = dt (0, 0, 30, -20) to 1e-6, friction .0444 a foot, slip below sigma mu dt g.

    With both tolerances of the residual at zero every step must end by the cost criterion (or at a residual of 0).
    """
    _, block, last = run(*(NO_TOLERANCE if tight else ()), f"solver.line_search={search}")
    assert len(block.step) == 40 and block.converged.all() and not block.status.any()
    if tight:
        assert (block.cost_reached | (block.residual == 0.0)).all() and block.cost_reached.sum() > 30
    np.testing.assert_allclose(last.total[2:], [0.3, -0.2], rtol=1e-6)
    assert np.abs(last.total[:2]).max() < 1e-12
    np.testing.assert_allclose(last.friction, 0.2 / (3 * R), rtol=1e-6)
    slip = R * abs(block.joint_qd[-1, 0, 3])
    assert slip <= SIGMA * (2 / 3) * H * G
    # and it is the creep of the law: sigma w gamma_t, w = |W|_F / 3 with the eigenvalues 1/3, 2/3, 1/3 of W
    assert slip == pytest.approx(SIGMA * np.sqrt(6) / 9 * 0.2 / (3 * R), rel=1e-6)


def test_sliding():
    """tau = dt, beta ~ 0, Mz = 40, 10 steps: friction is mu times the normal impulse to round-off, and it turns.

    It glides (docs/contact_laws.md): gaps of contacts that open are told to the solver, as in Drake's test, by a margin.
    """
    rows = ("actuators.turn.effort=40", TAU_H, "contact.near_rigid=0", "contact.margin=0.1", "duration=0.1")
    _, block, last = run(*rows)
    assert block.converged.all() and (block.contact_count == 3).all()
    assert (last.feet[:, 2] > 0.01).all()
    # the soft norm of the cone turns the friction by 1e-7 / |y_t| at most (sap_formulas 3.1): its square is round-off
    np.testing.assert_allclose(last.friction, 2 / 3 * last.feet[:, 2], rtol=4 * np.finfo(float).eps)
    yaw_rate = block.joint_qd[:, 0, 3]
    assert yaw_rate[-1] > 0.0
    # the torque that is left turns it: I omega = sum of (Mz h - R sum of friction)
    taken = sum(R * step_of(block, row).friction.sum() for row in range(10))
    assert yaw_rate[-1] == pytest.approx((10 * 40 * H - taken) / 6.75, rel=1e-9)


def test_no_friction():
    """mu 0, fx = 1 N: vx = n dt / m."""
    text = SCENE.read_text().replace("actuators:\n", "actuators:\n  pull: {joint: pizza/x, effort: 1}\n")
    text = text.replace("effort: 20", "effort: 0").replace("friction: 0.6666666666666666", "friction: 0")
    sim = Simulation(loads(text, file="pizza.yaml"), device="cpu")
    block = sim.advance(sim.scene.steps)
    assert block.converged.all() and block.contact_count[1:].min() == 3
    np.testing.assert_allclose(block.joint_qd[:, 0, 0], np.arange(1, 41) * H / 3, rtol=2e-6)


@pytest.mark.parametrize("form", ["v_star", "momentum"])
def test_near_rigid(form):
    """k = 1e20, tau = dt, Mz = 20, beta = 1, 30 steps: the figures of stiction, v_z 1e-9, and a status that says softened."""
    _, block, last = run(*NEAR_RIGID, f"solver.form={form}")
    assert block.converged.all() and (block.status[1:] == StepStatus.NEAR_RIGID_ACTIVE).all()
    np.testing.assert_allclose(last.total[2:], [0.3, -0.2], rtol=1e-6)
    np.testing.assert_allclose(last.friction, 0.2 / (3 * R), rtol=1e-6)
    assert abs(block.joint_qd[-1, 0, 2]) < 1e-9
    # R_n = w / 4 pi^2: depth R_n gamma_n (dt + tau)
    assert block.joint_q[-1, 0, 2] == pytest.approx(-np.sqrt(6) / 9 / (4 * np.pi**2) * 0.1 * 2 * H, rel=1e-6)


FAILED = StepStatus.MAX_ITERATIONS | StepStatus.LINE_SEARCH_FAILED | StepStatus.FACTORIZATION_FAILED | StepStatus.NON_FINITE


@pytest.mark.parametrize("tolerances", [(), NO_TOLERANCE], ids=["default tolerance", "tolerance 0"])
@pytest.mark.parametrize("search", ["exact", "backtracking"])
@pytest.mark.parametrize("form", ["v_star", "momentum"])
@pytest.mark.parametrize("beta", ["0", MACHINE_EPSILON, "1e-7", "1e-4"])
def test_rigid_without_the_limit_is_never_a_wrong_answer(beta, form, search, tolerances):
    """k = 1e20 with hardly a near-rigid limit: R is 1e-17 of 1 / m, beyond double precision.  Such a step may fail, and is
    flagged then; where it says that it converged, it is right: no foot goes deeper than v_hat allows, and the impulses make
    the change of momentum.
    """
    settings = (f"contact.near_rigid={beta}", f"solver.form={form}", f"solver.line_search={search}", *tolerances)
    _, block, _ = run(*NEAR_RIGID, *settings)
    A, load = np.array([3, 3, 3, 6.75]), np.array([0, 0, -30, 20.0])
    z0, v0 = 0.0, np.zeros(4)
    flagged = 0
    for row in range(len(block.step)):
        v, step = block.joint_qd[row, 0], step_of(block, row)
        if block.converged[row, 0]:
            # 1e-5 of the impulses that act: what the solver's tolerance allows in the norm of momentum
            np.testing.assert_allclose(A * (v - v0), H * load + step.total, atol=1e-5 * 0.3)
            if len(step.feet):  # they stick, v_z = v_hat = -z / (dt + tau) less R gamma < 1e-9, or glide, or leave the ground
                v_hat, glide = -z0 / (2 * H), 2 / 3 * R * abs(v[3])
                assert v_hat - 1e-9 <= v[2] <= max(v_hat + glide, v0[2] - G * H) + 1e-9
        else:
            assert block.status[row, 0] & FAILED
            flagged += 1
        z0, v0 = block.joint_q[row, 0, 2], v
    # it is hard, but the exact line search, which ends at the resolution of alpha, solves the last of these
    assert flagged < 30
    assert flagged > 0 or (beta, search) == ("1e-4", "exact")


def test_a_velocity_at_round_off_ends_the_search_by_its_cost():
    """beta = 1e-6 and backtracking: steps that end by the cost have v right to round-off, 1e-17 m/s; their impulses are this
    over R = 7e-15 / kg, so they may miss by 1e-2 (docs/drake_parity.md).
    """
    _, block, _ = run(*NEAR_RIGID, "contact.near_rigid=1e-6", "solver.line_search=backtracking")
    ended = np.flatnonzero(block.cost_reached[:, 0])
    assert len(ended)
    for row in ended:
        assert block.joint_qd[row, 0, 2] == pytest.approx(-block.joint_q[row - 1, 0, 2] / (2 * H), abs=1e-12)
        momentum = 3 * (block.joint_qd[row, 0, 2] - block.joint_qd[row - 1, 0, 2])
        assert step_of(block, row).total[2] == pytest.approx(momentum + 3 * G * H, rel=1e-2)


@pytest.mark.parametrize("iterations", [0, 100])
def test_exact_guess(iterations):
    """At rest 1 mm deep, m g = 3 k 1e-3: no iteration is needed, and with max_iterations 0 none is allowed."""
    text = SCENE.read_text().replace("joint_q: {", "joint_q: {z: -1.0e-3, ").replace("effort: 20", "effort: 0")
    sim = Simulation(loads(text, file="pizza.yaml", overrides=(f"solver.max_iterations={iterations}",)), device="cpu")
    block = sim.advance(20)
    assert (block.iterations == 0).all() and block.optimality_reached.all() and not block.status.any()
    assert (block.contact_count == 3).all()
    np.testing.assert_allclose(block.contacts.impulse[-3:, 2], 0.1, rtol=1e-9)
    assert np.abs(block.joint_qd).max() < 1e-10


def test_no_iteration_is_a_flag_where_one_is_needed():
    """max_iterations 0 away from rest: not converged, and the status says so."""
    _, block, _ = run("solver.max_iterations=0")
    assert not block.converged[1:].any() and (block.status[1:] & StepStatus.MAX_ITERATIONS).all()
    assert not block.iterations.any()


# ---- quadratic costs -------------------------------------------------------------------------------------------------

QUADRATIC = """
sapsim: 1
time_step: 1.0
steps: 1
gravity: [0, 0, 0]
models:
  m:
    links:
      a: {inertial: {mass: 0.05, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      b: {inertial: {mass: 0.1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
    joints:
      s: {type: prismatic, parent: world, child: a, axis: [1, 0, 0], armature: 0.05}
      t: {type: prismatic, parent: a, child: b, axis: [1, 0, 0], armature: 0.1}
instances: {i: {model: m}}
actuators: {s: {joint: i/s, effort: -2}, t: {joint: i/t, effort: -5}}
"""


def test_a_negative_cost():
    """A = .1 [[2, 1], [1, 2]], g = (2, 5): one iteration to v = -A^-1 g at a cost of -g A^-1 g / 2 = -190 / 3."""
    sim = Simulation(loads(QUADRATIC, file="q.yaml", overrides=("solver.form=momentum",)), device="cpu")
    block = sim.advance(1)
    assert block.iterations[0, 0] == 1 and block.optimality_reached[0, 0]
    np.testing.assert_allclose(block.joint_qd[0, 0], [10 / 3, -80 / 3], rtol=1e-13)
    assert block.cost[0, 0] == pytest.approx(-190 / 3, rel=1e-13)


@pytest.mark.parametrize("search, searches", [("exact", 1), ("backtracking", 2)])
def test_a_quadratic_cost_takes_one_iteration(search, searches):
    """A drive without bound: 1 iteration, and 1 evaluation of the exact search (the curvature is the same everywhere) or 2."""
    text = QUADRATIC.replace("effort: -2", "kp: 3, kd: 0.2, target: 0.5")
    sim = Simulation(loads(text, file="q.yaml", overrides=(f"solver.line_search={search}",)), device="cpu")
    block = sim.advance(1)
    assert (block.iterations[0, 0], block.line_search_iterations[0, 0]) == (1, searches)
    A = 0.1 * np.array([[2, 1], [1, 2]]) + np.diag([3 + 0.2, 0])  # h = 1: h (h kp + kd)
    np.testing.assert_allclose(block.joint_qd[0, 0], np.linalg.solve(A, [1.5, -5]), rtol=1e-12)
