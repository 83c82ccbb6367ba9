"""A block held by two pads on sliders (user case B27): it creeps, it does not slip, whether the pads are coupled or not."""

import numpy as np
import pytest
from yaml_scene import link, run

GRIP = """
sapsim: 1
time_step: H
steps: STEPS
contact: {law: LAW}
materials: {rubber: {stiffness: 1.0e+5, dissipation: 20, relaxation_time: 0.0, friction: 0.7}}
models:
  pad:
    links:
      pad: {inertial: {mass: 0.5, inertia: {ixx: 1.0e-4, iyy: 1.0e-4, izz: 1.0e-4}},
            collision: [{box: [0.02, 0.04, 0.06], material: rubber}]}
    joints: {slide: {type: prismatic, parent: world, child: pad, axis: [1, 0, 0]}}
instances:
  left: {model: pad, pose: {xyz: [-0.02, 0, 0]}}
  right: {model: pad, pose: {xyz: [0.02, 0, 0]}}
bodies: {block: {box: [0.02, 0.02, 0.04], mass: 0.045, material: rubber}}
actuators: ACTUATORS
"""
ALONE = "{l: {joint: left/slide, effort: 30}, r: {joint: right/slide, effort: -30}}\n"
COUPLED = (
    "{l: {joint: left/slide, effort: 60}}\nconstraints: {c: {type: coupler, joints: [right/slide, left/slide], ratio: -1}}\n"
)


@pytest.mark.parametrize("h, allowed", [(1e-3, 2e-5), (5e-3, 1e-4)])
@pytest.mark.parametrize("drive", [ALONE, COUPLED], ids=["two drives", "coupled"])
def test_a_grip_creeps_by_micrometres_a_second(drive, h, allowed):
    """30 N a side with the law `sap`: the drop speed is sigma w h m g of order; the case allows 2e-5 m/s at 1 ms."""
    text = (
        GRIP.replace("ACTUATORS", drive).replace("LAW", "sap").replace("STEPS", str(round(2.0 / h))).replace("H\n", f"{h}\n", 1)
    )
    sim, block = run(text)
    i = link(sim, "block")
    half = len(block.step) // 2
    speed = (block.body_q[half, 0, i, 2] - block.body_q[-1, 0, i, 2]) / ((len(block.step) - 1 - half) * h)
    assert 0.0 < speed < allowed
    assert np.abs(block.body_q[-1, 0, i, :2]).max() < 1e-5
    # each side presses with 30 N, on four corners of the block at least
    normal = [block.contacts.impulse[block.contacts.row == half, 0][block.contacts.body_a[block.contacts.row == half] == j]
              for j in (link(sim, "left/pad"), link(sim, "right/pad"))]  # fmt: skip
    for impulses in normal:
        assert len(impulses) >= 4 and abs(impulses.sum()) == pytest.approx(30 * h, rel=1e-3)
