"""Screw joint: rotation by q about `axis` with translation by `pitch` * q along it; right-handed where the pitch is positive.

X_FM = (a2 q, exp(a q)), S_FM = [a; a2] with a2 = pitch a, which is the joint's second axis in device code [m/rad].
"""

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
        return q[w, iq] * axis2, quat(s * axis[0], s * axis[1], s * axis[2], wp.cos(half))

    @wp.func
    def S_W(axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        a = R_WF * axis
        v = R_WF * axis2
        return vec6(a[0], a[1], a[2], v[0], v[1], v[2])

    return JointFuncs(X_FM=X_FM, S_W=S_W, **make_rate(R))


KIND = JointKind(
    name="screw",
    nq=1,
    nv=1,
    uses_axis=True,
    q_names=("",),
    q_units=("rad",),
    v_names=("",),
    v_units=("rad/s",),
    neutral=(0.0,),
    X_FM=lambda axis, axis2, q: (q[0] * np.asarray(axis2), turn(axis, q[0])),
    S_F=lambda axis, axis2, q: np.concatenate([axis, axis2])[:, None],
    make=make,
    second_axis=lambda joint: tuple(joint.pitch * a for a in joint.axis),
    own_keys=("pitch",),
)
