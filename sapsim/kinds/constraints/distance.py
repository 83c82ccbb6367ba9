"""Distance between a point P of A and a point Q of B: g = |p_PQ| - length (sap_formulas 3.5).

Two-sided, a rod or a spring and damper; or `unilateral`, a rope that only pulls: gamma <= 0.  The impulse on B at Q is gamma
along the unit vector from P to Q, on A at P its opposite.  A rope is in the problem where it can become taut within two
steps, g > -2 h max(|v0|, |v_star|) in its own direction, as joint limits are; a slack one costs nothing.

Where P and Q coincide the direction is taken along z: any will do for a rod that pushes them apart.

Parameters: (stiffness, 0 = rigid; damping; 1 = unilateral).
"""

import numpy as np

from sapsim.kinds.base import ConstraintFuncs, ConstraintKind, Tie
from sapsim.kinds.constraints._holonomic import make_regularise, stiffness_parameter
from sapsim.kinds.constraints.limit import WINDOW

COINCIDENT = 1.0e-12  # [m]


def ties(scene) -> list[Tie]:
    """One for each, in the order of the scene."""
    return [
        Tie(
            (c.name,),
            ("N s",),
            parameters=(stiffness_parameter(c.stiffness), c.damping, float(c.unilateral)),
            bias=(-c.length, 0.0, 0.0),
            ends=tuple((end.link, end.X_LP.p, end.X_LP.q) for end in (c.a, c.b)),
        )
        for c in scene.constraints
        if c.kind == KIND.name
    ]


def make(R):
    import warp as wp

    real, vec3, vec4, vec8, quat, mat33 = R.t, R.vec3, R.vec4, R.vec8, R.quat, R.mat33
    regularise = make_regularise(R)

    @wp.func
    def frames(item: int, p_WP: vec3, Q_WP: quat, p_WQ: vec3, Q_WQ: quat):
        p = p_WQ - p_WP
        d = wp.length(p)
        u = vec3(real(0.0), real(0.0), real(1.0))
        if d > real(COINCIDENT):
            u = p / d
        D = mat33(u[0], u[1], u[2], real(0.0), real(0.0), real(0.0), real(0.0), real(0.0), real(0.0))
        return D, vec3(d, real(0.0), real(0.0)), p_WP, p_WQ, 0

    @wp.func
    def compliance(h: real, p: vec8, w: real, g: vec3, v0: vec3, v_star: vec3) -> vec4:
        law = regularise(h, p[0], p[1], w)
        if p[2] == real(0.0):
            return vec4(law[0], law[1], -real(wp.inf), real(wp.inf))
        if -g[0] > real(WINDOW) * h * wp.max(wp.abs(v0[0]), wp.abs(v_star[0])):
            return vec4(real(0.0))
        return vec4(law[0], law[1], -real(wp.inf), real(0.0))

    return ConstraintFuncs(compliance=compliance, frames=frames)


def gaps(constraint, q, ends) -> list[tuple[float, str]]:
    (p_WP, _), (p_WQ, _) = ends
    distance = float(np.linalg.norm(p_WQ - p_WP))
    gap = distance - constraint.length
    violation = max(0.0, gap) if constraint.unilateral else abs(gap)
    return [(violation, f"the points are {distance:.6g} m apart, {gap:+.6g} m against its length")]


KIND = ConstraintKind(
    name="distance",
    order=4,
    make=make,
    ties=ties,
    keys=("a", "b", "length", "stiffness", "damping", "unilateral"),
    required=("a", "b", "length"),
    gaps=gaps,
)
