"""Trajectories without contact against exact solutions: right in the limit, and of the scheme's first order on the way there.

Every case runs with the steps h, h/2, h/4, h/8; the errors at the end must fall with a slope of 1 in log2, within 0.15.
Exact are closed forms where there are some, else the equations of motion in their own coordinates by DOP853 at 1e-12 (scipy).
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from yaml_scene import run, simulation

from sapsim.dynamics import Dynamics

HALVINGS = 4
G = 9.81


def steps(text: str, h: float, duration: float):
    """(simulation, rows) with the step h over the whole duration; row 0 is the first step's."""
    return run(text, f"time_step={h!r}", f"steps={round(duration / h)}")


def slope(errors: list[float]) -> float:
    """Of log2(error) over the halvings, by least squares."""
    return float(np.polyfit(-np.arange(len(errors)), np.log2(errors), 1)[0])


def assert_first_order(errors: list[float], largest: float) -> None:
    """`largest`: the error that the longest step may have."""
    assert abs(slope(errors) - 1.0) < 0.15, (errors, np.diff(np.log2(errors)))
    assert errors[0] < largest


def angle_between(Q: np.ndarray, R: Rotation) -> float:
    """[rad] between a quaternion xyzw and a rotation."""
    return float((Rotation.from_quat(Q).inv() * R).magnitude())


FREE = """
sapsim: 1
time_step: 0.001
steps: 1
gravity: [0, 0, GRAVITY]
models:
  m: {links: {body: {inertial: {mass: 2.0, com: COM, inertia: INERTIA}}}}
instances:
  free: {model: m, base: floating, velocity: {linear: LINEAR, angular: ANGULAR}}
"""


def free_body(inertia, com=(0, 0, 0), linear=(0, 0, 0), angular=(0, 0, 0), gravity=0.0) -> str:
    moments = "{" + ", ".join(f"{key}: {value!r}" for key, value in zip(("ixx", "iyy", "izz"), inertia, strict=True)) + "}"
    com, linear, angular = ([float(x) for x in vector] for vector in (com, linear, angular))
    values = {"COM": com, "INERTIA": moments, "LINEAR": linear, "ANGULAR": angular, "GRAVITY": gravity}
    text = FREE
    for key, value in values.items():
        text = text.replace(key, str(value))
    return text


def tumbling(inertia, omega0, duration: float, **more):
    """Euler's equations in the body's axes and the quaternion xyzw from the identity: solve_ivp's answer, y = [omega_B, Q]."""
    I = np.array(inertia)

    def rate(t, y):
        omega, Q = y[:3], y[3:]
        spin = 0.5 * np.array([*(Q[3] * omega + np.cross(Q[:3], omega)), -Q[:3] @ omega])
        return [*(-np.cross(omega, I * omega) / I), *spin]

    start = [*omega0, 0, 0, 0, 1]
    return solve_ivp(rate, (0, duration), start, method="DOP853", rtol=1e-12, atol=1e-13, **more)


# ---- double pendulum ------------------------------------------------------------------------------------------------------

PENDULUM = """
sapsim: 1
time_step: 0.001
steps: 1
models:
  pendulum:
    links:
      upper: {inertial: {mass: 1.0, com: [0, 0, -0.5], inertia: {ixx: 0.08, iyy: 0.09, izz: 0.02}}}
      lower: {inertial: {mass: 0.7, com: [0, 0, -0.4], inertia: {ixx: 0.08, iyy: 0.07, izz: 0.02}}}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0]}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0, 0, -1]}, axis: [0, 1, 0]}
instances: {pendulum: {model: pendulum, joint_q: {shoulder: 1.0, elbow: 0.5}, joint_qd: {elbow: -2.0}}}
"""


def lagrange(t: float, y: np.ndarray) -> np.ndarray:
    """Rates of [a, b, a', b'], the absolute angles of the links; l = 1 m from joint to joint, c1, c2 the mass centres.

    (I1 + m1 c1^2 + m2 l^2) a'' + m2 l c2 cos(a - b) b'' = -m2 l c2 sin(a - b) b'^2 - (m1 c1 + m2 l) g sin a
    m2 l c2 cos(a - b) a'' + (I2 + m2 c2^2) b''          =  m2 l c2 sin(a - b) a'^2 - m2 c2 g sin b
    """
    I1, I2, m1, m2, c1, c2 = 0.09, 0.07, 1.0, 0.7, 0.5, 0.4
    a, b, da, db = y
    cos, sin = m2 * c2 * np.cos(a - b), m2 * c2 * np.sin(a - b)
    M = np.array([[I1 + m1 * c1**2 + m2, cos], [cos, I2 + m2 * c2**2]])
    force = np.array([-sin * db**2 - (m1 * c1 + m2) * G * np.sin(a), sin * da**2 - m2 * c2 * G * np.sin(b)])
    return np.array([da, db, *np.linalg.solve(M, force)])


def test_double_pendulum():
    duration = 1.0
    exact = solve_ivp(lagrange, (0, duration), [1.0, 1.5, 0.0, -2.0], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    expected = np.array([exact[0], exact[1] - exact[0], exact[2], exact[3] - exact[2]])
    errors = []
    for k in range(HALVINGS):
        _, block = steps(PENDULUM, 0.001 / 2**k, duration)
        found = np.concatenate([block.joint_q[-1, 0], block.joint_qd[-1, 0]])
        errors.append(float(np.linalg.norm(found - expected)))
    assert_first_order(errors, 0.005)


# ---- Kane's axisymmetric body ----------------------------------------------------------------------------------------------


def test_kanes_axisymmetric_body_in_free_fall():
    """Moments (I, I, J), mass centre c on the axis (Kane, Likins and Levinson 1983, section 1.13: regular precession).

    With s = (I - J) / I omega_z about the body's axis and H / I about the constant angular momentum:
    R(t) = exp(t H / I) R0 exp(t s e_z),  p_com(t) = p0 + v0 t + g t^2 / 2,  p_origin = p_com - R c.
    """
    I, J, c, omega0, v0 = 0.04, 0.02, np.array([0.0, 0.0, 0.15]), np.array([1.5, -2.0, 6.0]), np.array([0.5, 1.0, 2.0])
    duration = 1.0
    H = np.array([I, I, J]) * omega0
    R = Rotation.from_rotvec(duration * H / I) * Rotation.from_rotvec([0, 0, duration * omega0[2] * (I - J) / I])
    p_com = c + v0 * duration + np.array([0, 0, -G]) * duration**2 / 2
    omega = H / I + R.apply([0, 0, omega0[2] * (I - J) / I])
    text = free_body((I, I, J), c, v0, omega0, -G)
    errors = {"position": [], "rotation": [], "v_com": [], "omega": []}
    for k in range(HALVINGS):
        _, block = steps(text, 0.002 / 2**k, duration)
        q, qd = block.body_q[-1, 0, 0], block.body_qd[-1, 0, 0]
        errors["position"].append(np.linalg.norm(q[:3] - (p_com - R.apply(c))))
        errors["rotation"].append(angle_between(q[3:], R))
        errors["v_com"].append(np.linalg.norm(qd[:3] - v0 - [0, 0, -G * duration]))
        errors["omega"].append(np.linalg.norm(qd[3:] - omega))
    for values in errors.values():
        assert_first_order(values, 0.02)


# ---- intermediate axis, B49 ------------------------------------------------------------------------------------------------

FLIPPING = (0.01, 0.02, 0.03), (0.01, 5.0, 0.01)


def crossings(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Times at which x changes its sign, by linear interpolation: error h^2."""
    k = np.flatnonzero(np.sign(x[:-1]) * np.sign(x[1:]) < 0)
    return t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])


def rates_in_the_body(block) -> np.ndarray:
    """(R, 3) angular velocity in the body's axes."""
    return Rotation.from_quat(block.body_q[:, 0, 0, 3:]).apply(block.body_qd[:, 0, 0, 3:], inverse=True)


def exact_crossings() -> list[float]:
    def second(t, y):
        return y[1]

    return list(tumbling(*FLIPPING, 10.0, events=second).t_events[0])


def test_the_exact_solution_is_that_of_the_literature():
    """B49: the first zero crossings of omega_2 at 2.7411 s and 7.7670 s."""
    assert exact_crossings()[:2] == pytest.approx([2.7411, 7.7670], abs=5e-5)


def test_intermediate_axis_flip_at_a_millisecond():
    """B49's pass line over 10 s: energy within 2 %, crossings within 0.01 s.  The step gains energy, as Drake's does."""
    inertia, omega0 = FLIPPING
    _, block = steps(free_body(inertia, angular=omega0), 0.001, 10.0)
    omega = rates_in_the_body(block)
    found = crossings(0.001 * np.arange(1, 10001), omega[:, 1])
    assert found[:2] == pytest.approx(exact_crossings()[:2], abs=0.01)
    energy = 0.5 * omega**2 @ inertia
    assert np.abs(energy / (0.5 * np.square(omega0) @ inertia) - 1.0).max() < 0.02
    momentum = np.linalg.norm(omega * inertia, axis=1)
    assert np.abs(momentum / np.linalg.norm(np.multiply(omega0, inertia)) - 1.0).max() < 0.01
    Q = block.joint_q[:, 0, 3:]
    assert np.abs(np.linalg.norm(Q, axis=1) - 1.0).max() < 1e-6  # B50, at every row


def test_intermediate_axis_flip_is_of_first_order():
    """States are compared at 2.5 s, in the middle of the flip, which has stretched errors by e^7: so steps are short."""
    inertia, omega0 = FLIPPING
    duration = 2.5
    exact = tumbling(inertia, omega0, duration).y[:, -1]
    errors = {"rates": [], "rotation": [], "energy": [], "momentum": []}
    for k in range(HALVINGS):
        _, block = steps(free_body(inertia, angular=omega0), 0.0005 / 2**k, duration)
        omega = rates_in_the_body(block)
        errors["rates"].append(np.linalg.norm(omega[-1] - exact[:3]))
        errors["rotation"].append(angle_between(block.body_q[-1, 0, 0, 3:], Rotation.from_quat(exact[3:])))
        errors["energy"].append(abs(omega[-1] ** 2 @ inertia / (np.square(omega0) @ inertia) - 1.0))
        L = np.linalg.norm(omega[-1] * inertia)
        errors["momentum"].append(abs(L / np.linalg.norm(np.multiply(omega0, inertia)) - 1.0))
    for values in errors.values():
        assert_first_order(values, 0.04)


# ---- a free body whose origin is not its mass centre, B51 ------------------------------------------------------------------


def test_off_centre_body_that_spins_about_a_principal_axis():
    """B51: m = 2, c = (0.1, 0, 0), I_c = (0.02, 0.03, 0.04), v_com = 0, omega = (0, 0, 3), no gravity: the mass centre does
    not move, the origin goes round it at 0.3 m/s, T = 0.18 J.  The step is of first order, so the centre wanders by O(h).
    """
    text = free_body((0.02, 0.03, 0.04), (0.1, 0, 0), angular=(0, 0, 3))
    sim = simulation(text, "time_step=0.001", "steps=2000")
    first = sim.initial()
    d = Dynamics(sim)
    v = d.to_internal(first.joint_q[0], first.joint_qd[0])
    assert np.allclose(v[0], [0, 0, 3, 0, -0.3, 0], atol=1e-15)
    assert d.kinetic_energy(first.joint_q[0], v)[0] == pytest.approx(0.18, rel=1e-14)
    errors = {"centre": [], "origin": [], "energy": []}
    for k in range(HALVINGS):
        _, block = steps(text, 0.001 / 2**k, 2.0)
        q, qd = block.body_q[:, 0, 0], block.body_qd[:, 0, 0]
        R = Rotation.from_quat(q[:, 3:])
        centre = q[:, :3] + R.apply([0.1, 0, 0])
        errors["centre"].append(np.linalg.norm(centre - [0.1, 0, 0], axis=1).max())
        t = 0.001 / 2**k * np.arange(1, len(q) + 1)
        exact = np.stack([0.1 - 0.1 * np.cos(3 * t), -0.1 * np.sin(3 * t), 0 * t], axis=1)
        errors["origin"].append(np.linalg.norm(q[:, :3] - exact, axis=1).max())
        kinetic = np.sum(qd[:, :3] ** 2, axis=1) + 0.5 * 0.04 * qd[:, 5] ** 2  # m = 2
        errors["energy"].append(np.abs(kinetic - 0.18).max())
        assert np.abs(qd[:, 3:] - [0, 0, 3]).max() < 1e-12
    assert_first_order(errors["centre"], 0.002)
    assert_first_order(errors["origin"], 0.002)
    assert errors["energy"][0] < 2e-5  # v_com is of order h, so its energy of order h^2


def test_off_centre_body_that_tumbles():
    """The same body with rates about all axes and a velocity: the mass centre goes straight, the rotation is Euler's."""
    inertia, c, omega0, v0 = (0.02, 0.03, 0.04), np.array([0.1, -0.05, 0.2]), (1.0, 2.0, 3.0), np.array([0.5, 0.2, -0.3])
    duration = 1.0
    exact = tumbling(inertia, omega0, duration).y[:, -1]
    R = Rotation.from_quat(exact[3:])
    origin = c + v0 * duration - R.apply(c)
    errors = {"origin": [], "rotation": [], "rates": []}
    for k in range(HALVINGS):
        _, block = steps(free_body(inertia, c, v0, omega0), 0.002 / 2**k, duration)
        q = block.body_q[-1, 0, 0]
        errors["origin"].append(np.linalg.norm(q[:3] - origin))
        errors["rotation"].append(angle_between(q[3:], R))
        errors["rates"].append(np.linalg.norm(rates_in_the_body(block)[-1] - exact[:3]))
    for values in errors.values():
        assert_first_order(values, 0.02)
