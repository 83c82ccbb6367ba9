"""Capsule against sphere: one point, on the line from the sphere's centre to the nearest point of the capsule's segment.

    c = nearest point of the segment,   d = p_WB - c,   nhat_AB = d / |d|,   depth = r_A + r_B - |d|,   p = c + r_A nhat_AB

Where the centre lies on the segment (to rounding) every direction across it is as good: nhat_AB = x axis of the capsule.
"""

from sapsim.kinds.base import PairKind


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps

    @wp.func
    def collide(
        size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        reach = size_a[0] + size_b[0]
        axis_W = vec3(R_WA[0, 2], R_WA[1, 2], R_WA[2, 2])
        p_AB_W = p_WB - p_WA
        t = wp.clamp(wp.dot(axis_W, p_AB_W), -size_a[1], size_a[1])
        d_W = p_AB_W - t * axis_W
        distance = wp.length(d_W)
        nhat_AB_W = vec3(R_WA[0, 0], R_WA[1, 0], R_WA[2, 0])
        if reach - distance <= -margin:
            return 0, nhat_AB_W
        if distance > real(eps) * (reach + size_a[1]):
            nhat_AB_W = d_W / distance
        out.p[w, base] = p_WA + t * axis_W + size_a[0] * nhat_AB_W
        out.depth[w, base] = reach - distance
        out.feature[w, base] = 0
        return 1, nhat_AB_W

    return collide


KIND = PairKind(name="capsule_sphere", a="capsule", b="sphere", max_points=1, make=make)
