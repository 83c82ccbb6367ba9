"""Friction with closed forms: creep of a body that sticks, gliding, launch, rolling, stopping, sliding.

Expected values carry the h-terms of the scheme and the place of the contact point, midway between the two surfaces of equal
stiffness.  The solver's tolerance is 1e-10 of the momentum in all of them, so tolerances are those of the formulas.
"""

import numpy as np
import pytest
from yaml_scene import contacts_of, depth, run

G = 9.81
SIGMA, STICTION = 1.0e-3, 1.0e-4  # defaults of contact.sigma and contact.stiction_tolerance

HEAD = """
sapsim: 1
time_step: STEP
duration: 1.0
contact: {law: LAW, stiction_tolerance: STICTION}
solver: {relative_tolerance: 1.0e-10}
materials: {wood: {stiffness: STIFFNESS, dissipation: 50, relaxation_time: 0.005, friction: FRICTION}}
"""
SLOPE = (
    HEAD
    + """
world: {collision: [{plane: {}, pose: {rpy_deg: [0, 20, 0]}, material: wood}]}
bodies: {cube: {box: [0.1, 0.1, 0.1], mass: 1, material: wood, pose: {xyz: [X, 0, Z], rpy_deg: [0, 20, 0]}}}
"""
)
LEVEL = (
    HEAD
    + """
world: {collision: [{plane: {}, material: wood}]}
bodies: {body: {SHAPE, mass: 1, material: wood, pose: {xyz: [0, 0, Z]}, velocity: {linear: [SPEED, 0, 0]}}}
"""
)
THETA = np.radians(20.0)
DOWN = np.array([np.cos(THETA), 0, -np.sin(THETA)])  # unit vector down the slope


def fill(text: str, **values) -> str:
    """The text with its capital words replaced; pair values of stiffness are halved in series, so `STIFFNESS` is 2 k."""
    values = {"STICTION": STICTION, "SPEED": 0.0, **values}
    for name, value in sorted(values.items(), key=lambda item: -len(item[0])):
        text = text.replace(name, value if isinstance(value, str) else repr(float(value)))
    return text


def slope(k: float, **values) -> tuple[str, np.ndarray]:
    """A cube on a slope at its rest depth m g cos / (4 k), and its position."""
    p = (0.05 - G * np.cos(THETA) / (4 * k)) * np.array([np.sin(THETA), 0, np.cos(THETA)])
    return fill(SLOPE, STIFFNESS=2 * k, X=p[0], Z=p[2], **values), p


def delassus_of_cube_corner(height: float) -> float:
    """w = ||W||_F / 3 of a contact at (+-a, +-a, -height) from the centre of a cube of 1 kg and half edge a = 0.05 m.

    W = 1 / m + [r]x' I^-1 [r]x = 1 / m + (r.r 1 - r r') / I,   I = m (2a)^2 / 6.
    """
    r = np.array([0.05, 0.05, -height])
    W = np.eye(3) + (r @ r * np.eye(3) - np.outer(r, r)) / (0.1**2 / 6)
    return np.linalg.norm(W) / 3


@pytest.mark.parametrize("law", ["lagged", "similar"])
@pytest.mark.parametrize("h", [0.001, 0.005])
def test_creep_of_hunt_crossley_laws(h, law):
    """mu n v / sqrt(v^2 + vs^2) = m g sin in sum:  v = vs rho / sqrt(1 - rho^2), rho = tan / mu, for every h and k."""
    text, _ = slope(1e5, LAW=law, STEP=h, FRICTION=0.6)
    _, block = run(text)
    rho = np.tan(THETA) / 0.6
    creep = STICTION * rho / np.sqrt(1 - rho**2)
    assert block.body_qd[-1, 0, 0, :3] == pytest.approx(creep * DOWN, abs=1e-5 * creep)


@pytest.mark.parametrize("h", [0.001, 0.005])
def test_creep_of_law_sap(h):
    """gamma_t = v / Rt at each of four corners, Rt = sigma w, and m g sin h in sum:  v = sigma w h m g sin / 4.

    The corners' depths differ, by which the cube tilts; to first order that cancels in the sum of 1 / w, to second it is
    (difference / edge)^2 = 3e-8.
    """
    text, _ = slope(1e5, LAW="sap", STEP=h, FRICTION=0.6)
    _, block = run(text)
    rest = G * np.cos(THETA) / (4 * 1e5)
    creep = SIGMA * delassus_of_cube_corner(0.05 - rest / 2) * h * G * np.sin(THETA) / 4
    assert block.body_qd[-1, 0, 0, :3] == pytest.approx(creep * DOWN, abs=1e-5 * creep)


@pytest.mark.parametrize("h", [0.001, 0.004])
def test_sliding_from_rest(h):
    """a = g (sin - mu cos); the velocity is updated first, so x(T) = a T (T + h) / 2.

    Friction is not full while the speed is of the order of vs, which adds about vs mu cos / (sin - mu cos) to the speed:
    1.2 vs, so vs is set to 1e-6 m/s here.
    """
    text, start = slope(1e5, LAW="lagged", STEP=h, FRICTION=0.2, STICTION=1e-6)
    _, block = run(text)
    a = G * (np.sin(THETA) - 0.2 * np.cos(THETA))
    # 1e-4: friction tilts the cube, which takes its centre mu m g cos / (4 k) = 5 um forward, 6e-6 of the path
    assert (block.body_q[-1, 0, 0, :3] - start) @ DOWN == pytest.approx(a * (1 + h) / 2, rel=1e-4)
    assert block.body_qd[-1, 0, 0, :3] @ DOWN == pytest.approx(a, rel=1e-4)


@pytest.mark.parametrize("h", [0.001, 0.01])
def test_stopping_distance(h):
    """v0^2 / (2 mu g) - v0 h / 2; then it stands."""
    k = 1e6
    text = fill(LEVEL, LAW="lagged", STEP=h, STIFFNESS=2 * k, FRICTION=0.4, SHAPE="box: [0.2, 0.2, 0.1]",
                Z=0.05 - G / (4 * k), SPEED=2.0)  # fmt: skip
    _, block = run(text)
    path = 2.0**2 / (2 * 0.4 * G) - 2.0 * h / 2
    # 1e-4: the last step stops part of the way, at most mu g h^2 / 8 = 5e-5 m of the path at 10 ms
    assert block.joint_q[-1, 0, 0] == pytest.approx(path, rel=1e-4)
    assert np.abs(block.joint_qd[-1, 0]).max() < 1e-9


@pytest.mark.parametrize("k", [1e4, 1e5])
def test_rolling_speed(k):
    """From sliding to rolling: v = v0 / (1 + 0.4 (r / (r - delta / 2))^2), delta = m g / k (angular momentum about the point).

    The plain 5/7 v0 would be off by 5.6e-3 and 5.6e-4.
    """
    text = fill(LEVEL, LAW="lagged", STEP=0.001, STIFFNESS=2 * k, FRICTION=0.2, SHAPE="sphere: 0.05",
                Z=0.05 - G / k, SPEED=2.0)  # fmt: skip
    _, block = run(text)
    arm = 0.05 - G / k / 2
    v = 2.0 / (1 + 0.4 * (0.05 / arm) ** 2)
    assert block.joint_qd[-1, 0] == pytest.approx([v, 0, 0, 0, v / arm, 0], rel=1e-6, abs=1e-9)
    # it slides with mu m g until then: v0 - mu g t at 0.1 s
    assert block.joint_qd[99, 0, 0] == pytest.approx(2.0 - 0.2 * G * 0.1, rel=1e-6)


def glide(speed: float, mu: float, k: float, h: float, tau: float) -> float:
    """phi = (h + tau) (mu |v| - gamma_n (Rn + mu^2 Rt)), the gap of a cube gliding with law `sap` (negative: overlap)."""
    phi = 0.0
    for _ in range(50):  # the contact point lies at a + phi / 2 below the centre, so w depends on phi a little
        w = delassus_of_cube_corner(0.05 + phi / 2)
        Rn = max(w / (4 * np.pi**2), 1 / (h * k * (h + tau)))
        phi = (h + tau) * (mu * speed - G * h / 4 * (Rn + mu**2 * SIGMA * w))
    return float(phi)


def test_glide_of_law_sap():
    """A cube that a force keeps at constant speed hovers above its rest depth by about (h + tau) mu |v|.

    The force mu m g acts at the height of the contacts, so that the cube stays level.  It starts 5 % too deep: while it
    settles, the vertical momentum it gains and loses sums to zero, and so does what friction takes from the speed.
    """
    mu, k, h, tau, speed = 0.5, 2.5e3, 0.001, 0.01, 0.1
    phi = glide(speed, mu, k, h, tau)
    text = fill(LEVEL, LAW="sap", STEP=h, STIFFNESS=2 * k, FRICTION=mu, SHAPE="box: [0.1, 0.1, 0.1]",
                Z=0.05 + 1.05 * phi, SPEED=speed)  # fmt: skip
    text += f"forces: {{push: {{link: body, force: [{mu * G}, 0, 0], point: [0, 0, {-(0.05 + phi / 2)!r}]}}}}\n"
    sim, block = run(text)
    assert phi == pytest.approx(-4.31018e-4, rel=1e-5)  # less than half of m g / (4 k) = 9.81e-4: gliding matters
    assert depth(sim, block, "body") == pytest.approx(-phi, rel=1e-5)
    assert block.joint_qd[-1, 0] == pytest.approx([speed, 0, 0, 0, 0, 0], abs=1e-5 * speed)


def test_glide_of_law_similar():
    """The same with law `similar`, which feels the normal force of a body that sinks at z = -mu (||v||_s):

    n (k phi - h k z) (1 - d z) = m g, with n = 4 corners:  k phi = (m g / 4) / (1 + d mu |v|) - h k mu |v|.
    """
    mu, k, h, d = 0.5, 2.5e4, 0.001, 50.0
    speed = 0.02
    sink = mu * (float(np.hypot(speed, STICTION)) - STICTION)
    phi = -((G / 4) / (1 + d * sink) - h * k * sink) / k
    text = fill(LEVEL, LAW="similar", STEP=h, STIFFNESS=2 * k, FRICTION=mu, SHAPE="box: [0.1, 0.1, 0.1]",
                Z=0.05 + 1.01 * phi, SPEED=speed)  # fmt: skip
    # friction is mu m g |t|, a little less than mu m g
    push = mu * G * speed / float(np.hypot(speed, STICTION))
    text += f"forces: {{push: {{link: body, force: [{push!r}, 0, 0], point: [0, 0, {-(0.05 + phi / 2)!r}]}}}}\n"
    sim, block = run(text)
    assert phi == pytest.approx(-5.55e-5, rel=1e-2)  # a little more than half of m g / (4 k) = 9.81e-5
    # 1e-6: settling takes 1e-7 from the speed, on which phi hangs
    assert depth(sim, block, "body") == pytest.approx(-phi, rel=1e-6)
    assert block.joint_qd[-1, 0] == pytest.approx([speed, 0, 0, 0, 0, 0], abs=1e-6 * speed)


# A ball on a carriage without rotation: vertical slider, massless rail, horizontal slider; g = 10.
LAUNCH = """
sapsim: 1
gravity: [0, 0, -10]
time_step: 0.001
duration: 0.25
contact: {law: lagged}
solver: {relative_tolerance: 1.0e-10}
materials: {wood: {stiffness: 2.0e+5, dissipation: 50, relaxation_time: 0.1, friction: 0.5}}
world: {collision: [{plane: {}, material: wood}]}
models:
  carriage:
    links: {rail: {}, body: {inertial: {mass: 1.0}, collision: [{sphere: 0.05, material: wood}]}}
    joints:
      z: {type: prismatic, parent: world, child: rail, axis: [0, 0, 1]}
      x: {type: prismatic, parent: rail, child: body, axis: [1, 0, 0]}
instances: {carriage: {model: carriage, pose: {xyz: [0, 0, 0.0499]}, joint_qd: {x: 1.0}}}
"""


def test_launch_of_law_lagged():
    """Launched at 1 m/s from the rest depth m g / k: f_n = 10 N in every step (no glide), and friction mu m g.

    With the regularisation written out: a = -mu g v / sqrt(v^2 + vs^2), v at the end of the step.
    """
    sim, block = run(LAUNCH)
    assert [len(contacts_of(sim, block, "carriage/body", row)) for row in range(250)] == [1] * 250
    force = block.contacts.impulse / 0.001
    assert force[:, 2] == pytest.approx(10.0, rel=1e-6)
    v = block.joint_qd[:, 0, 1]
    friction = -0.5 * 10.0 * v / np.sqrt(v**2 + STICTION**2)
    # 1e-6 of the normal force
    assert force[:, 0] == pytest.approx(friction, abs=1e-5)
    assert np.diff(v, prepend=1.0) / 0.001 == pytest.approx(friction, abs=1e-5)
    assert friction[0] == pytest.approx(-5.0, rel=1e-6)
    # it stops after v0 / (mu g) = 0.2 s at v0^2 / (2 mu g) - v0 h / 2
    assert block.body_q[-1, 0, 1, 0] == pytest.approx(0.1 - 0.0005, abs=1e-6)
    assert v[-1] == pytest.approx(0.0, abs=1e-9)
