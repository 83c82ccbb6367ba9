"""Distances and depths of every pair of shapes, certified by bounds that need no other algorithm.

Apart, two points that the shapes hold bound the distance from above, and the support functions along the normal from below.
Overlapping, the width along the normal is the depth, and no direction of a sweep has a smaller one.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from pose_arrays import FAR, Contacts, Shapes, collide, random_pairs
from pose_bounds import directions, distance_of_witnesses, least_width, outside, supports, widths

from sapsim.kinds.base import registry
from sapsim.model.pairs import pair_table

KINDS = tuple(name for name, kind in registry("shapes").items() if not kind.parts)  # surfaces: test_surface_contacts.py
PAIRS = [pair for pair in combinations_with_replacement(KINDS, 2) if pair in pair_table()]
PRECISIONS = ("float64", "float32")
# of the size; float32: eighty rounding errors
GAP = {"float64": 1.0e-9, "float32": 1.0e-5}
# what a smaller depth may be missed by [m], of lengths about 1
EXCESS = {"float64": 1.0e-6, "float32": 2.0e-6}


def unit(contacts: Contacts, a: Shapes, b: Shapes) -> np.ndarray:
    """Normals of length 1; of planes exactly theirs, the one direction along which they end."""
    n = contacts.nhat / np.linalg.norm(contacts.nhat, axis=1)[:, None]
    for s, sign in ((a, 1.0), (b, -1.0)):
        if s.kind == "plane":
            np.testing.assert_allclose(n, sign * s.R[:, :, 2], atol=1.0e-6)
            n = sign * s.R[:, :, 2] / np.linalg.norm(s.R[:, :, 2], axis=1)[:, None]
    return n


def certify(a: Shapes, b: Shapes, precision: str, sweep: np.ndarray) -> tuple[int, int]:
    """Checks every pose; how many were apart and overlapped."""
    a, b = a.rounded(precision), b.rounded(precision)
    found = collide(a, b, precision, FAR)
    assert (found.count > 0).all() and (np.abs(np.linalg.norm(found.nhat, axis=1) - 1.0) < 1.0e-6).all()
    size, depth = a.radius + b.radius, found.deepest[0]
    h = widths(a, b, unit(found, a, b))
    apart = depth < 0.0
    assert (np.abs(h - depth) <= GAP[precision] * size).all()
    assert ((distance_of_witnesses(a, b, found) + h)[apart] <= GAP[precision] * size[apart]).all()
    if "plane" not in (a.kind, b.kind):
        assert (depth - least_width(a, b, sweep))[~apart].max(initial=0.0) <= EXCESS[precision]
    return int(apart.sum()), int((~apart).sum())


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_bounds_meet_and_no_direction_is_shallower(kinds, precision):
    apart, overlapping = certify(*random_pairs(kinds, 300, seed=11), precision, directions(2000))
    assert apart > 60 and overlapping > 60


@pytest.mark.slow
@pytest.mark.parametrize("precision", PRECISIONS)
def test_bounds_meet_at_ten_thousand_poses(precision):
    for kinds in PAIRS:
        for seed in (12, 13):
            apart, overlapping = certify(*random_pairs(kinds, 5000, seed), precision, directions(10_000))
            assert apart > 1000 and overlapping > 1000


@pytest.mark.parametrize(
    "kinds, precision, seed, poses",
    [
        ("box-box", "float64", 15, [7433]),  # a corner that falls together with a crossing of edges
        ("box-box", "float32", 13, [3071]),  # touching: of lengths equal but for rounding one has a direction far off
        ("box-box", "float32", 14, [4098, 4202, 8538]),  # nearest edges at angles of 0.1 and 1 degrees
        ("box-capsule", "float32", 16, [8257]),  # a segment that nearly meets a box
        ("capsule-capsule", "float32", 14, [4615]),  # segments that nearly meet
        ("capsule-capsule", "float32", 18, [5752]),
        ("box-cone", "float32", 16, [6639]),  # bounds that do not meet of cones 0.02 apart
        ("box-convex", "float32", 20, [2453, 8957]),  # what rounding gives v along its segment hides the next vertex
        ("box-cylinder", "float32", 13, [7016]),  # a descent of hundreds of small steps where C is sharply curved
        ("cone-cone", "float64", 15, [5012]),  # witnesses of cones that touch
        ("cone-cone", "float32", 16, [1937, 2600]),
        ("cone-convex", "float64", 13, [1604]),
        ("cone-convex", "float32", 16, [7376]),  # thin faces of a polytope whose normals are rounding
        ("convex-convex", "float32", 17, [5972]),  # two faces as deep as each other but for 2e-6
        ("convex-convex", "float32", 20, [518, 7793]),
        ("convex-cylinder", "float32", 17, [5534, 6281, 9572]),
        ("convex-plane", "float64", 204, [8232]),  # apart, two vertices as near as each other but for 1e-7
        ("cylinder-plane", "float32", 41, [5885]),  # upright but for 1e-4
        ("cylinder-sphere", "float64", 13, [2131]),  # nearly about one axis, where all ways out are as deep
        ("cylinder-sphere", "float32", 40, [2563, 7813]),
    ],
)
def test_poses_whose_bounds_once_did_not_meet(kinds, precision, seed, poses):
    a, b = random_pairs(tuple(kinds.split("-")), 10_000, seed)
    certify(a[poses], b[poses], precision, directions(10_000))


def test_a_point_beside_a_leaning_disc_by_its_thickness_is_no_nearer():
    a, b = random_pairs(("cone", "cone"), 5000, 13)
    certify(a[[3171]], b[[3171]], "float64", directions(10_000))


def test_certified_depths_are_least_in_the_neighbourhood_too():
    """Directions all over the sphere are 0.02 apart: here they are 1e-6 .. 0.1 from the normal, where h rises by the distance
    at a kink."""
    rng = np.random.default_rng(13)
    for kinds in PAIRS:
        if "plane" in kinds:
            continue
        a, b = random_pairs(kinds, 300, seed=14)
        found = collide(a, b, "float64", FAR)
        over = found.deepest[0] >= 0.0
        for tilt in 10.0 ** rng.uniform(-6.0, -1.0, 40):
            n = found.nhat + tilt * rng.normal(size=found.nhat.shape)
            h = widths(a, b, n / np.linalg.norm(n, axis=1)[:, None])
            assert (found.deepest[0] - h)[over].max() <= EXCESS["float64"], kinds


def test_the_bounds_are_those_of_the_shapes():
    """Points on a shape are where its support functions say, and support functions of the sweep are those of `widths`."""
    for kind in KINDS:
        if kind == "plane":
            continue
        a, b = random_pairs((kind, kind), 60, seed=15)
        n = directions(60)
        tip = a.p + n * (supports(a, n) - np.einsum("ki,ki->k", n, a.p))[:, None]
        assert (outside(a, tip) > -1.0e-9).all() and (outside(a, tip + n) > 0.0).all() and (outside(a, a.p) < 0.0).all()
        for i in range(0, 60, 6):
            least = least_width(a[[i]], b[[i]], n)
            assert least == pytest.approx(min(widths(a[[i]], b[[i]], m[None])[0] for m in n), abs=1.0e-12)


def test_every_pair_of_kinds_is_tried():
    assert len(PAIRS) == len(KINDS) * (len(KINDS) + 1) // 2 - 1  # but two planes
