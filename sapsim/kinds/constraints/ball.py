"""Ball: a point P of A and a point Q of B stay together, g = p_WQ - p_WP in world axes (sap_formulas 3.5).

Rigid.  The impulse gamma acts on B at Q, -gamma on A at P.
"""

import numpy as np

from sapsim.kinds.base import ConstraintFuncs, ConstraintKind, Tie
from sapsim.kinds.constraints._holonomic import make_rigid


def ties(scene) -> list[Tie]:
    """One for each, in the order of the scene; rows x, y, z."""
    return [
        Tie(
            tuple(f"{c.name}:{axis}" for axis in "xyz"),
            ("N s",) * 3,
            ends=tuple((end.link, end.X_LP.p, end.X_LP.q) for end in (c.a, c.b)),
        )
        for c in scene.constraints
        if c.kind == KIND.name
    ]


def make(R):
    import warp as wp

    real, vec3, quat = R.t, R.vec3, R.quat

    @wp.func
    def frames(item: int, p_WP: vec3, Q_WP: quat, p_WQ: vec3, Q_WQ: quat):
        return wp.diag(vec3(real(1.0))), p_WQ - p_WP, p_WP, p_WQ, 0

    return ConstraintFuncs(compliance=make_rigid(R), frames=frames)


def gaps(constraint, q, ends) -> list[tuple[float, str]]:
    (p_WP, _), (p_WQ, _) = ends
    gap = float(np.linalg.norm(p_WQ - p_WP))
    return [(gap, f"the points are {gap:.6g} m apart")]


KIND = ConstraintKind(name="ball", order=5, make=make, ties=ties, keys=("a", "b"), required=("a", "b"), gaps=gaps)
