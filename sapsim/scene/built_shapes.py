"""The collision shapes of a read scene as they are built: meshes become convex shapes or surfaces, what cannot be used is only
named.

It comes after everything that may change a shape or ask for its volume.
"""

from collections.abc import Iterable
from dataclasses import replace

from sapsim.scene.bodies import group_links
from sapsim.scene.mesh import Placed
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
    _tell_moving(replace(scene, links=tuple(links)), report)
    check_shapes((*links, Link(WORLD, WORLD, Inertial(), unbuilt=unbuilt)), geometry, report)
    return replace(scene, links=tuple(links), world_shapes=world)


def _tell_moving(scene: Scene, report: Report) -> None:
    """A warning for every surface that moves."""
    for group in group_links(scene)[1:] if any(s.surface for link in scene.links for s in link.shapes) else ():
        for shape in (s for link, _ in group.members for s in scene.links[link].shapes if s.surface):
            text = f'surface "{shape.name}" moves: it touches convex shapes, but no planes and no other surfaces'
            report.warn(shape.where, "moving-surface", text, "a body of hulls: as: hull, or as: decompose")


def _split(shapes: Iterable[Shape], wanted: bool) -> tuple[tuple[Shape, ...], tuple[UnbuiltShape, ...]]:
    built: list[Shape] = []
    unbuilt: list[UnbuiltShape] = []
    for shape in shapes:
        if shape.mesh is None:
            built.append(shape)
            continue
        reason, hint, placed = _of_mesh(shape, wanted)
        if placed:
            built.extend(_shapes(shape, placed))
        else:
            unbuilt.append(UnbuiltShape(shape.name, shape.kind, reason, shape.where, hint))
    return tuple(built), tuple(unbuilt)


def _of_mesh(shape: Shape, wanted: bool) -> tuple[str, str, tuple[Placed, ...]]:
    """Why a mesh cannot be used, or "", and how to mend that; and its geometry, where it is wanted."""
    source = shape.mesh.source
    placed = shape.mesh.placed() if wanted else None
    failed = source.failed or source.missing
    if failed is not None:
        return ("" if source.told else f"{source.name}: {failed}"), failed.hint, ()
    return "", "", placed or ()


def _shapes(shape: Shape, placed: tuple[Placed, ...]) -> list[Shape]:
    """A shape for each part of the geometry, with its origin in the part's middle."""
    names = [shape.name] if len(placed) == 1 else [f"{shape.name}/part{i}" for i in range(len(placed))]
    return [
        replace(shape, name=name, X_LG=compose(shape.X_LG, Pose(part.middle)), hull=part.hull, surface=part.surface, mesh=None)
        for name, part in zip(names, placed, strict=True)
    ]
