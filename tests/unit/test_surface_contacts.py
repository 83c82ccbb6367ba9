"""Convex shapes on surfaces: distances and depths against brute force and coal, contacts that do not depend on how a flat piece
is cut, and what is felt from the front alone."""

import numpy as np
import pytest
from surface_cases import (
    SHAPES,
    Poses,
    boxes,
    coal_body,
    coal_convex,
    coal_distance,
    coal_distance_to_box,
    coal_distance_to_mesh,
    coal_mesh,
    nearest_on_triangles,
    random_quaternions,
    stone,
    terrain,
)

MARGIN = 0.02
SMALL = {"float64": 1.0e-12, "float32": 2.0e-6}  # rounding of coordinates of 1 m


def deepest(contacts) -> float:
    return max(c[2] for c in contacts) if contacts else -np.inf


def depth_by_normal(contacts) -> list[float]:
    """The greatest depth of the contacts of each normal."""
    found = {}
    for n, _, depth, *_ in contacts:
        key = tuple(np.round(n, 6))
        found[key] = max(found.get(key, -np.inf), depth)
    return list(found.values())


def lowered(distance, rng, targets):
    """Poses at the given distances, let down from above by what they have too much."""
    q = np.zeros((len(targets), 7))
    q[:, :2] = rng.uniform(-0.9, 0.9, (len(q), 2))
    q[:, 3:] = random_quaternions(rng, len(q))
    for pose, target in zip(q, targets, strict=True):
        pose[2] = 0.7
        for _ in range(50):
            pose[2] -= distance(pose) - target
    return q


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_ball_on_a_terrain_is_as_far_as_the_nearest_triangle(precision):
    """From 1 cm apart to half its radius deep; and each contact is a place of the surface nearer than those about it."""
    rng, mesh = np.random.default_rng(0), terrain()
    corners = mesh[0][mesh[1]]

    def distance(pose):
        return np.linalg.norm(pose[:3] - nearest_on_triangles(pose[:3], corners), axis=1).min() - 0.1

    q = lowered(distance, rng, rng.uniform(-0.05, 0.01, 100))
    small = SMALL[precision]
    for pose, contacts in zip(q, Poses("sphere", mesh, 100, margin=MARGIN, precision=precision).contacts(q), strict=True):
        assert deepest(contacts) == pytest.approx(-distance(pose), abs=small)
        for n, point, depth, *_ in contacts:
            near = nearest_on_triangles(pose[:3], corners)
            touched = pose[:3] - (0.1 - depth) * n  # the witness on the surface
            assert np.linalg.norm(nearest_on_triangles(touched, corners) - touched, axis=1).min() < 2 * small
            around = np.linalg.norm(near - touched, axis=1) < 1.0e-3
            assert np.linalg.norm(pose[:3] - near[around], axis=1).min() > 0.1 - depth - 2 * small
            assert np.linalg.norm(point - touched) <= 0.5 * abs(depth) + 2 * small


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES)
def test_distances_to_a_terrain_are_those_of_coal(shape, count):
    """The terrain has ridges, peaks and valleys; coal is asked for 1e-9.  Where a body lies level over the border
    of a facet, the ridge is left out that is nearer by less than 1e-5 of the size."""
    rng, mesh = np.random.default_rng(1), terrain()
    body, ground = coal_body(shape), coal_mesh(mesh)
    gaps = rng.uniform(5.0e-4, 0.015, count)
    q = lowered(lambda pose: coal_distance_to_mesh(body, ground, pose), rng, gaps)
    found = Poses(shape, mesh, count, margin=MARGIN).contacts(q)
    for pose, contacts in zip(q, found, strict=True):
        assert deepest(contacts) == pytest.approx(-coal_distance_to_mesh(body, ground, pose), abs=2.0e-6)


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cuts", [0, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_depths_in_a_box_of_triangles_are_those_of_coal_in_a_box(shape, cuts, count):
    """Up to 2 % of the size deep, at faces, edges and corners: always a contact, and the least depth over all directions is
    that of one of its normals; in at most 5 of 1000 poses, at corners, none is within 1 % of it, but some within it all."""
    rng, mesh = np.random.default_rng(2), boxes(cuts=cuts)
    body = coal_body(shape)
    q = np.zeros((count, 7))
    q[:, 3:] = random_quaternions(rng, count)
    true = np.zeros(count)
    for i, pose in enumerate(q):
        u = rng.normal(size=3)
        origin = rng.uniform(-1.0, 1.0, 3) * (0.5, 0.4, 0.3)
        low, high, target = 0.0, 1.5, -rng.uniform(1.0e-5, 2.0e-3)
        for _ in range(60):
            middle = 0.5 * (low + high)
            pose[:3] = origin + middle * u / np.linalg.norm(u)
            low, high = (low, middle) if coal_distance_to_box(body, pose) > target else (middle, high)
        true[i] = -coal_distance_to_box(body, pose)
    found = Poses(shape, mesh, count).contacts(q)
    off = np.array([min(abs(d - t) for d in depth_by_normal(c)) if c else np.inf for c, t in zip(found, true, strict=True)])
    assert np.isfinite(off).all()
    wrong = off > 2.0e-6 + 0.01 * true  # coal's own tolerance on curved shapes; sides that are held for level
    assert wrong.sum() <= max(1, 0.005 * count)
    assert (off < 1.01 * true).all()


def slab_poses(shape, rng, count):
    """Bodies 1e-4 m deep on the top of the box of 1 x 0.8 x 0.6 m and over its sides, half of them upright."""
    q = np.zeros((count, 7))
    q[:, 0], q[:, 1] = rng.uniform(-0.55, 0.55, count), rng.uniform(-0.45, 0.45, count)
    half = rng.uniform(0, np.pi, count)
    q[:, 5], q[:, 6] = np.sin(half), np.cos(half)
    q[::2, 3:] = random_quaternions(rng, len(q[::2]))
    for pose in q:
        low, high = 0.2, 0.6
        for _ in range(60):
            pose[2] = 0.5 * (low + high)
            low, high = (low, pose[2]) if coal_distance_to_box(coal_body(shape), pose) > -1.0e-4 else (pose[2], high)
    return q


@pytest.mark.parametrize("shape", SHAPES)
def test_how_a_flat_piece_is_cut_into_triangles_changes_nothing(shape):
    """Where a curved body touches an edge, the depth is least there to second order: the square root of its rounding is what is
    left to the normal."""
    rng = np.random.default_rng(3)
    q = slab_poses(shape, rng, 100)
    whole, *cut = (Poses(shape, boxes(cuts=cuts), 100).contacts(q) for cuts in (0, 1, 3))
    assert sum(map(len, whole)) > 60
    for other in cut:
        for one, two in zip(whole, other, strict=True):
            assert len(one) == len(two)
            for (n, p, depth, *_), (m, r, d, *_) in zip(sorted(one, key=place), sorted(two, key=place), strict=True):
                np.testing.assert_allclose(n, m, atol=1e-5)
                np.testing.assert_allclose(p, r, atol=1e-6)
                assert depth == pytest.approx(d, abs=1e-11)


def place(contact):
    return tuple(np.round(contact[1], 7))


def test_contacts_of_one_pair_have_names_of_their_own():
    rng = np.random.default_rng(4)
    q = slab_poses("box", rng, 100)
    for contacts in Poses("box", boxes(cuts=3), 100).contacts(q):
        names = [(part, feature) for *_, part, feature in contacts]
        assert len(set(names)) == len(names)


def test_the_other_side_of_a_plate_is_not_felt():
    """A ball of 10 cm on, and half through, a plate of 1 cm; below the middle of the plate it is pushed out below."""
    mesh = boxes((0.5, 0.4, 0.005), cuts=1)
    q = np.zeros((3, 7))
    q[:, 0], q[:, 6] = 0.1, 1.0
    q[:, 2] = 0.104, 0.05, -0.05
    above, half, below = Poses("sphere", mesh, 3).contacts(q)
    for contacts, n, depth in ((above, 1.0, 0.001), (half, 1.0, 0.055), (below, -1.0, 0.055)):
        ((normal, _, found, *_),) = contacts
        np.testing.assert_allclose(normal, (0, 0, n), atol=1e-12)
        assert found == pytest.approx(depth, abs=1e-12)


def test_a_ball_whose_middle_is_behind_is_pushed_out_the_shortest_way():
    """In a closed box, 4 cm below its top and 6 cm from a side; and below a terrain, which has no other side."""
    q = np.array([[0.44, 0.0, 0.26, 0, 0, 0, 1.0], [0.46, 0.0, 0.24, 0, 0, 0, 1.0]])
    for contacts, n, depth in zip(
        Poses("sphere", boxes(cuts=1), 2).contacts(q), ((0, 0, 1), (1, 0, 0)), (0.14, 0.14), strict=True
    ):
        ((normal, _, found, *_),) = contacts
        np.testing.assert_allclose(normal, n, atol=1e-12)
        assert found == pytest.approx(depth, abs=1e-12)
    from surface_cases import grid

    x = np.linspace(-1.0, 1.0, 4)
    ((contact,),) = Poses("sphere", grid(x, x, np.zeros((4, 4))), 1).contacts(np.array([[0.1, 0.2, -0.03, 0, 0, 0, 1.0]]))
    assert contact[0] == pytest.approx((0, 0, 1)) and contact[2] == pytest.approx(0.13)


def test_what_reaches_over_a_thin_ridge_is_in_the_open():
    """A box that stands before a wall of 2 mm, higher than it, and one that leans over it: only the top of the wall is felt."""
    wall = boxes((0.001, 0.4, 0.3))
    q = np.array([[0.101 + 0.001, 0.0, 0.0, 0, 0, 0, 1.0], [0.0, 0.0, 0.3499, 0, 0, 0, 1.0]])
    before, over = Poses("box", wall, 2).contacts(q - np.array([0.0011, 0, 0, 0, 0, 0, 0]) * np.array([[1], [0]]))
    assert len(before) == 4 and all(c[0] == pytest.approx((1, 0, 0)) for c in before)
    assert deepest(before) == pytest.approx(1.0e-4, abs=1e-12)
    assert {tuple(np.round(c[0], 9)) for c in over} == {(0.0, 0.0, 1.0)} and deepest(over) == pytest.approx(1.0e-4, abs=1e-12)


@pytest.mark.parametrize("shape", ["box", "capsule", "hull"])
def test_neither_the_place_among_worlds_nor_their_number_matters(shape):
    """Bit for bit; lanes are compared in tests/lanes."""
    rng, mesh = np.random.default_rng(5), terrain(n=17)
    q = np.zeros((20, 7))
    q[:, :2], q[:, 2], q[:, 3:] = rng.uniform(-0.8, 0.8, (20, 2)), rng.uniform(0.0, 0.2, 20), random_quaternions(rng, 20)
    one = Poses(shape, mesh, 20).contacts(q)
    assert sum(map(len, one)) > 5
    for found in (Poses(shape, mesh, 40).contacts(np.concatenate([q, q])[::-1]),):
        for w, contacts in enumerate(found):
            for a, b in zip(contacts, one[19 - w % 20], strict=True):
                assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("cuts", [0, 3])
def test_in_the_corner_of_a_hall_floor_and_walls_are_felt(cuts):
    """A box that is 1 mm deep in the floor and 0.1 mm and 0.01 mm in two walls, four of its corners in each: the way out of one
    leads along the others, not off them."""
    vertices, faces = boxes((0.5, 0.4, 0.3), cuts=cuts)
    hall = vertices, faces[:, ::-1]
    q = np.array([[-0.5 + 0.1 - 1.0e-4, 0.4 - 0.08 + 1.0e-5, -0.3 + 0.05 - 1.0e-3, 0, 0, 0, 1.0]])
    (contacts,) = Poses("box", hall, 1).contacts(q)
    for n, depth in (((0, 0, 1), 1.0e-3), ((1, 0, 0), 1.0e-4), ((0, -1, 0), 1.0e-5)):
        there = [c for c in contacts if c[0] == pytest.approx(n, abs=1e-9)]
        assert [c[2] for c in there] == pytest.approx([depth] * len(there), abs=1e-12) and len(there) == 4
    assert len(contacts) == 12


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES)
def test_round_the_corners_of_a_closed_surface_nothing_is_felt(shape, count):
    """Bodies beside stones of their own size, behind the planes of most of their parts: apart they have no contact, and up to
    1 cm deep the deepest one is as deep as coal has it, but for 5 of 1000, at ridges."""
    rng, wrong = np.random.default_rng(6), 0
    for seed in range(4):
        mesh, body = stone(seed), coal_body(shape)
        other = coal_convex(*mesh)
        q = np.zeros((count // 4, 7))
        q[:, 3:] = random_quaternions(rng, len(q))
        true = np.zeros(len(q))
        for i, pose in enumerate(q):
            u, target = rng.normal(size=3), rng.choice([0.01, 1.0e-3, -1.0e-3, -1.0e-2])
            low, high = 0.0, 1.0
            for _ in range(40):
                middle = 0.5 * (low + high)
                pose[:3] = middle * u / np.linalg.norm(u)
                low, high = (low, middle) if coal_distance(body, other, pose) > target else (middle, high)
            true[i] = -coal_distance(body, other, pose)
        for depth, contacts in zip(true, Poses(shape, mesh, len(q)).contacts(q), strict=True):
            assert depth > 0.0 or not contacts
            wrong += depth > 0.0 and not 0.98 * depth - 2.0e-6 < deepest(contacts) < 1.1 * depth
    assert wrong <= max(1, 0.005 * count)
