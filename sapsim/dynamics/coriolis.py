"""The Coriolis matrix C(q, v), as a function of a Dynamics (api.py): C v = h(q, v) - h(q, 0), and M-dot - 2 C is skew.

The terms of velocity c(q, v) = h(q, v) - h(q, 0) are quadratic in v, so for any x

    c(q, v + x) - c(q, v - x) = 4 c(q; v, x),     c(q; v, v) = c(q, v)

with c(q; v, x) symmetric and bilinear.  Where velocities are rates of coordinates, c(q; v, x) are Christoffel's symbols of
the first kind applied to v and x, and so C x = c(q; v, x).  An angular velocity is no rate of coordinates: its fields E_i on
the rotations do not commute, and the connection that keeps M (Koszul's formula, do Carmo 1992, chapter 2) has an
antisymmetric part:

    C x = c(q; v, x) + 1/2 M [v, x],     [v, x] the Lie bracket of the fields v and x with constant entries

which adds nothing for x = v.  Each kind of joint says its bracket (kinds/base.py).  Armature is a constant on the diagonal of M
and makes no force but armature a, so it has no part in C.
"""

import numpy as np


class Coriolis:
    """Part of Dynamics."""

    def coriolis_product(self, q, v, x) -> np.ndarray:
        """C(q, v) x (W, nv), for x (W, nv) or (nv,)."""
        v, x = (np.broadcast_to(np.asarray(y, float), (self.nworld, self.nv)) for y in (v, x))
        ahead, behind = self.nonlinear_effects(q, v + x), self.nonlinear_effects(q, v - x)
        symmetric = 0.25 * (ahead - behind)
        bracket = self.bracket(v, x)
        if not bracket.any():
            return symmetric
        zero = np.zeros(self.nv)
        weight, moved = self.rnea_many(q, zero, [zero, bracket])
        return symmetric + 0.5 * (moved - weight - self.armature * bracket)

    def coriolis(self, q, v) -> np.ndarray:
        """C(q, v) (W, nv, nv), a column at a time: two to four calls of rnea to each degree of freedom."""
        columns = [self.coriolis_product(q, v, unit) for unit in np.eye(self.nv)]
        return np.stack(columns, axis=2) if columns else np.zeros((self.nworld, 0, 0))

    def bracket(self, x, y) -> np.ndarray:
        """[x, y] (W, nv): Lie bracket of the velocity fields with constant entries x and y (W, nv)."""
        z = np.zeros((self.nworld, self.nv))
        for kind, _, _, dofs in self._joints():
            z[:, dofs] = kind.bracket(x[:, dofs], y[:, dofs])
        return z
