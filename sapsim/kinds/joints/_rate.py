"""What joints share whose velocity is the rate of their coordinates, with a motion subspace constant in F."""


def make_rate(R) -> dict:
    """bias_F = 0, q += h v, and velocities that files hold as they are; as keyword arguments of JointFuncs."""
    import warp as wp

    real, vec3, vec6, mat33 = R.t, R.vec3, R.vec6, R.mat33

    @wp.func
    def bias_F(axis: vec3, q: wp.array2d(dtype=real), v: wp.array2d(dtype=real), w: int, iq: int, iv: int) -> vec6:
        return vec6(real(0.0))

    @wp.func
    def step_q(q: wp.array2d(dtype=real), v: wp.array2d(dtype=real), w: int, iq: int, iv: int, h: real, R_WF: mat33) -> int:
        q[w, iq] = q[w, iq] + h * v[w, iv]
        return 0

    @wp.func
    def keep(v: wp.array2d(dtype=real), w: int, iv: int, k: int, p_BoBcm_W: vec3) -> real:
        return v[w, iv + k]

    return {"bias_F": bias_F, "step_q": step_q, "to_external": keep, "from_external": keep}
