"""Heightfields: inline, of files, of MJCF; where their corners lie, and what is said of those that cannot be used."""

import numpy as np
import pytest
from urdf_files import write

from sapsim.errors import SceneError
from sapsim.scene.poses import matrix
from sapsim.scene.read import load

HEAD = "sapsim: 1\ntime_step: 0.001\nsteps: 1\n"
HEIGHTS = np.array([[0.0, 1.0, 4.0], [2.0, 3.0, 5.0]])


def surface_of(tmp_path, field: str):
    """The shape of a scene whose world has one heightfield."""
    scene = load(write(tmp_path, f"{HEAD}world: {{collision: [{{heightfield: {field}}}]}}\n", "scene.yaml"))
    assert scene.warnings == ()
    (shape,) = scene.world_shapes
    return shape


def errors_of(tmp_path, field: str):
    with pytest.raises(SceneError) as caught:
        surface_of(tmp_path, field)
    return caught.value.errors


def corners(shape) -> dict[tuple[float, float], float]:
    """Height over (x, y), in the link."""
    points = shape.surface.vertices + shape.X_LG.p
    return {(round(x, 9), round(y, 9)): z for x, y, z in points.tolist()}


def expected(scale: float = 1.0):
    return {(x, y): scale * HEIGHTS[i, j] for i, y in enumerate((-1.0, 1.0)) for j, x in enumerate((-3.0, 0.0, 3.0))}


def test_rows_run_along_x_and_the_first_has_the_least_y(tmp_path):
    shape = surface_of(tmp_path, f"{{heights: {HEIGHTS.tolist()}, size: [6, 2], scale: 0.1}}")
    assert shape.kind == "surface" and corners(shape) == pytest.approx(expected(0.1))
    a, b, c = (shape.surface.vertices[shape.surface.triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    assert (normals[:, 2] > 0).all() and normals[:, 2].sum() == pytest.approx(2 * 12.0)  # felt from above; its whole area


@pytest.mark.parametrize("suffix", ["npy", "csv", "txt"])
def test_heights_of_files(tmp_path, suffix):
    path = tmp_path / f"hills.{suffix}"
    if suffix == "npy":
        np.save(path, HEIGHTS.astype(np.float32))
    else:
        np.savetxt(path, HEIGHTS, delimiter="," if suffix == "csv" else " ", header="hills")
    assert corners(surface_of(tmp_path, f"{{file: {path.name}, size: [6, 2]}}")) == pytest.approx(expected())


@pytest.mark.parametrize(
    ("field", "code", "words"),
    [
        ("{size: [1, 1]}", "missing-key", "heights"),
        ("{heights: [[0, 0], [0, 0]]}", "missing-key", "size"),
        ("{heights: [[0, 0], [0, x]], size: [1, 1]}", "wrong-type", "number"),
        ("{heights: [[0, 0], [0, 0, 0]], size: [1, 1]}", "unusable-shape", "rows of 2, 3 heights"),
        ("{heights: [[0, 0]], size: [1, 1]}", "unusable-shape", "at least two rows and two columns"),
        ("{heights: [], size: [1, 1]}", "unusable-shape", "at least two rows and two columns"),
        ("{heights: [[0, 0], [0, 0]], size: [1, 0]}", "out-of-range", "> 0"),
        ("{heights: [[0, .nan], [0, 0]], size: [1, 1]}", "not-finite", ""),
        ("{file: gone.npy, size: [1, 1]}", "unusable-shape", "does not exist"),
        ("{file: hills.png, size: [1, 1]}", "unusable-shape", '".png" are no heightfields; supported: .npy, .csv, .txt'),
        ("{file: words.csv, size: [1, 1]}", "unusable-shape", 'line 1, column 1: "some" is no number'),
        ("{file: hole.csv, size: [1, 1]}", "unusable-shape", "line 3, column 2: an empty cell"),
        ("{file: complex.npy, size: [1, 1]}", "unusable-shape", "an array of complex128; allowed: integers and real numbers"),
        ("{file: huge.npy, size: [1, 1]}", "unusable-shape", "no table of numbers"),
        (
            "{file: nan.npy, size: [1, 1]}",
            "unusable-shape",
            "1 of 4 heights are not finite numbers, the first in row 1, column 2",
        ),
        ("{file: cube.npy, size: [1, 1]}", "unusable-shape", "shape 2 x 2 x 2"),
        ("{file: fake.npy, size: [1, 1]}", "unusable-shape", "no NPY file"),
        ("{file: empty.csv, size: [1, 1]}", "unusable-shape", "empty file"),
        ("{file: flat.csv, heights: [[0, 0], [0, 0]], size: [1, 1]}", "unknown-key", "heights"),
    ],
)
def test_what_cannot_be_used_is_told_in_its_line(tmp_path, field, code, words):
    (tmp_path / "hills.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "words.csv").write_text("some,words\n1,2\n")
    (tmp_path / "hole.csv").write_text("# heights\n1,2,3\n1,,3\n")
    np.save(tmp_path / "complex.npy", np.full((2, 2), 1.0 + 1.0j))
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }".ljust(117) + b"\n"
    (tmp_path / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + head)  # says more than there is
    np.save(tmp_path / "nan.npy", [[0.0, np.inf], [0.0, 0.0]])
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    (tmp_path / "fake.npy").write_text("no array")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "flat.csv").write_text("0,0\n0,0\n")
    (error,) = errors_of(tmp_path, field)
    assert (error.code, error.line) == (code, 4) and words in error.message, error


def test_a_heightfield_of_mjcf_lies_where_mujoco_has_it(tmp_path):
    """Rays of MuJoCo from above hit it where our triangles are."""
    import mujoco

    text = """<mujoco><asset><hfield name="hills" nrow="4" ncol="5" size="2 1 0.5 0.1"
      elevation="0 1 0 2 0  1 3 1 0 1  2 0 0 1 2  0 1 2 1 0"/></asset>
      <worldbody><geom type="hfield" hfield="hills" pos="0.3 0.2 0.1" euler="0 0 40"/></worldbody></mujoco>"""
    write(tmp_path, text, "m.xml")
    scene = load(write(tmp_path, f"{HEAD}models: {{m: {{mjcf: m.xml}}}}\ninstances: {{m: {{model: m}}}}\n", "scene.yaml"))
    (shape,) = (*scene.world_shapes, *(s for link in scene.links for s in link.shapes))
    points = shape.surface.vertices @ matrix(shape.X_LG.q).T + shape.X_LG.p
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    middle = points[shape.surface.triangles].mean(axis=1)
    for p in middle:
        start = p + np.array([0.0, 0.0, 2.0])
        distance = mujoco.mj_ray(model, data, start, np.array([0.0, 0.0, -1.0]), None, 1, -1, np.zeros(1, np.int32))
        assert start[2] - distance == pytest.approx(p[2], abs=1e-6)
