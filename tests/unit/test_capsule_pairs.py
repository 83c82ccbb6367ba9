"""Known contacts of capsules: how many points, where, how deep, under which names, and what happens when they tilt.

Capsules have radius 1/2 and a segment of length 1 unless said otherwise; tolerances are those of test_pairs.py.
"""

import numpy as np
import pytest
from pairs_cases import I3, box, capsule, coal_distance, plane, run_pair, run_twin, sphere, turn
from scipy.spatial.transform import Rotation

PRECISIONS = ("float64", "float32")
TOLERANCE = {"float64": 1.0e-12, "float32": 1.0e-5}
GAP = 2.0**-10  # a depth that both precisions hold exactly
LYING = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # takes z to x, exactly
BACK = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # takes z to -x

both = pytest.mark.parametrize("precision", PRECISIONS)


def check(found, precision, nhat, points, depth=GAP):
    """Normal, and points {feature: witness on A}, all of one depth unless a mapping is given."""
    tolerance = TOLERANCE[precision]
    np.testing.assert_allclose(found.nhat, nhat, atol=tolerance)
    assert sorted(found.feature) == sorted(points)
    for feature, p, d in zip(found.feature, found.p, found.depth, strict=True):
        np.testing.assert_allclose(p, points[feature], atol=tolerance)
        assert d == pytest.approx(depth[feature] if isinstance(depth, dict) else depth, abs=tolerance)


@both
@pytest.mark.parametrize(
    "R, height, points",
    [
        (LYING, 0.5, {0: (-0.5, 0, -GAP), 1: (0.5, 0, -GAP)}),
        (I3, 1.0, {0: (0, 0, -GAP)}),
        (turn("x", 180), 1.0, {1: (0, 0, -GAP)}),
        (turn("y", 30), 0.5 + 0.5 * np.cos(np.pi / 6), {0: (-0.25, 0, -GAP)}),
    ],
    ids=["lying", "standing", "upside down", "tilted"],
)
def test_capsule_on_a_plane(R, height, points, precision):
    check(run_pair("capsule_plane", precision, capsule((0, 0, height - GAP), R), plane()), precision, (0, 0, -1), points)


def test_capsule_rocking_on_a_plane_moves_its_weight_from_end_to_end():
    """Depths of the two ends differ by sin(angle), and each stays a point as long as it has depth."""
    for angle in np.linspace(-0.2, 0.2, 41):
        rocking = capsule((0, 0, 0.45), turn("y", 90.0 + np.degrees(angle)))
        found = run_pair("capsule_plane", "float64", rocking, plane())
        expected = {0: 0.05 - 0.5 * np.sin(angle), 1: 0.05 + 0.5 * np.sin(angle)}
        expected = {f: d for f, d in expected.items() if d > 0.0}
        assert dict(zip(found.feature, found.depth, strict=True)) == pytest.approx(expected, abs=1.0e-12)


@both
@pytest.mark.parametrize(
    "centre, nhat, depth",
    [
        ((0, 1 - GAP, 0.25), (0, 1, 0), GAP),  # beside the segment
        ((0, 0, 1.5 - GAP), (0, 0, 1), GAP),  # beyond its end
        ((0, 0, 0.25), (1, 0, 0), 1.0),  # on the segment: x of the capsule
    ],
)
def test_sphere_at_a_capsule(centre, nhat, depth, precision):
    found = run_pair("capsule_sphere", precision, capsule((0, 0, 0)), sphere(centre))
    check(found, precision, nhat, {0: np.array(centre) - (0.5 - depth) * np.array(nhat)}, depth)


def logs():
    """(B, normal, points) of capsules at the capsule that lies along x at the origin."""
    up = 1.0 - GAP
    return {
        "on top": (capsule((0, 0, up), LYING), (0, 0, 1), {1: (-0.5, 0, 0.5), 2: (0.5, 0, 0.5)}),
        "on top, the other way": (capsule((0, 0, up), BACK), (0, 0, 1), {1: (-0.5, 0, 0.5), 2: (0.5, 0, 0.5)}),
        "set off": (capsule((0.25, 0, up), LYING), (0, 0, 1), {1: (-0.25, 0, 0.5), 2: (0.5, 0, 0.5)}),
        "shorter": (capsule((0.125, 0, up), LYING, length=0.5), (0, 0, 1), {1: (-0.125, 0, 0.5), 2: (0.375, 0, 0.5)}),
        "end to end": (capsule((2 - GAP, 0, 0), LYING), (1, 0, 0), {0: (1, 0, 0)}),
        "across": (capsule((0.25, 0, up), turn("x", 90)), (0, 0, 1), {0: (0.25, 0, 0.5)}),
        "standing on it": (capsule((0.25, 0, 1.5 - GAP)), (0, 0, 1), {0: (0.25, 0, 0.5)}),
    }


@both
@pytest.mark.parametrize("name", logs())
def test_capsule_at_a_capsule(name, precision):
    b, nhat, points = logs()[name]
    a = capsule((0, 0, 0), LYING)
    check(run_pair("capsule_capsule", precision, a, b), precision, nhat, points)
    # named the other way round: the same points from the other side, their names along the axis of b
    turned = -1.0 if b.R[0, 2] < 0.0 else 1.0
    names = {f: 3 - f if f and turned < 0.0 else f for f in points}
    opposite = {names[f]: np.array(p) - GAP * np.array(nhat) for f, p in points.items()}
    check(run_pair("capsule_capsule", precision, b, a), precision, -np.array(nhat), opposite)


@both
def test_capsules_whose_segments_meet_are_pushed_apart_across(precision):
    a = capsule((0, 0, 0), LYING)
    crossing = run_pair("capsule_capsule", precision, a, capsule((0.25, 0, 0)))
    check(crossing, precision, (0, -1, 0), {0: (0.25, -0.5, 0)}, 1.0)
    # along one line: across it, in the direction of the first capsule's x axis, which is y here
    inside = capsule((0.25, 0, 0), LYING)
    found, turned = run_pair("capsule_capsule", precision, a, inside), run_pair("capsule_capsule", precision, inside, a)
    check(found, precision, (0, 1, 0), {1: (-0.25, 0.5, 0), 2: (0.5, 0.5, 0)}, 1.0)
    check(turned, precision, (0, -1, 0), {1: (-0.25, -0.5, 0), 2: (0.5, -0.5, 0)}, 1.0)
    same = run_pair("capsule_capsule", precision, a, a)
    check(same, precision, (0, 1, 0), {1: (-0.5, 0.5, 0), 2: (0.5, 0.5, 0)}, 1.0)


@pytest.mark.parametrize("axis", ["y", "z"])
def test_capsules_nearly_along_each_other(axis):
    """Turned by up to 3 degrees, in the plane of the axes and out of it: the depth is that of the nearest points always.

    In the plane, an end is lost where it has no depth; out of it, two points become one where the axes part by 1 % of r.
    """
    a, points = capsule((0, 0, 0), LYING), []
    for degrees in np.linspace(-3.0, 3.0, 121):
        b = capsule((0.1, 0.0, 0.995), turn(axis, degrees) @ LYING)
        found = run_pair("capsule_capsule", "float64", a, b)
        points.append(len(found.depth))
        assert found.depth.max() == pytest.approx(-coal_distance(a, b), rel=1.0e-6)  # iterations of the library stop there
        twin = run_twin(a, b)
        np.testing.assert_allclose(found.depth, twin.depth, atol=1.0e-12)
        assert set(found.feature) <= ({1, 2} if len(found.feature) == 2 or axis == "y" else {0})
    assert points[60] == 2 and {points[0], points[-1]} == {1}
    changes = np.flatnonzero(np.diff(points))
    assert len(changes) == 2  # two points about the middle, one outside


def test_an_end_is_lost_without_a_jump():
    """As the upper capsule tilts, the depth of the end that leaves goes to zero before the point is gone."""
    a, last = capsule((0, 0, 0), LYING), {}
    for degrees in np.linspace(0.0, 2.0, 401):
        found = run_pair("capsule_capsule", "float64", a, capsule((0, 0, 0.995), turn("y", degrees) @ LYING))
        now = dict(zip(found.feature, found.depth, strict=True))
        for feature in last.keys() - now.keys():
            assert last[feature] < 1.0 * np.radians(0.005) + 1.0e-12  # the tilt of one step times the length
        last = now
    assert len(last) == 1


def at_box():
    """(capsule, normal, points) at a cube of edge 1 about the origin; the capsule's radius is 1/2."""
    up, slant = 1.0 - GAP, np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
    over_edge = np.array([0.5, 0.0, 0.5]) + (0.5 - GAP) * slant
    corner = np.array([0.5, 0.5, 0.5])
    out = np.ones(3) / np.sqrt(3.0)
    across_corner = np.stack([np.cross(out, [1, -1, 0] / np.sqrt(2)), out, [1, -1, 0] / np.sqrt(2)], axis=1)
    return {
        "on a face": (capsule((0, 0, up), LYING), (0, 0, 1), {0: (-0.5, 0, 0.5), 1: (0.5, 0, 0.5)}),
        "on a face, over the side": (capsule((0.25, 0, up), LYING), (0, 0, 1), {0: (-0.25, 0, 0.5), 1: (0.5, 0, 0.5)}),
        "short": (capsule((0.125, 0.25, up), LYING, length=0.5), (0, 0, 1), {0: (-0.125, 0.25, 0.5), 1: (0.375, 0.25, 0.5)}),
        "long": (capsule((3, 0.25, up), LYING, length=16), (0, 0, 1), {0: (-0.5, 0.25, 0.5), 1: (0.5, 0.25, 0.5)}),
        "standing": (capsule((0.25, 0, 1.5 - GAP)), (0, 0, 1), {0: (0.25, 0, 0.5)}),
        "along an edge": (
            capsule(over_edge, turn("x", 90)), slant, {0: (0.5, 0.5, 0.5), 1: (0.5, -0.5, 0.5)}
        ),
        "across an edge": (capsule(over_edge, turn("y", 135)), slant, {0: (0.5, 0, 0.5)}),
        "across a corner": (capsule(corner + (0.5 - GAP) * out, across_corner), out, {0: corner}),
        "beside the side's edge": (capsule((1 - GAP, 0, 0.75)), (1, 0, 0), {0: (0.5, 0, 0.25), 1: (0.5, 0, 0.5)}),
    }  # fmt: skip


@both
@pytest.mark.parametrize("name", at_box())
def test_capsule_at_a_box(name, precision):
    b, nhat, points = at_box()[name]
    found = run_pair("box_capsule", precision, box((0, 0, 0)), b)
    check(found, precision, nhat, points)
    check(run_twin(box((0, 0, 0)), b), precision, nhat, points)


@both
@pytest.mark.parametrize(
    "b, nhat, points, depth",
    [
        # at the centre: the faces of lowest axis, x in the way of the ends; so z, on its positive side, after y
        (capsule((0, 0, 0), LYING), (0, 1, 0), {0: (-0.5, 0.5, 0), 1: (0.5, 0.5, 0)}, 1.0),
        (capsule((0, 0, 0.25), LYING), (0, 0, 1), {0: (-0.5, 0, 0.5), 1: (0.5, 0, 0.5)}, 0.75),
        # its lower end a quarter inside, upright; the depth is that of the end, and the other end is above
        (capsule((0, 0, 0.75)), (0, 0, 1), {0: (0, 0, 0.5)}, 0.75),
        # through an edge, at right angles to the diagonal: out along the diagonal
        (
            capsule((0.375, 0, 0.375), turn("y", 135), length=4),
            (np.sqrt(0.5), 0, np.sqrt(0.5)),
            {0: (0.5, 0, 0.5)},
            0.5 + 0.125 * np.sqrt(2.0),
        ),
    ],
    ids=["centre", "nearer to a face", "end inside", "through an edge"],
)
def test_capsule_whose_segment_is_in_a_box(b, nhat, points, depth, precision):
    found = run_pair("box_capsule", precision, box((0, 0, 0)), b)
    deep = found.depth > 0.5
    np.testing.assert_allclose(found.nhat, nhat, atol=TOLERANCE[precision])
    assert found.depth.max() == pytest.approx(depth, abs=TOLERANCE[precision])
    assert sorted(found.feature[deep]) == sorted(points)
    for feature, p in zip(found.feature[deep], found.p[deep], strict=True):
        np.testing.assert_allclose(p, points[feature], atol=TOLERANCE[precision])


@both
@pytest.mark.parametrize("name", ["on a face", "on a face, over the side", "short", "long", "along an edge"])
def test_features_keep_their_names_under_a_perturbation(name, precision):
    """Turns of up to 1e-3 rad in any direction move depths by 1e-3 at most: with 0.01 of depth both points stay."""
    b, nhat, points = at_box()[name]
    b = b.moved(I3, -0.01 * np.array(nhat, dtype=float))
    rng = np.random.default_rng(1)
    for _ in range(50):
        R = Rotation.from_rotvec(rng.uniform(-1.0e-3, 1.0e-3, 3) * min(1.0, 1.0 / b.params[1])).as_matrix()
        shaken = capsule(b.p, R @ b.R, *b.params)
        found = run_pair("box_capsule", precision, box((0, 0, 0)), shaken)
        assert set(found.feature) == set(points)
        assert found.depth == pytest.approx(0.01 + GAP, abs=2.0e-3)


def test_a_beam_over_an_edge_keeps_its_normal_and_depth_without_a_jump():
    """A long capsule rocks over a box's edge, from lying on the face to hanging down: normal and depth are continuous."""
    last = None
    for degrees in np.linspace(-5.0, 30.0, 701):
        R = turn("y", degrees) @ LYING
        # turned about the edge x = z = 1/2 at a constant depth there, for degrees > 0
        p = np.array([0.5, 0.0, 0.5]) + R @ np.array([0.0, 0.49, 0.3])
        found = run_pair("box_capsule", "float64", box((0, 0, 0)), capsule(p, R, radius=0.5, length=3.0))
        assert found.depth.max() == pytest.approx(-coal_distance(box((0, 0, 0)), capsule(p, R, 0.5, 3.0)), rel=1.0e-6)
        if last is not None:
            assert np.linalg.norm(found.nhat - last.nhat) < 1.01 * np.radians(0.05)
            # the far end of the face is 1 m away: it moves by the angle
            assert abs(found.depth.max() - last.depth.max()) < 1.5 * np.radians(0.05)
        last = found
    assert len(last.depth) == 1 and last.depth[0] == pytest.approx(0.01, abs=1.0e-12)
