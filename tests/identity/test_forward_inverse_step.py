"""Forward, then inverse: the acceleration of a step of the simulation takes, in inverse dynamics, all forces of that step.

    RNEA(q0, v0, (v1 - v0) / h) = effort - damping v1 - stiffness (q0 - reference) + J' gamma / h

with the applied forces in RNEA, and gamma of contacts, limits and drives as recorded.  The right side is formed link by link
from what a file holds; the solver, its Jacobians and its mass matrix have no part in it.
"""

import numpy as np
import pytest

from sapsim.dynamics import Dynamics, ExternalForce
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

TEXT = """
sapsim: 1
time_step: 0.002
steps: 150
contact: {law: LAW}
solver:
  {relative_tolerance: 1.0e-13, absolute_tolerance: 1.0e-13,
   cost_relative_tolerance: 1.0e-300, cost_absolute_tolerance: 1.0e-300}
models:
  leg:
    links:
      upper: {inertial: {mass: 1.0, com: [0.02, 0, -0.2], inertia: {ixx: 0.02, iyy: 0.02, izz: 0.004}}}
      lower: {inertial: {mass: 0.5, com: [0, 0.01, -0.2], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.002}},
              collision: [{sphere: 0.05, pose: {xyz: [0, 0, -0.4]}}]}
    joints:
      hip: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.3, armature: 0.02,
            stiffness: 4, reference: 0.2, limit: {lower: -2, upper: 0.302}}
      knee: {type: revolute, parent: upper, child: lower, origin: {xyz: [0, 0, -0.4], rpy: [0.1, 0, 0]}, axis: [0, 1, 0],
             damping: 0.1}
instances:
  leg: {model: leg, pose: {xyz: [0, 0, 0.925]}, joint_q: {hip: 0.3, knee: -0.4}}
bodies:
  box: {box: [0.3, 0.3, 0.1], density: 500, pose: {xyz: [0, 0, 0.049], rpy: [0, 0, 0.4]}, velocity: {linear: [0.3, 0, 0]}}
actuators:
  hold: {joint: leg/knee, kp: 20, kd: 1, target: -0.5, effort_limit: 3}
  push: {joint: leg/hip, effort: 6.0}
forces:
  wind: {link: box, force: [2, -1, 0], torque: [0, 0, 0.1], point: [0.1, 0, 0], frame: link}
world: {collision: [{plane: {}}]}
"""


@pytest.mark.parametrize("law", ["lagged", "sap", "similar"])
def test_the_forces_of_a_step_balance(law):
    scene = loads(TEXT.replace("LAW", law), file="scene.yaml")
    sim = Simulation(scene, device="cpu")
    first, block = sim.initial(), sim.advance(scene.steps)
    n, h = scene.steps, scene.time_step
    d = Dynamics(scene, nworld=n)
    q, qd = (np.concatenate([getattr(first, x)[:, 0], getattr(block, x)[:, 0]]) for x in ("joint_q", "joint_qd"))
    v0, v1 = d.to_internal(q[:-1], qd[:-1]), d.to_internal(q[1:], qd[1:])
    wind = ExternalForce("box", (2, -1, 0), (0, 0, 0.1), (0.1, 0, 0), "link")
    tau = d.rnea(q[:-1], v0, (v1 - v0) / h, [wind])

    hip, knee = (d.joint_qd_start[d.joint_names.index(f"leg/{name}")] for name in ("hip", "knee"))
    at = [d.joint_q_start[d.joint_names.index(f"leg/{name}")] for name in ("hip", "knee")]
    expected = np.zeros_like(tau)
    expected[:, hip] = 6.0 - 0.3 * v1[:, hip] - 4.0 * (q[:-1, at[0]] - 0.2)
    expected[:, knee] = -0.1 * v1[:, knee]
    names = list(sim.constraint_names)
    rows = block.constraint_impulse[:, 0] / h
    expected[:, hip] += rows[:, names.index("leg/hip:lower")] - rows[:, names.index("leg/hip:upper")]
    expected[:, knee] += rows[:, names.index("hold")]
    expected += contact_forces(d, block, q[:-1], h)
    assert rows.any(axis=0)[[names.index("leg/hip:upper"), names.index("hold")]].all() and block.contact_count.max() >= 4
    assert (block.contacts.body_a >= 0).any(), "the foot must stand on the box"
    # relative_tolerance 1e-13 of momenta, divided by h; 1e-8 of the largest force
    assert np.abs(tau - expected).max() <= 1e-8 * np.abs(expected).max()


def contact_forces(d: Dynamics, block, q: np.ndarray, h: float) -> np.ndarray:
    """(W, nv): J' gamma / h, a state to a row of the block, by moving each impulse to the links' origins."""
    c = block.contacts
    wrench = np.zeros((len(q), d.nlink, 6))
    p = d.forward_kinematics(q).p
    for body, sign in ((c.body_b, 1.0), (c.body_a, -1.0)):
        k = np.flatnonzero(body >= 0)
        force = sign * c.impulse[k] / h
        moment = np.cross(c.point[k] - p[c.row[k], body[k]], force)
        np.add.at(wrench, (c.row[k], body[k]), np.concatenate([moment, force], axis=1))
    return d.generalized_force(wrench, p)
