"""Five hundred convex bodies poured into a bin: nothing leaves it or tunnels, every step converges, twice the same bytes.

All that is checked is read from the result file: every recorded step, which is every step there was.
"""

import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import coal
import h5py
import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from test_scenes import FOLDER, datasets

from sapsim.cli.main import main

pytestmark = pytest.mark.slow
KINDS = ("box", "ball", "capsule", "cylinder", "cone", "ellipsoid", "tetrahedron", "octahedron", "prism", "dodecahedron")
STEPS = 500
INNER = np.array([0.3, 0.575])  # half widths of the bin [m]; its floor is at z = 0
# What a body moves in a step and what stops it then, 9.3 and 2.8 mm (scenes/convex_bin.yaml), is below 16.6 mm, how far the
# surface of the thinnest bodies, tetrahedron and cone, is from their origins: so none passes a surface unseen.
DEEPEST = 0.012


def pour(out: Path) -> dict:
    """The JSON object of `sapsim run`."""
    counts = [f"--set=bodies.{kind}.repeat.count=[5,10,1]" for kind in KINDS]
    said = io.StringIO()
    with redirect_stdout(said), pytest.raises(SystemExit) as left:
        main(["run", str(FOLDER / "convex_bin.yaml"), "-o", str(out), "--steps", str(STEPS), "--json", "--quiet", *counts])
    assert left.value.code == 0
    return json.loads(said.getvalue())


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """(JSON object, path of the result) of two runs."""
    folder = tmp_path_factory.mktemp("bin")
    paths = folder / "a.h5", folder / "b.h5"
    yield [(pour(path), path) for path in paths]
    for path in paths:
        path.unlink()


@pytest.fixture(scope="module")
def file(runs):
    """The first result."""
    with h5py.File(runs[0][1]) as opened:
        yield opened


def test_every_step_converges(runs, file):
    for found, _ in runs:
        assert found["steps"] == STEPS and found["unconverged_steps"] == 0 and found["warnings"] == []
        assert found["contacts_max"] > 1000
    assert file["solver/converged"][:].all() and not file["solver/status"][:].any()


def test_two_runs_are_byte_identical(runs):
    first, second = (datasets(path) for _, path in runs)
    assert {"state/joint_q", "state/joint_qd", "contacts/impulse", "model/mesh_position"} <= set(first)
    assert set(first) == set(second) and [name for name in first if first[name] != second[name]] == []


def support(file: h5py.File, shape: int, n: np.ndarray) -> np.ndarray:
    """Greatest n . x over a shape, for directions n (m, 3) in its axes [m]."""
    model = file["model"]
    kind, mesh = model["shape_type"].asstr()[shape], model["shape_mesh"][shape]
    if mesh >= 0:
        first = model["mesh_vertex_start"][mesh]
        return (n @ model["mesh_position"][first : first + model["mesh_vertex_count"][mesh]].T).max(axis=1)
    lengths = model["shape_lengths"][shape]
    if kind == "box":
        return np.abs(n) @ (0.5 * lengths)
    if kind == "ellipsoid":
        return np.linalg.norm(n * lengths, axis=1)
    if kind == "sphere":
        return np.full(len(n), lengths[0])
    r, half = lengths[0], 0.5 * lengths[1]
    across, along = np.hypot(n[:, 0], n[:, 1]), half * n[:, 2]
    return {
        "capsule": r + np.abs(along), "cylinder": r * across + np.abs(along), "cone": np.maximum(along, r * across - along)
    }[kind]  # fmt: skip


def test_nothing_leaves_the_bin_nor_tunnels(file):
    """Of every body in every row: its middle is on the inner side of walls and floor, and what reaches farthest into each of
    them goes no deeper than a contact may; and no contact anywhere does."""
    q = file["state/body_q"][:, 0]
    assert q.shape == (STEPS + 1, 500, 7) and len(file["contacts/contact"]) > 200_000
    reach = np.empty((5, *q.shape[:2]))
    shape_of = {body: shape for shape, body in enumerate(file["model/shape_body"][:]) if body >= 0}
    sides = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, -1]])
    limits = np.array([INNER[0], INNER[0], INNER[1], INNER[1], 0.0])
    for body, shape in shape_of.items():
        R_WB = Rotation.from_quat(q[:, body, 3:]).as_matrix()
        for k, n in enumerate(sides):
            reach[k, :, body] = q[:, body, :3] @ n + support(file, shape, n @ R_WB)
    assert (np.abs(q[:, :, :2]) < INNER).all() and (q[:, :, 2] > 0.0).all()
    assert (reach < limits[:, None, None] + DEEPEST).all() and (reach[4] > -0.001).any()
    assert file["contacts/depth"][:].max() < DEEPEST
    # poured: they lie in a heap that fills a part of it
    assert q[0, :, 2].max() > 1.1 and q[-1, :, 2].max() < 0.3
    assert np.median(np.abs(file["state/body_qd"][-1, 0, :, :3]).max(axis=1)) < 0.01
    last = file["contacts/time_index"][:] == STEPS
    assert file["contacts/depth"][:][last].max() < 1.0e-3


def geometry(file: h5py.File, shape: int):
    """The shape in another library."""
    model = file["model"]
    kind, lengths, mesh = model["shape_type"].asstr()[shape], model["shape_lengths"][shape], model["shape_mesh"][shape]
    if mesh >= 0:
        first, count = model["mesh_vertex_start"][mesh], model["mesh_vertex_count"][mesh]
        points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for p in model["mesh_position"][first : first + count]:
            points.append(p)
        first, count = model["mesh_triangle_start"][mesh], model["mesh_triangle_count"][mesh]
        for corners in model["mesh_corners"][first : first + count].tolist():
            triangles.append(coal.Triangle(*corners))
        return coal.Convex(points, triangles)
    make = {"sphere": (coal.Sphere, 1), "box": (coal.Box, 3), "ellipsoid": (coal.Ellipsoid, 3), "capsule": (coal.Capsule, 2)}
    make |= {"cylinder": (coal.Cylinder, 2), "cone": (coal.Cone, 2)}
    return make[kind][0](*lengths[: make[kind][1]])


@pytest.mark.parametrize("row", [120, 200, 250, 300, STEPS - 1])
def test_no_contact_is_missed(file, row):
    """Bodies that overlap by coal are those that have contacts in the step that starts there, and as deep."""
    q = file["state/body_q"][row, 0]
    shape_of = np.flatnonzero(file["model/shape_body"][:] >= 0)
    shapes = [geometry(file, shape) for shape in shape_of]
    poses = [coal.Transform3s(R, p) for R, p in zip(Rotation.from_quat(q[:, 3:]).as_matrix(), q[:, :3], strict=True)]
    request = coal.DistanceRequest(True, True)
    request.gjk_tolerance, request.epa_tolerance = 1.0e-9, 1.0e-7
    theirs = {}
    for i, j in cKDTree(q[:, :3]).query_pairs(0.11):
        theirs[i, j] = -coal.distance(shapes[i], poses[i], shapes[j], poses[j], request, coal.DistanceResult())
    ours: dict[tuple[int, int], float] = {}
    first, count = file["contacts/start"][row + 1, 0], file["contacts/count"][row + 1, 0]
    part = slice(first, first + count)
    bodies = (file[f"contacts/body_{side}"][part].tolist() for side in "ab")
    for a, b, depth in zip(*bodies, file["contacts/depth"][part], strict=True):
        if a >= 0:
            ours[a, b] = max(ours.get((a, b), 0.0), depth)
    overlapping = {pair for pair, depth in theirs.items() if depth > 1.0e-6}
    assert len(overlapping) > 20 and overlapping <= set(ours)
    assert all(theirs[pair] > -1.0e-6 for pair in ours)
    np.testing.assert_allclose([ours[pair] for pair in overlapping], [theirs[pair] for pair in overlapping], atol=1.0e-5)
