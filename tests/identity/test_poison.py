"""A stage must write everything it or a later stage reads: before each stage its outputs are filled with rubbish, and not one
bit of the run may change."""

import numpy as np
import pytest

from sapsim.math.real import real
from sapsim.model.fields import FIELDS
from sapsim.scene.read import load
from sapsim.solver.forms import FORMS
from sapsim.solver.linear import SOLVERS
from sapsim.step.pipeline import all_stages, step_stages
from sapsim.step.simulation import Simulation

SCENE = """
sapsim: 1
time_step: 0.002
steps: 60
contact: {law: LAW}
models:
  arm:
    links:
      upper: {inertial: {mass: 1.0, com: [0, 0, -0.2], inertia: {ixx: 0.02, iyy: 0.02, izz: 0.004}},
              collision: [{sphere: 0.06, pose: {xyz: [0, 0, -0.35]}}]}
      lower: {inertial: {mass: 0.5, com: [0, 0, -0.2], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.002}},
              collision: [{box: [0.1, 0.1, 0.1], pose: {xyz: [0, 0, -0.4]}}]}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.1, armature: 0.01, friction: 0.1,
                 limit: {lower: 0.28, upper: 0.32}}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0, 0, -0.4]}, axis: [0, 1, 0],
              limit: {effort: 3.5}}
instances:
  arm: {model: arm, pose: {xyz: [0, 0, 0.84]}, joint_q: {shoulder: 0.3, elbow: -0.2}}
bodies:
  a: {box: [0.1, 0.1, 0.1], density: 1000, pose: {xyz: [0.4, 0, 0.06]}}
  b: {box: [0.1, 0.1, 0.1], density: 1000, pose: {xyz: [0.4, 0.02, 0.165], rpy: [0, 0, 0.3]}}
  c: {sphere: 0.05, mass: 0.3, pose: {xyz: [0.42, 0.0, 0.28]}}
actuators:
  hold: {joint: arm/elbow, kp: 20, kd: 1, target: -0.4, effort_limit: 3}
  damp: {joint: arm/elbow, kd: 0.2}
  wave: {joint: arm/elbow, effort: {times: [0, 0.1], values: [0, 0.05]}}
constraints:
  gear: {type: coupler, joints: [arm/shoulder, arm/elbow], ratio: -1.5}
  line: {type: distance, a: {link: b}, b: {link: c}, length: 0.13, stiffness: 1000, unilateral: true}
  peg: {type: weld, a: {link: a, point: [0, 0, 0.01]}, b: {link: world, point: [0.41, 0, 0.07]}}
  pin: {type: ball, a: {link: arm/lower, point: [0, 0, -0.4]}, b: {link: world, point: [0.02, 0, 0.05]}}
  cord: {type: tendon, joints: [arm/shoulder, arm/elbow], coefficients: [1, 2], lower: -0.05, stiffness: 100}
forces:
  push: {link: a, force: {times: [0, 0.1], values: [[0.5, 0, 0], [0.2, 0, 0]]}}
world:
  collision: [{plane: {}}]
output: {channels: [state, contacts, solver, reactions]}
"""

# What a step hands on to the next, or counts over several.
KEPT = {"q", "v", "v_b", "v_in", "step", "stopped", "total", "merged", "merged_real", "need"}
KEPT |= {"softened_count", "softened_least"}


def base_name(stage_name: str, law: str) -> str:
    """The name without law, form and linear solver, as fields.py has it."""
    for linear in SOLVERS:
        stage_name = stage_name.removesuffix(f"_{linear}")
    return stage_name.removesuffix("_momentum").removesuffix(f"_{law}") if stage_name != "free_momentum" else stage_name


def poison(sim: Simulation, stage_name: str, law: str) -> int:
    """NaN, or a large odd integer, in every array that the stage writes; returns how many."""
    written = [
        f for f in FIELDS.values()
        if f.group == "data" and f.stage == base_name(stage_name, law) and f.name not in KEPT and "@" not in f.type
    ]  # fmt: skip
    for f in written:
        array = sim.arrays[f.name]
        array.fill_(float("nan") if np.issubdtype(array.numpy().dtype, np.floating) else 77777777)
    return len(written)


VARIANTS = [(law, "v_star", "auto") for law in ("lagged", "sap", "similar")] + [("lagged", "momentum", "auto")]
VARIANTS += [("lagged", "v_star", linear) for linear in SOLVERS if linear != "auto"]


@pytest.mark.parametrize("law, form, linear", VARIANTS)
def test_rubbish_in_the_outputs_changes_nothing(law, form, linear, tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE.replace("LAW", law))
    scene = load(str(path), overrides=(f"solver.form={form}", f"solver.linear_solver={linear}"))
    clean, poisoned = (Simulation(scene, fused=False, device="cpu") for _ in range(2))
    clean.initial(), poisoned.initial()
    stages = step_stages(clean.R, law, form, linear)
    counted = 0
    for _ in range(scene.steps):
        for stage in stages:
            counted += poison(poisoned, stage.name, law)
            poisoned._launcher.launch(stage)
            clean._launcher.launch(stage)
    assert counted > 50 * scene.steps
    for name in ("q", "v", "total", "merged", "merged_real", "rec_q", "rec_V", "rec_constraint", "rec_reaction", "rec_stat"):
        assert np.array_equal(clean.arrays[name].numpy(), poisoned.arrays[name].numpy(), equal_nan=True), name
    assert np.isfinite(poisoned.arrays["q"].numpy()).all()
    assert poisoned.arrays["total"].numpy()[0, 3] > 0, "the scene must have had contacts"
    assert poisoned.arrays["rec_reaction"].numpy().any(), "reactions must have been recorded"
    assert (poisoned.arrays["rec_constraint"].numpy() != 0.0).any(axis=(0, 1)).sum() >= 14, (
        "a limit, both drives, friction, and ties of every kind must have acted"
    )


def test_every_field_names_the_stage_that_writes_it():
    R = real("float64")
    variants = [(form, linear) for form in FORMS for linear in SOLVERS]
    stages = {base_name(s.name, "lagged") for variant in variants for s in all_stages(R, "lagged", *variant)}
    assert {f.stage for f in FIELDS.values() if f.group in ("data", "record")} == stages
