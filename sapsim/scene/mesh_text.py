"""What files of meshes hold, before a parser sees them: text in the plainest form, and what it would pass over in silence.

trimesh takes lines of an OBJ that start with exactly `v ` and `f `; tabs, leading blanks, a byte order mark or a comment behind
the numbers cost it the line.  Of a glTF it leaves out normalisation, sparse accessors, fans and compression.
"""

import json
import re
from typing import Any

from sapsim.scene.mesh_error import MeshError

LFS = b"version https://git-lfs.github.com/spec/"
HEADER, TRIANGLE = 84, 50  # bytes of a binary STL
AGAIN = "export it again"
_FACE = re.compile(r"^f (.*)$", re.MULTILINE)
_ZERO = re.compile(r"(?:^| )0(?:/| |$)")
# Modes of primitives that trimesh reads or that bound nothing: points and lines, triangles and strips of them.
_MODES = (0, 1, 2, 3, 4, 5)
_COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression")


def plain_obj(data: bytes) -> bytes:
    """An OBJ with one blank between words and none elsewhere, without comments, continued lines joined.  Raises MeshError."""
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")
    lines = (" ".join(line.partition("#")[0].split()) for line in text.split("\n"))
    text = "\n".join(line for line in lines if line) + "\n"
    if any(_ZERO.search(corners) for corners in _FACE.findall(text)):
        raise MeshError("a face names corner 0; an OBJ counts from 1", AGAIN)
    return text.encode()


def plain_stl(data: bytes) -> bytes:
    """A binary STL without what follows its triangles, or a text STL in UTF-8.  Raises MeshError."""
    if data.lstrip()[:5].lower() == b"solid" and b"\0" not in data:  # binary ones begin with any words
        return _text_stl(data)
    if len(data) < HEADER or b"\0" not in data:
        raise MeshError("neither a text STL, which begins with `solid`, nor a binary one", AGAIN)
    said = int.from_bytes(data[HEADER - 4 : HEADER], "little")
    there = (len(data) - HEADER) // TRIANGLE
    if there < said:
        raise MeshError(f"a binary STL of {said} triangles that ends after {there}", AGAIN)
    return data[: HEADER + TRIANGLE * said]


def _text_stl(data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    lower = text.lower()
    if "facet" in lower and "endsolid" not in lower:
        raise MeshError("a text STL without `endsolid`: it was cut short", AGAIN)
    return text.encode()


def check_gltf(data: bytes) -> None:
    """Raises MeshError where the JSON of a glTF asks for what would be passed over."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MeshError(f"no GLTF that can be read: {error}", AGAIN) from error
    if not isinstance(tree, dict):
        raise MeshError("no GLTF that can be read: no JSON object", AGAIN)
    for name in _list(tree.get("extensionsRequired")):
        if name in _COMPRESSED:
            raise MeshError(f"compressed by {name}, which is not read", "export it without compression")
    accessors = _list(tree.get("accessors"))
    for mesh in _list(tree.get("meshes")):
        for primitive in _list(mesh.get("primitives")) if isinstance(mesh, dict) else ():
            if isinstance(primitive, dict):
                _check_primitive(primitive, accessors)
    if tree.get("meshes") and not tree.get("scenes"):
        raise MeshError("no scene, so that none of its meshes has a place", AGAIN)


def _check_primitive(primitive: dict[str, Any], accessors: list[Any]) -> None:
    mode = primitive.get("mode", 4)
    if mode not in _MODES:
        raise MeshError(f"primitives of mode {mode}, which are not read", "export triangles")
    attributes = primitive.get("attributes")
    position = attributes.get("POSITION") if isinstance(attributes, dict) else None
    for index in (position, primitive.get("indices")):
        accessor = accessors[index] if isinstance(index, int) and 0 <= index < len(accessors) else None
        if isinstance(accessor, dict):
            if "sparse" in accessor:
                raise MeshError("a sparse accessor, which is not read", "export it with all its corners")
            if accessor.get("normalized") and index == position:
                raise MeshError("corners as normalised integers, which are not read", "export it without quantisation")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def check_glb(data: bytes) -> None:
    """The same of the JSON in a GLB; what is no GLB is left to the parser."""
    length = int.from_bytes(data[12:16], "little")
    if data[:4] == b"glTF" and data[16:20] == b"JSON" and len(data) >= 20 + length:
        check_gltf(data[20 : 20 + length])
