"""Capsule against capsule: two points where they lie along each other, else one between the nearest points of the segments.

With u, v the unit axes (v turned so that u . v >= 0), c_A, c_B the nearest points, r = r_A + r_B:

    nhat_AB = (c_B - c_A) / |c_B - c_A|,   depth = r - |c_B - c_A|,   p = c_A + r_A nhat_AB

Where the segments meet (to rounding) the least push is across both: nhat_AB = u x v / |u x v|, or any direction across u
where they are parallel, too.  That one is taken from the capsule that comes first, by volume, then by the place of its
centre, as for boxes, so that exchanging the capsules turns it round (unless the centres coincide).  Where they nearly meet, so
that the direction of c_B - c_A is mostly rounding, it counts without its part along a segment inside which the point is, or
u x v does: the one along which the segments part more.

**Along each other.**  The segments overlap along m = (u + v) / |u + v| by more than 1 % of r, and over half that overlap
they part by at most 1 % of r sideways and 5 % of r along nhat; and their angle is below 6 degrees.  Then the points are
the two ends of the overlap, x_A and x_B on the axes there, but for an end to which the nearest points belong (one of them
is the end of a segment): those are x_A and x_B themselves.

    depth = r - nhat . (x_B - x_A),   p = x_A + r_A nhat + half of what x_B - x_A has across nhat

So the larger depth is that of the nearest points.  A point with depth <= -margin is left out: capsules that part at one end
lose that point when it has no depth left.

feature = 1, 2 for the point towards the negative, the positive end of A; 0 for a single nearest point.
"""

from sapsim.kinds.base import PairKind

MIN_OVERLAP, SIDEWAYS, ALONG = 0.01, 0.01, 0.05  # in r
MAX_SINE = 0.1


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    min_sine_squared = max(1.0e-20, 1.0e4 * R.eps * R.eps)  # below it the direction of u x v is rounding
    parallel = R.eps * R.eps  # below this squared sine any point of one segment is as near as another
    touching = 16.0 * R.eps
    rough = 1.0e-6 if R.name == "float64" else 2.0e-2  # of the lengths: nearer, the direction from point to point is rounding

    @wp.func
    def axis_of(M: mat33, k: int) -> vec3:
        return vec3(M[0, k], M[1, k], M[2, k])

    @wp.func
    def is_first(size_a: vec3, size_b: vec3, d_W: vec3) -> bool:
        """Whether A comes first: the larger volume, else the centre behind along the axis where they differ most."""
        third = real(1.0 / 3.0)
        volume_a = size_a[0] * size_a[0] * (size_a[1] + real(2.0) * third * size_a[0])
        volume_b = size_b[0] * size_b[0] * (size_b[1] + real(2.0) * third * size_b[0])
        if volume_a != volume_b:
            return volume_a > volume_b
        ahead = d_W[0]
        if wp.abs(d_W[1]) > wp.abs(ahead):
            ahead = d_W[1]
        if wp.abs(d_W[2]) > wp.abs(ahead):
            ahead = d_W[2]
        return ahead >= real(0.0)

    @wp.func
    def nearest(u: vec3, v: vec3, d: vec3, l_a: real, l_b: real, sine_squared: real):
        """Coordinates s, t of the nearest points p_A + s u, p_B + t v (Ericson 2005, section 5.1.9)."""
        c = wp.dot(u, v)
        du, dv = wp.dot(u, d), wp.dot(v, d)
        s = real(0.0)
        if sine_squared > real(parallel):
            s = wp.clamp(wp.dot(wp.cross(v, wp.cross(u, v)), d) / sine_squared, -l_a, l_a)
        t = c * s - dv
        if wp.abs(t) > l_b:
            t = wp.clamp(t, -l_b, l_b)
            s = wp.clamp(du + c * t, -l_a, l_a)
        return s, t

    @wp.func
    def across(size_a: vec3, R_WA: mat33, size_b: vec3, R_WB: mat33, u: vec3, v: vec3, d: vec3, sine_squared: real) -> vec3:
        """Normal where the segments meet."""
        if sine_squared > real(min_sine_squared):
            return wp.normalize(wp.cross(u, v))
        if is_first(size_a, size_b, d):
            return axis_of(R_WA, 0)
        return -axis_of(R_WB, 0)

    @wp.func
    def direction(u: vec3, v: vec3, d: vec3, l_a: real, l_b: real, s: real, t: real, apart: vec3, n: vec3) -> vec3:
        """Normal where the segments nearly meet: of n, which is across both, and of `apart` without what rounding gives it
        along a segment beside whose inside it is, the one along which they part more."""
        x = wp.where(wp.dot(n, apart) < real(0.0), -n, n)
        m = wp.normalize(apart)
        if wp.abs(s) < l_a:
            m -= wp.dot(m, u) * u
        if wp.abs(t) < l_b:
            m -= wp.dot(m, v) * v
        if wp.length_sq(m) < real(0.25):
            return x
        m = wp.normalize(m)
        parted = wp.dot(m, d) - l_a * wp.abs(wp.dot(m, u)) - l_b * wp.abs(wp.dot(m, v))
        if parted < wp.dot(x, d) - l_a * wp.abs(wp.dot(x, u)) - l_b * wp.abs(wp.dot(x, v)):
            return x
        return m

    @wp.func
    def ends(
        size_a: vec3, p_WA: vec3, u: vec3, size_b: vec3, v: vec3, d: vec3, s: real, t: real, n: vec3, margin: real,
        out: PointBuffer, w: int, base: int,
    ) -> int:  # fmt: skip
        """Points at the two ends of the overlap; how many, -1 where the capsules do not lie along each other."""
        r = size_a[0] + size_b[0]
        m = wp.normalize(u + v)
        um, vm, dm = wp.dot(u, m), wp.dot(v, m), wp.dot(d, m)
        low = wp.max(-size_a[1] * um, dm - size_b[1] * vm)
        high = wp.min(size_a[1] * um, dm + size_b[1] * vm)
        half = real(0.5) * (high - low)
        sideways = half * wp.abs(wp.dot(v, wp.cross(n, u)))
        along = half * (wp.abs(wp.dot(n, u)) + wp.abs(wp.dot(n, v)))
        if real(2.0) * half <= real(MIN_OVERLAP) * r or sideways > real(SIDEWAYS) * r or along > real(ALONG) * r:
            return -1
        nearest_end = wp.int32(-1)
        if wp.abs(s) >= size_a[1] or wp.abs(t) >= size_b[1]:
            nearest_end = wp.where(s * um + dm + t * vm > low + high, 1, 0)
        count = wp.int32(0)
        for end in range(2):
            at = wp.where(end == 0, low, high)
            x_A = wp.where(end == nearest_end, s, at / um) * u
            apart = d + wp.where(end == nearest_end, t, (at - dm) / vm) * v - x_A
            gap = wp.dot(n, apart)
            if r - gap > -margin:
                out.p[w, base + count] = p_WA + x_A + size_a[0] * n + real(0.5) * (apart - gap * n)
                out.depth[w, base + count] = r - gap
                out.feature[w, base + count] = 1 + end
                count += 1
        return count

    @wp.func
    def collide(
        size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        r = size_a[0] + size_b[0]
        u, v = axis_of(R_WA, 2), axis_of(R_WB, 2)
        v = wp.where(wp.dot(u, v) < real(0.0), -v, v)
        d = p_WB - p_WA
        sine_squared = wp.length_sq(wp.cross(u, v))
        s, t = nearest(u, v, d, size_a[1], size_b[1], sine_squared)
        apart = d + t * v - s * u
        distance = wp.length(apart)
        if r - distance <= -margin:
            return 0, u
        n = across(size_a, R_WA, size_b, R_WB, u, v, d, sine_squared)
        length = r + size_a[1] + size_b[1]
        if distance > real(rough) * length:
            n = apart / distance
        elif distance > real(touching) * length:
            n = direction(u, v, d, size_a[1], size_b[1], s, t, apart, n)
            distance = wp.dot(n, apart)
        if sine_squared <= real(MAX_SINE * MAX_SINE):
            count = ends(size_a, p_WA, u, size_b, v, d, s, t, n, margin, out, w, base)
            if count > 0:
                return count, n
        out.p[w, base] = p_WA + s * u + size_a[0] * n
        out.depth[w, base] = r - distance
        out.feature[w, base] = 0
        return 1, n

    return collide


KIND = PairKind(name="capsule_capsule", a="capsule", b="capsule", max_points=2, make=make)
