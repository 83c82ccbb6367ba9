"""Constraints in scene files: what is read, what is refused and where, and warnings of states that do not keep them."""

import math

import numpy as np
import pytest

from sapsim.errors import SceneError
from sapsim.reference.kinematics import calc_kinematics
from sapsim.reference.step import Twin
from sapsim.scene.bodies import group_links
from sapsim.scene.constraint_checks import link_poses
from sapsim.scene.poses import matrix
from sapsim.scene.read import loads

TEXT = """
sapsim: 1
time_step: 0.001
steps: 10
models:
  leg:
    links:
      body: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      thigh: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      shank: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      tip: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
    joints:
      hip: {type: revolute, parent: body, child: thigh, limit: {HIP}}
      knee: {type: prismatic, parent: thigh, child: shank, FRICTION}
      toe: {type: ball, parent: shank, child: tip}
instances:
  one: {model: leg, base: floating, joint_q: {hip: 0.4, knee: -0.1}}
  two: {model: leg, base: fixed, pose: {xyz: [2, 0, 0]}}
  three: {model: leg, base: floating}
bodies: {pin: {sphere: 0.1, mass: 1, pose: {xyz: [1, 0, 0]}}}
constraints:
  c: {ENTRY}
"""


def scene(entry, hip="", friction="friction: 0"):
    return loads(TEXT.replace("ENTRY", entry).replace("HIP", hip).replace("FRICTION", friction), file="leg.yaml")


def fault(entry):
    with pytest.raises(SceneError) as caught:
        scene(entry)
    (error,) = caught.value.errors
    assert error.line == TEXT[: TEXT.index("ENTRY")].count("\n") + 1
    return error


def test_constraints_are_read():
    (c,) = scene("type: coupler, joints: [one/hip, two/knee], ratio: -2, offset: 0.4").constraints
    assert (c.kind, c.joints, c.ratio, c.offset) == ("coupler", ("one/hip", "two/knee"), -2.0, 0.4)
    (c,) = scene("type: distance, a: {link: pin, point: [0, 0, 1]}, b: {link: world}, length: 2, unilateral: true").constraints
    assert (c.a.link, c.a.X_LP.p, c.b.link, c.length, c.stiffness, c.unilateral) == (
        "pin",
        (0, 0, 1),
        "world",
        2.0,
        math.inf,
        True,
    )
    (c,) = scene("type: weld, a: {link: pin/pin, rpy_deg: [0, 0, 90]}, b: {link: one/tip}").constraints
    assert c.a.link == "pin" and c.a.X_LP.q == pytest.approx((0, 0, math.sqrt(0.5), math.sqrt(0.5)), abs=1e-15)
    tendon = "type: tendon, joints: [one/hip, one/knee], coefficients: [1, 2], upper: 0.5, stiffness: 100, damping: 3"
    (c,) = scene(tendon).constraints
    assert (c.coefficients, c.lower, c.upper, c.stiffness, c.damping) == ((1.0, 2.0), -math.inf, 0.5, 100.0, 3.0)
    (c,) = scene("type: distance, a: {link: pin}, b: {link: world}, length: 1, stiffness: .inf").constraints
    assert math.isinf(c.stiffness)


ONE, BOTH = "type: coupler, joints: [one/hip, two/hip]", "a: {link: pin}, b: {link: world}"


@pytest.mark.parametrize(
    "entry, code, path, words",
    [
        ("type: copler, joints: [one/hip, two/hip]", "unknown-value", "c.type", 'did you mean "coupler"?'),
        ("type: limit", "unknown-value", "c.type", "coupler, distance, ball, weld, tendon"),
        (BOTH, "missing-key", "c.type", "coupler, distance"),
        (f"{ONE}, stiffness: 5", "unknown-key", "c.stiffness", "type, joints, ratio, offset"),
        (f"{ONE}, offst: 5", "unknown-key", "c.offst", 'did you mean "offset"?'),
        ("type: coupler, joints: [one/hip]", "wrong-length", "c.joints", "a list of 2"),
        ("type: coupler, joints: [one/hip, one/hip]", "duplicate-name", "c.joints[1]", "twice"),
        ("type: coupler, joints: [one/hip, one/toe]", "not-one-dof", "c.joints[1]", "3 degrees of freedom"),
        ("type: coupler, joints: [one/hip, one/kne]", "unknown-name", "c.joints[1]", 'did you mean "one/knee"?'),
        (f"type: ball, {BOTH}, length: 1", "unknown-key", "c.length", "type, a, b"),
        ("type: ball, a: {link: pin}", "missing-key", "c.b", "`b: ...`"),
        ("type: ball, a: {link: pin}, b: {point: [0, 0, 0]}", "missing-key", "c.b.link", "link"),
        ("type: ball, a: {link: pin, rpy: [0, 0, 0]}, b: {link: world}", "unknown-key", "c.a.rpy", "link, point"),
        ("type: ball, a: {link: pim}, b: {link: world}", "unknown-name", "c.a.link", 'did you mean "pin"?'),
        ("type: ball, a: {link: pin}, b: {link: pin}", "same-body", "c", "on one body"),
        ("type: weld, a: {link: world}, b: {link: two/body}", "same-body", "c", "neither of its ends can move"),
        (f"type: distance, {BOTH}, length: 0", "out-of-range", "c.length", "> 0"),
        (f"type: distance, {BOTH}, length: 1, stiffness: 0", "out-of-range", "c.stiffness", ".inf"),
        (f"type: distance, {BOTH}, length: 1, stiffness: -.inf", "not-finite", "c.stiffness", ".inf"),
        ("type: tendon, joints: [one/hip], coefficients: [1, 2], lower: 0", "wrong-length", "c.coefficients", "one to each"),
        ("type: tendon, joints: [one/hip], coefficients: [0], lower: 0", "out-of-range", "c.coefficients", "zero"),
        ("type: tendon, joints: [one/hip], coefficients: [1]", "missing-key", "c", "nothing would be constrained"),
        ("type: tendon, joints: [one/hip], coefficients: [1], lower: 1, upper: 0", "out-of-range", "c.lower", "above upper"),
        (
            "type: tendon, joints: [one/hip, two/hip, three/hip], coefficients: [1, 1, 1], lower: 0",
            "too-many-trees",
            "c",
            "3 separate trees",
        ),
    ],
)
def test_a_fault_has_its_place(entry, code, path, words):
    error = fault(entry)
    assert (error.code, error.path) == (code, f"constraints.{path}")
    assert words in f"{error.message} {error.suggestion}"


@pytest.mark.parametrize(
    "entry, words",
    [
        ("type: coupler, joints: [one/hip, two/hip], ratio: 2, offset: 0.3", "= 0.1"),
        (f"type: distance, {BOTH}, length: 0.75", "1 m apart, +0.25 m against"),
        ("type: ball, a: {link: pin, point: [0, 0, 0.5]}, b: {link: world, point: [1, 0, 0]}", "0.5 m apart"),
        ("type: weld, a: {link: pin, rpy: [0, 0, 0.25]}, b: {link: world, point: [1, 0, 0]}", "turned by 0.25 rad"),
        ("type: tendon, joints: [one/hip, one/knee], coefficients: [1, 2], upper: 0.15", "0.05 beyond upper 0.15"),
    ],
)
def test_a_constraint_violated_at_the_start_is_a_warning(entry, words):
    (warning,) = scene(entry).warnings
    assert warning.code == "violated-at-start" and words in warning.message and warning.path == "constraints.c"


def test_a_constraint_that_is_kept_is_none():
    for entry in (
        "type: coupler, joints: [one/hip, two/hip], ratio: 2, offset: 0.4",
        f"type: distance, {BOTH}, length: 1",
        f"type: distance, {BOTH}, length: 1.5, unilateral: true",
        "type: ball, a: {link: pin}, b: {link: world, point: [1, 0, 0]}",
        "type: weld, a: {link: pin, rpy: [0, 0, 1]}, b: {link: world, point: [1, 0, 0], rpy: [0, 0, 1]}",
        "type: tendon, joints: [one/hip, one/knee], coefficients: [1, 2], lower: 0.1, upper: 0.3",
    ):
        assert scene(entry).warnings == ()


def test_a_joint_beyond_its_limit_at_the_start_is_a_warning():
    (warning,) = scene(ONE + ", offset: 0.4", hip="lower: -1, upper: 0.3").warnings
    assert warning.code == "violated-at-start" and "one/hip by 0.1 rad" in warning.message
    assert warning.path == "models.leg.joints.hip"


def test_damping_of_a_rigid_constraint_is_a_warning():
    (warning,) = scene(f"type: distance, {BOTH}, length: 1, damping: 5").warnings
    assert warning.code == "no-effect" and warning.path == "constraints.c.damping"


def test_friction_is_read():
    made = scene(ONE + ", offset: 0.4", friction="friction: 0.3")
    assert [j.friction for j in made.joints if j.name.endswith("knee")] == [0.3] * 3


def test_the_initial_poses_are_those_of_the_twin():
    """Of every kind of joint, at coordinates that are not zero."""
    coordinates = {
        "revolute": "0.7", "continuous": "-2", "prismatic": "0.3", "screw": "1.3", "cylindrical": "[0.4, 0.2]",
        "universal": "[0.5, -0.8]", "planar": "[0.1, 0.2, 0.6]", "ball": "[0.1, 0.2, 0.3, 0.9]",
    }  # fmt: skip
    links = "".join(f"      l{i}: {{inertial: {{mass: 1, inertia: {{ixx: 1, iyy: 1, izz: 1}}}}}}\n" for i in range(10))
    joints = "".join(
        f"      j{i}: {{type: {kind}, parent: l{i}, child: l{i + 1}, axis: [1, 2, -0.5], origin: {{xyz: [0.1, {i}, 0],"
        f" rpy: [{i}, 0.2, 0]}}{', pitch: 0.1' * (kind == 'screw')}}}\n"
        for i, kind in enumerate(coordinates)
    )
    joints += "      j8: {type: fixed, parent: l8, child: l9, origin: {xyz: [0, 0, 1], rpy: [1, 0, 0]}}\n"
    q = ", ".join(f"j{i}: {value}" for i, value in enumerate(coordinates.values()))
    text = f"sapsim: 1\ntime_step: 0.001\nsteps: 1\nmodels:\n  m:\n    links:\n{links}    joints:\n{joints}"
    text += f"instances: {{i: {{model: m, base: floating, pose: {{xyz: [1, 2, 3], rpy: [1, 2, 3]}}, joint_q: {{{q}}}}}}}\n"
    made = loads(text, file="all.yaml")
    twin = Twin(made)
    q0, _ = twin.initial()
    kin = calc_kinematics(twin.system, q0, np.zeros(twin.system.nv))
    poses = link_poses(made, group_links(made))
    assert len(poses) == 11
    for i, link in enumerate(made.links):
        X = kin.X_WB[twin.system.link_body[i]] @ twin.system.link_X_BL[i]
        np.testing.assert_allclose(poses[link.name].p, X.p, atol=1e-14)
        np.testing.assert_allclose(matrix(poses[link.name].q), X.R, atol=1e-14)
