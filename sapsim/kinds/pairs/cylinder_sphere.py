"""Cylinder against sphere: one point, where the cylinder's surface is nearest to the sphere's centre (_revolved.py).

In the half plane the cylinder is the rectangle rho <= r, |z| <= h.  Beside its side and beyond its caps the normal is theirs,
beyond both it comes from the rim, and inside it is that of the nearer one, the side's of equal ones; z = 0 counts as above.
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
        zero, one = real(0.0), real(1.0)
        up = wp.where(z < zero, -one, one)
        beside, beyond = rho - size[0], wp.abs(z) - size[1]
        if beside > zero and beyond > zero:
            gap = wp.length(vec3(beside, beyond, zero))
            if gap > real(eps) * (size[0] + size[1]):
                return gap, beside / gap, up * beyond / gap
        if beside >= beyond:
            return beside, one, zero
        return beyond, zero, up

    return make_revolved(R, PointBuffer, outline)


KIND = PairKind(name="cylinder_sphere", a="cylinder", b="sphere", max_points=1, make=make, aside=True)
