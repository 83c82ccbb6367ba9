"""What joints share whose motion subspace is constant in F and whose velocity files hold as it is."""


def make_constant(R) -> dict:
    """bias_F = 0, and velocities that files hold as they are; as keyword arguments of JointFuncs."""
    import warp as wp

    real, vec3, vec6 = R.t, R.vec3, R.vec6

    @wp.func
    def bias_F(axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), v: wp.array2d(dtype=real), w: int, iq: int, iv: int) -> vec6:
        return vec6(real(0.0))

    @wp.func
    def keep(v: wp.array2d(dtype=real), w: int, iv: int, k: int, p_BoBcm_W: vec3) -> real:
        return v[w, iv + k]

    return {"bias_F": bias_F, "to_external": keep, "from_external": keep}


def make_rate(R, n: int = 1) -> dict:
    """The same, and q += h v for n velocities that are the rates of the coordinates."""
    import warp as wp

    real, mat33 = R.t, R.mat33

    @wp.func
    def step_q(q: wp.array2d(dtype=real), v: wp.array2d(dtype=real), w: int, iq: int, iv: int, h: real, R_WF: mat33) -> int:
        for i in range(wp.static(n)):
            q[w, iq + i] = q[w, iq + i] + h * v[w, iv + i]
        return 0

    return {**make_constant(R), "step_q": step_q}
