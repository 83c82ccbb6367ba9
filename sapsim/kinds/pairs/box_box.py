"""Box against box: separating axis test over 15 axes, then a clipped face (up to 8 points) or one point of two edges.

**Order of the boxes.**  The device function first puts the two boxes in an order of their own: the larger volume first;
of equal volumes, the one whose centre is behind along the world axis on which the centres differ most.  All choices are
made in that order (first, second), and only the result is told in the caller's roles A, B: no choice depends on which
box is called A (unless the centres coincide too).

**Axes.**  With R = R_12, t = p_12 in the first box's frame, h_1 and h_2 half lengths, e_i and r_j the boxes' axes:

    faces of the first   overlap_i  = h_1i + sum_j |R_ij| h_2j - |t_i|          second: the same with R^T
    edges e_i x r_j      overlap_ij = (support of 1 + support of 2 - |t . (e_i x r_j)|) / |e_i x r_j|

The least overlap is the depth and its axis the normal; an axis with overlap <= -margin separates and ends the test.  An edge
axis counts where the edges make an angle of at least 1e-6 (float32: 1e-3).  Of overlaps that are equal but for rounding a face
comes before edges, the first box's face before the second's, and within a box the lowest axis.

Boxes that are apart but within the margin: the distance, and its direction, of the nearest features (_box_distance.py), which
the axis of least overlap only bounds from below.

**Points.**  Where a face lies across the normal to 2.6 degrees it is the reference, the first box's where both boxes have one.
The other box's face is clipped to it, both seen along the normal, so the crossings of edges are among the points.  Else two
edges meet in one point.  Where the points of faces lack the deepest, or boxes are apart, the nearest points are one more, in
the place of a point of the same name or nearer than 1e-4 of the smallest half length.

**Features.**  A point is named by the two features that meet in it: corner of A (0..7), corner of B (8 + 0..7), or edge
of A and edge of B (16 + 12 edge_A + edge_B).  Corner: bit i is set where coordinate i is positive.  Edge along axis i:
4 i + bit of axis i+1 + 2 bit of axis i+2.  So the name depends neither on the reference face nor on the step, and a
crossing found by clipping has the name it has as an edge contact.
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.pairs._axes import make_axes
from sapsim.kinds.pairs._box_distance import make_box_distance
from sapsim.kinds.pairs._face_clip import make_face_clip

SQUARE = 0.999  # cosine between the normal and a face's from which on the face lies across it: 2.6 degrees


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps
    min_sine_squared = max(1.0e-12, 8.0 * R.eps)  # of two edges; below it the direction of their product is rounding
    axes = make_axes(R)
    pick, along_axis, largest = axes.pick, axes.along_axis, axes.largest
    faces = make_face_clip(R, PointBuffer)
    make_face, clip = faces.make_face, faces.clip
    near = make_box_distance(R)
    Nearest, edge_normal, edge_points, distance = near.Nearest, near.edge_normal, near.edge_points, near.distance

    @wp.func
    def is_first(size_a: vec3, size_b: vec3, p_AB_W: vec3) -> bool:
        """Whether A is the first of the two boxes (module docstring)."""
        volume_a = size_a[0] * size_a[1] * size_a[2]
        volume_b = size_b[0] * size_b[1] * size_b[2]
        if volume_a != volume_b:
            return volume_a > volume_b
        ahead = p_AB_W[0]
        if wp.abs(p_AB_W[1]) > wp.abs(ahead):
            ahead = p_AB_W[1]
        if wp.abs(p_AB_W[2]) > wp.abs(ahead):
            ahead = p_AB_W[2]
        return ahead >= real(0.0)

    @wp.func
    def magnitudes(M: mat33) -> mat33:
        return mat33(
            wp.abs(M[0, 0]), wp.abs(M[0, 1]), wp.abs(M[0, 2]),
            wp.abs(M[1, 0]), wp.abs(M[1, 1]), wp.abs(M[1, 2]),
            wp.abs(M[2, 0]), wp.abs(M[2, 1]), wp.abs(M[2, 2]),
        )  # fmt: skip

    @wp.func
    def least(overlap: vec3, tie: real) -> int:
        """Axis of the least overlap; the lowest of those within `tie`."""
        k = wp.int32(0)
        if overlap[1] < overlap[0] - tie:
            k = 1
        if overlap[2] < pick(overlap, k) - tie:
            k = 2
        return k

    @wp.func
    def edge_axes(R_12: mat33, t: vec3, h_1: vec3, h_2: vec3, margin: real, tie: real):
        """Least overlap over the edge axes, and its pair 3 i + j; -1: there is none, -2: an axis separates."""
        best = real(0.0)
        pair = wp.int32(-1)
        for i in range(3):
            for j in range(3):
                u, v = (i + 1) % 3, (i + 2) % 3
                m, n = (j + 1) % 3, (j + 2) % 3
                # e_i x r_j has the components -R_vj, R_uj along u, v
                sine_squared = R_12[u, j] * R_12[u, j] + R_12[v, j] * R_12[v, j]
                if sine_squared > real(min_sine_squared):
                    # the normal first, of length 1: of edges that are nearly parallel its products with the axes are known
                    inverse = real(1.0) / wp.sqrt(sine_squared)
                    a_u, a_v = -inverse * R_12[v, j], inverse * R_12[u, j]
                    overlap = h_1[u] * wp.abs(a_u) + h_1[v] * wp.abs(a_v) - wp.abs(t[u] * a_u + t[v] * a_v)
                    overlap += h_2[m] * wp.abs(a_u * R_12[u, m] + a_v * R_12[v, m])
                    overlap += h_2[n] * wp.abs(a_u * R_12[u, n] + a_v * R_12[v, n])
                    if overlap <= -margin:
                        return overlap, -2
                    if pair < 0 or overlap < best - tie:
                        best = overlap
                        pair = 3 * i + j
        return best, pair

    @wp.func
    def facing(k: int, t: vec3) -> vec3:
        """The outward normal of the face of axis k that is turned towards t."""
        return along_axis(k, wp.where(pick(t, k) < real(0.0), real(-1.0), real(1.0)))

    @wp.func
    def least_axis(
        R_12: mat33, t_1: vec3, t_2: vec3, overlap_1: vec3, overlap_2: vec3, edge_overlap: real, pair: int, tie: real
    ):
        """The normal in the first box's frame, the overlap along it, and whether edges gave it."""
        k_1, k_2 = least(overlap_1, tie), least(overlap_2, tie)
        n = facing(k_1, t_1)
        depth = pick(overlap_1, k_1)
        if pick(overlap_2, k_2) < depth - tie:
            n = R_12 * facing(k_2, t_2)
            depth = pick(overlap_2, k_2)
        if pair >= 0 and edge_overlap < depth - tie:
            return edge_normal(R_12, t_1, pair), edge_overlap, True
        return n, depth, False

    @wp.func
    def face_points(
        n: vec3, h_1: vec3, p_1: vec3, R_1: mat33, h_2: vec3, p_2: vec3, R_2: mat33, R_12: mat33, t_1: vec3, margin: real,
        thick: real, a_first: bool, out: PointBuffer, w: int, base: int,
    ) -> int:  # fmt: skip
        """The points of a face that lies across n (first box's frame) and the other box's; how many, 0 where none does."""
        R_21 = wp.transpose(R_12)
        n_2 = -(R_21 * n)
        k_1, k_2 = largest(n), largest(n_2)
        if wp.abs(pick(n, k_1)) >= real(SQUARE):
            f = make_face(k_1, n, h_1, p_1, R_1, h_2, R_12, t_1, margin, thick, a_first)
            return clip(f, out, w, base)
        if wp.abs(pick(n_2, k_2)) >= real(SQUARE):
            f = make_face(k_2, n_2, h_2, p_2, R_2, h_1, R_21, -(R_21 * t_1), margin, thick, not a_first)
            return clip(f, out, w, base)
        return 0

    @wp.func
    def add_nearest(
        p_W: vec3, n_W: vec3, depth: real, feature: int, count: int, near_by: real, out: PointBuffer, w: int, base: int
    ) -> int:
        """The nearest points in the place of one of the same name or near them, else one more, in that of the shallowest where
        all eight are taken; the new number of points."""
        shallowest = wp.int32(0)
        to = wp.int32(-1)
        for k in range(count):
            if out.depth[w, base + k] < out.depth[w, base + shallowest]:
                shallowest = k
            if out.feature[w, base + k] == feature:
                to = k
        for k in range(count):
            if to < 0 and wp.length(wp.cross(n_W, out.p[w, base + k] - p_W)) <= near_by:
                to = k
        if to < 0:
            to = wp.where(count < 8, count, shallowest)
            out.feature[w, base + to] = feature
        out.p[w, base + to] = p_W
        out.depth[w, base + to] = depth
        return wp.max(count, to + 1)

    @wp.func
    def deepen(depth: real, tolerance: real, count: int, out: PointBuffer, w: int, base: int) -> bool:
        """Whether a point is as deep, but for `tolerance`; the deepest is made so to rounding.  None is deeper: what is
        beside a face by the thickness of its sides may seem so."""
        deepest = wp.int32(0)
        for k in range(count):
            out.depth[w, base + k] = wp.min(out.depth[w, base + k], depth)
            if out.depth[w, base + k] > out.depth[w, base + deepest]:
                deepest = k
        if count > 0 and out.depth[w, base + deepest] >= depth - tolerance:
            out.depth[w, base + deepest] = depth
            return True
        return False

    @wp.func
    def collide(
        size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        a_first = is_first(size_a, size_b, p_WB - p_WA)
        h_1 = wp.where(a_first, size_a, size_b)
        h_2 = wp.where(a_first, size_b, size_a)
        p_1 = wp.where(a_first, p_WA, p_WB)
        p_2 = wp.where(a_first, p_WB, p_WA)
        R_1 = wp.where(a_first, R_WA, R_WB)
        R_2 = wp.where(a_first, R_WB, R_WA)
        none = vec3(real(0.0), real(0.0), real(1.0))
        t_1 = wp.transpose(R_1) * (p_2 - p_1)
        R_12 = wp.transpose(R_1) * R_2
        size_12 = magnitudes(R_12)
        overlap_1 = h_1 + size_12 * h_2 - wp.abs(t_1)
        if wp.min(overlap_1) <= -margin:
            return 0, none
        R_21 = wp.transpose(R_12)
        t_2 = R_21 * t_1
        overlap_2 = h_2 + wp.transpose(size_12) * h_1 - wp.abs(t_2)
        if wp.min(overlap_2) <= -margin:
            return 0, none
        smallest = wp.min(wp.min(h_1), wp.min(h_2))
        tie = real(16.0 * eps) * wp.max(wp.max(h_1), wp.max(h_2))
        edge_overlap, pair = edge_axes(R_12, t_1, h_1, h_2, margin, tie)
        if pair == -2:
            return 0, none

        n, depth, edges = least_axis(R_12, t_1, t_2, overlap_1, overlap_2, edge_overlap, pair, tie)
        met = Nearest()
        apart = depth < -tie  # nearer they touch, and the axis is as good
        if apart:
            met = distance(R_12, t_1, h_1, h_2, a_first, tie)
            if met.distance >= margin:
                return 0, none
            if met.distance > tie:
                n = met.n
                depth = -met.distance
        thick = real(1.0e-6) * smallest + real(4.0) * tie
        count = face_points(n, h_1, p_1, R_1, h_2, p_2, R_2, R_12, t_1, margin, thick, a_first, out, w, base)
        # points nearer than twice `thick` were one: the deepest may be the one left out
        if not apart and deepen(depth, real(4.0) * thick, count, out, w, base):
            return count, wp.where(a_first, real(1.0), real(-1.0)) * (R_1 * n)
        if not apart:
            # no point is left where rounding decides, or where face and edges are as good as each other
            if pair < 0 or not (edges or (count == 0 and edge_overlap <= depth + tie)):
                return count, wp.where(a_first, real(1.0), real(-1.0)) * (R_1 * n)
            n = edge_normal(R_12, t_1, pair)
            depth = edge_overlap
            met = edge_points(n, R_12, t_1, h_1, h_2, pair, a_first)
        n_W = R_1 * n
        p_W = p_1 + R_1 * wp.where(a_first, met.x_1, met.x_2)
        count = add_nearest(p_W, n_W, depth, met.feature, count, real(1.0e-4) * smallest, out, w, base)
        return count, wp.where(a_first, real(1.0), real(-1.0)) * n_W

    return collide


KIND = PairKind(name="box_box", a="box", b="box", max_points=8, make=make)
