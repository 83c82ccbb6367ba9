"""The collision shapes of a read scene as they are built: meshes become convex shapes, what cannot be used is only named.

It comes after everything that may change a shape or ask for its volume.
"""

from collections.abc import Iterable
from dataclasses import replace

from sapsim.kinds.base import registry
from sapsim.scene.mesh import NOT_YET, PlacedHull
from sapsim.scene.poses import compose
from sapsim.scene.report import Report
from sapsim.scene.spec import WORLD, Inertial, Link, Pose, Scene, Shape, UnbuiltShape
from sapsim.scene.unused import check_shapes


def build_shapes(scene: Scene, geometry: bool, report: Report) -> Scene:
    """The scene with shapes of kinds that there are.  Without `geometry` no mesh is read, and all of them are only named."""
    links = []
    for link in scene.links:
        shapes, unbuilt = _split(link.shapes, geometry and link.collide)
        links.append(replace(link, shapes=shapes, unbuilt=(*unbuilt, *link.unbuilt)))
    world, unbuilt = _split(scene.world_shapes, geometry)
    check_shapes((*links, Link(WORLD, WORLD, Inertial(), unbuilt=unbuilt)), geometry, report)
    return replace(scene, links=tuple(links), world_shapes=world)


def _split(shapes: Iterable[Shape], wanted: bool) -> tuple[tuple[Shape, ...], tuple[UnbuiltShape, ...]]:
    built: list[Shape] = []
    unbuilt: list[UnbuiltShape] = []
    for shape in shapes:
        if shape.mesh is None:
            built.append(shape)
            continue
        reason, hint, hulls = _of_mesh(shape, wanted)
        if hulls:
            built.extend(_convex(shape, hulls))
        else:
            unbuilt.append(UnbuiltShape(shape.name, shape.kind, reason, shape.where, hint))
    return tuple(built), tuple(unbuilt)


def _of_mesh(shape: Shape, wanted: bool) -> tuple[str, str, tuple[PlacedHull, ...]]:
    """Why a mesh cannot be used, or "", and how to mend that; and its hulls, where they are wanted."""
    source = shape.mesh.source
    hulls = shape.mesh.hulls() if wanted else None
    failed = source.failed or source.missing
    if failed is not None:
        return ("" if source.told else f"{source.name}: {failed}"), failed.hint, ()
    if shape.kind not in registry("shapes") or hulls == ():
        return NOT_YET[shape.kind], "", ()
    return "", "", hulls or ()


def _convex(shape: Shape, hulls: tuple[PlacedHull, ...]) -> list[Shape]:
    """A shape for each hull, with its origin in the hull's middle."""
    names = [shape.name] if len(hulls) == 1 else [f"{shape.name}/part{i}" for i in range(len(hulls))]
    return [
        replace(shape, name=name, X_LG=compose(shape.X_LG, Pose(placed.middle)), hull=placed.hull, mesh=None)
        for name, placed in zip(names, hulls, strict=True)
    ]
