"""What the tests of convex shapes share: a kernel around a pair of the stage `convex`, support functions, random poses."""

from dataclasses import dataclass, field
from functools import cache

import coal
import numpy as np
import warp as wp
from pairs_cases import BASE, SLOTS, Result, point_buffer, random_rotation

from sapsim.kinds.base import code, registry
from sapsim.kinds.convexity import ROOM, make_convexity
from sapsim.math.real import real
from sapsim.model.hulls import place_hulls
from sapsim.scene.hull import ConvexHull, convex_hull

wp.config.log_level = wp.LOG_WARNING
I3 = np.eye(3)
KINDS = tuple(name for name, kind in registry("shapes").items() if kind.convex is not None and not kind.parts)


@dataclass(frozen=True, eq=False)
class Solid:
    """A placed convex shape; `hull` of a convex polytope."""

    kind: str
    params: tuple[float, ...]
    p: np.ndarray
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    hull: ConvexHull | None = None

    @property
    def radius(self) -> float:
        """Of a ball about its origin that holds it; zero of a plane, which has none."""
        if self.hull is not None:
            return self.hull.radius
        kind = registry("shapes")[self.kind]
        radius = kind.radius(kind.size(self.params))
        return radius if np.isfinite(radius) else 0.0

    def moved(self, R: np.ndarray, p: np.ndarray) -> "Solid":
        """The shape after the rigid motion x -> R x + p."""
        return Solid(self.kind, self.params, R @ self.p + p, R @ self.R, self.hull)

    def at(self, p) -> "Solid":
        return Solid(self.kind, self.params, np.array(p, float), self.R, self.hull)


def hull_of(points, p=(0.0, 0.0, 0.0), R=I3) -> Solid:
    return Solid("convex", (), np.array(p, float), R, convex_hull(np.asarray(points, float)))


def supports(s: Solid, n: np.ndarray) -> np.ndarray:
    """Support function over directions n (m, 3), world: greatest n . x over the shape.  From each shape's definition."""
    m = n @ s.R
    centre = n @ s.p
    if s.hull is not None:
        return centre + (m @ s.hull.vertices.T).max(axis=1)
    length = np.linalg.norm(m, axis=1)
    across = np.hypot(m[:, 0], m[:, 1])
    if s.kind == "sphere":
        return centre + s.params[0] * length
    if s.kind == "box":
        return centre + np.abs(m) @ (0.5 * np.array(s.params))
    if s.kind == "ellipsoid":
        return centre + np.linalg.norm(m * np.array(s.params), axis=1)
    r, half = s.params[0], 0.5 * s.params[1]
    if s.kind == "capsule":
        return centre + r * length + half * np.abs(m[:, 2])
    if s.kind == "cylinder":
        return centre + r * across + half * np.abs(m[:, 2])
    if s.kind == "cone":
        return centre + np.maximum(half * m[:, 2], r * across - half * m[:, 2])
    raise AssertionError(f"give the support function of a {s.kind!r} here")


def widths(a: Solid, b: Solid, n: np.ndarray) -> np.ndarray:
    """How far B must move along each n (m, 3) to part from A; negative: the distance along n."""
    return supports(a, n) + supports(b, -n)


@cache
def convex_kernel(name: str, precision: str):
    R = real(precision)
    PointBuffer, shared = point_buffer(precision), make_convexity(R)
    Solid_t, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch
    collide = registry("pairs")[name].make_convex(R, PointBuffer, shared)

    def kernel(
        kind: wp.array2d(dtype=int), size: wp.array2d(dtype=R.vec3), radius: wp.array2d(dtype=R.t),
        p: wp.array2d(dtype=R.vec3), R_WG: wp.array2d(dtype=R.mat33), margin: R.t, hulls: Hulls, scratch: Scratch,
        out: PointBuffer, count: wp.array(dtype=int), nhat: wp.array(dtype=R.vec3),
    ):  # fmt: skip
        i = wp.tid()
        a, b = Solid_t(), Solid_t()
        a.kind = kind[i, 0]
        b.kind = kind[i, 1]
        a.size = size[i, 0]
        b.size = size[i, 1]
        a.radius = radius[i, 0]
        b.radius = radius[i, 1]
        a.R_WG = R_WG[i, 0]
        b.R_WG = R_WG[i, 1]
        found, n = collide(a, p[i, 0], b, p[i, 1], margin, hulls, scratch, wp.vec2i(i, 0), out, i, BASE)
        count[i] = found
        nhat[i] = n

    return wp.kernel(kernel, enable_backward=False, module=wp.get_module(f"test_convex_{precision}_{name}"))


def device_hulls(arrays: dict[str, np.ndarray], R, nworld: int):
    """The struct of hulls; every row of the vertices is that of one world."""
    hulls = make_convexity(R).Hulls()
    lists = [name.removeprefix("hull_") for name, values in arrays.items() if values.dtype == np.int32]
    for name in lists:
        setattr(hulls, name, wp.array(np.append(arrays[f"hull_{name}"], 0), dtype=int, device="cpu"))
    for name in ("vertex", "normal"):
        values = np.concatenate([arrays[f"hull_{name}"][0], np.zeros((1, 3))]).astype(R.np)
        base = wp.array(values[None], dtype=R.vec3, device="cpu")
        shared = wp.array(ptr=base.ptr, shape=(nworld, len(values)), strides=(0, base.strides[1]), dtype=R.vec3, device="cpu")
        shared._base = base
        setattr(hulls, name, shared)
    return hulls


def run(cases, precision: str = "float64", margin: float = 0.0, name: str = "convex_convex", keep_scratch=False):
    """The device function on every case (a, b), and what it left in scratch if asked for."""
    R = real(precision)
    n = len(cases)
    solids = [s for case in cases for s in case]
    order = sorted(range(2 * n), key=lambda i: id(solids[i].hull))  # a hull's number does not depend on who is called A
    arrays, placed = place_hulls([solids[i] for i in order])
    params = [p for _, p in sorted(zip(order, placed, strict=True))]
    kinds = [registry("shapes")[s.kind] for case in cases for s in case]
    sizes = np.array([k.size(p) for k, p in zip(kinds, params, strict=True)]).reshape(n, 2, 3)

    def to(values, dtype):
        return wp.array(np.ascontiguousarray(np.array(values).astype(R.np)), dtype=dtype, device="cpu")

    out = point_buffer(precision)()
    out.p = to(np.full((n, SLOTS, 3), np.nan), R.vec3)
    out.depth = to(np.full((n, SLOTS), np.nan), R.t)
    out.feature = wp.array(np.full((n, SLOTS), -7, np.int32), dtype=int, device="cpu")
    scratch = make_convexity(R).Scratch()
    scratch.point = wp.zeros((n, ROOM), dtype=R.vec4, device="cpu")
    scratch.name = wp.zeros((n, ROOM), dtype=int, device="cpu")
    count, nhat = wp.empty(n, dtype=int, device="cpu"), wp.empty(n, dtype=R.vec3, device="cpu")
    codes = np.array([code("shapes", s.kind) for case in cases for s in case], np.int32).reshape(n, 2)
    inputs = [
        wp.array(codes, dtype=int, device="cpu"), to(sizes, R.vec3), to([[s.radius for s in c] for c in cases], R.t),
        to([[s.p for s in c] for c in cases], R.vec3), to([[s.R for s in c] for c in cases], R.mat33), R.t(margin),
        device_hulls(arrays, R, n), scratch, out,
    ]  # fmt: skip
    wp.launch(convex_kernel(name, precision), dim=n, inputs=inputs, outputs=[count, nhat], device="cpu")
    p, depth, feature, normals = out.p.numpy(), out.depth.numpy(), out.feature.numpy(), nhat.numpy()
    results = []
    for i, k in enumerate(count.numpy()):
        used = slice(BASE, BASE + k)
        untouched = np.ones(SLOTS, dtype=bool)
        untouched[used] = False
        assert np.isnan(depth[i, untouched]).all() and (feature[i, untouched] == -7).all()
        results.append(
            Result(normals[i].astype(float), p[i, used].astype(float), depth[i, used].astype(float), feature[i, used])
        )
    return (results, scratch) if keep_scratch else results


def random_solid(kind: str, rng, scale: float = 1.0) -> Solid:
    """Of lengths about 0.5 .. 1.5 scale, at the origin, turned at random."""
    R = random_rotation(rng)
    if kind == "convex":
        points = rng.normal(size=(int(rng.integers(4, 30)), 3)) * rng.uniform(0.3, 1.0, 3) * scale
        return hull_of(points - points.mean(axis=0), R=R)
    nparam = registry("shapes")[kind].nparam
    return Solid(kind, tuple(scale * rng.uniform(0.3, 1.5, nparam)), np.zeros(3), R)


def random_cases(
    kind_a: str, kind_b: str, n: int, seed: int, far: float = 1.1, scale: float = 1.0
) -> list[tuple[Solid, Solid]]:
    """From concentric to apart: B at up to `far` times the sum of the radii; lengths of about `scale` [m]."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(n):
        a, b = random_solid(kind_a, rng, scale), random_solid(kind_b, rng, scale)
        d = rng.normal(size=3)
        b = b.at(d / np.linalg.norm(d) * rng.uniform(0.0, far) * (a.radius + b.radius))
        motion = random_rotation(rng), rng.uniform(-1.0, 1.0, 3)
        cases.append((a.moved(*motion), b.moved(*motion)))
    return cases


def coal_shape(s: Solid):
    """(geometry, transform) of coal."""
    X = coal.Transform3s(s.R, s.p)
    if s.hull is not None:
        points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for v in s.hull.vertices:
            points.append(v)
        for f in s.hull.faces:
            for k in range(1, len(f) - 1):
                triangles.append(coal.Triangle(f[0], f[k], f[k + 1]))
        return coal.Convex(points, triangles), X
    make = {
        "sphere": coal.Sphere, "box": coal.Box, "ellipsoid": coal.Ellipsoid, "capsule": coal.Capsule,
        "cylinder": coal.Cylinder, "cone": coal.Cone,
    }  # fmt: skip
    return make[s.kind](*s.params), X


def coal_distance(a: Solid, b: Solid) -> float:
    """Signed distance by coal: minus the depth where they overlap."""
    request, result = coal.DistanceRequest(True, True), coal.DistanceResult()
    request.gjk_tolerance, request.epa_tolerance = 1.0e-9, 1.0e-7  # below that its polytope fails on round shapes
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    (g_a, X_a), (g_b, X_b) = coal_shape(a), coal_shape(b)
    return coal.distance(g_a, X_a, g_b, X_b, request, result)
