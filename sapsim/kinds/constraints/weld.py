"""Weld: a frame P of A and a frame Q of B stay together (sap_formulas 3.5).

    g = (theta k, p_WQ - p_WP),  theta k the rotation of R_PQ in world axes
    vc = the twist of B against A at the midpoint of P and Q

so that impulses act at one point and angular momentum is kept.  Rigid.  Rows rx, ry, rz, then x, y, z: two items.  All six
share one Delassus weight w, the Frobenius norm of a matrix of 1 / (kg m^2) and 1 / kg, as in Drake: a small body's rotation
makes its translation softer.
"""

import numpy as np

from sapsim.kinds.base import ConstraintFuncs, ConstraintKind, Tie
from sapsim.kinds.constraints._holonomic import make_rigid

ROWS = ("rx", "ry", "rz", "x", "y", "z")


def ties(scene) -> list[Tie]:
    """One for each, in the order of the scene."""
    return [
        Tie(
            tuple(f"{c.name}:{row}" for row in ROWS),
            ("N m s",) * 3 + ("N s",) * 3,
            ends=tuple((end.link, end.X_LP.p, end.X_LP.q) for end in (c.a, c.b)),
        )
        for c in scene.constraints
        if c.kind == KIND.name
    ]


def make(R):
    import warp as wp

    real, vec3, quat = R.t, R.vec3, R.quat

    @wp.func
    def rotation(Q: quat) -> vec3:
        """theta k of a unit quaternion, theta in 0 .. pi."""
        v = vec3(Q[0], Q[1], Q[2])
        w = Q[3]
        if w < real(0.0):
            v = -v
            w = -w
        s = wp.length(v)
        if s == real(0.0):
            return vec3(real(0.0))
        return (real(2.0) * wp.atan2(s, w) / s) * v

    @wp.func
    def frames(item: int, p_WP: vec3, Q_WP: quat, p_WQ: vec3, Q_WQ: quat):
        middle = real(0.5) * (p_WP + p_WQ)
        g = p_WQ - p_WP
        turns = int(0)
        if item == 0:
            g = wp.quat_rotate(Q_WP, rotation(wp.quat_inverse(Q_WP) * Q_WQ))
            turns = 1
        return wp.diag(vec3(real(1.0))), g, middle, middle, turns

    return ConstraintFuncs(compliance=make_rigid(R), frames=frames)


def gaps(constraint, q, ends) -> list[tuple[float, str]]:
    (p_WP, R_WP), (p_WQ, R_WQ) = ends
    gap = float(np.linalg.norm(p_WQ - p_WP))
    R = R_WP.T @ R_WQ
    sine = 0.5 * np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    angle = float(np.arctan2(sine, 0.5 * (np.trace(R) - 1.0)))
    return [(gap, f"the points are {gap:.6g} m apart"), (angle, f"the frames are turned by {angle:.6g} rad")]


KIND = ConstraintKind(
    name="weld", order=6, make=make, ties=ties, keys=("a", "b"), required=("a", "b"), oriented=True, gaps=gaps
)
