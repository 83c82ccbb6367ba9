"""Collision shapes of a compiled MJCF.

`contype` and `conaffinity` become the bits of a shape; a geom with neither touches nothing and is left out.  A geom's sliding
friction becomes that of its surface, unless the scene gives it a material; softness (`solref`, `solimp`) has no translation.
"""

from dataclasses import replace

from sapsim.kinds.base import registry
from sapsim.scene.mjcf_compiled import Compiled
from sapsim.scene.spec import Material, Shape, UnbuiltShape

# Lengths in the order of the scene file's, from MuJoCo's three: radius, half lengths [m].
_LENGTHS = {
    "plane": lambda s: (),
    "sphere": lambda s: (s[0],),
    "box": lambda s: (2.0 * s[0], 2.0 * s[1], 2.0 * s[2]),
    "capsule": lambda s: (s[0], 2.0 * s[1]),
    "cylinder": lambda s: (s[0], 2.0 * s[1]),
    "ellipsoid": lambda s: (s[0], s[1], s[2]),
}


def shapes_of(c: Compiled, body: int, default: Material) -> tuple[Shape | UnbuiltShape, ...]:
    """The shapes of a body, in MuJoCo's order."""
    m = c.model
    first = m.body_geomadr[body]
    geoms = range(first, first + m.body_geomnum[body])
    return tuple(_shape(c, g, default) for g in geoms if m.geom_contype[g] or m.geom_conaffinity[g])


def _shape(c: Compiled, g: int, default: Material) -> Shape | UnbuiltShape:
    m = c.model
    kind, where, name = c.word("mjtGeom", m.geom_type[g]), c.where("geom", g), c.name("geom", g)
    if kind not in _LENGTHS or kind not in registry("shapes"):
        return UnbuiltShape(name, kind, f"{kind} geoms are not supported yet", where)
    params = tuple(float(x) for x in _LENGTHS[kind](m.geom_size[g]))
    material = replace(default, friction=float(m.geom_friction[g, 0]))
    bits = (int(m.geom_contype[g]), int(m.geom_conaffinity[g]))
    return Shape(name, kind, params, c.pose("geom", g), material, where=where, bits=bits)
