"""Points of contact of convex shapes: how many, where, with which names; their symmetries; and hulls."""

from itertools import combinations_with_replacement

import coal
import numpy as np
import pytest
from convex_cases import I3, KINDS, Solid, coal_shape, hull_of, random_cases, random_solid, run
from pairs_cases import random_rotation
from scipy.spatial import ConvexHull as Qhull
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import registry
from sapsim.kinds.convexity import NAMES
from sapsim.kinds.pairs._manifold import FIRST

PRECISIONS = ("float64", "float32")
TOLERANCE = {"float64": 1.0e-9, "float32": 2.0e-5}
THIN = {"sphere", "capsule"}
PAIRS = [pair for pair in combinations_with_replacement(KINDS, 2) if not set(pair) <= THIN]
LYING = Rotation.from_euler("y", 90.0, degrees=True).as_matrix()
CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
GAP = 2.0**-10


def slab() -> Solid:
    return Solid("box", (4.0, 4.0, 1.0), np.array([0.0, 0.0, -0.5]))


def on(kind: str, params, z: float, R=I3, x: float = 0.0) -> Solid:
    return Solid(kind, params, np.array([x, 0.0, z - GAP]), R)


def slant(radius: float, length: float) -> np.ndarray:
    """Turns a cone so that the lowest line of its mantle is level."""
    return Rotation.from_euler("y", 90.0 + np.degrees(np.arctan2(radius, length)), degrees=True).as_matrix()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "label, solid, count",
    [
        ("standing can", on("cylinder", (0.5, 1.0), 0.5), 8),
        ("lying can", on("cylinder", (0.5, 1.0), 0.5, LYING), 2),
        ("tilted can", on("cylinder", (0.5, 1.0), 0.75, Rotation.from_euler("y", 45.0, degrees=True).as_matrix()), 1),
        ("cone on its base", on("cone", (0.5, 1.0), 0.5), 8),
        ("cone on its apex", on("cone", (0.5, 1.0), 0.5, Rotation.from_euler("x", 180.0, degrees=True).as_matrix()), 1),
        ("egg", on("ellipsoid", (0.5, 0.3, 0.2), 0.2), 1),
        ("hull on a face", hull_of(CUBE, (0.2, 0.1, 0.5 - GAP)), 4),
        ("lying pill", on("capsule", (0.25, 1.0), 0.25, LYING), 2),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_rests_on_a_slab(label, solid, count, precision):
    if label == "tilted can":
        solid = solid.at((0.0, 0.0, np.sqrt(0.5) - GAP))
    (found,) = run([(slab(), solid)], precision)
    assert len(found.depth) == count
    np.testing.assert_allclose(found.nhat, (0, 0, 1), atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.depth, GAP, atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.p[:, 2], 0.0, atol=TOLERANCE[precision])
    assert len(set(found.feature)) == count


@pytest.mark.parametrize("precision", PRECISIONS)
def test_lines_that_run_alike_meet_in_two_points(precision):
    """A cylinder on another, a cone's mantle on a slab, a cylinder on a hull's edge.

    The depth is least at the normal, so that is known to the square root of some roundings, 2e-3 in float32.
    """
    roof = hull_of([[-1, -1, -1], [-1, 1, -1], [1, -1, -1], [1, 1, -1], [-1, 0, 0], [1, 0, 0]])
    low = Solid("cylinder", (0.5, 2.0), np.zeros(3), LYING)
    R = slant(0.5, 1.0)
    cone = Solid("cone", (0.5, 1.0), np.zeros(3), R)
    lowest = min((R @ q)[2] for q in ([0, 0, 0.5], R.T @ [0, 0, 0] + [0, 0, 0.5]))
    cases = [
        (low, on("cylinder", (0.25, 1.0), 0.75, LYING, x=0.8)),
        (slab(), cone.at((0.0, 0.0, -lowest - GAP))),
        (roof, on("cylinder", (0.25, 1.0), 0.25, LYING, x=0.2)),
    ]
    spans = (0.7, np.hypot(0.5, 1.0), 1.0)
    for case, found, span in zip(cases, run(cases, precision), spans, strict=True):
        assert len(found.depth) == 2, case
        np.testing.assert_allclose(found.nhat, (0, 0, 1), atol=2.0e-3 if precision == "float32" else 1.0e-7)
        np.testing.assert_allclose(found.depth, GAP, atol=10 * TOLERANCE[precision])
        assert np.linalg.norm(found.p[0] - found.p[1]) == pytest.approx(span, abs=1.0e-4)


def area_and_centre(points: np.ndarray) -> tuple[float, np.ndarray]:
    """Of a convex polygon in a plane of normal z, from its corners."""
    flat = points[:, :2]
    flat = flat[Qhull(flat).vertices] - flat.mean(axis=0)
    x, y = flat.T
    cross = x * np.roll(y, -1) - y * np.roll(x, -1)
    area = cross.sum() / 2.0
    centre = ((flat + np.roll(flat, -1, axis=0)) * cross[:, None]).sum(axis=0) / (6.0 * area)
    return area, points[:, :2].mean(axis=0) + centre


def before_reduction(cases) -> list[np.ndarray]:
    """All points found of every case, world; those kept tell in which of the two shapes' coordinates they are."""
    results, scratch = run(cases, keep_scratch=True)
    all_points = []
    for (a, b), found, rows in zip(cases, results, scratch.point.numpy(), strict=True):
        # after them is what the search for the depth has left: never on the face
        there = (rows[FIRST:, 3] > 0.0) & (np.abs(rows[FIRST:, 2] - rows[FIRST, 2]) < 1.0e-9)
        rows = rows[FIRST : FIRST + int(np.flatnonzero(~there)[0])]
        placed = [in_world(rows, a, found.nhat), in_world(rows, b, -found.nhat)]
        off = [np.abs(found.p[:, None, :2] - points[None, :, :2]).max(axis=2).min(axis=1).max() for points in placed]
        assert min(off) < 1.0e-9
        all_points.append(placed[int(np.argmin(off))])
    return all_points


def in_world(rows: np.ndarray, first: Solid, n: np.ndarray) -> np.ndarray:
    """Points (u, v, z, depth) about a shape's origin, z along n, u as near as can be to the shape's x."""
    x = first.R[:, 0] if abs(first.R[:, 0] @ n) <= 0.8 else first.R[:, 1]
    u = x - (x @ n) * n
    u /= np.linalg.norm(u)
    return first.p + rows[:, :3] @ np.array([u, np.cross(n, u), n])


def patch(a: Solid, b: Solid) -> np.ndarray:
    """Corners (n, 3) of coal's contact patch, world."""
    (g_a, X_a), (g_b, X_b) = coal_shape(a), coal_shape(b)
    collision = coal.CollisionResult()
    coal.collide(g_a, X_a, g_b, X_b, coal.CollisionRequest(coal.CONTACT, 1), collision)
    request, result = coal.ContactPatchRequest(), coal.ContactPatchResult()
    request.setNumSamplesCurvedShapes(200)
    coal.computeContactPatch(g_a, X_a, g_b, X_b, collision, request, result)
    (found,) = [result.getContactPatch(i) for i in range(result.numContactPatches())]
    return np.array([found.getPoint(i) for i in range(found.size())])


def face_cases(kind_a: str, kind_b: str, n: int, seed: int) -> list[tuple[Solid, Solid]]:
    """B's lower face on A's upper one, turned about the vertical and moved sideways, until little or nothing of it is on A."""
    rng = np.random.default_rng(seed)
    make = {
        "box": lambda: Solid("box", (1.0, 0.8, 0.5), np.zeros(3)),
        "cylinder": lambda: Solid("cylinder", (0.5, 0.5), np.zeros(3)),
        "convex": lambda: prism(rng),
    }
    cases = []
    for _ in range(n):
        a, b = make[kind_a](), make[kind_b]()
        spin = Rotation.from_euler("z", rng.uniform(0.0, 360.0), degrees=True).as_matrix()
        offset = np.array([*(rng.uniform(0.5, 2.4) * rng.uniform(-0.4, 0.4, 2)), 0.5 - 1.0e-3])
        cases.append((a, Solid(b.kind, b.params, offset, spin, b.hull)))
    return cases


def prism(rng) -> Solid:
    """Random corners over a height of 0.5."""
    base = rng.normal(size=(9, 2)) * 0.4
    return hull_of(np.concatenate([np.c_[base, np.full(9, z)] for z in (-0.25, 0.25)]))


def face_area(s: Solid) -> float:
    """Of the face that `face_cases` puts on or under another one [m^2]."""
    if s.kind == "cylinder":
        return np.pi * s.params[0] ** 2
    if s.kind == "box":
        return s.params[0] * s.params[1]
    return Qhull(s.hull.vertices[:, :2]).volume


@pytest.mark.parametrize(
    "kinds",
    [("box", "box"), ("box", "cylinder"), ("convex", "convex"), ("convex", "cylinder"), ("cylinder", "cylinder")],
    ids="-".join,
)
def test_polygon_is_the_contact_patch_of_another_library(kinds):
    """Before reduction: area within 1 %, centroid within 1 % of the size; patches of 1 % of the smaller face and more.

    The other library samples a disc at 200 places.
    """
    cases = face_cases(*kinds, 200, seed=21)
    cases = [case for case, found in zip(cases, run(cases), strict=True) if len(found.depth) and abs(found.nhat[2]) > 0.999]
    shares = []
    for (a, b), points, found in zip(cases, before_reduction(cases), run(cases), strict=True):
        other, centre_there = area_and_centre(patch(a, b))
        share = other / min(face_area(a), face_area(b))
        if share < 0.01:
            continue
        shares.append(share)
        area, centre = area_and_centre(points)
        assert area == pytest.approx(other, rel=0.01)
        np.testing.assert_allclose(centre, centre_there, atol=0.01 * min(a.radius, b.radius))
        assert len(found.depth) <= 8 and (found.depth <= found.depth.max()).all()
        left, _ = area_and_centre(found.p)
        assert left > 0.7 * area
    assert len(shares) > 100 and min(shares) < 0.05


def mirrored(feature: int) -> int:
    return (feature % NAMES) * NAMES + feature // NAMES


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_naming_the_shapes_the_other_way_round_mirrors_the_contact(kinds, precision):
    cases = random_cases(*kinds, 60, seed=22)
    there, back = run(cases, precision), run([(b, a) for a, b in cases], precision)
    for one, other in zip(there, back, strict=True):
        np.testing.assert_array_equal(other.nhat, -one.nhat)
        np.testing.assert_array_equal([mirrored(f) for f in other.feature], one.feature)
        np.testing.assert_array_equal(other.depth, one.depth)
        np.testing.assert_allclose(other.p_B, one.p, atol=1e-12 if precision == "float64" else 1e-5)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_contact_moves_with_the_shapes(kinds):
    """Two shapes of one kind and size are told apart by their places in the world; random ones never are of one size.

    Where two directions are as shallow as each other but for rounding, either may be found: depths are compared always, normals
    where the deeper overlap of a slightly turned one says which is meant.
    """
    rng = np.random.default_rng(23)
    cases = random_cases(*kinds, 40, seed=23)
    motions = [(random_rotation(rng), rng.uniform(-2.0, 2.0, 3)) for _ in cases]
    moved = [(a.moved(R, p), b.moved(R, p)) for (a, b), (R, p) in zip(cases, motions, strict=True)]
    same = 0
    for old, new, (R, p) in zip(run(cases), run(moved), motions, strict=True):
        assert len(old.depth) > 0 or not len(new.depth)
        if len(old.depth):
            assert new.depth.max() == pytest.approx(old.depth.max(), abs=1.0e-6)
            if np.allclose(new.nhat, R @ old.nhat, atol=1.0e-5) and list(new.feature) == list(old.feature):
                same += 1
                np.testing.assert_allclose(new.p, old.p @ R.T + p, atol=1.0e-3)
        else:
            same += 1
    assert same >= 36


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_depth_is_continuous_along_a_path(kinds):
    """The depth changes by no more than the points move: |h(n)| is Lipschitz in the motion."""
    rng = np.random.default_rng(24)
    a, b = random_solid(kinds[0], rng), random_solid(kinds[1], rng)
    axis, d = rng.normal(size=3), rng.normal(size=3)
    d *= (a.radius + b.radius) / np.linalg.norm(d)
    cases, steps = [], 400
    for s in np.linspace(0.0, 1.0, steps):
        R = Rotation.from_rotvec(1.5 * s * axis / np.linalg.norm(axis)).as_matrix()
        cases.append((a, Solid(b.kind, b.params, d * (1.0 - 1.2 * s), R @ b.R, b.hull)))
    depths = np.array([found.depth.max() for found in run(cases, margin=100.0)])
    fastest = (1.2 * np.linalg.norm(d) + 1.5 * b.radius) / steps
    assert np.abs(np.diff(depths)).max() <= 1.01 * fastest + 2.0e-6


@pytest.mark.parametrize("precision", PRECISIONS)
def test_names_stay_at_rest(precision):
    """Rounding of the pose changes neither the points nor their names."""
    rng = np.random.default_rng(25)
    noise = {"float64": 1.0e-12, "float32": 1.0e-7}[precision]
    bodies = [
        on("cylinder", (0.5, 1.0), 0.5), on("cylinder", (0.5, 1.0), 0.5, LYING), on("cone", (0.5, 1.0), 0.5),
        hull_of(CUBE, (0.2, 0.1, 0.5 - GAP)), prism(rng).at((0, 0, 0.25 - GAP)), on("ellipsoid", (0.5, 0.3, 0.2), 0.2),
    ]  # fmt: skip
    for body in bodies:
        cases = []
        for _ in range(50):
            R = Rotation.from_rotvec(noise * rng.normal(size=3)).as_matrix()
            cases.append((slab(), Solid(body.kind, body.params, body.p + noise * rng.normal(size=3), R @ body.R, body.hull)))
        first, *rest = run(cases, precision)
        for found in rest:
            assert sorted(found.feature) == sorted(first.feature), body
            np.testing.assert_allclose(found.sorted().p, first.sorted().p, atol=1.0e-4 if precision == "float32" else 1.0e-8)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_hull_on_a_plane_keeps_the_extreme_vertices_and_the_deepest(precision):
    rng = np.random.default_rng(26)
    plane = Solid("plane", (), np.zeros(3), random_rotation(rng))
    cases = []
    for _ in range(60):
        hull = random_solid("convex", rng)
        cases.append((hull.at(plane.R[:, 2] * rng.uniform(-0.5, 1.0) * hull.radius), plane))
    for (a, _), found in zip(cases, run(cases, precision, name="convex_plane"), strict=True):
        heights = (a.p + a.hull.vertices @ a.R.T) @ plane.R[:, 2]
        below = np.flatnonzero(heights < -1.0e-5)
        assert len(found.depth) == min(8, len(below)) or len(below) > 8
        if len(below):
            assert found.depth.max() == pytest.approx(-heights.min(), abs=1.0e-5)
            vertices = found.feature // NAMES - 1
            np.testing.assert_allclose(found.depth, -heights[vertices], atol=1.0e-5)
            np.testing.assert_allclose(found.p, a.p + a.hull.vertices[vertices] @ a.R.T, atol=1.0e-5)
            np.testing.assert_allclose(found.nhat, -plane.R[:, 2], atol=1.0e-5)


def test_every_convex_kind_can_be_a_reference():
    assert all(registry("shapes")[kind].convex is not None for kind in KINDS)
