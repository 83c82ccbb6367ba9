"""Contact points of two boxes.  NumPy twin of kinds/pairs/box_box.py, whose docstring says what is reported and why.

Written otherwise than the device code: overlaps come from the corners themselves, faces are clipped as polygons side by
side (Sutherland and Hodgman 1974), and features are sets of corners: an edge is the pair of its ends.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from sapsim.reference.spatial import Placement

SQUARE = 0.999  # cosine between the normal and a face's from which on the face lies across it
NEAR_BY = 1.0e-4  # of the smallest half length: a point nearer to the nearest points is one with them
THICKNESS = 1.0e-6  # of the smallest half length: thickness of the sides in clipping
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Box:
    """Half lengths h, centre p, axes R (columns), corners (8, 3) in world; corner c has bit i set where x_i > 0."""

    h: np.ndarray
    p: np.ndarray
    R: np.ndarray
    corners: np.ndarray

    def edges(self, axis: int) -> list[frozenset[int]]:
        """The four edges along an axis, as pairs of corners."""
        return [frozenset((c, c | 1 << axis)) for c in range(8) if not c >> axis & 1]

    def face(self, axis: int, side: int) -> list[int]:
        """The four corners of a face, in order round it."""
        b, c = (axis + 1) % 3, (axis + 2) % 3
        first = side << axis
        return [first | 1 << b | 1 << c, first | 1 << c, first, first | 1 << b]


def box_box(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float):
    """(nhat_AB, [(p, depth, feature), ...]) of two boxes given by full lengths and placements."""
    a, b = _box(params_a, X_WA), _box(params_b, X_WB)
    if _is_first(a, b):
        return _contact(a, b, True, margin)
    n, points = _contact(b, a, False, margin)
    return -n, points


def _box(params, X: Placement) -> Box:
    h = 0.5 * np.array(params, dtype=float)
    signs = np.array([[1.0 if c >> i & 1 else -1.0 for i in range(3)] for c in range(8)])
    return Box(h, X.p, X.R, X.p + (signs * h) @ X.R.T)


def _is_first(a: Box, b: Box) -> bool:
    """The larger volume; of equal ones the box behind along the axis on which the centres differ most."""
    volume_a, volume_b = np.prod(a.h), np.prod(b.h)
    if volume_a != volume_b:
        return bool(volume_a > volume_b)
    d = b.p - a.p
    return bool(d[np.argmax(np.abs(d))] >= 0.0)


def _overlap(first: Box, second: Box, n: np.ndarray) -> float:
    """Overlap of the boxes' shadows on a line along n, measured the way the centres differ."""
    n = n if n @ (second.p - first.p) >= 0.0 else -n
    return float((first.corners @ n).max() - (second.corners @ n).min())


def _contact(first: Box, second: Box, first_is_a: bool, margin: float):
    """(normal from first to second, points), features and witnesses in the caller's roles."""
    tie = 16.0 * EPS * max(first.h.max(), second.h.max())
    smallest = min(first.h.min(), second.h.min())
    of_first = [_overlap(first, second, n) for n in first.R.T]
    of_second = [_overlap(first, second, n) for n in second.R.T]
    crosses = {}
    for i, j in product(range(3), range(3)):
        cross = np.cross(first.R[:, i], second.R[:, j])
        if np.linalg.norm(cross) > 1.0e-6:
            crosses[i, j] = cross / np.linalg.norm(cross)
    of_edges = {ij: _overlap(first, second, n) for ij, n in crosses.items()}
    if min([*of_first, *of_second, *of_edges.values()]) <= -margin:
        return np.array([0.0, 0.0, 1.0]), []

    pairs = list(of_edges)
    pair = pairs[_least([of_edges[ij] for ij in pairs], tie)] if pairs else None
    n, depth = first.R[:, _least(of_first, tie)], _least_of(of_first, tie)
    if _least_of(of_second, tie) < depth - tie:
        n, depth = second.R[:, _least(of_second, tie)], _least_of(of_second, tie)
    edges = pair is not None and of_edges[pair] < depth - tie
    if edges:
        n, depth = crosses[pair], of_edges[pair]
    n = n if n @ (second.p - first.p) >= 0.0 else -n
    met = None
    if depth < -tie:
        distance, direction, met = _nearest(first, second, first_is_a)
        if distance >= margin:
            return np.array([0.0, 0.0, 1.0]), []
        if distance > tie:
            n, depth = direction, -distance
    thick = THICKNESS * smallest + 4.0 * tie
    points = []
    for ref, inc, is_first in ((first, second, True), (second, first, False)):
        k = int(np.argmax(np.abs(n @ ref.R)))
        if abs(n @ ref.R[:, k]) >= SQUARE:
            points = _face_contact(ref, k, inc, is_first == first_is_a, thick, margin, n if is_first else -n)
            break
    if met is None:
        deepest = max(range(len(points)), key=lambda i: points[i][1], default=None)
        if deepest is not None and points[deepest][1] >= depth - thick:
            p, own, feature = points[deepest]
            points[deepest] = (p, max(own, depth), feature)
            return n, points
        if pair is None or not (edges or (not points and of_edges[pair] <= depth + tie)):
            return n, points
        n, depth = crosses[pair] if crosses[pair] @ (second.p - first.p) >= 0.0 else -crosses[pair], of_edges[pair]
        p, _, feature = _edge_contact(first, second, n, pair, first_is_a, depth)
        met = p, feature
    return n, _with_nearest(points, met, n, depth, NEAR_BY * smallest)


def _least_of(overlaps: list[float], tie: float) -> float:
    return overlaps[_least(overlaps, tie)]


def _with_nearest(points, met, n: np.ndarray, depth: float, near_by: float):
    """The points with the nearest ones in the place of one of their name or near them, else one more; eight at most."""
    p, feature = met
    same = [i for i, point in enumerate(points) if point[2] == feature]
    same += [i for i, point in enumerate(points) if np.linalg.norm(np.cross(n, point[0] - p)) <= near_by]
    if same:
        points[same[0]] = (p, depth, points[same[0]][2])
    elif len(points) < 8:
        points.append((p, depth, feature))
    else:
        points[min(range(8), key=lambda i: points[i][1])] = (p, depth, feature)
    return points


def _nearest(first: Box, second: Box, first_is_a: bool):
    """(distance, unit vector from first to second, (witness on A, feature)) of the nearest features.

    They are a corner and the other box, or two of the twelve edges of each.
    """
    best = (np.inf, None, None)
    for box, other, sign in ((first, second, 1.0), (second, first, -1.0)):
        for c, corner in enumerate(box.corners):
            y = (corner - other.p) @ other.R
            gap = np.clip(y, -other.h, other.h) - y
            distance = float(np.linalg.norm(gap))
            on_a = corner if (box is first) == first_is_a else other.p + other.R @ (y + gap)
            known = box is second and (gap != 0.0).all()  # two corners: that of the first has been tried
            if distance < best[0] and not known:
                name = c if (box is first) == first_is_a else 8 + c
                best = (distance, sign * (other.R @ gap) / max(distance, 1.0e-300), (on_a, name))
    for i, j in product(range(3), range(3)):
        cross = np.cross(first.R[:, i], second.R[:, j])
        if np.linalg.norm(cross) <= 1.0e-6:
            continue
        for edge_1, edge_2 in product(first.edges(i), second.edges(j)):
            a, b = first.corners[sorted(edge_1)], second.corners[sorted(edge_2)]
            s, r = np.linalg.lstsq(np.stack([a[1] - a[0], b[0] - b[1]], axis=1), b[0] - a[0], rcond=None)[0]
            gap = b[0] + r * (b[1] - b[0]) - a[0] - s * (a[1] - a[0])
            distance = float(np.linalg.norm(gap))
            if 0.0 < s < 1.0 and 0.0 < r < 1.0 and distance < best[0]:
                n = cross / np.linalg.norm(cross)
                on_a = a[0] + s * (a[1] - a[0]) if first_is_a else b[0] + r * (b[1] - b[0])
                name = _edge_feature(edge_1, edge_2) if first_is_a else _edge_feature(edge_2, edge_1)
                best = (distance, n if n @ gap >= 0.0 else -n, (on_a, name))
    return best


def _least(overlaps: list[float], tie: float) -> int:
    """Index of the least overlap; of those within `tie`, the first."""
    best = 0
    for k, overlap in enumerate(overlaps):
        if overlap < overlaps[best] - tie:
            best = k
    return best


def _face_contact(ref: Box, k: int, inc: Box, ref_is_a: bool, thick: float, margin: float, n: np.ndarray):
    """Points: the incident face, moved along the normal n to the plane of the reference face, cut to that face's outline.

    Corners are (point in that plane, depth along n).
    """
    side = 1 if n @ ref.R[:, k] >= 0.0 else 0
    face = ref.R[:, k] if side else -ref.R[:, k]
    slopes = face @ inc.R
    a = int(np.argmax(np.abs(slopes)))
    ring = inc.face(a, 0 if slopes[a] > 0.0 else 1)
    depths = (ref.h[k] - (inc.corners[ring] - ref.p) @ face) / (n @ face)
    seen = np.c_[inc.corners[ring] + depths[:, None] * n, depths]
    # a polygon is a list of (corner, edge that leaves it); an edge is (is it the incident box's, pair of corners)
    polygon = [(seen[i], (True, frozenset((c, ring[(i + 1) % 4])))) for i, c in enumerate(ring)]
    for axis, end in (((k + 1) % 3, 0), ((k + 1) % 3, 1), ((k + 2) % 3, 0), ((k + 2) % 3, 1)):
        outward = ref.R[:, axis] * (1.0 if end else -1.0)
        along = 3 - k - axis
        edge = next(e for e in ref.edges(along) if all(c >> k & 1 == side and c >> axis & 1 == end for c in e))
        polygon = _clip(polygon, np.append(outward, 0.0), ref.p @ outward + ref.h[axis], (False, edge), thick)

    found = []
    for i, (q, leaving) in enumerate(polygon):
        meeting = polygon[i - 1][1], leaving
        found.append((not (meeting[0][0] or meeting[1][0]), q[:3], float(q[3]), meeting))
    found.sort(key=lambda item: item[0])  # of points that coincide the first stays; corners of the reference face go last
    points, kept = [], []
    for _, p, depth, meeting in found:
        if depth > -margin and all(np.linalg.norm(p - other) > 2.0 * thick for other in kept):
            kept.append(p)
            points.append((p if ref_is_a else p - depth * n, depth, _feature(meeting, ref_is_a)))
    return points


def _clip(polygon, outward: np.ndarray, offset: float, side, thick: float):
    """The part of a polygon with outward . p <= offset; what lies beyond by no more than `thick` stays as it is."""
    kept = []
    for i, (p, leaving) in enumerate(polygon):
        q = polygon[(i + 1) % len(polygon)][0]
        d_p, d_q = outward @ p - offset, outward @ q - offset
        if d_p <= thick:
            kept.append((p, leaving))
        if (d_p <= thick) != (d_q <= thick):
            crossing = p + np.clip(d_p / (d_p - d_q), 0.0, 1.0) * (q - p)
            kept.append((crossing, side if d_q > thick else leaving))
    return kept


def _feature(meeting, ref_is_a: bool) -> int:
    """Name of the point where two edges of the clipped polygon meet."""
    (inc_1, edge_1), (inc_2, edge_2) = meeting
    if inc_1 == inc_2:
        (corner,) = edge_1 & edge_2
        return corner if inc_1 != ref_is_a else 8 + corner
    edge_of_a, edge_of_b = (edge_1, edge_2) if inc_1 != ref_is_a else (edge_2, edge_1)
    return _edge_feature(edge_of_a, edge_of_b)


def _edge_feature(edge_of_a: frozenset[int], edge_of_b: frozenset[int]) -> int:
    return 16 + 12 * _edge_number(edge_of_a) + _edge_number(edge_of_b)


def _edge_number(edge: frozenset[int]) -> int:
    """4 i + bit of axis i + 1 + 2 bit of axis i + 2, for the edge along axis i."""
    low, high = sorted(edge)
    i = (high - low).bit_length() - 1
    return 4 * i + (low >> (i + 1) % 3 & 1) + 2 * (low >> (i + 2) % 3 & 1)


def _edge_contact(first: Box, second: Box, n: np.ndarray, pair, first_is_a: bool, depth: float):
    """The point of A's supporting edge that is nearest to the line of B's."""
    edge_1 = max(first.edges(pair[0]), key=lambda e: sum(first.corners[c] @ n for c in e))
    edge_2 = min(second.edges(pair[1]), key=lambda e: sum(second.corners[c] @ n for c in e))
    a, b = (first.corners[sorted(edge_1)], second.corners[sorted(edge_2)])
    if not first_is_a:
        a, b, edge_1, edge_2 = b, a, edge_2, edge_1
    # a_0 + s (a_1 - a_0) - b_0 - r (b_1 - b_0) shortest
    s = np.linalg.lstsq(np.stack([a[1] - a[0], b[0] - b[1]], axis=1), b[0] - a[0], rcond=None)[0][0]
    return a[0] + np.clip(s, 0.0, 1.0) * (a[1] - a[0]), depth, _edge_feature(edge_1, edge_2)
