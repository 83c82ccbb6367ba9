"""Ball joint: rotation of M about the common origin of F and M, without limits.

Coordinates q = quaternion xyzw of R_FM.  Velocity v = omega of M in F, in the axes of F, inside as in files, so that
S_FM = [1; 0] is constant.  The position update is q + h N(q) v with the quaternion normalised after it, as for a floating
joint: it turns by 2 atan(h |omega| / 2) about omega (sap_formulas 6.2).
"""

import numpy as np

from sapsim.kinds.base import JointFuncs, JointKind, bracket_of_rotations
from sapsim.kinds.joints._quaternion import random_rotation, rotation_between


def make(R):
    import warp as wp

    from sapsim.kinds.joints._rate import make_constant

    real, vec3, vec6, quat, mat33 = R.t, R.vec3, R.vec6, R.quat, R.mat33

    @wp.func
    def X_FM(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), w: int, iq: int):
        return vec3(real(0.0)), wp.normalize(quat(q[w, iq], q[w, iq + 1], q[w, iq + 2], q[w, iq + 3]))

    @wp.func
    def S_W(axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        return vec6(R_WF[0, k], R_WF[1, k], R_WF[2, k], real(0.0), real(0.0), real(0.0))

    @wp.func
    def step_q(q: wp.array2d(dtype=real), v: wp.array2d(dtype=real), w: int, iq: int, iv: int, h: real, R_WF: mat33) -> int:
        r = quat(q[w, iq], q[w, iq + 1], q[w, iq + 2], q[w, iq + 3])
        # N(q) omega = 1/2 [omega, 0] (x) q for omega in the axes of F
        half = real(0.5) * h
        dr = quat(half * v[w, iv], half * v[w, iv + 1], half * v[w, iv + 2], real(0.0)) * r
        r = wp.normalize(r + dr)
        for i in range(4):
            q[w, iq + i] = r[i]
        return 0

    return JointFuncs(X_FM=X_FM, S_W=S_W, step_q=step_q, **make_constant(R))


KIND = JointKind(
    name="ball",
    nq=4,
    nv=3,
    uses_axis=False,
    q_names=("qx", "qy", "qz", "qw"),
    q_units=("1", "1", "1", "1"),
    v_names=("wx", "wy", "wz"),
    v_units=("rad/s", "rad/s", "rad/s"),
    neutral=(0.0, 0.0, 0.0, 1.0),
    X_FM=lambda axis, axis2, q: ((0.0, 0.0, 0.0), tuple(q)),
    S_F=lambda axis, axis2, q: np.eye(6)[:, :3],
    make=make,
    random=lambda kind, rng: random_rotation(rng),
    difference=rotation_between,
    bracket=bracket_of_rotations,
)
