"""How far apart two shapes may be that touch but for rounding.

Shapes that are placed to touch have a depth of zero plus or minus the rounding of their places and sizes.  Whether a contact
is found must not hang on that sign: a stack of boxes would lose some corners and be kicked by the others.  So contacts are
found from the margin on, or from where rounding ends, whichever is farther; at a gap a contact acts only where the step would
close it (sap_formulas 2.5).

    touch_i = 4 eps (|p_WGi| + radius_i),   margin of a pair = max(contact.margin, touch_a + touch_b)

The depths of 60,000 points of all kinds of pairs placed to touch, up to 1 km from the origin, are below a fifth of that.
A plane has no radius: what counts there is how far the other shape is from its origin, and |p_WG| of both bounds it.
"""

from types import SimpleNamespace

import warp as wp

TOUCH = 4.0  # roundings of the precision
ARRAYS = ("shape_touch",)


def make_touch(R, struct) -> SimpleNamespace:
    """Device functions touch_of(p_WG, radius) -> real [m] of one shape; margin_of(s, w, a, b) -> real [m] of a pair.

    A struct that is passed here has the arrays of ARRAYS and the scalar margin.
    """
    real, vec3 = R.t, R.vec3

    @wp.func
    def touch_of(p_WG: vec3, radius: real) -> real:
        size = wp.length(p_WG)
        if wp.isfinite(radius):
            size += radius
        return real(wp.static(TOUCH * R.eps)) * size

    @wp.func
    def margin_of(s: struct, w: int, a: int, b: int) -> real:
        return wp.max(s.margin, s.shape_touch[w, a] + s.shape_touch[w, b])

    return SimpleNamespace(touch_of=touch_of, margin_of=margin_of)
