"""Contact law `sap`: linear compliance with a relaxation time, impulse projected on the friction cone.

Castro, Permenter, Han 2022 (arXiv 2110.10107), section V; sap_formulas 3.1:

    Rn = max(beta^2 / (4 pi^2) w, 1 / (h k (h + tau))),   Rt = sigma w,   v_hat = (0, 0, depth / (h + tau))
    y = R^-1 (v_hat - vc),   gamma = P(y): the projection in the R norm on ||gamma_t|| <= mu gamma_n,   l = 1/2 gamma' R gamma

Where the surfaces are apart within the margin (depth < 0) v_hat_n = depth / h: there is an impulse only if the step would close
the gap, and relaxation, which would brake a body from afar, acts on what it would overlap.

The soft norm yr = sqrt(yt.yt + soft^2) keeps the projection smooth at zero slip.  Row: (Rt, Rn, v_hat_n, mu, soft^2,
near-rigid active, h + tau, 0).
"""

from sapsim.kinds.base import ContactLaw, LawFuncs

FOUR_PI_SQUARED = 39.47841760435743


def make(R):
    import warp as wp

    real, vec3, vec4, vec8, mat33 = R.t, R.vec3, R.vec4, R.vec8, R.mat33

    @wp.func
    def prepare(h: real, k: real, d: real, tau: real, mu: real, depth: real, vn0: real, w: real, p: vec4) -> vec8:
        Rn_compliant = real(1.0) / (h * k * (h + tau))
        Rn_near_rigid = p[2] * p[2] / real(FOUR_PI_SQUARED) * w
        active = real(0.0)
        if Rn_near_rigid > Rn_compliant:
            active = real(1.0)
        # v_hat keeps the user's tau, near-rigid or not
        relaxed = h + tau
        if depth < real(0.0):
            relaxed = h
        return vec8(
            wp.max(p[0] * w, real(1.0e-30)),  # a contact that nothing can move (J = 0) has w = 0
            wp.max(Rn_compliant, Rn_near_rigid),
            depth / relaxed,
            mu,
            real(wp.static(R.soft * R.soft)),
            active,
            h + tau,
            real(0.0),
        )

    @wp.func
    def unprojected(row: vec8, vc: vec3) -> vec3:
        return vec3(-vc[0] / row[0], -vc[1] / row[0], (row[2] - vc[2]) / row[1])

    @wp.func
    def gamma(row: vec8, vc: vec3) -> vec3:
        y = unprojected(row, vc)
        mu = row[3]
        yr = wp.sqrt(y[0] * y[0] + y[1] * y[1] + row[4])
        ratio = row[0] / row[1]
        if yr <= mu * y[2]:
            return y
        if y[2] <= -mu * ratio * yr:
            return vec3(real(0.0))
        gn = (y[2] + mu * ratio * yr) / (real(1.0) + mu * mu * ratio)
        s = mu * gn / yr
        return vec3(s * y[0], s * y[1], gn)

    @wp.func
    def cost(row: vec8, vc: vec3) -> real:
        g = gamma(row, vc)
        return real(0.5) * (row[0] * (g[0] * g[0] + g[1] * g[1]) + row[1] * g[2] * g[2])

    @wp.func
    def hessian(row: vec8, vc: vec3) -> mat33:
        zero = real(0.0)
        y = unprojected(row, vc)
        mu = row[3]
        yr = wp.sqrt(y[0] * y[0] + y[1] * y[1] + row[4])
        ratio = row[0] / row[1]
        if yr <= mu * y[2]:
            return mat33(real(1.0) / row[0], zero, zero, zero, real(1.0) / row[0], zero, zero, zero, real(1.0) / row[1])
        if y[2] <= -mu * ratio * yr:
            return mat33(zero)
        f = real(1.0) / (real(1.0) + mu * mu * ratio)
        gn = f * (y[2] + mu * ratio * yr)
        t0 = y[0] / yr
        t1 = y[1] / yr
        # dP/dy, then the columns times R^-1: only that product is symmetric
        across = mu * gn / yr
        along = mu * mu * ratio * f
        it = real(1.0) / row[0]
        tn = mu * f / row[1]
        off = (along - across) * t0 * t1 * it
        return mat33(
            (across + (along - across) * t0 * t0) * it, off, tn * t0,
            off, (across + (along - across) * t1 * t1) * it, tn * t1,
            tn * t0, tn * t1, f / row[1],
        )  # fmt: skip

    @wp.func
    def stiffness(row: vec8, h: real) -> real:
        return real(1.0) / (h * row[1] * row[6])

    @wp.func
    def near_rigid(row: vec8) -> bool:
        return row[5] > real(0.5)

    return LawFuncs(prepare=prepare, cost=cost, gamma=gamma, hessian=hessian, stiffness=stiffness, near_rigid=near_rigid)


KIND = ContactLaw(name="sap", make=make, softens=True)
