"""Bounds that certify distances and depths, from the definitions of the shapes alone.

Support functions h of directions bound a distance from below, points that the shapes hold bound it from above; a depth is no
more than the width along any direction.
"""

from functools import cache

import numpy as np
import warp as wp
from pose_arrays import Contacts, Shapes

FORMS = ("sphere", "box", "ellipsoid", "capsule", "cylinder", "cone", "convex")


def supports(s: Shapes, n: np.ndarray) -> np.ndarray:
    """Support function (n,) along unit vectors n (n, 3), world: greatest n . x over each shape, a plane's half space too."""
    m = np.einsum("kji,kj->ki", s.R, n)
    centre = np.einsum("ki,ki->k", n, s.p)
    if s.hulls:
        return centre + np.array([(s.hulls[i].vertices @ x).max() for i, x in zip(s.hull, m, strict=True)])
    across, x, y = np.hypot(m[:, 0], m[:, 1]), s.params[:, 0], s.params[:, 1]
    reach = {
        "plane": lambda: np.where(m[:, 2] > 0.9, 0.0, np.inf),
        "sphere": lambda: x,
        "box": lambda: (np.abs(m) * 0.5 * s.params).sum(axis=1),
        "ellipsoid": lambda: np.linalg.norm(m * s.params, axis=1),
        "capsule": lambda: x + 0.5 * y * np.abs(m[:, 2]),
        "cylinder": lambda: x * across + 0.5 * y * np.abs(m[:, 2]),
        "cone": lambda: np.maximum(0.5 * y * m[:, 2], x * across - 0.5 * y * m[:, 2]),
    }
    return centre + reach[s.kind]()


def widths(a: Shapes, b: Shapes, n: np.ndarray) -> np.ndarray:
    """h (n,): how far each b must move along n to part from its a; negative: the distance along n."""
    return supports(a, n) + supports(b, -n)


def outside(s: Shapes, x: np.ndarray) -> np.ndarray:
    """How far points x (n, 3) are out of the shapes: beyond the worst of their sides; of an ellipsoid to first order."""
    y = np.einsum("kji,kj->ki", s.R, x - s.p)
    if s.hulls:
        reach = [(h.vertices @ h.normals.T).max(axis=0) for h in s.hulls]
        return np.array([(s.hulls[i].normals @ z - reach[i]).max() for i, z in zip(s.hull, y, strict=True)])
    across, r, half = np.hypot(y[:, 0], y[:, 1]), s.params[:, 0], 0.5 * s.params[:, 1]
    slant = np.hypot(r, 2.0 * half)
    beyond = {
        "plane": lambda: y[:, 2],
        "sphere": lambda: np.linalg.norm(y, axis=1) - r,
        "box": lambda: (np.abs(y) - 0.5 * s.params).max(axis=1),
        "ellipsoid": lambda: _out_of_ellipsoid(y, s.params),
        "capsule": lambda: np.hypot(across, y[:, 2] - np.clip(y[:, 2], -half, half)) - r,
        "cylinder": lambda: np.maximum(across - r, np.abs(y[:, 2]) - half),
        "cone": lambda: np.maximum(-half - y[:, 2], (2.0 * half * across + r * (y[:, 2] - half)) / slant),
    }
    return beyond[s.kind]()


def _out_of_ellipsoid(y: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(|y / s| - 1) over the length of its gradient."""
    length = np.linalg.norm(y / axes, axis=1)
    gradient = np.linalg.norm(y / axes**2, axis=1) / np.maximum(length, 1.0e-300)
    return (length - 1.0) / np.maximum(gradient, 1.0e-300)


def directions(n: int) -> np.ndarray:
    d = np.random.default_rng(0).normal(size=(n, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


@cache
def _sweep_kernel():
    f64, vec3, mat33 = wp.float64, wp.vec3d, wp.mat33d
    vertices = wp.array(dtype=vec3)

    @wp.func
    def reach(form: int, s: vec3, m: vec3, hull: vertices, first: int, end: int) -> f64:
        """Support function along m in the shape's frame, its name's place in FORMS."""
        half = f64(0.5)
        if form == 0:
            return s[0]
        if form == 1:
            return half * (s[0] * wp.abs(m[0]) + s[1] * wp.abs(m[1]) + s[2] * wp.abs(m[2]))
        if form == 2:
            return wp.length(wp.cw_mul(s, m))
        if form == 3:
            return s[0] + half * s[1] * wp.abs(m[2])
        if form == 4:
            return s[0] * wp.sqrt(m[0] * m[0] + m[1] * m[1]) + half * s[1] * wp.abs(m[2])
        if form == 5:
            return wp.max(half * s[1] * m[2], s[0] * wp.sqrt(m[0] * m[0] + m[1] * m[1]) - half * s[1] * m[2])
        best = wp.dot(m, hull[first])
        for i in range(first + 1, end):
            best = wp.max(best, wp.dot(m, hull[i]))
        return best

    @wp.kernel(module="test_pose_sweep", enable_backward=False)
    def sweep(
        form_a: int, s_a: wp.array(dtype=vec3), p_a: wp.array(dtype=vec3), R_a: wp.array(dtype=mat33), hull_a: vertices,
        span_a: wp.array(dtype=wp.vec2i), form_b: int, s_b: wp.array(dtype=vec3), p_b: wp.array(dtype=vec3),
        R_b: wp.array(dtype=mat33), hull_b: vertices, span_b: wp.array(dtype=wp.vec2i), n: wp.array(dtype=vec3),
        least: wp.array(dtype=f64),
    ):  # fmt: skip
        i = wp.tid()
        t = p_b[i] - p_a[i]
        best = f64(1.0e30)
        for k in range(n.shape[0]):
            h = reach(form_a, s_a[i], n[k] * R_a[i], hull_a, span_a[i][0], span_a[i][1]) - wp.dot(t, n[k])
            if h < best + f64(1.0e30):
                h += reach(form_b, s_b[i], -n[k] * R_b[i], hull_b, span_b[i][0], span_b[i][1])
            best = wp.min(best, h)
        least[i] = best

    return sweep


def least_width(a: Shapes, b: Shapes, n: np.ndarray) -> np.ndarray:
    """The least of widths(a, b, .) over the directions n (m, 3), the same for all poses."""
    inputs = []
    for s in (a, b):
        hull = np.concatenate([np.zeros((1, 3)), *(h.vertices for h in s.hulls)])
        start = np.cumsum([1] + [len(h.vertices) for h in s.hulls])
        span = np.stack([start[s.hull], start[np.minimum(s.hull + 1, len(start) - 1)]], axis=1).astype(np.int32)
        inputs.append(FORMS.index(s.kind))
        inputs += [wp.array(np.ascontiguousarray(x), dtype=t, device="cpu") for x, t in (
            (s.params, wp.vec3d), (s.p, wp.vec3d), (s.R, wp.mat33d), (hull, wp.vec3d), (span, wp.vec2i),
        )]  # fmt: skip
    least = wp.empty(len(a), dtype=wp.float64, device="cpu")
    wp.launch(_sweep_kernel(), dim=len(a), inputs=[*inputs, wp.array(n, dtype=wp.vec3d, device="cpu"), least], device="cpu")
    return least.numpy()


def distance_of_witnesses(a: Shapes, b: Shapes, found: Contacts) -> np.ndarray:
    """(n,) the least upper bound of the distance that the points of each contact give: from one witness to the other, and from
    each to its shape where it is beyond the surface."""
    best = np.full(len(a), np.inf)
    for k in range(found.count.max()):
        there = found.count > k
        p = np.where(there[:, None], found.p[:, k], a.p)
        q = p - np.where(there, found.depth[:, k], 0.0)[:, None] * found.nhat
        bound = np.linalg.norm(p - q, axis=1) + np.maximum(outside(a, p), 0.0) + np.maximum(outside(b, q), 0.0)
        best = np.minimum(best, np.where(there, bound, np.inf))
    return best
