"""A x for one tree's block of A, which is stored as lower 3x3 blocks r (r+1)/2 + c."""

from functools import cache

import warp as wp


@cache
def make_A_times(R):
    """wp.func A_times(A, w, start, nb, r, x, first) -> vec3: block row r of A x, for a tree whose x starts at block `first`."""
    real, vec3 = R.t, R.vec3
    blocks, vectors = wp.array2d(dtype=R.mat33), wp.array2d(dtype=vec3)

    @wp.func
    def A_times(A: blocks, w: int, start: int, nb: int, r: int, x: vectors, first: int) -> vec3:
        y = vec3(real(0.0))
        row = start + (r * (r + 1)) // 2
        for c in range(r + 1):
            y += A[w, row + c] * x[w, first + c]
        for c in range(r + 1, nb):
            y += wp.transpose(A[w, start + (c * (c + 1)) // 2 + r]) * x[w, first + c]
        return y

    return A_times
