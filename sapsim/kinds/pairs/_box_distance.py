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
    min_sine_squared = max(1.0e-12, 8.0 * R.eps)  # of two edges; below it the direction of their product is rounding
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
        """Of the two edges that reach farthest along n and -n the points nearest to the other one's line."""
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
        s_1 = wp.clamp((along_1 - cosine * along_2) / sine_squared, -pick(h_1, i), pick(h_1, i))
        s_2 = wp.clamp((cosine * along_1 - along_2) / sine_squared, -pick(h_2, j), pick(h_2, j))
        out = Nearest()
        out.x_1 = m_1 + along_axis(i, s_1)
        out.x_2 = m_2 + s_2 * r_j
        out.n = n
        out.distance = wp.dot(n, d)
        if wp.abs(s_1) >= pick(h_1, i) or wp.abs(s_2) >= pick(h_2, j):
            out.distance = real(far)  # a vertex is nearer
        out.feature = wp.where(a_first, 16 + 12 * edge_1 + edge_2, 16 + 12 * edge_2 + edge_1)
        return out

    @wp.func
    def distance(R_12: mat33, t: vec3, h_1: vec3, h_2: vec3, a_first: bool, tie: real) -> Nearest:
        """That of boxes that are apart, or touch to `tie`.  However near they are, n has no component along a face or edge."""
        best = Nearest()
        best.distance = real(far)
        corners = wp.int32(16)  # variable bounds: the loops are not unrolled, the code stays small
        for c in range(corners):
            s = vec3(signed(c & 1), signed((c >> 1) & 1), signed((c >> 2) & 1))
            here = Nearest()
            if c < 8:
                here.x_1 = wp.cw_mul(s, h_1)
                y = wp.transpose(R_12) * (here.x_1 - t)
                y_2 = wp.min(wp.max(y, -h_2), h_2)
                here.x_2 = t + R_12 * y_2
                here.distance = wp.length(y_2 - y)
                here.n = R_12 * wp.normalize(y_2 - y)
            else:
                here.x_2 = t + R_12 * wp.cw_mul(s, h_2)
                here.x_1 = wp.min(wp.max(here.x_2, -h_1), h_1)
                here.distance = wp.length(here.x_2 - here.x_1)
                here.n = wp.normalize(here.x_2 - here.x_1)
                if wp.min(wp.abs(here.x_2) - h_1) > real(0.0):
                    here.distance = real(far)  # two vertices: the other way round they have been tried
            here.feature = wp.where(a_first, c, (c + 8) % 16)
            if here.distance < best.distance:
                best = here
        pairs = wp.int32(9)
        for pair in range(pairs):
            e = along_axis(pair // 3, real(1.0))
            if wp.length_sq(wp.cross(e, column(R_12, pair % 3))) > real(min_sine_squared):
                here = edge_points(edge_normal(R_12, t, pair), R_12, t, h_1, h_2, pair, a_first)
                if here.distance > -tie and here.distance < best.distance:
                    best = here
        return best

    return SimpleNamespace(Nearest=Nearest, edge_normal=edge_normal, edge_points=edge_points, distance=distance)
