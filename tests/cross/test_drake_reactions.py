"""Reaction wrenches against Drake's reaction forces port (1.51.1), one step from the same states: the chains of the parity
scene, with contacts, springs, damping, armature, limits and drives.

Drake reports the force on the child at its joint frame Jc, in its axes: here the frame of the child link.
"""

from dataclasses import replace

import numpy as np
import pytest
from drake_scene import JOINTS, DrakeScene, scene_text

from sapsim.reference.kinematics import velocity_to_external
from sapsim.reference.step import Twin
from sapsim.scene.read import load
from sapsim.scene.spec import Output
from sapsim.step.simulation import Simulation

STEPS = 60


@pytest.mark.parametrize("law, h, driven", [("lagged", 1e-3, False), ("lagged", 1e-2, True), ("sap", 1e-3, True)])
def test_each_step_from_drakes_state(law, h, driven, tmp_path):
    path = tmp_path / "parity.yaml"
    path.write_text(scene_text(law, h, 10 * STEPS, driven))
    scene = load(str(path), overrides=("solver.relative_tolerance=1e-12",))
    scene = replace(scene, output=Output(channels=("state", "contacts", "solver", "reactions")))
    sim, twin, drake = Simulation(scene, device="cpu"), Twin(scene), DrakeScene(law, h, driven)
    joints = {f"{model}/{name}": drake.plant.GetJointByName(f"{model}/{name}") for model in JOINTS for name in JOINTS[model]}
    port = drake.plant.get_reaction_forces_output_port()
    q, qd = twin.initial()
    x = drake.pack(twin.system, q, twin.internal(q, qd))
    worst, largest, touching = 0.0, 0.0, set()
    for _ in range(STEPS):
        q, v = drake.unpack(twin.system, x)
        sim.set_state(q[None], velocity_to_external(twin.system, q, v)[None])
        block = sim.advance(1)
        drake.plant.SetPositionsAndVelocities(drake.plant_context, x)
        forces = port.Eval(drake.plant_context)  # of the step that starts here: sampled output ports are off
        for name, joint in joints.items():
            F = forces[int(joint.index())]
            expected = np.concatenate([F.rotational(), F.translational()])
            found = block.reaction[-1, 0, sim.joint_names.index(name)]
            worst = max(worst, np.abs(found - expected).max())
            largest = max(largest, np.abs(expected).max())
        touching |= {sim.shape_names[i].rsplit("/", 1)[0] for i in (*block.contacts.shape_a, *block.contacts.shape_b)}
        x = drake.step(x)
    assert {"arm/tip", "snake/tail", "snake/head"} <= touching
    assert worst <= 2e-6 * largest  # Drake stops at a relative residual of 1e-6, which cannot be set from Python
