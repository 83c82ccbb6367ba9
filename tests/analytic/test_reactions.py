"""Reaction wrenches of joints (channel `reactions`) against statics and circular motion.

Wrenches are [torque, force] on the child link, about its origin, in its axes at the start of the step.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from yaml_scene import link, read, run

from sapsim.dynamics.links import quaternion_matrix
from sapsim.step.simulation import Simulation

G = 9.81
CHANNELS = "output: {channels: [state, contacts, solver, reactions]}\n"

CHAIN = """
sapsim: 1
time_step: 0.001
steps: 5
models:
  chain:
    links:
      a: {inertial: {mass: 1, com: [0.02, 0, -0.1], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}}
      plate: {inertial: {mass: 0.25, com: [0, 0.05, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}}
      b: {inertial: {mass: 2, com: [0, 0, -0.1], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}}
      weight: {inertial: {mass: 4, inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}}
      c: {inertial: {mass: 3, com: [0, 0, -0.1], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}}
    joints:
      bc: {type: revolute, parent: b, child: c, origin: {xyz: [0, 0, -0.2]}, axis: [1, 0, 0]}
      mount: {type: fixed, parent: world, child: a}
      bolt: {type: fixed, parent: a, child: plate, origin: {xyz: [0.3, 0, -0.2], rpy_deg: [0, 0, 90]}}
      ab: {type: revolute, parent: a, child: b, origin: {xyz: [0, 0, -0.2]}, axis: [0, 1, 0]}
      hook: {type: fixed, parent: b, child: weight, origin: {xyz: [0, 0, -0.1]}}
instances: {i: {model: chain, pose: {xyz: [1, 2, 3]}}}
forces:
  pull: {link: i/weight, force: [0, 0, -5]}
  push: {link: i/plate, force: [0, 0, 7], point: [0, 0.1, 0], frame: link}
  late: {link: i/a, force: [0, 0, 1000], from: 1.0}
"""


def wrench(sim, block, joint: str, row: int = -1, world: int = 0) -> np.ndarray:
    """[torque, force] of a joint in a row."""
    return block.reaction[row, world, sim.joint_names.index(joint)]


def test_a_hanging_chain_carries_the_weights_below():
    """Fixed joints too: those within a body, and those of links that are fixed in the world."""
    sim, block = run(CHAIN + CHANNELS)
    # 1e-12 of forces of 100 N
    expected = {
        "i/bc": [0, 0, 0, 0, 0, 3 * G],
        "i/hook": [0, 0, 0, 0, 0, 4 * G + 5],
        "i/ab": [0, 0, 0, 0, 0, 9 * G + 5],
        # in the plate's own axes: its weight at y = 0.05, the push at y = 0.1
        "i/bolt": [0.05 * 0.25 * G - 0.1 * 7, 0, 0, 0, 0, 0.25 * G - 7],
        # the plate's mass centre lies at (0.25, 0, -0.2) of the mount, the push at (0.2, 0, -0.2), a's own at x = 0.02
        "i/mount": [0, -0.25 * 0.25 * G + 0.2 * 7 - 0.02 * G, 0, 0, 0, 10.25 * G + 5 - 7],
    }
    assert set(expected) == set(sim.joint_names)
    for joint, values in expected.items():
        assert_allclose(wrench(sim, block, joint), values, atol=1e-10, err_msg=joint)


SPIN = """
sapsim: 1
time_step: 0.01
steps: 3
gravity: [0, 0, -10]
models:
  rod:
    links:
      rod: {inertial: {mass: 1.5, com: [0, 1, 0], inertia: {ixx: 0.5, iyy: 0.001, izz: 0.5}}}
    joints: {pin: {type: continuous, parent: world, child: rod, axis: [0, 0, 1]}}
instances: {i: {model: rod, joint_q: {pin: 0.7}, joint_qd: {pin: 5.0}}}
"""


def test_a_spinning_rod():
    """sap_formulas 10.3.5: m omega^2 L / 2 = 37.5 N to the axis, 15 N up, and 15 N m that carry its weight."""
    _, block = run(SPIN + CHANNELS)
    assert_allclose(block.reaction[:, 0, 0], np.tile([15, 0, 0, 0, -37.5, 15], (3, 1)), atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.3])
def test_a_rod_that_is_let_go(angle):
    """At rest at an angle below the horizontal: m g sin(angle) along the rod, and I / (m r^2 + I) of m g cos(angle) across."""
    text = SPIN.replace("axis: [0, 0, 1]", "axis: [1, 0, 0]").replace("0.7", str(-angle)).replace("pin: 5.0", "pin: 0")
    sim, block = run(text + CHANNELS)
    expected = [0, 0, 0, 0, -15 * np.sin(angle), 15 * np.cos(angle) * 0.5 / (1.5 + 0.5)]
    assert_allclose(wrench(sim, block, "i/pin", row=0), expected, atol=1e-12)


LADDER = """
sapsim: 1
time_step: 0.02
duration: 5
gravity: [0, 0, -10]
solver: {relative_tolerance: 1.0e-12}
materials: {hard: {stiffness: 2.0e+8, dissipation: 100, friction: 0}}
models:
  ladder:
    links:
      ladder:
        inertial: {mass: 7, com: [0, 0, 1], inertia: {ixx: 2.5, iyy: 2.4, izz: 0.2}}
        collision: [{sphere: 0.005, pose: {xyz: [0, 0.25, 2]}, material: hard}]
    joints: {pin: {type: revolute, parent: world, child: ladder, axis: [0, 1, 0]}}
instances: {i: {model: ladder, joint_q: {pin: 0.5}}}
world: {collision: [{plane: {}, pose: {xyz: [1, 0, 0], rpy_deg: [0, -90, 0]}, material: hard}]}
actuators: {turn: {joint: i/pin, effort: 20}}
"""


def test_a_ladder_against_a_wall():
    """sap_formulas 10.3.5: a ladder on a pin leans at a wall, a motor of 20 N m pushes; what crosses the pin holds both."""
    sim, block = run(LADDER + CHANNELS)
    theta = block.joint_q[-2, 0, 0]  # of the step's start
    assert theta == pytest.approx(0.520714, abs=1e-6)
    arm = 2 * np.cos(theta)
    assert arm == pytest.approx(1.734928, abs=2e-6)
    wall = (7 * 10 * np.sin(theta) + 20) / arm
    R_WL = quaternion_matrix(block.body_q[-2, 0, 0, 3:])
    torque, force = np.split(wrench(sim, block, "i/pin"), 2)
    # the figures of the literature, then statics at the angle found: at rest to 1e-9 after 5 s
    assert_allclose(R_WL @ force, [31.60074, 0, 70], atol=1e-4)
    assert_allclose(R_WL @ force, [wall, 0, 70], atol=1e-6)
    assert_allclose(R_WL @ torque, [0, 20, -0.25 * wall], atol=1e-6)


TABLE = """
sapsim: 1
time_step: 0.001
steps: 400
materials: {smooth: {stiffness: 1.0e+5, dissipation: 5, friction: 0}}
models:
  box:
    links:
      box: {inertial: {mass: 2, com: [0.02, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}},
            collision: [{box: [0.2, 0.2, 0.2], material: smooth}]}
    joints: {lift: {type: prismatic, parent: world, child: box, axis: [0, 0, 1]}}
  table:
    links: {top: {inertial: {mass: 5, inertia: {ixx: 1, iyy: 1, izz: 1}}, collision: [{box: [1, 1, 0.1], material: smooth}]}}
instances:
  box: {model: box, pose: {xyz: [0.1, 0, 0.1]}}
  table: {model: table, base: fixed, pose: {xyz: [0, 0, -0.05]}}
forces: {push: {link: box/box, force: [3, 0, 0]}}
"""


def test_a_box_on_a_table_held_by_a_joint():
    """The table carries the weight, the joint the push and the moment of the weight about the box's middle; the table's own
    joint carries the table and the box."""
    sim, block = run(TABLE + CHANNELS)
    assert len(block.contacts.row[block.contacts.row == 399]) == 4
    # at rest to 1e-6 after 0.4 s
    assert_allclose(wrench(sim, block, "box/lift"), [0, -0.02 * 2 * G, 0, -3, 0, 0], atol=1e-5)
    assert_allclose(wrench(sim, block, "table/base"), [0, -0.1 * 2 * G, 0, 0, 0, 7 * G], atol=1e-5)


def test_floating_bodies_need_no_reaction():
    """What a floating joint transmits is the solver's residual: all contact forces were shared out rightly."""
    text = TABLE.replace("joints: {lift: {type: prismatic, parent: world, child: box, axis: [0, 0, 1]}}", "")
    text = text.replace("box: {model: box, pose", "box: {model: box, base: floating, pose")
    text = text.replace("base: fixed", "base: floating").replace("friction: 0", "friction: 0.5")
    text += "world: {collision: [{plane: {}, pose: {xyz: [0, 0, -0.1005]}}]}\nsolver: {relative_tolerance: 1.0e-10}\n"
    _, block = run(text + CHANNELS)
    assert block.contact_count.max() >= 8
    assert np.abs(block.reaction).max() < 1e-6 * 7 * G


def test_locked_joints_transmit_like_fixed_ones():
    text = CHAIN.replace("axis: [1, 0, 0]", "axis: [1, 0, 0], AS").replace("steps: 5", "steps: 20")
    text = text.replace("pose: {xyz: [1, 2, 3]}", "joint_q: {ab: 0.5}, joint_qd: {ab: 2}, pose: {xyz: [1, 2, 3]}") + CHANNELS
    sim, locked = run(text.replace("AS", "locked: true"))
    _, fixed = run(text.replace("AS", "damping: 0").replace("bc: {type: revolute", "bc: {type: fixed"))
    assert np.abs(locked.reaction[:, 0, sim.joint_names.index("i/bc"), :3]).max() > 0.1
    assert_allclose(locked.reaction, fixed.reaction, atol=1e-11)


def test_rows_of_several_steps_hold_the_last_one():
    text = SPIN.replace("axis: [0, 0, 1]", "axis: [1, 0, 0]").replace("steps: 3", "steps: 20") + CHANNELS
    _, every = run(text)
    _, third = run(text, "output.every=3")
    assert third.step.tolist() == [3, 6, 9, 12, 15, 18, 20]
    assert np.array_equal(third.reaction, every.reaction[third.step - 1])
    assert len(np.unique(every.reaction[:, 0, 0, 4])) == 20


def test_a_scene_that_does_not_ask_has_none():
    sim, block = run(SPIN)
    assert block.reaction.shape == (3, 1, 0, 6) and sim.arrays["rec_reaction"].shape[2] == 1


def test_in_the_first_row_there_is_no_step():
    sim = Simulation(read(SPIN + CHANNELS), device="cpu")
    assert np.array_equal(sim.initial().reaction, np.zeros((1, 1, 1, 6)))
    sim.advance(2)
    sim.reset()
    assert np.array_equal(sim.initial().reaction, np.zeros((1, 1, 1, 6)))


def test_a_step_that_failed_has_no_reaction():
    sim = Simulation(replace(read(SPIN + CHANNELS), nworld=2), device="cpu")
    sim.set_state(np.zeros((2, 1)), np.array([[1e200], [5.0]]))
    block = sim.advance(3)
    assert np.isnan(block.reaction[:, 0]).all()
    assert_allclose(block.reaction[:, 1, 0], np.tile([15, 0, 0, 0, -37.5, 15], (3, 1)), atol=1e-12)


def test_float32():
    """(v_next - v0) / h keeps 6e-8 |v| / h of a velocity: 3e-5 m/s^2 here, and rounding of forces of 40 N."""
    scene = read(SPIN + CHANNELS)
    block = Simulation(scene, device="cpu", precision="float32").advance(3)
    assert_allclose(block.reaction[:, 0, 0], np.tile([15, 0, 0, 0, -37.5, 15], (3, 1)), atol=1e-3)


def test_worlds_have_reactions_of_their_own():
    scene = replace(read(SPIN + CHANNELS), nworld=3)
    sim = Simulation(scene, device="cpu")
    omega = np.array([[1.0], [-2.0], [5.0]])
    sim.set_state(np.zeros((3, 1)), omega)
    block = sim.advance(1)
    assert_allclose(block.reaction[0, :, 0, 4], -1.5 * omega[:, 0] ** 2, atol=1e-12)
    assert link(sim, "i/rod") == 0
