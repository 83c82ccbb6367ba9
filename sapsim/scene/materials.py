"""Materials by name, and the collision shapes that use them."""

from dataclasses import dataclass, replace
from typing import Any

from sapsim.kinds.base import ShapeKind, registry
from sapsim.scene.grammar import Section
from sapsim.scene.heightfield import HEIGHTFIELD_KEY, read_heightfield
from sapsim.scene.keys import MESH_KEY, SHAPE_KEYS
from sapsim.scene.mesh import Mesh, mesh_of_file
from sapsim.scene.mesh_keys import DEFAULT_USE
from sapsim.scene.poses import read_pose
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.sources import Sources
from sapsim.scene.spec import Material, Pose, Shape, UnbuiltShape, Where

DEFAULT_NAME = ""


@dataclass
class Materials:
    """The materials of a scene, each complete; and where the files of its shapes are found.

    `named` has those that could be read, `names` all that are given; None where `materials` could not be read.
    """

    default: Material
    named: dict[str, Material]
    names: tuple[str, ...] | None
    sources: Sources | None = None

    def find(self, name: str, where: Where, report: Report) -> Material:
        """The material of a name that stands at `where`."""
        if self.names is not None and name not in self.names:
            text = f'unknown material "{name}"; materials of this scene: {listing(self.names)}'
            report.error(where, "unknown-name", text, did_you_mean(name, self.names))
        return self.named.get(name, self.default)


def read_materials(root: Section, sources: Sources | None = None) -> Materials:
    """The scene's materials: a missing key comes from `contact.default_material`, and there from spec.Material."""
    contact = root.get("contact", {})
    default = Material(**contact.get("default_material", {}))
    section = root.get("materials")
    if section is None:
        return Materials(default, {}, None if root.broken("materials") else (), sources)
    named = {name: replace(default, **values) for name, values in section.items()}
    return Materials(default, named, tuple(section.places), sources)


def read_shape(section: Section, name: str, X_LG: Pose, materials: Materials, report: Report) -> Shape | None:
    """A Shape from a section with one shape key; None where its lengths were refused.

    A shape without a material keeps the name "" until it is known whether its instance or model gives one.
    """
    kinds = [k for k in SHAPE_KEYS if k in section]
    material = section.get("material", DEFAULT_NAME)
    found = materials.find(material, section.where("material"), report) if material else materials.default
    if len(kinds) != 1:
        return None
    if kinds[0] == MESH_KEY:
        mesh = _mesh(section[MESH_KEY], materials, report)
    elif kinds[0] == HEIGHTFIELD_KEY:
        mesh = read_heightfield(section[HEIGHTFIELD_KEY], materials.sources, report)
    else:
        params = _lengths(registry("shapes")[kinds[0]], section[kinds[0]])
        if params is None:
            return None
        return Shape(name, kinds[0], params, X_LG, found, material, section.where())
    return Shape(name, mesh.kind, (), X_LG, found, material, mesh.source.where, mesh=mesh) if mesh is not None else None


def _lengths(kind: ShapeKind, value: Any) -> tuple[float, ...] | None:
    """The lengths of a shape as its kind orders them; None where some were refused."""
    if kind.keys:
        return tuple(value[k] for k in kind.keys) if set(kind.keys) <= set(value) else None
    if kind.nparam == 0:
        return ()
    return (value,) if kind.nparam == 1 else tuple(value)


def _mesh(section: Section, materials: Materials, report: Report) -> Mesh | None:
    """The mesh of a `mesh` section; None where a part of it was refused."""
    scale = section.get("scale", 1.0)
    factors = scale if isinstance(scale, tuple) else (scale,) * 3
    if 0.0 in factors:
        report.error(section.where("scale"), "out-of-range", "a scale of 0 leaves nothing of the mesh", "give its size")
        return None
    if section.broken("file", "scale", "as") or "file" not in section or materials.sources is None:
        return None
    sources = materials.sources
    where, use = section.where("file"), section.get("as", DEFAULT_USE)
    return mesh_of_file(section["file"], sources.folder / "scene", factors, use, where, sources, report)


def read_shapes(items: list[tuple[Where, Section]], materials: Materials, report: Report) -> tuple[Shape, ...]:
    """The shapes of a `collision` list; a name given in the file must be unique in its list."""
    shapes: list[Shape] = []
    seen: dict[str, Where] = {}
    for _, section in items:
        name = section.get("name", "")
        if name and name in seen:
            text = f'shape "{name}" is given twice in this list: in line {seen[name].line} too'
            report.error(section.where("name"), "duplicate-name", text, "choose another name")
        if name:
            seen[name] = section.where("name")
        X_LG = read_pose(section.get("pose"), report)
        shape = read_shape(section, name, X_LG, materials, report)
        if shape is not None:
            shapes.append(shape)
    return tuple(shapes)


def give_material(shapes: tuple[Shape, ...], name: str, materials: Materials) -> tuple[Shape, ...]:
    """The shapes, where those without a material of their own take the one named (of their link, instance or model)."""
    if not name:
        return shapes
    return with_material(shapes, name, materials.named.get(name, materials.default))


def with_material(
    shapes: tuple[Shape | UnbuiltShape, ...], name: str, material: Material, all_of_them: bool = False
) -> tuple[Shape | UnbuiltShape, ...]:
    """The shapes with a material, those that name one only where `all_of_them`; what is only named has none."""
    return tuple(
        replace(s, material=material, material_name=name)
        if isinstance(s, Shape) and (all_of_them or not s.material_name)
        else s
        for s in shapes
    )
