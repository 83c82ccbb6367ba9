"""A shape of revolution about its z axis against a sphere: one point, where the shape's surface is nearest to the centre.

Seen in the half plane through the axis and the sphere's centre, the shape is a polygon of the distance rho >= 0 from the axis
and of z.  With g the signed distance of the centre from its outline, negative inside, and n the direction away from the nearest
point of that:

    nhat_AB = n_rho e + n_z z,   depth = r - g,   p = centre - g nhat_AB,   e = from the axis to the centre

On the axis (to rounding) every direction across it is as good: e = x axis of the shape.  feature = 0.
"""


def make_revolved(R, PointBuffer, outline):
    """The device function `collide` (see `PairKind`) in the precision of R; outline(size, rho, z) -> (g, n_rho, n_z)."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps

    @wp.func
    def collide(
        size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        c = wp.transpose(R_WA) * (p_WB - p_WA)
        rho = wp.length(vec3(c[0], c[1], real(0.0)))
        gap, n_rho, n_z = outline(size_a, rho, c[2])
        e = vec3(real(1.0), real(0.0), real(0.0))
        if rho > real(eps) * (size_a[0] + size_a[1]):
            e = vec3(c[0], c[1], real(0.0)) / rho
        nhat_AB_W = R_WA * vec3(n_rho * e[0], n_rho * e[1], n_z)
        if size_b[0] - gap <= -margin:
            return 0, nhat_AB_W
        out.p[w, base] = p_WB - gap * nhat_AB_W
        out.depth[w, base] = size_b[0] - gap
        out.feature[w, base] = 0
        return 1, nhat_AB_W

    return collide
