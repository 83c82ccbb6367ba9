"""Many random poses of a pair of shapes as arrays, and the registered pair on all of them at once."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import warp as wp
from convex_cases import convex_kernel, device_hulls
from pairs_cases import BASE, SLOTS, pair_kernel, point_buffer
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import code, registry
from sapsim.kinds.convexity import ROOM, make_convexity
from sapsim.math.real import real
from sapsim.model.hulls import hull_arrays
from sapsim.model.pairs import pair_table
from sapsim.scene.hull import ConvexHull, convex_hull

FAR = 1000.0  # a margin beyond which nothing is [m]


@dataclass(frozen=True)
class Shapes:
    """n placed shapes of one kind: params (n, 3), zero where the kind has fewer; p (n, 3), R (n, 3, 3); hull (n,) of a convex
    polytope, index into `hulls`."""

    kind: str
    params: np.ndarray
    p: np.ndarray
    R: np.ndarray
    hull: np.ndarray
    hulls: tuple[ConvexHull, ...] = ()

    def __len__(self) -> int:
        return len(self.p)

    def __getitem__(self, chosen) -> "Shapes":
        return replace(self, params=self.params[chosen], p=self.p[chosen], R=self.R[chosen], hull=self.hull[chosen])

    @property
    def nparam(self) -> int:
        return registry("shapes")[self.kind].nparam

    @property
    def radius(self) -> np.ndarray:
        """(n,) of balls about the origins that hold the shapes; zero of planes."""
        if self.hulls:
            return np.array([h.radius for h in self.hulls])[self.hull]
        if self.kind == "plane":
            return np.zeros(len(self))
        kind = registry("shapes")[self.kind]
        return np.array([kind.radius(kind.size(tuple(x[: self.nparam]))) for x in self.params])

    @property
    def sizes(self) -> np.ndarray:
        """(n, 3): the three numbers of the device code."""
        if self.hulls:
            return np.c_[self.hull.astype(float), self.radius, np.zeros(len(self))]
        kind = registry("shapes")[self.kind]
        return np.array([kind.size(tuple(x[: self.nparam])) for x in self.params], dtype=float)

    def rounded(self, precision: str) -> "Shapes":
        """With the numbers that the device sees in that precision."""
        if precision == "float64":
            return self

        def to(x):
            return x.astype(real(precision).np).astype(float)

        hulls = tuple(ConvexHull(to(h.vertices), h.faces) for h in self.hulls)
        return replace(self, params=to(self.params), p=to(self.p), R=to(self.R), hulls=hulls)

    def moved(self, R: np.ndarray, p: np.ndarray) -> "Shapes":
        """After the rigid motions x -> R x + p, (n, 3, 3) and (n, 3) or one for all."""
        return replace(self, p=np.einsum("...ij,...j", R, self.p) + p, R=R @ self.R)


@dataclass(frozen=True)
class Contacts:
    """Of n pairs: nhat (n, 3), count (n,), and over slots p on A (n, 8, 3), depth (n, 8; -inf beyond count), feature (n, 8)."""

    nhat: np.ndarray
    count: np.ndarray
    p: np.ndarray
    depth: np.ndarray
    feature: np.ndarray

    @property
    def deepest(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(depth, witness on A, witness on B) of the deepest points; -inf and NaN where there is none."""
        at = np.arange(len(self.count)), self.depth.argmax(axis=1)
        depth, p = self.depth[at], np.where(self.count[:, None] > 0, self.p[at], np.nan)
        with np.errstate(invalid="ignore"):
            return depth, p, p - depth[:, None] * self.nhat


def random_rotations(n: int, rng) -> np.ndarray:
    return Rotation.random(n, random_state=rng).as_matrix()


@cache
def random_hulls(seed: int, n: int = 60) -> tuple[ConvexHull, ...]:
    """Polytopes of 4 to 29 random vertices within about 1 m, flat, long and round ones."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        points = rng.normal(size=(int(rng.integers(4, 30)), 3)) * rng.uniform(0.1, 0.8, 3)
        found.append(convex_hull(points - points.mean(axis=0)))
    return tuple(found)


def random_shapes(kind: str, n: int, rng) -> Shapes:
    """At the origin, turned at random, of lengths from 0.1 to 1.5 m."""
    params = np.zeros((n, 3))
    nparam = registry("shapes")[kind].nparam
    params[:, :nparam] = np.exp(rng.uniform(np.log(0.1), np.log(1.5), (n, nparam)))
    hulls = random_hulls(int(rng.integers(2**31))) if kind == "convex" else ()
    return Shapes(kind, params, np.zeros((n, 3)), random_rotations(n, rng), rng.integers(0, max(1, len(hulls)), n), hulls)


def random_pairs(kinds: tuple[str, str], n: int, seed: int) -> tuple[Shapes, Shapes]:
    """A third each of pairs mostly apart, deep in each other, and touching to 1e-12 .. 1e-2 m on either side."""
    rng = np.random.default_rng(seed)
    a, b = (random_shapes(kind, n, rng) for kind in kinds)
    d = rng.normal(size=(n, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    if "plane" in kinds:
        d = np.where(kinds[0] == "plane", 1.0, -1.0) * (a if kinds[0] == "plane" else b).R[:, :, 2]
    third = np.arange(n) % 3
    share = np.where(third == 0, rng.uniform(0.5, 1.4, n), np.where(third == 1, rng.uniform(0.0, 0.5, n), 0.7))
    share[1:300:60] = 0.0  # one centre
    b = replace(b, p=d * (share * (a.radius + b.radius))[:, None])
    touching = third == 2
    found = collide(a[touching], b[touching], "float64", FAR)
    gap = 10.0 ** rng.uniform(-12.0, -2.0, len(found.count)) * rng.choice([-1.0, 1.0], len(found.count))
    b.p[touching] += (found.deepest[0] + gap)[:, None] * found.nhat
    motion = random_rotations(n, rng), rng.uniform(-1.0, 1.0, (n, 3))
    return a.moved(*motion), b.moved(*motion)


def collide(a: Shapes, b: Shapes, precision: str = "float64", margin: float = 0.0) -> Contacts:
    """The registered pair of the two kinds on all poses; told in the order a, b whichever it takes them in."""
    number, kind = pair_table()[(a.kind, b.kind)]
    if number % 2 == 1:
        return _turned(_run(kind, b, a, precision, margin))
    return _run(kind, a, b, precision, margin)


def _turned(c: Contacts) -> Contacts:
    with np.errstate(invalid="ignore"):
        return replace(c, p=c.p - np.where(np.isfinite(c.depth), c.depth, 0.0)[..., None] * c.nhat[:, None], nhat=-c.nhat)


def _run(kind, a: Shapes, b: Shapes, precision: str, margin: float) -> Contacts:
    R, n = real(precision), len(a)

    def to(values, dtype):
        return wp.array(np.ascontiguousarray(np.asarray(values).astype(R.np)), dtype=dtype, device="cpu")

    out = point_buffer(precision)()
    out.p, out.depth = to(np.full((n, SLOTS, 3), np.nan), R.vec3), to(np.full((n, SLOTS), np.nan), R.t)
    out.feature = wp.array(np.full((n, SLOTS), -7, np.int32), dtype=int, device="cpu")
    count, nhat = wp.empty(n, dtype=int, device="cpu"), wp.empty(n, dtype=R.vec3, device="cpu")
    if kind.make is not None:
        inputs = [to(x, t) for s in (a, b) for x, t in ((s.sizes, R.vec3), (s.p, R.vec3), (s.R, R.mat33))]
        kernel, inputs = pair_kernel(kind.name, precision), [*inputs, R.t(margin), out]
    else:
        kernel, inputs = convex_kernel(kind.name, precision), [*_convex_inputs(a, b, R, to), R.t(margin)]
        inputs += [*_hulls_and_room(a, b, R, n), out]
    wp.launch(kernel, dim=n, inputs=inputs, outputs=[count, nhat], device="cpu")
    used = slice(BASE, BASE + 8)
    count, depth, feature = count.numpy(), out.depth.numpy().astype(float), out.feature.numpy()
    beyond = (np.arange(SLOTS) < BASE) | (np.arange(SLOTS) >= BASE + count[:, None])
    assert np.isnan(depth[beyond]).all() and (feature[beyond] == -7).all() and not np.isnan(depth[~beyond]).any()
    depth[beyond] = -np.inf
    return Contacts(nhat.numpy().astype(float), count, out.p.numpy().astype(float)[:, used], depth[:, used], feature[:, used])


def _convex_inputs(a: Shapes, b: Shapes, R, to) -> list:
    """kind, size, radius, p, R of convex_kernel."""
    codes = np.tile([code("shapes", a.kind), code("shapes", b.kind)], (len(a), 1)).astype(np.int32)
    sizes = np.stack([a.sizes, b.sizes], axis=1)
    if a.hulls and b.hulls:
        first = _in_order(a, b)[0]
        sizes[:, 1 if first is a else 0, 0] += len(first.hulls)
    both = [np.stack([x, y], axis=1) for x, y in ((a.radius, b.radius), (a.p, b.p), (a.R, b.R))]
    dtypes = (R.t, R.vec3, R.mat33)
    values = [to(x, t) for x, t in zip(both, dtypes, strict=True)]
    return [wp.array(codes, dtype=int, device="cpu"), to(sizes, R.vec3), *values]


def _in_order(a: Shapes, b: Shapes) -> list[Shapes]:
    """In which their hulls are numbered: one that does not depend on which is called a."""
    return sorted([a, b], key=lambda s: [h.digest() for h in s.hulls])


def _hulls_and_room(a: Shapes, b: Shapes, R, n: int) -> list:
    """All threads, which the CPU runs one after another, work in one row of scratch."""
    scratch = make_convexity(R).Scratch()
    for name, dtype in (("point", R.vec4), ("name", int)):
        base = wp.zeros((1, ROOM), dtype=dtype, device="cpu")
        rows = wp.array(ptr=base.ptr, shape=(n, ROOM), strides=(0, base.strides[1]), dtype=dtype, device="cpu")
        rows._base = base
        setattr(scratch, name, rows)
    return [device_hulls(hull_arrays([h for s in _in_order(a, b) for h in s.hulls]), R, n), scratch]
