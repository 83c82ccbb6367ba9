"""Dense Cholesky of one tree's block of A, on lower 3x3 blocks r (r+1)/2 + c; diagonal blocks of the factor are kept inverted.

L_rc = (A_rc - sum_{m<c} L_rm L_cm') L_cc^-T,   L_rr L_rr' = A_rr - sum_{m<r} L_rm L_rm'
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from sapsim.linalg.block3 import make_block3


@cache
def make_tree_cholesky(R):
    """wp.funcs factor(A, L, w, start, nb) -> bool and solve(L, x, w, start, first, nb), in place."""
    mat33, vec3 = R.mat33, R.vec3
    inverse_cholesky = make_block3(R).inverse_cholesky
    blocks, vectors = wp.array2d(dtype=mat33), wp.array2d(dtype=vec3)

    @wp.func
    def factor(A: blocks, L: blocks, w: int, start: int, nb: int) -> bool:
        """Writes the factor of the nb-block matrix at `start`; False where it is not positive definite."""
        positive = bool(True)
        for r in range(nb):
            at = start + (r * (r + 1)) // 2
            for c in range(r + 1):
                ct = start + (c * (c + 1)) // 2
                acc = A[w, at + c]
                for m in range(c):
                    acc = acc - L[w, at + m] * wp.transpose(L[w, ct + m])
                if c == r:
                    inverse, ok = inverse_cholesky(acc)
                    positive = positive and ok
                    L[w, at + r] = inverse
                else:
                    L[w, at + c] = acc * wp.transpose(L[w, ct + c])
        return positive

    @wp.func
    def solve(L: blocks, x: vectors, w: int, start: int, first: int, nb: int) -> int:
        """x <- (L L')^-1 x for the blocks first .. first + nb - 1 of x."""
        for r in range(nb):
            at = start + (r * (r + 1)) // 2
            y = x[w, first + r]
            for c in range(r):
                y = y - L[w, at + c] * x[w, first + c]
            x[w, first + r] = L[w, at + r] * y
        for i in range(nb):
            r = nb - 1 - i
            y = x[w, first + r]
            for j in range(r + 1, nb):
                y = y - wp.transpose(L[w, start + (j * (j + 1)) // 2 + r]) * x[w, first + j]
            x[w, first + r] = wp.transpose(L[w, start + (r * (r + 1)) // 2 + r]) * y
        return 0

    return SimpleNamespace(factor=factor, solve=solve)
