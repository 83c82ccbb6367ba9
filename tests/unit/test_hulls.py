"""Convex hulls: merged faces, edges, mass properties; and mass properties of the shapes, from hulls of many points."""

import numpy as np
import pytest
from pairs_cases import random_rotation

from sapsim.kinds.base import registry
from sapsim.model.hulls import hull_arrays
from sapsim.scene.hull import ConvexHull, convex_hull

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-2.0, 2.0) for z in (-3.0, 3.0)])


def check_surface(hull: ConvexHull) -> None:
    """Closed, anticlockwise from outside, convex, and Euler's V - E + F = 2."""
    edges = [pair for f in hull.faces for pair in zip(f, f[1:] + f[:1], strict=True)]
    assert len(set(edges)) == len(edges) and set(edges) == {(j, i) for i, j in edges}
    assert len(hull.vertices) - len(edges) // 2 + len(hull.faces) == 2
    size = hull.radius
    for face, normal in zip(hull.faces, hull.normals, strict=True):
        corners = hull.vertices[list(face)]
        assert np.abs((corners - corners[0]) @ normal).max() < 1.0e-6 * size
        assert ((hull.vertices - corners[0]) @ normal).max() < 1.0e-6 * size
        assert np.cross(corners[1] - corners[0], corners[2] - corners[1]) @ normal > 0.0
    numbers = [e for face in hull.edges() for e in face]
    assert sorted(set(numbers)) == list(range(len(edges) // 2)) and all(numbers.count(e) == 2 for e in numbers[:20])


def test_a_box_with_points_on_its_sides_has_six_faces_of_four():
    rng = np.random.default_rng(0)
    inner = rng.uniform(-0.99, 0.99, (200, 3)) * np.array([1.0, 2.0, 3.0])
    sides = inner.copy()
    sides[np.arange(200), np.arange(200) % 3] = (
        np.where(np.arange(200) % 2, 1.0, -1.0) * np.array([1.0, 2.0, 3.0])[np.arange(200) % 3]
    )
    edges = CUBE.copy()
    edges[:, 2] *= 0.5
    R = random_rotation(rng)
    hull = convex_hull(np.concatenate([CUBE, inner, sides, edges]) @ R.T)
    check_surface(hull)
    assert [len(f) for f in hull.faces] == [4] * 6 and len(hull.vertices) == 8
    again = convex_hull(np.concatenate([CUBE, sides]) @ R.T)
    np.testing.assert_array_equal(again.vertices, hull.vertices)
    assert again.faces == hull.faces


@pytest.mark.parametrize("n", (4, 10, 100, 500))
def test_hull_of_random_points_is_a_closed_convex_surface(n):
    check_surface(convex_hull(np.random.default_rng(n).normal(size=(n, 3))))


@pytest.mark.parametrize(
    "points", [np.zeros((0, 3)), np.ones((5, 3)), CUBE * np.array([1.0, 1.0, 0.0])], ids=["none", "one", "flat"]
)
def test_points_without_volume_are_refused(points):
    with pytest.raises(ValueError, match=r"plane|four points"):
        convex_hull(points)


def test_mass_properties_are_those_of_box_and_tetrahedron():
    """Tetrahedron of corners 0, e_x, e_y, e_z: V = 1/6, centre 1/4, x'x = 1/60 V^-1 about the corner, xy = 1/120."""
    shift = np.array([5.0, -7.0, 2.0])
    volume, centre, inertia = convex_hull(CUBE + shift).volume_properties()
    assert volume == pytest.approx(48.0)
    np.testing.assert_allclose(centre, shift, atol=1e-12)
    np.testing.assert_allclose(inertia, np.diag([4 + 9, 1 + 9, 1 + 4]) / 3.0, atol=1e-11)
    volume, centre, inertia = convex_hull(np.vstack([np.zeros(3), np.eye(3)])).volume_properties()
    second = np.full((3, 3), 1 / 20.0) + np.eye(3) / 20.0 - np.full((3, 3), 1 / 16.0)
    assert volume == pytest.approx(1 / 6)
    np.testing.assert_allclose(centre, np.full(3, 0.25))
    np.testing.assert_allclose(inertia, np.trace(second) * np.eye(3) - second, atol=1e-14)


def surface(kind: str, params) -> np.ndarray:
    """Points all over a shape's surface: what its definition says."""
    turn = np.linspace(0.0, 2.0 * np.pi, 361)[:-1]
    ring = np.c_[np.cos(turn), np.sin(turn)]
    if kind == "cylinder":
        return np.concatenate([np.c_[params[0] * ring, np.full(360, s * params[1] / 2)] for s in (-1, 1)])
    if kind == "cone":
        return np.concatenate([np.c_[params[0] * ring, np.full(360, -params[1] / 2)], [[0.0, 0.0, params[1] / 2]]])
    rise = np.linspace(-np.pi / 2, np.pi / 2, 62)
    ball = np.concatenate([np.c_[np.cos(r) * ring[::3], np.full(120, np.sin(r))] for r in rise])
    return ball * np.array(params)


@pytest.mark.parametrize("kind, params", [("cylinder", (0.3, 0.8)), ("cone", (0.3, 0.8)), ("ellipsoid", (0.3, 0.5, 0.2))])
def test_mass_properties_of_shapes_are_those_of_hulls_of_their_surface(kind, params):
    """A polygon of 360 sides lacks 5e-5 of a circle's area; the ellipsoid's facets of 3 degrees 2e-3."""
    shape = registry("shapes")[kind]
    volume, centre, inertia = convex_hull(surface(kind, params)).volume_properties()
    tolerance = 2.0e-3 if kind == "ellipsoid" else 2.0e-4
    assert shape.volume(params) == pytest.approx(volume, rel=tolerance)
    np.testing.assert_allclose(shape.com(params), centre, atol=1.0e-6)
    np.testing.assert_allclose(np.diag(shape.unit_inertia(params)), inertia, atol=tolerance * inertia.max())
    assert shape.radius(shape.size(params)) == pytest.approx(np.linalg.norm(surface(kind, params), axis=1).max(), rel=1e-3)


def test_arrays_of_two_hulls_stand_one_after_the_other():
    hulls = [convex_hull(CUBE), convex_hull(np.vstack([np.zeros(3), np.eye(3)]))]
    arrays = hull_arrays(hulls)
    assert arrays["hull_vertex_start"].tolist() == [0, 8, 12] and arrays["hull_face_start"].tolist() == [0, 6, 10]
    assert arrays["hull_vertex"].shape == (1, 12, 3) and arrays["hull_normal"].shape == (1, 10, 3)
    assert len(arrays["hull_corner"]) == len(arrays["hull_edge"]) == arrays["hull_corner_start"][-1] == 6 * 4 + 4 * 3
