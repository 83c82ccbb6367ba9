"""Points of contact of two convex shapes whose normal and depth are known (convex_convex.py, convex_surface.py)."""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import make_convexity
from sapsim.kinds.pairs._clip import make_clip
from sapsim.kinds.pairs._lines import make_lines
from sapsim.kinds.pairs._manifold import make_manifold
from sapsim.kinds.pairs._reduce import POINTS, make_reduce

# Of a disc's rim samples are points, and the lowest place is between two of them: where all are in contact, the deepest is
# less than this share of the depth above it.  A body at rest does not change its points when it tips by a hair.
EVEN = 0.01
SQUARE = 0.999  # cosine between n and a face's normal from which on the face lies across n: 2.6 degrees, as in box_box


@cache
def make_points(R, PointBuffer) -> SimpleNamespace:
    """Device functions frame_of, limits_of, write."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps
    double = R.name == "float64"
    same = 1.0e-10 if double else 1.0e-6  # of the smaller: depths that are as near to each other count as one
    shared = make_convexity(R)
    Solid, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch
    rounding, face = shared.rounding, shared.face
    manifold = make_manifold(R)
    Face, Limits, place = manifold.Face, manifold.Limits, manifold.place
    clip = make_clip(R).clip
    meet = make_lines(R).meet
    reduce = make_reduce(R, PointBuffer).write

    @wp.func
    def tangent(s: Solid, n: vec3) -> vec3:
        """A unit vector across n that is fixed to the shape."""
        x = vec3(s.R_WG[0, 0], s.R_WG[1, 0], s.R_WG[2, 0])
        if wp.abs(wp.dot(x, n)) > real(0.8):
            x = vec3(s.R_WG[0, 1], s.R_WG[1, 1], s.R_WG[2, 1])
        return wp.normalize(x - wp.dot(x, n) * n)

    @wp.func
    def find_points(
        a: Solid, b: Solid, t: vec3, M: mat33, limits: Limits, hulls: Hulls, w: int, scratch: Scratch, row: wp.vec2i
    ):
        """Points where the two faces meet, in the coordinates of _manifold.py about A's origin; M has the rows u, v, n: how
        many, how far across n their two witnesses part at most, and within what share the depths of the deepest are even."""
        n = vec3(M[2, 0], M[2, 1], M[2, 2])
        zero = real(0.0)
        f_a = Face()
        f_b = Face()
        faces = wp.int32(2)  # one place in the text that calls face and place
        for turned in range(faces):
            s = a
            m = n
            p = vec3(zero, zero, rounding(a))
            if turned == 1:
                s = b
                m = -n
                p = M * t - vec3(zero, zero, rounding(b))
            count, normal = face(s, hulls, w, m, scratch, row, turned)
            f = place(scratch, row, turned, count, normal, M, s.R_WG, p)
            if turned == 0:
                f_a = f
            else:
                f_b = f
        if wp.max(f_a.square, f_b.square) >= real(SQUARE):
            reference = f_b
            other = f_a
            if f_a.square >= f_b.square:
                reference = f_a
                other = f_b
            return clip(reference, other, limits, scratch, row), zero, real(EVEN)
        found, across = meet(f_a, rounding(a), f_b, rounding(b), real(0.005) * wp.min(a.radius, b.radius), limits, scratch, row)
        return found, across, zero

    @wp.func
    def add_nearest(
        p_W: vec3, n: vec3, depth: real, exact: bool, count: int, out: PointBuffer, w: int, base: int, near_by: real,
        tolerance: real,
    ) -> int:  # fmt: skip
        """The deepest point gets the depth that was found; the nearest points are one more where none is as deep but for
        `tolerance`, in the place of the shallowest where all are taken.  Apart, a point that is `near_by` is moved there
        instead, and they are one more where the others are not `exact`, so that the gap is that of two witnesses."""
        shallowest = wp.int32(0)
        deepest = wp.int32(0)
        for k in range(1, count):
            if out.depth[w, base + k] > out.depth[w, base + deepest]:
                deepest = k
            if out.depth[w, base + k] < out.depth[w, base + shallowest]:
                shallowest = k
        to = wp.where(count < wp.static(POINTS), count, shallowest)
        added = wp.int32(1)
        if depth < real(0.0):
            for k in range(count):
                if wp.length(wp.cross(n, out.p[w, base + k] - p_W)) <= near_by and added == 1:
                    to = k
                    added = 0
        for k in range(count):
            # none is nearer: what is beside a face by the thickness of its sides may seem so
            if depth < real(0.0) and added == 1 and out.depth[w, base + k] > depth + tolerance:
                to = k
                added = 0
            out.depth[w, base + k] = wp.min(out.depth[w, base + k], depth)
        if added == 1 and count > 0 and (depth >= real(0.0) or exact):
            if out.depth[w, base + deepest] >= depth - tolerance:
                out.depth[w, base + deepest] = depth
                return count
        out.p[w, base + to] = p_W
        out.depth[w, base + to] = depth
        if added == 1:
            out.feature[w, base + to] = 0
        return wp.min(count + added, wp.static(POINTS))

    @wp.func
    def frame_of(a: Solid, n: vec3) -> mat33:
        """Rows u, v, n of axes that turn with A."""
        u = tangent(a, n)
        return wp.matrix_from_rows(u, wp.cross(n, u), n)

    @wp.func
    def limits_of(a: Solid, b: Solid, margin: real) -> Limits:
        limits = Limits()
        limits.margin = margin
        limits.thick = real(1.0e-6) * wp.min(a.radius, b.radius) + real(64.0 * eps) * wp.max(a.radius, b.radius)
        return limits

    @wp.func
    def write(
        a: Solid, p_WA: vec3, b: Solid, t: vec3, n: vec3, depth: real, p_A: vec3, margin: real, hulls: Hulls,
        scratch: Scratch, row: wp.vec2i, out: PointBuffer, w: int, base: int,
    ) -> int:  # fmt: skip
        """Writes the points of shapes of a known normal n, depth, and nearest point p_A of A's surface from its origin, B's
        origin being at t from A's; how many."""
        smaller, larger = wp.min(a.radius, b.radius), wp.max(a.radius, b.radius)
        tie = real(16.0 * eps) * larger
        limits = limits_of(a, b, margin)
        M = frame_of(a, n)
        points, across, even = find_points(a, b, t, M, limits, hulls, w, scratch, row)
        count = reduce(points, limits.thick, even, p_WA, wp.transpose(M), scratch, row, out, w, base)
        tolerance = real(same) * smaller + tie
        if depth >= real(0.0):
            tolerance = real(1.0e-6 if double else 4.0e-5) * smaller + even * depth + tie
        exact = across <= limits.thick
        near_by = real(1.0e-4) * smaller
        return add_nearest(p_WA + p_A, n, depth, exact, count, out, w, base, near_by, tolerance)

    return SimpleNamespace(frame_of=frame_of, limits_of=limits_of, write=write)
