"""What must hold for every registered pair of shapes: symmetry, invariance, continuity, and names that stay at rest.

Lengths are about 1 m.  Where the deepest directions of two shapes are as deep as each other but for rounding, either may be
found, and a manifold is not unique: then depths are compared, and that the normal found is as good.
"""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from pose_arrays import FAR, Contacts, Shapes, collide, random_pairs, random_rotations, random_shapes
from pose_bounds import supports, widths
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import registry
from sapsim.model.pairs import pair_table
from sapsim.scene.hull import convex_hull
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

KINDS = tuple(name for name, kind in registry("shapes").items() if not kind.parts)  # surfaces: test_surface_contacts.py
PAIRS = [pair for pair in combinations_with_replacement(KINDS, 2) if pair in pair_table()]
PRECISIONS = ("float64", "float32")
# depths: rounding of a product of rotations at 4 m, and where a normal's search ends (1e-7 of the size)
DEPTH = {"float64": 2.0e-7, "float32": 1.0e-5}
# points of the same names under the same normal: the normal is known to the root of what its depth is
POINT = {"float64": 1.0e-4, "float32": 1.0e-2}


def unit(n: np.ndarray) -> np.ndarray:
    return n / np.linalg.norm(n, axis=1)[:, None]


def same_manifold(one: Contacts, other: Contacts, names: np.ndarray, turn: float) -> np.ndarray:
    """(n,) whether both have the same points by name, under normals that differ by less than `turn`."""
    alike = (np.sort(one.feature) == np.sort(names)).all(axis=1) & (one.count == other.count)
    return alike & (np.linalg.norm(one.nhat - other.nhat, axis=1) < turn)


def in_order(contacts: Contacts, names: np.ndarray, values: np.ndarray) -> np.ndarray:
    order = np.argsort(names, axis=1, kind="stable")
    return np.take_along_axis(values, order.reshape(order.shape + (1,) * (values.ndim - 2)), axis=1)


def assert_same(kinds, a, b, one: Contacts, other: Contacts, names, precision: str, least_alike: float) -> None:
    """`other`, told in the placements of `one`, is the same contact."""
    there = one.count > 0
    size = a.radius + b.radius
    np.testing.assert_array_equal(there, other.count > 0)
    deep, deep_other = one.deepest[0], other.deepest[0]
    assert (np.abs(deep - deep_other)[there] <= DEPTH[precision] * size[there]).all()
    if "plane" not in kinds:  # either normal is as good
        tolerance = 10.0 * DEPTH[precision] * size
        assert (np.abs(widths(a, b, unit(other.nhat)) - deep)[there] <= tolerance[there]).all()
    alike = same_manifold(one, other, names, 1.0e-4 if precision == "float64" else 1.0e-2) & there
    assert alike.sum() >= least_alike * there.sum(), (alike.sum(), there.sum())
    p, q = (in_order(c, f, c.p)[alike] for c, f in ((one, one.feature), (other, names)))
    assert np.nanmax(np.abs(p - q), initial=0.0) <= POINT[precision]
    d, e = (in_order(c, f, c.depth)[alike] for c, f in ((one, one.feature), (other, names)))
    d, e = np.where(np.isfinite(d), d, 0.0), np.where(np.isfinite(e), e, 0.0)
    assert np.abs(d - e).max(initial=0.0) <= 10.0 * POINT[precision]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_exchanging_the_shapes_mirrors_the_contact(kinds, precision):
    """Names of the two shapes' features change places, which the other tests look at by pair; here they are left out."""
    a, b = (s.rounded(precision) for s in random_pairs(kinds, 900, seed=41))
    ordered = np.linalg.norm(b.p - a.p, axis=1) > 1.0e-6  # of two of one size about one centre neither comes first
    a, b = a[ordered], b[ordered]
    ab, ba = collide(a, b, precision, 0.05), collide(b, a, precision, 0.05)
    there = ab.count > 0
    tolerance = {"float64": 1.0e-8, "float32": 5.0e-5}[precision]  # where edges or axes that are nearly parallel cross
    np.testing.assert_array_equal(ab.count, ba.count)
    np.testing.assert_allclose(ba.nhat[there], -ab.nhat[there], atol=tolerance)
    with np.errstate(invalid="ignore"):
        on_b = ab.p - np.where(np.isfinite(ab.depth), ab.depth, 0.0)[..., None] * ab.nhat[:, None]
    for i in np.flatnonzero(there):
        mine, theirs = on_b[i, : ab.count[i]], ba.p[i, : ab.count[i]]
        away = np.linalg.norm(mine[:, None] - theirs[None], axis=2)
        assert away.min(axis=1).max() <= tolerance and away.min(axis=0).max() <= tolerance
        np.testing.assert_allclose(np.sort(ba.depth[i]), np.sort(ab.depth[i]), atol=tolerance)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_contact_moves_with_the_shapes(kinds, precision):
    rng = np.random.default_rng(42)
    a, b = random_pairs(kinds, 900, seed=42)
    gap = np.abs(collide(a, b, "float64", FAR).deepest[0])
    a, b = a[gap > 1.0e-4], b[gap > 1.0e-4]  # touching to rounding, either side of no contact is right
    R, p = random_rotations(len(a), rng), rng.uniform(-2.0, 2.0, (len(a), 3))
    one, moved = collide(a, b, precision), collide(a.moved(R, p), b.moved(R, p), precision)
    with np.errstate(invalid="ignore"):
        back = np.einsum("kji,kmj->kmi", R, moved.p - p[:, None])
    moved = replace(moved, nhat=np.einsum("kji,kj->ki", R, moved.nhat), p=back)
    assert_same(kinds, a, b, one, moved, moved.feature, precision, 0.9 if precision == "float64" else 0.8)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_depth_is_continuous_along_paths(kinds):
    """From apart, through each other, out on the other side, turning: the depth changes by no more than the points move.

    |h(n)| is Lipschitz in the motion, so least h is; 2e-6: two ends of searches for a normal.
    """
    rng = np.random.default_rng(43)
    steps = 400
    for _ in range(6):
        a, b = random_shapes(kinds[0], 1, rng), random_shapes(kinds[1], 1, rng)
        reach = float((a.radius + b.radius)[0])
        d, axis = unit(rng.normal(size=(2, 3)))
        side = 0.3 * reach * unit(np.cross(d, rng.normal(size=3))[None])[0]
        s = np.linspace(-1.2, 1.2, steps)[:, None]
        if "plane" in kinds:
            d = (a if kinds[0] == "plane" else b).R[0, :, 2]
        turns = Rotation.from_rotvec(1.5 * s * axis).as_matrix()
        many = np.zeros(steps, int)
        a, b = a[many], replace(b[many], p=s * reach * d + side, R=turns @ b.R[many])
        if "plane" in kinds:  # it does not turn: its half space has no bound
            b = replace(b, R=b.R if kinds[1] != "plane" else np.repeat(b.R[:1], steps, axis=0))
        depth = collide(a, b, "float64", FAR).deepest[0]
        moved = np.linalg.norm(np.diff(b.p, axis=0), axis=1)
        fastest = moved + 1.5 * 2.4 / (steps - 1) * (0.0 if kinds[1] == "plane" else b.radius[1:])
        assert (np.abs(np.diff(depth)) <= 1.001 * fastest + 2.0e-6).all()


def on_largest_face(s: Shapes) -> np.ndarray:
    """(1, 3, 3) the rotation that turns a polytope's largest face down."""
    hull = s.hulls[s.hull[0]]
    areas = [np.linalg.norm(np.cross(p, np.roll(p, -1, axis=0)).sum(axis=0)) for p in faces_of(hull)]
    return Rotation.align_vectors([[0, 0, -1]], [hull.normals[int(np.argmax(areas))]])[0].as_matrix()[None]


def faces_of(hull) -> list[np.ndarray]:
    return [hull.vertices[list(face)] - hull.vertices.mean(axis=0) for face in hull.faces]


LYING = Rotation.from_euler("y", 90.0, degrees=True).as_matrix()[None]
GROUND = {
    "plane": ((), 0.0), "box": ((4.0, 4.0, 1.0), 0.5), "cylinder": ((2.0, 1.0), 0.5), "convex": ((), 0.5),
}  # fmt: skip
SLAB = convex_hull(np.array([[x, y, z] for x in (-2.0, 2.0) for y in (-2.0, 2.0) for z in (-0.5, 0.5)]))


def at_rest(kind: str, ground: str, lies: bool, rng) -> tuple[Shapes, Shapes]:
    """A body 1 mm in level ground whose upper face is z = 0."""
    params, half = GROUND[ground]
    padded = np.array([[*params, *[0.0] * (3 - len(params))]])
    hulls = (SLAB,) if ground == "convex" else ()
    floor = Shapes(ground, padded, np.array([[0.0, 0.0, -half]]), np.eye(3)[None], np.zeros(1, int), hulls)
    body = replace(random_shapes(kind, 1, rng), R=LYING if lies else np.eye(3)[None])
    if body.hulls:
        body = replace(body, R=on_largest_face(body))
    reach = supports(body, np.array([[0.0, 0.0, -1.0]]))[0]
    return replace(body, p=np.array([[0.03, -0.02, reach - 1.0e-3]])), floor


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("ground", GROUND)
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "plane"])
def test_names_stay_at_rest(kind, ground, precision):
    """A body that trembles by 1e-9 m and rad (float32: by rounding) keeps its points, their names and their places."""
    rng = np.random.default_rng(44)
    tremble = {"float64": 1.0e-9, "float32": 1.0e-7}[precision]
    for lies in (False, True):
        body, floor = at_rest(kind, ground, lies, rng)
        many = np.zeros(100, int)
        turns = Rotation.from_rotvec(tremble * rng.normal(size=(100, 3))).as_matrix()
        shaken = replace(body[many], p=body.p + tremble * rng.normal(size=(100, 3)), R=turns @ body.R)
        found = collide(shaken, floor[many], precision)
        names = np.sort(found.feature, axis=1)
        np.testing.assert_array_equal(names, names[[0] * 100])
        p = in_order(found, found.feature, found.p)
        assert found.count[0] > 0 and np.nanmax(np.abs(p - p[0])) <= {"float64": 1.0e-7, "float32": 1.0e-4}[precision]


SCENE = """
sapsim: 1
time_step: 0.002
steps: 600
world: {collision: [{box: [8, 2, 0.5], pose: {xyz: [0, 0, -0.25]}}, {plane: {}, pose: {xyz: [0, 0, -0.1]}}]}
bodies:
  can: {cylinder: {radius: 0.05, length: 0.1}, mass: 1, pose: {xyz: [0, 0, 0.051]}}
  top: {box: [0.06, 0.06, 0.06], mass: 1, pose: {xyz: [0, 0, 0.132], rpy_deg: [0, 0, 20]}}
  log: {cylinder: {radius: 0.05, length: 0.2}, mass: 1, pose: {xyz: [0.4, 0, 0.051], rpy_deg: [90, 0, 0]}}
  cone: {cone: {radius: 0.05, length: 0.1}, mass: 1, pose: {xyz: [-0.4, 0, 0.051]}}
  egg: {ellipsoid: [0.05, 0.05, 0.03], mass: 1, pose: {xyz: [0, 0.4, 0.031]}}
  pill: {capsule: {radius: 0.05, length: 0.1}, mass: 1, pose: {xyz: [0.8, 0, 0.051], rpy_deg: [90, 0, 30]}}
  low: {box: [0.1, 0.1, 0.1], mass: 1, pose: {xyz: [-0.8, 0, 0.051]}}
  high: {box: [0.1, 0.1, 0.1], mass: 1, pose: {xyz: [-0.79, 0.01, 0.152], rpy_deg: [0, 0, 30]}}
  ball: {sphere: 0.05, mass: 1, pose: {xyz: [0, -0.4, 0.051]}}
"""


@pytest.mark.parametrize("precision", PRECISIONS)
def test_names_stay_in_a_simulated_rest(precision):
    """Bodies of all kinds, some on others, after a second: the same pairs, points and names in each of 100 steps."""
    sim = Simulation(loads(SCENE, file="rest.yaml"), device="cpu", precision=precision)
    sim.initial()
    sim.advance(500)
    block = sim.advance(100)
    count = block.contact_count[:, 0]
    assert count[0] >= 8 + 8 + 2 + 6 + 1 + 2 + 4 + 4 + 1 and (count == count[0]).all()
    rows = np.stack([block.contacts.shape_a, block.contacts.shape_b, block.contacts.feature], axis=1).reshape(100, count[0], 3)
    np.testing.assert_array_equal(rows, rows[[0] * 100])
