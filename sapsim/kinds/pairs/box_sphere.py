"""Box against sphere: one point, where the box's surface is nearest to the sphere's centre.

In the box's frame, with c the centre and q = clamp(c, -h, h) the nearest point of the solid box:

    outside:  nhat_AB = (c - q) / |c - q|,   depth = r - |c - q|,   p = q   (face, edge or corner, whichever is nearest)
    inside:   nhat_AB = normal of the nearest face i,   depth = r + h_i - |c_i|,   p = c moved to that face

Of faces equally near, the one of the lowest axis is taken; a centre at coordinate 0 counts as on the positive side.  A
centre on the surface (to rounding) is treated as inside, so edges and corners have a normal.
"""

from sapsim.kinds.base import PairKind


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps

    @wp.func
    def nearest_face(c: vec3, h: vec3):
        """Outward normal of the face nearest to a point c inside the box, and how far c lies below that face."""
        gap = vec3(h[0] - wp.abs(c[0]), h[1] - wp.abs(c[1]), h[2] - wp.abs(c[2]))
        zero = real(0.0)
        least = gap[0]
        n = vec3(wp.where(c[0] < zero, real(-1.0), real(1.0)), zero, zero)
        if gap[1] < least:
            least = gap[1]
            n = vec3(zero, wp.where(c[1] < zero, real(-1.0), real(1.0)), zero)
        if gap[2] < least:
            least = gap[2]
            n = vec3(zero, zero, wp.where(c[2] < zero, real(-1.0), real(1.0)))
        return n, least

    @wp.func
    def collide(
        size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        c = wp.transpose(R_WA) * (p_WB - p_WA)
        q = wp.min(wp.max(c, -size_a), size_a)
        distance = wp.length(c - q)
        if size_b[0] - distance <= -margin:
            return 0, vec3(real(0.0), real(0.0), real(1.0))
        n, below = nearest_face(c, size_a)
        if distance > real(eps) * wp.max(size_a):
            n = (c - q) / distance
            below = -distance
        nhat_AB_W = R_WA * n
        out.p[w, base] = p_WA + R_WA * (c + below * n)
        out.depth[w, base] = size_b[0] + below
        out.feature[w, base] = 0
        return 1, nhat_AB_W

    return collide


KIND = PairKind(name="box_sphere", a="box", b="sphere", max_points=1, make=make)
