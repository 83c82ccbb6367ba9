"""Revolute joint: rotation by q about `axis`.  X_FM = (0, exp(a q)), S_FM = [a; 0]."""

import numpy as np

from sapsim.kinds.base import JointFuncs, JointKind
from sapsim.kinds.joints._quaternion import turn


def make(R):
    import warp as wp

    from sapsim.kinds.joints._rate import make_rate

    real, vec3, vec6, quat, mat33 = R.t, R.vec3, R.vec6, R.quat, R.mat33

    @wp.func
    def X_FM(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), w: int, iq: int):
        half = real(0.5) * q[w, iq]
        s = wp.sin(half)
        return vec3(real(0.0)), quat(s * axis[0], s * axis[1], s * axis[2], wp.cos(half))

    @wp.func
    def S_W(axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        a = R_WF * axis
        return vec6(a[0], a[1], a[2], real(0.0), real(0.0), real(0.0))

    return JointFuncs(X_FM=X_FM, S_W=S_W, **make_rate(R))


KIND = JointKind(
    name="revolute",
    nq=1,
    nv=1,
    uses_axis=True,
    q_names=("",),
    q_units=("rad",),
    v_names=("",),
    v_units=("rad/s",),
    neutral=(0.0,),
    X_FM=lambda axis, axis2, q: ((0.0, 0.0, 0.0), turn(axis, q[0])),
    S_F=lambda axis, axis2, q: np.concatenate([axis, np.zeros(3)])[:, None],
    make=make,
)
