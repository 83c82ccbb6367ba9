"""Every registered joint on the device, found through the registry: S against finite differences of X, its bias against finite
differences of S, step_q against S, external velocities there and back.  A new joint is tested the day its file appears."""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import registry
from sapsim.math.real import real
from sapsim.scene.spec import Joint

MOVING = [name for name, kind in registry("joints").items() if kind.moves]
AXIS = np.array([0.6, -0.48, 0.64])
AXIS2 = np.array([0.36, 0.48, -0.8])  # at 95 deg to it
PITCH = -0.3  # [m/rad]
R_WF = Rotation.from_euler("xyz", [0.3, -0.5, 1.1]).as_matrix()
COM = np.array([0.1, -0.2, 0.3])


def funcs(name: str):
    R = real("float64")
    return R, registry("joints")[name].make(R)


def second_axis(name: str) -> np.ndarray:
    """What the device gets as axis2 of a joint with all of these."""
    joint = Joint("j", name, "world", "link", axis=tuple(AXIS), axis2=tuple(AXIS2), pitch=PITCH)
    return np.array(registry("joints")[name].second_axis(joint))


def placement(name: str, q: np.ndarray):
    """(p_FM, R_FM) at coordinates q (nq,)."""
    R, f = funcs(name)
    vec3, quat, t = R.vec3, R.quat, R.t

    @wp.kernel(module="unique", enable_backward=False)
    def run(axis: vec3, axis2: vec3, q: wp.array2d(dtype=t), p: wp.array(dtype=vec3), r: wp.array(dtype=quat)):
        a, b = f.X_FM(axis, axis2, q, 0, 0)
        p[0] = a
        r[0] = b

    p, r = wp.zeros(1, dtype=vec3), wp.zeros(1, dtype=quat)
    axes = (vec3(*AXIS), vec3(*second_axis(name)))
    wp.launch(run, dim=1, inputs=[*axes, wp.array(q[None], dtype=t), p, r], device="cpu")
    return p.numpy()[0], Rotation.from_quat(r.numpy()[0]).as_matrix()


def subspace(name: str, q: np.ndarray) -> np.ndarray:
    """S (6, nv) in world axes at Mo."""
    R, f = funcs(name)
    nv = registry("joints")[name].nv
    vec3, vec6, mat33, t = R.vec3, R.vec6, R.mat33, R.t

    @wp.kernel(module="unique", enable_backward=False)
    def run(axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=t), S: wp.array(dtype=vec6)):
        k = wp.tid()
        S[k] = f.S_W(axis, axis2, R_WF, q, 0, 0, k)

    S = wp.zeros(nv, dtype=vec6)
    axes = (vec3(*AXIS), vec3(*second_axis(name)))
    wp.launch(run, dim=nv, inputs=[*axes, mat33(*R_WF.ravel()), wp.array(q[None], dtype=t), S], device="cpu")
    return S.numpy().T


def bias(name: str, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    R, f = funcs(name)
    vec3, vec6, t = R.vec3, R.vec6, R.t

    @wp.kernel(module="unique", enable_backward=False)
    def run(axis: vec3, axis2: vec3, q: wp.array2d(dtype=t), v: wp.array2d(dtype=t), out: wp.array(dtype=vec6)):
        out[0] = f.bias_F(axis, axis2, q, v, 0, 0, 0)

    out = wp.zeros(1, dtype=vec6)
    axes = (vec3(*AXIS), vec3(*second_axis(name)))
    wp.launch(run, dim=1, inputs=[*axes, wp.array(q[None], dtype=t), wp.array(v[None], dtype=t), out], device="cpu")
    return out.numpy()[0]


def step(name: str, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    R, f = funcs(name)
    mat33, t = R.mat33, R.t

    @wp.kernel(module="unique", enable_backward=False)
    def run(q: wp.array2d(dtype=t), v: wp.array2d(dtype=t), h: t, R_WF: mat33):
        f.step_q(q, v, 0, 0, 0, h, R_WF)

    q1 = wp.array(q[None], dtype=t)
    wp.launch(run, dim=1, inputs=[q1, wp.array(v[None], dtype=t), h, mat33(*R_WF.ravel())], device="cpu")
    return q1.numpy()[0]


def random_state(name: str, seed: int = 0):
    """Coordinates away from neutral, normalised where they hold a quaternion, and velocities of order one."""
    kind = registry("joints")[name]
    rng = np.random.default_rng(seed)
    v = rng.normal(size=kind.nv)
    q = np.array(kind.neutral, float)
    for _ in range(3):  # a walk on the manifold reaches any state a run could
        q = step(name, q, rng.normal(size=kind.nv), 0.5)
    return q, v


@pytest.mark.parametrize("name", MOVING)
def test_subspace_is_the_derivative_of_the_placement(name):
    q, v = random_state(name)
    eps = 1.0e-5
    p1, R1 = placement(name, step(name, q, v, eps))
    p0, R0 = placement(name, step(name, q, v, -eps))
    V = subspace(name, q) @ v
    omega_F = Rotation.from_matrix(R1 @ R0.T).as_rotvec() / (2.0 * eps)
    # central differences: truncation eps^2 times derivatives of order ten, round-off 1e-16 / eps
    assert np.allclose(R_WF @ omega_F, V[:3], atol=1.0e-8)
    assert np.allclose(R_WF @ (p1 - p0) / (2.0 * eps), V[3:], atol=1.0e-8)


@pytest.mark.parametrize("name", MOVING)
def test_subspace_on_the_host_is_that_of_the_device(name):
    """S_F, with which scenes are checked, turned to world axes; a floating joint's is given in world axes, F being W."""
    q, _ = random_state(name, 4)
    S_F = registry("joints")[name].S_F(AXIS, second_axis(name), q)
    turn = np.eye(3) if registry("joints")[name].needs_world else R_WF
    assert S_F.shape == (6, registry("joints")[name].nv)
    assert np.allclose(np.kron(np.eye(2), turn) @ S_F, subspace(name, q), atol=1.0e-15)


@pytest.mark.parametrize("name", MOVING)
def test_placement_on_the_host_is_that_of_the_device(name):
    """X_FM, with which locked joints are held."""
    q, _ = random_state(name, 5)
    p, Q = registry("joints")[name].X_FM(AXIS, second_axis(name), q)
    p_device, R_device = placement(name, q)
    assert np.allclose(p, p_device, atol=1.0e-15)
    assert np.allclose(Rotation.from_quat(Q).as_matrix(), R_device, atol=1.0e-15)


@pytest.mark.parametrize(
    ("axis", "e_x", "e_y"),
    [
        ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
        ((0, 0, -1), (1, 0, 0), (0, -1, 0)),
        ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
        ((0, 1, 0), (1, 0, 0), (0, 0, -1)),
        ((0, 0.6, 0.8), (1, 0, 0), (0, 0.8, -0.6)),
    ],
)
def test_directions_of_a_planar_joint(axis, e_x, e_y):
    """Those of its docstring; right-handed with the normal."""
    S = registry("joints")["planar"].S_F(axis, (0, 0, 0), (0, 0, 0))
    assert np.allclose(S[3:], np.column_stack([e_x, e_y, np.zeros(3)]), atol=1.0e-15)
    assert np.allclose(S[:3, 2], axis) and np.allclose(np.cross(e_x, e_y), axis)


@pytest.mark.parametrize("name", MOVING)
def test_bias_is_the_derivative_of_the_subspace(name):
    q, v = random_state(name, 1)
    eps = 1.0e-5
    dV = (subspace(name, step(name, q, v, eps)) - subspace(name, step(name, q, v, -eps))) @ v / (2.0 * eps)
    b = bias(name, q, v)
    assert np.allclose(dV, np.concatenate([R_WF @ b[:3], R_WF @ b[3:]]), atol=1.0e-7)


@pytest.mark.parametrize("name", MOVING)
def test_step_is_first_order_and_stays_on_the_manifold(name):
    """Either exact, or the N(q) update's 2 atan(h |omega| / 2); a universal joint's axis turns while it moves."""
    q, v = random_state(name, 2)
    _, R0 = placement(name, q)
    for h in (1.0e-2, 1.0):
        q1 = step(name, q, v, h)
        _, R1 = placement(name, q1)
        assert np.allclose(R1 @ R1.T, np.eye(3), atol=1.0e-14)
        angle = np.linalg.norm(Rotation.from_matrix(R1 @ R0.T).as_rotvec())
        omega = np.linalg.norm((subspace(name, q) @ v)[:3])
        turns = 0.5 * h**2 * np.linalg.norm(bias(name, q, v)[:3])  # to second order
        exact = np.isclose(angle, h * omega, atol=1.0e-12 + turns)
        assert exact or np.isclose(angle, 2.0 * np.arctan(0.5 * h * omega), atol=1.0e-12)


@pytest.mark.parametrize("name", MOVING)
def test_step_and_difference_are_inverse(name):
    """difference(q, step(q, v, 1)) = v and step(q0, difference(q0, q1), 1) = q1, F being turned against the world."""
    kind = registry("joints")[name]
    turn = np.kron(np.eye(2), R_WF) if kind.needs_world else np.eye(kind.nv)  # its velocities are in world axes
    q, v = random_state(name, 5)
    assert np.allclose(turn @ kind.difference(q, step(name, q, v, 1.0)), v, atol=1.0e-13)
    rng = np.random.default_rng(6)
    for _ in range(20):
        q0, q1 = kind.random(kind, rng), kind.random(kind, rng)
        reached = step(name, q0, turn @ kind.difference(q0, q1), 1.0)
        (p1, R1), (p, R) = placement(name, q1), placement(name, reached)
        # a turn near pi needs a long step 2 tan(angle / 2), whose rounding it has
        assert np.allclose(p, p1, atol=1.0e-12) and np.allclose(R, R1, atol=1.0e-12)
    assert np.array_equal(kind.difference(q, q), np.zeros(kind.nv))


@pytest.mark.parametrize("name", MOVING)
def test_neutral_and_random_coordinates_are_on_the_manifold(name):
    """At neutral M stands on F; random coordinates differ, have lengths of order one, and a quaternion of length one."""
    kind = registry("joints")[name]
    p, R = placement(name, np.array(kind.neutral))
    assert np.array_equal(p, np.zeros(3)) and np.array_equal(R, np.eye(3))
    assert len(kind.neutral) == len(kind.q_names) == len(kind.q_units) == kind.nq
    assert len(kind.v_names) == len(kind.v_units) == kind.nv
    rng = np.random.default_rng(7)
    q = np.array([kind.random(kind, rng) for _ in range(200)])
    assert q.shape == (200, kind.nq) and (q.min(axis=0) < 0.0).all() and (q.max(axis=0) > 0.0).all()
    assert np.abs(q).max() <= np.pi and (np.abs(q).max(axis=0) > 0.9).all()
    if "qw" in kind.q_names:
        at = kind.q_names.index("qx")
        assert np.allclose(np.linalg.norm(q[:, at : at + 4], axis=1), 1.0, atol=1.0e-15)


@pytest.mark.parametrize("name", MOVING)
def test_external_velocities_there_and_back(name):
    R, f = funcs(name)
    nv = registry("joints")[name].nv
    vec3, t = R.vec3, R.t

    @wp.kernel(module="unique", enable_backward=False)
    def run(v: wp.array2d(dtype=t), com: vec3, there: wp.array2d(dtype=t), back: wp.array2d(dtype=t), nv: int):
        for k in range(nv):
            there[0, k] = f.to_external(v, 0, 0, k, com)
        for k in range(nv):
            back[0, k] = f.from_external(there, 0, 0, k, com)

    v = np.random.default_rng(3).normal(size=(1, nv))
    there, back = wp.zeros((1, nv), dtype=t), wp.zeros((1, nv), dtype=t)
    wp.launch(run, dim=1, inputs=[wp.array(v, dtype=t), vec3(*COM), there, back, nv], device="cpu")
    assert np.allclose(back.numpy(), v, atol=1.0e-15)


def test_floating_joint_reports_the_mass_centre_first():
    """joint_qd = [v_com, omega] of internal [omega, v_o]: v_com = v_o + omega x p_com."""
    R, f = funcs("floating")
    vec3, t = R.vec3, R.t

    @wp.kernel(module="unique", enable_backward=False)
    def run(v: wp.array2d(dtype=t), com: vec3, out: wp.array2d(dtype=t)):
        for k in range(6):
            out[0, k] = f.to_external(v, 0, 0, k, com)

    v = np.array([[0.1, 0.2, 0.3, 1.0, 2.0, 3.0]])
    out = wp.zeros((1, 6), dtype=t)
    wp.launch(run, dim=1, inputs=[wp.array(v, dtype=t), vec3(*COM), out], device="cpu")
    assert np.allclose(out.numpy()[0], np.concatenate([v[0, 3:] + np.cross(v[0, :3], COM), v[0, :3]]), atol=1.0e-15)
