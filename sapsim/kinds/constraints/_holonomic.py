"""The compliance that ties share: a spring and damper in series with the near-rigid limit (sap_formulas 3.5, 3.6).

    R_c = 1 / (h (h + tau) k),  tau = c / k,   R_nr = beta^2 w / 4 pi^2,  beta = 0.1
    R = max(R_c, R_nr),  with tau = h where R_c < R_nr;   v_hat = -g / (h + tau)

so a rigid constraint is as stiff as the step resolves: under a steady load F it gives by 2 h^2 R_nr F, and comes back by half
of what is left in each step.  k = 0 stands for infinite stiffness, as stiffness itself must be above zero.
"""

import math

NEAR_RIGID = 0.1**2 / (4.0 * math.pi**2)  # beta^2 / 4 pi^2
RIGID = 0.0
UNITS = {"rad": "N m s", "m": "N s"}  # of impulses, by the unit of a coordinate


def stiffness_parameter(stiffness: float) -> float:
    """k as it goes to the device, where infinity would cost a test of its own."""
    return stiffness if math.isfinite(stiffness) else RIGID


def make_regularise(R):
    """wp.func regularise(h, k, c, w) -> vec2 (R, tau); R = 0 where nothing can move (w = 0)."""
    import warp as wp

    real, vec2 = R.t, R.vec2

    @wp.func
    def regularise(h: real, k: real, c: real, w: real) -> vec2:
        near_rigid = real(NEAR_RIGID) * w
        if k > real(0.0) and w > real(0.0):
            tau = c / k
            compliant = real(1.0) / (h * (h + tau) * k)
            if compliant >= near_rigid:
                return vec2(compliant, tau)
        return vec2(near_rigid, h)

    return regularise


def make_rigid(R):
    """wp.func compliance of a rigid two-sided tie."""
    import warp as wp

    real, vec3, vec4, vec8 = R.t, R.vec3, R.vec4, R.vec8
    regularise = make_regularise(R)

    @wp.func
    def compliance(h: real, p: vec8, w: real, g: vec3, v0: vec3, v_star: vec3) -> vec4:
        law = regularise(h, real(RIGID), real(0.0), w)
        return vec4(law[0], law[1], -real(wp.inf), real(wp.inf))

    return compliance
