"""Collision shapes of a compiled MJCF.

`contype` and `conaffinity` become the bits of a shape; a geom with neither touches nothing and is left out.  A geom's sliding
friction becomes that of its surface, unless the scene gives it a material; softness (`solref`, `solimp`) has no translation.
Meshes are taken as MuJoCo has compiled them: scaled, and moved into axes of their own, in which the geom stands.
"""

from dataclasses import replace

import numpy as np

from sapsim.kinds.base import registry
from sapsim.scene.heightfield import grid_triangles
from sapsim.scene.mesh import Mesh, MeshSource
from sapsim.scene.mjcf_compiled import Compiled
from sapsim.scene.report import Report
from sapsim.scene.spec import Material, Shape, UnbuiltShape, Where

# Lengths in the order of the scene file's, from MuJoCo's three: radius, half lengths [m].
_LENGTHS = {
    "plane": lambda s: (),
    "sphere": lambda s: (s[0],),
    "box": lambda s: (2.0 * s[0], 2.0 * s[1], 2.0 * s[2]),
    "capsule": lambda s: (s[0], 2.0 * s[1]),
    "cylinder": lambda s: (s[0], 2.0 * s[1]),
    "ellipsoid": lambda s: (s[0], s[1], s[2]),
}


def shapes_of(c: Compiled, body: int, default: Material, report: Report) -> tuple[Shape | UnbuiltShape, ...]:
    """The shapes of a body, in MuJoCo's order."""
    m = c.model
    first = m.body_geomadr[body]
    geoms = range(first, first + m.body_geomnum[body])
    return tuple(_shape(c, g, default, report) for g in geoms if m.geom_contype[g] or m.geom_conaffinity[g])


def _shape(c: Compiled, g: int, default: Material, report: Report) -> Shape | UnbuiltShape:
    m = c.model
    kind, where, name = c.word("mjtGeom", m.geom_type[g]), c.where("geom", g), c.name("geom", g)
    material = replace(default, friction=float(m.geom_friction[g, 0]))
    bits = (int(m.geom_contype[g]), int(m.geom_conaffinity[g]))
    if kind in _FROM_DATA:
        mesh = _FROM_DATA[kind](c, int(m.geom_dataid[g]), where, report)
        return Shape(name, mesh.kind, (), c.pose("geom", g), material, where=where, bits=bits, mesh=mesh)
    if kind not in _LENGTHS or kind not in registry("shapes"):
        return UnbuiltShape(name, kind, f"{kind} geoms are not supported yet", where)
    params = tuple(float(x) for x in _LENGTHS[kind](m.geom_size[g]))
    return Shape(name, kind, params, c.pose("geom", g), material, where=where, bits=bits)


def _mesh(c: Compiled, i: int, where: Where, report: Report) -> Mesh:
    """The compiled mesh with an index."""
    m = c.model

    def read() -> tuple[np.ndarray, np.ndarray]:
        v, f = m.mesh_vertadr[i], m.mesh_faceadr[i]
        vertices = np.asarray(m.mesh_vert[v : v + m.mesh_vertnum[i]], np.float64)
        return vertices, np.asarray(m.mesh_face[f : f + m.mesh_facenum[i]], np.int64)

    return Mesh(MeshSource(c.name("mesh", i), read, (1.0, 1.0, 1.0), where, report))


def _heightfield(c: Compiled, i: int, where: Where, report: Report) -> Mesh:
    """The compiled heightfield with an index: heights from 0 to 1 of size[2]; its base is not felt."""
    m = c.model

    def read() -> tuple[np.ndarray, np.ndarray]:
        rows, columns, first = int(m.hfield_nrow[i]), int(m.hfield_ncol[i]), int(m.hfield_adr[i])
        x, y, top, _ = (float(s) for s in m.hfield_size[i])
        heights = np.asarray(m.hfield_data[first : first + rows * columns], np.float64).reshape(rows, columns)
        return grid_triangles(top * heights, (2.0 * x, 2.0 * y))

    return Mesh(MeshSource(c.name("hfield", i), read, (1.0, 1.0, 1.0), where, report), "surface")


_FROM_DATA = {"mesh": _mesh, "hfield": _heightfield}
