"""Universal joint: rotation by theta1 about `axis`, then by theta2 about `axis2`, which the first rotation carries along.

q = (theta1, theta2), v = their rates.  With a = axis, b = axis2 in F at theta1 = 0, neither along the other:

    R_FM = exp(a theta1) exp(b theta2),  S_FM = [a, b1; 0, 0],  b1 = exp(a theta1) b,  bias_FM = [v1 v2 a x b1; 0]

so S depends on theta1, and the bias is its rate times v.
"""

import numpy as np

from sapsim.kinds.base import JointFuncs, JointKind
from sapsim.kinds.joints._quaternion import product, turn


def make(R):
    import warp as wp

    from sapsim.kinds.joints._rate import make_rate

    real, vec3, vec6, quat, mat33 = R.t, R.vec3, R.vec6, R.quat, R.mat33

    @wp.func
    def turn(axis: vec3, angle: real) -> quat:
        half = real(0.5) * angle
        s = wp.sin(half)
        return quat(s * axis[0], s * axis[1], s * axis[2], wp.cos(half))

    @wp.func
    def X_FM(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), w: int, iq: int):
        return vec3(real(0.0)), turn(axis, q[w, iq]) * turn(axis2, q[w, iq + 1])

    @wp.func
    def S_W(axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        a = R_WF * axis
        if k == 1:
            a = R_WF * wp.quat_rotate(turn(axis, q[w, iq]), axis2)
        return vec6(a[0], a[1], a[2], real(0.0), real(0.0), real(0.0))

    @wp.func
    def bias_F(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), v: wp.array2d(dtype=real), w: int, iq: int, iv: int) -> vec6:
        b1 = wp.quat_rotate(turn(axis, q[w, iq]), axis2)
        alpha = (v[w, iv] * v[w, iv + 1]) * wp.cross(axis, b1)
        return vec6(alpha[0], alpha[1], alpha[2], real(0.0), real(0.0), real(0.0))

    return JointFuncs(X_FM=X_FM, S_W=S_W, **(make_rate(R, 2) | {"bias_F": bias_F}))


def S_F(axis, axis2, q) -> np.ndarray:
    a, b = np.asarray(axis, float), np.asarray(axis2, float)
    c, s = np.cos(q[0]), np.sin(q[0])
    S = np.zeros((6, 2))
    S[:3, 0] = a
    S[:3, 1] = c * b + s * np.cross(a, b) + (1.0 - c) * (a @ b) * a
    return S


KIND = JointKind(
    name="universal",
    nq=2,
    nv=2,
    uses_axis=True,
    q_names=("theta1", "theta2"),
    q_units=("rad", "rad"),
    v_names=("w1", "w2"),
    v_units=("rad/s", "rad/s"),
    neutral=(0.0, 0.0),
    X_FM=lambda axis, axis2, q: ((0.0, 0.0, 0.0), product(turn(axis, q[0]), turn(axis2, q[1]))),
    S_F=S_F,
    make=make,
    second_axis=lambda joint: joint.axis2,
    own_keys=("axis2",),
)
