"""The bodies of a joint: they pass through one another, unless the joint says `collide: true`."""

import numpy as np
import pytest
from yaml_scene import contacts_of, link, run

# A slide on the world's vertical rail, and on it a second slide that falls onto the first: balls of r = 0.05 m, 0.5 m apart.
# `through`: the joint's bodies are not tested, so the upper ball falls through the lower one, onto the ground.
# `onto`: they are, and it comes to rest on top.
SCENE = """
sapsim: 1
time_step: 0.001
duration: 2.0
solver: {relative_tolerance: 1.0e-10}
materials: {soft: {stiffness: 2.0e+4, dissipation: 50, relaxation_time: 0.005, friction: 0.5}}
world: {collision: [{plane: {}, material: soft}]}
models:
  through:
    links:
      lower: {inertial: {mass: 1.0}, collision: [{sphere: 0.05, material: soft}]}
      upper: {inertial: {mass: 0.5}, collision: [{sphere: 0.05, material: soft}]}
    joints:
      rail: {type: prismatic, parent: world, child: lower, axis: [0, 0, 1]}
      slide: {type: prismatic, parent: lower, child: upper, axis: [0, 0, 1], collide: false}
  onto:
    links:
      lower: {inertial: {mass: 1.0}, collision: [{sphere: 0.05, material: soft}]}
      upper: {inertial: {mass: 0.5}, collision: [{sphere: 0.05, material: soft}]}
    joints:
      rail: {type: prismatic, parent: world, child: lower, axis: [0, 0, 1]}
      slide: {type: prismatic, parent: lower, child: upper, axis: [0, 0, 1], collide: true}
instances:
  through: {model: through, pose: {xyz: [0, 0, 0.05]}, joint_q: {slide: 0.5}}
  onto: {model: onto, pose: {xyz: [1, 0, 0.05]}, joint_q: {slide: 0.5}}
"""


@pytest.mark.parametrize("law", ["lagged", "sap", "similar"])
def test_collide(law):
    sim, block = run(SCENE, f"contact.law={law}")
    c = block.contacts
    pairs = set(zip(c.body_a.tolist(), c.body_b.tolist(), strict=True))
    lower, upper = link(sim, "through/lower"), link(sim, "through/upper")
    assert (lower, upper) not in pairs and (upper, lower) not in pairs
    # both lie on the ground, each on its own:  z = r - m g / k
    k = 1.0e4
    z = block.body_q[-1, 0, :, 2]
    assert z[[lower, upper]] == pytest.approx([0.05 - 9.81 / k, 0.05 - 0.5 * 9.81 / k], abs=1e-8)

    lower, upper = link(sim, "onto/lower"), link(sim, "onto/upper")
    assert (lower, upper) in pairs
    # the ground carries both, the lower ball the upper one
    assert z[lower] == pytest.approx(0.05 - 1.5 * 9.81 / k, abs=1e-8)
    assert z[upper] - z[lower] == pytest.approx(0.1 - 0.5 * 9.81 / k, abs=1e-8)
    impulse = np.zeros(3)
    for i in contacts_of(sim, block, "onto/lower"):
        impulse += c.impulse[i] * (1 if c.body_b[i] == lower else -1)
    assert impulse == pytest.approx([0, 0, 9.81e-3], abs=1e-9)  # in sum, its own weight
