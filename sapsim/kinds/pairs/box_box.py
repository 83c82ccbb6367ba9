"""Box against box: separating axis test over 15 axes, then a clipped face (up to 8 points) or one point of two edges.

**Order of the boxes.**  The device function first puts the two boxes in an order of their own: the larger volume first;
of equal volumes, the one whose centre is behind along the world axis on which the centres differ most.  All choices are
made in that order (first, second), and only the result is told in the caller's roles A, B: no choice depends on which
box is called A (unless the centres coincide too).

**Axes.**  With R = R_12, t = p_12 in the first box's frame, h_1 and h_2 half lengths, e_i and r_j the boxes' axes:

    faces of the first   overlap_i  = h_1i + sum_j |R_ij| h_2j - |t_i|          second: the same with R^T
    edges e_i x r_j      overlap_ij = (support of 1 + support of 2 - |t . (e_i x r_j)|) / |e_i x r_j|

The least overlap is the depth; an axis with overlap <= -margin separates and ends the test.  An edge axis counts where
the edges make an angle of at least 1e-6 (float32: 1e-3), and it wins only if its overlap is 5 % less than the best
face's and its direction differs from that face's normal by more than 2.6 degrees: closer than that, the clipped face
holds the crossing of the edges among its points.  Between the boxes the first's face is preferred, by 1e-3 of the
smallest half length where the two faces are parallel; within a box the lowest axis, to rounding.  Where the boxes are
apart but within the margin, the axis of least overlap stands for the direction of the distance; boxes that pass each
other corner by corner within the margin may then have no point.

**Features.**  A point is named by the two features that meet in it: corner of A (0..7), corner of B (8 + 0..7), or edge
of A and edge of B (16 + 12 edge_A + edge_B).  Corner: bit i is set where coordinate i is positive.  Edge along axis i:
4 i + bit of axis i+1 + 2 bit of axis i+2.  So the name depends neither on the reference face nor on the step, and a
crossing found by clipping has the name it has as an edge contact.
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.pairs._axes import make_axes
from sapsim.kinds.pairs._face_clip import make_face_clip


def make(R, PointBuffer):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    eps = R.eps
    min_sine_squared = max(1.0e-12, 8.0 * R.eps)  # of two edges; below it the direction of their product is rounding
    axes = make_axes(R)
    pick, column, along_axis, after, signed = axes.pick, axes.column, axes.along_axis, axes.after, axes.signed
    faces = make_face_clip(R, PointBuffer)
    make_face, clip = faces.make_face, faces.clip

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
                    overlap = h_1[u] * wp.abs(R_12[v, j]) + h_1[v] * wp.abs(R_12[u, j])
                    overlap += h_2[m] * wp.abs(R_12[i, n]) + h_2[n] * wp.abs(R_12[i, m])
                    overlap -= wp.abs(t[v] * R_12[u, j] - t[u] * R_12[v, j])
                    overlap /= wp.sqrt(sine_squared)
                    if overlap <= -margin:
                        return overlap, -2
                    if pair < 0 or overlap < best - tie:
                        best = overlap
                        pair = 3 * i + j
        return best, pair

    @wp.func
    def edge_normal(R_12: mat33, t: vec3, pair: int) -> vec3:
        """Unit vector along e_i x r_j that points from the first box to the second, in the first's frame."""
        n = wp.normalize(wp.cross(along_axis(pair // 3, real(1.0)), column(R_12, pair % 3)))
        return wp.where(wp.dot(n, t) < real(0.0), -n, n)

    @wp.func
    def choose(
        R_12: mat33, t: vec3, overlap_1: vec3, overlap_2: vec3, edge_overlap: real, pair: int, smallest: real, tie: real
    ):
        """The contact (0 .. 2 face of the first box, 3 .. 5 of the second, 6 edges) and the least overlap of faces."""
        k_1, k_2 = least(overlap_1, tie), least(overlap_2, tie)
        normal_2 = column(R_12, k_2)
        choice = k_1
        overlap = pick(overlap_1, k_1)
        normal = along_axis(k_1, real(1.0))
        band = tie
        if wp.abs(pick(normal_2, k_1)) > real(0.999):
            band += real(1.0e-3) * smallest
        if pick(overlap_2, k_2) < overlap - band:
            choice = 3 + k_2
            overlap = pick(overlap_2, k_2)
            normal = normal_2
        if pair >= 0 and edge_overlap < overlap - real(0.05) * wp.abs(overlap) - tie:
            if wp.abs(wp.dot(edge_normal(R_12, t, pair), normal)) < real(0.999):
                choice = 6
        return choice, overlap

    @wp.func
    def support_edge(n: vec3, i: int):
        """The edge along axis i that reaches farthest along n (box's frame): its number, and its middle over h."""
        bit_0, bit_1, bit_2 = wp.int32(n[0] >= real(0.0)), wp.int32(n[1] >= real(0.0)), wp.int32(n[2] >= real(0.0))
        middle = vec3(signed(bit_0), signed(bit_1), signed(bit_2))
        u = after(i)
        bit_u, bit_v = wp.int32(pick(n, u) >= real(0.0)), wp.int32(pick(n, after(u)) >= real(0.0))
        return 4 * i + bit_u + 2 * bit_v, middle - along_axis(i, pick(middle, i))

    @wp.func
    def edge_point(n: vec3, R_12: mat33, t: vec3, h_1: vec3, h_2: vec3, pair: int, a_first: bool):
        """The point of A's supporting edge nearest to the line of B's, in the first box's frame, and its name."""
        i, j = pair // 3, pair % 3
        edge_1, middle_1 = support_edge(n, i)
        edge_2, middle_2 = support_edge(-(wp.transpose(R_12) * n), j)
        m_1 = wp.cw_mul(middle_1, h_1)
        m_2 = t + R_12 * wp.cw_mul(middle_2, h_2)
        d = m_2 - m_1
        r_j = column(R_12, j)
        cosine = pick(r_j, i)
        along_1, along_2 = pick(d, i), wp.dot(d, r_j)
        sine_squared = wp.length_sq(r_j - along_axis(i, cosine))
        if a_first:
            s = wp.clamp((along_1 - cosine * along_2) / sine_squared, -pick(h_1, i), pick(h_1, i))
            return m_1 + along_axis(i, s), 16 + 12 * edge_1 + edge_2
        s = wp.clamp((cosine * along_1 - along_2) / sine_squared, -pick(h_2, j), pick(h_2, j))
        return m_2 + s * r_j, 16 + 12 * edge_2 + edge_1

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

        count = wp.int32(0)
        choice, face_overlap = choose(R_12, t_1, overlap_1, overlap_2, edge_overlap, pair, smallest, tie)
        if choice < 6:
            thick = real(1.0e-6) * smallest + real(4.0) * tie
            if choice < 3:
                f = make_face(choice, h_1, p_1, R_1, h_2, R_12, t_1, margin, thick, a_first)
            else:
                f = make_face(choice - 3, h_2, p_2, R_2, h_1, R_21, -t_2, margin, thick, not a_first)
            count = clip(f, out, w, base)
            # no point is left where rounding decides, or where face and edges are as good as each other
            if count > 0 or pair < 0 or edge_overlap > face_overlap + tie:
                return count, f.nhat_AB_W
        n = edge_normal(R_12, t_1, pair)
        p, feature = edge_point(n, R_12, t_1, h_1, h_2, pair, a_first)
        out.p[w, base] = p_1 + R_1 * p
        out.depth[w, base] = edge_overlap
        out.feature[w, base] = feature
        return 1, wp.where(a_first, real(1.0), real(-1.0)) * (R_1 * n)

    return collide


KIND = PairKind(name="box_box", a="box", b="box", max_points=8, make=make)
