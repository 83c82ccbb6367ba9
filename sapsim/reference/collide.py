"""Which shapes overlap, and where: all allowed pairs, one after another, without a broad phase.

A manifold of pairs.py gives points on A's surface, depths and one normal from A to B, with A the shape that its
function takes first.  Here A is always the shape of the lower number, so a manifold may have to be turned round.
"""

from dataclasses import dataclass

import numpy as np

from sapsim.reference import pairs
from sapsim.reference.bodies import System
from sapsim.reference.kinematics import Kinematics
from sapsim.reference.spatial import Placement


@dataclass(frozen=True)
class Overlap:
    """One point of overlap of shapes a < b: witnesses on both surfaces, normal from A to B, depth [m]; world axes."""

    shape_a: int
    shape_b: int
    feature: int
    p_WCa: np.ndarray
    p_WCb: np.ndarray
    normal: np.ndarray
    depth: float


def find_overlaps(scene, system: System, kin: Kinematics) -> list[Overlap]:
    """All points with depth > -margin at the placements of `kin`, sorted by (shape_a, shape_b, feature)."""
    X_WG = []
    for shape in system.shapes:
        X_WB = Placement() if shape.body < 0 else kin.X_WB[shape.body]
        X_WG.append(X_WB @ shape.X_BG)
    found = []
    for a, b in system.pairs:
        found += _pair(system, a, b, X_WG, scene.contact.margin)
    return sorted(found, key=lambda o: (o.shape_a, o.shape_b, o.feature))


def _pair(system: System, a: int, b: int, X_WG: list[Placement], margin: float) -> list[Overlap]:
    kinds = (system.shapes[a].kind, system.shapes[b].kind)
    turned = kinds not in pairs.PAIRS
    if kinds == ("plane", "plane"):
        return []  # half-spaces have no point of contact
    if turned and kinds[::-1] not in pairs.PAIRS:
        raise NotImplementedError(f"{kinds[0]} against {kinds[1]} has no twin")
    first, second = (b, a) if turned else (a, b)
    collide = pairs.PAIRS[(system.shapes[first].kind, system.shapes[second].kind)]
    normal, points = collide(system.shapes[first].params, X_WG[first], system.shapes[second].params, X_WG[second], margin)
    overlaps = []
    for p_first, depth, feature in points:
        p_second = p_first - depth * normal
        if turned:
            overlaps.append(Overlap(a, b, feature, p_second, p_first, -normal, depth))
        else:
            overlaps.append(Overlap(a, b, feature, p_first, p_second, normal, depth))
    return overlaps
