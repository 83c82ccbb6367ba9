"""The convex problem of a step: contacts with frames, Jacobians and laws, all frozen at q0 (sap_formulas 2, 3.0, 5).

Contact frame C: z from A to B, x and y from z alone.  vc = J v = R_WC^T (v_Bc - v_Ac), rows (t1, t2, n); vn > 0
separates.  Only trees with a contact or an active constraint take part; the others keep v = v* and stay out of the
problem's sums.
"""

from dataclasses import dataclass, field

import numpy as np

from sapsim.reference.bodies import System
from sapsim.reference.collide import Overlap, find_overlaps
from sapsim.reference.constraints import Constraint
from sapsim.reference.contact_laws import LAWS, ContactParameters
from sapsim.reference.kinematics import Kinematics, point_jacobian


@dataclass
class Contact:
    """One contact point, and after the solve its results.

    Fields:
        shape_a < shape_b, feature: who touches.  point [m], normal from A to B, depth [m]: world, start of the step.
        R_WC: contact frame.  J: (3, nv) over all dofs.  w: Delassus weight [1/kg].  law: a contact law.
        stiffness: as realised [N/m].  friction: of the pair.
        gamma [N s], vc [m/s]: in C, end of the step.  impulse_W [N s] on B, slip_velocity [m/s]: world axes.
    """

    shape_a: int
    shape_b: int
    feature: int
    point: np.ndarray
    normal: np.ndarray
    depth: float
    R_WC: np.ndarray
    J: np.ndarray
    w: float
    law: object
    stiffness: float
    friction: float
    gamma: np.ndarray = field(default_factory=lambda: np.zeros(3))
    vc: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def impulse_W(self) -> np.ndarray:
        return self.R_WC @ self.gamma

    @property
    def slip_velocity(self) -> np.ndarray:
        return self.R_WC[:, :2] @ self.vc[:2]


@dataclass
class Problem:
    """The problem over the n participating dofs: A (n, n), v_star (n,), J (3 nc, n), one law per contact.

    rows_J (nr, n) and one law per row are those of the scalar constraints.  Free motion costs
    1/2 (v - v_star)' A (v - v_star) - impulse' (v - v_star); in the momentum form v0 stands for v_star, and impulse is h tau.
    """

    A: np.ndarray
    v_star: np.ndarray
    J: np.ndarray
    laws: list
    rows_J: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    rows_laws: list = field(default_factory=list)
    impulse: np.ndarray | float = 0.0

    def __post_init__(self) -> None:
        self.rows_J = self.rows_J.reshape(-1, len(self.v_star))

    def rows_cost(self, vr: np.ndarray) -> float:
        return sum(law.cost(v) for law, v in zip(self.rows_laws, vr, strict=True))

    def rows_gamma(self, vr: np.ndarray) -> np.ndarray:
        return np.array([law.gamma(v) for law, v in zip(self.rows_laws, vr, strict=True)])

    def rows_hessians(self, vr: np.ndarray) -> np.ndarray:
        return np.array([law.hessian(v) for law, v in zip(self.rows_laws, vr, strict=True)])

    def cost(self, vc: np.ndarray) -> float:
        return sum(law.cost(vc_i) for law, vc_i in zip(self.laws, vc, strict=True))

    def gamma(self, vc: np.ndarray) -> np.ndarray:
        return np.array([law.gamma(vc_i) for law, vc_i in zip(self.laws, vc, strict=True)]).reshape(-1, 3)

    def hessians(self, vc: np.ndarray) -> np.ndarray:
        return np.array([law.hessian(vc_i) for law, vc_i in zip(self.laws, vc, strict=True)]).reshape(-1, 3, 3)


def combine_materials(a, b) -> tuple[float, float, float, float]:
    """k, d, tau, mu of a pair of surfaces (sap_formulas 2.3): series stiffness, crossed dissipation weights."""
    k1, k2 = a.stiffness, b.stiffness
    k_sum, mu_sum = k1 + k2, a.friction + b.friction
    k = k1 * k2 / k_sum if k_sum > 0.0 else 0.0
    d = (k2 * a.dissipation + k1 * b.dissipation) / k_sum if k_sum > 0.0 else 0.0
    mu = 2.0 * a.friction * b.friction / mu_sum if mu_sum > 0.0 else 0.0
    return k, d, a.relaxation_time + b.relaxation_time, mu


def contact_frame(n: np.ndarray) -> np.ndarray:
    """R_WC with z along n, from n and its smallest |component|, lowest index on ties (sap_formulas 2.2)."""
    i = int(np.argmin(np.abs(n)))
    j, k = (i + 1) % 3, (i + 2) % 3
    mag = np.sqrt(1.0 - n[i] ** 2)
    x, y = np.zeros(3), np.zeros(3)
    x[j], x[k] = -n[k] / mag, n[j] / mag
    y[i], y[j], y[k] = mag, -n[i] * n[j] / mag, -n[i] * n[k] / mag
    return np.column_stack([x, y, n])


def calc_contacts(scene, system: System, kin: Kinematics, A: np.ndarray, v0: np.ndarray) -> list[Contact]:
    """All contacts at q0, sorted by (shape_a, shape_b, feature)."""
    return [_contact(scene, system, kin, A, v0, found) for found in find_overlaps(scene, system, kin)]


def _contact(scene, system, kin, A, v0, found: Overlap) -> Contact:
    a, b = system.shapes[found.shape_a], system.shapes[found.shape_b]
    k, d, tau, mu = combine_materials(a.material, b.material)
    # The point sits nearer the stiffer body's surface.
    k_sum = a.material.stiffness + b.material.stiffness
    share = a.material.stiffness / k_sum if k_sum > 0.0 else 0.5
    p_WC = share * found.p_WCa + (1.0 - share) * found.p_WCb
    R_WC = contact_frame(found.normal)
    J = R_WC.T @ (point_jacobian(system, kin, b.body, p_WC) - point_jacobian(system, kin, a.body, p_WC))
    # Delassus weight from the diagonal of A alone; one number for the three rows (sap_formulas 3.0).
    W = J @ np.diag(1.0 / np.diag(A)) @ J.T
    w = float(np.linalg.norm(W)) / 3.0
    settings = scene.contact
    law = LAWS[settings.law](
        ContactParameters(
            h=scene.time_step,
            k=k,
            d=d,
            tau=tau,
            mu=mu,
            depth=found.depth,
            vn0=float(J[2] @ v0),
            w=w,
            sigma=settings.sigma,
            stiction_tolerance=settings.stiction_tolerance,
            near_rigid=settings.near_rigid,
        )
    )
    return Contact(
        found.shape_a,
        found.shape_b,
        found.feature,
        p_WC,
        found.normal,
        found.depth,
        R_WC,
        J,
        w,
        law,
        law.stiffness,
        mu,
    )


def participating_dofs(system: System, contacts: list[Contact], constraints: list[Constraint]) -> np.ndarray:
    """Indices of the dofs of trees that a contact touches or an active constraint acts on."""
    tree = system.dof_tree
    touched = {t for c in constraints for t in c.trees}
    for c in contacts:
        for shape in (c.shape_a, c.shape_b):
            body = system.shapes[shape].body
            if body >= 0:
                touched.add(system.bodies[body].tree)
    return np.flatnonzero(np.isin(tree, list(touched)))


def build_problem(
    contacts: list[Contact], constraints: list[Constraint], A: np.ndarray, v_star: np.ndarray, dofs: np.ndarray
) -> Problem:
    """The problem restricted to the participating dofs."""
    J = np.array([c.J[:, dofs] for c in contacts]).reshape(-1, len(dofs))
    rows = np.array([c.J[dofs] for c in constraints])
    laws, rows_laws = [c.law for c in contacts], [c.law for c in constraints]
    return Problem(A[np.ix_(dofs, dofs)], v_star[dofs], J, laws, rows, rows_laws)
