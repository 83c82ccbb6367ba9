"""Boxes on boxes: known numbers of points at known depths, and names of features that last.  Tolerances: test_pairs.py."""

import numpy as np
import pytest
from pairs_cases import (
    I3,
    Shape,
    box,
    run_pair,
    run_pairs,
    turn,
)
from scipy.spatial.transform import Rotation
from test_pairs import GAP, PRECISIONS, TOLERANCE, assert_mirrored


def stacks() -> dict[str, tuple[Shape, Shape]]:
    """Contacts of boxes in which something is aligned, so that rounding could decide what is reported."""
    up = 1.0 - GAP
    return {
        "equal cubes": (box((0, 0, 0)), box((0, 0, up))),
        "offset along a side": (box((0, 0, 0)), box((0.25, 0, up))),
        "offset both ways": (box((0, 0, 0)), box((0.25, -0.125, up))),
        "small on large": (box((0, 0, 0), lengths=(4, 4, 1)), box((0.5, 0.25, up))),
        "large on small": (box((0, 0, 0)), box((0.5, 0.25, up), lengths=(4, 4, 1))),
        "plank across": (box((0, 0, 0), lengths=(4, 1, 1)), box((0.5, 0, up), lengths=(1, 4, 1))),
        "octagon": (box((0, 0, 0)), box((0, 0, up), turn("z", 45))),
        "edge down": (box((0, 0, 0)), box((0, 0, 0.5 + np.sqrt(0.5) - GAP), turn("x", 45), lengths=(0.5, 1, 1))),
        "long edge down": (box((0, 0, 0)), box((0, 0, 0.5 + np.sqrt(0.5) - GAP), turn("x", 45), lengths=(4, 1, 1))),
        "two crossed edges": (
            box((0, 0, 0), turn("x", 45)),
            box((0, 0, 2.0 * np.sqrt(0.5) - GAP), turn("y", 45)),
        ),
    }


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "stack, count",
    [
        ("equal cubes", 4), ("offset along a side", 4), ("offset both ways", 4), ("small on large", 4),
        ("large on small", 4), ("plank across", 4), ("octagon", 8), ("edge down", 2), ("long edge down", 2),
        ("two crossed edges", 1),
    ],
)  # fmt: skip
def test_aligned_boxes_have_the_known_number_of_points_each_at_the_known_depth(stack, count, precision):
    a, b = stacks()[stack]
    found = run_pair("box_box", precision, a, b)
    assert len(found.depth) == count
    np.testing.assert_allclose(found.nhat, (0, 0, 1), atol=TOLERANCE[precision])
    # the faces of an aligned stack are at dyadic heights: exact; turned ones are rounded
    exact = np.array_equal(b.R, I3)
    np.testing.assert_allclose(found.depth, GAP, atol=0.0 if exact else TOLERANCE[precision], rtol=0.0)
    top = {"edge down": 0.5, "long edge down": 0.5, "two crossed edges": np.sqrt(0.5)}.get(stack, 0.5)
    np.testing.assert_allclose(found.p[:, 2], top, atol=TOLERANCE[precision])
    assert_mirrored("box_box", found, run_pair("box_box", precision, b, a), TOLERANCE[precision])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_aligned_stack_has_its_points_at_the_corners(precision):
    found = run_pair("box_box", precision, *stacks()["offset both ways"])
    assert {tuple(p) for p in found.p} == {(x, y, 0.5) for x in (-0.25, 0.5) for y in (-0.5, 0.375)}


@pytest.mark.parametrize("precision", PRECISIONS)
def test_octagon_has_its_points_on_the_outline_of_the_cube(precision):
    found = run_pair("box_box", precision, *stacks()["octagon"])
    # the sides |x| + |y| = sqrt(1/2) of the upper cube cut the lower one's sides |x| = 1/2
    cut = np.sqrt(0.5) - 0.5
    expected = {(s * x, t * y) for s in (-1, 1) for t in (-1, 1) for x, y in ((0.5, cut), (cut, 0.5))}
    for x, y in expected:
        assert np.linalg.norm(found.p[:, :2] - (x, y), axis=1).min() < TOLERANCE[precision]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_corner_on_a_face_is_one_point(precision):
    # a cube standing on a corner: half its diagonal is sqrt(3)/2
    on_corner = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_matrix()
    height = 0.5 + 0.5 * np.sqrt(3.0) - GAP
    found = run_pair("box_box", precision, box((0, 0, 0), lengths=(4, 4, 1)), box((0.5, 0.25, height), on_corner))
    assert list(found.feature) == [8 + 7]
    np.testing.assert_allclose(found.p[0], (0.5, 0.25, 0.5), atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.depth, GAP, atol=TOLERANCE[precision])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_crossed_edges_meet_where_they_cross(precision):
    a, b = stacks()["two crossed edges"]
    a, b = a.moved(I3, np.array([0.125, 0.25, 0.0])), b.moved(I3, np.array([-0.25, 0.125, 0.0]))
    found = run_pair("box_box", precision, a, b)
    # A's upper edge runs along x at y = 0.25, B's lower one along y at x = -0.25
    np.testing.assert_allclose(found.p, [(-0.25, 0.25, np.sqrt(0.5))], atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.depth, GAP, atol=TOLERANCE[precision])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("stack", stacks())
def test_features_keep_their_names_under_a_perturbation(stack, precision):
    """Motions of 1e-8 m and rad (float32: 1e-6) are below the thickness of sides, 1e-6 and 4e-6 of the half length."""
    size = {"float64": 1.0e-8, "float32": 1.0e-6}[precision]
    rng = np.random.default_rng(7)
    a, b = stacks()[stack]
    shaken = []
    for _ in range(100):
        R = Rotation.from_rotvec(size * rng.uniform(-1.0, 1.0, 3)).as_matrix()
        shaken.append((a, Shape(b.kind, b.params, b.p + size * rng.uniform(-1.0, 1.0, 3), R @ b.R)))
    names = set(run_pair("box_box", precision, a, b).feature)
    for found in run_pairs("box_box", precision, shaken):
        assert set(found.feature) == names


def test_features_keep_their_names_when_the_other_face_becomes_the_reference():
    """As the upper of two equal cubes, set off by a quarter, rocks about y, the face of lesser overlap changes."""
    of_lower = set()
    names = set(run_pair("box_box", "float64", box((0, 0, 0)), box((0.25, 0.125, 0.99))).feature)
    for degrees in np.linspace(-0.5, 0.5, 21):
        found = run_pair("box_box", "float64", box((0, 0, 0)), box((0.25, 0.125, 0.99), turn("y", degrees)))
        if abs(degrees) > 0.1:
            of_lower.add(found.nhat[0] == 0.0)
        assert set(found.feature) == names
    assert of_lower == {True, False}
