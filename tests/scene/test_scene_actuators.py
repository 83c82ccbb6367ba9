"""Limits and actuators in scene files: what is read, what is refused, and where."""

import math

import numpy as np
import pytest
from urdf_files import LIMIT_ARM, scene_of

from sapsim.errors import SceneError
from sapsim.scene.read import loads
from sapsim.scene.spec import Limit

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
      knee: {type: prismatic, parent: thigh, child: shank, limit: {KNEE}}
      toe: {type: ball, parent: shank, child: tip}
instances:
  quad: {model: leg, base: floating, joint_q: {hip: 0.4, knee: -0.1}}
actuators: ACTUATORS
"""


def text(actuators="{}", hip="", knee=""):
    return TEXT.replace("HIP", hip).replace("KNEE", knee).replace("ACTUATORS", actuators)


def scene(*arguments, **options):
    return loads(text(*arguments, **options), file="quad.yaml")


def fault(*arguments, **options):
    with pytest.raises(SceneError) as caught:
        scene(*arguments, **options)
    (error,) = caught.value.errors
    return error


def test_limits_are_read():
    hip, knee = scene(hip="lower_deg: -90, upper: 2", knee="upper: 0.3, effort: 40, velocity: 5").joints[1:3]
    assert hip.limit == Limit(-math.pi / 2, 2.0)
    assert knee.limit == Limit(upper=0.3, effort=40.0, velocity=5.0)
    assert scene().joints[1].limit == Limit()


def test_a_velocity_limit_is_kept_and_warned_of():
    (warning,) = scene(knee="velocity: 5").warnings
    assert warning.code == "not-enforced" and "velocity limits (quad/knee)" in warning.message
    assert scene(hip="lower: -1, upper: 1, effort: 3").warnings == ()


@pytest.mark.parametrize(
    "hip, knee, code, path",
    [
        ("lower: 1, upper: -1", "", "out-of-range", "hip.limit.lower"),
        ("lower: 1, lower_deg: 3", "", "exclusive-keys", "hip.limit.lower_deg"),
        ("", "upper_deg: 3", "wrong-unit", "knee.limit.upper_deg"),
        ("effort: -1", "", "out-of-range", "hip.limit.effort"),
        ("lower: .nan", "", "not-finite", "hip.limit.lower"),
        ("uper: 1", "", "unknown-key", "hip.limit.uper"),
    ],
)
def test_bad_limits(hip, knee, code, path):
    error = fault(hip=hip, knee=knee)
    assert (error.code, error.path) == (code, f"models.leg.joints.{path}")


def test_a_limit_needs_a_joint_of_one_degree_of_freedom():
    bad = text().replace("type: ball,", "type: ball, limit: {upper: 1},")
    with pytest.raises(SceneError) as caught:
        loads(bad, file="quad.yaml")
    (error,) = caught.value.errors
    assert error.code == "not-one-dof" and error.path == "models.leg.joints.toe.limit.upper"


def test_a_continuous_joint_has_no_bounds_and_keeps_its_effort():
    free = text(hip="lower: -1, effort: 5").replace("revolute", "continuous")
    found = loads(free, file="quad.yaml")
    assert found.joints[1].limit == Limit(effort=5.0)
    assert [w.code for w in found.warnings] == ["no-effect"]


def test_limits_of_a_urdf_act(tmp_path):
    assert scene_of(tmp_path, text=LIMIT_ARM).joints[1].limit == Limit(-0.25, 0.5, 7.0)


def test_actuators_are_read():
    found = scene(
        "{a: {joint: quad/hip, kp: 10, kd: 1, target: 0.2, target_velocity: 0.3, feedforward: 2, effort_limit: 5},"
        " b: {joint: quad/knee, effort: -5}, c: {joint: quad/hip, kp: 1, target_deg: 90}}"
    )
    a, b, c = found.actuators
    assert (a.name, a.joint, a.kp, a.kd, a.target, a.target_velocity) == ("a", "quad/hip", 10.0, 1.0, 0.2, 0.3)
    assert (a.feedforward, a.effort_limit, a.lowest, a.highest, a.effort) == (2.0, 5.0, -5.0, 5.0, 0.0)
    assert (b.kp, b.kd, b.effort, b.has_gains) == (0.0, 0.0, -5.0, False)
    assert c.target == math.pi / 2
    assert "actuators:" in found.resolved and "kp: 10.0" in found.resolved


def test_a_pattern_makes_an_actuator_to_a_joint_of_one_degree_of_freedom():
    found = scene("{legs: {joint: 'quad/*', kp: 8, kd: 0.2, target: initial}}").actuators
    assert [(a.name, a.joint, a.target) for a in found] == [
        ("legs:quad/hip", "quad/hip", 0.4),
        ("legs:quad/knee", "quad/knee", -0.1),
    ]


@pytest.mark.parametrize(
    "keys, code, path, words",
    [
        ("joint: quad/hop, kp: 1", "unknown-name", "joint", 'did you mean "quad/hip"?'),
        ("joint: 'quad/x*', kp: 1", "unknown-name", "joint", "quad/hip"),
        ("joint: quad/toe, kp: 1", "not-one-dof", "joint", "3 degrees of freedom"),
        ("joint: 'quad/t*', kp: 1", "not-one-dof", "joint", "one degree of freedom"),
        ("kp: 1", "missing-key", "joint", "joint"),
        ("joint: quad/hip, kp: -1", "out-of-range", "kp", ">= 0"),
        ("joint: quad/hip, kp: 1, target: start", "unknown-value", "target", "initial"),
        ("joint: quad/hip, kp: 1, effort: 2", "exclusive-keys", "effort", "exclude"),
        ("joint: quad/hip, effort: 2, feedforward: 1", "exclusive-keys", "feedforward", "exclude"),
        ("joint: quad/knee, kp: 1, target_deg: 2", "wrong-unit", "target_deg", "not an angle"),
        ("joint: quad/hip, gain: 1, kp: 1", "unknown-key", "gain", "allowed"),
    ],
)
def test_bad_actuators(keys, code, path, words):
    error = fault(f"{{a: {{{keys}}}}}")
    assert (error.code, error.path) == (code, f"actuators.a.{path}")
    assert words in f"{error.message} {error.suggestion}"


@pytest.mark.parametrize("keys", ["", "kd: 1, target: 0.3", "kp: 1, target_velocity: 0.3"])
def test_keys_without_effect_are_warned_of(keys):
    found = scene(f"{{a: {{joint: quad/hip, {keys}}}}}")
    assert [w.code for w in found.warnings] == ["no-effect"]


@pytest.mark.parametrize(
    "bound, actuators, expected",
    [
        # (lowest, highest) of the drive and the open-loop efforts, of which the sum is bounded
        (math.inf, "kp: 1", (-math.inf, math.inf, [])),
        (10, "kp: 1", (-10, 10, [])),
        (10, "kp: 1, effort_limit: 3", (-3, 3, [])),
        (10, "kp: 1; effort: 4", (-14, 6, [4])),
        (10, "kp: 1, effort_limit: 8; effort: 4", (-8, 6, [4])),
        (10, "kp: 1, effort_limit: 5; effort: 12", (-5, -2, [12])),
        (10, "kp: 1, effort_limit: 1; effort: 12", (0, 0, [10])),
        (10, "kp: 1, effort_limit: 1; effort: -8; effort: -7", (0, 0, [-8, -2])),
        (0, "kp: 1; effort: 3, effort_limit: 2", (-2, -2, [2])),
    ],
)
def test_the_bound_of_a_joint_acts_on_the_sum(bound, actuators, expected):
    entries = ", ".join(f"a{i}: {{joint: quad/hip, {keys}}}" for i, keys in enumerate(actuators.split("; ")))
    limit = f"effort: {bound}" if math.isfinite(bound) else ""
    drive, *steady = scene(f"{{{entries}}}", hip=limit).actuators
    assert (drive.lowest, drive.highest, [a.effort for a in steady]) == expected


def test_overrides_reach_actuators_and_limits():
    found = loads(
        text("{a: {joint: quad/hip, kp: 1}}", hip="upper: 1"),
        file="quad.yaml",
        overrides=["actuators.a.kp=5", "instances.quad.joints.hip.limit.upper=0.7"],
    )
    assert found.actuators[0].kp == 5.0 and found.joints[1].limit.upper == 0.7
    assert np.isinf(found.joints[1].limit.lower)
