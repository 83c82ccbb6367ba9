"""Dense Cholesky H = L L' on packed lower 3x3 blocks, left-looking; there is no symbolic work.

    L_rc = (H_rc - sum_{m<c} L_rm L_cm') L_cc^-T,   L_rr L_rr' = H_rr - sum_{m<r} L_rm L_rm'

A matrix has n block rows; its block (r, c), r >= c, is H[base + packed(r, c)], and row r belongs to the degrees of freedom
row_block[first + r].  The factor replaces H; the inverses of its diagonal blocks are in H_inv, by block of degrees of freedom.
All lanes share the rows of a column, and compute its diagonal block alike.

A tree of one or two blocks, as a free body is, needs no such storage: its factor is three local blocks.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.block3 import make_block3
from sapsim.math.block import barrier


@wp.func
def packed(r: int, c: int) -> int:
    """Place of block (r, c) of a lower half that is stored row by row."""
    return r * (r + 1) // 2 + c


def make_packed_cholesky(R, struct):
    """wp.funcs factor(s, w, lane, base, first, n) -> bool and solve(s, w, lane, base, first, n, x): x <- H^-1 x for all lanes;
    factor_two(h00, h10, h11) -> (L00^-1, L10, L11^-1, positive) and solve_two(L00^-1, L10, L11^-1, x0, x1) for one."""
    vec3, mat33 = R.vec3, R.mat33
    inverse_cholesky = make_block3(R).inverse_cholesky
    vectors = wp.array2d(dtype=vec3)
    blocks = wp.array2d(dtype=mat33)

    @wp.func
    def remainder(H: blocks, w: int, row_r: int, row_c: int, c: int) -> mat33:
        """H_rc - sum_{m<c} L_rm L_cm', of rows that start at row_r and row_c."""
        acc = H[w, row_r + c]
        for m in range(c):
            acc = acc - H[w, row_r + m] * wp.transpose(H[w, row_c + m])
        return acc

    @wp.func
    def factor(s: struct, w: int, lane: int, base: int, first: int, n: int) -> bool:
        """False where H is not positive definite; then the factor is not usable."""
        positive = bool(True)
        for c in range(n):
            row_c = base + packed(c, 0)
            inverse, ok = inverse_cholesky(remainder(s.H, w, row_c, row_c, c))
            positive = positive and ok
            if lane == 0:
                s.H_inv[w, s.row_block[w, first + c]] = inverse
            inverse_T = wp.transpose(inverse)
            for r in range(c + 1 + lane, n, wp.block_dim()):
                row_r = base + packed(r, 0)
                s.H[w, row_r + c] = remainder(s.H, w, row_r, row_c, c) * inverse_T
            barrier()
        return positive

    @wp.func
    def solve(s: struct, w: int, lane: int, base: int, first: int, n: int, x: vectors):
        """Forward each solved block is taken from the rows below it, backward from those above."""
        for c in range(n):
            block = s.row_block[w, first + c]
            y = s.H_inv[w, block] * x[w, block]
            barrier()
            if lane == 0:
                x[w, block] = y
            for r in range(c + 1 + lane, n, wp.block_dim()):
                b = s.row_block[w, first + r]
                x[w, b] = x[w, b] - s.H[w, base + packed(r, c)] * y
            barrier()
        for i in range(n):
            c = n - 1 - i
            block = s.row_block[w, first + c]
            y = wp.transpose(s.H_inv[w, block]) * x[w, block]
            barrier()
            if lane == 0:
                x[w, block] = y
            row = base + packed(c, 0)
            for r in range(lane, c, wp.block_dim()):
                b = s.row_block[w, first + r]
                x[w, b] = x[w, b] - wp.transpose(s.H[w, row + r]) * y
            barrier()

    @wp.func
    def factor_two(h00: mat33, h10: mat33, h11: mat33):
        inverse0, positive0 = inverse_cholesky(h00)
        below = h10 * wp.transpose(inverse0)
        inverse1, positive1 = inverse_cholesky(h11 - below * wp.transpose(below))
        return inverse0, below, inverse1, positive0 and positive1

    @wp.func
    def solve_two(inverse0: mat33, below: mat33, inverse1: mat33, x0: vec3, x1: vec3):
        y0 = inverse0 * x0
        y1 = wp.transpose(inverse1) * (inverse1 * (x1 - below * y0))
        return wp.transpose(inverse0) * (y0 - wp.transpose(below) * y1), y1

    return SimpleNamespace(factor=factor, solve=solve, factor_two=factor_two, solve_two=solve_two)
