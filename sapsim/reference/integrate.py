"""Coordinates at the end of the step: q = q0 + h N(q0) v (sap_formulas 6.1, 6.2).

N maps velocities to coordinate rates at the start of the step; with the new v this is symplectic Euler.  For a floating
joint
    p_FM += h R_FW v_o,    quat += h/2 [omega_F, 0] quat,  then divided by its length,
and likewise for a ball joint, whose velocity is omega_F.  So a step turns by 2 atan(h |omega| / 2) about omega: the
direction that Drake's update has too, which leaves the length as it comes.
"""

import numpy as np

from sapsim.reference.bodies import System
from sapsim.reference.spatial import quaternion_product


def step_coordinates(system: System, q0: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    """External coordinates (nq) after a step of h [s] with internal velocities v (nv)."""
    q = q0.copy()
    for body in system.bodies:
        if body.kind == "ball":
            q[body.q] = _turned(q0[body.q], v[body.dofs], h)
        elif body.kind == "floating":
            R_FW = body.X_PF.R.T  # the parent is the world
            omega_F, v_F = R_FW @ v[body.dofs][:3], R_FW @ v[body.dofs][3:]
            q[body.q] = np.concatenate([q0[body.q][:3] + h * v_F, _turned(q0[body.q][3:], omega_F, h)])
        else:
            q[body.q] += h * v[body.dofs]
    return q


def _turned(quat: np.ndarray, omega_F: np.ndarray, h: float) -> np.ndarray:
    """quat + h N(quat) omega, normalised."""
    quat = quat + 0.5 * h * quaternion_product(np.append(omega_F, 0.0), quat)
    return quat / np.linalg.norm(quat)
