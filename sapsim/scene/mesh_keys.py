"""Keys of `mesh` in scene files, and the kinds of shapes that a mesh becomes."""

from sapsim.scene.grammar import ByForm, Key, Record, Vector
from sapsim.scene.scalars import Choice, Number, Text

MESH_KEY = "mesh"
# How a mesh collides: the value of `as`, and the kind of the shapes that it becomes.
SHAPES_OF_MESHES = {"hull": "convex", "decompose": "convex", "surface": "surface"}
DEFAULT_USE = "hull"

_number = Number(smallest=1.0e-30)

MESH_USE = Choice(tuple(SHAPES_OF_MESHES))
MESH = Record(
    {
        "file": Key(Text("a path"), "OBJ, STL, PLY, glTF, or DAE with the extra `mesh`; or package://NAME/PATH", required=True),
        "scale": Key(
            ByForm({"number": _number, "seq": Vector(3, _number)}),
            "file's unit in m, one number or one along each axis; none is 0, negative ones mirror; default 1",
        ),
        "as": Key(MESH_USE, "its convex hull, several convex parts (with the extra `mesh`), or its surface; default: hull"),
    }
)
