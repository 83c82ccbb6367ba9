"""What only the whole scene tells of its constraints: which bodies they join, and whether the initial state keeps them."""

import math

import numpy as np

from sapsim.kinds.base import JointKind, registry
from sapsim.scene.bodies import LinkGroup, group_links
from sapsim.scene.poses import compose, matrix
from sapsim.scene.report import Report, listing
from sapsim.scene.spec import WORLD, Attachment, Constraint, Joint, Pose, Scene

VIOLATED = 1.0e-6  # gaps below this are round-off of decimals in a file [m or rad]
TREES = 2  # that one constraint may reach


def check_constraints(scene: Scene, report: Report) -> None:
    """Errors for constraints that nothing can move or that reach too far; warnings for those violated at t = 0."""
    groups = group_links(scene)
    _warn_of_limits(scene, report)
    _warn_of_friction(scene, report)
    if not scene.constraints:
        return
    group_of = {WORLD: 0} | {scene.links[i].name: g for g, group in enumerate(groups) for i, _ in group.members}
    carried = {scene.joints[group.joint].name: g for g, group in enumerate(groups) if group.joint >= 0}
    faults = len(report.errors)
    for c in scene.constraints:
        if c.a is not None and c.b is not None:
            _check_ends(c, group_of[c.a.link], group_of[c.b.link], report)
        _check_trees(c, {_tree(groups, carried[joint]) for joint in c.joints if joint in carried}, report)
    if len(report.errors) == faults:
        _warn_of_gaps(scene, groups, report)


def _check_ends(c: Constraint, a: int, b: int, report: Report) -> None:
    if a == b:
        text = f"both its ends are on one body: {c.a.link} and {c.b.link} do not move against one another"
        if a == 0:
            text = f"neither of its ends can move: {c.a.link} and {c.b.link} are fixed in the world"
        report.error(c.where, "same-body", text, "join two bodies, at least one of which moves")


def _check_trees(c: Constraint, trees: set[int], report: Report) -> None:
    if len(trees) > TREES:
        text = f"its joints are in {len(trees)} separate trees of bodies; at most {TREES} are allowed"
        report.error(c.where, "too-many-trees", text, "chain constraints of two joints, or join the mechanisms by joints")


def _tree(groups: list[LinkGroup], g: int) -> int:
    """The group at the root of a group's tree."""
    while groups[g].parent > 0:
        g = groups[g].parent
    return g


def _warn_of_limits(scene: Scene, report: Report) -> None:
    """One warning for each file: joints that start beyond a limit."""
    found: dict[str, list[tuple[Joint, float]]] = {}
    for joint in scene.joints:
        if registry("joints")[joint.kind].nv == 1 and joint.q0:
            gap = max(joint.limit.lower - joint.q0[0], joint.q0[0] - joint.limit.upper)
            if gap > VIOLATED:
                found.setdefault(joint.where.file, []).append((joint, gap))
    for items in found.values():
        unit = {joint.name: registry("joints")[joint.kind].q_units[0] for joint, _ in items}
        names = listing([f"{joint.name} by {gap:.6g} {unit[joint.name]}" for joint, gap in items], 6)
        text = f"joints beyond their limits at t = 0: {names}"
        report.warn(
            items[0][0].where, "violated-at-start", text, "give `joint_q` within them; they come back by half each step"
        )


def _warn_of_friction(scene: Scene, report: Report) -> None:
    for joint in scene.joints:
        if joint.friction > 0.0 and registry("joints")[joint.kind].needs_world:
            text = f'`friction` has no effect on the {joint.kind} joint "{joint.name}"'
            report.warn(joint.where, "no-effect", text, "remove it")


def _warn_of_gaps(scene: Scene, groups: list[LinkGroup], report: Report) -> None:
    poses = link_poses(scene, groups)
    q = {joint.name: joint.q0[0] for joint in scene.joints if len(joint.q0) == 1}
    for c in scene.constraints:
        gaps = registry("constraints")[c.kind].gaps
        ends = None if c.a is None or c.b is None else (_placed(c.a, poses), _placed(c.b, poses))
        words = [text for gap, text in gaps(c, q, ends) if gap > VIOLATED]
        if words:
            text = f'constraint "{c.name}" is violated at t = 0: {", ".join(words)}'
            report.warn(c.where, "violated-at-start", text, "start from a state that keeps it; it closes by half each step")


def _placed(end: Attachment, poses: dict[str, Pose]) -> tuple[np.ndarray, np.ndarray]:
    """p and R in world of an end's frame."""
    X = compose(poses[end.link], end.X_LP)
    return np.asarray(X.p), matrix(X.q)


def link_poses(scene: Scene, groups: list[LinkGroup]) -> dict[str, Pose]:
    """X_WL of every link, and of the world, in the scene's initial state."""
    bodies: list[Pose] = []
    for group in groups:
        X_WB = Pose()
        if group.joint >= 0:
            joint = scene.joints[group.joint]
            kind = registry("joints")[joint.kind]
            X_WB = compose(compose(bodies[group.parent], group.X_PF), _X_FM(kind, joint))
        bodies.append(X_WB)
    found = {WORLD: Pose()}
    for X_WB, group in zip(bodies, groups, strict=True):
        found |= {scene.links[i].name: compose(X_WB, X_BL) for i, X_BL in group.members}
    return found


def _X_FM(kind: JointKind, joint: Joint) -> Pose:
    """The joint's placement at its initial coordinates.

    Coordinates that are rates' integrals: the product of the exponentials of its screws at zero, first to last.  Else a
    quaternion, which a position may precede.
    """
    q = joint.q0 or kind.neutral
    if kind.nq != kind.nv:
        return Pose(q[:-4] or (0.0, 0.0, 0.0), q[-4:])
    X = Pose()
    for screw, x in zip(kind.S_F(joint.axis, kind.second_axis(joint), (0.0,) * kind.nq).T, q, strict=True):
        X = compose(X, _exponential(screw, x))
    return X


def _exponential(screw: np.ndarray, x: float) -> Pose:
    """exp(screw x) of a screw whose translation lies along its axis, or that has none."""
    omega, v = screw[:3], screw[3:]
    half = 0.5 * x
    sine = math.sin(half) * omega  # |omega| is 1 or 0
    return Pose(tuple(float(a) for a in x * v), (*(float(a) for a in sine), math.cos(half) if omega.any() else 1.0))
