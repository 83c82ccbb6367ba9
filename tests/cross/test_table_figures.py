"""Figures of sap_formulas 10.2 to 10.4 and 3.8, in the scenes of table_scenes.py: what Drake's own tests expect of these
scenes, what was measured with Drake 1.51.1, and closed forms.  docs/drake_parity.md lists all rows and where they are tested.
"""

import numpy as np
import pytest
import table_scenes as table

from sapsim.dynamics import Dynamics
from sapsim.reference.step import Twin
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

TIGHT = "solver.relative_tolerance=1e-13"
G = 9.81
EPSILON = float(np.finfo(float).eps)


def simulation(text: str, *overrides: str) -> Simulation:
    return Simulation(loads(text, file="table.yaml", overrides=overrides), device="cpu")


def run(text: str, *overrides: str):
    """(simulation, rows) of a whole scene, every step of which converges."""
    sim = simulation(text, *overrides)
    block = sim.advance(sim.scene.steps)
    assert block.converged.all()
    return sim, block


def forces(block, h: float) -> np.ndarray:
    """(rows, 3) force on the body B of the only contact, 0 without contact [N]."""
    out = np.zeros((len(block.step), 3))
    out[block.contacts.row] = block.contacts.impulse / h
    return out


# ---- 10.2: the terms of a constraint ---------------------------------------------------------------------------------


def test_distance():
    """k 3e4, c 1.5, l 1.2, P = (.1, 0, 0) on A at 0, Q = (-.05, 0, 0) on B at x = 2: g = .65, J on B (0, 0, 0, 1, 0, 0)."""
    text = table.head(5e-3, 1, 0, "sap") + (
        "bodies:\n  a: {sphere: 0.1, mass: 1}\n  b: {sphere: 0.1, mass: 1, pose: {xyz: [2, 0, 0]}}\n"
        "constraints: {c: {type: distance, a: {link: a, point: [0.1, 0, 0]}, b: {link: b, point: [-0.05, 0, 0]}, length: 1.2, "
        "stiffness: 3.0e+4, damping: 1.5}}\n"
    )
    twin = Twin(loads(text, file="t.yaml"))
    (row,) = twin.step(*twin.initial()).constraints
    np.testing.assert_allclose(row.J, [0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0], atol=1e-15)
    tau = 1.5 / 3e4
    assert row.law.v_hat == pytest.approx(-0.65 / (5e-3 + tau), rel=1e-14)
    assert row.law.R == pytest.approx(1 / (5e-3 * (5e-3 + tau) * 3e4), rel=1e-14)
    # and the simulation's impulse is that of these terms: v = 2 gamma / m of approach
    _, block = run(text, TIGHT)
    gamma = row.law.v_hat / (row.law.R + 2.0)
    assert block.constraint_impulse[0, 0, 0] == pytest.approx(gamma, rel=1e-12)
    assert block.body_qd[0, 0, 1, 0] == pytest.approx(gamma, rel=1e-12)


def test_a_coupler():
    """10.3.3: rho -1.5, offset 3.1: g = q0 + 1.5 q1 - 3.1, J = (1, 1.5), v_hat = -g / 2 h, R = beta^2 w / 4 pi^2."""
    text = table.head(0.015, 1, 0, "sap") + (
        "models:\n  m:\n    links:\n"
        "      a: {inertial: {mass: 2, inertia: {ixx: 1, iyy: 1, izz: 1}}}\n"
        "      b: {inertial: {mass: 3, inertia: {ixx: 1, iyy: 1, izz: 1}}}\n"
        "    joints:\n"
        "      s: {type: prismatic, parent: world, child: a}\n"
        "      t: {type: prismatic, parent: world, child: b}\n"
        "instances: {i: {model: m, joint_q: {s: 0.1, t: 1.9}}}\n"
        "constraints: {c: {type: coupler, joints: [i/s, i/t], ratio: -1.5, offset: 3.1}}\n"
    )
    twin = Twin(loads(text, file="t.yaml"))
    (row,) = twin.step(*twin.initial()).constraints
    w = 1 / 2 + 1.5**2 / 3
    np.testing.assert_allclose(row.J, [1, 1.5], rtol=1e-15)
    assert row.law.v_hat == pytest.approx(0.15 / 0.03, rel=1e-12)
    assert row.law.R == pytest.approx(0.01 * w / (4 * np.pi**2), rel=1e-12)
    _, block = run(text, TIGHT)
    gamma = row.law.v_hat / (row.law.R + w)
    assert block.constraint_impulse[0, 0, 0] == pytest.approx(gamma, rel=1e-10)
    np.testing.assert_allclose(block.joint_qd[0, 0], [gamma / 2, 1.5 * gamma / 3], rtol=1e-10)


# ---- 10.3.1, 10.3.2: bodies on sliders on compliant ground -----------------------------------------------------------


@pytest.mark.parametrize("tau", [0.0, 0.1])
def test_a_body_at_rest_on_compliant_ground(tau):
    """10.3.1: it starts at m g / k, and 100 N hold it, exactly."""
    text = table.head(1e-3, 50, 10, "sap") + table.GROUND.replace("PUSH", "0").replace("TAU", str(tau))
    _, block = run(text, TIGHT)
    np.testing.assert_allclose(forces(block, 1e-3), np.tile([0, 0, 100], (50, 1)), rtol=1e-12, atol=1e-12)


def test_a_push_below_friction_is_carried():
    """10.3.1: 5 N of 50: after 50 steps the contact force is (-5, 0, 100) to 1e-5."""
    text = table.head(1e-3, 50, 10, "sap") + table.GROUND.replace("PUSH", "5").replace("TAU", "0.0005")
    _, block = run(text)
    np.testing.assert_allclose(forces(block, 1e-3)[-1], [-5, 0, 100], atol=1e-5)


def test_a_push_above_friction_slides_on_the_cone():
    """10.3.1: 55 N of 50: after 10 steps friction is mu times the normal force to round-off."""
    text = table.head(1e-3, 10, 10, "sap") + table.GROUND.replace("PUSH", "55").replace("TAU", "0.1")
    _, block = run(text)
    force = forces(block, 1e-3)[-1]
    assert force[2] > 90.0 and force[0] == pytest.approx(-0.5 * force[2], rel=4 * EPSILON)


def test_a_pushed_box():
    """10.3.2: with solver rel_tol 4e-13, after .5 s (-5, 0, 10) to 4e-12, slip < 1e-4 m/s, x < 5e-5 m, depth 1e-4 m; a second
    model that starts from the final state reports the same contact."""
    text = table.head(1e-3, 500, 10, "sap") + table.BOX
    settings = ("solver.relative_tolerance=4e-13",)
    _, block = run(text, *settings)
    np.testing.assert_allclose(forces(block, 1e-3)[-1], [-5, 0, 10], rtol=4e-12, atol=4e-12)
    x, z = block.joint_q[-1, 0]
    vx, vz = block.joint_qd[-1, 0]
    assert abs(vx) < 1e-4 and abs(x) < 1e-4 * 0.5 and abs(vz) <= 4e-12
    assert 0.05 - z == pytest.approx(1e-4, rel=1e-3)
    again = simulation(text, *settings)
    again.set_state(block.joint_q[-1], block.joint_qd[-1])
    row = again.advance(1)
    np.testing.assert_allclose(row.contacts.impulse[-1] / 1e-3, [-5, 0, 10], rtol=4e-12, atol=4e-12)
    assert row.contacts.depth[-1] == pytest.approx(1e-4, rel=1e-3) and row.contacts.friction[-1] == pytest.approx(0.6)


# ---- 10.3.3, 10.3.9: joint limits and bounds of efforts --------------------------------------------------------------


@pytest.mark.parametrize("h", [1e-3, 5e-4, 2.5e-4])
@pytest.mark.parametrize("torque, bound", [(1.5, np.pi / 3), (-1.5, -np.pi / 5)])
def test_a_rod_against_its_limit(torque, bound, h):
    """|torque| h^2 beta^2 / (2 pi^2 I) beyond the limit (sap_formulas 3.3), to 8 digits; Drake's own gate is 5100 h^2."""
    text = table.head(h, round(1 / h), 0, "sap") + table.ROD.replace("TORQUE", str(torque)).replace("START", "0")
    _, block = run(text, TIGHT)
    I = 7.525e-3 + 0.15**2
    beyond = np.sign(torque) * (block.joint_q[-1, 0, 0] - bound)
    # the coordinate itself rounds by 1e-16 of 1 rad
    assert beyond == pytest.approx(1.5 * h**2 * 0.01 / (2 * np.pi**2 * I), rel=1e-8, abs=3e-16)
    assert abs(block.joint_qd[-1, 0, 0]) < 1e-12


@pytest.mark.parametrize("sign", [1, -1])
def test_an_arm_against_all_its_limits(sign):
    """Seven hinges with 0.4 N m each and no gravity rest at their limits: 0.4 h^2 beta^2 / (2 pi^2 A_ii) beyond, A with h D.

    Drake's own gate is 5.5 % of each limit and 5e-4 rad/s after 35 s; limits are a tenth of the robot's, and so is the time.
    """
    h = 2e-3
    text = table.head(h, 5000, 0, "sap") + table.arm([f"effort: {0.4 * sign}"] * 7, scale=0.1)
    sim, block = run(text, "solver.relative_tolerance=1e-12", "output.every=100")
    q = block.joint_q[-1, 0]
    A = np.diag(Dynamics(sim).crba(block.joint_q[-1])[0]) + h * 0.5
    beyond = sign * q - np.radians(0.1 * np.array(table.LIMIT_DEG))
    np.testing.assert_allclose(beyond, 0.4 * h**2 * 0.01 / (2 * np.pi**2 * A), rtol=1e-6)
    assert np.abs(block.joint_qd[-1]).max() < 1e-9
    held = block.constraint_impulse[-1, 0].reshape(7, 2) / h
    np.testing.assert_allclose(held[:, 1 if sign > 0 else 0], 0.4, rtol=1e-6)


def test_efforts_of_an_arm_are_bounded():
    """10.3.9: commands beyond the limits [176, 176, 110, 110, 110, 40, 40] act as the limits do; a drive in saturation puts
    out the limit exactly."""
    h, signs = 2e-3, np.array([1, -1, 1, 1, -1, 1, -1])
    beyond = table.arm([f"effort: {1e3 * s}" for s in signs], efforts=True)
    bound = table.arm([f"effort: {e * s}" for e, s in zip(table.EFFORT, signs, strict=True)])
    blocks = [run(table.head(h, 20, G, "sap") + text)[1] for text in (beyond, bound)]
    assert np.array_equal(blocks[0].joint_q, blocks[1].joint_q)
    drives = table.arm([f"kp: 1e7, kd: 10, target: {s}" for s in signs], efforts=True)
    sim, block = run(table.head(h, 20, G, "sap") + drives)
    at = [sim.constraint_names.index(f"d{i}") for i in range(7)]
    np.testing.assert_allclose(block.constraint_impulse[0, 0, at], h * signs * table.EFFORT, rtol=1e-15)


# ---- 10.3.4, 10.3.6, 10.3.7, 10.3.8 ----------------------------------------------------------------------------------


def test_a_ball_rolls_down_a_slope():
    """10.3.4, law `lagged`, vs 1e-5: speed after 1 s within 5.5e-4 of sqrt(2 g s sin / 1.4), and Drake's figures."""
    angle = np.radians(15)
    z = 0.05 - 0.1 * G * np.cos(angle) / 5e6
    text = table.ROLLING.replace("X", repr(float(z * np.sin(angle)))).replace("Z", repr(float(z * np.cos(angle))))
    head = table.head(1e-3, 1000, G, "lagged", "stiction_tolerance: 1.0e-5")
    _, block = run(head + text, "solver.relative_tolerance=1e-10")
    v, p = block.body_qd[-1, 0, 0], block.body_q[-1, 0, 0, :3]
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    travelled = (p - z * np.array([np.sin(angle), 0, np.cos(angle)])) @ down
    assert v[:3] @ down == pytest.approx(np.sqrt(2 * G * travelled * np.sin(angle) / 1.4), rel=5.5e-4)
    # measured with Drake, to the digits that are given
    assert v[:3] @ down == pytest.approx(1.8135804, abs=2e-6)
    assert v[4] == pytest.approx(36.2716, abs=1e-4)
    assert travelled == pytest.approx(0.9077, abs=5e-5)
    np.testing.assert_allclose(forces(block, 1e-3)[-1], [0.17518, 0, 0.93406], atol=1e-5)
    friction, normal = 0.1 * G * np.sin(angle) * (1 - 5 / 7), 0.1 * G * np.cos(angle)
    assert (friction, normal) == pytest.approx((0.0725433, 0.9475732), rel=1e-6)
    assert forces(block, 1e-3)[-1] @ down == pytest.approx(-friction, rel=1e-5)
    assert block.contacts.depth[-1] == pytest.approx(1.895e-7, rel=1e-3)
    slip = v[:3] @ down - v[4] * (0.05 - block.contacts.depth[-1] / 2)
    assert slip == pytest.approx(1.55e-6, rel=1e-2)


def test_a_stack_of_two_spheres():
    """10.3.6: phi0 -1e-3 of both contacts, k 5e4 and tau .04 of the pair: v_hat = 1e-3 / (h + tau), J of point contact."""
    text = table.head(1e-3, 1, 10, "sap") + table.STACK.replace("[0.1, 0, UPPER]", "[0, 0, 0.598]")
    twin = Twin(loads(text, file="t.yaml"))
    found = twin.step(*twin.initial()).contacts
    _, block = run(text, TIGHT)
    np.testing.assert_allclose(block.contacts.depth, 1e-3, rtol=1e-12)
    np.testing.assert_allclose(block.contacts.stiffness, 5e4, rtol=1e-12)
    np.testing.assert_allclose(block.contacts.friction, 1.0, rtol=1e-15)
    assert len(found) == len(block.contacts.depth) == 2
    for contact in found:
        assert contact.law.v_hat[2] == pytest.approx(1e-3 / (1e-3 + 0.04), rel=1e-12)
        # n . (v_B - v_A): +-1 of vertical velocities; spin does not count along the normal
        rows = contact.J[2].reshape(2, 6)
        assert np.abs(rows[:, :5]).max() < 1e-12 and set(np.round(np.abs(rows[:, 5]), 12)) <= {0.0, 1.0}
    # momentum of the pair: the ground's impulse less the weight
    ground = block.contacts.impulse[block.contacts.body_a == -1, 2].sum()
    assert 10 * block.body_qd[0, 0, :, 2].sum() == pytest.approx(ground - 20 * 10 * 1e-3, rel=1e-10)


def test_the_contact_of_two_bodies():
    """10.3.7: r .01, overlap 1e-3, k 3e4 of each, d 25, mu 1.2: one contact midway, k 1.5e4; d and tau in the twin's law."""
    text = table.head(1e-3, 1, 0, "LAW") + table.TWO_BODIES
    _, block = run(text.replace("LAW", "lagged"))
    c = block.contacts
    assert len(c.depth) == 1 and c.depth[0] == pytest.approx(1e-3, rel=1e-12)
    assert (c.stiffness[0], c.friction[0]) == pytest.approx((1.5e4, 1.2), rel=1e-14)
    np.testing.assert_allclose(c.point[0], [0, 0, 0.5095], atol=1e-15)
    np.testing.assert_allclose(c.normal[0], [0, 0, 1], atol=1e-14)
    twin = Twin(loads(text.replace("LAW", "sap"), file="t.yaml"))
    (contact,) = twin.step(*twin.initial()).contacts
    assert contact.law.v_hat[2] == pytest.approx(1e-3 / (1e-3 + 0.04), rel=1e-12)
    lagged = Twin(loads(text.replace("LAW", "lagged"), file="t.yaml"))
    (contact,) = lagged.step(*lagged.initial()).contacts
    assert contact.law.d == pytest.approx(25.0, rel=1e-14) and contact.law.n0 == pytest.approx(1e-3 * 15.0, rel=1e-10)


def test_a_locked_pendulum_is_a_welded_one():
    """10.3.8: unit inertias, links of .1 m, elbow at .3, dt .01, 10 steps: locked as welded to 1e2 epsilon."""
    head = table.head(0.01, 10, G, "sap")
    _, locked = run(head + table.locked_pendulum())
    _, welded = run(head + table.welded_pendulum())
    np.testing.assert_allclose(locked.joint_q[:, 0, 0], welded.joint_q[:, 0, 0], rtol=1e2 * EPSILON)
    np.testing.assert_allclose(locked.joint_qd[:, 0, 0], welded.joint_qd[:, 0, 0], rtol=1e2 * EPSILON)
    assert np.all(locked.joint_q[:, 0, 1] == 0.3) and not locked.joint_qd[:, 0, 1].any()


@pytest.mark.parametrize("locked, count", [("", 2), ("two", 2), ("one two", 1), ("one two three", 0)])
def test_contacts_of_locked_bodies(locked, count):
    """10.3.8: three spheres in a row with two contacts; those between bodies that nothing can move drop out."""
    lines = ["models:"]
    for name, x in (("one", -0.19), ("two", 0.0), ("three", 0.19)):
        lines.append(
            f"  {name}: {{links: {{s: {{inertial: {{mass: 1}}, collision: [{{sphere: 0.1}}]}}}}, joints: {{j: {{parent: world, "
            f"child: s, type: prismatic, origin: {{xyz: [{x}, 0, 1]}}, locked: {str(name in locked).lower()}}}}}}}"
        )
    lines.append("instances: {one: {model: one}, two: {model: two}, three: {model: three}}")
    text = table.head(1e-3, 1, 0, "sap") + "\n".join(lines) + "\n"
    _, block = run(text)
    assert block.contact_count[0, 0] == count


# ---- 3.8, 6.2: measured consequences ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law, beta, h, depth",
    [
        ("sap", 1, 1e-3, 8.40e-5),
        ("sap", 1, 1e-2, 8.73e-4),
        ("sap", 0, 1e-3, 1.962e-5),
        ("sap", 0, 1e-2, 1.962e-5),
        ("lagged", 1, 1e-3, 1.962e-5),
        ("lagged", 1, 1e-2, 1.962e-5),
    ],
)
def test_rest_depth_with_all_defaults(law, beta, h, depth):
    """1 kg, r = .1, default material: k = 5e5, m g / k = 1.962e-5; law `sap` with its near-rigid limit is far softer.

    Its relaxation time of 0.2 s needs seconds to settle.
    """
    text = table.head(h, round(4 / h), G, law, f"near_rigid: {beta}")
    text += "world: {collision: [{plane: {}}]}\n"
    text += f"bodies: {{ball: {{sphere: 0.1, mass: 1, pose: {{xyz: [0, 0, {0.1 - depth}]}}}}}}\n"
    _, block = run(text, "solver.relative_tolerance=1e-10", "output.every=100")
    assert 0.1 - block.joint_q[-1, 0, 2] == pytest.approx(depth, rel=1e-3)  # three digits are given


SLIDER = """
materials: {wood: {stiffness: K, dissipation: D, relaxation_time: TAU, friction: MU}}
world: {collision: [{plane: {}, material: wood}]}
models:
  m:
    links:
      rail: {}
      body: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}, collision: [{sphere: 0.05, material: wood}]}
    joints:
      z: {type: prismatic, parent: world, child: rail, axis: [0, 0, 1]}
      x: {type: prismatic, parent: rail, child: body, axis: [1, 0, 0]}
instances: {i: {model: m, joint_q: {z: START}, joint_qd: {x: SPEED}}}
actuators: {push: {joint: i/x, effort: PUSH}}
"""


def slider(steps, law, k, mu, d=50.0, tau=0.1, speed=0.0, push=0.0) -> str:
    """1 kg at its depth m g / k, g = 10, h = 1 ms; k, d and mu of the pair, tau of a surface."""
    words = {"K": 2.0 * k, "D": d, "TAU": tau, "MU": mu, "START": 0.05 - 10 / k, "SPEED": speed, "PUSH": push}
    text = table.head(1e-3, steps, 10, law) + SLIDER
    for word, value in words.items():
        text = text.replace(f": {word}", f": {value!r}")
    return text


@pytest.mark.parametrize(
    "law, slip, force, depth",
    [
        ("lagged", 5.7735e-5, (-4.99999656, 0, 9.99999929), 2.0e-5),
        # N / (1 + d mu s) - h k mu s over k, s = 1.547e-5 m/s the soft slip
        ("similar", 5.77351e-5, (-5, 0, 10), 1.99691e-5),
        # near-rigid: w / 4 pi^2 m g h (h + tau), w = sqrt(2) / 3
        ("sap", 2.35702e-6, (-5, 0, 10), 2.40010e-5),
    ],
)
def test_stiction_of_the_three_laws(law, slip, force, depth):
    """1 kg, F = 5, mu = 1, k = 5e5: creep vs s / sqrt(1 - s^2) of the Hunt-Crossley laws, sigma w F h of `sap`."""
    _, block = run(slider(3000, law, 5e5, 1.0, push=5.0), "solver.relative_tolerance=1e-12", "output.every=10")
    assert block.joint_qd[-1, 0, 1] == pytest.approx(slip, rel=1e-5)
    # Drake's figures are at its tolerance of 1e-6; at 1e-12 the force is the load
    np.testing.assert_allclose(forces(block, 1e-3)[-1], force, atol=5e-6)
    np.testing.assert_allclose(forces(block, 1e-3)[-1], [-5, 0, 10], atol=1e-6)
    assert block.contacts.depth[-1] == pytest.approx(depth, rel=1e-5)
    if law == "sap":  # Drake's figure, 2.2009e-5, is one on the way: (1 - h / (h + tau))^n of the difference is left after n
        n = np.log((2.4001 - 2.2009) / (2.4001 - 2.0)) / np.log(0.2 / 0.201)
        assert block.contacts.depth[round(n / 10) - 1] == pytest.approx(2.2009e-5, rel=5e-3)


@pytest.mark.parametrize(
    "law, d, tau, first, rise, without_contact",
    [
        ("sap", 50.0, 0.1, 392.7, 0.383, 187),
        ("sap", 50.0, 0.0, 54.2, None, 100),
        ("similar", 50.0, 0.1, 268, 0.258, None),
        ("similar", 0.0, 0.1, 54.2, None, None),
        ("lagged", 50.0, 0.1, 10.0, 0.0, 0),
    ],
)
def test_launch_at_a_metre_a_second(law, d, tau, first, rise, without_contact):
    """From the depth of rest at 1 m/s, k = 1e5, mu = .5, 200 steps: laws that glide throw it up (docs/contact_laws.md)."""
    _, block = run(slider(200, law, 1e5, 0.5, d=d, tau=tau, speed=1.0), "solver.relative_tolerance=1e-10")
    assert forces(block, 1e-3)[0, 2] == pytest.approx(first, rel=2e-3)
    if rise is not None:
        assert block.joint_qd[0, 0, 0] == pytest.approx(rise, rel=2e-3, abs=1e-9)
    if without_contact is not None:
        # a step or two where the ball grazes: contact there hangs on the last digits
        assert np.sum(block.contact_count == 0) == pytest.approx(without_contact, abs=2)
    if law == "lagged":
        deceleration = (1.0 - block.joint_qd[0, 0, 1]) / 1e-3
        assert deceleration == pytest.approx(5.0, rel=1e-6)


def test_the_angle_of_a_hundred_steps():
    """6.2: omega 10, h .01: 2 atan(h omega / 2) a step, 100 steps make 3.70849 rad mod 2 pi; the quaternion keeps length."""
    text = table.head(0.01, 100, 0, "sap") + "bodies: {b: {sphere: 0.1, mass: 1, velocity: {angular: [0, 0, 10]}}}\n"
    _, block = run(text)
    x, y, z, w = block.body_q[-1, 0, 0, 3:]
    angle = 2 * np.arctan2(z, w) % (2 * np.pi)
    assert angle == pytest.approx(200 * np.arctan(0.05) % (2 * np.pi), abs=1e-12)
    assert angle == pytest.approx(3.70849, abs=5e-6)
    assert x == y == 0.0 and np.hypot(z, w) == pytest.approx(1.0, abs=1e-15)
