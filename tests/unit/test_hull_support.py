"""Support points of large hulls: by candidates (model/hulls.py) those by all vertices, bit for bit, and NumPy's to rounding."""

from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
import warp as wp
from convex_cases import Solid, device_hulls, random_rotation, run

from sapsim.kinds.base import code
from sapsim.kinds.convexity import CELLS, make_convexity
from sapsim.math.real import real
from sapsim.model import hulls
from sapsim.scene.hull import ConvexHull, convex_hull

RNG = np.random.default_rng(0)
TURN = np.linspace(0.0, 2.0 * np.pi, 65)[:-1]
RING = np.c_[np.cos(TURN), np.sin(TURN), np.zeros(64)]
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
UP = np.array([0.0, 0.0, 1.0])


def ball(n: int) -> np.ndarray:
    points = RNG.normal(size=(n, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def bulging_edges() -> np.ndarray:
    """A cube whose upper edges bend outwards by 1e-7: vertices all but collinear, of faces all but coplanar."""
    at = np.linspace(-0.9, 0.9, 12)
    bulge = 1.0 + 1.0e-7 * (1.0 - at**2)
    edges = [np.c_[s * bulge, at, bulge] for s in (-1, 1)] + [np.c_[at, s * bulge, bulge] for s in (-1, 1)]
    return np.concatenate([CUBE, *edges])


HULLS = {
    "ball": convex_hull(ball(256)),
    "egg": convex_hull(ball(120) * np.array([1.0, 0.5, 0.2])),
    "few": convex_hull(ball(hulls.LARGE + 1)),
    "prism": convex_hull(np.concatenate([RING - UP, RING + UP])),
    "leaning prism": convex_hull(np.concatenate([RING - UP, RING + UP]) @ random_rotation(RNG).T),
    "disc": convex_hull(np.concatenate([RING, RING + 1.0e-4 * UP])),
    "needle": convex_hull(np.concatenate([1.0e-3 * RING - UP, 1.0e-3 * RING + UP])),
    "pyramid": convex_hull(np.concatenate([RING, [UP]])),
    "near duplicates": convex_hull(np.concatenate([CUBE + 1.0e-7 * x for x in ball(8)])),
    "bulging edges": convex_hull(bulging_edges()),
    "off its origin": convex_hull(ball(100) + np.array([300.0, -200.0, 100.0])),
}


def directions(hull: ConvexHull) -> np.ndarray:
    """Random; along axes; along normals of faces and across edges, to rounding; on borders of cells and beside them."""
    rng = np.random.default_rng(1)
    at = np.linspace(-1.0, 1.0, CELLS + 1)
    borders = np.array([np.roll([s, x, y], k) for s in (-1.0, 1.0) for x in at for y in at for k in range(3)])
    sides = np.array([hull.vertices[f[1]] - hull.vertices[f[0]] for f in hull.faces])
    across = np.cross(sides, rng.normal(size=sides.shape))
    exact = np.concatenate([rng.normal(size=(2000, 3)), np.eye(3), -np.eye(3), borders, hull.normals, across])
    beside = np.concatenate([exact * (1.0 + s * rng.normal(size=exact.shape)) for s in (1e-15, 1e-7, 1e-3)])
    found = np.concatenate([exact, beside])
    return found * 10.0 ** rng.uniform(-6.0, 6.0, (len(found), 1))


@cache
def kernel(precision: str):
    R = real(precision)
    shared = make_convexity(R)
    Solid_t, Hulls, support = shared.Solid, shared.Hulls, shared.support

    def run_support(kind: int, n: wp.array(dtype=R.vec3), R_WG: R.mat33, hulls: Hulls, out: wp.array(dtype=R.vec3)):
        i = wp.tid()
        s = Solid_t()
        s.kind = kind
        s.R_WG = R_WG
        out[i] = support(s, hulls, 0, n[i])

    return wp.kernel(run_support, enable_backward=False, module=wp.get_module(f"test_hull_support_{precision}"))


def all_faces(hull: ConvexHull) -> list[np.ndarray]:
    return [np.arange(len(hull.faces))] * len(hull.vertices)


def support_points(hull: ConvexHull, n: np.ndarray, precision: str) -> np.ndarray:
    R = real(precision)
    arrays, _ = hulls.place_hulls([Solid("convex", (), np.zeros(3), hull=hull)])
    out = wp.zeros(len(n), dtype=R.vec3, device="cpu")
    inputs = [code("shapes", "convex"), wp.array(n.astype(R.np), dtype=R.vec3, device="cpu"), R.mat33(np.eye(3))]
    wp.launch(kernel(precision), dim=len(n), inputs=[*inputs, device_hulls(arrays, R, 1), out], device="cpu")
    return out.numpy()


@pytest.mark.parametrize("precision", ("float64", "float32"))
@pytest.mark.parametrize("name", HULLS)
def test_support_point_is_that_of_all_vertices(name, precision):
    hull = HULLS[name]
    assert len(hull.vertices) > hulls.LARGE
    n = directions(hull)
    found = support_points(hull, n, precision)
    with patch.object(hulls, "LARGE", len(hull.vertices)):
        of_all = support_points(hull, n, precision)
    np.testing.assert_array_equal(found, of_all)
    # three products and three sums, of coordinates and directions rounded to the precision
    rounding = 8.0 * real(precision).eps * np.abs(n).sum(axis=1) * hull.radius
    reach = np.einsum("ij,ij->i", n, found.astype(float))
    assert (np.abs(reach - (n @ hull.vertices.T).max(axis=1)) <= rounding).all()


@pytest.mark.parametrize("points", (np.repeat(ball(30), 3, axis=0), np.r_[ball(60), np.zeros((4, 3))], 0.5 * RING))
def test_candidates_need_no_hull(points):
    """Equal points, points within and points of a plane: the best in a direction is always among its cell's candidates."""
    cells = hulls.cell_candidates(points, 1.0)
    corners = hulls._cell_corners()
    assert len(cells) == len(corners) == 6 * CELLS**2
    weights = np.random.default_rng(2).dirichlet(np.ones(4), size=50)
    for candidates, corner in zip(cells, corners, strict=True):
        assert np.isin((weights @ corner @ points.T).argmax(axis=1), candidates).all()


def test_candidates_are_few():
    """What they are for: of 256 vertices all over a ball, seven or so, and never a tenth."""
    counts = [len(c) for c in hulls.cell_candidates(HULLS["ball"].vertices, 1.0)]
    assert np.mean(counts) < 9.0 and max(counts) < 25


@pytest.mark.parametrize("precision", ("float64", "float32"))
def test_contacts_are_those_by_all_vertices_and_faces(precision):
    """Normals, points, depths and names of pairs of large hulls, apart, touching and deep."""
    rng = np.random.default_rng(3)
    cases = []
    for a in HULLS.values():
        for b in (HULLS["few"], HULLS["prism"]):
            d = rng.normal(size=3)
            p = a.vertices.mean(axis=0) + d / np.linalg.norm(d) * rng.uniform(0.3, 1.6)
            cases.append((Solid("convex", (), np.zeros(3), hull=a), Solid("convex", (), p, random_rotation(rng), b)))
    found = run(cases, precision, margin=0.1)
    with patch.object(hulls, "LARGE", 1000), patch.object(hulls, "faces_at_vertices", all_faces):
        of_all = run(cases, precision, margin=0.1)
    for one, other in zip(found, of_all, strict=True):
        for part in ("nhat", "p", "depth", "feature"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    assert sum(len(r.depth) > 0 for r in found) >= len(cases) // 2
