"""Planar joint: translation in the plane with normal `axis`, and rotation about the normal.

Coordinates q = (x, y, theta): p_FM = x e_x + y e_y, R_FM = exp(n theta).  Velocity v = (vx, vy, w), their rates, so that
S_FM = [0, 0, n; e_x, e_y, 0] is constant.

**Directions in the plane.**  (e_x, e_y, n) is right-handed; for n = z they are x and y.  For another n with n_z >= 0 they
are x and y turned with z by the shortest rotation that takes z to n; for n_z < 0 the same from the half-turn (x, -y, -z):

    s = 1 or -1 as n_z >= 0 or not,   a = -1 / (s + n_z)
    e_x = (1 + s a n_x^2, s a n_x n_y, -s n_x),   e_y = (a n_x n_y, s + a n_y^2, -n_y)

(Duff et al. 2017, "Building an Orthonormal Basis, Revisited").  So n = x gives e_x = -z, e_y = y; n = y gives e_x = x,
e_y = -z; n = -z gives e_x = x, e_y = -y.
"""

import numpy as np

from sapsim.kinds.base import JointFuncs, JointKind
from sapsim.kinds.joints._quaternion import turn


def make(R):
    import warp as wp

    from sapsim.kinds.joints._rate import make_rate

    real, vec3, vec6, quat, mat33 = R.t, R.vec3, R.vec6, R.quat, R.mat33

    @wp.func
    def e_x(n: vec3) -> vec3:
        s = wp.where(n[2] >= real(0.0), real(1.0), real(-1.0))
        a = real(-1.0) / (s + n[2])
        return vec3(real(1.0) + s * a * n[0] * n[0], s * a * n[0] * n[1], -s * n[0])

    @wp.func
    def e_y(n: vec3) -> vec3:
        s = wp.where(n[2] >= real(0.0), real(1.0), real(-1.0))
        a = real(-1.0) / (s + n[2])
        return vec3(a * n[0] * n[1], s + a * n[1] * n[1], -n[1])

    @wp.func
    def X_FM(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), w: int, iq: int):
        half = real(0.5) * q[w, iq + 2]
        s = wp.sin(half)
        p = q[w, iq] * e_x(axis) + q[w, iq + 1] * e_y(axis)
        return p, quat(s * axis[0], s * axis[1], s * axis[2], wp.cos(half))

    @wp.func
    def S_W(axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        if k == 2:
            n = R_WF * axis
            return vec6(n[0], n[1], n[2], real(0.0), real(0.0), real(0.0))
        e = R_WF * wp.where(k == 0, e_x(axis), e_y(axis))
        return vec6(real(0.0), real(0.0), real(0.0), e[0], e[1], e[2])

    return JointFuncs(X_FM=X_FM, S_W=S_W, **make_rate(R, 3))


def in_plane(axis) -> tuple[np.ndarray, np.ndarray]:
    """e_x, e_y in F (module docstring)."""
    x, y, z = axis
    s = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (s + z)
    return np.array([1.0 + s * a * x * x, s * a * x * y, -s * x]), np.array([a * x * y, s + a * y * y, -y])


def X_FM(axis, axis2, q):
    e_x, e_y = in_plane(axis)
    return q[0] * np.asarray(e_x) + q[1] * np.asarray(e_y), turn(axis, q[2])


def S_F(axis, axis2, q) -> np.ndarray:
    S = np.zeros((6, 3))
    S[3:, 0], S[3:, 1] = in_plane(axis)
    S[:3, 2] = axis
    return S


KIND = JointKind(
    name="planar",
    nq=3,
    nv=3,
    uses_axis=True,
    q_names=("x", "y", "theta"),
    q_units=("m", "m", "rad"),
    v_names=("vx", "vy", "w"),
    v_units=("m/s", "m/s", "rad/s"),
    neutral=(0.0, 0.0, 0.0),
    X_FM=X_FM,
    S_F=S_F,
    make=make,
    default_axis=(0.0, 0.0, 1.0),
)
