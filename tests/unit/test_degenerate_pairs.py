"""Degenerate positions of every pair of shapes: the families in which collision code fails, each with the depth it must have.

Coplanar faces, edge on edge (parallel and across), vertex on vertex, vertex on face, one inside the other (concentric and not),
sizes in the ratio of 1e5, and 10 km from the world's origin.
"""

from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from pose_arrays import FAR, Shapes, collide, random_pairs, random_shapes
from pose_bounds import directions, distance_of_witnesses, least_width, widths
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import registry
from sapsim.model.pairs import pair_table
from sapsim.scene.hull import convex_hull

KINDS = tuple(name for name, kind in registry("shapes").items() if not kind.parts)  # surfaces: test_surface_contacts.py
PAIRS = [pair for pair in combinations_with_replacement(KINDS, 2) if pair in pair_table()]
BOUNDED = [pair for pair in PAIRS if "plane" not in pair]
PRECISIONS = ("float64", "float32")
# of lengths about 1: of float64 a thousand roundings of depths, of float32 two hundred
TOLERANCE = {"float64": 1.0e-9, "float32": 2.0e-5}
EXCESS = {"float64": 1.0e-6, "float32": 2.0e-6}  # what a smaller depth may be missed by [m]
GAPS = (0.0, 1.0e-3, -1.0e-3, 1.0e-7, -1.0e-7)
I3 = np.eye(3)
LYING = Rotation.from_euler("y", 90.0, degrees=True).as_matrix()
FLIPPED = Rotation.from_euler("x", 180.0, degrees=True).as_matrix()
CORNER_DOWN = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_matrix()
X45, Y45 = (Rotation.from_euler(axis, 45.0, degrees=True).as_matrix() for axis in "xy")
CUBE = convex_hull(np.array(list(product((-0.5, 0.5), repeat=3))))
EDGE, TIP = np.sqrt(0.5), np.sqrt(0.75)


def one(kind: str, params=(), R=I3) -> Shapes:
    """A shape at the origin; a `convex` is the cube of edge 1."""
    padded = np.zeros((1, 3))
    padded[0, : len(params)] = params
    hulls = (CUBE,) if kind == "convex" else ()
    return Shapes(kind, padded, np.zeros((1, 3)), np.array(R)[None], np.zeros(1, int), hulls)


def at(s: Shapes, p) -> Shapes:
    return replace(s, p=np.array(p, float)[None])


# shapes whose upper face is level at the height given, and, turned over, whose lower one is at its negative
LEVEL = {
    "box": (one("box", (1, 1, 1)), 0.5), "convex": (one("convex"), 0.5), "cylinder": (one("cylinder", (0.5, 1)), 0.5),
    "cone": (one("cone", (0.5, 1), FLIPPED), 0.5), "plane": (one("plane"), 0.0),
}  # fmt: skip
# shapes with an edge or line along x at the height given, above
RIDGED = {
    "box": (one("box", (1, 1, 1), X45), EDGE), "convex": (one("convex", (), X45), EDGE),
    "cylinder": (one("cylinder", (0.5, 1), LYING), 0.5), "capsule": (one("capsule", (0.25, 1), LYING), 0.25),
}  # fmt: skip
# shapes with a vertex or tip above
POINTED = {
    "box": (one("box", (1, 1, 1), -CORNER_DOWN), TIP), "convex": (one("convex", (), -CORNER_DOWN), TIP),
    "cone": (one("cone", (0.5, 1)), 0.5), "sphere": (one("sphere", (0.5,)), 0.5),
    "ellipsoid": (one("ellipsoid", (0.3, 0.4, 0.5)), 0.5), "capsule": (one("capsule", (0.25, 1)), 0.75),
}  # fmt: skip


def over(lower, upper, gap: float, R=I3, sideways=(0.0, 0.0)) -> tuple[Shapes, Shapes]:
    """The second shape, turned over about x and by R, a gap above the first."""
    (a, top), (b, reach) = lower, upper
    turned = replace(b, R=(R @ FLIPPED @ b.R[0])[None])
    return a, at(turned, (*sideways, top + gap + reach))


def check(a: Shapes, b: Shapes, precision: str, depth: float | None, label, size: float = 2.0) -> None:
    """The depth where it is known, that it is a width along the normal, and both of the shapes exchanged."""
    for first, second in ((a, b), (b, a)):
        found = collide(first, second, precision, 0.1 * size)
        assert (found.count > 0).all(), label
        n = found.nhat / np.linalg.norm(found.nhat, axis=1)[:, None]
        assert np.isfinite(found.deepest[1]).all() and (np.abs(np.linalg.norm(found.nhat, axis=1) - 1.0) < 1.0e-6).all(), label
        if "plane" not in (a.kind, b.kind):
            h = widths(first.rounded(precision), second.rounded(precision), n)
            assert np.abs(found.deepest[0] - h).max() <= TOLERANCE[precision] * size, label
        if depth is not None:
            assert found.deepest[0] == pytest.approx(depth, abs=TOLERANCE[precision] * size), label


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gap", GAPS)
def test_coplanar_faces(gap, precision):
    """Aligned, turned by an odd angle, and set off sideways."""
    spin = Rotation.from_euler("z", 17.0, degrees=True).as_matrix()
    for lower, upper in product(LEVEL, LEVEL):
        if upper != "plane":
            for R, sideways in ((I3, (0.0, 0.0)), (spin, (0.0, 0.0)), (I3, (0.2, 0.1)), (spin, (0.25, -0.1))):
                check(*over(LEVEL[lower], LEVEL[upper], gap, R, sideways), precision, -gap, (lower, upper, sideways))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gap", GAPS)
def test_edge_on_edge(gap, precision):
    """Parallel edges of boxes part sideways, along a face, by less: 1/sqrt 2 of the overlap.  Lines of round shapes and edges
    across each other part upwards."""
    across = Rotation.from_euler("z", 90.0, degrees=True).as_matrix()
    for lower, upper in product(RIDGED, RIDGED):
        sharp = {lower, upper} <= {"box", "convex"}
        least = min(-gap, -gap * EDGE) if sharp else -gap
        check(*over(RIDGED[lower], RIDGED[upper], gap, I3, (0.2, 0.0)), precision, least, (lower, upper, "parallel"))
        check(*over(RIDGED[lower], RIDGED[upper], gap, across, (0.1, -0.2)), precision, -gap, (lower, upper, "across"))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gap", GAPS)
def test_vertex_on_vertex(gap, precision):
    """Two sharp tips that overlap may part any way between their faces: then the depth is a width, and no more than upwards."""
    for lower, upper in product(POINTED, POINTED):
        sharp = {lower, upper} <= {"box", "convex", "cone"}
        a, b = over(POINTED[lower], POINTED[upper], gap)
        check(a, b, precision, None if gap < 0.0 and sharp else -gap, (lower, upper))
        assert collide(a, b, precision, 0.2).deepest[0] <= -gap + 2.0 * TOLERANCE[precision]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gap", GAPS)
def test_vertex_and_edge_on_face(gap, precision):
    for lower, upper in product(LEVEL, POINTED | RIDGED):
        for shapes in (POINTED, RIDGED):
            if upper in shapes:
                check(*over(LEVEL[lower], shapes[upper], gap, I3, (0.1, 0.05)), precision, -gap, (lower, upper))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kinds", BOUNDED, ids="-".join)
def test_one_inside_the_other(kinds, precision):
    """A fifth of the size: concentric, with parallel axes, off the middle, and turned; either may be the inner one.

    No direction is shallower, and the depth is a width.
    """
    rng = np.random.default_rng(31)
    sweep = np.concatenate([directions(4000), I3, -I3])
    for inner, outer in (kinds, kinds[::-1]):
        a, b = random_shapes(outer, 60, rng), random_shapes(inner, 60, rng)
        b = scaled(b, 0.2)
        third = np.arange(60) % 3
        b = replace(b, R=np.where((third < 2)[:, None, None], a.R, b.R))
        b = replace(b, p=np.where((third == 0)[:, None], 0.0, 0.02 * rng.normal(size=(60, 3))))
        a, b = a.rounded(precision), b.rounded(precision)
        found = collide(a, b, precision)
        assert (found.count > 0).all()
        depth, size = found.deepest[0], a.radius + b.radius
        h = widths(a, b, found.nhat / np.linalg.norm(found.nhat, axis=1)[:, None])
        assert (np.abs(depth - h) <= 2.5 * TOLERANCE[precision] * size).all()
        assert (depth - least_width(a, b, sweep)).max() <= EXCESS[precision]


def scaled(s: Shapes, factor: float) -> Shapes:
    hulls = tuple(convex_hull(factor * h.vertices) for h in s.hulls)
    return replace(s, params=factor * s.params, hulls=hulls)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kinds", BOUNDED, ids="-".join)
def test_sizes_of_very_different_magnitude(kinds, precision):
    """A shape of 1e-5 of the other's size at its surface, in or out by up to its own size; bounds meet within rounding of the
    larger, which is about 1."""
    rng = np.random.default_rng(32)
    for small, large in (kinds, kinds[::-1]):
        a, b = random_shapes(large, 60, rng), scaled(random_shapes(small, 60, rng), 1.0e-5)
        axis = rng.normal(size=(60, 3))
        b = replace(b, p=axis / np.linalg.norm(axis, axis=1)[:, None] * 2.0 * a.radius[:, None])
        far = collide(a, b, "float64", FAR)
        b = replace(b, p=b.p + (far.deepest[0] - b.radius * rng.uniform(-1.0, 1.0, 60))[:, None] * far.nhat)
        a, b = a.rounded(precision), b.rounded(precision)
        found = collide(a, b, precision, FAR)
        depth = found.deepest[0]
        h = widths(a, b, found.nhat / np.linalg.norm(found.nhat, axis=1)[:, None])
        over = depth >= 0.0
        assert 10 < over.sum() < 50
        assert (np.abs(depth - h) <= TOLERANCE[precision] * a.radius).all()
        assert ((distance_of_witnesses(a, b, found) + h)[~over] <= TOLERANCE[precision]).all()
        # float32: eight hundred roundings of the larger size, ten times the smaller body
        assert (depth - least_width(a, b, directions(10_000)))[over].max() <= {"float64": 1.0e-6, "float32": 1.0e-4}[precision]


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_ten_kilometres_away_only_the_places_round(kinds):
    """Places of 1e4 m are known to 2e-12 m in float64, and to 1e-3 m in float32: the depth is that of the rounded places."""
    away = np.array([1.0e4, -1.0e4, 2.0e3])
    a, b = random_pairs(kinds, 300, seed=33)
    here, there = collide(a, b, "float64", FAR), collide(a.moved(I3, away), b.moved(I3, away), "float64", FAR)
    np.testing.assert_allclose(there.deepest[0], here.deepest[0], atol=1.0e-9)
    a, b = (s.moved(I3, away).rounded("float32") for s in (a, b))
    rounded, exact = collide(a, b, "float32", FAR), collide(a, b, "float64", FAR)
    scale = 3.0e-3 if "plane" in kinds else 2.0e-5  # the height over a plane is a product of coordinates of the world
    np.testing.assert_allclose(rounded.deepest[0], exact.deepest[0], atol=scale * 3.0)
