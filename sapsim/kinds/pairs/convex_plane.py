"""Convex polytope against plane: its vertices that lie below the plane (or within the margin), each with its own depth.

    nhat_AB = -z of the plane,   p = vertex,   depth = nhat_AB . (vertex - p_WB)

Of more than eight, the farthest in eight directions and the deepest (_reduce.py).  feature = 2^15 (1 + vertex).
"""

from sapsim.kinds.base import PairKind
from sapsim.kinds.convexity import NAMES
from sapsim.kinds.pairs._manifold import FIRST, FIRST_NAME, MOST
from sapsim.kinds.pairs._reduce import POINTS, make_reduce


def make_convex(R, PointBuffer, shared):
    """The device function `collide` (see `PairKind`) in the precision of R."""
    import warp as wp

    real, vec3, vec4 = R.t, R.vec3, R.vec4
    Solid, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch
    eps = R.eps
    write = make_reduce(R, PointBuffer).write

    @wp.func
    def shallowest(found: int, scratch: Scratch, row: wp.vec2i) -> int:
        best = wp.int32(0)
        for k in range(1, found):
            at = row[1] + wp.static(FIRST)
            if scratch.point[row[0], at + k][3] < scratch.point[row[0], at + best][3]:
                best = k
        return best

    @wp.func
    def collide(
        a: Solid, p_WA: vec3, b: Solid, p_WB: vec3, margin: real, hulls: Hulls, scratch: Scratch, row: wp.vec2i,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        nhat_AB_W = -vec3(b.R_WG[0, 2], b.R_WG[1, 2], b.R_WG[2, 2])
        n = wp.transpose(a.R_WG) * nhat_AB_W
        depth_centre = wp.dot(nhat_AB_W, p_WA - p_WB)
        u = wp.where(wp.abs(n[0]) > real(0.8), vec3(real(0.0), real(1.0), real(0.0)), vec3(real(1.0), real(0.0), real(0.0)))
        u = wp.normalize(u - wp.dot(u, n) * n)
        M = wp.matrix_from_rows(u, wp.cross(n, u), n)
        hull = int(a.size[0])
        first = hulls.vertex_start[hull]
        found = wp.int32(0)
        for i in range(first, hulls.vertex_start[hull + 1]):
            q = M * hulls.vertex[w, i]
            depth = depth_centre + q[2]
            to = wp.int32(found)
            if found == wp.static(MOST):
                to = shallowest(found, scratch, row)
            if depth > -margin and (
                found < wp.static(MOST) or depth > scratch.point[row[0], row[1] + wp.static(FIRST) + to][3]
            ):
                scratch.point[row[0], row[1] + wp.static(FIRST) + to] = vec4(q[0], q[1], q[2], depth)
                scratch.name[row[0], row[1] + wp.static(FIRST_NAME) + to] = wp.static(NAMES) * (1 + i - first)
                found = wp.min(found + 1, wp.static(MOST))
        tie = real(16.0 * eps + 1.0e-6) * a.radius
        return write(found, tie, real(0.0), p_WA, a.R_WG * wp.transpose(M), scratch, row, out, w, base), nhat_AB_W

    return collide


KIND = PairKind(name="convex_plane", a="convex", b="plane", max_points=POINTS, make_convex=make_convex)
