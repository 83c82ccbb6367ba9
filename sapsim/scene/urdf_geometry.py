"""Poses and collision shapes of a URDF.  Shapes of kinds that are not built are named and nothing more."""

from pathlib import Path

from sapsim.kinds.base import registry
from sapsim.scene.mesh import mesh_of_file
from sapsim.scene.mesh_keys import DEFAULT_USE
from sapsim.scene.poses import as_vec3, quat_from_rpy
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.sources import Sources
from sapsim.scene.spec import Material, Pose, Shape, UnbuiltShape
from sapsim.scene.xml_tree import Element
from sapsim.scene.xml_values import (
    Notices,
    check_bounds,
    note_unknown,
    only_child,
    read_name,
    read_numbers,
    require,
)

# The lengths of each geometry in the order of the scene file's lists: (attribute, how many numbers) [m].
_LENGTHS = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
}
_MESH = "mesh"
_GEOMETRIES = (*_LENGTHS, _MESH)


def read_origin(element: Element, notices: Notices, report: Report) -> Pose:
    """The `<origin>` of an element; the identity where there is none."""
    origin = only_child(element, "origin", report)
    if origin is None:
        return Pose()
    note_unknown(origin, (), ("xyz", "rpy"), notices)
    zero = (0.0, 0.0, 0.0)
    found = {a: read_numbers(origin, a, 3, report) or zero for a in ("xyz", "rpy") if a in origin.attributes}
    rpy = found.get("rpy", zero)
    return Pose(as_vec3(found.get("xyz", zero)), quat_from_rpy(as_vec3(rpy)) if any(rpy) else Pose().q)


class GeometryReader:
    """Reads the collision shapes of one file."""

    def __init__(self, file: str, material: Material, sources: Sources, notices: Notices, report: Report):
        self.file, self.material, self.sources = Path(file), material, sources
        self.notices, self.report = notices, report

    def shapes_of(self, link: Element) -> tuple[Shape | UnbuiltShape, ...]:
        """The shapes of a link, in order.  A name stands for a shape where it is the only one of that name in the link."""
        found = []
        items = link.all("collision")
        names = [item.attributes.get("name", "").strip() for item in items]
        for item, name in zip(items, names, strict=True):
            shape = self._shape(item, name if names.count(name) == 1 else "")
            if shape is not None:
                found.append(shape)
        return tuple(found)

    def _shape(self, item: Element, name: str) -> Shape | UnbuiltShape | None:
        note_unknown(item, ("origin", "geometry", "material"), ("name",), self.notices)
        X_LG = read_origin(item, self.notices, self.report)
        geometry = only_child(item, "geometry", self.report)
        content = geometry.children if geometry is not None else []
        if len(content) != 1:
            where = geometry.where if geometry is not None else item.where
            text = f"a collision needs one geometry, found {len(content)}; allowed: {listing(_GEOMETRIES)}"
            self.report.error(where, "missing-element", text, "make one collision of each")
            return None
        kind = content[0]
        if kind.tag == _MESH:
            return self._mesh(kind, name, X_LG)
        if kind.tag in _LENGTHS:
            return self._primitive(kind, name, X_LG)
        text = f"unknown geometry <{kind.tag}>; allowed: {listing(_GEOMETRIES)}"
        self.report.error(kind.where, "unknown-element", text, did_you_mean(kind.tag, _GEOMETRIES) or "make it of these")
        return None

    def _primitive(self, kind: Element, name: str, X_LG: Pose) -> Shape | UnbuiltShape | None:
        lengths = _LENGTHS[kind.tag]
        note_unknown(kind, (), [a for a, _ in lengths], self.notices)
        params: list[float] = []
        for attribute, n in lengths:
            values = read_numbers(kind, attribute, n, self.report) if require(kind, attribute, self.report) else None
            if values is not None and check_bounds(kind, attribute, values, self.report, above=0.0):
                params.extend(values)
        if len(params) != sum(n for _, n in lengths):
            return None
        if kind.tag not in registry("shapes"):
            return UnbuiltShape(name, kind.tag, f"{kind.tag} shapes are not supported yet", kind.where)
        return Shape(name, kind.tag, tuple(params), X_LG, self.material, "", kind.where)

    def _mesh(self, mesh: Element, name: str, X_LG: Pose) -> Shape | None:
        note_unknown(mesh, (), ("filename", "scale"), self.notices)
        scale = read_numbers(mesh, "scale", 3, self.report) if "scale" in mesh.attributes else (1.0, 1.0, 1.0)
        if scale is not None and 0.0 in scale:
            self.report.error(mesh.at("scale"), "out-of-range", "a scale of 0 leaves nothing of the mesh", "give its size")
            scale = None
        address = read_name(mesh, "filename", self.report)
        if not address or scale is None:
            return None
        found = mesh_of_file(address, self.file, as_vec3(scale), DEFAULT_USE, mesh.where, self.sources, self.report)
        return Shape(name, found.kind, (), X_LG, self.material, "", mesh.where, mesh=found)
