"""Sphere against sphere: one point on the line of centres.

    d = p_WB - p_WA,   nhat_AB = d / |d|,   depth = r_A + r_B - |d|,   p = p_WA + r_A nhat_AB

Where the centres coincide (to rounding) every direction is as good: nhat_AB = +z of the world.
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
        p_AB_W = p_WB - p_WA
        distance = wp.length(p_AB_W)
        depth = reach - distance
        nhat_AB_W = vec3(real(0.0), real(0.0), real(1.0))
        if depth <= -margin:
            return 0, nhat_AB_W
        if distance > real(eps) * reach:
            nhat_AB_W = p_AB_W / distance
        out.p[w, base] = p_WA + size_a[0] * nhat_AB_W
        out.depth[w, base] = depth
        out.feature[w, base] = 0
        return 1, nhat_AB_W

    return collide


KIND = PairKind(name="sphere_sphere", a="sphere", b="sphere", max_points=1, make=make)
