"""Distance and depth of convex shapes by support functions, certified by bounds that need no other algorithm.

Apart, the witness points bound the distance from above, and the support functions along the normal from below.  Overlapping,
the width along the normal is a depth, and no other direction has a smaller one.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from convex_cases import I3, KINDS, Solid, coal_distance, hull_of, random_cases, run, widths
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import registry
from sapsim.reference.convex_pairs import depth as twin_depth
from sapsim.reference.spatial import Placement

# two cores of a point or a segment have no volume between them: those pairs have files of their own
THIN = {"sphere", "capsule"}
PAIRS = [pair for pair in combinations_with_replacement(KINDS, 2) if not set(pair) <= THIN]
PRECISIONS = ("float64", "float32")
FAR = 100.0  # a margin beyond which nothing is
# of the size; float32: eighty rounding errors
GAP = {"float64": 1.0e-9, "float32": 1.0e-5}
# what a smaller depth may be missed by [m]
EXCESS = {"float64": 1.0e-6, "float32": 1.0e-4}
# where another library takes the way out through the mantle for the shortest, though a ball leaves through a cap
NOT_LEAST = {("cylinder", "sphere")}


def directions(n: int) -> np.ndarray:
    d = np.random.default_rng(0).normal(size=(n, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def certify(cases, precision: str, sweep: np.ndarray) -> tuple[int, int]:
    """Checks every case; how many were apart and overlapped."""
    apart = 0
    for (a, b), found in zip(cases, run(cases, precision, FAR), strict=True):
        size = a.radius + b.radius
        k = int(np.argmax(found.depth))
        h = widths(a, b, found.nhat[None])[0]
        assert abs(np.linalg.norm(found.nhat) - 1.0) < 1.0e-6
        assert abs(h - found.depth[k]) <= GAP[precision] * size
        if found.depth[k] < 0.0:
            apart += 1
            assert np.linalg.norm(found.p_B[k] - found.p[k]) + h <= GAP[precision] * size
        else:
            assert found.depth[k] - widths(a, b, sweep).min() <= EXCESS[precision]
    return apart, len(cases) - apart


@pytest.mark.parametrize("precision, scale", [("float64", 1.0), ("float64", 0.1), ("float32", 1.0)])
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_bounds_meet_and_no_direction_is_shallower(kinds, precision, scale):
    apart, overlapping = certify(random_cases(*kinds, 60, seed=11, scale=scale), precision, directions(2000))
    assert apart > 3 and overlapping > 15


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_twin_finds_the_same_depth(kinds):
    """2e-7 m: where the simplex search of the twin stops, at kinks of h."""
    cases = random_cases(*kinds, 6, seed=13)
    for (a, b), found in zip(cases, run(cases, margin=FAR), strict=True):
        shapes = [(s.kind, s.params, Placement(s.R, s.p), None if s.hull is None else s.hull.vertices) for s in (a, b)]
        assert found.depth.max() == pytest.approx(twin_depth(*shapes)[0], abs=2.0e-7)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_distance_is_that_of_another_library(kinds):
    """Within 1e-5 m.  Where its depth is not the least, a direction of less width proves that here."""
    cases = random_cases(*kinds, 120, seed=14, far=1.3)
    apart, overlapping, agree = 0, 0, 0
    for (a, b), found in zip(cases, run(cases, margin=FAR), strict=True):
        depth, other = found.depth.max(), -coal_distance(a, b)
        apart, overlapping = apart + (depth < 0.0), overlapping + (depth >= 0.0)
        if depth >= 0.0 and kinds in NOT_LEAST and depth < other - 1.0e-5:
            assert widths(a, b, found.nhat[None])[0] < other - 1.0e-5
        else:
            agree += 1
            assert depth == pytest.approx(other, abs=1.0e-5)
    assert apart > 20 and overlapping > 20 and agree > 80


def cube(p, R=I3, lengths=(1.0, 1.0, 1.0)) -> Solid:
    return Solid("box", tuple(lengths), np.array(p, float), R)


def touching_cases(gap: float) -> list[tuple[str, Solid, Solid, float]]:
    """Degenerate positions with the depth that they have: -gap, but that edges side by side part sideways, along a face."""
    x45, y45 = (Rotation.from_euler(axis, 45.0, degrees=True).as_matrix() for axis in "xy")
    corner = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_matrix()
    cubes = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    can, cone = Solid("cylinder", (0.5, 1.0), np.zeros(3)), Solid("cone", (0.5, 1.0), np.zeros(3))
    edge, tip = np.sqrt(0.5), np.sqrt(0.75)
    return [
        ("coplanar faces", cube((0, 0, 0)), hull_of(cubes, (0.2, 0.3, 1.0 + gap)), -gap),
        ("flush sides", cube((0, 0, 0)), hull_of(cubes, (0.0, 0.0, 1.0 + gap)), -gap),
        ("edge on parallel edge", cube((0, 0, 0), x45), hull_of(cubes, (0, 0, 2 * edge + gap), x45), min(-gap, -gap * edge)),
        ("edge across edge", cube((0, 0, 0), x45), hull_of(cubes, (0, 0, 2 * edge + gap), y45), -gap),
        ("vertex on vertex", cube((0, 0, 0), -corner), hull_of(cubes, (0, 0, 2 * tip + gap), corner), -gap),
        ("vertex on face", cube((0, 0, 0)), hull_of(cubes, (0.1, 0.1, 0.5 + tip + gap), corner), -gap),
        ("cap on cap", can, can.at((0, 0, 1.0 + gap)), -gap),
        ("cap on cap, apart sideways", can, can.at((0.3, 0.1, 1.0 + gap)), -gap),
        ("apex on cap", can.at((0, 0, 1.0 + gap)), cone, -gap),
        ("base on cap", can, cone.at((0, 0, 1.0 + gap)), -gap),
    ]  # fmt: skip


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gap", (0.0, 1.0e-3, -1.0e-3, 1.0e-7, -1.0e-7))
def test_degenerate_positions_have_the_depth_that_they_have(gap, precision):
    """Vertex on vertex may have any normal between the faces' where it overlaps, so its depth is only bounded."""
    tolerance = {"float64": 2.0e-9, "float32": 2.0e-5}[precision]
    cases = touching_cases(gap)
    for (label, _, _, depth), found in zip(cases, run([c[1:3] for c in cases], precision, 0.1), strict=True):
        assert np.isfinite(found.p).all() and abs(np.linalg.norm(found.nhat) - 1.0) < 1.0e-5, label
        if gap >= 0.0 or label != "vertex on vertex":
            assert found.depth.max() == pytest.approx(depth, abs=tolerance), label


@pytest.mark.parametrize("precision", PRECISIONS)
def test_one_inside_the_other(precision):
    """Concentric and off the centre: the depth is the way out through the nearest side."""
    ball, can = Solid("ellipsoid", (0.1, 0.2, 0.15), np.zeros(3)), Solid("cylinder", (1.0, 4.0), np.zeros(3))
    cases = [(ball, cube((0, 0, 0), lengths=(2.0, 3.0, 4.0))), (ball, can), (can, can), (ball, ball)]
    # out of the box along x; the can along the ellipsoid's x
    expected = [1.0 + 0.1, 1.0 + 0.1, 2.0, 0.2]
    for case, found, depth in zip(cases, run(cases, precision), expected, strict=True):
        assert found.depth.max() == pytest.approx(depth, abs={"float64": 1e-6, "float32": 1e-5}[precision]), case


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_a_speck_at_a_giant(kinds, precision):
    """Sizes 1e5 apart: depths to rounding of the larger, which is 1."""
    rng = np.random.default_rng(15)
    cases = []
    for a, b in random_cases(*kinds, 20, seed=16):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        small = Solid(b.kind, tuple(1.0e-5 * x for x in b.params), a.p, b.R)
        if b.hull is not None:
            small = hull_of(1.0e-5 * b.hull.vertices, a.p, b.R)
        reach = widths(a, small, axis[None])[0]
        cases.append((a, small.at(a.p + axis * reach * rng.uniform(0.99, 1.01))))
    sweep = directions(10_000)
    for (a, b), found in zip(cases, run(cases, precision, FAR), strict=True):
        h = widths(a, b, found.nhat[None])[0]
        assert abs(h - found.depth.max()) <= GAP[precision] * a.radius
        assert found.depth.max() - widths(a, b, sweep).min() <= EXCESS[precision]


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_ten_kilometres_away_only_the_places_round(kinds):
    """Places of 1e4 m are known to 2e-12 m."""
    away = np.array([1.0e4, -1.0e4, 2.0e3])
    cases = random_cases(*kinds, 60, seed=17)
    moved = [(a.moved(np.eye(3), away), b.moved(np.eye(3), away)) for a, b in cases]
    for here, there in zip(run(cases, margin=FAR), run(moved, margin=FAR), strict=True):
        assert there.depth.max() == pytest.approx(here.depth.max(), abs=1.0e-9)


def test_all_convex_kinds_are_tried():
    assert set(KINDS) == {name for name, kind in registry("shapes").items() if name != "plane" and not kind.parts}
