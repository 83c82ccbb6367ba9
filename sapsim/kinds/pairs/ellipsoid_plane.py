"""Ellipsoid against plane: its lowest point, where with S = diag(semi-axes) and n = nhat_AB in the ellipsoid's frame

    nhat_AB = -z of the plane,   p = S^2 n / |S n|,   depth = nhat_AB . (p_WA - p_WB) + |S n|

feature = 0.
"""

from sapsim.kinds.base import PairKind


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33

    @wp.func
    def collide(
        size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        nhat_AB_W = -vec3(R_WB[0, 2], R_WB[1, 2], R_WB[2, 2])
        s = wp.cw_mul(size_a, wp.transpose(R_WA) * nhat_AB_W)
        reach = wp.length(s)
        depth = wp.dot(nhat_AB_W, p_WA - p_WB) + reach
        if depth <= -margin:
            return 0, nhat_AB_W
        out.p[w, base] = p_WA + R_WA * (wp.cw_mul(size_a, s) / reach)
        out.depth[w, base] = depth
        out.feature[w, base] = 0
        return 1, nhat_AB_W

    return collide


KIND = PairKind(name="ellipsoid_plane", a="ellipsoid", b="plane", max_points=1, make=make, aside=True)
