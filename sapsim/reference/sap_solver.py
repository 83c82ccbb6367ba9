"""The SAP solver: Newton's method with line search on a convex cost of velocities (sap_formulas 4; Castro et al. 2022).

    l(v) = 1/2 (v - v*)^T A (v - v*) + sum_i l_i(J_i v)
    gradient g = A (v - v*) - J^T gamma,    Hessian H = A + J^T G J

Momentum is measured in sqrt(J) by D = diag(A)^-1/2.  Two criteria end the loop, and their flags are kept apart:
    optimality   |D g| <= absolute + relative * max(|D A v|, |D J^T gamma|)
    cost         |l - l_prev| < cost_absolute + cost_relative (|l| + |l_prev|) / 2, after a step of alpha > 0.5
The test comes before any factorisation, so an exact guess costs no iteration.
"""

from dataclasses import dataclass, field

import numpy as np

from sapsim.reference.contact_problem import Problem
from sapsim.reference.line_search import backtracking_line_search, exact_line_search
from sapsim.status import StepStatus


@dataclass
class Solution:
    """Velocity v (n,), contact velocities vc (nc, 3), impulses gamma (nc, 3) [N s], impulses of the scalar constraints
    rows_gamma (nr,), and how the loop ended.  `scales`: of each island where the problem was split.
    """

    v: np.ndarray
    vc: np.ndarray
    gamma: np.ndarray
    rows_gamma: np.ndarray = field(default_factory=lambda: np.zeros(0))
    residual: float = 0.0
    scale: float = 0.0
    cost: float = 0.0
    iterations: int = 0
    line_search_iterations: int = 0
    optimality_reached: bool = True
    cost_reached: bool = False
    status: StepStatus = field(default_factory=lambda: StepStatus(0))
    scales: list[float] = field(default_factory=list)


@dataclass
class Evaluation:
    """Everything the loop needs at one v."""

    vc: np.ndarray
    gamma: np.ndarray
    vr: np.ndarray
    rows_gamma: np.ndarray
    gradient: np.ndarray
    cost: float
    residual: float
    scale: float


def evaluate(problem: Problem, v: np.ndarray) -> Evaluation:
    """Contact velocities, impulses, gradient, cost, residual and its scale at v."""
    vc = (problem.J @ v).reshape(-1, 3)
    gamma = problem.gamma(vc)
    vr = problem.rows_J @ v
    rows_gamma = problem.rows_gamma(vr)
    D = 1.0 / np.sqrt(np.diag(problem.A))
    p, j = problem.A @ v, problem.J.T @ gamma.ravel() + problem.rows_J.T @ rows_gamma
    dv = v - problem.v_star
    gradient = problem.A @ dv - problem.impulse - j
    cost = dv @ (0.5 * problem.A @ dv - problem.impulse) + problem.cost(vc) + problem.rows_cost(vr)
    scale = max(np.linalg.norm(D * p), np.linalg.norm(D * j))
    return Evaluation(vc, gamma, vr, rows_gamma, gradient, cost, float(np.linalg.norm(D * gradient)), float(scale))


def solve(problem: Problem, v_guess: np.ndarray, solver) -> Solution:
    """Minimise the problem's cost from v_guess; `solver` holds the scene's solver settings."""
    v = v_guess.copy()
    at = evaluate(problem, v)
    cost_reached, searched, status = False, 0, StepStatus(0)
    for k in range(solver.max_iterations + 1):
        optimal = at.residual <= solver.absolute_tolerance + solver.relative_tolerance * at.scale
        if not np.isfinite(at.residual + at.scale + at.cost):
            status |= StepStatus.NON_FINITE
        elif not (optimal or cost_reached) and k == solver.max_iterations:
            status |= StepStatus.MAX_ITERATIONS
        if status or optimal or cost_reached:
            break

        dv, failed = newton_direction(problem, at)
        if failed:
            status |= failed
            break
        search = exact_line_search if solver.line_search == "exact" else backtracking_line_search
        alpha, n, found = search(Line(problem, v, dv, at), solver)
        searched += n
        if not found:
            status |= StepStatus.LINE_SEARCH_FAILED
            break
        v = v + alpha * dv
        previous, at = at, evaluate(problem, v)
        slack = solver.cost_absolute_tolerance + solver.cost_relative_tolerance * 0.5 * (abs(at.cost) + abs(previous.cost))
        cost_reached = bool(abs(at.cost - previous.cost) < slack and alpha > 0.5)
    return Solution(
        v, at.vc, at.gamma, at.rows_gamma, at.residual, at.scale, at.cost, k, searched, bool(optimal), cost_reached, status
    )


def newton_direction(problem: Problem, at: Evaluation) -> tuple[np.ndarray, StepStatus]:
    """dv = -H^-1 g by a dense Cholesky factor, and the status bit of a failure."""
    H = problem.A.copy()
    for i, G in enumerate(problem.hessians(at.vc)):
        J_i = problem.J[3 * i : 3 * i + 3]
        H += J_i.T @ G @ J_i
    H += problem.rows_J.T @ np.diag(problem.rows_hessians(at.vr)) @ problem.rows_J
    try:
        L = np.linalg.cholesky(0.5 * (H + H.T))
    except np.linalg.LinAlgError:
        return np.zeros_like(at.gradient), StepStatus.FACTORIZATION_FAILED
    dv = -np.linalg.solve(L.T, np.linalg.solve(L, at.gradient))
    if not np.all(np.isfinite(dv)):
        return dv, StepStatus.NON_FINITE
    # A direction of descent always exists for a convex cost: round-off alone can spoil it.
    return dv, StepStatus(0) if at.gradient @ dv < 0.0 else StepStatus.LINE_SEARCH_FAILED


class Line:
    """The cost along v + alpha dv; its momentum part needs three scalars only (sap_formulas 4.4)."""

    def __init__(self, problem: Problem, v: np.ndarray, dv: np.ndarray, at: Evaluation):
        dp = problem.A @ dv
        self.problem, self.vc, self.vr = problem, at.vc, at.vr
        self.dvr = problem.rows_J @ dv
        self.dvc = (problem.J @ dv).reshape(-1, 3)
        self.slope0, self.curvature0 = float(dv @ (problem.A @ (v - problem.v_star) - problem.impulse)), float(dv @ dp)
        self.momentum0 = at.cost - problem.cost(at.vc) - problem.rows_cost(at.vr)
        self.cost0, self.derivative0 = at.cost, float(at.gradient @ dv)

    def cost(self, alpha: float) -> float:
        momentum = self.momentum0 + alpha * self.slope0 + 0.5 * alpha**2 * self.curvature0
        rows = self.problem.rows_cost(self.vr + alpha * self.dvr)
        return momentum + self.problem.cost(self.vc + alpha * self.dvc) + rows

    def derivative(self, alpha: float) -> float:
        gamma = self.problem.gamma(self.vc + alpha * self.dvc)
        rows = float(self.dvr @ self.problem.rows_gamma(self.vr + alpha * self.dvr))
        return self.slope0 + alpha * self.curvature0 - float(np.sum(self.dvc * gamma)) - rows

    def curvature(self, alpha: float) -> float:
        G = self.problem.hessians(self.vc + alpha * self.dvc)
        rows = float(self.dvr**2 @ self.problem.rows_hessians(self.vr + alpha * self.dvr))
        return self.curvature0 + float(np.einsum("ci,cij,cj->", self.dvc, G, self.dvc)) + rows
