"""Contact points of capsules.  NumPy twins of kinds/pairs/*capsule*, whose docstrings say what is reported and why.

Written otherwise than the device code: nearest points come from a list of candidates (ends and crossings of lines), the
overlap of a segment that is inside a box from the box's corners, and what lies over a face from cuts by its four sides.
Lengths of a capsule are those of the scene: (radius, length of the straight part).
"""

from itertools import product

import numpy as np

from sapsim.reference.spatial import Placement

Points = list[tuple[np.ndarray, float, int]]
EPS = float(np.finfo(float).eps)
TOUCHING = 16.0 * EPS  # of the lengths: below it two segments, or a segment and a box, meet
MIN_OVERLAP, SIDEWAYS, ALONG = 0.01, 0.01, 0.05  # in r_A + r_B: when two capsules lie along each other
MAX_SINE = 0.1
BESIDE, SAME = 0.01, 0.01  # in r: how far beside a box's face a point may lie; how near two points are one
CORNER = 1.0e-4  # in r: how much shallower than the nearest points both ends are at a corner
EXACT, ABOVE = 1.0e-10, 1.0e-5  # in r: that of shapes that are apart, and how far sideways their witnesses may part
MIN_SINE_OF_EDGE = 1.0e-6


def _ends(params, X: Placement) -> np.ndarray:
    """The segment's negative and positive end, (2, 3)."""
    half = 0.5 * params[1] * X.R[:, 2]
    return np.array([X.p - half, X.p + half])


def _nearest_to_point(segment: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The point of a segment nearest to p."""
    along = segment[1] - segment[0]
    t = np.clip((p - segment[0]) @ along / (along @ along), 0.0, 1.0)
    return segment[0] + t * along


def _nearest_points(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The nearest points of two segments, and whether one of them is an end: the best of five candidates."""
    found = [(end, _nearest_to_point(b, end), True) for end in a]
    found += [(_nearest_to_point(a, end), end, True) for end in b]
    d_a, d_b = a[1] - a[0], b[1] - b[0]
    if np.linalg.norm(np.cross(d_a, d_b)) > EPS * np.linalg.norm(d_a) * np.linalg.norm(d_b):
        # a_0 + s d_a - b_0 - t d_b shortest
        (s, t), *_ = np.linalg.lstsq(np.stack([d_a, -d_b], axis=1), b[0] - a[0], rcond=None)
        if 0.0 < s < 1.0 and 0.0 < t < 1.0:
            found.insert(0, (a[0] + s * d_a, b[0] + t * d_b, False))
    return min(found, key=lambda pair: float(np.linalg.norm(pair[1] - pair[0])))


def capsule_plane(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """The balls at the two ends, each at its depth below the plane."""
    nhat = -X_WB.R[:, 2]
    points = []
    for feature, end in enumerate(_ends(params_a, X_WA)):
        height = (X_WB.R.T @ (end - X_WB.p))[2]
        points.append((end + params_a[0] * nhat, params_a[0] - height, feature))
    return nhat, _keep(points, margin)


def capsule_sphere(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """One point on the line from the sphere's centre to the segment; a centre on the segment: x of the capsule."""
    c = _nearest_to_point(_ends(params_a, X_WA), X_WB.p)
    reach, distance = params_a[0] + params_b[0], float(np.linalg.norm(X_WB.p - c))
    nhat = (X_WB.p - c) / distance if distance > EPS * (reach + 0.5 * params_a[1]) else X_WA.R[:, 0]
    return nhat, _keep([(c + params_a[0] * nhat, reach - distance, 0)], margin)


def capsule_capsule(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """Two points where the capsules lie along each other, else one between the nearest points of the segments."""
    a, b = _ends(params_a, X_WA), _ends(params_b, X_WB)
    r = params_a[0] + params_b[0]
    c_a, c_b, at_an_end = _nearest_points(a, b)
    distance = float(np.linalg.norm(c_b - c_a))
    u, v = X_WA.R[:, 2], X_WB.R[:, 2]
    v = -v if u @ v < 0.0 else v
    if r - distance <= -margin:
        return u, []
    if distance > TOUCHING * (r + 0.5 * (params_a[1] + params_b[1])):
        nhat = (c_b - c_a) / distance
    else:
        nhat = _across(params_a, X_WA, params_b, X_WB, u, v)
    points = _along_each_other(a, b, c_a, c_b, at_an_end, u, v, nhat, params_a[0], r)
    return nhat, _keep(points, margin) or [(c_a + params_a[0] * nhat, r - distance, 0)]


def _across(params_a, X_WA, params_b, X_WB, u, v) -> np.ndarray:
    """Normal of capsules whose segments meet."""
    cross = np.cross(u, v)
    if np.linalg.norm(cross) > 1.0e-10:
        return cross / np.linalg.norm(cross)
    volumes = [radius**2 * (0.5 * length + 2.0 / 3.0 * radius) for radius, length in (params_a, params_b)]
    d = X_WB.p - X_WA.p
    a_first = volumes[0] > volumes[1] if volumes[0] != volumes[1] else d[np.argmax(np.abs(d))] >= 0.0
    return X_WA.R[:, 0] if a_first else -X_WB.R[:, 0]


def _along_each_other(a, b, c_a, c_b, at_an_end: bool, u, v, nhat, r_a: float, r: float) -> Points:
    """The two ends of what the segments have in common along u + v; none where they lie otherwise."""
    if np.linalg.norm(np.cross(u, v)) > MAX_SINE:
        return []
    m = (u + v) / np.linalg.norm(u + v)
    low = max((a @ m).min(), (b @ m).min())
    high = min((a @ m).max(), (b @ m).max())
    half = 0.5 * (high - low)
    sideways, along = half * abs(v @ np.cross(nhat, u)), half * (abs(nhat @ u) + abs(nhat @ v))
    if 2.0 * half <= MIN_OVERLAP * r or sideways > SIDEWAYS * r or along > ALONG * r:
        return []
    points = []
    for feature, at in ((1, low), (2, high)):
        x_a = a[0] + u * ((at - a[0] @ m) / (u @ m))
        x_b = b[0] + v * ((at - b[0] @ m) / (v @ m))
        if at_an_end and (feature == 2) == (0.5 * (c_a + c_b) @ m > 0.5 * (low + high)):
            x_a, x_b = c_a, c_b
        gap = nhat @ (x_b - x_a)
        points.append((0.5 * (x_a + x_b - gap * nhat) + r_a * nhat, float(r - gap), feature))
    return points


def box_capsule(params_a, X_WA: Placement, params_b, X_WB: Placement, margin: float) -> tuple[np.ndarray, Points]:
    """Up to two points on the face that the normal points out of, where the segment's shadow along the normal ends on it.

    Apart, the nearest points too where these are others.
    """
    h, r, l = 0.5 * np.array(params_a), params_b[0], 0.5 * params_b[1]
    segment = (_ends(params_b, X_WB) - X_WA.p) @ X_WA.R  # in the box's frame
    q, x = _nearest_on_box(segment, h)
    distance = float(np.linalg.norm(x - q))
    if r - distance <= -margin:
        return np.array([0.0, 0.0, 1.0]), []
    tie = TOUCHING * (h.max() + l)
    if distance > tie:
        n, depth = (x - q) / distance, r - distance
    else:
        n, overlap = _least_overlap(segment, h, tie)
        q, depth = x + overlap * n, r + overlap
    nearest = (q, depth, 2)
    ends = _over_face(segment, n, h, BESIDE * r) or []
    found = [(q_end, float(r - n @ (x_end - q_end)), feature) for feature, (x_end, q_end) in enumerate(ends)]
    found.sort(key=lambda point: -point[1])  # the deeper first
    at_corner = not found or found[0][1] < depth - (EXACT if depth < 0.0 else CORNER) * r
    third = []
    if depth < 0.0 and not at_corner:
        across = np.cross(n, X_WA.R.T @ X_WB.R[:, 2])
        third = [nearest] * bool(abs(across @ (ends[found[0][2]][0] - found[0][0])) > ABOVE * r)
    found[:1] = [nearest if at_corner else (found[0][0], depth, found[0][2])]
    if len(found) == 2 and np.linalg.norm(found[1][0] - found[0][0]) <= SAME * r:
        alike = found[0][1] - found[1][1] <= SAME * r
        found = third or [(found[0][0], found[0][1], 2 if alike else found[0][2])]
    elif third:
        found += third
    return X_WA.R @ n, _keep([(X_WA.point(q_end), d, feature) for q_end, d, feature in found], margin)


def _nearest_on_box(segment: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nearest points (of the box, of the segment), both inside where they meet: ends, middles of cuts, edges."""
    found = [(np.clip(end, -h, h), end) for end in segment]
    along = segment[1] - segment[0]
    entry, leave = 0.0, 1.0
    for i in range(3):
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = np.sort((np.array([-h[i], h[i]]) - segment[0, i]) / along[i])
        if along[i] == 0.0:
            cuts = np.array([-np.inf, np.inf]) if abs(segment[0, i]) <= h[i] else np.array([np.inf, -np.inf])
        entry, leave = max(entry, cuts[0]), min(leave, cuts[1])
    if entry <= leave:
        x = segment[0] + 0.5 * (entry + leave) * along
        return x, x
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for s_j, s_k in product((-1.0, 1.0), repeat=2):
            edge = np.zeros((2, 3))
            edge[:, i], edge[:, j], edge[:, k] = (-h[i], h[i]), s_j * h[j], s_k * h[k]
            q, x, _ = _nearest_points(edge, segment)
            found.append((q, x))
    return min(found, key=lambda pair: float(np.linalg.norm(pair[1] - pair[0])))


def _least_overlap(segment: np.ndarray, h: np.ndarray, tie: float) -> tuple[np.ndarray, float]:
    """Direction and length of the least push that takes the segment out of the box; of equal ones the first."""
    corners = np.array(list(product(*[(-x, x) for x in h])))
    axes = list(np.eye(3))
    u = (segment[1] - segment[0]) / np.linalg.norm(segment[1] - segment[0])
    for e in np.eye(3):
        cross = np.cross(e, u)
        if np.linalg.norm(cross) > MIN_SINE_OF_EDGE:
            axes.append(cross / np.linalg.norm(cross))
    best, normal = np.inf, axes[0]
    for axis in axes:
        n = axis if axis @ segment.mean(axis=0) >= 0.0 else -axis
        overlap = float((corners @ n).max() - (segment @ n).min())
        if overlap < best - tie:
            best, normal = overlap, n
    return normal, best


def _over_face(segment: np.ndarray, n: np.ndarray, h: np.ndarray, beside: float):
    """Both ends (x, q) of the part of the segment whose shadow along n lies on the face that n points out of, or at most
    `beside` beside it; q is the shadow, moved onto the face.  None where there is no such part."""
    k = next(i for i in range(3) if 1.001 * abs(n[i]) >= np.abs(n).max())
    gaps = (segment[:, k] - np.copysign(h[k], n[k])) / n[k]  # along n from the segment's ends to the plane of the face
    ends = list(zip(segment, segment - gaps[:, None] * n, strict=True))
    for j, sign in product([i for i in range(3) if i != k], (-1.0, 1.0)):
        out = [sign * y[j] - h[j] - beside for _, y in ends]
        if min(out) > 0.0:
            return None
        if max(out) > 0.0:
            s = out[0] / (out[0] - out[1])
            cut = tuple((1.0 - s) * first + s * last for first, last in zip(*ends, strict=True))
            ends[int(np.argmax(out))] = cut
    return [(x, np.clip(y, -h, h)) for x, y in ends]


def _keep(points: Points, margin: float) -> Points:
    return [point for point in points if point[1] > -margin]
