"""Ties of a scene as arrays (fields.py): kinds in their order, each with its ties as the scene has them."""

from collections.abc import Callable

import numpy as np

from sapsim.kinds.base import ConstraintKind, Tie, code

BLOCK = 3  # rows of an item, degrees of freedom of a block
PARAMETERS = 8  # numbers of a tie


def place_ties(
    found: list[tuple[ConstraintKind, Tie]],
    nscalar: int,
    on_body: Callable,
    joint_body: dict[int, int],
    links: dict[str, int],
    arrays: dict,
) -> None:
    """Adds the arrays of ties to `arrays`.  Their rows follow the nscalar scalar ones.

    on_body (link or world, p_LP, Q_LP) -> (moving body or -1, p_BP, Q_BP).  joint_body: body of a joint's index; links: the
    links' indices.
    """
    n = len(found)
    parameters, bias = np.zeros((1, n, PARAMETERS)), np.zeros((1, n, BLOCK))
    body, link = np.full((2, 2, n), -1, np.int32)
    p, q = np.zeros((2, 1, n, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (2, 1, n, 1))
    items, rows, term_start, terms, coefficients = [0], [nscalar], [0], [], []
    for t, (_, tie) in enumerate(found):
        parameters[0, t, : len(tie.parameters)] = tie.parameters
        bias[0, t] = tie.bias
        for k in range(0, len(tie.rows), BLOCK):
            rows.append(rows[-1] + len(tie.rows[k : k + BLOCK]))
        items.append(len(rows) - 1)
        for side, end in enumerate(tie.ends):
            link[side, t] = links.get(end[0], -1)
            body[side, t], p[side, 0, t], q[side, 0, t] = on_body(*end)
        for term, coefficient in sorted(_terms(tie, joint_body, arrays)):
            terms.append(term)
            coefficients.append(coefficient)
        term_start.append(len(terms))
    tree, dof, coordinate = np.array(terms, np.int32).reshape(-1, 3).T
    arrays |= {
        "tie_kind": np.array([code("constraints", kind.name) for kind, _ in found], np.int32),
        "tie_body_a": body[0],
        "tie_body_b": body[1],
        "tie_link_a": link[0],
        "tie_link_b": link[1],
        "tie_item": np.array(items),
        "item_row": np.array(rows),
        "tie_term": np.array(term_start),
        "term_dof": dof,
        "term_coordinate": coordinate,
        "term_tree": tree,
        "tie_parameters": parameters,
        "tie_bias": bias,
        "tie_p_BP": p[0],
        "tie_Q_BP": q[0],
        "tie_p_BQ": p[1],
        "tie_Q_BQ": q[1],
        "term_coefficient": np.array(coefficients, float).reshape(1, -1, BLOCK),
    }


def _terms(tie: Tie, joint_body: dict[int, int], arrays: dict) -> list[tuple[tuple[int, int, int], tuple[float, ...]]]:
    """((tree, degree of freedom, coordinate), coefficients) of each."""
    found = []
    for joint, coefficient in tie.terms:
        body = joint_body[joint]
        place = (arrays["body_tree"][body], arrays["body_dof_start"][body], arrays["body_q_start"][body])
        found.append((tuple(int(x) for x in place), coefficient))
    return found


def most_entries(arrays: dict[str, np.ndarray]) -> int:
    """The most Jacobian blocks that an item of any tie has."""
    start, path, tree = arrays["body_path_start"], arrays["body_path"], arrays["body_tree"]
    most = 1
    for t, (a, b) in enumerate(zip(arrays["tie_body_a"], arrays["tie_body_b"], strict=True)):
        blocks = [set(path[start[x] : start[x + 1]]) if x >= 0 else set() for x in (a, b)]
        same = a >= 0 and b >= 0 and tree[a] == tree[b]
        dofs = arrays["term_dof"][arrays["tie_term"][t] : arrays["tie_term"][t + 1]]
        most = max(most, len(blocks[0] | blocks[1]) if same else len(blocks[0]) + len(blocks[1]), len(set(dofs // BLOCK)))
    return most
