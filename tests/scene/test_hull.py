"""Convex hulls: faces of boxes and prisms, against scipy's volume, the order of points, flat points, and fewer corners."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull as Qhull

from sapsim.scene.hull import FlatError, convex_hull, reduced_hull, size_of
from sapsim.scene.triangles import volume


def rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0.0 else -q


def sphere_points(n, seed=0):
    p = np.random.default_rng(seed).normal(size=(n, 3))
    return p / np.linalg.norm(p, axis=1)[:, None]


def check(hull, points, flat=2.0e-9):
    """Closed, convex, turned outwards, with all points in it, every corner used and in order."""
    V, F = hull.vertices, hull.faces
    assert V.dtype == np.float64 and (np.diff(V[:, 0]) >= 0.0).all()
    assert sorted({i for face in F for i in face}) == list(range(len(V)))
    sides = [(f[i], f[(i + 1) % len(f)]) for f in F for i in range(len(f))]
    assert len(set(sides)) == len(sides) and all((q, p) in set(sides) for p, q in sides)
    assert len(V) - len(sides) // 2 + len(F) == 2
    size = size_of(np.asarray(points))
    for face in F:
        corners = V[list(face)]
        normal = sum(np.cross(corners[i] - corners[0], corners[i + 1] - corners[0]) for i in range(1, len(face) - 1))
        normal /= np.linalg.norm(normal)
        assert ((points - corners[0]) @ normal).max() <= flat * size
        assert np.abs((corners - corners[0]) @ normal).max() <= flat * size
        turns = [
            np.cross(corners[i] - corners[i - 1], corners[(i + 1) % len(face)] - corners[i]) @ normal for i in range(len(face))
        ]
        assert min(turns) > 0.0  # convex, counter-clockwise seen from outside, no corner within an edge


def test_a_box_has_six_faces():
    points = np.array(list(itertools.product((0.0, 1.0), (0.0, 2.0), (0.0, 3.0))))
    hull = convex_hull(points)
    check(hull, points)
    np.testing.assert_array_equal(hull.vertices, points)
    assert hull.faces == ((0, 1, 3, 2), (0, 2, 6, 4), (0, 4, 5, 1), (1, 5, 7, 3), (2, 3, 7, 6), (4, 6, 7, 5))
    assert len(hull.triangles) == 12 and volume(hull.vertices, hull.triangles) == pytest.approx(6.0, rel=1e-15)


@pytest.mark.parametrize("away", [0.0, 1.0e4, 1.0e6])
def test_points_in_faces_and_edges_are_no_corners(away):
    """A grid over a box, turned, as far as 1000 km from the origin."""
    rng = np.random.default_rng(1)
    grid = np.array(list(itertools.product(np.linspace(0, 1, 4), np.linspace(0, 2, 3), np.linspace(0, 3, 5))))
    for _ in range(30):
        points = grid @ rotation(rng) + away * rng.uniform(-1, 1, 3)
        hull = convex_hull(points)
        check(hull, points)
        assert (len(hull.vertices), [len(f) for f in hull.faces]) == (8, [4] * 6)


def test_a_prism_of_64_sides_at_any_size():
    rng = np.random.default_rng(2)
    angle = np.arange(64) * 2.0 * np.pi / 64
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    for size in (1.0e-6, 1.0, 1.0e6):
        points = np.concatenate([ring, ring + np.array([0, 0, 3])]) @ rotation(rng) * size
        hull = convex_hull(points)
        check(hull, points)
        assert len(hull.vertices) == 128 and sorted(len(f) for f in hull.faces) == [4] * 64 + [64] * 2


@pytest.mark.parametrize("n", [4, 12, 100, 600])
def test_points_on_a_sphere(n):
    points = sphere_points(n)
    hull = convex_hull(points)
    check(hull, points)
    assert len(hull.vertices) == n and len(hull.faces) == 2 * n - 4
    assert volume(hull.vertices, hull.triangles) == pytest.approx(Qhull(points).volume, rel=1e-12)


def test_the_order_of_points_and_their_number_do_not_matter():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(200, 3)).round(1)  # many are there more than once, many lie in a plane
    hull = convex_hull(points)
    check(hull, points)
    for _ in range(5):
        again = convex_hull(rng.permutation(np.concatenate([points, points[:50]])))
        assert again == hull and hash(again) == hash(hull) and again.digest() == hull.digest()
    other = convex_hull(points * 2.0)
    assert other != hull and other.digest() != hull.digest()


@pytest.mark.parametrize("lift, faces", [(0.0, 6), (1.0e-11, 6), (1.0e-7, 9)])
def test_what_counts_as_one_plane(lift, faces):
    """A corner of a box that stands out makes three of its faces two triangles each, unless it is by next to nothing."""
    points = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    points[7] += lift
    assert len(convex_hull(points).faces) == faces


def test_a_larger_tolerance_takes_more_for_one_plane():
    points = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    points[7] += 1.0e-7
    assert len(convex_hull(points, 1.0e-6).faces) == 6


def test_a_plate_thinner_than_the_tolerance_keeps_its_triangles():
    """Its two sides are one plane; then nothing is merged."""
    points = np.array(list(itertools.product((0.0, 1.0), repeat=3))) * [1.0, 1.0, 1.0e-7]
    hull = convex_hull(points, 1.0e-6)
    check(hull, points)
    assert [len(f) for f in hull.faces] == [3] * 12


def test_what_a_hull_says_of_itself():
    """Normals, radius, edges and mass properties, of a box of 1 x 2 x 3 m."""
    hull = convex_hull(np.array(list(itertools.product((0.0, 1.0), (0.0, 2.0), (0.0, 3.0)))))
    for normal, face in zip(hull.normals, hull.faces, strict=True):
        heights = hull.vertices @ normal
        np.testing.assert_allclose(heights[list(face)], heights.max(), atol=1e-15)
        assert np.linalg.norm(normal) == pytest.approx(1.0, rel=1e-15)
    assert hull.radius == pytest.approx(np.sqrt(14.0), rel=1e-15)
    ends: dict[int, set] = {}
    for face, edges in zip(hull.faces, hull.edges(), strict=True):
        for k, edge in enumerate(edges):
            ends.setdefault(edge, set()).add(frozenset((face[k], face[(k + 1) % len(face)])))
    assert sorted(ends) == list(range(12)) and all(len(pairs) == 1 for pairs in ends.values())
    own, centre, moments = hull.volume_properties()
    assert own == pytest.approx(6.0, rel=1e-15)
    np.testing.assert_allclose(centre, (0.5, 1.0, 1.5), rtol=1e-15)
    np.testing.assert_allclose(moments, np.diag([13.0, 10.0, 5.0]) / 12.0, rtol=1e-14, atol=1e-16)


def test_thin_plates_are_bodies():
    box = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    for thickness in (1.0e-3, 1.0e-6, 1.0e-8):
        hull = convex_hull(box * [1.0, 1.0, thickness])
        assert (len(hull.vertices), len(hull.faces)) == (8, 6)


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((0, 3)),
        np.zeros((5, 3)),
        np.eye(3),
        sphere_points(20) * [1, 1, 0],
        np.outer(np.arange(9.0), [1, 2, 3]),
        (sphere_points(20) * [1, 1, 0]) @ rotation(np.random.default_rng(4)) + 5.0,
        sphere_points(20) * [1, 1, 1e-12],
    ],
)
def test_flat_points_are_refused(points):
    with pytest.raises(FlatError):
        convex_hull(points)


def test_a_hull_of_fewer_corners():
    """It lies within the hull, has corners of it, and leaves about as much as that many corners must (2.2 % of a ball)."""
    hull = convex_hull(sphere_points(3000))
    less = reduced_hull(hull, 256)
    check(less, less.vertices)
    assert len(less.vertices) == 256 and reduced_hull(hull, 256) == less
    corners = {tuple(v) for v in hull.vertices.tolist()}
    assert all(tuple(v) in corners for v in less.vertices.tolist())
    before, after = (volume(h.vertices, h.triangles) for h in (hull, less))
    assert 0.97 < after / before < 0.98
    assert reduced_hull(hull, 3000) is hull


def test_fewer_corners_of_a_long_thin_hull():
    points = sphere_points(400) * [100.0, 1.0, 0.01]
    less = reduced_hull(convex_hull(points), 64)
    check(less, less.vertices)
    assert len(less.vertices) == 64 and np.ptp(less.vertices, axis=0) == pytest.approx(np.ptp(points, axis=0), rel=1e-12)
