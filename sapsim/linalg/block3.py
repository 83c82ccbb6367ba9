"""Small dense pieces on 3x3 blocks: the inverse Cholesky factor of a block, and products with symmetric block matrices."""

from functools import cache
from types import SimpleNamespace

import warp as wp


@cache
def make_block3(R):
    """wp.funcs over the bundle R: inverse_cholesky."""
    real, mat33 = R.t, R.mat33

    @wp.func
    def inverse_cholesky(A: mat33):
        """L^-1 (lower) with L L' = A, and whether A is positive definite; reads the lower triangle."""
        zero = real(0.0)
        one = real(1.0)
        if not (A[0, 0] > zero):
            return mat33(zero), False
        i0 = one / wp.sqrt(A[0, 0])
        l10 = A[1, 0] * i0
        l20 = A[2, 0] * i0
        d1 = A[1, 1] - l10 * l10
        if not (d1 > zero):
            return mat33(zero), False
        i1 = one / wp.sqrt(d1)
        l21 = (A[2, 1] - l20 * l10) * i1
        d2 = A[2, 2] - l20 * l20 - l21 * l21
        if not (d2 > zero):
            return mat33(zero), False
        i2 = one / wp.sqrt(d2)
        m10 = -l10 * i0 * i1
        return mat33(i0, zero, zero, m10, i1, zero, -(l20 * i0 + l21 * m10) * i2, -l21 * i1 * i2, i2), True

    return SimpleNamespace(inverse_cholesky=inverse_cholesky)
