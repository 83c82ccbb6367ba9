"""Convex polytope: the hull of a mesh's vertices (scene/hull.py), with its coplanar triangles merged to polygons.

size = (index of the hull among hull_* arrays, radius of a ball about the origin that holds it, 0); model/hulls.py fills it.
Scene files do not name it: a `mesh` becomes one.
"""

from sapsim.kinds.base import ConvexFuncs, ShapeKind
from sapsim.kinds.convexity import CELLS, CORNERS
from sapsim.kinds.shapes._corners import make_corners


def convex(R, Hulls, Scratch) -> ConvexFuncs:
    """The face is, of those that hold the support point, the one whose normal is nearest to n.

    Of a face of more than 32 corners every second, third ... is taken.  Names: vertices, then edges.
    """
    import warp as wp

    real, vec3 = R.t, R.vec3
    on_face = 1.0e-9 + 16.0 * R.eps  # of the radius: how far the support point may lie below a face that it is on
    half = 0.5 * CELLS
    put = make_corners(R, Scratch).put

    @wp.func
    def cell_of(n: vec3) -> int:
        """The cell of a direction on the cube (model/hulls.py)."""
        axis = wp.int32(0)
        if wp.abs(n[1]) > wp.abs(n[0]):
            axis = 1
        if wp.abs(n[2]) > wp.abs(n[axis]):
            axis = 2
        side = wp.where(n[axis] < real(0.0), 1, 0)
        scale = real(half) / wp.abs(n[axis])
        i = wp.clamp(int(real(half) + scale * n[(axis + 1) % 3]), 0, wp.static(CELLS - 1))
        j = wp.clamp(int(real(half) + scale * n[(axis + 2) % 3]), 0, wp.static(CELLS - 1))
        return ((2 * axis + side) * wp.static(CELLS) + i) * wp.static(CELLS) + j

    @wp.func
    def support_vertex(hull: int, hulls: Hulls, w: int, n: vec3) -> int:
        """The first vertex, numbered among all, that reaches farthest along n; in a large hull, of the candidates there are."""
        best = hulls.vertex_start[hull]
        reach = real(-1.0e30)
        cell = hulls.cell[hull]
        if cell < 0:
            for i in range(best, hulls.vertex_start[hull + 1]):
                here = wp.dot(n, hulls.vertex[w, i])
                if here > reach:
                    reach = here
                    best = i
        else:
            cell += cell_of(n)
            for k in range(hulls.candidate_start[cell], hulls.candidate_start[cell + 1]):
                i = hulls.candidate[k]
                here = wp.dot(n, hulls.vertex[w, i])
                if here > reach:
                    reach = here
                    best = i
        return best

    @wp.func
    def support(size: vec3, hulls: Hulls, w: int, n: vec3) -> vec3:
        return hulls.vertex[w, support_vertex(int(size[0]), hulls, w, n)]

    @wp.func
    def rounding(size: vec3) -> real:
        return real(0.0)

    @wp.func
    def face(size: vec3, hulls: Hulls, w: int, n: vec3, scratch: Scratch, row: wp.vec2i, turned: int):
        hull = int(size[0])
        first = hulls.vertex_start[hull]
        vertex = support_vertex(hull, hulls, w, n)
        p = hulls.vertex[w, vertex]
        chosen = wp.int32(-1)
        cosine = real(-2.0)
        for i in range(hulls.vertex_face_start[vertex], hulls.vertex_face_start[vertex + 1]):
            f = hulls.vertex_face[i]
            normal = hulls.normal[w, f]
            below = wp.dot(normal, hulls.vertex[w, first + hulls.corner[hulls.corner_start[f]]] - p)
            if below <= real(on_face) * size[1] and wp.dot(normal, n) > cosine:
                cosine = wp.dot(normal, n)
                chosen = f
        start = hulls.corner_start[chosen]
        count = hulls.corner_start[chosen + 1] - start
        stride = (count + wp.static(CORNERS - 1)) // wp.static(CORNERS)
        taken = (count + stride - 1) // stride
        vertices = hulls.vertex_start[hull + 1] - first
        for k in range(taken):
            at = start + k * stride
            corner = hulls.corner[at]
            put(scratch, row, turned, k, hulls.vertex[w, first + corner], 1 + corner, 1 + vertices + hulls.edge[at])
        return taken, hulls.normal[w, chosen]

    return ConvexFuncs(support, rounding, face)


KIND = ShapeKind(
    name="convex",
    nparam=3,
    size=lambda p: (p[0], p[1], p[2]),
    volume=lambda p: None,
    unit_inertia=lambda p: None,
    radius=lambda s: s[1],
    written=False,
    convex=convex,
)
