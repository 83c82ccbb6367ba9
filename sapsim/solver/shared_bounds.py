"""Bounds of a sum of constraint rows: several drives of one joint under the effort limit of the joint.

The impulses of the rows, f_i(v) = clip((v_hat_i - v) / R_i, lowest_i, highest_i), fall with v, and so does f = sum f_i.  What
the joint gets is clip(f(v), low, high).  With f(v_low) = high and f(v_high) = low,

    clip(f(v), low, high) = f(clip(v, v_low, v_high)) = sum clip((v_hat_i - v) / R_i, f_i(v_high), f_i(v_low))

so the bound of the sum is a bound of each row, and the rows stay as they are.  v_low and v_high are roots of a function that is
linear between the places where a row meets one of its own bounds.
"""

import warp as wp

ARRAYS = ("group_start", "group_constraint", "group_bounds", "group_dof", "effort_start", "drive_range", "constraint_row")


def make_shared_bounds(R, struct):
    """wp.func bound(s, w, g, h): narrows the bounds in constraint_row of the rows of group g."""
    real, vec4 = R.t, R.vec4

    @wp.func
    def impulse(row: vec4, v: real) -> real:
        return wp.min(wp.max((row[1] - v) / row[0], row[2]), row[3])

    @wp.func
    def total(s: struct, w: int, g: int, v: real) -> real:
        f = real(0.0)
        for i in range(s.group_start[g], s.group_start[g + 1]):
            row = s.constraint_row[w, s.group_constraint[i]]
            if row[0] > real(0.0):
                f += impulse(row, v)
        return f

    @wp.func
    def slope(s: struct, w: int, g: int, side: int) -> real:
        """-df/dv beyond all own bounds: on the side of fast motion (2) or of slow motion (3)."""
        G = real(0.0)
        for i in range(s.group_start[g], s.group_start[g + 1]):
            row = s.constraint_row[w, s.group_constraint[i]]
            if row[0] > real(0.0) and not wp.isfinite(row[side]):
                G += real(1.0) / row[0]
        return G

    @wp.func
    def velocity_at(s: struct, w: int, g: int, target: real) -> real:
        """v with f(v) = target; infinite where f never gets there."""
        below = -real(wp.inf)  # the last place known with f >= target
        above = real(wp.inf)  # the first with f <= target
        for i in range(s.group_start[g], s.group_start[g + 1]):
            row = s.constraint_row[w, s.group_constraint[i]]
            for k in range(2, 4):
                if row[0] > real(0.0) and wp.isfinite(row[k]):
                    v = row[1] - row[0] * row[k]
                    f = total(s, w, g, v)
                    if f >= target:
                        below = wp.max(below, v)
                    if f <= target:
                        above = wp.min(above, v)
        if wp.isfinite(below) and wp.isfinite(above):
            f_below = total(s, w, g, below)
            f_above = total(s, w, g, above)
            if f_below > f_above:
                return below + (above - below) * (f_below - target) / (f_below - f_above)
            return below
        G = slope(s, w, g, 3)
        start = above
        if wp.isfinite(below):
            G = slope(s, w, g, 2)
            start = below
        if not wp.isfinite(start):
            start = real(0.0)  # no row has bounds of its own: f is linear
        rest = total(s, w, g, start) - target
        if G > real(0.0):
            return start + rest / G
        if rest > real(0.0):
            return real(wp.inf)
        return -real(wp.inf)

    @wp.func
    def bound(s: struct, w: int, g: int, h: real):
        bounds = s.group_bounds[w, g]
        k = s.group_dof[g]
        if s.effort_start[k + 1] > s.effort_start[k]:  # beside efforts that change
            bounds = s.drive_range[w, k]
        v_high = velocity_at(s, w, g, h * bounds[0])
        v_low = velocity_at(s, w, g, h * bounds[1])
        for i in range(s.group_start[g], s.group_start[g + 1]):
            r = s.group_constraint[i]
            row = s.constraint_row[w, r]
            if row[0] > real(0.0):
                s.constraint_row[w, r] = vec4(row[0], row[1], impulse(row, v_high), impulse(row, v_low))

    return bound
