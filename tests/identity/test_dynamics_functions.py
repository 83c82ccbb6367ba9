"""The public functions of sapsim.dynamics: closed forms, conversions, shapes; identities are tests/validate's."""

import numpy as np
import pytest

from sapsim.dynamics import Dynamics, ExternalForce
from sapsim.scene.read import loads

FREE = """
sapsim: 1
time_step: 0.001
steps: 1
GRAVITY
models:
  m: {links: {body: {inertial: {mass: 2.0, com: [0.1, 0, 0], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}}}
instances:
  free: {model: m, base: floating}
"""
PENDULUM = """
sapsim: 1
time_step: 0.001
steps: 1
models:
  m:
    links: {rod: {inertial: {mass: 1.0, com: [0, 0, -0.5], inertia: {ixx: 0.02, iyy: 0.02, izz: 0.01}}}}
    joints: {hinge: {type: revolute, parent: world, child: rod, axis: [0, 1, 0], armature: 0.1, damping: 5.0}}
instances:
  p: {model: m}
"""
ARM = """
sapsim: 1
time_step: 0.001
steps: 1
models:
  arm:
    links:
      base: {inertial: {mass: 1.0, com: [0.1, 0, 0], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}
      upper: {inertial: {mass: 0.5, com: [0.2, 0, 0], inertia: {ixx: 0.002, iyy: 0.01, izz: 0.01}}}
      tool: {inertial: {mass: 0.2, inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}}}
    joints:
      elbow: {type: revolute, parent: base, child: upper, origin: {xyz: [0.2, 0, 0], rpy: [0.3, 0, 0]}, axis: [0, 1, 0]}
      flange: {type: fixed, parent: upper, child: tool, origin: {xyz: [0.4, 0, 0.1], rpy: [0, 0, 0.7]}}
instances:
  stand: {model: stand}
  arm: {model: arm, base: floating, pose: {xyz: [1, 2, 3], rpy: [0.1, 0.2, 0.3]}, joint_q: {elbow: 0.4}}
"""
ARM = ARM.replace(
    "instances:",
    """  stand:
    links: {plate: {inertial: {mass: 3.0, inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}}}
    joints: {bolt: {type: fixed, parent: world, child: plate, origin: {xyz: [0, 0, 1]}}}
instances:""",
)


def dynamics(text: str, **options) -> Dynamics:
    return Dynamics(loads(text, file="scene.yaml"), **options)


@pytest.fixture(scope="module")
def arm() -> Dynamics:
    return dynamics(ARM, nworld=4)


def arm_state(d: Dynamics):
    rng = np.random.default_rng(1)
    q = d.move(d.neutral, rng.normal(size=(4, d.nv)), 0.5)
    return q, rng.normal(size=(4, d.nv)), rng.normal(size=(4, d.nv)), rng


def test_free_body_that_spins_about_its_mass_centre():
    """B51: v_com = 0, omega = (0, 0, 3): the origin moves with omega x -com = (0, -0.3, 0); T = 0.04 9 / 2."""
    d = dynamics(FREE.replace("GRAVITY", "gravity: [0, 0, 0]"))
    qd = [0, 0, 0, 0, 0, 3.0]
    v = d.to_internal(d.neutral, qd)
    assert np.allclose(v, [[0, 0, 3, 0, -0.3, 0]], atol=1e-15)
    assert np.allclose(d.to_external(d.neutral, v), [qd], atol=1e-15)
    assert d.kinetic_energy(d.neutral, v) == pytest.approx(0.18, rel=1e-14)
    assert np.allclose(d.forward_kinematics(d.neutral, v).velocities(np.array([[0.1, 0, 0]])), 0.0, atol=1e-15)


def test_free_body_at_the_identity():
    """B52: M at the origin with [omega; v], the force at rest, and that of a spin."""
    d = dynamics(FREE.replace("GRAVITY", ""))
    M = np.diag([0.02, 0.05, 0.06, 2.0, 2.0, 2.0])
    M[1, 5] = M[5, 1] = -0.2  # m [c]x
    M[2, 4] = M[4, 2] = 0.2
    assert np.allclose(d.crba(d.neutral)[0], M, atol=1e-15)
    rest = d.nonlinear_effects(d.neutral, np.zeros(6))
    assert np.allclose(rest, [[0, -1.962, 0, 0, 0, 19.62]], atol=1e-14)
    assert np.allclose(d.nonlinear_effects(d.neutral, [0, 0, 3, 0, 0, 0]) - rest, [[0, 0, 0, -1.8, 0, 0]], atol=1e-14)


@pytest.mark.parametrize("precision, rtol", [("float64", 1e-14), ("float32", 1e-6)])
def test_pendulum_with_armature(precision, rtol):
    """B54: M = 0.02 + 0.25 + 0.1; rnea(a = 2) = 2 M + m g l sin q; aba(0) = -m g l sin q / M.  Damping has no part in it."""
    d = dynamics(PENDULUM, precision=precision)
    q = [np.deg2rad(30.0)]
    assert d.crba(q)[0, 0, 0] == pytest.approx(0.37, rel=rtol)
    assert d.rnea(q, [0.7], [2.0])[0, 0] == pytest.approx(3.1925, rel=rtol)
    assert d.aba(q, [0.7], [0.0])[0, 0] == pytest.approx(-2.4525 / 0.37, rel=rtol)
    assert d.aba(q, [0.7], d.rnea(q, [0.7], [2.0]))[0, 0] == pytest.approx(2.0, rel=10 * rtol)
    assert d.potential_energy(q)[0] == pytest.approx(-9.81 * 0.5 * np.cos(q[0]), rel=rtol)


def test_entries_follow_the_file(arm):
    """Joints in the order of the file, without padding; fixed ones have no entries."""
    assert arm.joint_names == ["stand/bolt", "arm/base", "arm/elbow", "arm/flange"]
    assert arm.joint_q_start == [0, 0, 7, 8, 8] and arm.joint_qd_start == [0, 0, 6, 7, 7]
    assert arm.dof_names == [*(f"arm/base[{k}]" for k in range(6)), "arm/elbow"]
    assert arm.neutral[7] == 0.4 and (arm.nq, arm.nv, arm.nlink) == (8, 7, 4)


def test_kinematics_of_links(arm):
    """Twists are the Jacobian's, also of links that fixed joints hold; a link that is fixed in the world stays."""
    q, v, _, _ = arm_state(arm)
    links = arm.forward_kinematics(q, v)
    for i, name in enumerate(arm.link_names):
        V = np.einsum("wij,wj->wi", arm.jacobian(q, name), v)
        assert np.allclose(V, links.V[:, i], atol=1e-13)
    plate = arm.link_names.index("stand/plate")
    assert np.all(links.p[:, plate] == [0, 0, 1]) and not links.V[:, plate].any()
    tool, upper = arm.link_names.index("arm/tool"), arm.link_names.index("arm/upper")
    assert np.allclose(links.p[:, tool], links.p[:, upper] + links.R[:, upper] @ [0.4, 0, 0.1], atol=1e-14)
    # the twist is the rate of the placement: central differences of step 1e-5, error 1e-10
    ahead, behind = (arm.forward_kinematics(arm.move(q, v, s)).p for s in (1e-5, -1e-5))
    assert np.allclose((ahead - behind) / 2e-5, links.V[..., 3:], atol=1e-8)


def test_external_forces_in_both_frames_are_the_same_force(arm):
    """A force in link axes equals its components in world axes; two forces add; one on an immovable link does nothing."""
    q, v, a, rng = arm_state(arm)
    i = arm.link_names.index("arm/tool")
    R = arm.forward_kinematics(q).R[:, i]
    force, torque, point = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), (0.1, -0.2, 0.3)
    local = [ExternalForce("arm/tool", force, torque, point, "link")]
    world = [
        ExternalForce("arm/tool", np.einsum("wij,wj->wi", R, force), point=point),
        ExternalForce("stand/plate", (1e3, 1e3, 1e3)),
        ExternalForce("arm/tool", torque=np.einsum("wij,wj->wi", R, torque)),
    ]
    tau = arm.rnea(q, v, a, local)
    assert np.allclose(tau, arm.rnea(q, v, a, world), rtol=1e-13, atol=1e-13)
    assert not np.allclose(tau, arm.rnea(q, v, a), atol=1e-3)
    assert np.allclose(arm.aba(q, v, tau, local), a, atol=1e-12)
    assert np.allclose(arm.rnea(q, v, a), arm.nonlinear_effects(q, v) + np.einsum("wij,wj->wi", arm.crba(q), a), atol=1e-12)


def test_a_world_does_not_see_its_neighbours(arm):
    """Bits are those of each state alone, and one state stands for all worlds."""
    q, v, a, _ = arm_state(arm)
    tau, M = arm.rnea(q, v, a), arm.crba(q)
    alone = dynamics(ARM)
    for w in range(4):
        assert np.array_equal(alone.rnea(q[w], v[w], a[w])[0], tau[w]) and np.array_equal(alone.crba(q[w])[0], M[w])
    assert np.array_equal(arm.rnea(q[0], v[0], a[0]), np.tile(tau[0], (4, 1)))


def test_wrong_shapes_and_names_are_refused(arm):
    with pytest.raises(ValueError, match="expected"):
        arm.crba(np.zeros(3))
    with pytest.raises(ValueError, match="expected"):
        arm.rnea(arm.neutral, np.zeros((2, arm.nv)), np.zeros(arm.nv))
    with pytest.raises(ValueError):
        arm.jacobian(arm.neutral, "arm/nothing")
    with pytest.raises(ValueError, match="known are world, link"):
        arm.jacobian(arm.neutral, "arm/tool", axes="body")


def test_of_a_simulation():
    """A Simulation's scene, and its own states: the internal velocities are the device's."""
    from sapsim.step.simulation import Simulation

    sim = Simulation(loads(ARM, file="scene.yaml"), device="cpu")
    d = Dynamics(sim)
    block = sim.advance(1)
    v = d.to_internal(block.joint_q[-1], block.joint_qd[-1])
    inside = sim.arrays["v"].numpy()[:, d.model.arrays["dof_from"] + d.model.arrays["dof_entry"]]
    assert np.allclose(v, inside, atol=1e-15)
    assert np.allclose(d.forward_kinematics(block.joint_q[-1]).body_q, block.body_q[-1], atol=1e-15)


def test_armature_and_gravity_may_be_set(arm):
    q = arm.neutral
    M, g, armature, gravity = arm.crba(q), arm.nonlinear_effects(q, np.zeros(arm.nv)), arm.armature.copy(), arm.gravity.copy()
    try:
        arm.armature = armature + 0.5
        arm.gravity = 2.0 * gravity
        assert np.allclose(arm.crba(q) - M, 0.5 * np.eye(arm.nv), atol=1e-14)
        assert np.allclose(arm.nonlinear_effects(q, np.zeros(arm.nv)), 2.0 * g, atol=1e-13)
    finally:
        arm.armature, arm.gravity = armature, gravity
    assert np.array_equal(arm.crba(q), M)


PAIR = """
sapsim: 1
time_step: 0.001
steps: 1
models:
  m: {links: {body: {inertial: {mass: 2.0, com: [0.1, 0, 0], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}}}
instances:
  one: {model: m, base: floating}
bodies:
  two: {sphere: 0.1, mass: 1.0, pose: {xyz: [0, 3.3, 0]}}
"""


def test_momentum_of_two_free_bodies():
    """One spins about z, its centre at rest in (0.1, 0, 0); a ball at (0, 3.3, 0) flies along x with 6 m/s and spins about y.

    About the common centre G = (0.2 / 3, 1.1, 0): p = (6, 0, 0), k = sum of I omega + (p_com - p_G) x m v_com.
    """
    d = dynamics(PAIR)
    qd = [0, 0, 0, 0, 0, 3.0, 6.0, 0, 0, 0, 5.0, 0]
    v = d.to_internal(d.neutral, qd)
    spin = 0.4 * 1.0 * 0.1**2 * 5.0
    r = np.array([[0.1, 0, 0], [0, 3.3, 0]]) - [0.2 / 3, 1.1, 0]
    k = np.cross(r, [[0, 0, 0], [6.0, 0, 0]]).sum(axis=0) + np.array([0, spin, 0.12])
    centre = d.centre_of_mass(d.neutral, v)
    assert centre.mass == [3.0] and np.allclose(centre.p, [[0.2 / 3, 1.1, 0]]) and np.allclose(centre.v, [[2, 0, 0]])
    expected = np.array([*k, 6, 0, 0])
    assert np.allclose(d.centroidal_momentum(d.neutral, v), [expected], atol=1e-13)
    assert np.allclose(d.centroidal_momentum_matrix(d.neutral) @ v[0], [expected], atol=1e-13)
    own = [[0, 0, 0.12, 0, 0, 0], [0, spin, 0, 6, 0, 0]]
    assert np.allclose(d.centroidal_momentum(d.neutral, v, by_tree=True), [own], atol=1e-13)
    assert np.allclose(d.centroidal_momentum_matrix(d.neutral, by_tree=True) @ v[0], [own], atol=1e-13)
    assert np.allclose(d.centre_of_mass(d.neutral, by_tree=True).p, [[[0.1, 0, 0], [0, 3.3, 0]]])


def test_terms_of_velocity_of_the_pendulum_on_a_cart():
    """M = [m + M, -m l cos q; ., m l^2 + I + armature], so Christoffel's symbols leave C = [0, m l sin q q'; 0, 0]."""
    text = PENDULUM.replace("p: {model: m}", "p: {model: cart}").replace(
        "models:",
        """models:
  cart:
    links:
      base: {inertial: {mass: 4.0, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      rod: {inertial: {mass: 1.0, com: [0, 0, -0.5], inertia: {ixx: 0.02, iyy: 0.02, izz: 0.01}}}
    joints:
      rail: {type: prismatic, parent: world, child: base, axis: [1, 0, 0]}
      hinge: {type: revolute, parent: base, child: rod, axis: [0, 1, 0], armature: 0.1}""",
    )
    d = dynamics(text)
    q, v = [0.3, 0.7], [1.1, -2.0]
    # com = (x - l sin q, ., -l cos q): the cart is coupled by -m l cos q
    assert np.allclose(d.crba(q), [[[5.0, -0.5 * np.cos(0.7)], [-0.5 * np.cos(0.7), 0.37]]], atol=1e-14)
    assert np.allclose(d.coriolis(q, v), [[[0, 0.5 * np.sin(0.7) * -2.0], [0, 0]]], atol=1e-14)
    assert np.allclose(d.coriolis_product(q, v, v), d.nonlinear_effects(q, v) - d.nonlinear_effects(q, [0, 0]), atol=1e-13)
