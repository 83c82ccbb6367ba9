"""Contact of two faces of boxes: the incident face cut to the outline of the reference face.

In the coordinates (u, v, depth) of the reference face the incident face is a parallelogram; its cut with the rectangle
|u| <= h_u, |v| <= h_v has as corners

    vertices of the parallelogram inside the rectangle, crossings of its edges with the rectangle's sides,
    corners of the rectangle inside the parallelogram,

each with the depth of the incident face there.  All is seen along the contact's normal, which may lean against the face's:
points of the incident face are moved along it to the reference face's plane.  Sides are thick: what lies beyond one by less
than `thick` counts as inside, and points nearer than twice that are one, so that faces aligned but for rounding give four
points.
"""

from types import SimpleNamespace

from sapsim.kinds.pairs._axes import make_axes


def make_face_clip(R, PointBuffer) -> SimpleNamespace:
    """Struct Face and device functions make_face and clip."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33
    axes = make_axes(R)
    pick, column, after, signed = axes.pick, axes.column, axes.after, axes.signed

    @wp.struct
    class Face:
        """The two faces in the coordinates (u, v, depth) of the reference face; u, v are the axes after its own axis k.

        p_W = o_W + M_W (u, v, depth) is the witness point on A; h_u, h_v: half lengths of the reference face; centre,
        e_1, e_2: of the incident face, e_i from the centre to the middle of a side, of length half_i; thick: thickness
        of the sides [m]; the rest: axes and sides (0 negative, 1 positive) of the two faces, for the names of features.
        """

        o_W: vec3
        M_W: mat33
        h_u: real
        h_v: real
        centre: vec3
        e_1: vec3
        e_2: vec3
        half_1: real
        half_2: real
        margin: real
        thick: real
        axis: int
        side: int
        inc_axis: int
        inc_side: int
        reference_is_a: bool

    @wp.func
    def seen(q: vec3, lean: vec3) -> vec3:
        """(u, v, depth) along the normal of a point with the depth q[2] along the face's; lean is that normal over its part
        across the face."""
        return vec3(q[0] + q[2] * lean[0], q[1] + q[2] * lean[1], q[2] * lean[2])

    @wp.func
    def make_face(
        k: int, n_r: vec3, h_r: vec3, p_r: vec3, R_r: mat33, h_i: vec3, R_ri: mat33, t: vec3, margin: real, thick: real,
        is_a: bool,
    ) -> Face:  # fmt: skip
        """The face of axis k of the box h_r, p_r, R_r, towards the box h_i whose placement in its frame is R_ri, t; the normal
        n_r from one to the other, in that frame too."""
        f = Face()
        f.margin = margin
        f.thick = thick
        f.reference_is_a = is_a
        u = after(k)
        v = after(u)
        f.axis = k
        f.side = wp.where(pick(n_r, k) < real(0.0), 0, 1)
        sign = signed(f.side)
        f.h_u = pick(h_r, u)
        f.h_v = pick(h_r, v)
        n_W = R_r * n_r
        f.o_W = p_r + sign * pick(h_r, k) * column(R_r, k)
        # the witness on A lies on the reference face, or a depth below it on the incident face
        f.M_W = wp.matrix_from_cols(column(R_r, u), column(R_r, v), wp.where(is_a, real(0.0), real(-1.0)) * n_W)
        n_i = sign * column(wp.transpose(R_ri), k)
        a = wp.int32(0)
        if wp.abs(n_i[1]) > wp.abs(n_i[0]):
            a = 1
        if wp.abs(n_i[2]) > wp.abs(pick(n_i, a)):
            a = 2
        b = after(a)
        c = after(b)
        f.inc_axis = a
        f.inc_side = wp.where(pick(n_i, a) > real(0.0), 0, 1)
        f.half_1 = pick(h_i, b)
        f.half_2 = pick(h_i, c)
        centre = t + signed(f.inc_side) * pick(h_i, a) * column(R_ri, a)
        e_1, e_2 = f.half_1 * column(R_ri, b), f.half_2 * column(R_ri, c)
        lean = vec3(pick(n_r, u), pick(n_r, v), real(1.0)) / (sign * pick(n_r, k))
        f.centre = seen(vec3(pick(centre, u), pick(centre, v), pick(h_r, k) - sign * pick(centre, k)), lean)
        f.e_1 = seen(vec3(pick(e_1, u), pick(e_1, v), -sign * pick(e_1, k)), lean)
        f.e_2 = seen(vec3(pick(e_2, u), pick(e_2, v), -sign * pick(e_2, k)), lean)
        return f

    @wp.func
    def add(q: vec3, feature: int, f: Face, out: PointBuffer, w: int, base: int, count: int) -> int:
        """Write the point q = (u, v, depth) unless it is too shallow or a double; the new number of points."""
        if q[2] <= -f.margin or count >= 8:
            return count
        p_W = f.o_W + f.M_W * q
        for k in range(count):
            apart = wp.transpose(f.M_W) * (out.p[w, base + k] - p_W)
            if apart[0] * apart[0] + apart[1] * apart[1] <= real(4.0) * f.thick * f.thick:
                return count
        out.p[w, base + count] = p_W
        out.depth[w, base + count] = q[2]
        out.feature[w, base + count] = feature
        return count + 1

    @wp.func
    def edge_pair(f: Face, reference_edge: int, incident_edge: int) -> int:
        if f.reference_is_a:
            return 16 + 12 * reference_edge + incident_edge
        return 16 + 12 * incident_edge + reference_edge

    @wp.func
    def side_edge(f: Face, line: int) -> int:
        """Edge of the reference box at a side of its face: line = 0 .. 3 is u = -h_u, +h_u, v = -h_v, +h_v."""
        u = after(f.axis)
        v = after(u)
        if line < 2:  # the edge runs along v; the axes after v are k, u
            return 4 * v + f.side + 2 * line
        return 4 * u + (line - 2) + 2 * f.side

    @wp.func
    def incident_corner(f: Face, bit_1: int, bit_2: int) -> int:
        """Corner of the incident box, where e_1, e_2 go to the sides bit_1, bit_2 (0, 1)."""
        axis_1 = after(f.inc_axis)
        return (f.inc_side << f.inc_axis) + (bit_1 << axis_1) + (bit_2 << after(axis_1))

    @wp.func
    def incident_edge(f: Face, m: int) -> int:
        """Edge m of the incident face: 0, 2 along e_1 at the sides +, - of e_2; 1, 3 along e_2 at sides -, + of e_1."""
        axis_1 = after(f.inc_axis)
        if m == 0 or m == 2:
            return 4 * axis_1 + wp.int32(m == 0) + 2 * f.inc_side
        return 4 * after(axis_1) + f.inc_side + 2 * wp.int32(m == 3)

    @wp.func
    def add_edge(f: Face, m: int, q_0: vec3, q_1: vec3, out: PointBuffer, w: int, base: int, count: int) -> int:
        """Points of edge m, from q_0 to q_1: q_0 or where the edge enters the rectangle, and where it leaves it."""
        t_0, t_1 = real(0.0), real(1.0)
        enters, leaves = wp.int32(-1), wp.int32(-1)
        for line in range(4):
            sign = real(2 * (line & 1) - 1)
            if line < 2:
                d_0, d_1 = sign * q_0[0] - f.h_u, sign * q_1[0] - f.h_u
            else:
                d_0, d_1 = sign * q_0[1] - f.h_v, sign * q_1[1] - f.h_v
            if d_0 > f.thick:
                if d_1 > f.thick:
                    return count
                t = d_0 / (d_0 - d_1)
                if enters < 0 or t > t_0:
                    t_0 = wp.min(t, real(1.0))
                    enters = line
            elif d_1 > f.thick:
                t = d_0 / (d_0 - d_1)
                if leaves < 0 or t < t_1:
                    t_1 = wp.max(t, real(0.0))
                    leaves = line
        if t_0 > t_1:
            return count
        n = count
        if enters < 0:
            feature = incident_corner(f, wp.int32(m == 0 or m == 3), wp.int32(m < 2))
            n = add(q_0, feature + wp.where(f.reference_is_a, 8, 0), f, out, w, base, n)
        else:
            feature = edge_pair(f, side_edge(f, enters), incident_edge(f, m))
            n = add(q_0 + t_0 * (q_1 - q_0), feature, f, out, w, base, n)
        if leaves >= 0:
            feature = edge_pair(f, side_edge(f, leaves), incident_edge(f, m))
            n = add(q_0 + t_1 * (q_1 - q_0), feature, f, out, w, base, n)
        return n

    @wp.func
    def add_corners(f: Face, out: PointBuffer, w: int, base: int, count: int) -> int:
        """Corners of the reference face inside the incident face, at its depth there: q = centre + a e_1 + b e_2."""
        inverse = real(1.0) / (f.e_1[0] * f.e_2[1] - f.e_1[1] * f.e_2[0])  # the faces are never perpendicular
        limit_a = real(1.0) + f.thick / f.half_1
        limit_b = real(1.0) + f.thick / f.half_2
        u = after(f.axis)
        n = count
        for corner in range(4):
            bit_u, bit_v = corner & 1, corner >> 1
            x = signed(bit_u) * f.h_u - f.centre[0]
            y = signed(bit_v) * f.h_v - f.centre[1]
            a = (x * f.e_2[1] - y * f.e_2[0]) * inverse
            b = (y * f.e_1[0] - x * f.e_1[1]) * inverse
            if wp.abs(a) <= limit_a and wp.abs(b) <= limit_b:
                q = f.centre + vec3(x, y, a * f.e_1[2] + b * f.e_2[2])
                feature = (f.side << f.axis) + (bit_u << u) + (bit_v << after(u))
                n = add(q, feature + wp.where(f.reference_is_a, 0, 8), f, out, w, base, n)
        return n

    @wp.func
    def clip(f: Face, out: PointBuffer, w: int, base: int) -> int:
        """All points of the face contact; how many."""
        v_0, v_1 = f.centre + f.e_1 + f.e_2, f.centre - f.e_1 + f.e_2
        v_2, v_3 = f.centre - f.e_1 - f.e_2, f.centre + f.e_1 - f.e_2
        n = wp.int32(0)
        # one statement each: a tuple assignment would make q_0 another name of v_0
        q_0 = v_0
        q_1 = v_1
        edges = wp.int32(4)  # a variable bound: the loop is not unrolled, the code stays small
        for m in range(edges):
            n = add_edge(f, m, q_0, q_1, out, w, base, n)
            q_0 = q_1
            q_1 = wp.where(m == 0, v_2, wp.where(m == 1, v_3, v_0))
        return add_corners(f, out, w, base, n)

    return SimpleNamespace(Face=Face, make_face=make_face, clip=clip)
