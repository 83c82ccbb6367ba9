"""Capsule against plane: the balls at the two ends of the capsule that reach below the plane (or within the margin).

    nhat_AB = -z of the plane,   c = end of the segment,   depth = r + nhat_AB . (c - p_WB),   p = c + r nhat_AB

feature = 0 for the end on the capsule's negative z axis, 1 for the other.  The witness of the shallower end lies inside the
capsule where it is tilted.
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
        half_W = size_a[1] * vec3(R_WA[0, 2], R_WA[1, 2], R_WA[2, 2])
        depth_centre = size_a[0] + wp.dot(nhat_AB_W, p_WA - p_WB)
        count = wp.int32(0)
        for end in range(2):
            offset = real(2 * end - 1) * half_W
            depth = depth_centre + wp.dot(nhat_AB_W, offset)
            if depth > -margin:
                out.p[w, base + count] = p_WA + offset + size_a[0] * nhat_AB_W
                out.depth[w, base + count] = depth
                out.feature[w, base + count] = end
                count += 1
        return count, nhat_AB_W

    return collide


KIND = PairKind(name="capsule_plane", a="capsule", b="plane", max_points=2, make=make)
