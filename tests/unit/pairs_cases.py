"""What the tests of geometry pairs share: a kernel around one pair function, random poses, two independent oracles."""

import itertools
from dataclasses import dataclass
from functools import cache

import coal
import numpy as np
import warp as wp
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import registry
from sapsim.math.real import real
from sapsim.reference.pairs import PAIRS
from sapsim.reference.spatial import Placement

wp.config.log_level = wp.LOG_WARNING
SLOTS = 10  # of a row of the buffer: two more than the most points, to see that nothing is written beyond
I3 = np.eye(3)
BASE = 1  # first slot handed to the pair function


@dataclass(frozen=True)
class Shape:
    """A shape as in a scene file (kind, lengths), placed in the world."""

    kind: str
    params: tuple[float, ...]
    p: np.ndarray
    R: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """The three numbers of the device code."""
        return np.array(registry("shapes")[self.kind].size(self.params), dtype=float)

    def moved(self, R: np.ndarray, p: np.ndarray) -> "Shape":
        """The shape after the rigid motion x -> R x + p."""
        return Shape(self.kind, self.params, R @ self.p + p, R @ self.R)


def turn(axis: str, degrees: float) -> np.ndarray:
    return Rotation.from_euler(axis, degrees, degrees=True).as_matrix()


def box(p, R=I3, lengths=(1.0, 1.0, 1.0)) -> Shape:
    return Shape("box", tuple(map(float, lengths)), np.array(p, dtype=float), R)


def sphere(p, r: float = 0.5) -> Shape:
    return Shape("sphere", (r,), np.array(p, dtype=float), I3)


def capsule(p, R=I3, radius: float = 0.5, length: float = 1.0) -> Shape:
    return Shape("capsule", (radius, length), np.array(p, dtype=float), R)


def solid(kind: str, params, p, R=I3) -> Shape:
    return Shape(kind, tuple(map(float, params)), np.array(p, dtype=float), R)


def plane(p=(0.0, 0.0, 0.0), R=I3) -> Shape:
    return Shape("plane", (), np.array(p, dtype=float), R)


@dataclass(frozen=True)
class Result:
    """Points of one pair, in float64: nhat (3,), p (n, 3) on A, depth (n,), feature (n,)."""

    nhat: np.ndarray
    p: np.ndarray
    depth: np.ndarray
    feature: np.ndarray

    @property
    def p_B(self) -> np.ndarray:
        """The witness points on B."""
        return self.p - self.depth[:, None] * self.nhat

    def sorted(self) -> "Result":
        order = np.argsort(self.feature)
        return Result(self.nhat, self.p[order], self.depth[order], self.feature[order])


@cache
def point_buffer(precision: str):
    R = real(precision)
    fields = {"p": wp.array2d(dtype=R.vec3), "depth": wp.array2d(dtype=R.t), "feature": wp.array2d(dtype=int)}
    return wp.struct(type(f"TestPointBuffer_{precision}", (), {"__annotations__": fields, "__module__": __name__}))


@cache
def pair_kernel(name: str, precision: str):
    """A kernel that calls the pair's device function once for every thread."""
    R = real(precision)
    PointBuffer = point_buffer(precision)
    collide = registry("pairs")[name].make(R, PointBuffer)
    module = wp.get_module(f"test_pairs_{precision}_{name}")

    def kernel(
        size_a: wp.array(dtype=R.vec3), p_WA: wp.array(dtype=R.vec3), R_WA: wp.array(dtype=R.mat33),
        size_b: wp.array(dtype=R.vec3), p_WB: wp.array(dtype=R.vec3), R_WB: wp.array(dtype=R.mat33),
        margin: R.t, out: PointBuffer, count: wp.array(dtype=int), nhat: wp.array(dtype=R.vec3),
    ):  # fmt: skip
        i = wp.tid()
        n_points, n = collide(size_a[i], p_WA[i], R_WA[i], size_b[i], p_WB[i], R_WB[i], margin, out, i, BASE)
        count[i] = n_points
        nhat[i] = n

    return wp.kernel(kernel, enable_backward=False, module=module)


def run_pairs(name: str, precision: str, cases: list[tuple[Shape, Shape]], margin: float = 0.0) -> list[Result]:
    """The device function on every case.  Slots that it must not touch are checked on the way."""
    R = real(precision)
    n = len(cases)

    def vectors(rows, dtype):
        return wp.array(np.array(rows).astype(R.np), dtype=dtype, device="cpu")

    out = point_buffer(precision)()
    out.p = wp.array(np.full((n, SLOTS, 3), np.nan, R.np), dtype=R.vec3, device="cpu")
    out.depth = wp.array(np.full((n, SLOTS), np.nan, R.np), dtype=R.t, device="cpu")
    out.feature = wp.array(np.full((n, SLOTS), -7, np.int32), dtype=int, device="cpu")
    count, nhat = wp.empty(n, dtype=int, device="cpu"), wp.empty(n, dtype=R.vec3, device="cpu")
    inputs = []
    for which in (0, 1):
        inputs += [vectors([c[which].size for c in cases], R.vec3), vectors([c[which].p for c in cases], R.vec3)]
        inputs += [vectors([c[which].R for c in cases], R.mat33)]
    wp.launch(pair_kernel(name, precision), dim=n, inputs=[*inputs, R.t(margin), out], outputs=[count, nhat], device="cpu")
    p, depth, feature = out.p.numpy(), out.depth.numpy(), out.feature.numpy()
    results = []
    for i, k in enumerate(count.numpy()):
        used = slice(BASE, BASE + k)
        untouched = np.ones(SLOTS, dtype=bool)
        untouched[used] = False
        assert np.isnan(depth[i, untouched]).all() and np.isnan(p[i, untouched]).all()
        assert (feature[i, untouched] == -7).all()
        results.append(
            Result(nhat.numpy()[i].astype(float), p[i, used].astype(float), depth[i, used].astype(float), feature[i, used])
        )
    return results


def run_pair(name: str, precision: str, a: Shape, b: Shape, margin: float = 0.0) -> Result:
    return run_pairs(name, precision, [(a, b)], margin)[0]


def run_twin(a: Shape, b: Shape, margin: float = 0.0) -> Result:
    """The NumPy twin of the pair."""
    nhat, points = PAIRS[(a.kind, b.kind)](a.params, Placement(a.R, a.p), b.params, Placement(b.R, b.p), margin)
    p = np.array([q for q, _, _ in points]).reshape(-1, 3)
    return Result(nhat, p, np.array([d for _, d, _ in points]), np.array([f for _, _, f in points], dtype=int))


def rounded(shape: Shape, precision: str) -> Shape:
    """The shape with the numbers that the device sees in that precision."""
    t = real(precision).np
    return Shape(
        shape.kind, tuple(float(t(x)) for x in shape.params), shape.p.astype(t).astype(float),
        shape.R.astype(t).astype(float),
    )  # fmt: skip


def random_rotation(rng) -> np.ndarray:
    return Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()


def random_cases(name: str, n: int, seed: int) -> list[tuple[Shape, Shape]]:
    """Poses at which most pairs overlap, some of them deeply, and some are apart.  Lengths about 1.

    Every fourth pair with a capsule has its axis parallel to the other shape's z; two capsules only to 0.05 rad in half
    of these.
    """
    kind = registry("pairs")[name]
    rng = np.random.default_rng(seed)
    cases = []
    for i in range(n):
        shapes = []
        reach = 0.0
        for shape in (kind.a, kind.b):
            spec = registry("shapes")[shape]
            params = tuple(rng.uniform(0.3, 1.5, spec.nparam))
            radius = spec.radius(spec.size(params))
            reach += radius if np.isfinite(radius) else 0.6
            shapes.append(Shape(shape, params, np.zeros(3), random_rotation(rng)))
        if i % 4 == 3 and "capsule" in (kind.a, kind.b):
            shapes[1] = shapes[1].moved(shapes[0].R @ shapes[1].R.T, np.zeros(3))
            if kind.a == kind.b:
                tilt = Rotation.from_rotvec(0.05 * (i // 4 % 2) * rng.uniform(-1.0, 1.0, 3)).as_matrix()
                shapes[1] = shapes[1].moved(tilt, np.zeros(3))
        direction = rng.normal(size=3)
        offset = direction / np.linalg.norm(direction) * rng.uniform(0.0, 1.1) * reach
        a, b = shapes
        moved_b = Shape(b.kind, b.params, offset, b.R)
        motion = random_rotation(rng), rng.uniform(-1.0, 1.0, 3)
        cases.append((a.moved(*motion), moved_b.moved(*motion)))
    return cases


def shape_distance(shape: Shape, x: np.ndarray) -> float:
    """Signed distance of a point from a shape's surface, negative inside; of an ellipsoid, a function of the same zeros."""
    y = shape.R.T @ (x - shape.p)
    if shape.kind == "sphere":
        return float(np.linalg.norm(y) - shape.params[0])
    if shape.kind == "plane":
        return float(y[2])
    if shape.kind == "capsule":
        radius, length = shape.params
        y[2] -= np.clip(y[2], -0.5 * length, 0.5 * length)
        return float(np.linalg.norm(y) - radius)
    if shape.kind == "box":
        beyond = np.abs(y) - 0.5 * np.array(shape.params)
        return float(np.linalg.norm(np.maximum(beyond, 0.0)) + min(beyond.max(), 0.0))
    if shape.kind == "ellipsoid":
        return float(np.linalg.norm(y / np.array(shape.params)) - 1.0)
    if shape.kind in ("cylinder", "cone"):
        return _round_distance(shape, float(np.hypot(y[0], y[1])), float(y[2]))
    raise AssertionError(f"give the signed distance of a {shape.kind!r} here")


def _round_distance(shape: Shape, across: float, z: float) -> float:
    """Of a cylinder or cone, in the half plane (distance from the axis, z), from its two or three sides."""
    r, half = shape.params[0], 0.5 * shape.params[1]
    corners = (
        [(0.0, -half), (r, -half), (r, half), (0.0, half)]
        if shape.kind == "cylinder"
        else [(0.0, -half), (r, -half), (0.0, half)]
    )
    beyond, nearest = -np.inf, np.inf
    for (x_0, z_0), (x_1, z_1) in itertools.pairwise(corners):
        e = np.array([x_1 - x_0, z_1 - z_0])
        length = np.linalg.norm(e)
        d = np.array([across - x_0, z - z_0])
        beyond = max(beyond, float(e[1] * d[0] - e[0] * d[1]) / length)
        nearest = min(nearest, float(np.linalg.norm(d - np.clip(d @ e / length**2, 0.0, 1.0) * e)))
    return nearest if beyond > 0.0 else -nearest


def coal_distance(a: Shape, b: Shape) -> float:
    """Signed distance of two shapes by an independent collision library: minus the depth where they overlap."""
    request, result = coal.DistanceRequest(True, True), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1.0e-9
    geometry = [_coal_shape(s) for s in (a, b)]
    return coal.distance(geometry[0], coal.Transform3s(a.R, a.p), geometry[1], coal.Transform3s(b.R, b.p), request, result)


def _coal_shape(shape: Shape):
    if shape.kind == "sphere":
        return coal.Sphere(shape.params[0])
    if shape.kind == "plane":
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if shape.kind == "capsule":
        return coal.Capsule(*shape.params)
    if shape.kind == "box":
        return coal.Box(*shape.params)
    if shape.kind in ("cylinder", "cone", "ellipsoid"):
        return {"cylinder": coal.Cylinder, "cone": coal.Cone, "ellipsoid": coal.Ellipsoid}[shape.kind](*shape.params)
    raise AssertionError(f"give the shape of coal for a {shape.kind!r} here")
