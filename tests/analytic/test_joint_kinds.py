"""Joints that hold, turn and spring as closed forms say: ball, planar, screw, cylindrical, universal; a joint's spring."""

import numpy as np
import pytest
from yaml_scene import link, run

H, N, G = 0.001, 400, 9.81
T = H * np.arange(1, N + 1)  # times of the rows

# `top` turns about its mass centre on a ball joint; `disc` slides on a plane tilted by 30 deg about y, thrown and spinning;
# `dumb` hangs on a ball joint, plane pendulum by its start.
SCENE = """
sapsim: 1
time_step: 0.001
steps: 400
models:
  top:
    links: {body: {inertial: {mass: 2.0, inertia: {ixx: 0.02, iyy: 0.02, izz: 0.02}}}}
    joints: {hang: {type: ball, parent: world, child: body, origin: {rpy: [0.3, -0.2, 0.5]}, damping: 0.4, armature: 0.02}}
  puck:
    links: {disc: {inertial: {mass: 2.0, inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}}
    joints: {table: {type: planar, parent: world, child: disc, origin: {rpy: [0.0, 0.5235987755982988, 0.0]}}}
  wall:
    links: {disc: {inertial: {mass: 2.0, inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}}
    joints: {glide: {type: planar, parent: world, child: disc, axis: [0, 1, 0]}}
  rod:
    links: {bob: {inertial: {mass: 1.0, com: [0, 0, -0.5], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.01}}}}
    joints: {pivot: {type: ball, parent: world, child: bob}}
  hinge:
    links: {bob: {inertial: {mass: 1.0, com: [0, 0, -0.5], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.01}}}}
    joints: {pivot: {type: revolute, parent: world, child: bob, axis: [0, 1, 0]}}
  rotor:
    links: {disc: {inertial: {mass: 0, inertia: {ixx: 0.02, iyy: 0.02, izz: 0.03}}}}
    joints: {axle: {type: continuous, parent: world, child: disc, axis: [0, 0, 1], damping: 0.3}}
instances:
  rotor: {model: rotor, pose: {xyz: [0, 25, 0]}, joint_qd: {axle: 2}}
  top: {model: top, joint_qd: {hang: [1, 2, -2]}}
  puck: {model: puck, pose: {xyz: [0, 5, 0]}, joint_q: {table: [0.1, 0.2, 0.3]}, joint_qd: {table: [0.5, 0.25, 3]}}
  wall: {model: wall, pose: {xyz: [0, 10, 0]}, joint_qd: {glide: [0.5, 0.25, 3]}}
  rod: {model: rod, pose: {xyz: [0, 15, 0]}, joint_q: {pivot: [0, 0.479425538604203, 0, 0.8775825618903728]}}
  hinge: {model: hinge, pose: {xyz: [0, 20, 0]}, joint_q: {pivot: 1.0}}
"""


@pytest.fixture(scope="module")
def motion():
    return run(SCENE)


def coordinates(motion, joint: str, n: int, start: str = "q") -> np.ndarray:
    sim, block = motion
    starts, values = (sim.joint_q_start, block.joint_q) if start == "q" else (sim.joint_qd_start, block.joint_qd)
    at = starts[sim.joint_names.index(joint)]
    return values[:, 0, at : at + n]


def test_a_ball_joint_turns_about_its_velocity(motion):
    """(I + armature + h damping) w' = (I + armature) w with I isotropic: the direction stays, and a step turns by
    2 atan(h |w| / 2) about it, in the axes of F."""
    w0, n = np.array([1.0, 2.0, -2.0]), np.arange(1, N + 1)
    decay = (1 + H * 0.4 / 0.04) ** -n.astype(float)
    # 1e-12: rounding of 400 steps
    assert coordinates(motion, "top/hang", 3, "qd") == pytest.approx(decay[:, None] * w0, abs=1e-12)
    half = np.cumsum(np.arctan(H * 3 * decay / 2))
    expected = np.column_stack([np.sin(half)[:, None] * w0 / 3, np.cos(half)])
    assert coordinates(motion, "top/hang", 4) == pytest.approx(expected, abs=1e-12)
    # angular velocity of the link in world axes, R_WF w, and nothing else moves
    sim, block = motion
    twist = block.body_qd[:, 0, link(sim, "top/body")]
    assert np.linalg.norm(twist[:, 3:], axis=1) == pytest.approx(3 * decay, abs=1e-12)
    assert np.abs(twist[:, :3]).max() < 1e-12


def test_a_ball_joint_swings_as_a_hinge_does(motion):
    """Started in a plane it stays there, with the accelerations of a hinge; a step turns by 2 atan(h w / 2) instead of h w."""
    rate, rod = np.zeros(N), coordinates(motion, "rod/pivot", 3, "qd")
    angle = 1.0
    for k in range(N):
        rate[k] = (rate[k - 1] if k else 0.0) - H * 0.5 * G * np.sin(angle) / (0.03 + 0.25)
        angle += 2 * np.arctan(H * rate[k] / 2)
    assert rod == pytest.approx(np.column_stack([0 * T, rate, 0 * T]), abs=1e-12)
    # the hinge differs by (h w)^3 / 12 a step: 5e-9 rad at most, 2e-6 after 400
    assert coordinates(motion, "hinge/pivot", 1, "qd")[:, 0] == pytest.approx(rate, abs=1e-5)


def test_a_rotor_without_mass_turns(motion):
    """Inertia without mass is enough for a joint that turns about it: (I + h damping) w' = I w."""
    decay = (1 + H * 0.3 / 0.03) ** -np.arange(1, N + 1, dtype=float)
    assert coordinates(motion, "rotor/axle", 1, "qd")[:, 0] == pytest.approx(2 * decay, abs=1e-12)


def test_a_planar_joint_slides_down_its_plane(motion):
    """x of F points down the slope: a = (g sin 30, 0), no moment; v = v0 + a t, x = x0 + v0 t + a t (t + h) / 2."""
    a = G / 2
    q, v = coordinates(motion, "puck/table", 3), coordinates(motion, "puck/table", 3, "qd")
    assert v == pytest.approx(np.column_stack([0.5 + a * T, 0.25 + 0 * T, 3 + 0 * T]), abs=1e-12)
    expected = np.column_stack([0.1 + 0.5 * T + a * T * (T + H) / 2, 0.2 + 0.25 * T, 0.3 + 3 * T])
    assert q == pytest.approx(expected, abs=1e-12)
    # the link is where F puts it
    sim, block = motion
    p = block.body_q[:, 0, link(sim, "puck/disc"), :3]
    cos, sin = np.cos(np.pi / 6), 0.5
    assert p == pytest.approx(np.column_stack([cos * q[:, 0], 5 + q[:, 1], -sin * q[:, 0]]), abs=1e-12)


def test_a_planar_joint_with_another_normal(motion):
    """Normal y: e_x = x, e_y = -z, so gravity pulls along +y of the joint."""
    q = coordinates(motion, "wall/glide", 3)
    expected = np.column_stack([0.5 * T, 0.25 * T + G * T * (T + H) / 2, 3 * T])
    assert q == pytest.approx(expected, abs=1e-12)
    sim, block = motion
    row = block.body_q[:, 0, link(sim, "wall/disc")]
    assert row[:, :3] == pytest.approx(np.column_stack([q[:, 0], 10 + 0 * T, -q[:, 1]]), abs=1e-12)
    half = 1.5 * T
    assert row[:, 3:] == pytest.approx(np.column_stack([0 * T, np.sin(half), 0 * T, np.cos(half)]), abs=1e-12)


# A nut that gravity turns down an upright screw; a sleeve that turns and falls; a universal joint, and beside it two hinges
# with a massless cross between them, which is the same mechanism.
THREADS = """
sapsim: 1
time_step: 0.001
steps: 400
models:
  nut:
    links: {disc: {inertial: {mass: 2.0, inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}}
    joints: {thread: {type: screw, parent: world, child: disc, axis: [0, 0, 3], pitch: 0.1, armature: 0.01, damping: 0.3}}
  sleeve:
    links: {tube: {inertial: {mass: 2.0, com: [0, 0, 0.1], inertia: {ixx: 0.02, iyy: 0.02, izz: 0.04}}}}
    joints: {rod: {type: cylindrical, parent: world, child: tube, axis: [0, 0, 1]}}
  gimbal:
    links: {bob: &bob {inertial: {mass: 1.0, com: [0.1, 0.05, -0.3], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.015}}}}
    joints: {cross: {type: universal, parent: world, child: bob, axis: [1, 0, 0], axis2: [0.3, 1, 0], damping: 0.01}}
  hinges:
    links: {cross: {}, bob: *bob}
    joints:
      outer: {type: revolute, parent: world, child: cross, axis: [1, 0, 0], damping: 0.01}
      inner: {type: revolute, parent: cross, child: bob, axis: [0.3, 1, 0], damping: 0.01}
instances:
  nut: {model: nut, joint_qd: {thread: 0.5}}
  sleeve: {model: sleeve, pose: {xyz: [0, 5, 0]}, joint_q: {rod: [0.3, 0.2]}, joint_qd: {rod: [2, 1]}}
  gimbal: {model: gimbal, pose: {xyz: [0, 10, 0]}, joint_q: {cross: [0.5, 0.8]}, joint_qd: {cross: [3, -4]}}
  hinges: {model: hinges, pose: {xyz: [0, 15, 0]}, joint_q: {outer: 0.5, inner: 0.8}, joint_qd: {outer: 3, inner: -4}}
"""


@pytest.fixture(scope="module")
def threads():
    return run(THREADS)


def test_a_nut_turns_down_its_screw(threads):
    """(m p^2 + I + armature) w' = -m g p - damping w, damping at the step's end, and z = p q."""
    p, inertia = 0.1, 2.0 * 0.1**2 + 0.04 + 0.01
    rate, angle = np.zeros(N), np.zeros(N)
    w, q = 0.5, 0.0
    for k in range(N):
        w = (inertia * w - H * 2.0 * G * p) / (inertia + H * 0.3)
        q += H * w
        rate[k], angle[k] = w, q
    assert coordinates(threads, "nut/thread", 1, "qd")[:, 0] == pytest.approx(rate, abs=1e-12)
    assert coordinates(threads, "nut/thread", 1)[:, 0] == pytest.approx(angle, abs=1e-12)
    sim, block = threads
    row = link(sim, "nut/disc")
    half = angle / 2
    assert block.body_q[:, 0, row, 2] == pytest.approx(p * angle, abs=1e-12)
    assert block.body_q[:, 0, row, 3:] == pytest.approx(np.column_stack([0 * T, 0 * T, np.sin(half), np.cos(half)]), abs=1e-12)
    assert block.body_qd[:, 0, row, 2] == pytest.approx(p * rate, abs=1e-12)


def test_a_sleeve_turns_and_falls(threads):
    """The two motions of a cylindrical joint do not feel one another: w stays, and d falls freely."""
    expected = np.column_stack([0.3 + 2 * T, 0.2 + T - G * T * (T + H) / 2])
    assert coordinates(threads, "sleeve/rod", 2) == pytest.approx(expected, abs=1e-12)
    sim, block = threads
    assert block.body_q[:, 0, link(sim, "sleeve/tube"), 2] == pytest.approx(expected[:, 1], abs=1e-12)


def test_a_universal_joint_is_two_hinges(threads):
    """Angles and rates of both, step by step, at speeds where the bias counts."""
    for start in ("q", "qd"):
        both = coordinates(threads, "gimbal/cross", 2, start)
        hinges = [coordinates(threads, f"hinges/{name}", 1, start)[:, 0] for name in ("outer", "inner")]
        # the same equations with other roundings, over 400 steps
        assert both == pytest.approx(np.column_stack(hinges), abs=1e-10)
    assert np.ptp(coordinates(threads, "gimbal/cross", 2)) > 1.0


# A slide and a hinge with springs, without gravity, and a third whose step is near its limit h = 2 / omega.
SPRINGS = """
sapsim: 1
time_step: 0.01
steps: 400
gravity: [0, 0, 0]
models:
  slide:
    links: {body: {inertial: {mass: 1.5, inertia: {ixx: 1, iyy: 1, izz: 1}}}}
    joints: {rail: {type: prismatic, parent: world, child: body, axis: [0, 1, 0], armature: 0.5, stiffness: STIFF,
                    reference: 0.3}}
  wheel:
    links: {disc: {inertial: {mass: 1.0, inertia: {ixx: 0.04, iyy: 0.07, izz: 0.04}}}}
    joints: {hinge: {type: continuous, parent: world, child: disc, axis: [0, 1, 0], stiffness: 7.0, reference: -0.5}}
instances:
  slide: {model: slide, joint_q: {rail: 0.5}, joint_qd: {rail: 1.0}}
  wheel: {model: wheel, pose: {xyz: [0, 10, 0]}, joint_q: {hinge: 0.25}, joint_qd: {hinge: -2.0}}
"""


def oscillator(x0: float, v0: float, omega: float, h: float) -> np.ndarray:
    """x_n of v += -h omega^2 x, x += h v, n = 1 .. 400: C cos(n theta) + D sin(n theta), cos(theta) = 1 - (h omega)^2 / 2."""
    n, theta = np.arange(1, 401), np.arccos(1 - (h * omega) ** 2 / 2)
    D = (x0 + h * (v0 - h * omega**2 * x0) - x0 * np.cos(theta)) / np.sin(theta)
    return x0 * np.cos(n * theta) + D * np.sin(n * theta)


@pytest.mark.parametrize("h_omega", [0.1, 1.0, 1.99])
def test_spring_is_a_symplectic_oscillator(h_omega):
    """The spring's force is taken at the step's start: stable for h < 2 / omega, with the mass and armature it moves."""
    h = 0.01
    stiffness = (h_omega / h) ** 2 * 2.0
    sim, block = run(SPRINGS.replace("STIFF", repr(stiffness)))
    x = oscillator(0.2, 1.0, h_omega / h, h)
    at = sim.joint_q_start[sim.joint_names.index("slide/rail")]
    # rounding of 400 steps, which theta amplifies by 1 / sin(theta) = 1 / (h omega sqrt(1 - (h omega)^2 / 4)), 10 at most
    assert block.joint_q[:, 0, at] - 0.3 == pytest.approx(x, abs=1e-11)
    at = sim.joint_q_start[sim.joint_names.index("wheel/hinge")]
    assert block.joint_q[:, 0, at] + 0.5 == pytest.approx(oscillator(0.75, -2.0, 10.0, h), abs=1e-11)


def test_spring_beyond_its_limit_grows():
    _, block = run(SPRINGS.replace("STIFF", repr((2.05 / 0.01) ** 2 * 2.0)))
    x = np.abs(block.joint_q[:, 0, 0] - 0.3)
    assert x[-10:].max() > 1e3 * x[:10].max()
