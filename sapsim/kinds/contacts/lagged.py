"""Contact law `lagged`: Hunt-Crossley normal force, friction bounded by the normal impulse of the step's start.

With fe0 = k depth, vn0 = n . J v0 and n0 = h (fe0)+ (1 - d vn0)+ frozen at the step's start (sap_formulas 3.2; Castro et al.
2023, "A Theory of Irrotational Contact Fields", the Lagged approximation):

    eps = max(stiction_tolerance, mu sigma w n0)
    n(z) = h (fe0 - h k z)+ (1 - d z)+                       normal impulse at normal velocity z
    l(vc) = -N(vn) + mu n0 ||vt||_s,   N' = n,   N(0) = 0 (N(v_hat) = 0 where depth < 0),   ||vt||_s = sqrt(vt.vt + eps^2) - eps
    gamma = (-mu n0 t, n(vn)),   t = vt / sqrt(vt.vt + eps^2)

The near-rigid limit does not exist in this law.  Row: (fe0, k, d, mu n0, eps, h, v_hat, 0).
"""

from sapsim.kinds.base import ContactLaw, LawFuncs


def make(R):
    import warp as wp

    real, vec3, vec4, vec8, mat33 = R.t, R.vec3, R.vec4, R.vec8, R.mat33

    @wp.func
    def prepare(h: real, k: real, d: real, tau: real, mu: real, depth: real, vn0: real, w: real, p: vec4) -> vec8:
        zero = real(0.0)
        one = real(1.0)
        tiny = real(1.0e-20)
        fe0 = k * depth
        n0 = h * wp.max(fe0, zero) * wp.max(one - d * vn0, zero)
        eps = wp.max(p[1], mu * p[0] * w * n0)
        # n vanishes beyond v_hat; the guards keep k = 0 and d = 0 legal
        v_hat = wp.min(fe0 / (h * (k + tiny)), one / (d + tiny))
        return vec8(fe0, k, d, mu * n0, eps, h, v_hat, zero)

    @wp.func
    def antiderivative(row: vec8, z: real) -> real:
        delta = -row[5] * row[1] * z
        return row[5] * (
            z * (row[0] + real(0.5) * delta) - real(0.5) * row[2] * z * z * (row[0] + real(2.0) / real(3.0) * delta)
        )

    @wp.func
    def cost(row: vec8, vc: vec3) -> real:
        N = antiderivative(row, wp.min(vc[2], row[6]))
        if row[0] < real(0.0):
            # bodies apart, within the margin: without this a contact that stays open would add a constant to the cost,
            # large enough to end the solve on the cost criterion
            N = N - antiderivative(row, row[6])
        slip = wp.sqrt(vc[0] * vc[0] + vc[1] * vc[1] + row[4] * row[4]) - row[4]
        return row[3] * slip - N

    @wp.func
    def gamma(row: vec8, vc: vec3) -> vec3:
        fe = wp.max(row[0] - row[5] * row[1] * vc[2], real(0.0))
        damping = wp.max(real(1.0) - row[2] * vc[2], real(0.0))
        s = -row[3] / wp.sqrt(vc[0] * vc[0] + vc[1] * vc[1] + row[4] * row[4])
        return vec3(s * vc[0], s * vc[1], row[5] * fe * damping)

    @wp.func
    def hessian(row: vec8, vc: vec3) -> mat33:
        zero = real(0.0)
        fe = row[0] - row[5] * row[1] * vc[2]
        damping = real(1.0) - row[2] * vc[2]
        Gnn = zero
        if fe > zero and damping > zero:
            Gnn = row[5] * (row[1] * row[5] * damping + row[2] * fe)
        # the soft t (|t| < 1) keeps the projection positive definite in stiction
        r = wp.sqrt(vc[0] * vc[0] + vc[1] * vc[1] + row[4] * row[4])
        t0 = vc[0] / r
        t1 = vc[1] / r
        s = row[3] / r
        Gxy = -s * t0 * t1
        return mat33(s * (real(1.0) - t0 * t0), Gxy, zero, Gxy, s * (real(1.0) - t1 * t1), zero, zero, zero, Gnn)

    @wp.func
    def stiffness(row: vec8, h: real) -> real:
        return row[1]

    @wp.func
    def near_rigid(row: vec8) -> bool:
        return False

    return LawFuncs(prepare=prepare, cost=cost, gamma=gamma, hessian=hessian, stiffness=stiffness, near_rigid=near_rigid)


KIND = ContactLaw(name="lagged", make=make)
