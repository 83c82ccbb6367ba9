"""What of a face lies across n: the whole of it, the side of it that does, or its corner that reaches farthest."""

from functools import cache
from types import SimpleNamespace

from sapsim.kinds.convexity import CORNERS, make_convexity
from sapsim.kinds.pairs._lines import ALIKE, make_lines
from sapsim.kinds.pairs._manifold import make_manifold
from sapsim.kinds.pairs._points import SQUARE


@cache
def make_facing(R) -> SimpleNamespace:
    """Device functions facing and side."""
    import warp as wp

    real = R.t
    Scratch = make_convexity(R).Scratch
    manifold = make_manifold(R)
    Face, corner, after = manifold.Face, manifold.corner, manifold.after
    facing_edge = make_lines(R).facing_edge

    @wp.func
    def move(f: Face, k: int, to: int, scratch: Scratch, row: wp.vec2i):
        """Corner k to place `to` of the face's corners."""
        at = wp.static(CORNERS) * f.turned
        scratch.point[row[0], row[1] + at + to] = scratch.point[row[0], row[1] + at + k]
        scratch.name[row[0], row[1] + 2 * (at + to)] = scratch.name[row[0], row[1] + 2 * (at + k)]
        scratch.name[row[0], row[1] + 2 * (at + to) + 1] = scratch.name[row[0], row[1] + 2 * (at + k) + 1]

    @wp.func
    def farthest(f: Face, scratch: Scratch, row: wp.vec2i) -> int:
        best = wp.int32(0)
        for k in range(1, f.count):
            if f.sense * corner(scratch, row, f, k)[2] > f.sense * corner(scratch, row, f, best)[2]:
                best = k
        return best

    @wp.func
    def side(f: Face, k: int, scratch: Scratch, row: wp.vec2i) -> Face:
        """Side k in place of a face."""
        out = f
        out.count = 2
        out.square = real(-1.0)
        out.round = False
        bits = (f.corners >> k) & 1
        out.corners = bits + 2 * ((f.corners >> after(f, k)) & 1)
        if f.count > 2:
            if k + 1 == f.count:  # from the last corner to the first: the first goes on to place 1
                move(f, 0, 1, scratch, row)
                move(f, k, 0, scratch, row)
            else:
                move(f, k, 0, scratch, row)
                move(f, k + 1, 1, scratch, row)
        return out

    @wp.func
    def alone(f: Face, k: int, scratch: Scratch, row: wp.vec2i) -> Face:
        """Corner k in place of a face."""
        out = f
        out.count = 1
        out.square = real(-1.0)
        out.round = False
        move(f, k, 0, scratch, row)
        return out

    @wp.func
    def facing(f: Face, scratch: Scratch, row: wp.vec2i) -> Face:
        """The face, or in its place a segment or a point."""
        if f.count < 2 or f.square >= real(SQUARE):
            return f
        k = facing_edge(f, scratch, row)
        e = corner(scratch, row, f, after(f, k)) - corner(scratch, row, f, k)
        if wp.abs(e[2]) <= real(ALIKE) * wp.sqrt(e[0] * e[0] + e[1] * e[1]):
            return side(f, k, scratch, row)
        return alone(f, farthest(f, scratch, row), scratch, row)

    return SimpleNamespace(facing=facing, side=side, alone=alone)
