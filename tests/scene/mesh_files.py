"""Small meshes and their files, written by the tests that use them."""

import itertools
import json

import numpy as np

from sapsim.errors import SceneError
from sapsim.scene.read import load

# Square pyramid: base .2 x .2 m at z = 0, apex at z = .4 m.  V = 16/3 l, com z = .1 m, I / m = diag(.008, .008, .004) m^2.
PYRAMID = np.array([[-0.1, -0.1, 0], [0.1, -0.1, 0], [0.1, 0.1, 0], [-0.1, 0.1, 0], [0, 0, 0.4]])
PYRAMID_FACES = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
PYRAMID_VOLUME = 16.0e-3 / 3.0

UNIT_BOX = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
BOX_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip

# A prism with the outline of an L: three unit squares, 1 m high.  V = 3 m^3; its hull has 3.5 m^3.
L_SHAPE = np.array([[x, y, z] for z in (0.0, 1.0) for x, y in ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))])
_TOP = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]
_SIDES = [[i, (i + 1) % 6, 6 + (i + 1) % 6] for i in range(6)] + [[i, 6 + (i + 1) % 6, 6 + i] for i in range(6)]
L_FACES = np.array([f[::-1] for f in _TOP] + [[6 + i for i in f] for f in _TOP] + _SIDES)

SCENE = "sapsim: 1\ntime_step: 0.001\nsteps: 1\nbodies:\n  b:\n    mesh: {mesh}\n    {mass}\n"


def obj(vertices, faces):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, float).tolist()]
    return "\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(faces).tolist())]) + "\n"


def stl(vertices, faces):
    """ASCII STL, each triangle with corners of its own."""
    text = "solid mesh\n"
    for face in np.asarray(faces).tolist():
        corners = "".join("vertex {!r} {!r} {!r}\n".format(*np.asarray(vertices, float)[i].tolist()) for i in face)
        text += f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
    return text + "endsolid mesh\n"


def ply(vertices, faces):
    head = f"ply\nformat ascii 1.0\nelement vertex {len(vertices)}\nproperty double x\nproperty double y\nproperty double z\n"
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = ["{!r} {!r} {!r}".format(*v) for v in np.asarray(vertices, float).tolist()]
    return head + "\n".join([*rows, *("3 {} {} {}".format(*f) for f in np.asarray(faces).tolist())]) + "\n"


def gltf(vertices, faces, uri, nodes=None):
    """The text of a glTF whose numbers are in another file, and that file's content."""
    points, corners = np.asarray(vertices, "<f4").tobytes(), np.asarray(faces, "<u4").tobytes()
    low, high = np.min(vertices, axis=0).tolist(), np.max(vertices, axis=0).tolist()
    text = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes or [0])))}],
        "nodes": nodes or [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"uri": uri, "byteLength": len(points) + len(corners)}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(corners)},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(vertices), "type": "VEC3", "min": low, "max": high},
            {"bufferView": 1, "componentType": 5125, "count": 3 * len(faces), "type": "SCALAR"},
        ],
    }
    return json.dumps(text), points + corners


def dae(vertices, faces, unit=""):
    """`unit`: the element <unit>, or nothing."""
    numbers = " ".join(repr(x) for x in np.asarray(vertices, float).ravel().tolist())
    corners = " ".join(str(i) for i in np.asarray(faces).ravel().tolist())
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><created>2026-01-01T00:00:00Z</created><modified>2026-01-01T00:00:00Z</modified>{unit}<up_axis>Z_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="a" count="{3 * len(vertices)}">{numbers}</float_array>
      <technique_common><accessor source="#a" count="{len(vertices)}" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
    </source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="{len(faces)}"><input semantic="VERTEX" source="#v" offset="0"/><p>{corners}</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


def body_of(folder, content, mesh="{file: m.obj}", mass="density: 1000", name="m.obj", **options):
    """The scene of one body `b` with a mesh, whose file's content is given."""
    if isinstance(content, bytes):
        (folder / name).write_bytes(content)
    else:
        (folder / name).write_text(content)
    scene = folder / "scene.yaml"
    scene.write_text(SCENE.format(mesh=mesh, mass=mass))
    return load(scene, **options)


def errors_of(*arguments, **options):
    """The errors of a body that must have some."""
    try:
        body_of(*arguments, **options)
    except SceneError as error:
        return error.errors
    raise AssertionError("nothing was refused")


def warnings_of(scene):
    return [(w.code, w.message) for w in scene.warnings]
