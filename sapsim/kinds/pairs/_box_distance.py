"""Distance of two boxes that are apart: the nearest pair of features.

Polytopes that are apart are nearest at a vertex of one and the surface of the other, or at two edges that cross; of each pair
of directions of edges those can only be the ones that reach farthest towards the other box.  So 16 vertices and 9 pairs are
tried.
"""

from types import SimpleNamespace

from sapsim.kinds.pairs._axes import make_axes


def make_box_distance(R) -> SimpleNamespace:
    """Struct Nearest and device functions edge_normal, edge_points and distance; all in the first box's frame.

    R_12, t: placement of the second box there; h_1, h_2: half lengths; pair = 3 i + j: axes e_i, r_j of the two.
    """
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    parallel = (64.0 * R.eps) ** 2  # of two edges, the squared sine: below it one of their ends is as near
    far = 1.0e30
    axes = make_axes(R)
    pick, column, along_axis, after, signed = axes.pick, axes.column, axes.along_axis, axes.after, axes.signed

    @wp.struct
    class Nearest:
        """Points x_1, x_2 on the two boxes, the unit vector n from one to the other, and the name of their features
        (box_box.py)."""

        distance: real
        n: vec3
        x_1: vec3
        x_2: vec3
        feature: int

    @wp.func
    def edge_normal(R_12: mat33, t: vec3, pair: int) -> vec3:
        """Unit vector along e_i x r_j that points from the first box to the second."""
        n = wp.normalize(wp.cross(along_axis(pair // 3, real(1.0)), column(R_12, pair % 3)))
        return wp.where(wp.dot(n, t) < real(0.0), -n, n)

    @wp.func
    def support_edge(n: vec3, i: int):
        """The edge along axis i that reaches farthest along n (box's frame): its number, and its middle over h."""
        bit_0, bit_1, bit_2 = wp.int32(n[0] >= real(0.0)), wp.int32(n[1] >= real(0.0)), wp.int32(n[2] >= real(0.0))
        middle = vec3(signed(bit_0), signed(bit_1), signed(bit_2))
        u = after(i)
        bit_u, bit_v = wp.int32(pick(n, u) >= real(0.0)), wp.int32(pick(n, after(u)) >= real(0.0))
        return 4 * i + bit_u + 2 * bit_v, middle - along_axis(i, pick(middle, i))

    @wp.func
    def edge_points(n: vec3, R_12: mat33, t: vec3, h_1: vec3, h_2: vec3, pair: int, a_first: bool) -> Nearest:
        """Of the two edges that reach farthest along n and -n the points nearest to the other one's line.

        Seen along e_i the first edge is a point and the second a line along r_j - (e_i . r_j) e_i: of that the nearest point is
        known to rounding across both edges, however small their angle.
        """
        i, j = pair // 3, pair % 3
        edge_1, middle_1 = support_edge(n, i)
        edge_2, middle_2 = support_edge(-(wp.transpose(R_12) * n), j)
        m_1 = wp.cw_mul(middle_1, h_1)
        m_2 = t + R_12 * wp.cw_mul(middle_2, h_2)
        r_j = column(R_12, j)
        cosine = pick(r_j, i)
        slope = r_j - along_axis(i, cosine)
        s_2 = wp.clamp(wp.dot(m_1 - m_2, slope) / wp.length_sq(slope), -pick(h_2, j), pick(h_2, j))
        s_1 = wp.clamp(pick(m_2, i) + cosine * s_2, -pick(h_1, i), pick(h_1, i))
        out = Nearest()
        out.x_1 = m_1 + along_axis(i, s_1)
        out.x_2 = m_2 + s_2 * r_j
        out.n = n
        apart = out.x_2 - out.x_1
        out.distance = wp.length(apart)
        if out.distance > wp.length(slope) * wp.length(m_2 - m_1):
            out.n = wp.normalize(apart - along_axis(i, pick(apart, i)))  # here better known than that across both edges
        out.feature = wp.where(a_first, 16 + 12 * edge_1 + edge_2, 16 + 12 * edge_2 + edge_1)
        return out

    @wp.func
    def gap(here: Nearest, R_12: mat33, t: vec3, h_1: vec3, h_2: vec3) -> real:
        """By how much the distance of two points is more than that along their direction: zero for the nearest ones."""
        n_2 = wp.transpose(R_12) * here.n
        return here.distance - wp.dot(here.n, t) + wp.dot(wp.abs(here.n), h_1) + wp.dot(wp.abs(n_2), h_2)

    @wp.func
    def distance(R_12: mat33, t: vec3, h_1: vec3, h_2: vec3, a_first: bool, tie: real) -> Nearest:
        """That of boxes that are apart, or touch to `tie`.  However near they are, n has no component along a face or edge.

        Of all pairs the one that proves itself the nearest counts: lengths alone, which are known to rounding, do not tell
        directions of features that meet from each other where boxes touch.
        """
        best = Nearest()
        best.distance = real(far)
        least, shortest = real(far), real(far)
        corners = wp.int32(16)  # variable bounds: the loops are not unrolled, the code stays small
        pairs = wp.int32(25)
        for c in range(pairs):
            s = vec3(signed(c & 1), signed((c >> 1) & 1), signed((c >> 2) & 1))
            here = Nearest()
            if c < 8:
                here.x_1 = wp.cw_mul(s, h_1)
                y = wp.transpose(R_12) * (here.x_1 - t)
                y_2 = wp.min(wp.max(y, -h_2), h_2)
                here.x_2 = t + R_12 * y_2
                here.distance = wp.length(y_2 - y)
                here.n = R_12 * wp.normalize(y_2 - y)
            elif c < corners:
                here.x_2 = t + R_12 * wp.cw_mul(s, h_2)
                here.x_1 = wp.min(wp.max(here.x_2, -h_1), h_1)
                here.distance = wp.length(here.x_2 - here.x_1)
                here.n = wp.normalize(here.x_2 - here.x_1)
            else:
                pair = c - corners
                here.distance = real(far)
                if wp.length_sq(wp.cross(along_axis(pair // 3, real(1.0)), column(R_12, pair % 3))) > real(parallel):
                    here = edge_points(edge_normal(R_12, t, pair), R_12, t, h_1, h_2, pair, a_first)
            if c < corners:
                here.feature = wp.where(a_first, c, (c + 8) % 16)
            if here.distance <= shortest + tie:
                shortest = wp.min(shortest, here.distance)
                here_gap = here.distance
                if here.distance > tie:  # else they touch, and have no direction of their own
                    here_gap = gap(here, R_12, t, h_1, h_2)
                if here_gap < least - tie:
                    best = here
                    least = here_gap
        return best

    return SimpleNamespace(Nearest=Nearest, edge_normal=edge_normal, edge_points=edge_points, distance=distance)
