"""Cost, impulse and curvature of the rows of a tie's item: up to three bounded linear rows (kinds/constraints/_bounded.py)."""

from types import SimpleNamespace

import warp as wp


def make_tie_rows(R, struct, bounded):
    """wp.funcs gamma, cost and hessian (s, w, item, vc: vec3) -> vec3, real, vec3 (diagonal of G); zero where not active."""
    real, vec3, vec4 = R.wide.t, R.wide.vec3, R.wide.vec4

    @wp.func
    def gamma(s: struct, w: int, i: int, vc: vec3) -> vec3:
        out = vec3(real(0.0))
        first = s.item_row[i]
        for r in range(first, s.item_row[i + 1]):
            row = vec4(s.constraint_row[w, r])
            if row[0] > real(0.0):
                out[r - first] = bounded.gamma(row, vc[r - first])
        return out

    @wp.func
    def cost(s: struct, w: int, i: int, vc: vec3) -> real:
        out = real(0.0)
        first = s.item_row[i]
        for r in range(first, s.item_row[i + 1]):
            row = vec4(s.constraint_row[w, r])
            if row[0] > real(0.0):
                out += bounded.cost(row, vc[r - first])
        return out

    @wp.func
    def hessian(s: struct, w: int, i: int, vc: vec3) -> vec3:
        out = vec3(real(0.0))
        first = s.item_row[i]
        for r in range(first, s.item_row[i + 1]):
            row = vec4(s.constraint_row[w, r])
            if row[0] > real(0.0):
                out[r - first] = bounded.hessian(row, vc[r - first])
        return out

    return SimpleNamespace(gamma=gamma, cost=cost, hessian=hessian)
