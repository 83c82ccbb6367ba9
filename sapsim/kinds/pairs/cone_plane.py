"""Cone against plane: the apex and six points of the rim.

    nhat_AB = -z of the plane,   p = apex or point of the rim,   depth = nhat_AB . (p - p_WB)

The rim's points are 60 degrees apart from its lowest one, or from the cone's x where it stands upright but for rounding.  So a
cone that lies has two points.  feature = 0 .. 5 of the rim, 0 the lowest one; 6 the apex.
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.pairs._rim import CORNERS, make_rim


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    rim = make_rim(R)
    lowest, following = rim.lowest, rim.next

    @wp.func
    def collide(
        size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        nhat_AB_W = -vec3(R_WB[0, 2], R_WB[1, 2], R_WB[2, 2])
        depth_centre = wp.dot(nhat_AB_W, p_WA - p_WB)
        n = wp.transpose(R_WA) * nhat_AB_W
        d = lowest(n)
        count = wp.int32(0)
        points = wp.int32(wp.static(CORNERS + 1))
        for k in range(points):
            q = vec3(size_a[0] * d[0], size_a[0] * d[1], -size_a[1])
            if k == wp.static(CORNERS):
                q = vec3(real(0.0), real(0.0), size_a[1])
            depth = depth_centre + wp.dot(n, q)
            if depth > -margin:
                out.p[w, base + count] = p_WA + R_WA * q
                out.depth[w, base + count] = depth
                out.feature[w, base + count] = k
                count += 1
            d = following(d)
        return count, nhat_AB_W

    return collide


KIND = PairKind(name="cone_plane", a="cone", b="plane", max_points=CORNERS + 1, make=make, aside=True)
