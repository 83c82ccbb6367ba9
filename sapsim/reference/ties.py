"""Constraints over several degrees of freedom: coupler, distance, ball, weld, tendon (sap_formulas 3.5, 3.6).

    g(q) residual, J = dg/dv, frozen at q0;  gamma = clip((v_hat - vc) / R, lowest, highest),  l = R/2 gamma^2
    v_hat = -g / (h + tau)
    R = max(1 / (h (h + tau) k), beta^2 w / 4 pi^2),  tau = c / k, and h where the second is the larger;  beta = 0.1
    w = |J diag(A)^-1 J^T|_F / n over all n rows of a constraint

Rows come kind by kind in the order above, and within a kind in the order of the scene.
"""

import numpy as np

from sapsim.reference.bodies import WORLD, System
from sapsim.reference.kinematics import Kinematics, point_jacobian
from sapsim.reference.spatial import placement, rotation_to_quaternion

BETA = 0.1
KINDS = ("coupler", "distance", "ball", "weld", "tendon")


class TieLaw:
    """One row: a spring k and damper c on the residual g, no stiffer than the near-rigid limit, with bounds of the impulse."""

    def __init__(self, h: float, g: float, w: float, k: float = np.inf, c: float = 0.0, lowest=-np.inf, highest=np.inf):
        near_rigid = BETA**2 * w / (4.0 * np.pi**2)
        tau = 0.0 if np.isinf(k) else c / k
        compliant = 0.0 if np.isinf(k) else 1.0 / (h * (h + tau) * k)
        if compliant < near_rigid:
            tau = h
        self.R = max(compliant, near_rigid)
        self.v_hat = -g / (h + tau)
        self.lowest, self.highest = lowest, highest

    def gamma(self, vc: float) -> float:
        return min(max((self.v_hat - vc) / self.R, self.lowest), self.highest)

    def cost(self, vc: float) -> float:
        """Quadratic within the bounds; these are zero or infinite, so there is no cost beyond."""
        return 0.5 * self.R * self.gamma(vc) ** 2

    def hessian(self, vc: float) -> float:
        return 1.0 / self.R if self.lowest < (self.v_hat - vc) / self.R < self.highest else 0.0


def calc_ties(scene, system: System, kin: Kinematics, A: np.ndarray, v0: np.ndarray, v_star: np.ndarray):
    """(number of rows, active rows as (index among these, J (nv,), law, trees)) of all ties."""
    count, found = 0, []
    for kind in KINDS:
        for c in scene.constraints:
            if c.kind != kind:
                continue
            g, J, trees = RESIDUALS[kind](scene, c, system, kin)
            w = float(np.linalg.norm(J @ np.diag(1.0 / np.diag(A)) @ J.T)) / len(g)
            lowest, highest, active = -np.inf, np.inf, w > 0.0
            if kind == "tendon":
                lowest, active = 0.0, active and bool(np.any(g < 0.0))
            if c.unilateral:
                free = abs(J[0] @ v_star) if np.isfinite(v_star).all() else np.inf  # infinite: nothing is out of reach
                reach = 2.0 * scene.time_step * max(abs(J[0] @ v0), free)
                highest, active = 0.0, active and bool(g[0] >= -reach)
            for i in range(len(g)) if active else ():
                law = TieLaw(scene.time_step, g[i], w, c.stiffness, c.damping, lowest, highest)
                found.append((count + i, J[i], law, trees))
            count += len(g)
    return count, found


def _joint_row(scene, c, system: System, kin: Kinematics, coefficients) -> tuple[float, np.ndarray, set[int]]:
    """sum of coefficient q, its row J (nv,), and the trees; a joint that is locked has the q at which it is held."""
    body_of = {body.joint: body for body in system.bodies}
    held = {joint.name: joint.q0[0] for joint in scene.joints if joint.name not in body_of and joint.q0}
    length, J = 0.0, np.zeros(system.nv)
    for name, x in zip(c.joints, coefficients, strict=True):
        length += x * (held[name] if name in held else kin.q[body_of[name].iq])
        if name not in held:
            J[body_of[name].dof] = x
    return length, J, {body_of[name].tree for name in c.joints if name not in held}


def _coupler(scene, c, system: System, kin: Kinematics):
    length, J, trees = _joint_row(scene, c, system, kin, (1.0, -c.ratio))
    return np.array([length - c.offset]), J[None], trees


def _tendon(scene, c, system: System, kin: Kinematics):
    length, J, trees = _joint_row(scene, c, system, kin, c.coefficients)
    length += c.offset
    rows = [(sign * (length - bound), sign * J) for sign, bound in ((1.0, c.lower), (-1.0, c.upper)) if np.isfinite(bound)]
    return np.array([g for g, _ in rows]), np.array([J for _, J in rows]), trees


def calc_ends(scene, c, system: System, kin: Kinematics):
    """Body (-1: the world) and X_WP of the frames of a and b, and the trees of those that move."""
    index = {link.name: i for i, link in enumerate(scene.links)}
    found = []
    for end in (c.a, c.b):
        body, X = -1, placement(end.X_LP)
        if end.link != WORLD:
            i = index[end.link]
            body, X = system.link_body[i], system.link_X_BL[i] @ X
        found.append((body, kin.X_WB[body] @ X if body >= 0 else X))
    return *found, {system.bodies[body].tree for body, _ in found if body >= 0}


def _distance(scene, c, system: System, kin: Kinematics):
    (a, P), (b, Q), trees = calc_ends(scene, c, system, kin)
    p = Q.p - P.p
    d = float(np.linalg.norm(p))
    u = p / d if d > 1e-12 else np.array([0.0, 0.0, 1.0])
    J = u @ (point_jacobian(system, kin, b, Q.p) - point_jacobian(system, kin, a, P.p))
    return np.array([d - c.length]), J[None], trees


def _ball(scene, c, system: System, kin: Kinematics):
    (a, P), (b, Q), trees = calc_ends(scene, c, system, kin)
    return Q.p - P.p, point_jacobian(system, kin, b, Q.p) - point_jacobian(system, kin, a, P.p), trees


def _weld(scene, c, system: System, kin: Kinematics):
    (a, P), (b, Q), trees = calc_ends(scene, c, system, kin)
    *xyz, cosine = rotation_to_quaternion(P.R.T @ Q.R)  # of the half angle
    sine = float(np.linalg.norm(xyz))
    turn = np.zeros(3) if sine == 0.0 else 2.0 * np.arctan2(sine, abs(cosine)) / sine * np.copysign(1.0, cosine) * np.array(xyz)
    middle = 0.5 * (P.p + Q.p)
    angular = [kin.J[body][:3] if body >= 0 else np.zeros((3, system.nv)) for body in (a, b)]
    linear = point_jacobian(system, kin, b, middle) - point_jacobian(system, kin, a, middle)
    return np.concatenate([P.R @ turn, Q.p - P.p]), np.concatenate([angular[1] - angular[0], linear]), trees


RESIDUALS = {"coupler": _coupler, "distance": _distance, "ball": _ball, "weld": _weld, "tendon": _tendon}
