"""Motion without contact, where the scheme has closed forms: fall, forces in time, damping, the double pendulum."""

import numpy as np
import pytest
from yaml_scene import link, run

H, N, G = 0.001, 400, 9.81
T = H * np.arange(1, N + 1)  # times of the rows

# Bodies that never meet; `floater` feels no gravity, `hinge` turns about its own centre of mass.
SCENE = """
sapsim: 1
time_step: 0.001
steps: 400
models:
  weight:
    gravity: false
    links: {body: {inertial: {mass: 2.0, com: [0.1, 0, 0], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}}
  wheel:
    links: {disc: {inertial: {mass: 1.0, inertia: {ixx: 0.04, iyy: 0.07, izz: 0.04}}}}
    joints: {hinge: {type: continuous, parent: world, child: disc, axis: [0, 1, 0], damping: 30.0, armature: 0.03}}
  slide:
    gravity: false
    links: {body: {inertial: {mass: 1.5}, collision: [{sphere: 0.1}]}}
    joints: {rail: {type: prismatic, parent: world, child: body, axis: [0, 1, 0], damping: 2.0, armature: 0.5}}
instances:
  floater: {model: weight, base: floating, pose: {xyz: [0, 5, 0]}, velocity: {linear: [0, 0, 1], angular: [0, 0, 3]}}
  wheel: {model: wheel, pose: {xyz: [0, 10, 0]}, joint_qd: {hinge: 1.0}}
  slide: {model: slide, pose: {xyz: [0, 20, 0]}, joint_qd: {rail: 1.0}}
bodies:
  stone: {sphere: 0.1, mass: 2.0, pose: {xyz: [0, 0, 5]}, velocity: {linear: [1, 0, 3], angular: [0, 2, 0]}}
  pushed: {sphere: 0.1, mass: 2.0, pose: {xyz: [0, -5, 0]}}
  spun: {sphere: 0.1, mass: 2.0, pose: {xyz: [0, -10, 0], rpy: [0, 0, 1.5707963267948966]}}
  bent: {sphere: 0.1, mass: 2.0, pose: {xyz: [0, -15, 0], rpy: [0, 0, 1.5707963267948966]}}
forces:
  window: {link: pushed, force: [4, 0, 0], from: 0.1, until: 0.2}
  early: {link: pushed, force: [0, 6, 0], until: 0.05}
  late: {link: pushed, force: [0, 0, 19.62], from: 0.3}
  turn: {link: spun, torque: [0, 0, 0.008]}
  lever: {link: spun, force: [0, 0, 0.02], point: [0.1, 0, 0], from: 0.0, until: 0.001}
  along: {link: bent, force: [2, 0, 0], frame: link}
"""


@pytest.fixture(scope="module")
def motion():
    return run(SCENE)


def test_fall_is_symplectic_euler(motion):
    """v = v0 - g t, z = z0 + v0 t - g t (t + h) / 2; a ball keeps its spin, and turns by 2 atan(h omega / 2) a step.

    That is the rotation of q + h N(q) omega after it is normalised; it falls short of h omega by (h omega)^3 / 12.
    """
    sim, block = motion
    q, v = block.body_q[:, 0, link(sim, "stone")], block.body_qd[:, 0, link(sim, "stone")]
    # 1e-12: rounding of 400 sums
    assert v[:, 2] == pytest.approx(3 - G * T, abs=1e-12)
    assert q[:, 2] == pytest.approx(5 + 3 * T - G * T * (T + H) / 2, abs=1e-12)
    assert q[:, 0] == pytest.approx(T, abs=1e-12)
    assert v[:, 3:] == pytest.approx(np.tile([0, 2, 0], (N, 1)), abs=1e-12)
    half = np.arange(1, N + 1) * np.arctan(H * 2 / 2)
    assert q[:, 3:] == pytest.approx(np.stack([0 * T, np.sin(half), 0 * T, np.cos(half)], axis=1), abs=1e-12)
    assert block.iterations.max() == 0 and block.optimality_reached.all() and np.all(block.status == 0)


def test_gravity_false_and_a_com_off_the_origin(motion):
    """Without gravity: the origin feels omega^2 p towards the centre of mass, p = R (0.1, 0, 0), and steps by symplectic Euler.

    Velocities in files are of the centre of mass: v_com = v_o + omega x p, which is constant but for the scheme's O(h).
    """
    sim, block = motion
    q, v = block.body_q[:, 0, link(sim, "floater/body")], block.body_qd[:, 0, link(sim, "floater/body")]
    omega = 3.0
    angle = 2 * np.arctan(H * omega / 2) * np.arange(N + 1)
    p = 0.1 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    omega_x_p = omega * np.stack([-p[:, 1], p[:, 0]], axis=1)
    v_o = -omega_x_p[0] + H * omega**2 * np.cumsum(p[:-1], axis=0)
    # 1e-12: rounding
    assert q[:, :2] == pytest.approx([0, 5] + H * np.cumsum(v_o, axis=0), abs=1e-12)
    assert v[:, :2] == pytest.approx(v_o + omega_x_p[1:], abs=1e-12)
    assert v[:, 2] == pytest.approx(1.0, abs=1e-12)
    assert v[:, 3:] == pytest.approx(np.tile([0, 0, omega], (N, 1)), abs=1e-12)
    assert q[:, 2] == pytest.approx(T, abs=1e-12)
    assert np.abs(v[:, :2]).max() < omega**2 * 0.1 * H  # the O(h)


def test_damping_is_implicit(motion):
    """(M + h D) v' = M v:  v_n = (1 + h D / M)^-n, with M = moment of inertia (or mass) + armature."""
    sim, block = motion
    n = np.arange(1, N + 1)
    for joint, M, D in (("wheel/hinge", 0.07 + 0.03, 30.0), ("slide/rail", 1.5 + 0.5, 2.0)):
        at = sim.joint_qd_start[sim.joint_names.index(joint)]
        decay = (1 + H * D / M) ** -n.astype(float)
        # 1e-12 relative to the speed it started with: rounding
        assert block.joint_qd[:, 0, at] == pytest.approx(decay, abs=1e-12)
        at = sim.joint_q_start[sim.joint_names.index(joint)]
        assert block.joint_q[:, 0, at] == pytest.approx(H * np.cumsum(decay), abs=1e-12)


def test_forces_act_in_their_windows(motion):
    """Active in steps with from - h / 2 <= t_k < until - h / 2: so many whole steps, whatever the rounding of k h."""
    sim, block = motion
    v = block.body_qd[:, 0, link(sim, "pushed")]
    k = np.arange(N)  # step k starts at k h and ends in row k
    assert v[:, 0] == pytest.approx(4 / 2 * H * np.cumsum((k >= 100) & (k < 200)), abs=1e-12)
    assert v[:, 1] == pytest.approx(6 / 2 * H * np.cumsum(k < 50), abs=1e-12)
    assert v[:, 2] == pytest.approx(-G * T + 19.62 / 2 * H * np.cumsum(k >= 300), abs=1e-11)


def test_torques_levers_and_frames(motion):
    """A torque turns; a force at a point turns by p x f; axes `link` turn with the link.  Both links start turned by 90 deg."""
    sim, block = motion
    spun = block.body_qd[:, 0, link(sim, "spun")]
    moment = 0.4 * 2.0 * 0.1**2  # of a solid ball
    assert spun[:, 5] == pytest.approx(0.008 / moment * T, abs=1e-12)
    # the first step: p = R (0.1, 0, 0) = (0, 0.1, 0), p x (0, 0, 0.02) = (0.002, 0, 0)
    assert spun[0, 3:] == pytest.approx([0.002 * H / moment, 0, 0.008 * H / moment], abs=1e-15)
    assert spun[0, 2] == pytest.approx((0.02 / 2 - G) * H, abs=1e-15)
    # link x is world y
    assert block.body_qd[:, 0, link(sim, "bent"), :2] == pytest.approx(np.stack([0 * T, T], axis=1), abs=1e-12)


PENDULUM = """
sapsim: 1
time_step: 0.001
steps: 1000
models:
  pendulum:
    links:
      upper: {inertial: {mass: 1.0, com: [0, 0, -0.5], inertia: {ixx: 0.08, iyy: 0.09, izz: 0.02}}}
      lower: {inertial: {mass: 1.0, com: [0, 0, -0.5], inertia: {ixx: 0.08, iyy: 0.07, izz: 0.02}}}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0]}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0, 0, -1]}, axis: [0, 1, 0]}
instances: {pendulum: {model: pendulum, joint_q: {shoulder: 1.0, elbow: 0.5}, joint_qd: {elbow: -2.0}}}
"""


def lagrange(angle: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Accelerations of the absolute angles a, b of a double pendulum, m = 1 kg, l = 1 m, c = 0.5 m, moments I1, I2.

    (I1 + m c^2 + m l^2) a'' + m l c cos(a - b) b'' = -m l c sin(a - b) b'^2 - (c + l) m g sin a
    m l c cos(a - b) a'' + (I2 + m c^2) b''         =  m l c sin(a - b) a'^2 - c m g sin b
    """
    I1, I2, c = 0.09, 0.07, 0.5
    cos, sin = np.cos(angle[0] - angle[1]), np.sin(angle[0] - angle[1])
    M = np.array([[I1 + c**2 + 1, c * cos], [c * cos, I2 + c**2]])
    force = np.array(
        [-c * sin * rate[1] ** 2 - (c + 1) * G * np.sin(angle[0]), c * sin * rate[0] ** 2 - c * G * np.sin(angle[1])]
    )
    return np.linalg.solve(M, force)


def test_double_pendulum_is_symplectic_euler_on_lagrange():
    """v += h a(q, v), q += h v on Lagrange's equations, in the relative angles q1 = a, q2 = b - a."""
    _, block = run(PENDULUM)
    angle, rate = np.array([1.0, 1.5]), np.array([0.0, -2.0])
    path = []
    for _ in range(1000):
        rate = rate + H * lagrange(angle, rate)
        angle = angle + H * rate
        path.append([angle[0], angle[1] - angle[0], rate[0], rate[1] - rate[0]])
    found = np.concatenate([block.joint_q[:, 0], block.joint_qd[:, 0]], axis=1)
    # 1e-10: the two round differently, and in one second of this motion neighbours part by less than a factor 1e3
    assert np.abs(found - path).max() < 1e-10
