"""Box against plane: every corner of the box that lies below the plane (or within the margin), each with its own depth.

    nhat_AB = -z of the plane,   p = corner,   depth = nhat_AB . (corner - p_WB)

feature = the corner's number: bit i is set where the corner's coordinate i in the box's frame is positive.
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
        depth_centre = wp.dot(nhat_AB_W, p_WA - p_WB)
        # what a half length along each axis adds to the depth
        rise = wp.cw_mul(wp.transpose(R_WA) * nhat_AB_W, size_a)
        count = wp.int32(0)
        if depth_centre + wp.abs(rise[0]) + wp.abs(rise[1]) + wp.abs(rise[2]) <= -margin:
            return count, nhat_AB_W
        for corner in range(8):
            side = vec3(
                real(2 * (corner & 1) - 1),
                real(2 * ((corner >> 1) & 1) - 1),
                real(2 * ((corner >> 2) & 1) - 1),
            )
            depth = depth_centre + wp.dot(side, rise)
            if depth > -margin:
                out.p[w, base + count] = p_WA + R_WA * wp.cw_mul(side, size_a)
                out.depth[w, base + count] = depth
                out.feature[w, base + count] = corner
                count += 1
        return count, nhat_AB_W

    return collide


KIND = PairKind(name="box_plane", a="box", b="plane", max_points=8, make=make)
