"""Which pairs of shapes are tested for contact (contract 1.4).

Never: two shapes of one body (links joined by fixed joints are one body), two immovable bodies, the two bodies that a joint
connects unless the joint says `collide: true` (a link without mass and without shapes counts as part of the joint), and what
`filter`, `self_collision` and `collision` switch off, and what the bits of two shapes do not let meet.  The world is exempt
from the rule about joints: a body jointed to it does touch the world's own shapes.  Links that are fixed in the world, such
as a robot's base, are not the world here: the body that a joint connects to them does not touch them.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sapsim.kinds.base import code, registry


@dataclass
class PairTable:
    """Pairs with a < b, sorted; kind = 2 code + 1 where the pair kind takes the shapes in the other order."""

    a: np.ndarray  # (npair,) int32
    b: np.ndarray
    kind: np.ndarray
    max_points: int = 0  # the most contacts that all pairs together could give
    untested: list[tuple[str, str]] = field(default_factory=list)  # shapes for whose kinds no pair kind exists


def pair_table() -> dict[tuple[str, str], tuple[int, Any]]:
    """Of two kinds of shapes the kind of pair: (2 code + 1 where it takes them in the other order, PairKind)."""
    table = {}
    shapes = registry("shapes").values()
    for kind in registry("pairs").values():
        if kind.generic:
            bounded = [s.name for s in shapes if s.convex is not None]
            table |= {(a, b): (2 * code("pairs", kind.name), kind) for a in bounded for b in bounded}
    for kind in registry("pairs").values():
        if not kind.generic:
            table[(kind.a, kind.b)] = (2 * code("pairs", kind.name), kind)
            if kind.a != kind.b:
                table[(kind.b, kind.a)] = (2 * code("pairs", kind.name) + 1, kind)
    return table


def in_convex_stage(pair_kind: np.ndarray) -> np.ndarray:
    """Which of pairs, by kind as in PairTable, the stage `convex` collides."""
    there = np.array([kind.in_convex_stage for kind in registry("pairs").values()])
    return there[np.asarray(pair_kind, int) // 2]


def find_pairs(scene, groups, shapes, shape_link: np.ndarray, shape_body: np.ndarray) -> PairTable:
    """`groups` of scene.bodies.group_links (the world first), `shapes` in order with their links and bodies (-1: world)."""
    table = pair_table()
    joined, joined_links = _joined(scene, groups)
    blocked = _blocked(scene)
    links = scene.links
    a_list, b_list, kind_list, untested, most = [], [], [], [], 0
    for i in range(len(shapes)):
        for j in range(i + 1, len(shapes)):
            if shape_body[i] == shape_body[j] or frozenset((shape_body[i], shape_body[j])) in joined:
                continue
            li, lj = int(shape_link[i]), int(shape_link[j])
            if (int(shape_body[i]), lj) in joined_links or (int(shape_body[j]), li) in joined_links:
                continue
            if not _may_touch(links[li] if li >= 0 else None, links[lj] if lj >= 0 else None, blocked):
                continue
            if not _share_a_bit(shapes[i].bits, shapes[j].bits):
                continue
            found = table.get((shapes[i].kind, shapes[j].kind))
            if found is None:
                untested.append((shapes[i].name, shapes[j].name))
                continue
            a_list.append(i)
            b_list.append(j)
            kind_list.append(found[0])
            most += found[1].max_points
    as_ints = (np.array(x, np.int32) for x in (a_list, b_list, kind_list))
    return PairTable(*as_ints, max_points=most, untested=untested)


def _may_touch(a, b, blocked: set[frozenset]) -> bool:
    """Whether two links (None: the world) are tested at all; a link of the world group is as immovable as the world."""
    if (a is not None and not a.collide) or (b is not None and not b.collide):
        return False
    if a is not None and b is not None and a.instance == b.instance and not (a.self_collision and b.self_collision):
        return False
    name = frozenset(("world" if a is None else a.name, "world" if b is None else b.name))
    return name not in blocked


def _share_a_bit(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """MuJoCo's rule of contype and conaffinity; shapes of other formats have bit 1 of both."""
    return bool(a[0] & b[1] or b[0] & a[1])


def _blocked(scene) -> set[frozenset]:
    return {frozenset(pair) for pair in scene.filters}


def _joined(scene, groups) -> tuple[set[frozenset], set[tuple[int, int]]]:
    """What joints connect: pairs of bodies, and (body, link) where the link is fixed in the world.

    Massless bodies without shapes count as part of the joint.
    """

    def is_part_of_joint(group) -> bool:
        return group.mass == 0.0 and not any(scene.links[link].shapes for link, _ in group.members)

    bodies, links = set(), set()
    for g, group in enumerate(groups[1:], start=1):
        joint = scene.joints[group.joint]
        collide, p = joint.collide, group.parent
        while p > 0 and is_part_of_joint(groups[p]):
            joint = scene.joints[groups[p].joint]
            collide, p = collide or joint.collide, groups[p].parent
        if collide:
            continue
        if p > 0:
            bodies.add(frozenset((g - 1, p - 1)))
        else:
            links.update((g - 1, link) for link in _fixed_with(scene, joint.parent))
    return bodies, links


def _fixed_with(scene, name: str) -> set[int]:
    """Links held together with a link by joints that do not move, the world not being a link; empty for the world."""
    index = {link.name: i for i, link in enumerate(scene.links)}
    rigid = [(j.parent, j.child) for j in scene.joints if not registry("joints")[j.kind].moves]
    found, todo = set(), [name] if name in index else []
    while todo:
        here = todo.pop()
        if here in index and index[here] not in found:
            found.add(index[here])
            todo += [c for p, c in rigid if p == here] + [p for p, c in rigid if c == here]
    return found
