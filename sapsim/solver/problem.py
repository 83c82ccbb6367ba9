"""What a contact law freezes for the step.

pair rule (Drake, sap_formulas 2.3): k = k1 k2 / (k1 + k2), d = (k2 d1 + k1 d2) / (k1 + k2), tau = tau1 + tau2,
                                     mu = 2 mu1 mu2 / (mu1 + mu2)
Delassus estimate (sap_formulas 3.0): w = || sum over sides J diag(A)^-1 J' ||_F / 3
"""

from functools import cache

import warp as wp

from sapsim.kinds.base import registry
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

LAW_ARRAYS = (
    "shape_material", "ncontact", "contact_a", "contact_b", "contact_depth", "contact_entries",
    "J", "J_block", "v_b", "dinv", "contact_mu", "contact_row",
)  # fmt: skip
LAW_SCALARS = (
    ("slots", "int"), ("h", "real"), ("sigma", "real"), ("stiction_tolerance", "real"), ("near_rigid", "real"),
)  # fmt: skip


@cache
def make_law(R, law_name: str) -> Stage:
    """The stage `problem` of a contact law; writes contact_mu and contact_row."""
    real, vec3, vec4, mat33 = R.t, R.vec3, R.vec4, R.mat33
    prepare = registry("contacts")[law_name].make(R).prepare
    struct = make_struct("Problem", R, LAW_ARRAYS, LAW_SCALARS)

    @wp.func
    def pair_material(a: vec4, b: vec4) -> vec4:
        """(k, d, tau, mu) of a pair of surfaces."""
        zero = real(0.0)
        k = zero
        d = zero
        if a[0] + b[0] > zero:
            k = a[0] * b[0] / (a[0] + b[0])
            d = (b[0] * a[1] + a[0] * b[1]) / (a[0] + b[0])
        mu = zero
        if a[3] + b[3] > zero:
            mu = real(2.0) * a[3] * b[3] / (a[3] + b[3])
        return vec4(k, d, a[2] + b[2], mu)

    @wp.func
    def problem(s: struct, w: int, lane: int):
        for c in range(lane, s.ncontact[w], wp.block_dim()):
            entries = s.contact_entries[w, c]
            W = mat33(real(0.0))
            vc0 = vec3(real(0.0))
            for e in range(c * s.slots, c * s.slots + entries[0] + entries[1]):
                Je = s.J[w, e]
                block = s.J_block[w, e]
                W += Je * wp.diag(s.dinv[w, block]) * wp.transpose(Je)
                vc0 += Je * s.v_b[w, block]
            m = pair_material(s.shape_material[w, s.contact_a[w, c]], s.shape_material[w, s.contact_b[w, c]])
            s.contact_mu[w, c] = m[3]
            s.contact_row[w, c] = prepare(
                s.h, m[0], m[1], m[2], m[3], s.contact_depth[w, c], vc0[2], wp.sqrt(wp.ddot(W, W)) / real(3.0),
                vec4(s.sigma, s.stiction_tolerance, s.near_rigid, real(0.0)),
            )  # fmt: skip

    return make_stage(f"problem_{law_name}", R, struct, problem, LAW_SCALARS)
