"""Contact of two lines that run alike: of a polygon the side that faces the other shape most, of a segment itself.

The lines lie on surfaces that curve away on both sides of them, with radii rho_A, rho_B (zero of an edge of a polygon).  Where
they part sideways by x, the surfaces meet between them, at x rho_A / rho from A's line, rho = rho_A + rho_B, and are

    depth = z_A - z_B - x^2 / (2 rho)

deep there: so lying cylinders that cross at a few degrees touch in two points as long as both ends of their overlap do.
"""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import CORNERS, NAMES, make_convexity
from sapsim.kinds.pairs._manifold import make_manifold

ALIKE = 0.05  # sine of the angle between a line and the plane across n, up to which it can be a contact
APART = -1.0e30  # depth of lines that do not meet


@cache
def make_lines(R) -> SimpleNamespace:
    """Device functions meet and facing_edge."""
    import warp as wp

    real, vec3 = R.t, R.vec3
    Scratch = make_convexity(R).Scratch
    shared = make_manifold(R)
    Face, Limits, corner, after = shared.Face, shared.Limits, shared.corner, shared.after
    name_of, add = shared.name_of, shared.add
    steep = 0.5  # x over rho up to which a surface is its parabola

    @wp.func
    def facing_edge(f: Face, scratch: Scratch, row: wp.vec2i) -> int:
        """The side whose farther end reaches least far away from the other shape; -1 for a point."""
        if f.count < 2:
            return -1
        best = wp.int32(-1)
        reach = real(0.0)
        edges = wp.where(f.count == 2, 1, f.count)
        for k in range(edges):
            z = f.sense * corner(scratch, row, f, k)[2]
            z = wp.min(z, f.sense * corner(scratch, row, f, after(f, k))[2])
            if best < 0 or z > reach:
                reach = z
                best = k
        return best

    @wp.func
    def end_name(f: Face, k: int, is_end: bool, is_start: bool, scratch: Scratch, row: wp.vec2i) -> int:
        """Of the place on line k: its last or first corner, or the line itself."""
        if is_end:
            return name_of(scratch, row, f, after(f, k), 0)
        if is_start:
            return name_of(scratch, row, f, k, 0)
        return name_of(scratch, row, f, k, 1)

    @wp.func
    def curvature(f: Face, k: int, t: real, scratch: Scratch, row: wp.vec2i) -> real:
        """The radius about the place t (0 .. 1) on line k; what rounds all of the shape is not in it."""
        at = row[1] + wp.static(CORNERS) * f.turned
        return (real(1.0) - t) * scratch.point[row[0], at + k][3] + t * scratch.point[row[0], at + after(f, k)][3]

    @wp.func
    def sideways(p: vec3, q: vec3, side: vec3, rho_a: real, rho_b: real, offset: real):
        """(place on A's surface, depth) of the points p, q of the lines that part along `side`; (p, APART): too far."""
        x = wp.dot(q - p, side)
        rho = rho_a + rho_b
        curved = rho > real(2.0) * offset
        if wp.abs(x) > wp.where(curved, real(steep) * rho, offset):
            return p, real(APART)
        if wp.abs(x) <= offset:
            return p, p[2] - q[2]
        y = x * rho_a / rho
        lower = (x * x - offset * offset) / (real(2.0) * rho)
        return vec3(p[0] + y * side[0], p[1] + y * side[1], p[2] - lower * rho_a / rho), p[2] - q[2] - lower

    @wp.func
    def meet(
        a: Face, rounding_a: real, b: Face, rounding_b: real, offset: real, limits: Limits, scratch: Scratch, row: wp.vec2i
    ):
        """Points at the two ends of the lines' overlap where both lie across n, but for ends that are too shallow; none where
        they part too far.  Up to `offset` they count as if they did not part.  How many, and how far they part."""
        k_a, k_b = facing_edge(a, scratch, row), facing_edge(b, scratch, row)
        if k_a < 0 or k_b < 0:
            return 0, real(0.0)
        a_0, a_1 = corner(scratch, row, a, k_a), corner(scratch, row, a, after(a, k_a))
        b_0, b_1 = corner(scratch, row, b, k_b), corner(scratch, row, b, after(b, k_b))
        e, d = a_1 - a_0, b_1 - b_0
        length = wp.sqrt(e[0] * e[0] + e[1] * e[1])
        across = wp.sqrt(d[0] * d[0] + d[1] * d[1])
        if wp.abs(e[2]) > real(ALIKE) * length or wp.abs(d[2]) > real(ALIKE) * across:
            return 0, real(0.0)
        if length == real(0.0) or across == real(0.0):
            return 0, real(0.0)
        x, y = e[0] / length, e[1] / length
        along = d[0] * x + d[1] * y
        if wp.abs(along) < real(0.9) * across:
            return 0, real(0.0)
        s_0 = (b_0[0] - a_0[0]) * x + (b_0[1] - a_0[1]) * y
        s_1 = s_0 + along
        low = wp.max(real(0.0), wp.min(s_0, s_1))
        high = wp.min(length, wp.max(s_0, s_1))
        if high - low <= real(4.0) * limits.thick:
            return 0, real(0.0)
        found = wp.int32(0)
        apart = real(0.0)
        side = vec3(y, -x, real(0.0))
        ends = wp.int32(2)  # a variable bound: not unrolled
        for end in range(ends):
            s = wp.where(end == 0, low, high)
            r = (s - s_0) / along
            rho_a = curvature(a, k_a, s / length, scratch, row) + rounding_a
            rho_b = curvature(b, k_b, r, scratch, row) + rounding_b
            p_a, p_b = a_0 + (s / length) * e, b_0 + r * d
            apart = wp.max(apart, wp.abs(wp.dot(p_b - p_a, side)))
            p, depth = sideways(p_a, p_b, side, rho_a, rho_b, offset)
            if depth == real(APART):
                return 0, real(0.0)
            own = end_name(a, k_a, s >= length, s <= real(0.0), scratch, row)
            other = end_name(b, k_b, r >= real(1.0), r <= real(0.0), scratch, row)
            found = add(p, depth, wp.static(NAMES) * own + other, limits, scratch, row, found)
        return found, apart

    return SimpleNamespace(meet=meet, facing_edge=facing_edge)
