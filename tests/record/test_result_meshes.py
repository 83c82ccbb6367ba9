"""Convex shapes can be drawn from the result file alone: corners and triangles in /model, read as the page reads them."""

import re
from itertools import chain
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray
from recording import record
from scipy.spatial.transform import Rotation

from sapsim.record.writer import Recorder
from sapsim.scene.hull import convex_hull, volume_properties
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

PAGE = (Path(__file__).parents[2] / "docs" / "result_file.md").read_text()
WEDGE = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0], [0.2, 0.1, 0], [0, 0, 0.1], [0, 0.1, 0.1]])
SPIKE = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.3]])
SCENE = """
sapsim: 1
time_step: 0.01
steps: 5
world: {collision: [{plane: {}}, {mesh: {file: spike.obj}, pose: {xyz: [3, 0, 0], rpy_deg: [0, 20, 50]}, name: fixed}]}
bodies:
  wedge: {mesh: {file: wedge.obj}, density: 1000, pose: {xyz: [0, 0, 1], rpy_deg: [10, 0, 0]},
          velocity: {angular: [0, 9, 0]}, repeat: {count: [3, 1, 1], spacing: [0.5, 0, 0]}}
  ball: {sphere: 0.1, mass: 1, pose: {xyz: [0, 1, 1]}}
  spike: {mesh: {file: spike.obj, scale: [1, 1, -1]}, density: 1000, pose: {xyz: [0, 2, 1]}}
  other: {mesh: {file: wedge.obj, scale: 2}, density: 1000, pose: {xyz: [0, 3, 1]}}
"""


def obj(points: np.ndarray) -> str:
    hull = convex_hull(points)
    lines = [*(f"v {x!r} {y!r} {z!r}" for x, y, z in hull.vertices.tolist())]
    return "\n".join([*lines, *("f " + " ".join(str(i + 1) for i in face) for face in hull.faces)]) + "\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(scene, open result file)."""
    folder = tmp_path_factory.mktemp("meshes")
    for name, points in (("wedge", WEDGE), ("spike", SPIKE)):
        (folder / f"{name}.obj").write_text(obj(points))
    (folder / "scene.yaml").write_text(SCENE)
    sim = Simulation(load(folder / "scene.yaml"), device="cpu")
    recorder = Recorder(str(folder / "run.h5"), sim, command="sapsim run")
    recorder.put(sim.initial())
    recorder.put(sim.advance(5), sim.totals)
    recorder.close("complete")
    with h5py.File(folder / "run.h5") as file:
        yield sim.scene, file


def assert_same_points(found: np.ndarray, expected: np.ndarray) -> None:
    """In whatever order."""
    np.testing.assert_allclose(*(p[np.lexsort(np.round(p, 9).T)] for p in (found, expected)), atol=1e-12)


def the_pages_function():
    """`corners_in_world` as docs/result_file.md has it."""
    (text,) = re.findall(r"```\n(def corners_in_world.*?)```", PAGE, re.DOTALL)
    names = {"Rotation": Rotation}
    exec(text, names)
    return names["corners_in_world"]


def test_each_mesh_is_there_once(made):
    _, file = made
    model = file["model"]
    shapes = dict(zip(file["shape"].asstr(), model["shape_mesh"], strict=True))
    assert [shapes[f"wedge/{i}/0/0/0"] for i in range(3)] == [1, 1, 1]
    assert (shapes["world/0"], shapes["ball/0"], shapes["fixed"], shapes["spike/0"], shapes["other/0"]) == (-1, -1, 0, 2, 3)
    assert list(model["mesh_vertex_count"]) == [4, 6, 4, 6] and list(model["mesh_triangle_count"]) == [4, 8, 4, 8]
    assert list(model["mesh_vertex_start"]) == [0, 4, 10, 14] and list(model["mesh_triangle_start"]) == [0, 4, 12, 16]
    assert model["mesh_position"].shape == (20, 3) and model["mesh_corners"].shape == (24, 3)


@pytest.mark.parametrize("row", [0, 5])
def test_the_page_draws_them(made, row):
    """Where they are in the world, from what the scene's file says: corners of the mesh's file, its scale and the pose of the
    link at that row; and all triangles look outwards."""
    scene, file = made
    corners_in_world = the_pages_function()
    points = {"wedge": WEDGE, "spike": SPIKE * [1, 1, -1], "other": 2 * WEDGE}
    names = list(file["shape"].asstr())
    bodies = list(file["body"].asstr())
    seen = 0
    for link in scene.links:
        if link.name == "ball":
            continue
        pose = file["state/body_q"][row, 0, bodies.index(link.name)]
        expected = Rotation.from_quat(pose[3:]).apply(points[link.name.split("/")[0]]) + pose[:3]
        found, triangles = corners_in_world(file, names.index(f"{link.name}/0"), row)
        assert_same_points(found, expected)
        assert volume_properties(found, triangles)[0] * 1000.0 == pytest.approx(link.inertial.mass, rel=1e-12)
        seen += 1
    assert seen == 5
    found, triangles = corners_in_world(file, names.index("fixed"), row)
    expected = Rotation.from_euler("xyz", [0, 20, 50], degrees=True).apply(SPIKE) + np.array([3, 0, 0])
    assert_same_points(found, expected)
    assert volume_properties(found, triangles)[0] == pytest.approx(0.0005, rel=1e-12)


def test_the_tables_say_what_they_are(made):
    """Scales, units and frames, as of all datasets, and every name is in the page's tables."""
    _, file = made
    tables = [name for name in file["model"] if name.startswith("mesh") or name == "shape_mesh"]
    assert len(tables) == 11 and set(tables) <= set(re.findall(r"`(\w+)`", PAGE))
    for name in tables:
        dataset = file[f"model/{name}"]
        assert dataset.attrs["units"] and dataset.attrs["long_name"]
        if not dataset.is_scale:
            assert dataset.shape == tuple(len(dim[0]) for dim in dataset.dims)
    assert file["model/mesh_position"].attrs["frame"] == "shape" and file["model/mesh_position"].attrs["units"] == "m"
    assert all(file[f"model/{name}"].is_scale for name in ("mesh", "mesh_vertex", "mesh_triangle", "mesh_corner"))


def test_scenes_without_meshes_have_no_such_tables(tmp_path):
    record(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert not [name for name in chain(file["model"], file) if "mesh" in name]


def test_xarray_reads_them(made):
    _, file = made
    with xarray.open_datatree(file.filename, engine="h5netcdf") as tree:
        model = tree["model"]
        assert model["mesh_position"].dims == ("mesh_vertex", "xyz")
        assert model["mesh_corners"].dims == ("mesh_triangle", "mesh_corner")
