"""Which pairs of shapes are tested for contact (contract 1.4).

Never: two shapes of one body (links joined by fixed joints are one body), two immovable bodies, the two bodies that a joint
connects unless the joint says `collide: true` (a link without mass and without shapes counts as part of the joint), and what
`filter`, `self_collision` and `collision` switch off, and what the bits of two shapes do not let meet.  The world is exempt
from the rule about joints: a body jointed to it does touch the world's own shapes.  Links that are fixed in the world, such
as a robot's base, are not the world here: the body that a joint connects to them does not touch them.

The rules are told as arrays by shape and a sorted list of pairs of links, linear in the size of the scene, so that the host and
the device (collide/rules.py) ask the same question of two shapes.  A small model gets the list of all pairs beside them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sapsim.kinds.base import code, registry

LISTED = 33_000  # pairs of shapes up to which a model keeps them as a list (docs/performance.md: where a grid is faster)
CHUNK = 1 << 20  # pairs looked at together when they are counted out


@dataclass
class Rules:
    """What decides whether two shapes are tested, by shape, and the list of pairs of links that are not.

    Fields:
        arrays: topology arrays shape_body, shape_link, shape_kind, shape_contype, shape_conaffinity, shape_instance (twice the
            instance's number, plus one where its links may touch each other; -1 of the world), kind_pair (2 code of the pair
            kind of two shape kinds + 1 where it takes them in the other order, -1 where they have none), and excluded_start,
            excluded_link: links below link i with which i is not tested, ascending, -1 = the world.
    """

    arrays: dict[str, np.ndarray]

    @cached_property
    def _excluded(self) -> np.ndarray:
        """Keys (higher link) * (nlink + 1) + lower link + 1 of the excluded pairs, ascending."""
        start, link = self.arrays["excluded_start"], self.arrays["excluded_link"]
        return np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start)) * len(start) + link + 1

    def kind(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """near_kind of pairs of shapes a, b (n,); -1 where they are not tested."""
        s = self.arrays
        body, link, instance = s["shape_body"], s["shape_link"], s["shape_instance"]
        meet = (s["shape_contype"][a] & s["shape_conaffinity"][b]) | (s["shape_contype"][b] & s["shape_conaffinity"][a])
        one = (instance[a] >= 0) & (instance[a] // 2 == instance[b] // 2)
        tested = (body[a] != body[b]) & (meet != 0) & ~(one & (instance[a] & instance[b] & 1 == 0))
        high, low = np.maximum(link[a], link[b]).astype(np.int64), np.minimum(link[a], link[b])
        key = high * len(s["excluded_start"]) + low + 1
        if self._excluded.size:
            at = np.minimum(np.searchsorted(self._excluded, key), self._excluded.size - 1)
            tested &= self._excluded[at] != key
        n = len(registry("shapes"))
        return np.where(tested, s["kind_pair"][s["shape_kind"][a] * n + s["shape_kind"][b]], -1)

    def all_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(a, b, kind) of all pairs that are tested, a < b, sorted.  The time is that of all pairs of shapes."""
        n = len(self.arrays["shape_body"])
        rows = max(1, CHUNK // max(1, n))
        parts = [np.zeros((3, 0), np.int32)]
        for first in range(0, n, rows):
            a, b = np.nonzero(np.arange(first, min(first + rows, n))[:, None] < np.arange(n))
            kind = self.kind(a + first, b)
            parts.append(np.array([a + first, b, kind], np.int32)[:, kind >= 0])
        return tuple(np.concatenate(parts, axis=1))


@dataclass
class PairTable:
    """The rules, and the list of pairs with a < b, sorted, where the model is small enough; else it is empty.

    `listed` says which; max_near and max_points bound the near pairs and the contacts of a step.
    """

    rules: Rules
    a: np.ndarray  # (npair,) int32
    b: np.ndarray
    kind: np.ndarray
    listed: bool
    max_near: int
    max_points: int

    @property
    def convex(self) -> int:
        """Of the pairs in the list, or of the kinds of pairs that there may be, how many the stage `convex` collides."""
        kinds = self.kind
        if not self.listed:
            there = np.unique(self.rules.arrays["shape_kind"])
            table = self.rules.arrays["kind_pair"].reshape(2 * (len(registry("shapes")),))
            kinds = table[np.ix_(there, there)].ravel()
        there = np.array([kind.in_convex_stage for kind in registry("pairs").values()])
        return int(there[kinds[kinds >= 0] // 2].sum())


def pair_table() -> dict[tuple[str, str], tuple[int, Any]]:
    """Of two kinds of shapes the kind of pair: (2 code + 1 where it takes them in the other order, PairKind)."""
    table = {}
    for kind in registry("pairs").values():
        if kind.generic:
            table |= _generic(kind, 2 * code("pairs", kind.name))
    for kind in registry("pairs").values():
        if not kind.generic:
            table[(kind.a, kind.b)] = (2 * code("pairs", kind.name), kind)
            if kind.a != kind.b:
                table[(kind.b, kind.a)] = (2 * code("pairs", kind.name) + 1, kind)
    return table


def _generic(kind, number: int) -> dict[tuple[str, str], tuple[int, Any]]:
    """What a generic pair stands for: of every two convex shapes, or of every convex shape and one that has parts."""
    shapes = registry("shapes")
    whole = [s.name for s in shapes.values() if s.convex is not None and not s.parts]
    if not shapes[kind.b].parts:
        return {(a, b): (number, kind) for a in whole for b in whole}
    return {(a, kind.b): (number, kind) for a in whole} | {(kind.b, a): (number + 1, kind) for a in whole}


def find_pairs(scene, groups, shapes, shape_link: np.ndarray, shape_body: np.ndarray) -> PairTable:
    """`groups` of scene.bodies.group_links (the world first), `shapes` in order with their links and bodies (-1: world)."""
    rules = Rules(
        {"shape_body": shape_body, "shape_link": shape_link, "kind_pair": _kind_table()}
        | _shape_rules(scene, shapes, shape_link)
        | _excluded_links(scene, groups)
    )
    n = len(shapes)
    points = np.array([k.max_points for k in registry("pairs").values()], np.int64)
    # near entries: two for a triangle of a surface (collide/parts.py)
    parts = np.array([1 if s.surface is None else 2 * len(s.surface.triangles) for s in shapes], np.int64)
    if n * (n - 1) // 2 > LISTED:
        none = np.zeros(0, np.int32)
        most = n * (n - 1) // 2 * int(parts.max())
        return PairTable(rules, none, none, none, listed=False, max_near=most, max_points=most * int(points.max()))
    a, b, kind = rules.all_pairs()
    near = parts[a] * parts[b]
    return PairTable(rules, a, b, kind, listed=True, max_near=int(near.sum()), max_points=int((near * points[kind // 2]).sum()))


def _kind_table() -> np.ndarray:
    """kind_pair, (nshapekind^2,)."""
    shapes = list(registry("shapes"))
    table = np.full((len(shapes), len(shapes)), -1, np.int32)
    for (a, b), (number, _) in pair_table().items():
        table[shapes.index(a), shapes.index(b)] = number
    return table.ravel()


def _shape_rules(scene, shapes, shape_link: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays by shape.  A link that does not collide has shapes without bits: they meet nothing."""
    kinds = list(registry("shapes"))
    links = [scene.links[i] if i >= 0 else None for i in shape_link]
    bits = [s.bits if link is None or link.collide else (0, 0) for s, link in zip(shapes, links, strict=True)]
    number: dict[str, int] = {}
    instance = [-1 if k is None else 2 * number.setdefault(k.instance, len(number)) + k.self_collision for k in links]
    contype, conaffinity = (np.array(x, np.uint32).view(np.int32) for x in zip(*bits, strict=True)) if bits else ([], [])
    return {
        "shape_kind": np.array([kinds.index(s.kind) for s in shapes], np.int32),
        "shape_contype": np.asarray(contype, np.int32),
        "shape_conaffinity": np.asarray(conaffinity, np.int32),
        "shape_instance": np.array(instance, np.int32),
    }


def _excluded_links(scene, groups) -> dict[str, np.ndarray]:
    """Pairs of links that joints and filters keep apart; -1 is the world."""
    index = {link.name: i for i, link in enumerate(scene.links)}
    links_of = [[link for link, _ in group.members] for group in groups]
    bodies, links = _joined(scene, groups, index)
    pairs = {(i, j) for g, p in bodies for i in links_of[g] for j in links_of[p]}
    pairs |= {(i, link) for g, link in links for i in links_of[g]}
    pairs |= {(index.get(a, -1), index.get(b, -1)) for a, b in scene.filters}
    rows = np.array(sorted((max(p), min(p)) for p in pairs if max(p) >= 0), np.int64).reshape(-1, 2)
    rows = np.unique(rows, axis=0)
    return {
        "excluded_start": np.searchsorted(rows[:, 0], np.arange(len(scene.links) + 1)).astype(np.int32),
        "excluded_link": rows[:, 1].astype(np.int32),
    }


def _joined(scene, groups, index: dict[str, int]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """What joints connect: pairs of groups, and (group, link) where the link is fixed in the world.

    Massless bodies without shapes count as part of the joint.
    """
    rigid: dict[str, list[str]] = {}  # links held together by joints that do not move
    for joint in scene.joints:
        if not registry("joints")[joint.kind].moves:
            rigid.setdefault(joint.parent, []).append(joint.child)
            rigid.setdefault(joint.child, []).append(joint.parent)

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
            bodies.add((g, p))
        else:
            links.update((g, link) for link in _fixed_with(joint.parent, index, rigid))
    return bodies, links


def _fixed_with(name: str, index: dict[str, int], rigid: dict[str, list[str]]) -> set[int]:
    """Links held together with a link by joints that do not move, the world not being a link; empty for the world."""
    found, todo = set(), [name] if name in index else []
    while todo:
        here = todo.pop()
        if here in index and index[here] not in found:
            found.add(index[here])
            todo += rigid.get(here, [])
    return found
