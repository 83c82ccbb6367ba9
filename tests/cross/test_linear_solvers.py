"""All linear solvers (solver/linear.py) give the solution of the problem: one step from the same states, at a tight
tolerance, against the NumPy twin and one another; and what is said where one fails.

The error is |D^-1 (v - v')| / max(|D A v|, |D J^T gamma|), D = diag(A)^-1/2.  1e-10 against the twin leaves three digits for
the conditioning of D A D above the residual of 1e-13 at which all stop.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sapsim
from sapsim import gradient
from sapsim.reference.step import Twin
from sapsim.scene.read import loads
from sapsim.solver.linear import SOLVERS
from sapsim.status import StepStatus
from sapsim.step.pipeline import step_stages
from sapsim.step.simulation import Simulation

TIGHT, ERROR = 1e-13, 1e-10
HEAD = "sapsim: 1\ntime_step: 0.005\nsteps: 200\ncontact: {law: LAW}\nworld: {collision: [WALLS{plane: {}}]}\n"

STACK = """
bodies:
  box:
    box: [0.1, 0.1, 0.1]
    mass: 1.0
    pose: {xyz: [0, 0, 0.0505], rpy: [0.01, 0.02, 0]}
    repeat: {count: [1, 1, 8], spacing: [0, 0, 0.102]}
"""

# Falls together into one island of many bodies.
BIN = """
bodies:
  ball:
    sphere: 0.04
    density: 1000
    velocity: {linear: [0, 0, -2]}
    pose: {xyz: [-0.07, -0.07, 0.06]}
    repeat: {count: [3, 3, 3], spacing: [0.07, 0.07, 0.085], jitter: {xyz: [0.004, 0.004, 0], seed: 1}}
"""
WALLS = "".join(
    f"{{box: [{x}, {y}, 0.6], pose: {{xyz: [{px}, {py}, 0.3]}}}}, "
    for x, y, px, py in ((0.1, 0.5, 0.17, 0), (0.1, 0.5, -0.17, 0), (0.5, 0.1, 0, 0.17), (0.5, 0.1, 0, -0.17))
)

# Two arms with limits, drives, dry friction and a rope between them, on the ground and on each other's load.
ROBOT = """
models:
  arm:
    links:
      upper: {inertial: {mass: 1.0, com: [0.1, 0, 0], inertia: {ixx: 0.01, iyy: 0.02, izz: 0.02}}}
      lower: {inertial: {mass: 0.5, com: [0.1, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}, collision: [{sphere: 0.06}]}
      hand: {inertial: {mass: 0.2, inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}}, collision: [{box: [0.1, 0.06, 0.04]}]}
      tool: {inertial: {mass: 0.1, com: [0.05, 0, 0], inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}},
             collision: [{sphere: 0.03}]}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.1, friction: 0.2,
                 limit: {lower: -0.1, upper: 0.4}}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0.3, 0, 0]}, axis: [0, 1, 0], damping: 0.02}
      wrist: {type: ball, parent: lower, child: hand, origin: {xyz: [0.2, 0, 0]}, damping: 0.01}
      grip: {type: prismatic, parent: hand, child: tool, origin: {xyz: [0.05, 0, 0]}, axis: [1, 0, 0], damping: 0.5,
             limit: {lower: -0.01, upper: 0.02}}
instances:
  one: {model: arm, pose: {xyz: [0, 0, 0.12]}, joint_q: {shoulder: 0.2}, joint_qd: {elbow: 4}}
  two: {model: arm, pose: {xyz: [0.1, 0.15, 0.15]}, joint_q: {shoulder: -0.05}, joint_qd: {shoulder: 2}}
bodies:
  load: {box: [0.2, 0.2, 0.05], density: 500, pose: {xyz: [0.45, 0.07, 0.3]}}
actuators: {hold: {joint: "*/elbow", kp: 5, kd: 0.2, target: 0.3, effort_limit: 2}}
"""

TIES = (
    ROBOT.replace(
        "bodies:",
        """bodies:
  bead:
    sphere: 0.04
    mass: 0.1
    pose: {xyz: [0, -0.5, 0.3]}
    repeat: {count: [8, 1, 1], spacing: [0.1, 0, 0], jitter: {xyz: [0, 0.01, 0.01], seed: 2}}""",
    )
    + """constraints:
  gear: {type: coupler, joints: [one/shoulder, one/elbow], ratio: -0.5}
  rope: {type: distance, a: {link: one/hand}, b: {link: two/hand}, length: 0.3, unilateral: true}
  cord: {type: tendon, joints: [one/elbow, two/elbow], coefficients: [1, 1], upper: 0.3, stiffness: 40}
  pin: {type: ball, a: {link: bead/0/0/0, point: [-0.05, 0, 0]}, b: {link: world, point: [-0.05, -0.5, 0.3]}}
"""
    + "".join(
        f"  w{i}: {{type: {kind}, a: {{link: bead/{i}/0/0, point: [0.05, 0, 0]}},"
        f" b: {{link: bead/{i + 1}/0/0, point: [-0.05, 0, 0]}}}}\n"
        for i, kind in enumerate(["ball", "weld", "ball", "ball", "weld", "ball", "ball"])
    )
)
SCENES = {"stack": (STACK, ""), "bin": (BIN, WALLS), "robot": (ROBOT, ""), "ties": (TIES, "")}


def text(name: str, law: str, **solver) -> str:
    body, walls = SCENES[name]
    settings = ", ".join(f"{key}: {value}" for key, value in solver.items())
    return HEAD.replace("LAW", law).replace("WALLS", walls) + f"solver: {{{settings}}}\n" + body


def simulation(name: str, law: str, linear: str, precision: str = "float64", **solver) -> Simulation:
    """Stages apart: then a linear solver compiles a Newton kernel and no more."""
    scene = loads(text(name, law, linear_solver=linear, **solver), file=f"{name}.yaml")
    return Simulation(scene, device="cpu", fused=False, precision=precision)


CASES = [(name, "lagged", "v_star", "true") for name in SCENES]
CASES += [("bin", "sap", "v_star", "true"), ("ties", "sap", "v_star", "true"), ("robot", "similar", "v_star", "true")]
CASES += [("ties", "lagged", "momentum", "true"), ("bin", "lagged", "momentum", "false")]
# Every linear solver with one law; the others matter to it by G alone, which it takes as it is.
CHOSEN = {"lagged": SOLVERS, "sap": ("auto", "pcg"), "similar": ("auto", "pcg")}


@pytest.mark.parametrize("name, law, form, islands", CASES)
def test_every_linear_solver_gives_the_solution(name, law, form, islands):
    linear = ("auto", "dense", "pcg") if form == "momentum" else CHOSEN[law]
    tight = {"relative_tolerance": TIGHT, "form": form, "islands": islands}
    walker = simulation(name, law, "auto", form=form, islands=islands)
    sims = {x: simulation(name, law, x, **tight) for x in linear}
    twin = Twin(sims["auto"].scene)
    inner, newton = 0, 0
    for _ in range(5):
        state = walker.advance(8)
        result = twin.step(state.joint_q[-1, 0], state.joint_qd[-1, 0], walker.steps_done)
        found = {}
        for x, sim in sims.items():
            sim.reset()
            sim.set_state(state.joint_q[-1], state.joint_qd[-1])
            sim.arrays["step"].fill_(walker.steps_done)
            sim.steps_done = walker.steps_done
            row = sim.advance(1)
            assert row.converged.all(), (x, row.status)
            assert (row.linear_iterations > 0).all() == (x == "pcg" and row.iterations.max() > 0)
            found[x] = twin.internal(row.joint_q[-1, 0], row.joint_qd[-1, 0])
            assert result.velocity_error(found[x]) <= ERROR, x
        inner, newton = inner + int(row.linear_iterations[-1, 0]), newton + int(row.iterations[-1, 0])
        for v in found.values():
            error = np.linalg.norm((v - found["auto"]) / result.D)
            assert error <= 1e-9 * result.momentum_scale
    assert inner > 2 * newton > 0, "islands of several trees must have made conjugate gradients work"


@pytest.mark.parametrize("linear", ["dense", "pcg"])
def test_float32_converges_by_its_rule(linear):
    for name in ("bin", "ties"):
        sim = simulation(name, "lagged", linear, precision="float32")
        block = sim.advance(100)
        assert block.converged.all() and block.contact_count.max() > 3
        assert np.isfinite(block.joint_q).all()


def test_an_island_of_one_tree_takes_one_application():
    """There the preconditioner is H: as many inner iterations as Newton iterations, and the same solution."""
    one = HEAD.replace("LAW", "lagged").replace("WALLS", "") + ROBOT.replace("  two: {model: arm", "  # two: {model: arm")
    one = one.replace("  load: {box", "  # load: {box").replace("bodies:\n  #", "#\n  #")
    scene = loads(one, file="one.yaml")
    rows = {}
    for linear in ("dense", "pcg"):
        scene = replace(scene, solver=replace(scene.solver, linear_solver=linear))
        rows[linear] = Simulation(scene, device="cpu", fused=False).advance(60)
    assert np.array_equal(rows["pcg"].linear_iterations, rows["pcg"].iterations) and rows["pcg"].iterations.max() > 1
    assert not rows["dense"].linear_iterations.any()
    np.testing.assert_allclose(rows["pcg"].joint_q, rows["dense"].joint_q, atol=1e-9)


def test_room_grows_for_dense_and_never_for_pcg():
    """A dense factor of 27 balls needs 54 x 55 / 2 blocks; conjugate gradients hold the three of each ball."""
    dense, pcg = (simulation("bin", "lagged", x, islands="false") for x in ("dense", "pcg"))
    first = dense.capacity.hessian, pcg.capacity.hessian
    blocks = dense.advance(60), pcg.advance(60)
    assert all(b.converged.all() for b in blocks)
    assert first[0] < dense.capacity.hessian >= 54 * 55 // 2
    assert pcg.capacity.hessian == first[1] == 27 * 4


@pytest.mark.parametrize("linear", SOLVERS)
def test_a_matrix_that_is_not_positive_is_said(linear):
    """A turned to -A before the solve: no linear solver finds a factor, and the world stops."""
    sim = simulation("stack", "lagged", linear)
    sim.advance(3)
    launch = sim._launcher.launch
    for stage in step_stages(*sim._variant):
        if stage.name.startswith("newton"):
            sim.arrays["A"].assign(-sim.arrays["A"].numpy())
        launch(stage)
    assert sim.arrays["solve_int"].numpy()[0, 0] == StepStatus.FACTORIZATION_FAILED
    assert sim.stopped.all()


CAPPED = """
import json, sys, warp as wp
wp.config.log_level = wp.LOG_WARNING
from sapsim.solver import pcg
pcg.ITERATIONS = 2
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation
block = Simulation(loads(sys.stdin.read(), file="x.yaml"), device="cpu", fused=False).advance(20)
print(json.dumps([block.status[:, 0].tolist(), block.converged[:, 0].tolist(), block.linear_iterations[:, 0].tolist(),
                  block.iterations[:, 0].tolist()]))
"""


def test_a_linear_solve_that_runs_out_is_said():
    """Two iterations are not enough for eight boxes: status max_iterations, not converged, and no more than two a solve."""
    root = str(Path(sapsim.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", CAPPED], input=text("stack", "lagged", linear_solver="pcg"),
        capture_output=True, text=True, timeout=300, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    status, converged, linear, newton = json.loads(done.stdout.splitlines()[-1])
    out = [bool(s & StepStatus.MAX_ITERATIONS) for s in status]
    assert any(out) and [not c for c in converged] == out
    assert all(n <= 2 * (k + 1) for n, k in zip(linear, newton, strict=True)) and max(linear) > 2


def test_gradients_do_not_depend_on_the_linear_solver():
    """They factorise H themselves, at a solution that is the same."""
    walker = simulation("stack", "lagged", "auto")
    q, qd = (getattr(walker.advance(1), name)[-1, 0] for name in ("joint_q", "joint_qd"))
    one, other = (
        gradient.step(loads(text("stack", "lagged", linear_solver=x), file="x.yaml"), q, qd, ("v0",)) for x in ("auto", "pcg")
    )
    assert np.array_equal(one["v0"], other["v0"]) and np.isfinite(one["v0"]).all() and one["v0"].any()
