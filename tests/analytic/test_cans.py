"""Cans on a table's edge, on its corner and on a round stool: what is left of the disc carries them, and keeps still."""

import numpy as np
import pytest
from yaml_scene import contacts_of, link, read

from sapsim.step.simulation import Simulation

G, H = 9.81, 0.002
SCENE = """
sapsim: 1
time_step: 0.002
steps: 1500
contact: {default_material: {stiffness: 1.0e+5, dissipation: 20, friction: 0.5}}
world:
  collision:
    - {box: [1, 1, 0.2], pose: {xyz: [0, 0, -0.1]}}
    - {cylinder: {radius: 0.3, length: 0.2}, pose: {xyz: [3, 0, -0.1]}}
models:
  can: {links: {b: {inertial: {mass: 1, com: [0, 0, 0], inertia: {ixx: 0.004, iyy: 0.004, izz: 0.005}},
                    collision: [{cylinder: {radius: 0.1, length: 0.2}}]}}}
instances:
  edge: {model: can, base: floating, pose: {xyz: [0.47, 0.13, 0.0999]}}
  corner: {model: can, base: floating, pose: {xyz: [0.46, 0.45, 0.0999], rpy: [0, 0, 0.3]}}
  stool: {model: can, base: floating, pose: {xyz: [3.26, 0.02, 0.0999]}}
  middle: {model: can, base: floating, pose: {xyz: [-0.2, 0, 0.0999]}, velocity: {angular: [0, 0, 5]}}
"""

CANS = ("edge", "corner", "stool", "middle")


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_what_is_left_of_a_disc_carries_a_can(precision):
    """In the last half second: the same points by name, no motion but the creep of regularised friction, forces that carry the
    weight and have no moment.

    Creep: friction is stiff to R = 0.001 of the diagonal (beta 1, sigma 0.001), which lets a can under the sideways force of
    its lean slide by 1e-7 m/s.  float32 stores velocities of 2e-5 rad/s that rounding of the depths makes.
    """
    quiet, even = {"float64": (2.0e-7, 1.0e-5), "float32": (5.0e-5, 2.0e-3)}[precision]
    sim = Simulation(read(SCENE), device="cpu", precision=precision)
    block = sim.advance(sim.scene.steps)
    assert block.converged.all()
    for can in CANS:
        i = link(sim, can + "/b")
        names = [sorted(block.contacts.feature[contacts_of(sim, block, can + "/b", row)]) for row in range(1250, 1500)]
        assert all(found == names[0] for found in names), can
        assert np.abs(block.body_qd[1250:, 0, i]).max() < quiet, can
        chosen = contacts_of(sim, block, can + "/b")
        assert len(chosen) == 8
        c = block.contacts
        sign = np.where(c.body_b[chosen] == i, 1.0, -1.0)[:, None]
        impulse = sign * c.impulse[chosen]
        np.testing.assert_allclose(impulse.sum(axis=0), (0.0, 0.0, G * H), atol=even * G * H)
        moment = np.cross(c.point[chosen] - block.body_q[-1, 0, i, :3], impulse).sum(axis=0)
        np.testing.assert_allclose(moment, 0.0, atol=even * G * H * 0.1)
