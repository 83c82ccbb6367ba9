"""The step without constraints: A, tau and v* (sap_formulas 1.1).

    A = M(q0) + diag(armature) + h diag(damping)
    tau = gravity + applied + open-loop efforts - c(q0, v0) - damping v0 - stiffness (q0 - reference)
    v* = v0 + h A^-1 tau
Damping appears twice so that it acts on the new velocity: A v* = (M + armature) v0 + h (tau + damping v0).
"""

from dataclasses import dataclass

import numpy as np

from sapsim.reference.bodies import System
from sapsim.reference.crba import calc_mass_matrix
from sapsim.reference.kinematics import Kinematics, point_jacobian
from sapsim.reference.rne import calc_generalized_forces


@dataclass(frozen=True)
class FreeMotion:
    """A (nv, nv), tau (nv,), v_star (nv,)."""

    A: np.ndarray
    tau: np.ndarray
    v_star: np.ndarray


def calc_free_motion(
    scene, system: System, kin: Kinematics, v0: np.ndarray, t: float, effort: np.ndarray | None = None
) -> FreeMotion:
    """The free motion of the step that starts at time t [s] with velocity v0; `effort` (nv,) is added to tau."""
    h = scene.time_step
    damping = np.array([b.damping for b in system.bodies for _ in range(b.nv)])
    armature = np.array([b.armature for b in system.bodies for _ in range(b.nv)])
    A = calc_mass_matrix(system, kin) + np.diag(armature) + h * np.diag(damping)
    bias = calc_generalized_forces(system, kin, v0, np.zeros(system.nv))
    tau = calc_gravity(system, kin, np.array(scene.gravity)) + calc_applied(scene, system, kin, t) - bias - damping * v0
    tau = tau - calc_springs(system, kin.q) + calc_efforts(scene, system)
    if effort is not None:
        tau = tau + effort
    v_star = v0 + h * np.linalg.solve(A, tau) if system.nv else v0.copy()
    return FreeMotion(A, tau, v_star)


def calc_springs(system: System, q0: np.ndarray) -> np.ndarray:
    """stiffness (q0 - reference) of every dof, (nv,)."""
    tau = np.zeros(system.nv)
    for body in system.bodies:
        if body.stiffness > 0.0:
            tau[body.dofs] = body.stiffness * (q0[body.q] - body.reference)
    return tau


def calc_efforts(scene, system: System) -> np.ndarray:
    """Efforts of actuators without gains, (nv,)."""
    tau = np.zeros(system.nv)
    dof = {body.joint: body.dof for body in system.bodies}
    for actuator in scene.actuators:
        tau[dof[actuator.joint]] += actuator.effort
    return tau


def calc_gravity(system: System, kin: Kinematics, g: np.ndarray) -> np.ndarray:
    """Generalised forces of the weight: sum over bodies of Jv(com)^T m g, over the mass that feels gravity."""
    tau = np.zeros(system.nv)
    for b, (body, X) in enumerate(zip(system.bodies, kin.X_WB, strict=True)):
        mass, first_moment = body.weight
        if mass > 0.0:
            tau += point_jacobian(system, kin, b, X.point(first_moment / mass)).T @ (mass * g)
    return tau


def calc_applied(scene, system: System, kin: Kinematics, t: float) -> np.ndarray:
    """Generalised forces of the scene's `forces` that act in the step which starts at t (contract 1.6)."""
    tau = np.zeros(system.nv)
    half = 0.5 * scene.time_step
    index = {link.name: i for i, link in enumerate(scene.links)}
    for item in scene.forces:
        i = index[item.link]
        body = system.link_body[i]
        if body < 0 or not item.start - half <= t < item.until - half:
            continue
        X_WL = kin.X_WB[body] @ system.link_X_BL[i]
        R = X_WL.R if item.frame == "link" else np.eye(3)
        tau += point_jacobian(system, kin, body, X_WL.point(item.point)).T @ (R @ np.array(item.force))
        tau += kin.J[body][:3].T @ (R @ np.array(item.torque))
    return tau
