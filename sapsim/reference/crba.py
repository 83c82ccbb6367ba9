"""Composite rigid bodies: the mass matrix, with all inertias of a tree about one point T, its mass centre (seed 000).

    M_ij = S_j^T I^c_b(i) S_i   for j on the path from i to the root, zero between branches,
where I^c_b is the inertia of b and all that hangs on it, and S are the motion subspaces, all at T in world axes.
"""

import numpy as np

from sapsim.reference.bodies import System
from sapsim.reference.kinematics import Kinematics
from sapsim.reference.spatial import shift_twist, spatial_inertia


def calc_tree_points(system: System, kin: Kinematics) -> list[np.ndarray]:
    """T of each tree: its mass centre in world [m], or its root's origin where it has inertia but no mass."""
    first, mass = np.zeros((system.ntree, 3)), np.zeros(system.ntree)
    origin = np.zeros((system.ntree, 3))
    for body, X in zip(system.bodies, kin.X_WB, strict=True):
        first[body.tree] += body.mass * X.point(body.com)
        mass[body.tree] += body.mass
        if body.parent < 0:
            origin[body.tree] = X.p
    return [first[i] / mass[i] if mass[i] > 0.0 else origin[i] for i in range(system.ntree)]


def calc_mass_matrix(system: System, kin: Kinematics) -> np.ndarray:
    """M(q), (nv, nv), without armature and damping."""
    p_WT = calc_tree_points(system, kin)
    S_T, composite = [], []
    for b, (body, X) in enumerate(zip(system.bodies, kin.X_WB, strict=True)):
        T = p_WT[body.tree]
        S_T.append(shift_twist(kin.S[b], T - X.p))
        composite.append(spatial_inertia(body.mass, X.point(body.com) - T, X.R @ body.inertia @ X.R.T))

    # Children come after their parents, so a backward sweep finds every composite complete.
    for b in reversed(range(len(system.bodies))):
        if system.bodies[b].parent >= 0:
            composite[system.bodies[b].parent] = composite[system.bodies[b].parent] + composite[b]

    M = np.zeros((system.nv, system.nv))
    for b, body in enumerate(system.bodies):
        F = composite[b] @ S_T[b]  # wrenches about T that unit rates of this joint need, one a column
        a = b
        while a >= 0:
            block = S_T[a].T @ F
            M[system.bodies[a].dofs, body.dofs] = block
            M[body.dofs, system.bodies[a].dofs] = block.T
            a = system.bodies[a].parent
    return M
