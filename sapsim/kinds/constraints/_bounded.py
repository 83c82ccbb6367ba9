"""The row that all kinds of constraints share: a linear compliance with a bounded impulse (sap_formulas 3.3 to 3.6).

    y = (v_hat - vc) / R,   gamma = clip(y, lowest, highest),   l = R gamma (y - gamma / 2),   G = 1 / R within bounds, else 0

so l is quadratic within the bounds and linear beyond, with a continuous slope: gamma = -dl/dvc, G = -dgamma/dvc.  A limit has
the bounds 0 and infinity; a drive -h effort and h effort.
"""

from types import SimpleNamespace


def make_bounded(R):
    """wp.funcs gamma, cost and hessian (row: vec4 (R, v_hat, lowest, highest), vc) -> real."""
    import warp as wp

    real, vec4 = R.t, R.vec4

    @wp.func
    def gamma(row: vec4, vc: real) -> real:
        return wp.min(wp.max((row[1] - vc) / row[0], row[2]), row[3])

    @wp.func
    def cost(row: vec4, vc: real) -> real:
        y = (row[1] - vc) / row[0]
        g = wp.min(wp.max(y, row[2]), row[3])
        return row[0] * g * (y - real(0.5) * g)

    @wp.func
    def hessian(row: vec4, vc: real) -> real:
        y = (row[1] - vc) / row[0]
        if y > row[2] and y < row[3]:
            return real(1.0) / row[0]
        return real(0.0)

    return SimpleNamespace(gamma=gamma, cost=cost, hessian=hessian)
