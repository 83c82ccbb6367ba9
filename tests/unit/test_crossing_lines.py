"""Round bodies that lie along each other but for a few degrees touch at both ends of their overlap, as deep as they are."""

import numpy as np
import pytest
from convex_cases import Solid, run
from scipy.spatial.transform import Rotation

LYING = Rotation.from_euler("y", 90.0, degrees=True).as_matrix()  # axis z of the shape along x
DEPTH = 0.01
LOWER = Solid("cylinder", (0.5, 2.0), np.array([0.0, 0.0, -0.5]), LYING)
SLANT = np.arctan2(0.4, 1.2)  # of a cone of 0.4 and 1.2 m: its mantle's lowest line is level when its axis leans by that
MANTLE = 0.6 * np.sin(SLANT)  # and its middle is as high above that line
UPPER = {
    "cylinder": (("cylinder", (0.3, 1.2)), LYING, 0.3),
    "capsule": (("capsule", (0.3, 1.2)), LYING, 0.3),
    "cone": (("cone", (0.4, 1.2)), Rotation.from_euler("y", 0.5 * np.pi + SLANT).as_matrix(), MANTLE),
    "thin": (("capsule", (0.001, 1.2)), LYING, 0.001),
}
TOLERANCE = {"float64": 2.0e-5, "float32": 1.0e-4}


def inside(s: Solid, x: np.ndarray) -> np.ndarray:
    """Whether points (m, 3) are in the shape, were it not cut off at its ends."""
    q = (x - s.p) @ s.R
    r = s.params[0]
    if s.kind == "cone":
        r = s.params[0] * (0.5 - q[:, 2] / s.params[1])
    return np.hypot(q[:, 0], q[:, 1]) < r


def overlap_above(a: Solid, b: Solid, x: float, p: np.ndarray) -> float:
    """The longest vertical line in both shapes at x, near p: from B's lower to A's upper surface."""
    y = p[1] + np.linspace(-0.1, 0.1, 4001)
    at = np.c_[np.full_like(y, x), y, np.zeros_like(y)]
    surfaces = []
    for s, sign in ((a, -1.0), (b, 1.0)):
        z_in, z_out = np.full_like(y, p[2] + 0.05 * sign), np.full_like(y, p[2] - 0.1 * sign)
        for _ in range(40):
            z = 0.5 * (z_in + z_out)
            held = inside(s, at + z[:, None] * (0.0, 0.0, 1.0))
            z_in, z_out = np.where(held, z, z_in), np.where(held, z_out, z)
        surfaces.append(z_in)
    return float((surfaces[0] - surfaces[1]).max())


def crossing(kind: str, degrees: float) -> tuple[Solid, Solid]:
    (name, params), R, up = UPPER[kind]
    turn = Rotation.from_euler("z", degrees, degrees=True).as_matrix()
    return LOWER, Solid(name, params, np.array([0.1, 0.0, up - DEPTH]), turn @ R)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["cylinder", "capsule", "cone"])
@pytest.mark.parametrize("degrees", [0.0, 0.5, 2.0, 5.0, -5.0])
def test_both_ends_touch_as_deep_as_they_are(kind, degrees, precision):
    """Against the surfaces themselves, by bisection.  Where they cross they may be deeper by more than rounding: a third
    point."""
    a, b = crossing(kind, degrees)
    (found,) = run([(a, b)], precision)
    ends = found.feature != 0
    assert ends.sum() == 2 and len(found.depth) <= 3 and found.depth.max() == pytest.approx(DEPTH, abs=2.0e-4)
    assert abs(found.p[ends][0, 0] - found.p[ends][1, 0]) > 1.1
    vertical = np.abs(found.nhat[2])
    assert vertical > 1.0 - 1.0e-3
    (p_0, p_1), found_depths = found.p[ends], found.depth[ends]
    for p, other, depth in ((p_0, p_1, found_depths[0]), (p_1, p_0, found_depths[1])):
        # a cone has no thickness at its apex: from 5 and 10 % of the way to the other end, which is right to 1.5 % of the depth
        near, nearer = (overlap_above(a, b, x[0], x) for x in (p + 0.1 * (other - p), p + 0.05 * (other - p)))
        assert depth == pytest.approx(2.0 * nearer - near, rel=0.015, abs=TOLERANCE[precision])


def raised(b: Solid, depth: float) -> Solid:
    """From DEPTH to another one."""
    return b.at(b.p + np.array([0.0, 0.0, DEPTH - depth]))


def test_ends_that_do_not_touch_have_no_point():
    """At eight degrees the ends are 0.084 m off, where the surfaces have parted by 0.084^2 / (2 x 0.8) = 4.4 mm; the
    cylinders overlap by 3 mm, and by 6."""
    a, b = crossing("cylinder", 8.0)
    (shallow,) = run([(a, raised(b, 0.003))])
    assert list(shallow.feature) == [0] and shallow.depth[0] == pytest.approx(0.003, abs=1.0e-6)
    (deep,) = run([(a, raised(b, 0.006))])
    assert len(deep.depth) == 3 and sorted(deep.depth)[-1] == pytest.approx(0.006, abs=1.0e-6)
    assert sorted(deep.depth)[0] == pytest.approx(0.006 - 0.0044, abs=4.0e-4)


def test_sharp_lines_that_cross_have_one_point():
    """Of a wire of 1 mm on the cylinder's side: it leaves the surface at once; along the line it has two."""
    (along,), (across,) = (run([crossing("thin", degrees)]) for degrees in (0.0, 20.0))
    assert (along.feature != 0).sum() == 2
    assert len(across.depth) == 1 and across.feature[0] == 0


def test_depths_change_smoothly_as_the_bodies_turn():
    """From along to eight degrees, by steps of 0.01: ends get shallower as the surfaces part, and go where no depth is left."""
    angles = np.arange(0.0, 8.0, 0.01)
    results = run([(a, raised(b, 0.003)) for a, b in (crossing("cylinder", x) for x in angles)])
    total = np.array([found.depth[found.feature != 0].sum() for found in results])
    assert total[0] == pytest.approx(0.006, rel=1e-6) and total[-1] == 0.0
    assert np.abs(np.diff(total)).max() < 2.0 * 2.0e-5
