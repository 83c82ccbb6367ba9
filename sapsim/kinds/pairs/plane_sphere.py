"""Plane against sphere: one point, below the sphere's centre on the plane.

    nhat_AB = z of the plane,   height = nhat_AB . (p_WB - p_WA),   depth = r - height,   p = p_WB - height nhat_AB

The plane is a half-space, so a centre below it only makes the contact deeper.
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
        nhat_AB_W = vec3(R_WA[0, 2], R_WA[1, 2], R_WA[2, 2])
        height = wp.dot(nhat_AB_W, p_WB - p_WA)
        depth = size_b[0] - height
        if depth <= -margin:
            return 0, nhat_AB_W
        out.p[w, base] = p_WB - height * nhat_AB_W
        out.depth[w, base] = depth
        out.feature[w, base] = 0
        return 1, nhat_AB_W

    return collide


KIND = PairKind(name="plane_sphere", a="plane", b="sphere", max_points=1, make=make)
