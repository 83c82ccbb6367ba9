"""Floating joint: six degrees of freedom against the world.

Coordinates q = [p_FM, quaternion xyzw of R_FM].  Internal velocities are the body's own twist [omega, v_Bo] in world axes, so
that S = I (seed 000); files hold [v_Bcm, omega].  The position update is q + h N(q) v with the quaternion normalised after
it, which turns the body by 2 atan(h |omega| / 2) about omega, as Drake's discrete step does (sap_formulas 6.2).
"""

import numpy as np

from sapsim.kinds.base import JointFuncs, JointKind, bracket_of_rotations, no_bracket
from sapsim.kinds.joints._quaternion import random_rotation, rotation_between


def make(R):
    import warp as wp

    real, vec3, vec6, quat, mat33 = R.t, R.vec3, R.vec6, R.quat, R.mat33

    @wp.func
    def X_FM(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), w: int, iq: int):
        p = vec3(q[w, iq], q[w, iq + 1], q[w, iq + 2])
        return p, wp.normalize(quat(q[w, iq + 3], q[w, iq + 4], q[w, iq + 5], q[w, iq + 6]))

    @wp.func
    def S_W(axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        S = vec6(real(0.0))
        S[k] = real(1.0)
        return S

    @wp.func
    def bias_F(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), v: wp.array2d(dtype=real), w: int, iq: int, iv: int) -> vec6:
        return vec6(real(0.0))

    @wp.func
    def step_q(q: wp.array2d(dtype=real), v: wp.array2d(dtype=real), w: int, iq: int, iv: int, h: real, R_WF: mat33) -> int:
        R_FW = wp.transpose(R_WF)
        omega_F = R_FW * vec3(v[w, iv], v[w, iv + 1], v[w, iv + 2])
        v_F = R_FW * vec3(v[w, iv + 3], v[w, iv + 4], v[w, iv + 5])
        for i in range(3):
            q[w, iq + i] = q[w, iq + i] + h * v_F[i]
        r = quat(q[w, iq + 3], q[w, iq + 4], q[w, iq + 5], q[w, iq + 6])
        # N(q) omega = 1/2 [omega, 0] (x) q for omega in the axes of F
        half = real(0.5) * h
        dr = quat(half * omega_F[0], half * omega_F[1], half * omega_F[2], real(0.0)) * r
        r = wp.normalize(r + dr)
        for i in range(4):
            q[w, iq + 3 + i] = r[i]
        return 0

    @wp.func
    def to_external(v: wp.array2d(dtype=real), w: int, iv: int, k: int, p_BoBcm_W: vec3) -> real:
        omega = vec3(v[w, iv], v[w, iv + 1], v[w, iv + 2])
        v_cm = vec3(v[w, iv + 3], v[w, iv + 4], v[w, iv + 5]) + wp.cross(omega, p_BoBcm_W)
        if k < 3:
            return v_cm[k]
        return omega[k - 3]

    @wp.func
    def from_external(v: wp.array2d(dtype=real), w: int, iv: int, k: int, p_BoBcm_W: vec3) -> real:
        omega = vec3(v[w, iv + 3], v[w, iv + 4], v[w, iv + 5])
        v_o = vec3(v[w, iv], v[w, iv + 1], v[w, iv + 2]) - wp.cross(omega, p_BoBcm_W)
        if k < 3:
            return omega[k]
        return v_o[k - 3]

    return JointFuncs(X_FM=X_FM, S_W=S_W, bias_F=bias_F, step_q=step_q, to_external=to_external, from_external=from_external)


def bracket(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rotations about the body's own origin and translations of it commute with one another, and translations do."""
    return np.concatenate([bracket_of_rotations(x[..., :3], y[..., :3]), no_bracket(x[..., 3:], y[..., 3:])], axis=-1)


KIND = JointKind(
    name="floating",
    nq=7,
    nv=6,
    uses_axis=False,
    q_names=("px", "py", "pz", "qx", "qy", "qz", "qw"),
    q_units=("m", "m", "m", "1", "1", "1", "1"),
    v_names=("vx", "vy", "vz", "wx", "wy", "wz"),
    v_units=("m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"),
    neutral=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    X_FM=lambda axis, axis2, q: (tuple(q[:3]), tuple(q[3:])),
    S_F=lambda axis, axis2, q: np.eye(6),
    make=make,
    needs_world=True,
    random=lambda kind, rng: np.concatenate([rng.uniform(-1.0, 1.0, 3), random_rotation(rng)]),
    difference=lambda q0, q1: np.concatenate([rotation_between(q0[3:], q1[3:]), np.subtract(q1[:3], q0[:3])]),
    bracket=bracket,
)
