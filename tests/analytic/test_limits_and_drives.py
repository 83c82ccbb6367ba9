"""Joint limits and drives against closed forms: one body on a slider or a hinge."""

import numpy as np
import pytest
from yaml_scene import read, run, simulation

H = 1.0e-3
SLIDER = """
sapsim: 1
time_step: 0.001
steps: STEPS
gravity: [0, 0, 0]
models:
  m:
    links: {a: {inertial: {mass: MASS, inertia: {ixx: 1, iyy: 1, izz: 1}}}}
    joints: {s: {type: prismatic, parent: world, child: a, axis: [0, 0, 1], damping: 0.0, limit: {LIMIT}}}
instances: {i: {model: m, joint_q: {s: START}, joint_qd: {s: SPEED}}}
actuators:
ACTUATORS
"""


def slider(actuators: str = "", limit="", mass=1.0, start=0.0, speed=0.0, steps=1) -> str:
    words = {"STEPS": steps, "MASS": mass, "LIMIT": limit, "START": start, "SPEED": speed}
    text = SLIDER if actuators else SLIDER.replace("actuators:\n", "")
    for word, value in words.items():
        text = text.replace(word, str(value))
    return text.replace("ACTUATORS", "\n".join("  " + line for line in actuators.splitlines()))


# ---- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [1e-3, 5e-4, 2.5e-4])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_steady_force_against_a_limit(h, sign):
    """g = -F h^2 beta^2 / (2 pi^2 A) with m = 1 and F = 10: -5.066059e-9 m at h = 1 ms; the row carries F."""
    limit = "lower: 0, upper: 0.1" if sign < 0 else "lower: -0.1, upper: 0"
    text = slider(f"push: {{joint: i/s, effort: {10 * sign}}}", limit, steps=400)
    sim, block = run(text, f"time_step={h}")
    violation = 10.0 * h**2 * 0.01 / (2 * np.pi**2)
    assert sign * block.joint_q[-1, 0, 0] == pytest.approx(violation, rel=1e-9)
    assert sim.constraint_names == ["i/s:lower", "i/s:upper"] and sim.constraint_kinds == ["limit"] * 2
    impulse = block.constraint_impulse[-1, 0]
    assert impulse[0 if sign < 0 else 1] == pytest.approx(10.0 * h, rel=1e-9) and impulse.min() == 0.0


def test_a_rotor_and_its_damping_count_in_the_limit():
    """A = I + armature + h damping, for a hinge under a torque of 2."""
    text = slider("push: {joint: i/s, effort: 2}", "lower_deg: -5, upper_deg: 0", steps=4000)
    text = text.replace("prismatic", "revolute").replace("damping: 0.0", "damping: 3.0, armature: 0.5")
    sim, block = run(text)
    A = 1.0 + 0.5 + H * 3.0
    assert block.joint_q[-1, 0, 0] == pytest.approx(2.0 * H**2 * 0.01 / (2 * np.pi**2 * A), rel=1e-9)
    assert sim.constraint_units == ["N m s"] * 2


def test_an_impact_halves_the_gap_in_every_step():
    """From a gap g a joint that is fast may approach by g / 2h: v = -g / 2h + R gamma, R = beta^2 / (4 pi^2 m)."""
    _, block = run(slider(limit="lower: 0", start=1.5e-3, speed=-1.0, steps=12))
    q, v = block.joint_q[:, 0, 0], block.joint_qd[:, 0, 0]
    R = 0.01 / (4 * np.pi**2)
    gap, speed, seen = 1.5e-3, -1.0, 0
    for k in range(12):
        if gap <= 2 * H * abs(speed):  # 1 / (1 + R m): the row and the body share
            aim = -gap / (2 * H)
            speed = (R * speed + aim) / (R + 1.0) if speed < aim else speed
            seen += 1
        gap += H * speed
        assert v[k] == pytest.approx(speed, rel=1e-11, abs=1e-15) and q[k] == pytest.approx(gap, rel=1e-11, abs=1e-17)
    assert seen == 12 and 0 < gap < 1e-6


def test_a_joint_far_from_its_limits_is_free():
    _, block = run(slider(limit="lower: -1, upper: 1", speed=0.3, steps=200))
    assert not block.iterations.any() and not block.constraint_impulse.any() and not block.cost.any()
    np.testing.assert_allclose(block.joint_qd[:, 0, 0], 0.3, rtol=1e-15)


def test_a_joint_beyond_its_limit_comes_back_by_half():
    _, block = run(slider(limit="lower: 0.5", start=0.1, steps=30))
    gap = 0.5 - block.joint_q[:, 0, 0]
    R = 0.01 / (4 * np.pi**2)
    # the first step: v = g / 2h / (1 + R); later ones need no push and the row only brakes
    assert gap[0] == pytest.approx(0.4 * (1 - 0.5 / (1 + R)), rel=1e-12)
    assert np.all(np.diff(gap) < 0) and gap[-1] < 0.4 * 0.6**29


def test_limits_of_several_worlds_stop_each_of_them():
    sim = simulation(slider(limit="lower: -0.01, upper: 0.02", steps=100), "worlds.count=3")
    sim.set_state(np.zeros((3, 1)), np.array([[0.5], [-0.5], [1e-5]]))
    block = sim.advance(100)
    assert block.converged.all()
    assert block.joint_q[-1, :, 0] == pytest.approx([0.02, -0.01, 1e-6], abs=1e-9)


# ---- drives ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("u_ff", [0.0, 3.0])
def test_a_step_of_a_drive_is_implicit(u_ff):
    """v = (m v0 + h (kp (qd - q0) + kd vd + u)) / (m + h (h kp + kd))."""
    drive = f"d: {{joint: i/s, kp: 400, kd: 30, target: 0.25, target_velocity: 0.1, feedforward: {u_ff}}}"
    sim, block = run(slider(drive, mass=2.5, start=0.05, speed=0.4), "solver.relative_tolerance=1e-13")
    v = (2.5 * 0.4 + H * (400 * 0.2 + 30 * 0.1 + u_ff)) / (2.5 + H * (H * 400 + 30))
    assert block.joint_qd[0, 0, 0] == pytest.approx(v, rel=1e-13)
    u = 400 * (0.25 - 0.05 - H * v) + 30 * (0.1 - v) + u_ff
    assert block.constraint_impulse[0, 0, 0] == pytest.approx(H * u, rel=1e-12)
    assert sim.constraint_names == ["d"] and sim.constraint_kinds == ["pd"]


def test_the_limit_of_a_drive_bounds_the_sum():
    """Feed-forward 100 and a drive that pulls back by 95 put out 5, though the feed-forward is beyond the limit of 10."""
    drive = "d: {joint: i/s, kp: 950, target: -0.1, feedforward: 100, effort_limit: 10}"
    _, block = run(slider(drive), "solver.relative_tolerance=1e-13")
    v = H * 5 / (1 + H * H * 950)
    assert block.joint_qd[0, 0, 0] == pytest.approx(v, rel=1e-11)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_saturated_drive_puts_out_its_limit(sign):
    _, block = run(slider(f"d: {{joint: i/s, kp: 1e5, kd: 10, target: {sign}, effort_limit: 7}}", mass=2, steps=20))
    n = np.arange(1, 21)
    np.testing.assert_allclose(block.joint_qd[:, 0, 0], sign * n * H * 7 / 2, rtol=1e-12)
    np.testing.assert_allclose(block.constraint_impulse[:, 0, 0], sign * H * 7, rtol=1e-14)


def test_an_open_loop_actuator_is_a_force_and_no_constraint():
    for key in ("effort", "feedforward"):
        sim, block = run(slider(f"d: {{joint: i/s, {key}: -3, effort_limit: 2}}", mass=4, steps=10))
        assert sim.constraint_names == [] and not block.iterations.any()
        np.testing.assert_allclose(block.joint_qd[:, 0, 0], -2 * H / 4 * np.arange(1, 11), rtol=1e-13)


def pushed_velocity(laws, offset: float, bound: float) -> float:
    """v of a mass of 1 kg after a step: v = h clip(offset + sum clip(a - b v, +-e), +-bound), by bisection."""
    left, right = -10.0, 10.0
    for _ in range(200):
        v = 0.5 * (left + right)
        u = offset + sum(np.clip(a - b * v, -e, e) for a, b, e in laws)
        left, right = (v, right) if H * np.clip(u, -bound, bound) > v else (left, v)
    return right


@pytest.mark.parametrize("bound", [1.0, 4.0, 6.5, 20.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 2.5, -12.0])
@pytest.mark.parametrize("limits", [(3.0, 4.0, 5.0), ("", 4.0, ""), ("", "", "")])
def test_several_actuators_share_the_limit_of_their_joint(bound, offset, limits):
    """Each is bounded by its own limit, then their sum by the joint's; the impulses that are told add up to what acts."""
    gains = [(50.0, 2.0, 0.08), (0.0, 800.0, 0.0), (120.0, 0.0, -0.015)]
    lines = []
    for i, ((kp, kd, t), e) in enumerate(zip(gains, limits, strict=True)):
        keys = f"kp: {kp}, kd: {kd}" + f", target: {t}" * (kp > 0) + f", effort_limit: {e}" * bool(e)
        lines.append(f"d{i}: {{joint: i/s, {keys}}}")
    text = slider("\n".join([*lines, f"o: {{joint: i/s, effort: {offset}}}"]), f"effort: {bound}")
    laws = [(kp * t, H * kp + kd, e or 1e9) for (kp, kd, t), e in zip(gains, limits, strict=True)]
    _, block = run(text, "solver.relative_tolerance=1e-14")
    v = pushed_velocity(laws, offset, bound)
    # 1e-12 of a velocity h u / m with u of order one: rounding of the bounds
    assert block.joint_qd[0, 0, 0] == pytest.approx(v, abs=1e-15, rel=1e-12)


def test_open_loop_actuators_share_the_limit_of_their_joint():
    actuators = "\n".join(f"a{i}: {{joint: i/s, effort: {e}}}" for i, e in enumerate((4, 5, -2)))
    for bound, left in ((100, 7.0), (6, 6.0), (0, 0.0)):
        _, block = run(slider(actuators, f"effort: {bound}"))
        assert block.joint_qd[0, 0, 0] == pytest.approx(H * left, abs=1e-18, rel=1e-14)


def test_a_drive_presses_against_a_limit():
    """Both act on one degree of freedom, and add: the limit carries what the drive puts out."""
    drive = "d: {joint: i/s, kp: 1000, kd: 100, target: 0.2, effort_limit: 30}"
    _, block = run(slider(drive, "upper: 0.1", steps=300))
    limit, pd = block.constraint_impulse[-1, 0]
    assert pd == pytest.approx(30 * H, rel=1e-9) and limit == pytest.approx(pd, rel=1e-7)  # 1e-6 is the solver's tolerance
    assert block.joint_q[-1, 0, 0] == pytest.approx(0.1 + 30 * H**2 * 0.01 / (2 * np.pi**2), rel=1e-9)


HINGE = """
sapsim: 1
time_step: 0.001
steps: 2000
models:
  m:
    links: {a: {inertial: {mass: 1, com: [0.5, 0, 0], inertia: {ixx: 0.001, iyy: 0.08, izz: 0.08}}}}
    joints: {j: {type: revolute, parent: world, child: a, axis: [0, -1, 0]}}
instances: {i: {model: m}}
actuators: {d: {joint: i/j, kp: 1.0e5, kd: 1.0e3, target: initial, effort_limit: LIMIT}}
"""


def test_a_stiff_drive_holds_against_gravity_without_oscillating():
    """User case B57: kp = 1e5, kd = 1e3, gravity moment 4.9 N m: the error is 4.9e-5 rad; h^2 kp is within 2 A."""
    _, block = run(HINGE.replace("LIMIT", "1000"))
    q = block.joint_q[:, 0, 0]
    assert q[-1] == pytest.approx(-4.905 / 1e5, rel=1e-6)
    # creeps there from one side, but for what the solver's tolerance of 1e-6 leaves of the last velocities: 1e-6 h 1e-3 m/s
    assert np.all(np.diff(q) <= 1e-11)
    assert block.constraint_impulse[-1, 0, 0] / H == pytest.approx(4.905, rel=1e-6)


def test_a_drive_that_is_too_weak_falls_with_its_limit():
    """User case B57: with 2 N m against 4.9 the link falls, and the drive puts out 2."""
    _, block = run(HINGE.replace("LIMIT", "2"), "steps=200")
    np.testing.assert_allclose(block.constraint_impulse[:, 0, 0] / H, 2.0, rtol=1e-14)
    assert block.joint_qd[0, 0, 0] == pytest.approx(H * (2 - 4.905) / (0.08 + 0.25), rel=1e-12)
    assert block.joint_q[-1, 0, 0] < -0.1


@pytest.mark.parametrize("effort", ["effort: 1", "kp: 10, kd: 1, target: 0.1"])
def test_a_joint_of_effort_zero_cannot_be_driven(effort):
    """User case B11: the bound of the joint's sum is 0."""
    scene = read(slider(f"d: {{joint: i/s, {effort}}}", "effort: 0", steps=20))
    assert scene.actuators[0].joint == "i/s"
    _, block = run(slider(f"d: {{joint: i/s, {effort}}}", "effort: 0", steps=20))
    assert not block.joint_q.any() and not block.iterations.any()
