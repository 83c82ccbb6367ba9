"""Geometry pairs: every registered pair against its twin, another library and its own symmetries; known contacts.

Lengths are about 1 m.  Tolerances: float64 1e-12, some thousand rounding errors of a product of rotations (2e-16 each);
float32 1e-5, some eighty of 1.2e-7; depths of known contacts at such coordinates likewise.
"""

import re

import numpy as np
import pytest
import warp as wp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pairs_cases import (
    I3,
    box,
    capsule,
    coal_distance,
    pair_kernel,
    plane,
    random_cases,
    random_rotation,
    rounded,
    run_pair,
    run_pairs,
    run_twin,
    shape_distance,
    solid,
    sphere,
    turn,
)
from scipy.spatial.transform import Rotation

from sapsim.kinds.base import registry
from sapsim.model.pairs import pair_table

LYING = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # takes z to x, exactly
PRECISIONS = ("float64", "float32")
PAIRS = tuple(name for name, kind in registry("pairs").items() if kind.make is not None)  # the others: test_convex_*.py
TOLERANCE = {"float64": 1.0e-12, "float32": 1.0e-5}
GAP = 2.0**-10  # a depth that both precisions hold exactly
# where the other library takes the way out through the mantle for the shortest, though a ball leaves through a cap
NOT_LEAST = ("cylinder_sphere",)


def test_every_pair_of_shapes_but_planes_and_surfaces_is_registered_under_its_name():
    shapes = sorted(registry("shapes"))
    found = pair_table()
    ground = ("plane", "surface")
    assert [(a, b) for a in shapes for b in shapes if (a, b) not in found] == [(a, b) for a in ground for b in ground]
    for name, kind in registry("pairs").items():
        assert name == f"{kind.a}_{kind.b}"


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("margin", (0.0, 0.5))
@pytest.mark.parametrize("name", PAIRS)
def test_twin_finds_the_same_points(name, margin, precision):
    """The large margin also reaches boxes whose clipped face is empty, so that their edges are the contact."""
    cases = [tuple(rounded(s, precision) for s in case) for case in random_cases(name, 300, seed=1)]
    tolerance = TOLERANCE[precision]
    sizes = set()
    for case, found in zip(cases, run_pairs(name, precision, cases, margin), strict=True):
        device, twin = found.sorted(), run_twin(*case, float(margin)).sorted()
        assert list(device.feature) == list(twin.feature)
        sizes.add(len(device.feature))
        if len(device.feature):
            np.testing.assert_allclose(device.nhat, twin.nhat, atol=tolerance, rtol=0.0)
            np.testing.assert_allclose(device.p, twin.p, atol=tolerance, rtol=0.0)
            np.testing.assert_allclose(device.depth, twin.depth, atol=tolerance, rtol=0.0)
    assert 0 in sizes if margin == 0.0 else max(sizes) == registry("pairs")[name].max_points  # the sample reaches both ends


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", PAIRS)
def test_points_are_what_the_protocol_promises(name, precision):
    """Unit normal, unique features, depths beyond the margin, witnesses on the two surfaces.

    The witness of a tilted capsule's shallower end lies inside it.  Two capsules along each other may part sideways by
    1 % of r = r_A + r_B; witnesses are half that beside the lowest line, (0.005 r)^2 / (2 r_A) <= 4e-4 off the surface.
    At an edge of a box it is 1 % of the capsule's radius, (0.01 r)^2 / (2 r) <= 8e-5, and at a corner 1e-4 r.
    """
    margin = 0.05
    cases = [tuple(rounded(s, precision) for s in case) for case in random_cases(name, 300, seed=2)]
    tolerance = TOLERANCE[precision]
    on_surface = {"capsule_capsule": 4.0e-4, "box_capsule": 1.5e-4}.get(name, tolerance)
    for (a, b), found in zip(cases, run_pairs(name, precision, cases, margin), strict=True):
        assert len(found.depth) <= registry("pairs")[name].max_points
        assert abs(np.linalg.norm(found.nhat) - 1.0) < tolerance
        assert len(set(found.feature)) == len(found.feature)
        assert (found.depth > -margin).all()
        if not (found.depth > 0.0).any():
            continue  # apart, a witness may lie on the extension of a face
        for p_A, p_B, depth in zip(found.p, found.p_B, found.depth, strict=True):
            outside = shape_distance(a, p_A), shape_distance(b, p_B)
            assert max(outside) < on_surface
            if "capsule" not in name or depth == found.depth.max():
                assert min(outside) > -on_surface


@pytest.mark.parametrize("name", PAIRS)
def test_depth_is_the_distance_of_an_independent_library(name):
    """There is a point exactly where the shapes overlap, and the deepest is as deep as the least push apart."""
    cases = random_cases(name, 300, seed=3)
    for (a, b), found in zip(cases, run_pairs(name, "float64", cases), strict=True):
        distance = coal_distance(a, b)
        assert (len(found.depth) > 0) == (distance < 0.0)
        if name in NOT_LEAST and len(found.depth) and found.depth.max() < -distance * (1.0 - 1.0e-6):
            continue
        if distance < 0.0:
            # the iterations of the other library stop there; its polytope in a cone ends short of the mantle once
            assert found.depth.max() == pytest.approx(-distance, rel=2.0e-4 if name == "cone_sphere" else 1.0e-6)


@pytest.mark.parametrize("name", PAIRS)
def test_pushing_apart_by_the_depth_along_the_normal_ends_the_overlap(name):
    cases = random_cases(name, 200, seed=4)
    for (a, b), found in zip(cases, run_pairs(name, "float64", cases), strict=True):
        if len(found.depth):
            push = found.depth.max() * (1.0 + 1.0e-9)
            assert coal_distance(a, b.moved(I3, push * found.nhat)) >= -1.0e-6  # where the iterations stop
            assert coal_distance(a, b.moved(I3, (1.0 - 1.0e-4) * push * found.nhat)) < 0.0  # not by less


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", [n for n in PAIRS if registry("pairs")[n].a == registry("pairs")[n].b])
def test_naming_the_shapes_the_other_way_round_mirrors_the_contact(name, precision):
    cases = [tuple(rounded(s, precision) for s in case) for case in random_cases(name, 300, seed=5)]
    forward = run_pairs(name, precision, cases)
    backward = run_pairs(name, precision, [(b, a) for a, b in cases])
    for ab, ba in zip(forward, backward, strict=True):
        assert_mirrored(name, ab, ba, TOLERANCE[precision])


def assert_mirrored(name, ab, ba, tolerance):
    """The same points with the roles of A and B exchanged."""
    assert len(ab.depth) == len(ba.depth)
    if not len(ab.depth):
        return
    np.testing.assert_allclose(ab.nhat, -ba.nhat, atol=tolerance, rtol=0.0)
    names = [mirrored_feature(int(f)) if name == "box_box" else int(f) for f in ab.feature]
    order = [names.index(f) for f in ba.feature]
    assert sorted(names) == sorted(ba.feature)
    np.testing.assert_allclose(ab.depth[order], ba.depth, atol=tolerance, rtol=0.0)
    np.testing.assert_allclose(ab.p_B[order], ba.p, atol=tolerance, rtol=0.0)


def mirrored_feature(feature: int) -> int:
    """The name of a feature of two boxes when A and B are exchanged."""
    if feature < 16:
        return (feature + 8) % 16
    edge_a, edge_b = divmod(feature - 16, 12)
    return 16 + 12 * edge_b + edge_a


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", PAIRS)
def test_contact_moves_with_the_shapes(name, precision):
    rng = np.random.default_rng(6)
    cases = random_cases(name, 200, seed=6)
    motions = [(random_rotation(rng), rng.uniform(-2.0, 2.0, 3)) for _ in cases]
    moved = [(a.moved(R, p), b.moved(R, p)) for (a, b), (R, p) in zip(cases, motions, strict=True)]
    # sizes of 1 at 4 m, and two roundings of the poses: four times the tolerance
    tolerance = 4.0 * TOLERANCE[precision]
    before, after = run_pairs(name, precision, cases), run_pairs(name, precision, moved)
    for old, new, (R, p) in zip(before, after, motions, strict=True):
        old, new = old.sorted(), new.sorted()
        assert list(old.feature) == list(new.feature)
        if len(old.feature):
            np.testing.assert_allclose(new.nhat, R @ old.nhat, atol=tolerance, rtol=0.0)
            np.testing.assert_allclose(new.depth, old.depth, atol=tolerance, rtol=0.0)
            np.testing.assert_allclose(new.p, old.p @ R.T + p, atol=tolerance, rtol=0.0)


def test_gpu_code_keeps_its_variables_in_registers(tmp_path):
    """Local memory of a thread on sm_90, float64, stays under 4 kB; vectors indexed at run time would add to it."""
    for name in PAIRS:
        module = pair_kernel(name, "float64").module
        wp.compile_aot_module(module, arch=90, use_ptx=True, module_dir=str(tmp_path / name))
        (ptx,) = (tmp_path / name).glob("*.ptx")
        depots = [int(size) for size in re.findall(r"__local_depot\d+\[(\d+)\]", ptx.read_text())]
        assert sum(depots) < 4096


@pytest.mark.parametrize("precision", PRECISIONS)
def test_touching_is_not_yet_a_contact_and_the_margin_reaches_beyond(precision):
    touching = {
        "box_box": (box((0, 0, 0)), box((0, 0, 1))),
        "box_capsule": (box((0, 0, 0)), capsule((0, 0, 1), LYING)),
        "box_plane": (box((0, 0, 0.5)), plane()),
        "box_sphere": (box((0, 0, 0)), sphere((0, 0, 1))),
        "capsule_capsule": (capsule((0, 0, 0), LYING), capsule((0, 0, 1), LYING)),
        "capsule_plane": (capsule((0, 0, 0.5), LYING), plane()),
        "capsule_sphere": (capsule((0, 0, 0), LYING), sphere((0, 0, 1))),
        "cone_plane": (solid("cone", (0.5, 1.0), (0, 0, 0.5)), plane()),
        "cone_sphere": (solid("cone", (0.5, 1.0), (0, 0, -0.5)), sphere((0, 0, 0.5))),
        "cylinder_plane": (solid("cylinder", (0.5, 1.0), (0, 0, 0.5), LYING), plane()),
        "cylinder_sphere": (solid("cylinder", (0.5, 1.0), (0, 0, 0)), sphere((0, 0, 1))),
        "ellipsoid_plane": (solid("ellipsoid", (0.5, 1.0, 0.25), (0, 0, 0.25)), plane()),
        "plane_sphere": (plane(), sphere((0, 0, 0.5))),
        "sphere_sphere": (sphere((0, 0, 0)), sphere((0, 0, 1))),
    }
    assert set(touching) == set(PAIRS)
    for name, (a, b) in touching.items():
        assert not len(run_pair(name, precision, a, b).depth)
        assert (run_pair(name, precision, a, b, margin=GAP).depth == 0.0).all()
        assert len(run_pair(name, precision, a, b, margin=GAP).depth) > 0
        apart = b.moved(I3, GAP * np.array([0, 0, -1.0 if name.endswith("plane") else 1.0]))
        assert not len(run_pair(name, precision, a, apart, margin=GAP).depth)
        assert (run_pair(name, precision, a, apart, margin=2 * GAP).depth == -GAP).all()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "R, count",
    [(I3, 4), (turn("x", 45), 2), (Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_matrix(), 1)],
)
def test_box_on_a_plane_has_the_corners_that_are_below(R, count, precision):
    lowest = np.abs(R[2] * 0.5).sum()
    found = run_pair("box_plane", precision, box((0, 0, lowest - GAP), R), plane())
    assert len(found.depth) == count
    np.testing.assert_allclose(found.depth, GAP, atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.nhat, (0, 0, -1), atol=0.0)
    np.testing.assert_allclose(found.p_B[:, 2], 0.0, atol=TOLERANCE[precision])
    assert (found.feature < 8).all()


@pytest.mark.parametrize("precision", PRECISIONS)
def test_tilted_box_on_a_plane_has_a_depth_at_each_corner(precision):
    found = run_pair("box_plane", precision, box((0, 0, 0), turn("y", 30)), plane()).sorted()
    cos, sin = np.cos(np.pi / 6), 0.5
    depths = [-(-sin * x + cos * z) for y in (-0.5, 0.5) for x, z in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5))]
    kept = sorted(d for d in depths if d > 0.0)
    np.testing.assert_allclose(sorted(found.depth), kept, atol=TOLERANCE[precision])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "centre, nhat, depth",
    [
        ((0.0, 0.0, 0.75), (0, 0, 1), 0.25),  # over a face
        ((0.75, 0.0, 0.75), (np.sqrt(0.5), 0, np.sqrt(0.5)), 0.5 - np.sqrt(0.125)),  # over an edge
        ((0.75, 0.75, -0.75), np.array([1, 1, -1]) / np.sqrt(3), 0.5 - np.sqrt(3 / 16)),  # over a corner
        ((0.0, -0.25, 0.125), (0, -1, 0), 0.75),  # inside, nearest to a face
        ((0.0, 0.0, 0.0), (1, 0, 0), 1.0),  # at the centre: the lowest axis, its positive side
        ((0.25, 0.25, 0.0), (1, 0, 0), 0.75),  # inside, two faces equally near: the lowest axis
        ((0.5, 0.0, 0.0), (1, 0, 0), 0.5),  # on a face
        ((0.0, -0.5, 0.5), (0, -1, 0), 0.5),  # on an edge
        ((-0.5, -0.5, -0.5), (-1, 0, 0), 0.5),  # on a corner
    ],
)
def test_sphere_at_a_box(centre, nhat, depth, precision):
    found = run_pair("box_sphere", precision, box((0, 0, 0)), sphere(centre))
    np.testing.assert_allclose(found.nhat, nhat, atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.depth, [depth], atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.p_B, [np.array(centre) - 0.5 * np.array(nhat)], atol=TOLERANCE[precision])


S = np.sqrt(0.5)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "kind, centre, nhat, depth",
    [
        ("cylinder", (0.0, 0.75, 0.25), (0, 1, 0), 0.25),  # beside
        ("cylinder", (0.25, 0.0, -0.75), (0, 0, -1), 0.25),  # beyond a cap
        ("cylinder", (0.75, 0.0, 0.75), (S, 0, S), 0.5 - np.sqrt(0.125)),  # beyond the rim
        ("cylinder", (0.0, -0.25, 0.125), (0, -1, 0), 0.75),  # inside, nearest to the side
        ("cylinder", (0.0, 0.125, 0.375), (0, 0, 1), 0.625),  # inside, nearest to a cap
        ("cylinder", (0.0, 0.0, 0.0), (1, 0, 0), 1.0),  # in the middle: the side, along x
        ("cylinder", (0.0, 0.5, 0.5), (0, 1, 0), 0.5),  # on the rim
        ("cone", (0.0, 0.0, 0.75), (0, 0, 1), 0.25),  # beyond the apex
        ("cone", (0.0, 0.5, -0.75), (0, 0, -1), 0.25),  # below the base
        ("cone", (1.25, 0.0, -0.75), (S, 0, -S), 0.5 - np.sqrt(0.125)),  # beyond the rim
        ("cone", (0.0, 0.75, 0.25), (0, S, S), 0.5 - 0.5 * S),  # beside the mantle
        ("cone", (0.0, 0.0, 0.25), (S, 0, S), 0.5 + 0.25 * S),  # on the axis: the mantle, along x
        ("cone", (0.0, 0.25, -0.375), (0, 0, -1), 0.625),  # inside, nearest to the base
        ("cone", (0.0, 0.0, 0.5), (S, 0, S), 0.5),  # on the apex
    ],
)
def test_sphere_at_a_shape_of_revolution(kind, centre, nhat, depth, precision):
    """A cylinder of radius 1/2 and length 1, a cone of radius and length 1: its mantle falls by 45 degrees."""
    shape = solid(kind, (0.5 if kind == "cylinder" else 1.0, 1.0), (0, 0, 0))
    found = run_pair(f"{kind}_sphere", precision, shape, sphere(centre))
    np.testing.assert_allclose(found.nhat, nhat, atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.depth, [depth], atol=TOLERANCE[precision])
    np.testing.assert_allclose(found.p_B, [np.array(centre) - 0.5 * np.array(nhat)], atol=TOLERANCE[precision])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_spheres_of_one_centre_part_upwards(precision):
    found = run_pair("sphere_sphere", precision, sphere((1, 2, 3), 0.5), sphere((1, 2, 3), 0.25))
    np.testing.assert_array_equal(found.nhat, (0, 0, 1))
    np.testing.assert_array_equal(found.depth, [0.75])
    np.testing.assert_array_equal(found.p, [(1, 2, 3.5)])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_distances_that_underflow_when_squared_still_have_a_normal(precision):
    tiny = 1.0e-30
    for name, a, b in (
        ("sphere_sphere", sphere((0, 0, 0)), sphere((tiny, 0, 0))),
        ("box_sphere", box((0, 0, 0)), sphere((0.5, 0.5, 0.5 + tiny))),
        ("box_box", box((0, 0, 0)), box((0, tiny, 0))),
        ("box_capsule", box((0, 0, 0)), capsule((0.5, 0.5, 1.0 + tiny))),
        ("capsule_capsule", capsule((0, 0, 0)), capsule((0, tiny, 0))),
        ("capsule_capsule", capsule((0, 0, 0)), capsule((0, tiny, 0), LYING)),
        ("capsule_sphere", capsule((0, 0, 0)), sphere((0, tiny, 0))),
        ("cone_sphere", solid("cone", (0.5, 1.0), (0, 0, 0)), sphere((0, tiny, 0.5 + tiny))),
        ("cone_sphere", solid("cone", (0.5, 1.0), (0, 0, 0)), sphere((0.5 + tiny, 0, -0.5 - tiny))),
        ("cylinder_sphere", solid("cylinder", (0.5, 1.0), (0, 0, 0)), sphere((0, tiny, 0))),
        ("cylinder_sphere", solid("cylinder", (0.5, 1.0), (0, 0, 0)), sphere((0.5, tiny, 0.5 + tiny))),
    ):
        found = run_pair(name, precision, a, b)
        assert len(found.depth) and np.isfinite(found.p).all() and np.isfinite(found.depth).all()
        assert abs(np.linalg.norm(found.nhat) - 1.0) < TOLERANCE[precision]


eighths = st.integers(-12, 12).map(lambda n: n / 8.0)
turns = st.tuples(*[st.integers(0, 7)] * 3).map(lambda t: Rotation.from_euler("xyz", 45.0 * np.array(t), degrees=True))
lengths = st.tuples(*[st.sampled_from((0.5, 1.0, 2.0))] * 3)
precisions = st.sampled_from(PRECISIONS)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(lengths, turns, lengths, turns, st.tuples(eighths, eighths, eighths), precisions)
def test_boxes_in_special_positions_stay_well_defined(lengths_a, turn_a, lengths_b, turn_b, offset, precision):
    """Half right angles and dyadic offsets: parallel edges, equal overlaps, touching features."""
    a, b = box((0, 0, 0), turn_a.as_matrix(), lengths_a), box(offset, turn_b.as_matrix(), lengths_b)
    found = run_pair("box_box", precision, a, b)
    # the sides are thick by 1e-6 of the half length and some rounding, so witnesses are that far off the surfaces
    tolerance = {"float64": 5.0e-6, "float32": 5.0e-5}[precision]
    distance = coal_distance(a, b)
    assert np.isfinite(found.p).all() and np.isfinite(found.depth).all()
    assert len(set(found.feature)) == len(found.feature)
    assert abs(np.linalg.norm(found.nhat) - 1.0) < tolerance
    if distance < -tolerance:
        assert found.depth.max() == pytest.approx(-distance, abs=tolerance)
        for p_A, p_B in zip(found.p, found.p_B, strict=True):
            assert shape_distance(a, p_A) < tolerance and shape_distance(b, p_B) < tolerance
    elif distance > tolerance:
        assert not len(found.depth)
    assume(any(offset))  # of equal boxes about one centre, neither comes first
    assert_mirrored("box_box", found, run_pair("box_box", precision, b, a), tolerance)
