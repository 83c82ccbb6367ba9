"""The convex problem of a step as the device holds it, evaluated in NumPy float64 (sapsim/reference): mass matrix, Jacobians,
v_star and what laws and rows froze are read from the arrays after a step; nothing of them is made again.

Scenes have `solver: {islands: false}`, so that the recorded residual is that of the whole problem.
"""

import numpy as np

from sapsim.reference.contact_laws import LAWS
from sapsim.reference.contact_problem import Problem
from sapsim.reference.sap_solver import Evaluation, evaluate


class Row:
    """A bounded linear row (R, v_hat, least and greatest impulse)."""

    def __init__(self, row: np.ndarray):
        self.R, self.v_hat, self.lowest, self.highest = (float(x) for x in row)

    def gamma(self, v: float) -> float:
        return float(np.clip((self.v_hat - v) / self.R, self.lowest, self.highest))

    def cost(self, v: float) -> float:
        y, g = (self.v_hat - v) / self.R, self.gamma(v)
        return self.R * g * (y - 0.5 * g)


def frozen_law(name: str, row: np.ndarray):
    """The twin's law with the numbers of `contact_row` (kinds/contacts)."""
    row = row.astype(float)
    law = object.__new__(LAWS[name])
    if name == "sap":
        law.R, law.v_hat, law.mu = np.array([row[0], row[0], row[1]]), np.array([0.0, 0.0, row[2]]), row[3]
        return law
    law.fe0, law.k, law.d, law.epsilon, law.h = row[0], row[1], row[2], row[4], row[5]
    law.mu, law.n0 = (1.0, row[3]) if name == "lagged" else (row[3], None)
    return law


def mass_matrix(a: dict, w: int) -> np.ndarray:
    """A (ndof, ndof) from its blocks along the paths of the tree of blocks."""
    n = len(a["block_parent"])
    A = np.zeros((3 * n, 3 * n))
    for r in range(n):
        c = r
        while c >= 0:
            block = a["A"][w, a["A_row"][r] + a["block_depth"][c]].astype(float)
            A[3 * r : 3 * r + 3, 3 * c : 3 * c + 3] = block
            A[3 * c : 3 * c + 3, 3 * r : 3 * r + 3] = block.T
            c = a["block_parent"][c]
    return A


def jacobian(a: dict, w: int, place: int, slots: int, ndof: int) -> np.ndarray:
    """J (3, ndof) of a contact, or of an item of a tie behind the contacts."""
    J = np.zeros((3, ndof))
    for e in range(place * slots, place * slots + a["contact_entries"][w, place].sum()):
        block = a["J_block"][w, e]
        J[:, 3 * block : 3 * block + 3] += a["J"][w, e]
    return J


def rows_of(a: dict, w: int, sim) -> tuple[list[np.ndarray], list[Row]]:
    """Jacobians and laws of the active rows: scalar ones, then those of ties."""
    ndof, sizes = a["v_star"].shape[1], sim.model.sizes
    J, laws = [], []
    for r in range(sizes["nscalar"]):
        one = np.zeros(ndof)
        block = a["constraint_block"][r]
        one[3 * block : 3 * block + 3] = a["constraint_J"][w, r]
        J.append(one)
        laws.append(a["constraint_row"][w, r])
    for i in range(sizes["nitem"]):
        item = jacobian(a, w, a["ncontact"][w] + i, sim.model.slots, ndof)
        for r in range(a["item_row"][i], a["item_row"][i + 1]):
            J.append(item[r - a["item_row"][i]])
            laws.append(a["constraint_row"][w, r])
    active = [i for i, law in enumerate(laws) if law[0] > 0.0]
    return [J[i] for i in active], [Row(laws[i]) for i in active]


def evaluate_held(sim, w: int = 0) -> Evaluation | None:
    """Residual, scale and cost of world w at the v_next of the step just made; None where nothing took part."""
    a = {name: x.numpy() for name, x in sim.arrays.by_name.items()}
    tree_start, taking = a["tree_block_start"], a["part_tree"][w, : a["npart"][w]]
    dofs = [3 * b + i for t in sorted(taking) for b in range(tree_start[t], tree_start[t + 1]) for i in range(3)]
    dofs = np.array([d for d in dofs if a["dinv"][w, d // 3, d % 3] > 0.0], int)  # padding has no part in norms
    if not len(dofs):
        return None
    ndof, count = a["v_star"].shape[1], a["ncontact"][w]
    J = [jacobian(a, w, c, sim.model.slots, ndof) for c in range(count)]
    laws = [frozen_law(sim.scene.contact.law, a["contact_row"][w, c]) for c in range(count)]
    rows, row_laws = rows_of(a, w, sim)
    problem = Problem(
        mass_matrix(a, w)[np.ix_(dofs, dofs)],
        a["v_star"][w, dofs].astype(float),
        np.array(J).reshape(-1, ndof)[:, dofs],
        laws,
        np.array(rows).reshape(-1, ndof)[:, dofs],
        row_laws,
    )
    return evaluate(problem, a["v_next"][w, dofs])
