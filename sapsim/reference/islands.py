"""Islands of the convex problem: trees joined by contacts and constraints, each solved by itself.

No term of the cost joins two islands, so their minima together are the minimum of the whole.
"""

from dataclasses import dataclass

import numpy as np

from sapsim.reference.bodies import System
from sapsim.reference.constraints import Constraint
from sapsim.reference.contact_problem import Contact, build_problem
from sapsim.reference.sap_solver import Solution, solve
from sapsim.status import StepStatus


@dataclass
class Island:
    """Trees, and the indices of the contacts and active constraints that act on them."""

    trees: set[int]
    contacts: list[int]
    constraints: list[int]

    def dofs(self, system: System) -> np.ndarray:
        return np.flatnonzero(np.isin(system.dof_tree, list(self.trees)))


def contact_trees(system: System, contact: Contact) -> set[int]:
    """The trees of the contact's bodies that move."""
    bodies = (system.shapes[shape].body for shape in (contact.shape_a, contact.shape_b))
    return {system.bodies[body].tree for body in bodies if body >= 0}


def find_islands(
    system: System, contacts: list[Contact], constraints: list[Constraint], *, every_tree: bool, split: bool
) -> list[Island]:
    """Islands of the trees that a contact touches or an active constraint acts on, or of every tree; one if not `split`."""
    uses = [Island(contact_trees(system, c), [i], []) for i, c in enumerate(contacts)]
    uses += [Island(set(c.trees), [], [i]) for i, c in enumerate(constraints)]
    if every_tree:
        uses += [Island({int(t)}, [], []) for t in np.unique(system.dof_tree)]
    islands: list[Island] = []
    for use in uses:
        joined = [island for island in islands if not split or island.trees & use.trees]
        islands = [island for island in islands if island not in joined]
        merged = [*joined, use]
        islands.append(
            Island(
                set().union(*(i.trees for i in merged)),
                sorted(c for i in merged for c in i.contacts),
                sorted(c for i in merged for c in i.constraints),
            )
        )
    return islands


def solve_islands(
    islands: list[Island],
    system: System,
    contacts: list[Contact],
    constraints: list[Constraint],
    A: np.ndarray,
    centre: np.ndarray,
    impulse: np.ndarray,
    v0: np.ndarray,
    settings,
) -> Solution:
    """The solution over all dofs (nv,); those in no island keep `centre`.

    Free motion costs 1/2 (v - centre)' A (v - centre) - impulse' (v - centre).
    """
    whole = Solution(centre.copy(), np.zeros((len(contacts), 3)), np.zeros((len(contacts), 3)), np.zeros(len(constraints)))
    found = []
    for island in islands:
        dofs = island.dofs(system)
        problem = build_problem(
            [contacts[i] for i in island.contacts], [constraints[i] for i in island.constraints], A, centre, dofs
        )
        problem.impulse = impulse[dofs]
        solution = solve(problem, v0[dofs], settings)
        whole.v[dofs] = solution.v
        whole.vc[island.contacts], whole.gamma[island.contacts] = solution.vc, solution.gamma
        whole.rows_gamma[island.constraints] = solution.rows_gamma
        found.append(solution)
    return merge_statistics(whole, found)


def merge_statistics(whole: Solution, found: list[Solution]) -> Solution:
    """The step's statistics from those of its islands: the worst ratio of residual and scale, the largest numbers of
    iterations, optimality where all reached it, cost where all have converged and one met that criterion."""
    if not found:
        return whole
    worst = max(found, key=lambda s: np.inf if not np.isfinite(s.residual) else s.residual / s.scale if s.scale > 0.0 else 0.0)
    whole.residual, whole.scale, whole.scales = worst.residual, worst.scale, [s.scale for s in found]
    whole.cost = sum(s.cost for s in found)
    whole.iterations = max(s.iterations for s in found)
    whole.line_search_iterations = max(s.line_search_iterations for s in found)
    converged = all(s.optimality_reached or s.cost_reached for s in found)
    whole.optimality_reached = all(s.optimality_reached for s in found)
    whole.cost_reached = converged and any(s.cost_reached for s in found)
    for solution in found:
        whole.status |= StepStatus(solution.status)
    return whole
