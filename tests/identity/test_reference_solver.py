"""The twin's SAP solver on problems that need no geometry: closed forms, flags, failures (sap_formulas 10.1)."""

from dataclasses import replace

import numpy as np
import pytest

from sapsim.reference.contact_laws import ContactParameters, Lagged, Sap
from sapsim.reference.contact_problem import Problem, combine_materials, contact_frame
from sapsim.reference.sap_solver import solve
from sapsim.scene.spec import Material, Solver
from sapsim.status import StepStatus

SETTINGS = Solver()


class Linear:
    """A bilateral spring: l = 1/2 |vc - v_hat|^2 / R in all three directions; the cost is quadratic."""

    def __init__(self, v_hat, R):
        self.v_hat, self.R = np.array(v_hat), R

    def gamma(self, vc):
        return (self.v_hat - vc) / self.R

    def cost(self, vc):
        return 0.5 * self.R * self.gamma(vc) @ self.gamma(vc)

    def hessian(self, vc):
        return np.eye(3) / self.R


def spring_problem() -> Problem:
    A = np.diag([2.0, 3.0, 4.0]) + 0.5
    return Problem(A, np.array([1.0, -2.0, 0.5]), np.eye(3), [Linear([0.3, 0.1, -0.2], 0.7)])


@pytest.mark.parametrize("line_search, searches", [("exact", 1), ("backtracking", 2)])
def test_quadratic_cost_takes_one_iteration(line_search, searches):
    """The exact search needs one evaluation; backtracking shrinks 1.25 to 1, sees a rise at 0.8, and goes back."""
    problem = spring_problem()
    solution = solve(problem, np.zeros(3), replace(SETTINGS, line_search=line_search))
    exact = np.linalg.solve(problem.A + np.eye(3) / 0.7, problem.A @ problem.v_star + problem.laws[0].v_hat / 0.7)
    # One Newton step of a quadratic: round-off; 1.25 * 0.8 is 1 but for rounding.
    np.testing.assert_allclose(solution.v, exact, rtol=1e-14)
    assert (solution.iterations, solution.line_search_iterations) == (1, searches)
    assert solution.optimality_reached and solution.status == 0


def test_exact_guess_takes_no_iteration():
    problem = spring_problem()
    v = solve(problem, np.zeros(3), SETTINGS).v
    solution = solve(problem, v, replace(SETTINGS, max_iterations=0))
    assert solution.iterations == 0 and solution.optimality_reached and not solution.cost_reached
    np.testing.assert_array_equal(solution.v, v)


class Pizza:
    """Three point masses at the corners of a triangle, joined: dofs (x, y, z, yaw), contacts under the corners.

    m = 3 kg, circumradius R = 1.5 m, inertia m R^2, g = 10 m/s^2: the table slides at a torque of mu m g R about z.
    """

    m, R, g = 3.0, 1.5, 10.0

    def __init__(self, law, h=0.01, mu=1.0, k=1e4, tau=0.01, beta=1.0, torque=0.0, force_x=0.0):
        self.law, self.h, self.mu, self.k, self.tau, self.beta = law, h, mu, k, tau, beta
        self.A = np.diag([self.m, self.m, self.m, self.m * self.R**2])
        self.load = np.array([force_x, 0.0, -self.m * self.g, torque])

    def problem(self, q, v) -> Problem:
        rows, laws = [], []
        for corner in self.R * np.array([[-np.sqrt(0.75), -0.5], [np.sqrt(0.75), -0.5], [0.0, 1.0]]):
            c, s = np.cos(q[3]), np.sin(q[3])
            x, y = c * corner[0] - s * corner[1], s * corner[0] + c * corner[1]
            J = np.array([[1.0, 0.0, 0.0, -y], [0.0, 1.0, 0.0, x], [0.0, 0.0, 1.0, 0.0]])
            w = np.linalg.norm(J @ np.diag(1.0 / np.diag(self.A)) @ J.T) / 3.0
            rows.append(J)
            laws.append(
                self.law(ContactParameters(self.h, self.k, 10.0, self.tau, self.mu, -q[2], J[2] @ v, w, near_rigid=self.beta))
            )
        return Problem(self.A, v + self.h * self.load / np.diag(self.A), np.vstack(rows), laws)

    def run(self, steps, settings=SETTINGS, z=0.0):
        """States and solutions of `steps` steps from rest at height z."""
        q, v = np.array([0.0, 0.0, z, np.pi / 5.0]), np.zeros(4)
        history = []
        for _ in range(steps):
            problem = self.problem(q, v)
            solution = solve(problem, v, settings)
            v = solution.v
            q = q + self.h * v
            history.append((q, v, solution, problem))
        return history


def test_pizza_rests():
    """sap_formulas 10.1: each normal impulse m g h / 3 = 0.1 N s, no velocity."""
    _, v, solution, _ = Pizza(Sap).run(60)[-1]
    np.testing.assert_allclose(solution.gamma[:, 2], 0.1, rtol=2e-6)
    assert np.abs(v).max() < 1e-6


def test_pizza_sticks():
    """Mz = 20 below 30: friction 20 h / (3 R) = .0444 each; slip below sigma mu h g."""
    _, v, solution, problem = Pizza(Sap, mu=2.0 / 3.0, tau=0.02, torque=20.0).run(40)[-1]
    np.testing.assert_allclose(np.linalg.norm(solution.gamma[:, :2], axis=1), 0.2 / 4.5, rtol=1e-5)
    np.testing.assert_allclose(problem.J.T @ solution.gamma.ravel(), [0.0, 0.0, 0.3, -0.2], atol=3e-6)
    assert abs(v[3]) * 1.5 <= 1e-3 * 2.0 / 3.0 * 0.01 * 10.0


def test_pizza_slides_at_the_cone():
    """Mz = 40 above 30: ft = mu fn to round-off, and it turns."""
    _, v, solution, _ = Pizza(Sap, mu=2.0 / 3.0, beta=1e-8, torque=40.0).run(10)[-1]
    friction = np.linalg.norm(solution.gamma[:, :2], axis=1)
    np.testing.assert_allclose(friction, 2.0 / 3.0 * solution.gamma[:, 2], rtol=1e-12)
    assert v[3] > 0.0


def test_pizza_without_friction():
    """mu = 0 and a force along x: v_x = n h f / m."""
    history = Pizza(Sap, mu=0.0, force_x=1.0).run(20)
    for n, (_, v, _, _) in enumerate(history, start=1):
        assert v[0] == pytest.approx(n * 0.01 / 3.0, rel=2e-6)


def test_tight_tolerances_end_by_cost():
    """Tolerances of 0: steps end by the cost criterion (or at a residual of 0), and the result is right."""
    settings = replace(SETTINGS, absolute_tolerance=0.0, relative_tolerance=0.0)
    history = Pizza(Sap, mu=2.0 / 3.0, tau=0.02, torque=20.0).run(40, settings)
    for _, _, solution, _ in history:
        assert (solution.cost_reached or solution.residual == 0.0) and solution.status == 0
    _, _, solution, problem = history[-1]
    np.testing.assert_allclose(problem.J.T @ solution.gamma.ravel(), [0.0, 0.0, 0.3, -0.2], rtol=1e-6, atol=1e-9)


def test_near_rigid_pizza():
    """k = 1e20: the near-rigid floor keeps the stiction figures."""
    _, v, solution, problem = Pizza(Sap, mu=2.0 / 3.0, k=1e20, torque=20.0).run(30)[-1]
    np.testing.assert_allclose(problem.J.T @ solution.gamma.ravel(), [0.0, 0.0, 0.3, -0.2], atol=3e-6)
    assert abs(v[2]) < 1e-6 and all(law.near_rigid for law in problem.laws)


@pytest.mark.parametrize("law", [Sap, Lagged])
def test_both_line_searches_find_the_same_minimum(law):
    settings = replace(SETTINGS, relative_tolerance=1e-11)
    problem = Pizza(law, mu=0.5, torque=25.0).problem(np.array([0.0, 0.0, -2e-3, 0.4]), np.array([0.3, 0.1, -0.8, 0.5]))
    found = [
        solve(problem, np.array([0.3, 0.1, -0.8, 0.5]), replace(settings, line_search=search)).v
        for search in ("exact", "backtracking")
    ]
    # |D^-1 dv| <= |D g| because H >= A; the conditioning of D A D is 1 here.
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


@pytest.mark.parametrize("law", [Sap, Lagged])
def test_solution_is_a_minimum(law):
    problem = Pizza(law, mu=0.5, torque=25.0).problem(np.array([0.0, 0.0, -2e-3, 0.4]), np.array([0.3, 0.1, -0.8, 0.5]))
    solution = solve(problem, problem.v_star, SETTINGS)
    rng = np.random.default_rng(0)

    def cost(v):
        dv = v - problem.v_star
        return 0.5 * dv @ problem.A @ dv + problem.cost((problem.J @ v).reshape(-1, 3))

    # A relative residual of 1e-6 leaves at most its square in the cost.
    slack = 1e-12 * solution.scale**2 + 1e-14 * solution.cost
    assert solution.cost == pytest.approx(cost(solution.v), rel=1e-13)
    for size in (1e-6, 1e-3, 1.0):
        for _ in range(20):
            assert cost(solution.v + size * rng.normal(size=4)) >= solution.cost - slack


def test_too_few_iterations_is_a_flag():
    problem = Pizza(Lagged, torque=25.0).problem(np.array([0.0, 0.0, -2e-3, 0.4]), np.array([0.3, 0.1, -0.8, 0.5]))
    solution = solve(problem, np.zeros(4), replace(SETTINGS, max_iterations=1))
    assert solution.status == StepStatus.MAX_ITERATIONS and solution.iterations == 1
    assert not (solution.optimality_reached or solution.cost_reached)


def test_indefinite_hessian_is_a_flag():
    problem = replace(spring_problem(), A=np.diag([1.0, 1.0, 1.0]) - 2.0 * np.ones((3, 3)))
    with np.errstate(invalid="ignore"):
        solution = solve(replace(problem, A=problem.A + 1.1 * np.eye(3)), np.zeros(3), SETTINGS)
    assert solution.status == StepStatus.FACTORIZATION_FAILED and not solution.optimality_reached


def test_non_finite_guess_is_a_flag():
    solution = solve(spring_problem(), np.array([np.nan, 0.0, 0.0]), SETTINGS)
    assert solution.status == StepStatus.NON_FINITE and not solution.optimality_reached


def test_contact_that_nothing_moves():
    """J = 0, so w = 0: the impulse is that of vc = 0, finite in both laws, and the rest of the problem is untouched."""
    for law in (Sap, Lagged):
        still = law(ContactParameters(h=1e-3, k=1e4, d=10.0, tau=0.01, mu=0.5, depth=1e-3, vn0=0.0, w=0.0))
        problem = Problem(np.eye(2), np.array([1.0, 2.0]), np.zeros((3, 2)), [still])
        solution = solve(problem, np.zeros(2), SETTINGS)
        np.testing.assert_allclose(solution.v, [1.0, 2.0], rtol=1e-14)
        assert np.all(np.isfinite(solution.gamma)) and solution.gamma[0, 2] > 0.0


@pytest.mark.parametrize("n", [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0.6, 0, 0.8], [0.6, -0.8, 0], [1, -2, 3]])
def test_contact_frame(n):
    n = np.array(n, dtype=float) / np.linalg.norm(n)
    R = contact_frame(n)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_array_equal(R[:, 2], n)


def test_contact_frame_of_the_vertical():
    """n = +z: Cx = (0, -1, 0), Cy = (1, 0, 0) (sap_formulas 2.2)."""
    np.testing.assert_array_equal(contact_frame(np.array([0.0, 0.0, 1.0])), [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])


def test_pair_rule():
    """Defaults on both sides: k 5e5, d 50, tau 0.2, mu 0.5; each side's dissipation weighs by the other's stiffness."""
    assert combine_materials(Material(), Material()) == pytest.approx((5e5, 50.0, 0.2, 0.5), rel=1e-15)
    k, d, tau, mu = combine_materials(Material(1e5, 10.0, 0.01, 0.9), Material(3e5, 50.0, 0.05, 0.3))
    assert (k, tau) == pytest.approx((7.5e4, 0.06), rel=1e-14)
    assert d == pytest.approx(0.75 * 10.0 + 0.25 * 50.0, rel=1e-14)
    assert mu == pytest.approx(0.45, rel=1e-14)
    assert combine_materials(Material(friction=0.0), Material())[3] == 0.0
