"""Contact law `similar`: Hunt-Crossley normal force, friction bounded by the normal impulse of the same step.

One potential of one velocity makes the problem convex (sap_formulas 3.2; Castro et al. 2023, "A Theory of Irrotational Contact
Fields", the Similar approximation), n and N of _hunt_crossley.py:

    eps = max(stiction_tolerance, mu sigma w n0),   n0 = h (k depth)+ (1 - d vn0)+ at the step's start
    z = vn - mu ||vt||_s,   ||vt||_s = sqrt(vt.vt + eps^2) - eps,   t = vt / sqrt(vt.vt + eps^2)
    l(vc) = -N(z),   gamma = n(z) (-mu t, 1)

A body that slides at |vt| feels the normal force of one that sinks at mu |vt|: it glides, k depth = m g / (1 + d mu |vt|)
- h k mu |vt| in steady motion.  The near-rigid limit does not exist in this law.  Row: (fe0, k, d, mu, eps, h, v_hat, 0).
"""

from sapsim.kinds.base import ContactLaw, LawFuncs


def make(R):
    import warp as wp

    from sapsim.kinds.contacts._hunt_crossley import make_normal

    real, vec3, vec4, vec8, mat33 = R.t, R.vec3, R.vec4, R.vec8, R.mat33
    normal = make_normal(R)

    @wp.func
    def prepare(h: real, k: real, d: real, tau: real, mu: real, depth: real, vn0: real, w: real, p: vec4) -> vec8:
        zero = real(0.0)
        fe0 = k * depth
        n0 = h * wp.max(fe0, zero) * wp.max(real(1.0) - d * vn0, zero)
        eps = wp.max(p[1], mu * p[0] * w * n0)
        return vec8(fe0, k, d, mu, eps, h, normal.first_zero(h, k, d, fe0), zero)

    @wp.func
    def soft_norm(row: vec8, vc: vec3) -> real:
        return wp.sqrt(vc[0] * vc[0] + vc[1] * vc[1] + row[4] * row[4])

    @wp.func
    def cost(row: vec8, vc: vec3) -> real:
        return -normal.potential(row, vc[2] - row[3] * (soft_norm(row, vc) - row[4]))

    @wp.func
    def gamma(row: vec8, vc: vec3) -> vec3:
        r = soft_norm(row, vc)
        n = normal.impulse(row, vc[2] - row[3] * (r - row[4]))
        s = -row[3] * n / r
        return vec3(s * vc[0], s * vc[1], n)

    @wp.func
    def hessian(row: vec8, vc: vec3) -> mat33:
        mu = row[3]
        r = soft_norm(row, vc)
        z = vc[2] - mu * (r - row[4])
        a = normal.slope(row, z)
        # the soft t (|t| < 1) keeps the projection positive definite in stiction
        t0 = vc[0] / r
        t1 = vc[1] / r
        s = mu * normal.impulse(row, z) / r
        along = mu * mu * a
        Gxy = (along - s) * t0 * t1
        Gxn = -mu * a * t0
        Gyn = -mu * a * t1
        return mat33(
            along * t0 * t0 + s * (real(1.0) - t0 * t0), Gxy, Gxn,
            Gxy, along * t1 * t1 + s * (real(1.0) - t1 * t1), Gyn,
            Gxn, Gyn, a,
        )  # fmt: skip

    return LawFuncs(
        prepare=prepare,
        cost=cost,
        gamma=gamma,
        hessian=hessian,
        stiffness=normal.stiffness,
        near_rigid=normal.near_rigid,
    )


KIND = ContactLaw(name="similar", make=make)
