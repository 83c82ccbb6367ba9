"""Contacts within the margin: they act only where the step would close the gap, and then they close it, however fast a body is.

sap_formulas 2.5; the laws' files say what v_hat is at a gap.
"""

import numpy as np
import pytest
from yaml_scene import link, read, simulation

from sapsim.step.simulation import Simulation

LAWS = ("lagged", "similar", "sap")
PLATE = 0.01  # thickness [m]; its top is at z = 0
SPEED, STEP = 80.0, 1.0e-3  # [m/s], [s]: more in a step than plate and body are thick
HALF = 0.02  # of the bodies, below their centres [m]
SHAPES = {
    "sphere": f"sphere: {HALF}",
    "box": f"box: [0.06, 0.05, {2 * HALF}]",
    "capsule": f"capsule: {{radius: {HALF}, length: 0.05}}",
}

BULLET = """
sapsim: 1
time_step: STEP
steps: 60
contact: {law: LAW, margin: MARGIN}
materials: {steel: {stiffness: 4.0e+6, dissipation: 2, relaxation_time: 0.001, friction: 0}}
world: {collision: [{box: [0.5, 0.5, PLATE], pose: {xyz: [0, 0, -0.005]}, material: steel}]}
bodies:
  bullet: {SHAPE, mass: 0.2, material: steel, pose: {xyz: [0.01, 0.02, 0.51], rpy: [RPY, 0, 0]},
           velocity: {linear: [0, 0, -80]}}
"""


def bullet(law: str, shape: str, margin: float) -> str:
    words = {"LAW": law, "MARGIN": str(margin), "SHAPE": SHAPES[shape], "STEP": str(STEP), "PLATE": str(PLATE)}
    words["RPY"] = "1.5707963267948966" if shape == "capsule" else "0"
    text = BULLET
    for word, value in words.items():
        text = text.replace(word, value)
    return text


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("law", LAWS)
def test_a_fast_body_does_not_pass_a_thin_plate(law, shape, precision):
    """With a margin that covers the travel of a step; the deepest point stays in the upper half of the plate."""
    sim = Simulation(read(bullet(law, shape, 1.2 * SPEED * STEP)), device="cpu", precision=precision)
    block = sim.advance(60)
    lowest = block.body_q[:, 0, link(sim, "bullet"), 2].min() - HALF
    assert block.converged.all() and block.contact_count.max() > 0
    assert -0.5 * PLATE < lowest < HALF


@pytest.mark.parametrize("law", LAWS)
def test_without_the_margin_it_does(law):
    """What the margin is for: in one step it is above the plate, in the next it is below."""
    block = simulation(bullet(law, "sphere", 0.0)).advance(60)
    assert block.contact_count.max() == 0 and block.body_q[-1, 0, 0, 2] < -1.0


@pytest.mark.parametrize("law", LAWS)
def test_a_gap_that_stays_open_is_not_felt(law):
    """A ball falls within the margin, with the relaxation time of 0.2 s that is the default: free fall, to the last bit, until
    the step that would close the gap; and that one leaves it closed by no more than the contact's compliance."""
    text = """
sapsim: 1
time_step: 0.001
steps: 150
contact: {law: LAW, margin: MARGIN}
world: {collision: [{plane: {}}]}
bodies: {ball: {sphere: 0.05, mass: 1, pose: {xyz: [0, 0, 0.13]}}}
"""
    seen = simulation(text.replace("LAW", law).replace("MARGIN", "0.1"))
    free = simulation(text.replace("LAW", law).replace("MARGIN", "0.0"))
    block, alone = seen.advance(150), free.advance(150)
    height, unseen = (b.body_q[:, 0, link(seen, "ball"), 2] - 0.05 for b in (block, alone))
    closes = int(np.flatnonzero(unseen < 0.0)[0])
    assert (block.contact_count[:closes] == 1).all() and 100 < closes < 140
    assert np.array_equal(height[:closes], unseen[:closes])
    assert (block.contacts.impulse[:closes] == 0.0).all() and block.contacts.impulse[closes, 2] > 0.0
    assert unseen[closes] < height[closes] < 1.0e-4


@pytest.mark.parametrize("law", LAWS)
def test_the_depth_at_rest_does_not_depend_on_the_margin(law):
    text = """
sapsim: 1
time_step: 0.001
steps: 600
contact: {law: LAW, margin: MARGIN}
materials: {soft: {stiffness: 2.0e+4, dissipation: 50, relaxation_time: 0.005, friction: 0.5}}
world: {collision: [{plane: {}, material: soft}]}
bodies: {box: {box: [0.1, 0.1, 0.1], mass: 1, material: soft, pose: {xyz: [0, 0, 0.05]}}}
"""
    heights = [
        simulation(text.replace("LAW", law).replace("MARGIN", margin)).advance(600).body_q[-1, 0, 0, 2]
        for margin in ("0", "0.02")
    ]
    assert heights[0] == pytest.approx(0.05 - 9.81 / 4.0e4, abs=1e-7) and heights[1] == pytest.approx(heights[0], abs=1e-9)
