"""Prismatic joint: translation by q along `axis`.  X_FM = (a q, 1), S_FM = [0; a]."""

import numpy as np

from sapsim.kinds.base import JointFuncs, JointKind


def make(R):
    import warp as wp

    from sapsim.kinds.joints._rate import make_rate

    real, vec3, vec6, quat, mat33 = R.t, R.vec3, R.vec6, R.quat, R.mat33

    @wp.func
    def X_FM(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), w: int, iq: int):
        return q[w, iq] * axis, quat(real(0.0), real(0.0), real(0.0), real(1.0))

    @wp.func
    def S_W(axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        a = R_WF * axis
        return vec6(real(0.0), real(0.0), real(0.0), a[0], a[1], a[2])

    return JointFuncs(X_FM=X_FM, S_W=S_W, **make_rate(R))


KIND = JointKind(
    name="prismatic",
    nq=1,
    nv=1,
    uses_axis=True,
    q_names=("",),
    q_units=("m",),
    v_names=("",),
    v_units=("m/s",),
    neutral=(0.0,),
    X_FM=lambda axis, axis2, q: (q[0] * np.asarray(axis), (0.0, 0.0, 0.0, 1.0)),
    S_F=lambda axis, axis2, q: np.concatenate([np.zeros(3), axis])[:, None],
    make=make,
)
