"""h(q, 0) = dV/dq: gravity's generalized force is the gradient of the potential energy of the links, joint by joint.

The gradient is by central differences of sixth order along each degree of freedom, in float64.  A rotation moves a centre of
mass along a circle, so the step 0.01 leaves 0.01^6 / 140 = 7e-15; round-off of V over the step, 2e-16 sum m |g| |p| / 0.01,
is taken off the residual, for it says nothing about h.

Degrees of freedom with equally many above them move disjoint subtrees, so all of them are moved at once and each is given the
slopes of its own subtree's links.  Links outside all of these subtrees must not move: their slopes go to the first one.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, derivative, subtrees_moved_at_once

STEP = 1.0e-2
ROUND_OFF = 16.0 * np.finfo(float).eps  # of V: a few roundings of each term


def measure(s: Samples) -> Measured:
    d, own = s.exact, s.exact.inertias
    g = s.dynamics.nonlinear_effects(s.q, np.zeros(d.nv))
    weight = own.mass * np.linalg.norm(own.gravity, axis=1)
    terms = np.linalg.norm(d.forward_kinematics(s.q).points(own.com), axis=-1) @ weight
    potentials = body_potentials(d)
    r = np.zeros_like(g)
    for dofs, members in subtrees_moved_at_once(d):
        unit = np.zeros(d.nv)
        unit[dofs] = 1.0
        place = d.along(s.q, unit)

        def at(t: float, place=place) -> np.ndarray:
            place(t)
            return potentials()

        slope = derivative(at, STEP) @ members.T
        r[:, dofs] = np.maximum(np.abs(g[:, dofs] - slope) - ROUND_OFF * terms[:, None] / STEP, 0.0)
    return s.of_forces(r)


def body_potentials(d):
    """() -> (W, nbody): -sum of m g . p_com over the links of each body, each with its own mass and centre, in the state that
    was last asked about.  As -(sum m g) . p_WB - R_WB : (sum m g c'), c the centre in the body's frame."""
    own, m, nbody = d.inertias, d.model.arrays, d.model.sizes["nbody"]
    body = np.asarray(m["link_body"], int)
    c = own.on_bodies(m)
    force, moment = np.zeros((nbody, 3)), np.zeros((nbody, 3, 3))
    for i in np.flatnonzero(body >= 0):
        weight = own.mass[i] * own.gravity[i]
        force[body[i]] += weight
        moment[body[i]] += np.outer(weight, c[i])

    def potentials() -> np.ndarray:
        return -np.einsum("wbi,bi->wb", d.bodies("p_WB"), force) - np.einsum("wbij,bij->wb", d.bodies("R_WB"), moment)

    return potentials


CHECK = Check("gravity", "h(q, 0) = gradient of the potential energy", measure)
