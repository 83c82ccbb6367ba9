"""A locked joint is a fixed joint where its coordinates start: the same run to round-off, for every kind of joint; its
coordinates stay in the result; and bodies that nothing can move do not touch one another."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import registry
from sapsim.reference.step import Twin
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

START = {
    "revolute": [0.4], "continuous": [-1.2], "prismatic": [0.07], "screw": [0.9], "ball": [0.1, -0.2, 0.3, 0.9],
    "planar": [0.03, -0.05, 0.6], "cylindrical": [0.5, 0.04], "universal": [0.4, -0.7],
}  # fmt: skip
KEYS = {"screw": ", pitch: 0.1", "universal": ", axis2: [0.1, 1, 0.3]"}

# A tumbling trunk with an arm on a joint of the kind under test, and a hinge behind it; the arm falls on the ground.
SCENE = """
sapsim: 1
time_step: 0.002
steps: 150
world: {collision: [{plane: {}}]}
models:
  m:
    links:
      trunk: {inertial: {mass: 1.0, com: [0.02, 0, 0.01], inertia: {ixx: 0.004, iyy: 0.005, izz: 0.006, ixy: 0.0003}},
              collision: [{sphere: 0.06}]}
      arm: {inertial: {mass: 0.4, com: [0.1, 0.02, 0], inertia: {ixx: 0.001, iyy: 0.003, izz: 0.003}},
            collision: [{sphere: 0.04, pose: {xyz: [0.15, 0, 0]}}]}
      hand: {inertial: {mass: 0.2, com: [0.05, 0, 0], inertia: {ixx: 0.0004, iyy: 0.0004, izz: 0.0004}},
             collision: [{sphere: 0.03, pose: {xyz: [0.05, 0, 0]}}]}
    joints:
      j: {type: KIND, parent: trunk, child: arm, origin: ORIGIN, axis: [0.2, 0.4, 0.9]EXTRA}
      hinge: {type: revolute, parent: arm, child: hand, origin: {xyz: [0.2, 0, 0]}, axis: [0, 1, 0], damping: 0.01}
instances:
  it: {model: m, base: floating, pose: {xyz: [0, 0, 0.2], rpy: [0.3, 0.2, 0.5]}, joint_q: {STARThinge: 0.3},
       velocity: {linear: [0.5, 0, -1.0], angular: [1, 2, 3]}}
"""
ORIGIN = "{xyz: [0.1, 0.02, 0], rpy: [0.2, -0.1, 0.4]}"


def locked_scene(kind: str):
    text = (
        SCENE.replace("KIND", kind)
        .replace("ORIGIN", ORIGIN)
        .replace("START", f"j: {START[kind] if len(START[kind]) > 1 else START[kind][0]}, ")
    )
    return loads(text.replace("EXTRA", KEYS.get(kind, "") + ", locked: true, damping: 0.3, armature: 0.1"), file="locked.yaml")


def fixed_scene(kind: str, locked):
    """The same with a fixed joint whose origin is read off the start of the run, link by link."""
    twin = Twin(locked)
    body_q = twin.body_q(twin.initial()[0])
    trunk, arm = body_q[0], body_q[1]
    R = Rotation.from_quat(trunk[3:])
    p = R.inv().apply(arm[:3] - trunk[:3])
    Q = (R.inv() * Rotation.from_quat(arm[3:])).as_quat()
    origin = f"{{xyz: {p.tolist()}, quaternion: {Q.tolist()}}}"
    text = SCENE.replace("KIND", "fixed").replace("ORIGIN", origin).replace("START", "").replace("EXTRA", "")
    return loads(text.replace(", axis: [0.2, 0.4, 0.9]}", "}"), file="fixed.yaml")


@pytest.mark.parametrize("kind", sorted(START))
def test_locked_is_fixed(kind):
    assert sorted(START) == sorted(n for n, k in registry("joints").items() if k.moves and not k.needs_world)
    locked = locked_scene(kind)
    a, b = Simulation(locked, device="cpu"), Simulation(fixed_scene(kind, locked), device="cpu")
    rows, expected = a.advance(150), b.advance(150)
    assert rows.contact_count.max() >= 1
    # round-off of two placements of the arm, magnified by 150 steps with impacts
    np.testing.assert_allclose(rows.body_q, expected.body_q, atol=1e-9)
    np.testing.assert_allclose(rows.body_qd, expected.body_qd, atol=1e-7)
    # the coordinates are still there, and stay
    j = locked.joints[[joint.name for joint in locked.joints].index("it/j")]
    at = slice(a.joint_q_start[1], a.joint_q_start[2])
    assert a.joint_names[1] == "it/j" and len(j.q0) == registry("joints")[kind].nq
    np.testing.assert_array_equal(rows.joint_q[..., at], np.broadcast_to(j.q0, rows.joint_q[..., at].shape))
    assert not rows.joint_qd[..., a.joint_qd_start[1] : a.joint_qd_start[2]].any()


@pytest.mark.parametrize("kind", ["revolute", "planar", "universal"])
def test_the_twin_locks_likewise(kind):
    scene = locked_scene(kind)
    sim, twin = Simulation(scene, device="cpu"), Twin(scene)
    q, qd = twin.initial()
    for _ in range(20):
        block, result = sim.advance(1), twin.step(q, qd, sim.steps_done - 1)
        np.testing.assert_allclose(block.joint_q[-1, 0], result.q, atol=1e-11)
        np.testing.assert_allclose(block.body_qd[-1, 0], twin.body_qd(result.q, result.v), atol=1e-9)
        q, qd = block.joint_q[-1, 0], block.joint_qd[-1, 0]


BASES = """
sapsim: 1
time_step: 0.002
steps: 5
models:
  m:
    links: {a: {inertial: {mass: 1.0}, collision: [{sphere: 0.1}]}}
    joints: {slide: {type: prismatic, parent: world, child: a, axis: [1, 0, 0], locked: LOCKED}}
instances: {one: {model: m}, two: {model: m, joint_q: {slide: 0.15}}}
"""


@pytest.mark.parametrize("locked, count", [("false", 1), ("true", 0)])
def test_bodies_that_cannot_move_do_not_touch(locked, count):
    """Two sliders that overlap: locked, they are part of the world."""
    sim = Simulation(loads(BASES.replace("LOCKED", locked), file="bases.yaml"), device="cpu")
    rows = sim.advance(5)
    assert rows.contact_count[0, 0] == count
    assert sim.coordinate_names == ["one/slide", "two/slide"]
    if locked == "true":
        np.testing.assert_array_equal(rows.joint_q[-1, 0], [0.0, 0.15])
        np.testing.assert_array_equal(rows.body_q[-1, 0, :, 0], [0.0, 0.15])


def test_a_locked_joint_can_not_be_put_elsewhere():
    sim = Simulation(locked_scene("revolute"), device="cpu")
    q, qd = sim.model.q0[None], sim.model.qd0[None]
    sim.set_state(q, qd)
    moved, turning = q.copy(), qd.copy()
    moved[0, sim.joint_q_start[1]] += 0.1
    turning[0, sim.joint_qd_start[1]] = 1.0
    with pytest.raises(ValueError, match="it/j is locked"):
        sim.set_state(moved, qd)
    with pytest.raises(ValueError, match="no velocity"):
        sim.set_state(q, turning)


def test_what_a_locked_joint_makes_useless_is_said():
    text = BASES.replace("LOCKED", "true").replace("joint_q: {slide: 0.15}", "joint_qd: {slide: 2.0}")
    scene = loads(text + "actuators: {push: {joint: two/slide, effort: 3}}\n", file="bases.yaml")
    assert [w.code for w in scene.warnings] == ["no-effect", "no-effect"]
    assert "initial velocity" in scene.warnings[0].message and '"push"' in scene.warnings[1].message
    assert not Simulation(scene, device="cpu").initial().joint_qd.any()


TIED = """
sapsim: 1
time_step: 0.002
steps: 400
models:
  m:
    links:
      a: {inertial: {mass: 1.0, com: [0, 0, -0.2], inertia: {ixx: 0.02, iyy: 0.02, izz: 0.02}}}
      b: {inertial: {mass: 0.5, com: [0, 0, -0.2], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}}
    joints:
      first: {type: revolute, parent: world, child: a, axis: [0, 1, 0]}
      second: {type: revolute, parent: world, child: b, origin: {xyz: [1, 0, 0]}, axis: [0, 1, 0], locked: true}
instances: {m: {model: m, joint_q: {first: 0.7, second: 0.4}}}
constraints: {gear: {type: coupler, joints: [m/first, m/second], ratio: 2.0, offset: -0.1}}
"""


def test_a_coupler_to_a_locked_joint_holds_the_other():
    """q0 = 2 x 0.4 - 0.1 = 0.7, against gravity: 1 kg at 0.2 m."""
    scene = loads(TIED, file="tied.yaml")
    sim, twin = Simulation(scene, device="cpu"), Twin(scene)
    rows = sim.advance(400)
    assert rows.converged.all() and np.abs(rows.joint_q[:, 0, 0] - 0.7).max() < 1e-6
    np.testing.assert_array_equal(rows.joint_q[:, 0, 1], 0.4)
    torque = rows.constraint_impulse[-1, 0] / 0.002
    np.testing.assert_allclose(np.abs(torque), 9.81 * 0.2 * np.sin(0.7), rtol=1e-3)  # at rest but for the last digits of q
    result = twin.step(rows.joint_q[-2, 0], rows.joint_qd[-2, 0], 399)
    np.testing.assert_allclose(rows.joint_qd[-1, 0], result.qd, atol=1e-9)


def test_a_constraint_of_locked_joints_alone_is_left_out_and_said():
    scene = loads(TIED.replace("axis: [0, 1, 0]}", "axis: [0, 1, 0], locked: true}"), file="tied.yaml")
    assert "gear" in " ".join(w.message for w in scene.warnings)
    sim = Simulation(scene, device="cpu")
    assert sim.constraint_names == [] and sim.advance(3).converged.all()
