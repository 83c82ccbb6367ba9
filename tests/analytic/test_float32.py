"""float32 on the scenes of the repository and of the bench: every step converges by the rule of float64, the recorded residual
is that of the problem the step solved, and velocities and depths are those of float64 to what single-precision states can hold.
"""

import glob
import os
from dataclasses import replace

import numpy as np
import pytest
from held_problem import evaluate_held

from sapsim.bench.scenes import STANDARD
from sapsim.reference.step import Twin
from sapsim.scene.read import load, loads
from sapsim.status import StepStatus
from sapsim.step.simulation import Simulation

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "scenes")
SCENES = sorted(glob.glob(os.path.join(FOLDER, "*.yaml")))
OTHERS = [p for folder in ("literature", "user_cases") for p in sorted(glob.glob(os.path.join(FOLDER, folder, "*.yaml")))]
LONG = {"bouncing", "clutter", "convex_bin", "spheres_666"}
# Trajectories that part after impacts, so that the two precisions do not end in the same contacts.
CHAOTIC = {"mixed_bin", "convex_bin", "terrain"}
# Stacks, ties of all kinds, limits, drives, and a law whose sticking contacts turn 1e-7 of velocity into 1e-4 of an impulse.
HARD = ("mixed_bin", "falling_chain", "four_bar", "gripper", "rope", "ten_box_stack", "driven_arm", "incline_stick")
LAWS = ("lagged", "sap", "similar")
BENCH = [f"{name}:{law}" for name in ("S2", "S3", "S4sph20", "S4mix20", "S5", "S6quad", "S6hum") for law in LAWS]


def scene(name: str, *overrides: str):
    """A scene of the repository."""
    return load(os.path.join(FOLDER, f"{name}.yaml"), overrides=overrides)


def assert_converged(block, sim) -> None:
    """Every world-step of a run by its residual, and no value that is not finite."""
    assert block.optimality_reached.all() and sim.totals.unconverged.sum() == 0
    solver = sim.scene.solver
    # 1 + 1e-6: residual and scale are stored in float32
    assert (
        block.residual <= (solver.absolute_tolerance + solver.relative_tolerance * block.residual_scale) * (1.0 + 1e-6)
    ).all()
    assert np.isfinite(block.joint_q).all() and np.isfinite(block.joint_qd).all() and block.joint_q.dtype == np.float32


def last_contacts(block, shape_link) -> dict[tuple[int, int, int], tuple[float, float]]:
    """(shape_a, shape_b, feature) -> (depth, largest coordinate that it comes from) of the last row: of the point, and of the
    origins of the two links."""
    c = block.contacts
    last = c.row == len(block.step) - 1
    shapes = c.shape_a[last].tolist(), c.shape_b[last].tolist()
    origins = np.abs(block.body_q[-1, 0, :, :3]).max(axis=1, initial=0.0)
    largest = np.abs(c.point[last]).max(axis=1)
    for side in shapes:
        link = shape_link[side]
        largest = np.maximum(largest, np.where(link >= 0, origins[link], 0.0))
    keys = zip(*shapes, c.feature[last].tolist(), strict=True)
    return dict(zip(keys, zip(c.depth[last], largest, strict=True), strict=True))


def case_of(path: str):
    name = os.path.basename(path).removesuffix(".yaml")
    return pytest.param(path, id=name, marks=[pytest.mark.slow] if name in LONG else [])


@pytest.mark.parametrize("path", [case_of(path) for path in SCENES])
def test_scenes_converge_and_rest_at_the_same_depth(path):
    scene = load(path)
    single, double = Simulation(scene, device="cpu", precision="float32"), Simulation(scene, device="cpu")
    block, expected = single.advance(scene.steps), double.advance(scene.steps)
    assert_converged(block, single)
    if scene.name in CHAOTIC:
        return
    found, wanted = (last_contacts(b, single.model.shape_link) for b in (block, expected))
    if scene.name != "falling_chain":  # its links touch and leave in turn
        assert found.keys() == wanted.keys()
    for key in found.keys() & wanted.keys():
        depth, coordinate = wanted[key]
        # a depth is a difference of coordinates, each held to half an ulp, after a step that rounds several times
        tolerance = max(1.0e-3 * depth, 4.0 * np.spacing(np.float32(coordinate)))
        assert abs(found[key][0] - depth) <= tolerance, key


@pytest.mark.parametrize("path", [case_of(path) for path in OTHERS])
def test_scenes_of_the_literature_and_of_users_converge(path):
    """At least 99.9 % of the steps, by residual or cost; nothing that is not finite."""
    loaded = load(path)
    sim = Simulation(loaded, device="cpu", precision="float32")
    block = sim.advance(loaded.steps)
    assert sim.totals.unconverged.sum() <= 1.0e-3 * loaded.steps
    assert np.isfinite(block.joint_q).all() and np.isfinite(block.joint_qd).all()


@pytest.mark.slow
@pytest.mark.parametrize("case", BENCH)
def test_standard_scenes_converge(case):
    name, law = case.split(":")
    standard = STANDARD[name]
    text = standard.text("faces" if standard.has_boxes else "")
    sim = Simulation(
        loads(text, file=f"{name}.yaml", overrides=[f"contact.law={law}", "worlds.count=2"], allow=standard.folders),
        device="cpu",
        precision="float32",
    )
    assert_converged(sim.advance(sim.scene.steps), sim)


@pytest.mark.parametrize(
    "law, steps",
    [("lagged", 10_000), *(pytest.param(law, 100_000, marks=pytest.mark.slow) for law in LAWS)],
)
def test_bin_of_twenty_bodies_stays_at_rest(law, steps):
    """Nothing is lost in a long run: all bodies stay in the bin, and no step fails."""
    loaded = scene("mixed_bin", f"contact.law={law}", f"steps={steps}", "output.every=50", "output.channels=[state, solver]")
    sim = Simulation(loaded, device="cpu", precision="float32")
    block = sim.advance(steps)
    assert_converged(block, sim)
    assert not (sim.totals.status & ~int(StepStatus.NEAR_RIGID_ACTIVE)).any()
    p = block.body_q[-1, 0, :, :3]
    assert (np.abs(p[:, :2]) < 0.25).all() and (p[:, 2] > 0.03).all() and (p[:, 2] < 1.0).all()


@pytest.mark.parametrize("name", HARD)
def test_tight_tolerance_is_reached(name):
    """1e-9 of the scale, as in float64: the solve's own rounding is that of float64."""
    sim = Simulation(scene(name, "solver.relative_tolerance=1e-9"), device="cpu", precision="float32")
    assert_converged(sim.advance(400), sim)
    assert not sim.scene.warnings


@pytest.mark.parametrize("name", HARD)
def test_recorded_residual_is_that_of_the_problem(name):
    """NumPy in float64, from A, J, v_star and the frozen numbers of laws and rows as the device holds them."""
    loaded = scene(name, "solver.islands=false")
    sim = Simulation(replace(loaded, output=replace(loaded.output, every=1)), device="cpu", precision="float32")
    seen = 0
    for _ in range(16):
        block = sim.advance(61)
        found = evaluate_held(sim)
        if found is None:
            assert block.residual_scale[-1, 0] == 0.0
            continue
        seen += 1
        # 1e-6: the statistics are stored in float32, and the scale holds a product A v_star of float32
        assert block.residual_scale[-1, 0] == pytest.approx(found.scale, rel=1e-6)
        assert block.cost[-1, 0] == pytest.approx(found.cost, rel=1e-6)
        assert abs(block.residual[-1, 0] - found.residual) <= 1e-6 * found.residual + 1e-11 * found.scale
    assert seen >= 8


@pytest.mark.parametrize("name", HARD)
def test_velocity_is_that_of_the_exact_solve(name):
    """The twin solves the step again in float64 to 1e-12, from the float32 state of the row before.

    What is between the two: rounding of A, J and of the stored velocity, and of depths and gaps, which are differences of
    coordinates; a rigid tie turns a gap into a velocity gap / h.
    """
    loaded = scene(name)
    sim = Simulation(replace(loaded, output=replace(loaded.output, every=1)), device="cpu", precision="float32")
    twin = Twin(sim.scene)
    for _ in range(6):
        before, after = sim.advance(120), sim.advance(1)
        q, qd = (np.float64(x[-1, 0]) for x in (before.joint_q, before.joint_qd))
        exact = twin.step(q, qd, sim.steps_done - 1, relative_tolerance=1e-12)
        dv = twin.internal(np.float64(after.joint_q[-1, 0]), np.float64(after.joint_qd[-1, 0])) - exact.v
        ulp = float(np.spacing(np.float32(np.abs(before.body_q[-1, 0, :, :3]).max())))
        gap = 4.0 * ulp / loaded.time_step * np.linalg.norm(1.0 / exact.D)
        assert np.linalg.norm(dv / exact.D) <= 5e-4 * exact.momentum_scale + gap


def test_half_an_ulp_far_from_the_origin():
    """At 10 km an ulp is 2^-10 m: from half of that a step on, 0.488 m/s at 1 ms, a body moves, and then by all of it."""
    text = "sapsim: 1\ntime_step: 0.001\nsteps: 100\ngravity: [0, 0, 0]\nbodies:\n"
    for name, y, v in (("slow", 0, 0.48), ("fast", 5, 0.5)):
        text += f"  {name}: {{sphere: 0.1, mass: 1, pose: {{xyz: [10000, {y}, 0]}}, velocity: {{linear: [{v}, 0, 0]}}}}\n"
    for precision, moved in (("float64", (0.048, 0.05)), ("float32", (0.0, 100.0 * 2.0**-10))):
        block = Simulation(loads(text, file="far.yaml"), device="cpu", precision=precision).advance(100)
        found = block.body_q[-1, 0, :, 0].astype(float) - 1.0e4
        np.testing.assert_allclose(found, moved, atol=1e-9)
