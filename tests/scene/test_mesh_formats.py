"""Files of meshes: every format gives the same triangles, what else they may read, and packages that are not installed."""

import importlib
import logging
import math

import numpy as np
import pytest
from mesh_files import PYRAMID, PYRAMID_FACES, PYRAMID_VOLUME, dae, errors_of, gltf, obj, ply, stl
from mesh_files import body_of as body_in

from sapsim.scene.mesh_file import MeshError, read_mesh_file
from sapsim.scene.triangles import CLOSED, clean, volume

pytestmark = pytest.mark.usefixtures("cache")
TEXTS = {"obj": obj, "stl": stl, "ply": ply, "dae": dae}


def everything(path):
    return True


def read(folder, content, name, allows=everything):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    return clean(*read_mesh_file(path, allows))


def binary_stl(vertices, faces):
    rows = np.zeros(len(faces), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("bits", "<u2")])
    rows["corners"] = vertices[faces]
    return b"binary".ljust(80) + np.uint32(len(faces)).tobytes() + rows.tobytes()


def is_pyramid(mesh, rtol=1e-14):
    assert mesh.state == CLOSED and len(mesh.vertices) == 5 and not mesh.reversed
    assert volume(mesh.vertices, mesh.faces) == pytest.approx(PYRAMID_VOLUME, rel=rtol)
    np.testing.assert_allclose(mesh.vertices, PYRAMID[[0, 3, 4, 1, 2]], rtol=rtol, atol=1e-16)


@pytest.mark.parametrize("kind", TEXTS)
def test_text_formats_keep_every_digit(tmp_path, kind):
    is_pyramid(read(tmp_path, TEXTS[kind](PYRAMID, PYRAMID_FACES), f"m.{kind}"), 1e-7 if kind in ("stl", "dae") else 1e-14)
    is_pyramid(read(tmp_path, TEXTS[kind](PYRAMID, PYRAMID_FACES), f"M.{kind.upper()}"), 1e-7)


def test_binary_stl_has_float32(tmp_path):
    is_pyramid(read(tmp_path, binary_stl(PYRAMID, PYRAMID_FACES), "m.stl"), 1e-7)


def test_quadrangles_are_two_triangles(tmp_path):
    text = obj(PYRAMID, PYRAMID_FACES[2:]) + "f 4 3 2 1\n"
    is_pyramid(read(tmp_path, text, "m.obj"))


def test_names_and_materials_of_an_obj_are_not_read(tmp_path):
    """Nor is the file of materials; names may be in any encoding."""
    text = "# Gr\xf6\xdfe\nmtllib ../../gone.mtl\no Br\xfccke\nusemtl rot\n" + obj(PYRAMID, PYRAMID_FACES)
    is_pyramid(read(tmp_path, text.encode("latin-1"), "m.obj", lambda path: False))


def test_a_gltf_and_its_buffer(tmp_path):
    text, numbers = gltf(PYRAMID, PYRAMID_FACES, "my%20numbers.bin")
    (tmp_path / "my numbers.bin").write_bytes(numbers)
    is_pyramid(read(tmp_path, text, "m.gltf"), 1e-7)


def test_objects_of_a_gltf_are_where_it_has_them(tmp_path):
    """One at the origin, and a mirrored one with twice the size, 5 m away."""
    nodes = [{"mesh": 0}, {"mesh": 0, "translation": [5, 0, 0], "scale": [-2, 2, 2]}]
    text, numbers = gltf(PYRAMID, PYRAMID_FACES, "n.bin", nodes)
    (tmp_path / "n.bin").write_bytes(numbers)
    mesh = read(tmp_path, text, "m.gltf")
    assert mesh.state == CLOSED and volume(mesh.vertices, mesh.faces) == pytest.approx(9.0 * PYRAMID_VOLUME, rel=1e-6)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [5.3, 0.4, 0.8], rtol=1e-6)


def test_a_buffer_outside_of_what_may_be_read(tmp_path):
    text, numbers = gltf(PYRAMID, PYRAMID_FACES, "../n.bin")
    (tmp_path / "n.bin").write_bytes(numbers)
    (tmp_path / "in").mkdir()
    (error,) = errors_of(tmp_path / "in", text, "{file: m.gltf}", name="m.gltf")
    assert "n.bin is outside of what may be read" in error.message and "--allow" in error.suggestion
    scene = body_in(tmp_path / "in", text, "{file: m.gltf}", name="m.gltf", allow=[tmp_path])
    assert scene.links[0].inertial.mass == pytest.approx(1000.0 * PYRAMID_VOLUME, rel=1e-6)


@pytest.mark.parametrize(
    "unit, factor", [("", 1.0), ('<unit name="meter" meter="1"/>', 1.0), ("<unit meter='0.01' name='cm'/>", 0.01)]
)
def test_a_dae_says_its_unit(tmp_path, unit, factor):
    mesh = read(tmp_path, dae(PYRAMID / factor, PYRAMID_FACES, unit), "m.dae")
    is_pyramid(mesh, 1e-6)


@pytest.mark.parametrize("unit", ["0", "-1", "nan", "inf", "cm"])
def test_a_dae_with_an_impossible_unit(tmp_path, unit):
    with pytest.raises(MeshError, match=f'its unit is "{unit}" m'):
        read(tmp_path, dae(PYRAMID, PYRAMID_FACES, f'<unit meter="{unit}"/>'), "m.dae")


@pytest.mark.parametrize(
    "module, mesh, name, package",
    [("collada", "{file: m.dae}", "m.dae", "pycollada"), ("coacd", "{file: m.obj, as: decompose}", "m.obj", "coacd")],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(tmp_path, monkeypatch, module, mesh, name, package):
    real = importlib.import_module

    def missing(wanted, *more):
        if wanted == module:
            raise ImportError(wanted)
        return real(wanted, *more)

    monkeypatch.setattr(importlib, "import_module", missing)
    content = (dae if name.endswith("dae") else obj)(PYRAMID, PYRAMID_FACES)
    (error,) = errors_of(tmp_path, content, mesh, name=name)
    assert f"needs the package {package}, which is not installed" in error.message
    assert error.suggestion == "pip install 'sapsim[mesh]'" and error.path == "bodies.b.mesh.file"


CUT = obj(PYRAMID, PYRAMID_FACES)


@pytest.mark.parametrize(
    "name, content",
    [
        ("m.stl", "solid"),
        ("m.stl", b"\x00" * 84),
        ("m.stl", binary_stl(PYRAMID, PYRAMID_FACES)[:-7]),
        ("m.ply", "ply\nformat ascii 1.0\nelement vertex 5\n"),
        ("m.ply", "plx"),
        ("m.glb", b"glTF" + b"\xff" * 40),
        ("m.gltf", "{"),
        ("m.gltf", "[]"),
        ("m.gltf", gltf(PYRAMID, PYRAMID_FACES, "gone.bin")[0]),
        ("m.dae", "<COLLADA/>"),
        ("m.dae", "no xml"),
        ("m.obj", "v 0 0\nf 1 2 3\n"),
        ("m.obj", "v 0 0 x\n"),
        ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"),
    ],
)
def test_broken_files_are_one_located_error(tmp_path, capfd, caplog, name, content):
    with caplog.at_level(logging.CRITICAL):
        (error,) = errors_of(tmp_path, content, f"{{file: {name}}}", name=name)
    assert error.code == "unusable-mesh" and error.message.startswith(f"{name}: ") and "\n" not in error.message
    assert (error.line, error.path) == (6, "bodies.b.mesh.file")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("m.stl", binary_stl(PYRAMID, PYRAMID_FACES)[:-60], "a binary STL of 6 triangles that ends after 4"),
        ("m.stl", bytes(range(200)) * 3, "triangles that ends after 10"),
        ("m.stl", "hello", "neither a text STL"),
        ("m.gltf", gltf(PYRAMID, PYRAMID_FACES, "gone.bin")[0], "gone.bin: cannot be read: No such file"),
        ("m.gltf", gltf(PYRAMID, PYRAMID_FACES, "gone.bin")[0][:50], "no GLTF that can be read: "),
        ("m.gltf", b"\xff\xfe\x00", "no GLTF that can be read: "),
    ],
)
def test_what_is_wrong_with_a_broken_file_is_said(tmp_path, name, content, words):
    (error,) = errors_of(tmp_path, content, f"{{file: {name}}}", name=name)
    assert words in error.message and error.suggestion


def test_a_folder_is_no_mesh(tmp_path):
    (tmp_path / "d.obj").mkdir()
    (error,) = errors_of(tmp_path, CUT, "{file: d.obj}")
    assert "d.obj" in error.message and error.code == "unusable-mesh"


def test_pieces_of_a_file_raise_nothing_else(tmp_path):
    """Files cut anywhere, and with bytes changed."""
    rng = np.random.default_rng(0)
    text, numbers = gltf(PYRAMID, PYRAMID_FACES, "n.bin")
    (tmp_path / "n.bin").write_bytes(numbers)
    contents = {f"m.{kind}": TEXTS[kind](PYRAMID, PYRAMID_FACES).encode() for kind in TEXTS}
    contents |= {"b.stl": binary_stl(PYRAMID, PYRAMID_FACES), "m.gltf": text.encode()}
    refused = 0
    for name, content in contents.items():
        for _ in range(12):
            spoilt = bytearray(content[: rng.integers(1, len(content))])
            spoilt[rng.integers(len(spoilt))] = rng.integers(256)
            try:
                mesh = read(tmp_path, bytes(spoilt), name)
                assert math.isfinite(volume(mesh.vertices, mesh.faces))
            except MeshError:
                refused += 1
    assert refused > 20
