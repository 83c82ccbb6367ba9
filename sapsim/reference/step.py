"""One step of one world, by the book: the slow, independent twin of the whole pipeline in NumPy float64.

kinematics -> free motion (M, A, tau, v*) -> contacts -> convex problem -> SAP solve -> coordinates.  Dense linear
algebra, one function per stage, no state between steps.  A failure is a status bit of the result, never an exception; a
failed step returns the state it was given.
"""

from dataclasses import dataclass, replace

import numpy as np

from sapsim.reference.bodies import build_system
from sapsim.reference.constraints import Constraint, all_impulses, calc_constraints
from sapsim.reference.contact_problem import Contact, build_problem, calc_contacts, participating_dofs
from sapsim.reference.free_motion import calc_free_motion
from sapsim.reference.inputs import scene_at
from sapsim.reference.integrate import step_coordinates
from sapsim.reference.kinematics import (
    calc_kinematics,
    link_placements,
    link_twists,
    velocity_from_external,
    velocity_to_external,
)
from sapsim.reference.locking import Locked
from sapsim.reference.sap_solver import Solution, solve
from sapsim.status import FAILURES, StepStatus


@dataclass
class StepResult:
    """The state after a step and what the step did.

    Fields:
        q (nq,), qd (nv,): as files hold them.  v, v_star (nv,): internal, dofs in the order of `Twin.system.bodies`.
        A (nv, nv); D (nv,) = diag(A)^-1/2; participating: dofs in the solve.
        contacts: sorted by (shape_a, shape_b, feature), with their impulses.  J (3 nc, nv), gamma (3 nc,) stacked.
        constraints: the active ones, with their impulses; constraint_impulse (rows,): of all rows, in the order of files.
        residual, scale [J^0.5], cost [J], iterations, line_search_iterations, optimality_reached, cost_reached, status.
    """

    q: np.ndarray
    qd: np.ndarray
    v: np.ndarray
    v_star: np.ndarray
    A: np.ndarray
    D: np.ndarray
    participating: np.ndarray
    contacts: list[Contact]
    constraints: list[Constraint]
    constraint_impulse: np.ndarray
    J: np.ndarray
    gamma: np.ndarray
    residual: float
    scale: float
    cost: float
    iterations: int
    line_search_iterations: int
    optimality_reached: bool
    cost_reached: bool
    status: StepStatus

    @property
    def converged(self) -> bool:
        return self.optimality_reached or self.cost_reached

    @property
    def momentum_scale(self) -> float:
        """max(|D A v|, |D J^T gamma|) over all dofs [J^0.5]: the size against which velocity errors are judged."""
        momentum = np.linalg.norm(self.D * (self.A @ self.v))
        impulse = self.J.T @ self.gamma + sum((c.gamma * c.J for c in self.constraints), np.zeros_like(self.v))
        return float(max(momentum, np.linalg.norm(self.D * impulse)))

    def velocity_error(self, v: np.ndarray) -> float:
        """|D^-1 (v - self.v)| / momentum_scale of another internal velocity v (0 / 0 = 0)."""
        error = float(np.linalg.norm((v - self.v) / self.D))
        return error / self.momentum_scale if error > 0.0 else 0.0


class Twin:
    """The twin of a scene, one world.  External q, qd are joint_q, joint_qd of the result file."""

    def __init__(self, scene):
        self.locked = Locked(scene)
        self.scene = self.locked.scene
        self.system = build_system(self.scene)

    def initial(self) -> tuple[np.ndarray, np.ndarray]:
        """The scene's initial q, qd."""
        return self.locked.q0.copy(), self.locked.qd0.copy()

    def internal(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Internal velocities of an external state."""
        return velocity_from_external(self.system, *self.locked.reduce(q, qd))

    def step(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        step_index: int = 0,
        relative_tolerance: float | None = None,
        effort: np.ndarray | None = None,
    ) -> StepResult:
        """The step from t = step_index h.  `relative_tolerance` replaces the scene's; `effort` (nv,) is added to tau."""
        scene, system = scene_at(self.scene, step_index * self.scene.time_step), self.system
        q, qd = self.locked.reduce(q, qd)
        settings = scene.solver
        if relative_tolerance is not None:
            settings = replace(settings, relative_tolerance=relative_tolerance)

        v0 = velocity_from_external(system, q, qd)
        kin = calc_kinematics(system, q, v0)
        free = calc_free_motion(scene, system, kin, v0, step_index * scene.time_step, effort)
        contacts = calc_contacts(scene, system, kin, free.A, v0)
        whole = settings.form == "momentum"  # every tree takes part; v_star is not known, so no constraint is out of reach
        reach = np.full_like(v0, np.inf) if whole else free.v_star
        constraints, count = calc_constraints(scene, system, kin, free.A, v0, reach)
        dofs = np.arange(system.nv) if whole else participating_dofs(system, contacts, constraints)
        v, solved = free.v_star.copy(), Solution(np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)))
        if dofs.size:
            problem = build_problem(contacts, constraints, free.A, v0 if whole else free.v_star, dofs)
            if whole:
                problem.impulse = scene.time_step * free.tau
            solved = solve(problem, v0[dofs], settings)
            v[dofs] = solved.v
        for contact, gamma, vc in zip(contacts, solved.gamma, solved.vc, strict=True):
            contact.gamma, contact.vc = gamma, vc
        for constraint, gamma in zip(constraints, solved.rows_gamma, strict=True):
            constraint.gamma = float(gamma)

        status = solved.status
        if any(contact.law.near_rigid for contact in contacts):
            status |= StepStatus.NEAR_RIGID_ACTIVE
        q1 = step_coordinates(system, q, v, scene.time_step)
        if not (np.all(np.isfinite(q1)) and np.all(np.isfinite(v))):
            status |= StepStatus.NON_FINITE
        failed = bool(status & FAILURES)
        q, qd = self.locked.expand(*((q, qd) if failed else (q1, velocity_to_external(system, q1, v))))
        return StepResult(
            q=q,
            qd=qd,
            v=v,
            v_star=free.v_star,
            A=free.A,
            D=1.0 / np.sqrt(np.diag(free.A)),
            participating=dofs,
            contacts=contacts,
            constraints=constraints,
            constraint_impulse=all_impulses(count, constraints),
            J=np.array([c.J for c in contacts]).reshape(-1, system.nv),
            gamma=solved.gamma.ravel(),
            residual=solved.residual,
            scale=solved.scale,
            cost=solved.cost,
            iterations=solved.iterations,
            line_search_iterations=solved.line_search_iterations,
            optimality_reached=solved.optimality_reached,
            cost_reached=solved.cost_reached,
            status=status,
        )

    def body_q(self, q: np.ndarray) -> np.ndarray:
        """/state/body_q of files at q: [p, quaternion xyzw] of each link, (nlink, 7)."""
        return link_placements(self.system, self._moving_q(q))

    def body_qd(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """/state/body_qd of files at q and the internal v: [v_com, omega] of each link, (nlink, 6)."""
        return link_twists(self.scene, self.system, self._moving_q(q), v)

    def _moving_q(self, q: np.ndarray) -> np.ndarray:
        return np.asarray(q, dtype=float)[self.locked.moves[0]]
