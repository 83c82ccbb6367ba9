"""Cone against sphere: one point, where the cone's surface is nearest to the sphere's centre (_revolved.py).

In the half plane the cone is the triangle of the apex (0, h), the rim (r, -h) and the middle of the base (0, -h).  With
t = (r, -2 h) / |(r, -2 h)| down the mantle and m = (2 h, r) / |(r, 2 h)| its normal, a centre whose part along t from the apex
is negative is nearest to the apex, one beyond the rim both along t and along rho to the rim, others to the mantle or the base;
inside to the nearer one, the mantle of equal ones.
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.pairs._revolved import make_revolved


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    eps = R.eps

    @wp.func
    def outline(size: vec3, rho: real, z: real):
        zero = real(0.0)
        m = wp.normalize(vec3(real(2.0) * size[1], size[0], zero))
        above, below = z - size[1], -z - size[1]
        beside = m[0] * rho + m[1] * above
        if below >= beside and rho <= size[0]:
            return below, zero, real(-1.0)
        tip = vec3(rho, above, zero)
        if m[1] * rho - m[0] * above > zero:  # along t from the apex
            tip = vec3(rho - size[0], -below, zero)
            if (beside <= zero and below <= zero) or m[1] * tip[0] - m[0] * tip[1] <= zero:  # along t from the rim
                return beside, m[0], m[1]
        gap = wp.length(tip)
        if gap <= real(eps) * (size[0] + size[1]):
            return beside, m[0], m[1]
        return gap, tip[0] / gap, tip[1] / gap

    return make_revolved(R, PointBuffer, outline)


KIND = PairKind(name="cone_sphere", a="cone", b="sphere", max_points=1, make=make, aside=True)
