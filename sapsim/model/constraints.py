"""Constraint rows of a scene as arrays (fields.py): kinds in their order, each with its rows as the scene has them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sapsim.kinds.base import ConstraintRow, Tie, code, registry
from sapsim.model.inputs import Channels, effort_inputs, row_inputs
from sapsim.model.ties import place_ties

BLOCK = 3  # degrees of freedom to a block of the linear algebra
PARAMETERS = 8  # numbers of a row


@dataclass
class ConstraintTable:
    """Names, kinds and units of impulse of the rows, in the order of the result file."""

    names: list[str]
    kinds: list[str]
    units: list[str]


def place_constraints(
    scene: Any,
    external_scene: Any,
    joint_body: dict[int, int],
    on_body: Callable,
    arrays: dict[str, np.ndarray],
    channels: Channels,
) -> ConstraintTable:
    """Adds the arrays of constraint rows and of open-loop efforts to `arrays`, and what changes with time to `channels`.

    In `scene` locked joints are fixed, in `external_scene` they are what they were.  joint_body: body of a joint's index.
    on_body: model/ties.py.
    """
    kinds = sorted(registry("constraints").values(), key=lambda kind: kind.order)
    found = [(kind, row) for kind in kinds for row in kind.rows(scene)]
    tied = replace(external_scene, constraints=scene.constraints)
    ties = [(kind, _without_locked(tie, tied, joint_body)) for kind in kinds for tie in kind.ties(tied)]
    links = {link.name: i for i, link in enumerate(scene.links)}
    place_ties(ties, len(found), on_body, joint_body, links, arrays)
    body = np.array([joint_body[row.joint] for _, row in found], np.int32)
    entry = np.array([row.entry for _, row in found], np.int32)
    dof = arrays["body_dof_start"][body] + entry if found else body
    tree = arrays["body_tree"][body] if found else body
    J = np.zeros((1, len(found), BLOCK))
    parameters = np.zeros((1, len(found), PARAMETERS))
    for r, (_, row) in enumerate(found):
        J[0, r, dof[r] % BLOCK] = row.sign
        parameters[0, r, : len(row.parameters)] = row.parameters
    groups = _groups([row for _, row in found])
    order = np.argsort(tree, kind="stable")
    arrays |= {
        "constraint_kind": np.array([code("constraints", kind.name) for kind, _ in found], np.int32),
        "constraint_coordinate": arrays["body_q_start"][body] + entry if found else body,
        "constraint_block": dof // BLOCK,
        "constraint_tree": tree,
        "tree_constraint_start": np.searchsorted(tree[order], np.arange(len(arrays["tree_gravity"][0]) + 1)),
        "tree_constraint": order,
        "constraint_J": J,
        "constraint_parameters": parameters,
        "group_start": np.cumsum([0] + [len(rows) for rows, _ in groups]),
        "group_constraint": np.array([r for rows, _ in groups for r in rows], np.int32),
        "group_bounds": np.array([bounds for _, bounds in groups]).reshape(1, -1, 2),
        "group_dof": np.array([arrays["body_dof_start"][joint_body[found[rows[0]][1].joint]] for rows, _ in groups], np.int32),
        "dof_effort": _efforts(scene, joint_body, arrays),
    }
    joint_dof = {scene.joints[j].name: int(arrays["body_dof_start"][b]) for j, b in joint_body.items()}
    arrays |= row_inputs([row for _, row in found], channels)
    arrays |= effort_inputs(scene, joint_dof, len(arrays["dof_body"]), channels)
    units = [registry("joints")[scene.joints[row.joint].kind].v_units[row.entry] for _, row in found]
    return ConstraintTable(
        names=[row.name for _, row in found] + [name for _, tie in ties for name in tie.rows],
        kinds=[kind.name for kind, _ in found] + [kind.name for kind, tie in ties for _ in tie.rows],
        units=["N m s" if unit == "rad/s" else "N s" for unit in units] + [unit for _, tie in ties for unit in tie.units],
    )


def _without_locked(tie: Tie, scene: Any, joint_body: dict[int, int]) -> Tie:
    """The tie with constants in place of the coordinates of joints that do not move."""
    bias, terms = np.array(tie.bias, float), []
    for joint, coefficient in tie.terms:
        if joint in joint_body:
            terms.append((joint, coefficient))
        else:
            bias += scene.joints[joint].q0[0] * np.array(coefficient)
    return replace(tie, terms=tuple(terms), bias=tuple(bias.tolist()))


def _groups(rows: list[ConstraintRow]) -> list[tuple[list[int], tuple[float, float]]]:
    """Rows of one joint whose sum is bounded, with the bounds."""
    found: dict[int, tuple[list[int], tuple[float, float]]] = {}
    for r, row in enumerate(rows):
        if row.sum_bounds is not None:
            found.setdefault(row.joint, ([], row.sum_bounds))[0].append(r)
    return list(found.values())


def _efforts(scene: Any, joint_body: dict[int, int], arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Efforts of actuators without gains, per degree of freedom (1, ndof)."""
    efforts = np.zeros((1, len(arrays["dof_body"])))
    joints = {joint.name: j for j, joint in enumerate(scene.joints)}
    for actuator in scene.actuators:
        if not isinstance(actuator.effort, float | int):  # an input (model/inputs.py)
            continue
        efforts[0, arrays["body_dof_start"][joint_body[joints[actuator.joint]]]] += actuator.effort
    return efforts
