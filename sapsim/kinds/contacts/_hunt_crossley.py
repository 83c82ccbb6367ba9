"""What the laws of Hunt and Crossley share: the normal impulse of a step as a function of a velocity z, and its potential.

With fe0 = k depth frozen at the step's start (sap_formulas 3.2):

    n(z) = h (fe0 - h k z)+ (1 - d z)+,   N' = n,   N(z) = N+(min(z, v_hat)),   v_hat = the first zero of n
    N+(z) = h [z (fe0 + D / 2) - d z^2 / 2 (fe0 + 2 D / 3)],   D = -h k z

N(0) = 0, or N(v_hat) = 0 where depth < 0: without this a contact within the margin that stays open would add a constant to
the cost, large enough to end the solve on the cost criterion.  Row: (fe0, k, d, friction, eps, h, v_hat, 0), where `friction`
is what the law makes of mu.
"""

from functools import cache
from types import SimpleNamespace


@cache
def make_normal(R) -> SimpleNamespace:
    """Device functions impulse (row, z), slope (row, z) = -n', potential (row, z), first_zero (h, k, d, fe0),
    stiffness (row, h) and near_rigid (row)."""
    import warp as wp

    real, vec8 = R.t, R.vec8

    @wp.func
    def first_zero(h: real, k: real, d: real, fe0: real) -> real:
        """v_hat; the guards keep k = 0 and d = 0 legal."""
        tiny = real(1.0e-20)
        return wp.min(fe0 / (h * (k + tiny)), real(1.0) / (d + tiny))

    @wp.func
    def impulse(row: vec8, z: real) -> real:
        fe = wp.max(row[0] - row[5] * row[1] * z, real(0.0))
        return row[5] * fe * wp.max(real(1.0) - row[2] * z, real(0.0))

    @wp.func
    def slope(row: vec8, z: real) -> real:
        fe = row[0] - row[5] * row[1] * z
        damping = real(1.0) - row[2] * z
        if fe > real(0.0) and damping > real(0.0):
            return row[5] * (row[1] * row[5] * damping + row[2] * fe)
        return real(0.0)

    @wp.func
    def antiderivative(row: vec8, z: real) -> real:
        delta = -row[5] * row[1] * z
        return row[5] * (
            z * (row[0] + real(0.5) * delta) - real(0.5) * row[2] * z * z * (row[0] + real(2.0) / real(3.0) * delta)
        )

    @wp.func
    def potential(row: vec8, z: real) -> real:
        N = antiderivative(row, wp.min(z, row[6]))
        if row[0] < real(0.0):
            N = N - antiderivative(row, row[6])
        return N

    @wp.func
    def stiffness(row: vec8, h: real) -> real:
        return row[1]

    @wp.func
    def near_rigid(row: vec8) -> bool:
        return False

    return SimpleNamespace(
        first_zero=first_zero,
        impulse=impulse,
        slope=slope,
        potential=potential,
        stiffness=stiffness,
        near_rigid=near_rigid,
    )
