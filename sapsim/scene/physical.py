"""Checks of mass properties (contract 1.7): a moving subtree without mass, and inertias that no rigid body has."""

import math

import numpy as np

from sapsim.kinds.base import registry
from sapsim.scene.bodies import LinkGroup, Tree, group_links
from sapsim.scene.inertials import MassSum, impossible
from sapsim.scene.report import Report, listing
from sapsim.scene.spec import Link, Pose, Where

POLICY_HINT = "`inertia: fix` or `estimate` of a model puts one in"


def check_masses(scene: Tree, report: Report) -> None:
    """Refuse moving bodies that cannot be simulated, with the link and the joint named; expects sound trees."""
    groups = group_links(scene)
    found = Report()
    refused = [_refuse_impossible(scene, g, found) for g in groups]
    _check_subtrees(scene, groups, refused, found)
    _pass_on(found, report)
    attached = sorted(
        i
        for g, bad in zip(groups, refused, strict=True)
        if not bad and (g.joint < 0 or len(g.members) > 1)
        for i, _ in g.members
    )
    by_file: dict[str, list[Link]] = {}
    for link in (scene.links[i] for i in attached if _odd(scene.links[i])):
        by_file.setdefault(place_of(link).file, []).append(link)
    for odd in by_file.values():
        names = listing([link.name for link in odd], 6)
        reason = impossible(np.asarray(odd[0].inertial.inertia))
        text = f"no rigid body alone has the inertia of {names}; accepted, for it is rigidly attached ({reason})"
        report.warn(place_of(odd[0]), "impossible-inertia", text, "check the inertia")


def _pass_on(found: Report, report: Report) -> None:
    """One error for each place: a model that is placed twice has its fault once."""
    places = set()
    for m in found.errors:
        where = Where(m.file, m.line, m.column, m.path)
        if where not in places:
            report.error(where, m.code, m.message, m.suggestion)
        places.add(where)


def _odd(link: Link) -> bool:
    return link.inertial.mass > 0.0 and bool(impossible(np.asarray(link.inertial.inertia)))


def place_of(link: Link) -> Where:
    """Where the link's mass properties stand, or else the link."""
    return link.inertial_where if link.inertial_where.file else link.where


def is_refused(group: LinkGroup) -> bool:
    """Whether a body moves, has mass, and an impossible inertia."""
    return group.joint >= 0 and bool(_reason(group))


def _reason(group: LinkGroup) -> str:
    return impossible(np.asarray(group.inertia), group.round_off) if group.mass > 0.0 else ""


def _refuse_impossible(scene: Tree, group: LinkGroup, report: Report) -> bool:
    """A moving body that has mass must have a possible inertia; whether it was refused."""
    if not is_refused(group):
        return False
    reason = _reason(group)
    link, joint = scene.links[group.root], scene.joints[group.joint]
    members = [scene.links[i] for i, _ in group.members]
    what = f'link "{link.name}"'
    if len(members) > 1:
        what = f"links {listing([m.name for m in members], 6)}, held together by fixed joints,"
    text = f'{what} on {joint.kind} joint "{joint.name}": impossible inertia, {reason}'
    heaviest = max(members, key=lambda m: m.inertial.mass)
    hint = f"check units and axes of the inertia about the com; {POLICY_HINT}"
    report.error(place_of(heaviest), "impossible-inertia", text, hint)
    return True


def _check_subtrees(scene: Tree, groups: list[LinkGroup], refused: list[bool], report: Report) -> None:
    for g in massless_groups(scene, groups, refused):
        link, joint = scene.links[groups[g].root], scene.joints[groups[g].joint]
        text = f'link "{link.name}" moves on {joint.kind} joint "{joint.name}" without mass (S^T I S = 0)'
        report.error(place_of(link), "massless", text, f"give it mass, or make its joint fixed; {POLICY_HINT}")


def massless_groups(scene: Tree, groups: list[LinkGroup], refused: list[bool]) -> list[int]:
    """The bodies whose joint has not S^T I S > 0, with I the inertia of all that it carries, all joints at zero.

    A joint below which another one fails, or an inertia is refused, is left out: mending the lower one mends both.
    """
    found = []
    carried = [MassSum.of([(g.inertial, Pose())]) for g in groups]
    settled = list(refused)  # a fault has been found in the subtree
    for g in range(len(groups) - 1, 0, -1):  # parents come before their children
        group = groups[g]
        joint = scene.joints[group.joint]
        kind = registry("joints")[joint.kind]
        S = kind.S_F(joint.axis, kind.second_axis(joint), kind.neutral)
        if not settled[g] and _is_massless(carried[g], S):
            settled[g] = True
            found.append(g)
        settled[group.parent] = settled[group.parent] or settled[g]
        if group.parent > 0:
            carried[group.parent] = _sum(carried[group.parent], carried[g], group.X_PF)
    return found


def _is_massless(carried: MassSum, S: np.ndarray) -> bool:
    """Whether S^T I S has an eigenvalue <= 0.

    Every body with mass has positive principal moments by now, so that any mass makes I positive definite.  Without
    mass I is the sum of the moments of inertia, wherever they are.
    """
    if not (carried.mass <= 0.0 and np.isfinite(carried.second).all()):
        return False
    A = S[:3].T @ carried.second @ S[:3]
    return bool(np.linalg.eigvalsh(A).min() <= carried.round_off)


def _sum(parent: MassSum, child: MassSum, X_PB: Pose) -> MassSum:
    """The sum of two, the child's moved into the parent's frame."""
    if not (math.isfinite(child.mass) and np.isfinite(child.second).all()):
        return MassSum(math.nan, parent.first, parent.second)
    return MassSum.of([(parent.inertial(), Pose()), (child.inertial(), X_PB)])
