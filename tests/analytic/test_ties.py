"""Couplers, distances, balls, welds, tendons and dry friction against closed forms."""

import numpy as np
import pytest
from yaml_scene import link, run, simulation

H, G = 1.0e-3, 9.81
NEAR_RIGID = 0.01 / (4.0 * np.pi**2)  # beta^2 / 4 pi^2
HUNG = """
sapsim: 1
time_step: 0.001
steps: STEPS
bodies: {ball: {sphere: 0.1, mass: 1, pose: {xyz: [0, 0, 1]}}}
constraints:
  c: {ENTRY}
"""
SLIDERS = """
sapsim: 1
time_step: 0.001
steps: STEPS
gravity: [0, 0, 0]
models:
  m:
    links:
      a: {inertial: {mass: 2, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      b: {inertial: {mass: 3, inertia: {ixx: 1, iyy: 1, izz: 1}}}
    joints:
      s: {type: prismatic, parent: world, child: a, axis: [0, 0, 1], MORE}
      t: {type: prismatic, parent: world, child: b, axis: [0, 0, 1]}
instances: {i: {model: m, START}}
actuators: {push: {joint: i/s, effort: FORCE}, pull: {joint: i/t, effort: OTHER}}
"""
TIGHT = "solver.relative_tolerance=1e-12"


def hung(entry: str, steps: int = 400) -> str:
    return HUNG.replace("STEPS", str(steps)).replace("ENTRY", entry)


def sliders(steps=1, force=0.0, other=0.0, more="damping: 0", start="pose: {}", constraint="") -> str:
    words = {"STEPS": steps, "FORCE": force, "OTHER": other, "MORE": more, "START": start}
    text = SLIDERS
    for word, value in words.items():
        text = text.replace(word, str(value))
    return text + (f"constraints: {{c: {{{constraint}}}}}\n" if constraint else "")


# ---- balls, welds, distances ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind, w", [("ball", np.sqrt(3) / 3), ("weld", np.sqrt(3 * 250.0**2 + 3) / 6)])
def test_a_sphere_hung_from_the_world(kind, w, swapped):
    """It sinks by 2 h R m g h, R = beta^2 w / 4 pi^2: 2.86931771e-9 m by a ball, 3.58667579e-7 by a weld, whose rows of
    rotation, 1 / I = 250, enter the common w (sap_formulas 3.5).  Either end may be the world."""
    ends = ["link: world, point: [0, 0, 1]", "link: ball"]
    a, b = reversed(ends) if swapped else ends
    sim, block = run(hung(f"type: {kind}, a: {{{a}}}, b: {{{b}}}"), TIGHT)
    drop = 1.0 - block.body_q[-1, 0, 0, 2]
    figure = {"ball": 2.86931771e-9, "weld": 3.58667579e-7}[kind]
    expected = 2 * H * NEAR_RIGID * w * G * H
    assert expected == pytest.approx(figure, rel=2e-8)
    assert drop == pytest.approx(expected, abs=3e-16)  # one ulp of a coordinate near 1
    row = sim.constraint_names.index("c:z")
    assert block.constraint_impulse[-1, 0, row] == pytest.approx((-1 if swapped else 1) * G * H, rel=1e-9)
    assert sim.constraint_units[row] == "N s" and sim.constraint_kinds[row] == kind


def test_a_spring_rests_at_its_static_length():
    """m g / k beyond its length; the impulse on B along A to B is -m g h."""
    k = 400.0
    entry = f"type: distance, a: {{link: world, point: [0, 0, 2]}}, b: {{link: ball}}, length: 1, stiffness: {k}, damping: 40"
    sim, block = run(hung(entry, 3000), TIGHT)
    assert 1.0 - block.body_q[-1, 0, 0, 2] == pytest.approx(G / k, rel=1e-9)
    assert block.constraint_impulse[-1, 0, 0] == pytest.approx(-G * H, rel=1e-9)
    assert sim.constraint_names == ["c"] and sim.constraint_units == ["N s"]


def test_a_rope_is_slack_until_it_is_taut():
    """Free fall with no iteration while it is slack; then it holds m g, sagging by 2 h R m g h with w = 1 / m."""
    entry = "type: distance, a: {link: world, point: [0, 0, 1.2]}, b: {link: ball}, length: 0.25, unilateral: true"
    _, block = run(hung(entry, 600), TIGHT)
    z, n = block.body_q[:, 0, 0, 2], np.arange(1, 601)
    # from 0.05 m above its end: free fall z = 1 - g h^2 n (n + 1) / 2, in the problem from a gap below 2 h |v|
    free = 1.0 - G * H**2 * n * (n + 1) / 2
    slack = free - 0.95 > 2 * H * G * H * (n + 1)
    assert 60 < slack.sum() < 101
    np.testing.assert_allclose(z[slack], free[slack], rtol=1e-13)
    assert not block.iterations[: slack.sum() - 1].any() and block.iterations[slack.sum() :].any()
    assert not block.constraint_impulse[: slack.sum() - 1].any()
    assert 0.95 - z[-1] == pytest.approx(2 * H * NEAR_RIGID * G * H, rel=1e-6)
    assert block.constraint_impulse[-1, 0, 0] == pytest.approx(-G * H, rel=1e-9)
    assert block.constraint_impulse.max() <= 0.0  # it never pushes


def test_a_rope_lets_go():
    """Thrown up from its full length the ball is free at once."""
    entry = "type: distance, a: {link: world, point: [0, 0, 2]}, b: {link: ball}, length: 1, unilateral: true"
    text = hung(entry, 100).replace("xyz: [0, 0, 1]}", "xyz: [0, 0, 1]}, velocity: {linear: [0, 0, 2]}")
    _, block = run(text)
    np.testing.assert_allclose(block.body_qd[:, 0, 0, 2], 2.0 - G * H * np.arange(1, 101), rtol=1e-12)
    assert not block.constraint_impulse.any()


def test_a_point_mass_on_a_rod_is_a_pendulum():
    """A sphere on a rod from its centre: the angle of a pendulum of I = m l^2, to first order in h.

    On the rod the sphere itself does not turn, so its own inertia does not count.
    """
    rod = "type: distance, a: {link: world, point: [0, 0, 2]}, b: {link: ball}, length: 1"
    text = hung(rod, 500).replace("xyz: [0, 0, 1]", f"xyz: [{np.sin(0.4)}, 0, {2 - np.cos(0.4)}]")
    _, block = run(text)
    theta, omega = 0.4, 0.0
    for _ in range(500_000):  # the same equation in steps of 1e-6 s
        omega -= 1e-6 * G * np.sin(theta)
        theta += 1e-6 * omega
    x, _, z = block.body_q[-1, 0, 0, :3]
    assert np.arctan2(x, 2 - z) == pytest.approx(theta, abs=2 * H * abs(omega))
    # a step leaves its arc by h^2 omega^2 / 2, and half of all that is open is taken back
    assert np.hypot(x, 2 - z) == pytest.approx(1.0 + H**2 * omega**2, abs=1e-8)


def test_a_tie_between_free_bodies_keeps_linear_momentum():
    text = hung("type: ball, a: {link: ball, point: [0.2, 0, 0]}, b: {link: other, point: [-0.2, 0, 0]}", 200)
    other = (
        "other: {box: [0.1, 0.2, 0.3], mass: 2, pose: {xyz: [0.4, 0, 1]}, velocity: {linear: [0, 1, 0], angular: [1, 0, 3]}}"
    )
    text = text.replace("bodies: {", f"gravity: [0, 0, 0]\nbodies: {{{other}, ")
    sim, block = run(text, TIGHT)
    mass = np.array([{"ball": 1.0, "other": 2.0}[name] for name in sim.link_names])
    momentum = np.einsum("l,rli->ri", mass, block.body_qd[:, 0, :, :3])
    np.testing.assert_allclose(momentum, np.tile([0, 2, 0], (200, 1)), atol=1e-11)


def test_a_weld_keeps_angular_momentum():
    """Impulses act at one point: what the gap of a weld that starts open makes, it takes from both bodies alike."""
    text = hung("type: weld, a: {link: ball, point: [0.2, 0, 0]}, b: {link: other, point: [-0.2, 0, 0], rpy: [0.02, 0, 0]}", 1)
    text = text.replace(
        "bodies: {", "gravity: [0, 0, 0]\nbodies: {other: {sphere: 0.2, mass: 2, pose: {xyz: [0.4, 0.01, 1]}}, "
    )
    sim, block = run(text, TIGHT)
    p0 = {"ball": np.array([0, 0, 1.0]), "other": np.array([0.4, 0.01, 1.0])}
    total = np.zeros(3)
    for name, m, r in (("ball", 1.0, 0.1), ("other", 2.0, 0.2)):
        v, omega = np.split(block.body_qd[-1, 0, link(sim, name)], 2)
        assert np.linalg.norm(v) > 0.1
        total += 0.4 * m * r**2 * omega + m * np.cross(p0[name], v)
    assert np.abs(total).max() < 1e-10


# ---- couplers and tendons ---------------------------------------------------------------------------------------------

MIMIC = """
sapsim: 1
time_step: 0.001
steps: 400
gravity: [0, 0, 0]
models:
  m:
    links:
      one: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 0.04, izz: 1}}}
      two: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 0.04, izz: 1}}}
    joints:
      j1: {type: revolute, parent: world, child: one, axis: [0, 1, 0]}
      j2: {type: revolute, parent: world, child: two, axis: [0, 1, 0]}
instances: {i: {model: m, joint_q: {j2: 0.1}}}
constraints: {c: {type: coupler, joints: [i/j2, i/j1], ratio: -2, offset: 0.1}}
actuators: {push: {joint: i/j1, effort: 1}}
"""


def test_a_coupler_gears_inertia():
    """q2 = -2 q1 + 0.1 at all times, a1 = tau / (I1 + 4 I2) = 5 rad/s^2 (user case B07)."""
    sim, block = run(MIMIC, TIGHT)
    q1, q2 = block.joint_q[:, 0].T
    # the load on the coupler, I2 * 2 * 5, moves it by 2 h^2 R_nr times that, w = (1 + 4) / 0.04
    slack = 2 * H**2 * NEAR_RIGID * 5 / 0.04 * 0.4
    np.testing.assert_allclose(q2, -2 * q1 + 0.1, atol=1.01 * slack)
    assert q2[-1] + 2 * q1[-1] - 0.1 == pytest.approx(slack, rel=1e-6)
    assert block.joint_qd[-1, 0, 0] == pytest.approx(5 * 0.4, rel=1e-6)
    assert block.constraint_impulse[-1, 0, 0] == pytest.approx(-0.4 * H, rel=1e-9)
    assert sim.constraint_units == ["N m s"]


def test_a_chain_of_couplers():
    """Ten hinges, each the next one's double: a1 = tau / sum I / 4^i."""
    n = 10
    links = "\n".join(f"      l{i}: {{inertial: {{mass: 1, inertia: {{ixx: 1, iyy: 0.04, izz: 1}}}}}}" for i in range(n))
    joints = "\n".join(f"      j{i}: {{type: revolute, parent: world, child: l{i}, axis: [0, 1, 0]}}" for i in range(n))
    text = "sapsim: 1\ntime_step: 0.001\nsteps: 100\ngravity: [0, 0, 0]\n"
    text += f"models:\n  m:\n    links:\n{links}\n    joints:\n{joints}\n"
    text += "instances: {i: {model: m}}\nactuators: {push: {joint: i/j0, effort: 1}}\nconstraints:\n"
    text += "\n".join(f"  c{i}: {{type: coupler, joints: [i/j{i}, i/j{i + 1}], ratio: 2}}" for i in range(n - 1)) + "\n"
    _, block = run(text, TIGHT)
    q = block.joint_q[-1, 0]
    np.testing.assert_allclose(q[:-1], 2 * q[1:], atol=1e-7 * q[0])
    expected = 1.0 / (0.04 * sum(0.25**i for i in range(n)))
    assert block.joint_qd[-1, 0, 0] == pytest.approx(0.1 * expected, rel=1e-6)


def test_a_compliant_tendon_stretches():
    """l = s - 2 t <= 0.1 with k: at rest k (l - 0.1) = F on s, and 2 F on t the other way, held by its damper."""
    k = 500.0
    entry = f"type: tendon, joints: [i/s, i/t], coefficients: [1, -2], upper: 0.1, stiffness: {k}, damping: 30"
    sim, block = run(sliders(9000, 4.0, -8.0, constraint=entry), TIGHT)
    s, t = block.joint_q[-1, 0]
    assert s - 2 * t - 0.1 == pytest.approx(4.0 / k, rel=1e-7)
    assert sim.constraint_names == ["c:upper"]
    assert block.constraint_impulse[-1, 0, 0] == pytest.approx(4.0 * H, rel=1e-7)


def test_a_rigid_tendon_is_as_stiff_as_the_step_resolves():
    """lower: F against it moves l by 2 h^2 R_nr F, w = sum a^2 / m; equal and opposite loads hold the rest."""
    entry = "type: tendon, joints: [i/s, i/t], coefficients: [1, 1], offset: 0.2, lower: 0.2, upper: 5"
    sim, block = run(sliders(3000, -6.0, -6.0 * 1.5 + 3.0, constraint=entry), TIGHT)
    # s and t: equal loads -6 on both; the common motion is free: m_s = 2, m_t = 3; loads of equal acceleration are none on l
    assert sim.constraint_names == ["c:lower", "c:upper"]
    s, t = block.joint_q[-1, 0]
    assert s + t == pytest.approx(-2 * H**2 * NEAR_RIGID * (1 / 2 + 1 / 3) * 6.0, rel=1e-6)
    assert block.constraint_impulse[-1, 0] == pytest.approx([6.0 * H, 0.0], rel=1e-6)


def test_a_tendon_within_its_bounds_is_no_constraint():
    entry = "type: tendon, joints: [i/s, i/t], coefficients: [1, 1], lower: -1, upper: 1"
    _, block = run(sliders(50, 1.0, constraint=entry))
    assert not block.iterations.any() and not block.constraint_impulse.any()
    np.testing.assert_allclose(block.joint_qd[:, 0, 0], 0.5 * H * np.arange(1, 51), rtol=1e-12)


# ---- dry friction -----------------------------------------------------------------------------------------------------


def test_friction_holds_below_its_bound():
    """It creeps at sigma w h F, whatever the friction; the impulse carries the load."""
    sim, block = run(sliders(20, 4.0, more="friction: 5"), TIGHT)
    creep = 1e-3 * (1 / 2) * H * 4.0
    np.testing.assert_allclose(block.joint_qd[5:, 0, 0], creep, rtol=1e-6)
    np.testing.assert_allclose(block.constraint_impulse[5:, 0, 0], -4.0 * H, rtol=1e-6)
    assert sim.constraint_names == ["i/s:friction"] and sim.constraint_kinds == ["dry_friction"]
    assert sim.constraint_units == ["N s"]


@pytest.mark.parametrize("sign", [1, -1])
def test_friction_above_its_bound(sign):
    """a = (F - friction) / m exactly."""
    _, block = run(sliders(50, sign * 7.0, more="friction: 5"), TIGHT)
    np.testing.assert_allclose(block.joint_qd[:, 0, 0], sign * (7.0 - 5.0) / 2 * H * np.arange(1, 51), rtol=1e-9)
    np.testing.assert_allclose(block.constraint_impulse[:, 0, 0], -sign * 5.0 * H, rtol=1e-12)


def test_friction_stops_a_slide():
    """From v0: m v0 / friction = 0.4 s and v0^2 m / 2 friction, less h v0 / 2 of the first-order position; then it stays."""
    text = sliders(600, more="friction: 5", start="joint_qd: {s: 1}")
    _, block = run(text, TIGHT)
    v, q = block.joint_qd[:, 0, 0], block.joint_q[:, 0, 0]
    n = np.arange(1, 401)
    np.testing.assert_allclose(v[:399], 1.0 - 2.5 * H * n[:399], rtol=1e-9)
    assert np.abs(v[400:]).max() < 1e-8 and np.abs(v[402:]).max() < 1e-14
    assert q[-1] == pytest.approx(0.2 - 0.5 * H, abs=1e-8)


def test_friction_and_damping_act_together():
    """Coulomb and viscous: m dv/dt = -f - d v, implicit in the step: v' = (m v - h f) / (m + h d)."""
    _, block = run(sliders(100, more="friction: 3, damping: 2", start="joint_qd: {s: 1}"), TIGHT)
    v = 1.0
    for found in block.joint_qd[:, 0, 0]:
        v = (2 * v - 3 * H) / (2 + 2 * H)
        assert found == pytest.approx(v, rel=1e-9)


def test_friction_acts_on_every_degree_of_freedom():
    """A ball joint that spins about a principal axis: a = friction / I about that one."""
    text = sliders(40, more="friction: 0.5", start="joint_qd: {s: [0, 0, 2]}")
    text = text.replace("actuators: {push: {joint: i/s, effort: 0.0}, ", "actuators: {")
    text = text.replace("type: prismatic, parent: world, child: a, axis: [0, 0, 1]", "type: ball, parent: world, child: a")
    sim, block = run(text, TIGHT)
    assert sim.constraint_names == [f"i/s:{axis}:friction" for axis in ("wx", "wy", "wz")]
    assert sim.constraint_units == ["N m s"] * 3
    np.testing.assert_allclose(block.joint_qd[:, 0, 2], 2.0 - 0.5 * H * np.arange(1, 41), rtol=1e-9)
    assert np.abs(block.joint_qd[:, 0, :2]).max() < 1e-12


def test_worlds_share_ties_and_part_ways():
    """Two worlds, one of them set into another state: each is the world of its own run, bit for bit."""
    entry = "type: ball, a: {link: world, point: [0, 0, 1.5]}, b: {link: ball, point: [0, 0, 0.5]}"
    text = hung(entry, 30) + "worlds: {count: 2}\n"
    sim = simulation(text)
    q, v = np.tile(sim.model.q0, (2, 1)), np.tile(sim.model.qd0, (2, 1))
    v[1, :3], v[1, 3:] = (0.5, 0, 0), (0, -1, 0)
    sim.set_state(q, v)
    both = sim.advance(30)
    for world in range(2):
        one = simulation(hung(entry, 30))
        one.set_state(q[world : world + 1], v[world : world + 1])
        alone = one.advance(30)
        assert both.joint_q[:, world].tobytes() == alone.joint_q[:, 0].tobytes()
        assert both.constraint_impulse[:, world].tobytes() == alone.constraint_impulse[:, 0].tobytes()
