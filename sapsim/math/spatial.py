"""Spatial vectors as vec6 [rotation; translation], and rigid-body inertia in ten numbers.

Inertia about a point T in world axes: I = [m, h, Ixx, Iyy, Izz, Ixy, Ixz, Iyz] with h = m (p_Bcm - p_T), so that sums over
bodies are plain sums when all share T (Featherstone 2008, section 2.13; seed 000).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp


@cache
def make_spatial(R):
    """wp.funcs over the bundle R: top, bottom, join, inertia_about, inertia_times, rotate_inertia, rotation."""
    real, vec3, vec6, vec10, quat, mat33 = R.t, R.vec3, R.vec6, R.vec10, R.quat, R.mat33

    @wp.func
    def top(a: vec6) -> vec3:
        return vec3(a[0], a[1], a[2])

    @wp.func
    def bottom(a: vec6) -> vec3:
        return vec3(a[3], a[4], a[5])

    @wp.func
    def join(a: vec3, b: vec3) -> vec6:
        return vec6(a[0], a[1], a[2], b[0], b[1], b[2])

    @wp.func
    def rotation(q: quat) -> mat33:
        """The matrix of a unit quaternion xyzw (Warp's own function takes four times as many operations)."""
        one = real(1.0)
        x2 = q[0] + q[0]
        y2 = q[1] + q[1]
        z2 = q[2] + q[2]
        xx = q[0] * x2
        yy = q[1] * y2
        zz = q[2] * z2
        xy = q[0] * y2
        xz = q[0] * z2
        yz = q[1] * z2
        wx = q[3] * x2
        wy = q[3] * y2
        wz = q[3] * z2
        return mat33(
            one - (yy + zz), xy - wz, xz + wy,
            xy + wz, one - (xx + zz), yz - wx,
            xz - wy, yz + wx, one - (xx + yy),
        )  # fmt: skip

    @wp.func
    def rotate_inertia(R_WB: mat33, I_B: mat33) -> mat33:
        return R_WB * I_B * wp.transpose(R_WB)

    @wp.func
    def inertia_about(m: real, d: vec3, I_cm: mat33) -> vec10:
        """Ten numbers about a point T, d = p_TBcm, I_cm about the mass centre, world axes (parallel axis theorem)."""
        dd = wp.dot(d, d)
        return vec10(
            m,
            m * d[0],
            m * d[1],
            m * d[2],
            I_cm[0, 0] + m * (dd - d[0] * d[0]),
            I_cm[1, 1] + m * (dd - d[1] * d[1]),
            I_cm[2, 2] + m * (dd - d[2] * d[2]),
            I_cm[0, 1] - m * d[0] * d[1],
            I_cm[0, 2] - m * d[0] * d[2],
            I_cm[1, 2] - m * d[1] * d[2],
        )

    @wp.func
    def inertia_times(I: vec10, V: vec6) -> vec6:
        """I V = [I_T w + h x v; m v - h x w]."""
        w = vec3(V[0], V[1], V[2])
        v = vec3(V[3], V[4], V[5])
        h = vec3(I[1], I[2], I[3])
        Iw = vec3(
            I[4] * w[0] + I[7] * w[1] + I[8] * w[2],
            I[7] * w[0] + I[5] * w[1] + I[9] * w[2],
            I[8] * w[0] + I[9] * w[1] + I[6] * w[2],
        )
        n = Iw + wp.cross(h, v)
        f = I[0] * v - wp.cross(h, w)
        return vec6(n[0], n[1], n[2], f[0], f[1], f[2])

    return SimpleNamespace(
        top=top,
        bottom=bottom,
        join=join,
        rotate_inertia=rotate_inertia,
        rotation=rotation,
        inertia_about=inertia_about,
        inertia_times=inertia_times,
    )
