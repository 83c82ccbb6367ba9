"""Reaction wrenches with ties: what constraints between links do is taken off, so that floating bodies need none."""

import numpy as np
import pytest
from yaml_scene import run

TEXT = """
sapsim: 1
time_step: 0.001
steps: 50
solver: {relative_tolerance: 1.0e-11}
models:
  arm:
    links:
      a: {inertial: {mass: 2, com: [0.1, 0, 0], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}
      plate: {inertial: {mass: 1, com: [0, 0.1, 0], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}
      b: {inertial: {mass: 3, com: [0, 0, 0.1], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}
    joints:
      bolt: {type: fixed, parent: a, child: plate, origin: {xyz: [0.3, 0, 0], rpy: [0.1, 0.2, 0.3]}}
      hinge: {type: revolute, parent: a, child: b, origin: {xyz: [0, 0.2, 0]}, axis: [0, 1, 0]}
instances:
  one: {model: arm, base: floating, velocity: {angular: [1, 2, 3]}}
  two: {model: arm, base: floating, pose: {xyz: [1, 0, 0], rpy: [0.2, 0, 0]}, velocity: {linear: [0, 1, 0]}}
constraints:
  c: CONSTRAINT
output: {channels: [state, contacts, solver, reactions]}
"""
TIES = {
    "distance": "{type: distance, a: {link: one/plate, point: [0.1, 0, 0]}, b: {link: two/b, point: [0, 0.1, 0]}, length: 0.5}",
    "ball": "{type: ball, a: {link: one/plate, point: [0.1, 0, 0]}, b: {link: world, point: [0.2, 0.1, 0]}}",
    "weld": "{type: weld, a: {link: one/plate, point: [0.1, 0, 0]}, b: {link: two/b, point: [0, 0.1, 0], rpy: [0.3, 0, 0.1]}}",
    "coupler": "{type: coupler, joints: [one/hinge, two/hinge], ratio: 2.0, offset: 0.1}",
    "tendon": "{type: tendon, joints: [one/hinge, two/hinge], coefficients: [1.0, 0.5], lower: 0.2, upper: 0.3}",
}


@pytest.mark.parametrize("kind", TIES)
def test_floating_joints_transmit_nothing(kind):
    sim, block = run(TEXT.replace("CONSTRAINT", TIES[kind]))
    assert block.constraint_impulse.any(axis=(0, 1)).all()
    bases = [j for j, name in enumerate(sim.joint_names) if name.endswith("/base")]
    largest = np.abs(block.reaction).max(axis=(1, 2, 3))
    assert largest.min() > 1.0
    assert (np.abs(block.reaction[:, 0, bases]).max(axis=(1, 2)) < 1e-6 * largest).all()
