"""Box against capsule: the capsule's segment against the box, up to two points where it lies along a face or an edge.

In the box's frame, with x(t) = c + t u, |t| <= l, the segment and q = clamp(x, -h, h):

**Normal.**  The squared distance sum_i e_i^2, e = x - q, is convex in t, and its slope u . e is piecewise linear; the
nearest point t* is its zero, found between its six kinks.  Then nhat_AB = e / |e| and depth = r - |e|.  Where the segment
meets the box (to rounding), nhat_AB is the axis of least overlap, and depth = r + overlap:

    faces        h_i + l |u_i| - |c_i|
    e_i x u      (sum_j h_j |n_j|) - |n . c|,   n = e_i x u / |e_i x u|

Where it nearly meets the box, so that the direction of e is mostly rounding, the axis counts unless segment and box part more
along e without its part along the segment.

Of overlaps that are equal but for rounding the first in this order counts; a coordinate 0 counts as positive.

**Points.**  They are taken on the face k of the largest |n_k| (the lowest k of those within 0.1 %), of its side n_k > 0 or
< 0.  The line through x(t) along nhat meets that face's plane in y(t), which is linear in t.  The part of the segment whose
y lies on the face, or at most 1 % of r beside it, has its ends t_0 <= t_1; with q(t) = y(t) clamped to the face:

    p = q(t),   depth(t) = r - nhat . (x(t) - q(t))      at t_0 and t_1, each where depth > -margin

No depth(t) exceeds that of the nearest points, since nhat separates box and segment, and the larger of the two equals it,
but for rounding, except at a corner: there, where it is less by more than 1e-4 r, its point is replaced by the nearest.  The
larger depth is always that of the nearest points.  Where the segment crosses an edge the other
end is shallower; where it lies along an edge or a face, both ends count, and 1 % of r is what it may part from an edge.
Points nearer than 1 % of r are one, the deeper.  The witness on the capsule, p - depth nhat, lies inside it where it is
tilted against the face.

**Apart.**  There (depth < 0) the gap is that of two witnesses: the ends are compared with the nearest points to rounding, not
1e-4 r, and where the deeper end is beside the face or edge, not above it, the nearest points are a third contact point.

feature = 0, 1 for the point at t_0, t_1: towards the negative, the positive end of the capsule; 2 at a corner, for one
point made of two that are equally deep to 1 % of r, and for the third.
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.pairs._axes import make_axes

BESIDE = 0.01  # in r: how far beside a face a point may lie
CORNER = 1.0e-4  # in r: how much shallower than the nearest points both ends are at a corner
SAME = 0.01  # in r: points nearer than that are one


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps
    touching = 16.0 * eps
    rough = 1.0e-6 if R.name == "float64" else 2.0e-2  # of the lengths: nearer, the direction from point to point is rounding
    exact, above = (1.0e-10, 1.0e-5) if R.name == "float64" else (1.0e-6, 1.0e-3)  # in r, of depths, and sideways: the root
    min_sine_squared = max(1.0e-12, 8.0 * eps)  # of u and an edge; below it the direction of their product is rounding
    axes = make_axes(R)
    pick, along_axis, after = axes.pick, axes.along_axis, axes.after

    @wp.func
    def beyond(x: vec3, h: vec3) -> vec3:
        """From the nearest point of the box to x."""
        return x - wp.min(wp.max(x, -h), h)

    @wp.func
    def nearest(c: vec3, u: vec3, l: real, h: vec3) -> real:
        """t*; of a whole stretch of nearest points its upper end."""
        low, high = -l, l
        slope_low, slope_high = wp.dot(u, beyond(c + low * u, h)), wp.dot(u, beyond(c + high * u, h))
        if slope_low >= real(0.0) and slope_high > real(0.0):
            return low
        if slope_high <= real(0.0):
            return high
        for i in range(3):
            for side in range(2):
                # a kink at infinity, where u_i = 0, is none
                t = (real(2 * side - 1) * h[i] - c[i]) / u[i]
                if t > low and t < high:
                    slope = wp.dot(u, beyond(c + t * u, h))
                    if slope <= real(0.0):
                        low = t
                        slope_low = slope
                    else:
                        high = t
                        slope_high = slope
        return low - slope_low * (high - low) / (slope_high - slope_low)

    @wp.func
    def toward(x: real) -> real:
        return wp.where(x < real(0.0), real(-1.0), real(1.0))

    @wp.func
    def least_overlap(c: vec3, u: vec3, l: real, h: vec3, tie: real):
        """Normal and overlap of a segment that meets the box."""
        best = h[0] + l * wp.abs(u[0]) - wp.abs(c[0])
        n = along_axis(0, toward(c[0]))
        for k in range(1, 3):
            overlap = h[k] + l * wp.abs(u[k]) - wp.abs(c[k])
            if overlap < best - tie:
                best = overlap
                n = along_axis(k, toward(c[k]))
        for i in range(3):
            across = wp.cross(along_axis(i, real(1.0)), u)
            sine_squared = wp.length_sq(across)
            if sine_squared > real(min_sine_squared):
                a = across / wp.sqrt(sine_squared)
                side = wp.dot(a, c)
                overlap = h[0] * wp.abs(a[0]) + h[1] * wp.abs(a[1]) + h[2] * wp.abs(a[2]) - wp.abs(side)
                if overlap < best - tie:
                    best = overlap
                    n = toward(side) * a
        return n, best

    @wp.func
    def across_segment(n: vec3, u: vec3, x: vec3, h: vec3) -> vec3:
        """n from a point of the box to the point x of the segment, without what rounding gives it along the segment: of n the
        components that the box leaves it, an edge two, a corner three."""
        v = vec3(
            wp.where(wp.abs(x[0]) > h[0], u[0], real(0.0)),
            wp.where(wp.abs(x[1]) > h[1], u[1], real(0.0)),
            wp.where(wp.abs(x[2]) > h[2], u[2], real(0.0)),
        )
        square = wp.length_sq(v)
        if square <= real(min_sine_squared):
            return n
        return wp.normalize(n - (wp.dot(n, u) / square) * v)

    @wp.func
    def stretch(y_0: vec3, slope: vec3, l: real, h: vec3, k: int, beside: real):
        """t_0, t_1 of the part of y_0 + t slope, |t| <= l, on the face k or beside it; t_0 > t_1 where there is none."""
        t_0, t_1 = -l, l
        j = after(k)
        for line in range(4):
            if line == 2:
                j = after(j)
            sign = real(2 * (line & 1) - 1)
            d_0 = sign * (pick(y_0, j) + t_0 * pick(slope, j)) - pick(h, j) - beside
            d_1 = sign * (pick(y_0, j) + t_1 * pick(slope, j)) - pick(h, j) - beside
            if d_0 > real(0.0) and d_1 > real(0.0):
                return real(1.0), real(-1.0)
            t = wp.clamp(t_0 + (t_1 - t_0) * d_0 / (d_0 - d_1), t_0, t_1)
            if d_0 > real(0.0):
                t_0 = t
            elif d_1 > real(0.0):
                t_1 = t
        return t_0, t_1

    @wp.func
    def face_of(n: vec3) -> int:
        """The axis of the largest component, the lowest of those within 0.1 %."""
        k = wp.int32(0)
        if wp.abs(n[1]) > real(1.001) * wp.abs(n[0]):
            k = 1
        if wp.abs(n[2]) > real(1.001) * wp.abs(pick(n, k)):
            k = 2
        return k

    @wp.func
    def add(p_WA: vec3, R_WA: mat33, q: vec3, depth: real, feature: int, out: PointBuffer, w: int, at: int):
        out.p[w, at] = p_WA + R_WA * q
        out.depth[w, at] = depth
        out.feature[w, at] = feature

    @wp.func
    def add_points(
        h: vec3, p_WA: vec3, R_WA: mat33, r: real, l: real, c: vec3, u: vec3, n: vec3, q: vec3, depth: real, margin: real,
        out: PointBuffer, w: int, base: int,
    ) -> int:  # fmt: skip
        """Write one or two points, given the depth and the point q of the box that is nearest; how many."""
        k = face_of(n)
        n_k, side = pick(n, k), toward(pick(n, k)) * pick(h, k)
        y_0 = c - ((pick(c, k) - side) / n_k) * n
        slope = u - (pick(u, k) / n_k) * n
        t_0, t_1 = stretch(y_0, slope, l, h, k, real(BESIDE) * r)
        q_0, q_1 = q, q
        depth_0, depth_1 = depth, depth
        name_0, name_1 = wp.int32(2), wp.int32(2)
        third = wp.int32(0)
        if t_0 <= t_1:
            q_0 = wp.min(wp.max(y_0 + t_0 * slope, -h), h)
            q_1 = wp.min(wp.max(y_0 + t_1 * slope, -h), h)
            depth_0 = r - wp.dot(n, c + t_0 * u - q_0)
            depth_1 = r - wp.dot(n, c + t_1 * u - q_1)
            name_0, name_1 = 0, 1
            apart = depth < real(0.0)
            at_corner = wp.max(depth_0, depth_1) < depth - wp.where(apart, real(exact), real(CORNER)) * r
            beside = wp.where(depth_0 >= depth_1, c + t_0 * u - q_0, c + t_1 * u - q_1)
            third = wp.where(apart and not at_corner and wp.abs(wp.dot(wp.cross(n, u), beside)) > real(above) * r, 1, 0)
            if depth_0 >= depth_1:
                depth_0 = depth
                if at_corner:
                    q_0 = q
                    name_0 = 2
            else:
                depth_1 = depth
                if at_corner:
                    q_1 = q
                    name_1 = 2
        one = wp.length(q_1 - q_0) <= real(SAME) * r
        if one and wp.abs(depth_1 - depth_0) <= real(SAME) * r:
            name_0, name_1 = 2, 2
        count = wp.int32(0)
        if depth_0 > -margin and (depth_0 >= depth_1 or not one):
            add(p_WA, R_WA, q_0, depth_0, name_0, out, w, base)
            count += 1
        if depth_1 > -margin and (depth_1 > depth_0 or not one):
            add(p_WA, R_WA, q_1, depth_1, name_1, out, w, base + count)
            count += 1
        if third == 1:
            add(p_WA, R_WA, q, depth, 2, out, w, base + wp.where(one, 0, count))
            count += wp.where(one, 0, 1)
        return count

    @wp.func
    def collide(
        size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        h, r, l = size_a, size_b[0], size_b[1]
        c = wp.transpose(R_WA) * (p_WB - p_WA)
        u = wp.transpose(R_WA) * vec3(R_WB[0, 2], R_WB[1, 2], R_WB[2, 2])
        at = nearest(c, u, l, h)
        x = c + at * u
        e = beyond(x, h)
        distance = wp.length(e)
        if r - distance <= -margin:
            return 0, vec3(real(0.0), real(0.0), real(1.0))
        tie = real(touching) * (wp.max(h) + l)
        depth = r - distance
        q = x - e
        n = e / wp.max(distance, real(eps) * tie)
        if distance <= real(rough) * (wp.max(h) + l):
            n_0, overlap = least_overlap(c, u, l, h, tie)
            n_1 = n
            if wp.abs(at) < l:
                n_1 = across_segment(n, u, x, h)
            parted = wp.dot(n_1, c) - wp.dot(wp.abs(n_1), h) - l * wp.abs(wp.dot(n_1, u))
            if distance <= tie or -overlap >= parted - tie:
                n = n_0
                depth = r + overlap
                q = x + overlap * n
            else:
                n = n_1
                depth = r - parted
        count = add_points(h, p_WA, R_WA, r, l, c, u, n, q, depth, margin, out, w, base)
        return count, R_WA * n

    return collide


KIND = PairKind(name="box_capsule", a="box", b="capsule", max_points=3, make=make)
