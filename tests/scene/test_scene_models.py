"""What a right scene file means of models: joints and their kinds, mass properties of links and bodies."""

import math

import numpy as np
import pytest

from sapsim.errors import SceneError
from sapsim.scene.read import loads
from sapsim.scene.spec import Pose

HEAD = "sapsim: 1\ntime_step: 0.001\nsteps: 10\n"

# Rotations and sums of a few float64 products: a few units in the last place of numbers of order one.
ROUND_OFF = 1e-14


def only(names, name):
    (found,) = (x for x in names if x.name == name)
    return found


MODEL = """
models:
  arm:
    links:
      base: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      tip: {inertial: {mass: 2, com: [0, 0, 1], inertia: {ixx: 1, iyy: 2, izz: 2, ixy: 0.1, ixz: 0.2, iyz: 0.3}}}
    joints:
      hinge: {type: %s, parent: base, child: tip, origin: {xyz: [0, 0, 1]}, axis: [0, 3, 4], damping: 0.5, armature: 0.25}
instances:
"""


def test_joints_of_an_instance():
    scene = loads(
        HEAD
        + MODEL % "continuous"
        + "  a: {model: arm, base: fixed, pose: {xyz: [5, 0, 0]}, joint_q: {hinge: 1}, joint_qd: {hinge: 2}}\n"
        + "  b: {model: arm, base: floating, pose: {xyz: [6, 0, 0]}, joint_q_deg: {hinge: 180},"
        + " velocity: {linear: [1, 2, 3], angular: [4, 5, 6]}, gravity: false, collision: false, self_collision: false}\n"
    )
    assert [j.name for j in scene.joints] == ["a/base", "a/hinge", "b/base", "b/hinge"]
    a_base, a_hinge, b_base, b_hinge = scene.joints
    assert (a_base.kind, a_base.parent, a_base.child, a_base.X_PF.p, a_base.q0) == ("fixed", "world", "a/base", (5, 0, 0), ())
    assert (a_hinge.kind, a_hinge.parent, a_hinge.child, a_hinge.X_PF.p) == ("continuous", "a/base", "a/tip", (0, 0, 1))
    assert a_hinge.axis == pytest.approx((0.0, 0.6, 0.8), abs=ROUND_OFF)
    assert (a_hinge.q0, a_hinge.qd0, a_hinge.damping, a_hinge.armature) == ((1.0,), (2.0,), 0.5, 0.25)
    assert (b_base.kind, b_base.X_PF, b_base.q0) == ("floating", Pose(), (6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    assert b_base.qd0 == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert (b_hinge.q0, b_hinge.qd0) == ((math.pi,), (0.0,))
    flags = {(link.instance, link.gravity, link.collide, link.self_collision) for link in scene.links}
    assert flags == {("a", True, True, True), ("b", False, False, False)}
    assert scene.links[1].inertial.inertia == ((1.0, 0.1, 0.2), (0.1, 2.0, 0.3), (0.2, 0.3, 2.0))
    assert scene.links[1].inertial.com == (0.0, 0.0, 1.0)


def test_joints_from_the_world_stand_in_the_frame_of_the_instance():
    scene = loads(
        HEAD
        + """
models:
  m:
    links: {a: {inertial: {mass: 1}, collision: [{sphere: 1}]}, b: {inertial: {mass: 1}, collision: [{sphere: 1}]}}
    joints:
      slide: {type: prismatic, parent: world, child: a, origin: {xyz: [1, 0, 0]}}
      free: {type: floating, parent: world, child: b, origin: {xyz: [2, 0, 0]}}
instances:
  i: {model: m, pose: {xyz: [0, 0, 1], rpy_deg: [0, 0, 90]}}
"""
    )
    slide, free = scene.joints
    np.testing.assert_allclose(slide.X_PF.p, (0.0, 1.0, 1.0), atol=ROUND_OFF)
    np.testing.assert_allclose(slide.X_PF.q, (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)), atol=ROUND_OFF)
    assert (slide.axis, slide.q0) == ((1.0, 0.0, 0.0), (0.0,))
    # the coordinates of a floating joint are the pose in the world
    assert free.X_PF == Pose()
    np.testing.assert_allclose(free.q0, (0.0, 2.0, 1.0, 0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)), atol=ROUND_OFF)


def inertial(text):
    scene = loads(HEAD + f"models: {{m: {{links: {{l: {text}}}}}}}\ninstances: {{i: {{model: m, base: floating}}}}\n")
    return scene.links[0].inertial


def test_mass_properties_come_from_one_shape():
    ball = inertial("{inertial: {mass: 2}, collision: [{sphere: 0.5}]}")
    assert (ball.mass, ball.com) == (2.0, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(ball.inertia, np.eye(3) * 0.4 * 2.0 * 0.25, rtol=ROUND_OFF)
    box = inertial("{inertial: {density: 3}, collision: [{box: [1, 2, 4], pose: {xyz: [1, 0, 0], rpy_deg: [0, 0, 90]}}]}")
    assert box.mass == pytest.approx(24.0, rel=ROUND_OFF)
    np.testing.assert_allclose(box.com, (1.0, 0.0, 0.0), atol=ROUND_OFF)
    # turned by 90 degrees about z: the lengths along x and y change places
    np.testing.assert_allclose(box.inertia, np.diag([17.0, 20.0, 5.0]) * 24.0 / 12.0, atol=24 * 20 * ROUND_OFF)


def test_mass_properties_of_a_capsule():
    """Against the integral over discs across the axis, Gauss-Legendre of 40 points a part (exact for polynomials)."""
    r, length, density = 0.3, 0.8, 500.0
    own = inertial(f"{{inertial: {{density: {density}}}, collision: [{{capsule: {{radius: {r}, length: {length}}}}}]}}")
    x, weight = np.polynomial.legendre.leggauss(40)
    parts = [(-length / 2 - r, -length / 2), (-length / 2, length / 2), (length / 2, length / 2 + r)]
    mass = across = along = 0.0
    for low, high in parts:
        z = 0.5 * (low + high) + 0.5 * (high - low) * x
        radius_squared = r**2 - np.maximum(np.abs(z) - length / 2, 0.0) ** 2
        m = density * np.pi * radius_squared * weight * 0.5 * (high - low)
        mass, along = mass + m.sum(), along + (m * radius_squared / 2).sum()
        across += (m * (radius_squared / 4 + z**2)).sum()
    assert own.mass == pytest.approx(mass, rel=ROUND_OFF) and own.com == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(own.inertia, np.diag([across, across, along]), rtol=ROUND_OFF, atol=1e-30)


BALL_AND_PLANAR = """
models:
  m:
    links: {trunk: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}, a: &l {inertial: {density: 1},
      collision: [{capsule: {radius: 1, length: 2}}]}, b: *l, c: *l}
    joints:
      hip: {type: ball, parent: trunk, child: a}
      table: {type: planar, parent: world, child: trunk}
      wall: {type: planar, parent: trunk, child: b, axis: [0, 3, 4]}
      slide: {type: prismatic, parent: trunk, child: c, stiffness: 50, reference: -0.1}
instances:
  x: {model: m, joint_q: {hip: [0, 0, 0.6, 0.8], table: [1, 2, 0.5]}, joint_qd: {hip: [1, 2, 3], wall: [4, 5, 6]}}
"""


def test_ball_and_planar_joints_and_springs():
    scene = loads(HEAD + BALL_AND_PLANAR)
    joint = {j.name: j for j in scene.joints}
    assert scene.warnings == ()
    assert (joint["x/hip"].q0, joint["x/hip"].qd0) == ((0.0, 0.0, 0.6, 0.8), (1.0, 2.0, 3.0))
    # the normal of a planar joint is z unless the file says otherwise
    assert (joint["x/table"].axis, joint["x/table"].q0, joint["x/table"].qd0) == ((0, 0, 1), (1, 2, 0.5), (0, 0, 0))
    assert (joint["x/wall"].axis, joint["x/wall"].q0, joint["x/wall"].qd0) == ((0.0, 0.6, 0.8), (0, 0, 0), (4, 5, 6))
    assert (joint["x/slide"].stiffness, joint["x/slide"].reference) == (50.0, -0.1)
    assert scene.links[1].shapes[0].params == (1.0, 2.0)


SCREW_AND_UNIVERSAL = """
models:
  m:
    links: {trunk: &l {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}, a: *l, b: *l, c: *l}
    joints:
      thread: {type: screw, parent: world, child: trunk, pitch: -0.2, axis: [0, 0, 2]}
      cross: {type: universal, parent: trunk, child: a}
      tilted: {type: universal, parent: a, child: b, axis: [0, 1, 0], axis2: [0, 3, 4]}
      sleeve: {type: cylindrical, parent: b, child: c, axis: [0, 0, 1]}
instances:
  x: {model: m, joint_q: {sleeve: [0.5, 0.1]}, joint_q_deg: {thread: 180, cross: [90, -45]},
      joint_qd: {sleeve: [1, 2], tilted: [3, 4]}}
"""


def test_screw_universal_and_cylindrical_joints():
    scene = loads(HEAD + SCREW_AND_UNIVERSAL)
    joint = {j.name[2:]: j for j in scene.joints}
    assert scene.warnings == ()
    assert (joint["thread"].axis, joint["thread"].pitch, joint["thread"].q0) == ((0, 0, 1), -0.2, (np.pi,))
    # a second axis is y unless the file says otherwise, and is normalised
    assert (joint["cross"].axis, joint["cross"].axis2) == ((1, 0, 0), (0, 1, 0))
    assert joint["cross"].q0 == (np.pi / 2, -np.pi / 4) and joint["tilted"].axis2 == (0.0, 0.6, 0.8)
    assert (joint["sleeve"].q0, joint["sleeve"].qd0, joint["tilted"].qd0) == ((0.5, 0.1), (1, 2), (3, 4))


@pytest.mark.parametrize(
    ("old", "new", "code", "path", "words"),
    [
        (", pitch: -0.2", "", "no-pitch", "thread", "a screw joint without `pitch` has pitch 0"),
        ("type: cylindrical,", "type: cylindrical, pitch: 1,", "no-effect", "sleeve.pitch", "`pitch` has no effect"),
        ("type: cylindrical,", "type: cylindrical, axis2: [1, 0, 0],", "no-effect", "sleeve.axis2", "`axis2` has no effect"),
    ],
)
def test_warnings_about_pitch_and_second_axis(old, new, code, path, words):
    (warning,) = loads(HEAD + SCREW_AND_UNIVERSAL.replace(old, new)).warnings
    assert (warning.code, warning.path) == (code, f"models.m.joints.{path}") and words in warning.message


@pytest.mark.parametrize(
    ("old", "new", "code", "path", "words"),
    [
        ("[0, 3, 4]", "[0, -7, 0]", "parallel-axes", "tilted.axis2", "`axis2` [0, -1, 0] lies along `axis` [0, 1, 0]"),
        (", axis2: [0, 3, 4]", "", "parallel-axes", "tilted", "a universal joint needs two directions"),
        ("[0, 3, 4]", "[0, 0, 0]", "zero-axis", "tilted.axis2", "an axis needs a direction"),
        ("[0, 3, 4]", "[0, 1]", "wrong-length", "tilted.axis2", ""),
        ("pitch: -0.2", "pitch: .inf", "not-finite", "thread.pitch", ""),
        ("type: cylindrical,", "type: cylindrical, stiffness: 1,", "not-one-dof", "sleeve.stiffness", "2 degrees of freedom"),
    ],
)
def test_faults_of_pitch_and_second_axis(old, new, code, path, words):
    with pytest.raises(SceneError) as caught:
        loads(HEAD + SCREW_AND_UNIVERSAL.replace(old, new))
    (error,) = caught.value.errors
    assert (error.code, error.path) == (code, f"models.m.joints.{path}") and error.line > 1 and words in error.message


def test_a_warning_where_a_joint_has_no_use_for_a_key():
    scene = loads(HEAD + BALL_AND_PLANAR.replace("type: ball,", "type: ball, axis: [0, 0, 1],"))
    assert [(w.code, w.path) for w in scene.warnings] == [("no-effect", "models.m.joints.hip.axis")]


def test_mass_properties_of_several_shapes_are_those_of_the_whole():
    # a box of 2 x 1 x 1, in two halves
    whole = inertial("{inertial: {mass: 3}, collision: [{box: [2, 1, 1], pose: {xyz: [5, 0, 0]}}]}")
    halves = "[{box: [1, 1, 1], pose: {xyz: [4.5, 0, 0]}}, {box: [1, 1, 1], pose: {xyz: [5.5, 0, 0]}}]"
    both = inertial(f"{{inertial: {{mass: 3}}, collision: {halves}}}")
    assert both.mass == 3.0
    np.testing.assert_allclose(both.com, whole.com, atol=5 * ROUND_OFF)
    # inertia about the com is a difference of numbers of the size m c^2 = 75
    np.testing.assert_allclose(both.inertia, whole.inertia, atol=75 * ROUND_OFF)


def test_a_thin_part_of_a_body_is_accepted_with_one_warning_a_file():
    scene = loads(
        HEAD
        + """
models:
  m:
    links:
      a: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      point: {inertial: {mass: 1, inertia: {ixx: 0, iyy: 0, izz: 0}}}
      frame: {}
    joints:
      p: {type: fixed, parent: a, child: point, origin: {xyz: [0, 0, 1]}}
      f: {type: fixed, parent: point, child: frame}
instances:
  x: {model: m, base: floating}
  y: {model: m, base: fixed}
"""
    )
    (warning,) = scene.warnings
    assert (warning.line, warning.code) == (9, "impossible-inertia")
    assert "x/point, y/point" in warning.message


def test_a_massless_link_that_carries_a_massive_one_is_accepted():
    massive = "base: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}"
    model = (MODEL % "revolute").replace(massive, "base: {}")
    scene = loads(HEAD + model + "  a: {model: arm, base: floating}\n")
    assert scene.links[0].inertial.mass == 0.0
