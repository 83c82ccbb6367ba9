"""Bounds of shapes in the world: the sum of a box and an ellipsoid in the shape's axes (kinds.base.ShapeKind.bound).

The near pairs are those of which the box of the larger shape, along its own axes, meets the ball of the other.  The list
(pair_list.py) looks at them first by bodies, the grid (grid.py) by boxes with axes of the world.

Half extent along a unit vector d, with the columns g_j of R_WG, half lengths h and semi-axes a:

    e(d) = sum_j |d . g_j| h_j + sqrt(sum_j (d . g_j)^2 a_j^2)

Extents are taken larger by some rounding errors, so that no pair is lost that the narrow phase would find.
"""

from types import SimpleNamespace

import warp as wp

SLACK = 8.0  # rounding errors of the precision
ARRAYS = ("p_WG", "R_WG", "shape_low", "shape_high", "shape_round", "c_WG", "e_WG")
BALL_ARRAYS = ("p_WG", "R_WG", "shape_low", "shape_high", "shape_round", "shape_radius", "body_reach", "p_WB")


def make_bounds(R, struct):
    """Device functions bound(s, w, i): writes c_WG and e_WG of shape i; apart(c_i, e_i, c_j, e_j, margin) of boxes with axes of
    the world; beside(s, w, i, j): whether shape j lies wholly on one side of the bounds of shape i along an axis of i; they may
    be without end.

    A struct that is passed here has the arrays of ARRAYS and the scalar margin.
    """
    real, vec3 = R.t, R.vec3
    slack = SLACK * R.eps
    larger = 1.0 + slack

    @wp.func
    def squared(a: vec3) -> vec3:
        return wp.cw_mul(a, a)

    @wp.func
    def magnitudes(a: vec3) -> vec3:
        return vec3(wp.abs(a[0]), wp.abs(a[1]), wp.abs(a[2]))

    @wp.func
    def extent(d_G: vec3, half: vec3, round: vec3) -> real:
        return wp.dot(magnitudes(d_G), half) + wp.sqrt(wp.dot(squared(d_G), squared(round)))

    @wp.func
    def bound(s: struct, w: int, i: int):
        low = s.shape_low[w, i]
        high = s.shape_high[w, i]
        half = real(0.5) * (high - low)
        round = s.shape_round[w, i]
        R_WG = s.R_WG[w, i]
        c = vec3(s.p_WG[w, i] + R_WG * (real(0.5) * (low + high)))
        e = vec3()
        for k in range(3):
            e[k] = extent(vec3(R_WG[k, 0], R_WG[k, 1], R_WG[k, 2]), half, round)
        s.c_WG[w, i] = c
        s.e_WG[w, i] = e + real(slack) * (e + magnitudes(c))

    @wp.func
    def apart(c_i: vec3, e_i: vec3, c_j: vec3, e_j: vec3, margin: real) -> bool:
        gap = magnitudes(c_j - c_i) - e_i - e_j
        return wp.max(gap) > margin

    @wp.func
    def beside(s: struct, w: int, i: int, j: int) -> bool:
        R_WG = s.R_WG[w, i]
        c = s.c_WG[w, j]
        c_i = wp.transpose(R_WG) * (c - s.p_WG[w, i])
        R_ij = wp.transpose(R_WG) * s.R_WG[w, j]
        half = real(0.5) * (s.shape_high[w, j] - s.shape_low[w, j])
        rounding = real(slack) * wp.max(magnitudes(c) + magnitudes(s.p_WG[w, i]))
        for k in range(3):
            reach = extent(vec3(R_ij[k, 0], R_ij[k, 1], R_ij[k, 2]), half, s.shape_round[w, j]) * real(larger)
            reach += s.shape_round[w, i][k] + s.margin + rounding
            if c_i[k] - reach > s.shape_high[w, i][k] or c_i[k] + reach < s.shape_low[w, i][k]:
                return True
        return False

    return SimpleNamespace(bound=bound, apart=apart, beside=beside)


def make_ball_bounds(R, struct):
    """Device functions that compare with balls:

    meet (s, w, a, b): whether the box of the larger of two shapes and the ball of the other do, and their balls.
    at_body (s, w, a, body): whether the ball about all shapes of a body reaches the bounds of shape a.

    A struct that is passed here has the arrays of BALL_ARRAYS and the scalar margin.
    """
    real, vec3 = R.t, R.vec3
    slack = SLACK * R.eps
    larger = 1.0 + slack

    @wp.func
    def sum_of(a: vec3) -> real:
        return wp.abs(a[0]) + wp.abs(a[1]) + wp.abs(a[2])

    @wp.func
    def balls_meet(d: vec3, reach: real) -> bool:
        return wp.dot(d, d) <= reach * reach * real(larger)

    @wp.func
    def in_box(s: struct, w: int, i: int, d: vec3, reach: real) -> bool:
        """Whether the point at d from the shape's origin, axes of the world, is in its box with walls moved out by `reach`.

        True where the box says no more than the ball about the shape.
        """
        high = s.shape_high[w, i] + s.shape_round[w, i]
        if wp.min(high) >= s.shape_radius[w, i]:
            return True
        low = s.shape_low[w, i] - s.shape_round[w, i]
        x = wp.transpose(s.R_WG[w, i]) * d
        e = reach + real(slack) * sum_of(x)
        if x[0] > high[0] + e or x[1] > high[1] + e or x[2] > high[2] + e:
            return False
        return x[0] >= low[0] - e and x[1] >= low[1] - e and x[2] >= low[2] - e

    @wp.func
    def meet(s: struct, w: int, a: int, b: int) -> bool:
        d = s.p_WG[w, b] - s.p_WG[w, a]
        r_a = s.shape_radius[w, a]
        r_b = s.shape_radius[w, b]
        if not balls_meet(d, r_a + r_b + s.margin):
            return False
        if r_a >= r_b:
            return in_box(s, w, a, d, r_b + s.margin)
        return in_box(s, w, b, -d, r_a + s.margin)

    @wp.func
    def at_body(s: struct, w: int, a: int, body: int) -> bool:
        p_WA = s.p_WG[w, a]
        p_WB = s.p_WB[w, body]
        # placing its shapes from p_WB on rounds to the size of the world's coordinates
        reach = s.body_reach[w, body] * real(larger) + real(slack) * sum_of(p_WB) + s.margin
        d = p_WB - p_WA
        return balls_meet(d, s.shape_radius[w, a] + reach) and in_box(s, w, a, d, reach)

    return SimpleNamespace(meet=meet, at_body=at_body)
