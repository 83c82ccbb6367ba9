"""Axes of a box by number, by selection: indexing at run time would put the vectors into memory on a GPU."""

from types import SimpleNamespace


def make_axes(R) -> SimpleNamespace:
    """Device functions pick(v, k), column(M, k), along_axis(k, s), after(k), signed(bit), largest(v)."""
    import warp as wp

    real, vec3, mat33 = R.t, R.vec3, R.mat33

    @wp.func
    def pick(v: vec3, k: int) -> real:
        return wp.where(k == 0, v[0], wp.where(k == 1, v[1], v[2]))

    @wp.func
    def column(M: mat33, k: int) -> vec3:
        return vec3(
            wp.where(k == 0, M[0, 0], wp.where(k == 1, M[0, 1], M[0, 2])),
            wp.where(k == 0, M[1, 0], wp.where(k == 1, M[1, 1], M[1, 2])),
            wp.where(k == 0, M[2, 0], wp.where(k == 1, M[2, 1], M[2, 2])),
        )

    @wp.func
    def along_axis(k: int, s: real) -> vec3:
        """s times the unit vector of axis k."""
        return vec3(wp.where(k == 0, s, real(0.0)), wp.where(k == 1, s, real(0.0)), wp.where(k == 2, s, real(0.0)))

    @wp.func
    def after(k: int) -> int:
        """The axis after k, cyclically."""
        return wp.where(k == 2, 0, k + 1)

    @wp.func
    def signed(bit: int) -> real:
        return wp.where(bit == 1, real(1.0), real(-1.0))

    @wp.func
    def largest(v: vec3) -> int:
        """The axis along which v reaches farthest, the lowest of equal ones."""
        k = wp.int32(0)
        if wp.abs(v[1]) > wp.abs(v[0]):
            k = 1
        if wp.abs(v[2]) > wp.abs(pick(v, k)):
            k = 2
        return k

    return SimpleNamespace(pick=pick, column=column, along_axis=along_axis, after=after, signed=signed, largest=largest)
