"""Contact law `lagged`: Hunt-Crossley normal force, friction bounded by the normal impulse of the step's start.

With fe0 = k depth, vn0 = n . J v0 and n0 = h (fe0)+ (1 - d vn0)+ frozen at the step's start (sap_formulas 3.2; Castro et al.
2023, "A Theory of Irrotational Contact Fields", the Lagged approximation), n and N of _hunt_crossley.py:

    eps = max(stiction_tolerance, mu sigma w n0)
    l(vc) = -N(vn) + mu n0 ||vt||_s,   ||vt||_s = sqrt(vt.vt + eps^2) - eps
    gamma = (-mu n0 t, n(vn)),   t = vt / sqrt(vt.vt + eps^2)

The near-rigid limit does not exist in this law.  Row: (fe0, k, d, mu n0, eps, h, v_hat, 0).
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
        return vec8(fe0, k, d, mu * n0, eps, h, normal.first_zero(h, k, d, fe0), zero)

    @wp.func
    def cost(row: vec8, vc: vec3) -> real:
        slip = wp.sqrt(vc[0] * vc[0] + vc[1] * vc[1] + row[4] * row[4]) - row[4]
        return row[3] * slip - normal.potential(row, vc[2])

    @wp.func
    def gamma(row: vec8, vc: vec3) -> vec3:
        s = -row[3] / wp.sqrt(vc[0] * vc[0] + vc[1] * vc[1] + row[4] * row[4])
        return vec3(s * vc[0], s * vc[1], normal.impulse(row, vc[2]))

    @wp.func
    def hessian(row: vec8, vc: vec3) -> mat33:
        zero = real(0.0)
        # the soft t (|t| < 1) keeps the projection positive definite in stiction
        r = wp.sqrt(vc[0] * vc[0] + vc[1] * vc[1] + row[4] * row[4])
        t0 = vc[0] / r
        t1 = vc[1] / r
        s = row[3] / r
        Gxy = -s * t0 * t1
        Gnn = normal.slope(row, vc[2])
        return mat33(s * (real(1.0) - t0 * t0), Gxy, zero, Gxy, s * (real(1.0) - t1 * t1), zero, zero, zero, Gnn)

    return LawFuncs(
        prepare=prepare,
        cost=cost,
        gamma=gamma,
        hessian=hessian,
        stiffness=normal.stiffness,
        near_rigid=normal.near_rigid,
    )


KIND = ContactLaw(name="lagged", make=make)
