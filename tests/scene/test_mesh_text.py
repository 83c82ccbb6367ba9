"""Files as programs write them: blanks, comments, line ends, encodings; and what trimesh would pass over is refused."""

import json

import numpy as np
import pytest
from mesh_files import PYRAMID, PYRAMID_FACES, PYRAMID_VOLUME, body_of, errors_of, gltf, obj, stl, warnings_of

pytestmark = pytest.mark.usefixtures("cache")
OBJ, STL = obj(PYRAMID, PYRAMID_FACES), stl(PYRAMID, PYRAMID_FACES)


def binary_stl(header: bytes) -> bytes:
    rows = np.zeros(len(PYRAMID_FACES), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("bits", "<u2")])
    rows["corners"] = PYRAMID[PYRAMID_FACES]
    return header.ljust(80) + np.uint32(len(rows)).tobytes() + rows.tobytes()


@pytest.mark.parametrize(
    "content",
    [
        OBJ.replace(" ", "\t"),
        OBJ.replace("f 1 ", "f\t1 "),
        "".join(f"  {line}  \n" for line in OBJ.splitlines()),
        OBJ.replace("\n", "\r\n"),
        OBJ.replace("\n", "\r"),
        OBJ.replace("\n", " # 1 2 3\n"),
        OBJ.replace("f ", "f \\\n "),
        b"\xef\xbb\xbf" + OBJ.encode() + b"v 9 9 9\n",  # the mark hides the first corner, and the last would take its place
        b"# K\xf6rper\n" + OBJ.encode(),
    ],
    ids=["tabs", "a tab", "blanks", "crlf", "cr", "comments", "continued", "mark", "latin"],
)
def test_no_line_of_an_obj_is_lost(tmp_path, content):
    scene = body_of(tmp_path, content)
    assert scene.links[0].inertial.mass == pytest.approx(1000.0 * PYRAMID_VOLUME, rel=1e-12) and not warnings_of(scene)


@pytest.mark.parametrize(
    "content",
    [
        binary_stl(b"solid facet"),
        binary_stl(b"binary") + b"\0" * 30,
        STL.replace("solid mesh", "solid K\xf6rper").encode("latin-1"),
    ],
    ids=["solid", "longer", "latin"],
)
def test_headers_and_ends_of_an_stl_do_not_matter(tmp_path, content):
    scene = body_of(tmp_path, content, "{file: m.stl}", name="m.stl")
    assert scene.links[0].inertial.mass == pytest.approx(1000.0 * PYRAMID_VOLUME, rel=1e-6) and not warnings_of(scene)


def changed(change):
    text, numbers = gltf(PYRAMID, PYRAMID_FACES, "m.bin")
    tree = json.loads(text)
    change(tree)
    return json.dumps(tree), numbers


def normalised(tree):
    tree["accessors"][0] |= {"componentType": 5122, "normalized": True}


def sparse(tree):
    tree["accessors"][0]["sparse"] = {"count": 1}


def fan(tree):
    tree["meshes"][0]["primitives"].append({"attributes": {"POSITION": 0}, "mode": 6})


def compressed(tree):
    tree["extensionsRequired"] = ["KHR_draco_mesh_compression"]


def placeless(tree):
    del tree["scene"], tree["scenes"]


@pytest.mark.parametrize(
    "change, words",
    [
        (normalised, "normalised integers"),
        (sparse, "sparse accessor"),
        (fan, "primitives of mode 6"),
        (compressed, "compressed by KHR_draco_mesh_compression"),
        (placeless, "no scene"),
    ],
)
def test_what_is_not_read_of_a_gltf_is_refused(tmp_path, change, words):
    text, numbers = changed(change)
    (tmp_path / "m.bin").write_bytes(numbers)
    (error,) = errors_of(tmp_path, text, "{file: m.gltf}", name="m.gltf")
    assert words in error.message and error.suggestion


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("m.obj", OBJ + "f 0 1 2\n", "corner 0"),
        ("m.stl", binary_stl(b"solid")[:-60], "a binary STL of 6 triangles that ends after 4"),
        ("m.stl", STL[:-40], "cut short"),
        ("m.stl", "<html>404</html>" * 20, "neither a text STL"),
        ("m.glb", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "pointer of Git LFS"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, name, content, words):
    (error,) = errors_of(tmp_path, content, f"{{file: {name}}}", name=name)
    assert words in error.message and error.suggestion


def test_a_folder_is_no_mesh_and_overlays_are_for_links_of_models(tmp_path):
    (tmp_path / "m.obj").mkdir()
    (error,) = errors_of(tmp_path, "", "{file: m.obj}", name="other.obj")
    assert "is a folder, not a file" in error.message and not error.suggestion
