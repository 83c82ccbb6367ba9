"""A convex shape and one triangle of a surface, a "part".

A body comes from the front of a surface, so the depth is the least over directions in which the surface has its *own*
farthest point: of the inside of a part its normal, of a ridge the directions between the normals of its two parts, of a peak
those along which all its neighbours lie lower.  A valley or a flat side has none: nothing is felt there but the parts beside
it, and a ball rolls over it without a bump.

**Face.**  Along the part's normal h has a local minimum where what of the shape reaches farthest (a face, a side or a corner:
_facing.py) lies over the part.  The points are its corners over the part, and where it crosses the border of the part's *facet*
(model/surfaces.py): what is cut off at a side within a facet goes on in the next part.

**Ridge or peak.**  In an entry of its own (collide/parts.py), the distance of the two (_gjk.py), or the descent of h
(_descent.py) where they overlap, gives a direction, which counts where it is one of the above; else it is told, with no points
(part_merge.py).  The points are those of the ridge within the face that lies across it, or along the side that runs with it;
else the nearest one.
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.pairs._clip import make_clip
from sapsim.kinds.pairs._descent import make_descent
from sapsim.kinds.pairs._facing import make_facing
from sapsim.kinds.pairs._gjk import APART, FAR, make_gjk
from sapsim.kinds.pairs._lines import make_lines
from sapsim.kinds.pairs._manifold import make_manifold
from sapsim.kinds.pairs._own_direction import make_own_direction
from sapsim.kinds.pairs._points import make_points
from sapsim.kinds.pairs._reduce import POINTS, make_reduce

STARTS = 4  # directions that are tried to each neighbour


def make_convex(R, PointBuffer, shared):
    """The device function `collide` (see `PairKind`) in the precision of R; A the convex shape, B the part."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps
    double = R.name == "float64"
    near = 1.0e-6 if double else 1.0e-2  # of the larger size: nearer, the direction of a distance is worse than by descent
    turns = 12
    Solid, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch
    support, rounding, face = shared.support, shared.rounding, shared.face
    face_of_part = shared.face_of_part
    descent = make_descent(R, of_part=True)
    Descent, width, descend = descent.Descent, descent.width, descent.descend
    nearest = make_gjk(R, of_part=True)
    Nearest, gjk = nearest.Nearest, nearest.gjk
    own = make_own_direction(R)
    points = make_points(R, PointBuffer)
    manifold = make_manifold(R)
    Limits, place, name_of = manifold.Limits, manifold.place, manifold.name_of
    clip = make_clip(R).clip
    taken = make_facing(R)
    facing, side, alone = taken.facing, taken.side, taken.alone
    meet = make_lines(R).meet
    reduce = make_reduce(R, PointBuffer, again=True).write

    @wp.func
    def find_points(
        a: Solid, b: Solid, t: vec3, M: mat33, lift: real, feature: int, limits: Limits, hulls: Hulls, w: int,
        scratch: Scratch, row: wp.vec2i,
    ):  # fmt: skip
        """Points of what of A lies over the part's face (feature -1), or over side 3 + k or corner k of it; and the name of
        that where A has no face there, -1 where it has.  M has the rows u, v, n."""
        n = vec3(M[2, 0], M[2, 1], M[2, 2])
        zero = real(0.0)
        count, normal = face(a, hulls, w, n, scratch, row, 0)
        f_a = facing(place(scratch, row, 0, count, normal, M, a.R_WG, vec3(zero, zero, rounding(a))), scratch, row)
        count, normal = face_of_part(b, hulls, w, scratch, row)
        f_b = place(scratch, row, 1, count, normal, M, b.R_WG, M * t + vec3(zero, zero, lift))
        bits = hulls.tri_bits[int(b.size[0])]
        f_b.sides = bits & 7
        f_b.corners = (bits >> 3) & 7
        reference = f_a
        other = f_b
        name = wp.int32(0)
        if feature < 0:
            reference = f_b
            other = f_a
        elif feature < 3:
            other = alone(f_b, feature, scratch, row)
            name = name_of(scratch, row, other, 0, 0)
        else:
            other = side(f_b, feature - 3, scratch, row)
            name = name_of(scratch, row, other, 0, 1)
        if feature < 0 or f_a.count > 2:
            return clip(reference, other, limits, scratch, row), -1
        found = wp.int32(0)
        if f_a.count == 2 and other.count == 2:
            near_by = real(0.005) * wp.min(a.radius, b.radius)
            found, _apart = meet(f_a, rounding(a), other, zero, near_by, limits, scratch, row)
        return found, name

    @wp.func
    def start(a: Solid, b: Solid, t: vec3, n_T: vec3, hulls: Hulls, w: int) -> Descent:
        """Where the descent begins: of the part's normal and some directions between it and those of its neighbours the one of
        least depth."""
        best = Descent()
        tries = wp.int32(wp.static(3 * STARTS + 1))  # a variable bound: not unrolled
        for i in range(tries):
            n = n_T
            edge = (i - 1) // wp.static(STARTS)
            if i == 0 or (hulls.tri_bits[int(b.size[0])] >> edge) & 1 == 1:
                if i > 0:
                    share = real(1 + (i - 1) % wp.static(STARTS)) / real(STARTS)
                    n = wp.normalize((real(1.0) - share) * n_T - share * (b.R_WG * own.beyond(b, edge, hulls, w)))
                h = width(a, b, t, n, hulls, w)
                if i == 0 or h < best.depth:
                    best.n = n
                    best.depth = h
        return best

    @wp.func
    def find_normal(a: Solid, b: Solid, t: vec3, n_T: vec3, reach: real, hulls: Hulls, w: int) -> Nearest:
        """Signed distance of the cores along the direction found from the front, and the witness on A's core."""
        smaller, larger = wp.min(a.radius, b.radius), wp.max(a.radius, b.radius)
        c = real(0.02) * smaller + real(1024.0 * eps) * larger
        found = Nearest()
        d = Descent()
        d.n = n_T
        within = reach
        descending = wp.int32(0)
        for _turn in range(wp.static(turns)):  # one place in the text that calls gjk
            shift = wp.where(descending == 1, d.depth + c, real(0.0)) * d.n
            here = gjk(a, b, t + shift, d.n, within, real(1.0e-9 if double else 4.0e-6) * larger, vec3(), hulls, w)
            if descending == 1:
                if here.state != wp.static(APART):
                    break
                found.p_A = here.p_A
                d = descend(d, here.n, a, b, t, hulls, w)
                if d.ended:
                    break
            else:
                found = here
                if here.state == wp.static(FAR) or (here.state == wp.static(APART) and here.distance > real(near) * larger):
                    return here
                descending = 1
                d = start(a, b, t, n_T, hulls, w)
                within = real(1.0e30)
        found.distance = -d.depth
        found.n = d.n
        found.state = wp.static(APART)
        return found

    @wp.func
    def collide(
        a: Solid, p_WA: vec3, b: Solid, p_WB: vec3, margin: real, hulls: Hulls, scratch: Scratch, row: wp.vec2i,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        me = int(b.size[0])
        plane = hulls.tri_plane[w, me]
        n = -(b.R_WG * vec3(plane[0], plane[1], plane[2]))
        t = p_WB - p_WA
        r = rounding(a)
        if wp.dot(n, support(a, hulls, w, n)) + r - wp.dot(n, t) - plane[3] <= -margin:
            return 0, n
        depth = real(0.0)
        p_A = vec3()
        lift = plane[3]
        feature = wp.int32(-1)
        if b.size[2] > real(0.0):
            ridge = find_normal(a, b, t, n, margin + r, hulls, w)
            depth = r - ridge.distance
            if ridge.state == wp.static(FAR) or depth <= -margin:
                return 0, vec3()
            feature = own.feature_of(b, -ridge.n, -n, hulls, w)
            if feature < 0:
                return 0, ridge.n
            n = ridge.n
            p_A = ridge.p_A + r * n
            lift = real(0.0)
        limits = points.limits_of(a, b, margin)
        M = points.frame_of(a, n)
        found, name = find_points(a, b, t, M, lift, feature, limits, hulls, w, scratch, row)
        count = reduce(found, limits.thick, real(0.0), p_WA, wp.transpose(M), scratch, row, out, w, base)
        if name < 0:
            return count, n
        for k in range(count):
            if out.depth[w, base + k] >= depth - limits.thick:
                return count, n
        # the nearest points, which no end of two lines is
        out.p[w, base + count] = p_WA + p_A
        out.depth[w, base + count] = depth
        out.feature[w, base + count] = name
        return count + 1, n

    return collide


KIND = PairKind(name="convex_surface", a="convex", b="surface", max_points=POINTS, generic=True, make_convex=make_convex)
