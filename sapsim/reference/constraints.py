"""Constraints beside contact: joint limits, drives with gains, dry friction (sap_formulas 3.3, 3.4), and ties (ties.py).

Each row is a scalar convex cost l(vc) [J] with impulse gamma = -dl/dvc [N s or N m s] and second derivative G = -dgamma/dvc,
frozen at the start of the step; vc = J v.  Rows come limits first, lower before upper, joints in the order of the scene; then
drives, then friction, both in the order of the scene; then ties.
"""

from dataclasses import dataclass

import numpy as np

from sapsim.reference.bodies import System
from sapsim.reference.kinematics import Kinematics
from sapsim.reference.ties import calc_ties

BETA = 0.1  # near-rigid threshold of all of them
LIMIT_STIFFNESS = 1.0e12


class LimitLaw:
    """A one-sided spring of stiffness 1e12 and relaxation time h, no stiffer than the near-rigid limit.

    `g` is the distance to the bound, negative beyond it; vc its rate.
    """

    def __init__(self, h: float, g: float, w: float):
        tau = h
        self.R = max(BETA**2 * w / (4.0 * np.pi**2), 1.0 / (h * LIMIT_STIFFNESS * (h + tau)))
        self.v_hat = -g / (h + tau)

    def gamma(self, vc: float) -> float:
        return max(0.0, (self.v_hat - vc) / self.R)

    def cost(self, vc: float) -> float:
        return 0.5 * self.R * self.gamma(vc) ** 2

    def hessian(self, vc: float) -> float:
        return 1.0 / self.R if self.v_hat > vc else 0.0


class DriveLaw:
    """gamma = h clip(a - b v, lowest, highest), a - b v = -kp (q0 + h v - target) - kd (v - target_velocity) + feedforward."""

    def __init__(self, h: float, q0: float, w: float, actuator):
        self.h = h
        self.lowest, self.highest = actuator.lowest, actuator.highest
        self.kp, self.kd = resolvable_gains(h, w, actuator.kp, actuator.kd)
        self.b = h * self.kp + self.kd
        error = q0 - actuator.target
        self.a = -self.kp * error + self.kd * actuator.target_velocity + actuator.feedforward

    def gamma(self, vc: float) -> float:
        return self.h * min(max(self.a - self.b * vc, self.lowest), self.highest)

    def cost(self, vc: float) -> float:
        u = self.a - self.b * vc
        if u < self.lowest:
            F = self.lowest * (u - 0.5 * self.lowest)
        elif u > self.highest:
            F = self.highest * (u - 0.5 * self.highest)
        else:
            F = 0.5 * u**2
        return self.h * F / self.b

    def hessian(self, vc: float) -> float:
        return self.h * self.b if self.lowest < self.a - self.b * vc < self.highest else 0.0


class FrictionLaw:
    """|gamma| <= h friction against the motion, rounded off below the velocity sigma w h friction: Huber's cost."""

    def __init__(self, h: float, friction: float, w: float, sigma: float):
        self.R, self.bound = sigma * w, h * friction

    def gamma(self, vc: float) -> float:
        return float(np.clip(-vc / self.R, -self.bound, self.bound))

    def cost(self, vc: float) -> float:
        if abs(vc) < self.R * self.bound:
            return 0.5 * vc**2 / self.R
        return self.bound * (abs(vc) - 0.5 * self.R * self.bound)

    def hessian(self, vc: float) -> float:
        return 1.0 / self.R if abs(vc) < self.R * self.bound else 0.0


def resolvable_gains(h: float, w: float, kp: float, kd: float) -> tuple[float, float]:
    """The gains, lowered where R = 1 / (h (h kp + kd)) is below the near-rigid R, with the ratio kd / kp (or kp / kd) kept."""
    R = BETA**2 * w / (4.0 * np.pi**2)
    if 1.0 / (h * (h * kp + kd)) >= R:
        return kp, kd
    if h * kp > kd:
        tau = kd / kp
        kp = 1.0 / (h * (h + tau) * R)
        return kp, tau * kp
    ratio = kp / kd
    kd = 1.0 / (h * (1.0 + h * ratio) * R)
    return ratio * kd, kd


@dataclass
class Constraint:
    """An active row: its place among all rows of the scene, J (nv,), its law, the trees that it joins, and its impulse
    [N s or N m s]."""

    row: int
    J: np.ndarray
    law: object
    trees: set[int]
    gamma: float = 0.0


def calc_constraints(scene, system: System, kin: Kinematics, A: np.ndarray, v0: np.ndarray, v_star: np.ndarray):
    """(all active rows at q0, number of all rows)."""
    found, count = scalar_rows(scene, system, A, kin.q, v0, v_star)
    found += friction_rows(scene, system, A, count)
    count += sum(body.nv for body in with_friction(scene, system))
    n, ties = calc_ties(scene, system, kin, A, v0, v_star)
    found += [Constraint(count + row, J, law, trees) for row, J, law, trees in ties]
    return found, count + n


def with_friction(scene, system: System) -> list:
    """Bodies whose joints have dry friction, in the order of the scene's joints."""
    body_of = {body.joint: body for body in system.bodies}
    return [body_of[joint.name] for joint in scene.joints if joint.friction > 0.0 and joint.kind not in ("fixed", "floating")]


def friction_rows(scene, system: System, A: np.ndarray, first: int) -> list[Constraint]:
    friction, found = {joint.name: joint.friction for joint in scene.joints}, []
    for body in with_friction(scene, system):
        for i in range(body.dof, body.dof + body.nv):
            law = FrictionLaw(scene.time_step, friction[body.joint], 1.0 / A[i, i], scene.contact.sigma)
            found.append(Constraint(first + len(found), np.eye(system.nv)[i], law, {body.tree}))
    return found


def scalar_rows(scene, system: System, A: np.ndarray, q0: np.ndarray, v0: np.ndarray, v_star: np.ndarray):
    """Active limits and drives, and the number of all."""
    h, found, row = scene.time_step, [], -1
    shared: dict[str, tuple[tuple[float, float], list[DriveLaw]]] = {}
    body_of = {body.joint: body for body in system.bodies}
    for joint in scene.joints:
        for sign, bound in ((1.0, joint.limit.lower), (-1.0, joint.limit.upper)):
            if not np.isfinite(bound):
                continue
            row += 1
            body = body_of[joint.name]
            i, q = body.dof, q0[body.iq]
            window = 2.0 * h * max(abs(v0[i]), abs(v_star[i]))
            if (sign > 0.0 and bound >= q - window) or (sign < 0.0 and bound <= q + window):
                law = LimitLaw(h, sign * (q - bound), 1.0 / A[i, i])
                found.append(Constraint(row, sign * np.eye(system.nv)[i], law, {body.tree}))
    for actuator in scene.actuators:
        if actuator.kp == 0.0 and actuator.kd == 0.0:
            continue
        row += 1
        body = body_of[actuator.joint]
        if actuator.lowest < actuator.highest:
            law = DriveLaw(h, q0[body.iq], 1.0 / A[body.dof, body.dof], actuator)
            found.append(Constraint(row, np.eye(system.nv)[body.dof], law, {body.tree}))
            if actuator.sum_bounds is not None:
                shared.setdefault(actuator.joint, (actuator.sum_bounds, []))[1].append(law)
    for bounds, laws in shared.values():
        bound_sum(h, laws, *bounds)
    return found, row + 1


def bound_sum(h: float, laws: list[DriveLaw], low: float, high: float) -> None:
    """Gives each of the drives of a joint the bounds that it has where their sum reaches low and high.

    The sum falls with v, so beyond these velocities the sum is at its bound.  They are found by bisection, to round-off.
    """

    def velocity(effort: float) -> float:
        left, right = -1.0e12, 1.0e12
        for _ in range(200):
            middle = 0.5 * (left + right)
            if sum(law.gamma(middle) for law in laws) > h * effort:
                left = middle
            else:
                right = middle
        return right

    v_high, v_low = velocity(low), velocity(high)
    bounds = [(law.gamma(v_high) / h, law.gamma(v_low) / h) for law in laws]
    for law, (lowest, highest) in zip(laws, bounds, strict=True):
        law.lowest, law.highest = lowest, highest


def all_impulses(count: int, active: list[Constraint]) -> np.ndarray:
    """Impulses of all rows of the scene, zero where a row is not active."""
    impulse = np.zeros(count)
    for c in active:
        impulse[c.row] = c.gamma
    return impulse
