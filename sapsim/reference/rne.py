"""Recursive Newton-Euler: the generalised forces that a motion needs, with classical accelerations in world axes.

Down the tree, with r = p_PB_W and omega_rel, v_rel the joint's twist of M in F (Featherstone 2008, ch. 5):
    alpha_B = alpha_P + omega_P x omega_rel + (S vdot + bias)_rotation
    a_Bo    = a_Po + alpha_P x r + omega_P x (omega_P x r) + 2 omega_P x v_rel + (S vdot + bias)_translation
Newton and Euler at the mass centre c: f = m a_c, n = I_c alpha + omega x I_c omega.  Up the tree: wrenches at Bo add,
and tau = S^T F.  Gravity and applied forces are not in here: free_motion.py adds them once.
"""

import numpy as np

from sapsim.reference.bodies import System
from sapsim.reference.kinematics import Kinematics, calc_bias
from sapsim.reference.spatial import shift_wrench


def calc_generalized_forces(system: System, kin: Kinematics, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
    """tau = M(q) vdot + c(q, v), (nv,).  At vdot = 0 the bias c: Coriolis, centrifugal and gyroscopic terms."""
    alpha, a_o, F = [], [], []
    for b, body in enumerate(system.bodies):
        X = kin.X_WB[b]
        relative = kin.S[b] @ v[body.dofs]
        relative_rate = kin.S[b] @ vdot[body.dofs] + calc_bias(body, kin.S[b], v[body.dofs])
        alpha_B, a_Bo = relative_rate[:3].copy(), relative_rate[3:].copy()
        if body.parent >= 0:
            P = body.parent
            omega_P, r = kin.V[P][:3], X.p - kin.X_WB[P].p
            alpha_B += alpha[P] + np.cross(omega_P, relative[:3])
            a_Bo += a_o[P] + np.cross(alpha[P], r) + np.cross(omega_P, np.cross(omega_P, r))
            a_Bo += 2.0 * np.cross(omega_P, relative[3:])
        alpha.append(alpha_B)
        a_o.append(a_Bo)

        omega, c = kin.V[b][:3], X.R @ body.com
        I_c = X.R @ body.inertia @ X.R.T
        a_c = a_Bo + np.cross(alpha_B, c) + np.cross(omega, np.cross(omega, c))
        n = I_c @ alpha_B + np.cross(omega, I_c @ omega)
        F.append(shift_wrench(np.concatenate([n, body.mass * a_c]), c))

    tau = np.zeros(system.nv)
    for b in reversed(range(len(system.bodies))):
        body = system.bodies[b]
        tau[body.dofs] = kin.S[b].T @ F[b]
        if body.parent >= 0:
            F[body.parent] = F[body.parent] + shift_wrench(F[b], kin.X_WB[b].p - kin.X_WB[body.parent].p)
    return tau
