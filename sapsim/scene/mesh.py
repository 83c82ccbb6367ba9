"""Meshes of collision shapes: read when they are needed, with a warning for everything about them that should be looked at.

A reader makes a `Mesh` for a shape; its mass properties are asked for where the scene does not give them, and its convex
hulls where collision geometry is wanted (built_shapes.py).  What cannot be used is a MeshError.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sapsim.scene import decompose
from sapsim.scene.hull import MAX_VERTICES, ConvexHull, FlatError, convex_hull, reduced_hull, size_of
from sapsim.scene.inertials import impossible
from sapsim.scene.mesh_cache import cached_hulls
from sapsim.scene.mesh_file import SUFFIXES, MeshError, read_mesh_file
from sapsim.scene.mesh_keys import DEFAULT_USE, SHAPES_OF_MESHES
from sapsim.scene.poses import as_vec3
from sapsim.scene.report import Report, did_you_mean
from sapsim.scene.sources import Sources
from sapsim.scene.spec import Inertial, Vec3, Where
from sapsim.scene.surface import MOST, Surface
from sapsim.scene.triangles import CLOSED, OPEN, Triangles, clean, largest_side, solid, turned_sides, volume

LARGE = 10.0  # [m] side of a body that is probably in another unit
LARGE_SURFACE = 1.0e3  # the same of a surface: a hall, a terrain
SMALL = 1.0e-4  # [m]
ADDED = 1.0e-3  # volume that a hull adds, over that of the mesh, that is told; tessellated round parts add less
ADDED_BY_PARTS = 0.05
DEEP = 1.0e-3  # depth of points of an open mesh in its hull, over the size, that is told
# Digits that files have: 1e-7 in STL, 1e-6 in most texts.  Corners of one face are that far from a plane, over the coordinates.
DIGITS = 1.0e-6
CACHED = 200  # corners from which a hull takes longer than reading it from the disk


@dataclass(frozen=True)
class Placed:
    """A hull about the middle of its volume, or a surface about that of its box, and where the middle is in the mesh [m]: the
    ball about it that holds it is small."""

    middle: Vec3
    hull: ConvexHull | None = None
    surface: Surface | None = None


@dataclass(eq=False)
class MeshSource:
    """Where a mesh comes from.  What is found out about it is found, and told, once.

    Fields:
        name: how messages name it.
        read () -> corners (n, 3) and triangles (m, 3) [m, before `scale`]; raises MeshError.
        scale: along the axes of the mesh; an odd number of negative ones mirrors it.
        where: the place that names it.
        missing: why it cannot be read, where that is known already.
        failed: the MeshError, once one has come up; `told`: whether it has been reported.
    """

    name: str
    read: Callable[[], tuple[np.ndarray, np.ndarray]]
    scale: Vec3
    where: Where
    report: Report
    missing: MeshError | None = None
    failed: MeshError | None = None
    told: bool = False
    _triangles: Triangles | None = field(default=None, init=False)
    _turned: bool = field(default=False, init=False)
    _solid: Inertial | None = field(default=None, init=False)
    _placed: dict[str, tuple[Placed, ...]] = field(default_factory=dict, init=False)

    def warn(self, code: str, text: str, hint: str = "") -> None:
        """A warning at the mesh's place."""
        self.report.warn(self.where, code, f"{self.name}: {text}", hint)

    def tell_failure(self) -> None:
        """An error at the mesh's place, where it cannot be used."""
        if self.failed is not None:
            self.report.error(self.where, "unusable-mesh", f"{self.name}: {self.failed}", self.failed.hint)
            self.told = True

    def triangles(self) -> Triangles:
        """The mesh, scaled."""
        if self._triangles is None:
            if self.missing is not None:
                raise self.missing
            vertices, faces = self.read()
            mirrored = np.prod(np.sign(self.scale)) < 0.0
            self._triangles = clean(vertices * np.asarray(self.scale), faces[:, ::-1] if mirrored else faces)
            self._tell_findings(self._triangles)
        return self._triangles

    def _tell_findings(self, mesh: Triangles) -> None:
        if mesh.dropped:
            few = f"{mesh.dropped} triangle{'s' * (mesh.dropped != 1)} without area"
            self.warn("mesh-degenerate", f"{few} left out, of {mesh.dropped + len(mesh.faces)}", "repair the mesh")

    def body(self) -> Triangles:
        """The mesh of a body: with a warning where it has been turned round, as the inside of a hall never is."""
        mesh = self.triangles()
        if mesh.reversed and not self._turned:
            self._turned = True
            self.warn("mesh-reversed", "all triangles are turned inside out; they are turned round", "turn them in the file")
        return mesh

    def tell_size(self, points: np.ndarray, large: float = LARGE) -> None:
        """A warning where the size of a mesh suggests another unit."""
        side = largest_side(points)
        if side > large:
            self.warn("probable-unit", f"its longest side is {side:.6g} m", "a mesh in millimetres needs scale 0.001")
        if side < SMALL:
            self.warn("probable-unit", f"its longest side is {side:.6g} m", "is its scale, or its unit, applied twice?")

    def solid(self) -> Inertial:
        """Mass properties at a density of 1 kg/m^3: of the mesh where it bounds a volume, else of its hull."""
        if self._solid is None:
            mesh = self.body()
            hull = self.whole_hull()
            of_hull = solid(hull.vertices, hull.triangles)
            bounds = mesh.state == CLOSED and volume(mesh.vertices, mesh.faces) > 0.0
            own = solid(mesh.vertices, mesh.faces) if bounds else None
            # A body is not larger than its hull: else parts of the mesh lie in others, and count twice.
            sound = own is not None and own.mass <= of_hull.mass * (1.0 + ADDED)
            if sound and not impossible(np.asarray(own.inertia)):
                self._solid = own
            else:
                self._tell_not_closed(mesh, of_hull.mass)
                self._solid = of_hull
        return self._solid

    def _tell_not_closed(self, mesh: Triangles, of_hull: float) -> None:
        reasons = {OPEN: "the mesh is open", CLOSED: "parts of the mesh overlap"}
        reason = reasons.get(mesh.state, "triangles of the mesh are turned against each other")
        raw = volume(mesh.vertices, mesh.faces)
        text = f"{reason}; mass properties are those of its hull, {of_hull:.6g} m^3 (its triangles add up to {raw:.6g} m^3)"
        self.warn("mesh-not-closed", text, "close the mesh, or give mass, com and inertia")

    def tolerance(self) -> float:
        """How far from a plane corners of a face may be, over the size."""
        points = self.triangles().vertices
        return DIGITS * max(1.0, float(np.abs(points).max()) / size_of(points))

    def whole_hull(self) -> ConvexHull:
        """The convex hull with all its corners."""
        points = self.triangles().vertices
        self.tell_size(points)
        tolerance = self.tolerance()

        def make() -> list[ConvexHull]:
            return [convex_hull(points, tolerance)]

        try:
            return (cached_hulls(f"hull {tolerance!r}", [points], make) if len(points) >= CACHED else make())[0]
        except FlatError as error:
            raise MeshError(f"its corners are {error}, and have no volume", "a body needs a volume") from error

    def placed(self, use: str) -> tuple[Placed, ...]:
        """The geometry of a way to collide."""
        if use not in self._placed:
            self._placed[use] = _PLACED[use](self)
        return self._placed[use]


def _centred(hull: ConvexHull) -> Placed:
    middle = hull.volume_properties()[1]
    return Placed(as_vec3(middle), ConvexHull(hull.vertices - middle, hull.faces))


@dataclass(frozen=True, eq=False)
class Mesh:
    """A mesh, and how it collides: a key of SHAPES_OF_MESHES."""

    source: MeshSource
    use: str = DEFAULT_USE

    @property
    def kind(self) -> str:
        """The kind of shapes that it becomes."""
        return SHAPES_OF_MESHES[self.use]

    def used_as(self, use: str) -> "Mesh":
        """The same mesh, colliding in another way."""
        return replace(self, use=use)

    def solid(self) -> Inertial | None:
        """Mass properties at a density of 1 kg/m^3; None where it cannot be used, with `source.failed`."""
        return self._tried(self.source.solid)

    def placed(self) -> tuple[Placed, ...] | None:
        """The shapes that it becomes, always the same objects; None where it cannot be used, with `source.failed`."""
        return self._tried(lambda: self.source.placed(self.use))

    def _tried(self, get: Callable):
        if self.source.failed is not None:
            return None
        try:
            return get()
        except MeshError as error:
            self.source.failed = error
            return None


def _one_hull(source: MeshSource) -> tuple[Placed, ...]:
    """`as: hull`: with a warning where the hull fills what the mesh leaves free."""
    mesh, hull = source.body(), source.whole_hull()
    hint = "choose `as: decompose` where the difference matters"
    if mesh.state == CLOSED:
        _tell_added([hull], volume(mesh.vertices, mesh.faces), "its hull", ADDED, source, hint)
    else:
        depth = _depth(mesh.vertices, hull)
        if depth > DEEP * size_of(mesh.vertices):
            text = f"the mesh is open, and its hull covers points of it that are up to {depth:.6g} m deep"
            source.warn("concave-mesh", text, hint)
    return (_centred(_reduced(hull, source)),)


def _parts(source: MeshSource) -> tuple[Placed, ...]:
    """`as: decompose`."""
    mesh = source.body()
    source.whole_hull()  # flat meshes are no bodies
    arrays, tolerance = [mesh.vertices, mesh.faces], source.tolerance()
    recipe = f"{decompose.recipe()} {tolerance!r}"
    parts = cached_hulls(recipe, arrays, lambda: decompose.decompose(*arrays, tolerance))
    if mesh.state != CLOSED:
        source.warn("mesh-not-closed", "it bounds no volume; its convex parts follow its surface", "close the mesh")
    else:
        hint = "mend the mesh where the difference matters"
        _tell_added(parts, volume(*arrays), f"its {len(parts)} convex parts", ADDED_BY_PARTS, source, hint)
    return tuple(_centred(_reduced(part, source)) for part in parts)


def _surface(source: MeshSource) -> tuple[Placed, ...]:
    """`as: surface`: the triangles themselves, turned as in the file."""
    mesh = source.triangles()
    faces = mesh.faces[:, ::-1] if mesh.reversed else mesh.faces
    if len(mesh.faces) > MOST:
        raise MeshError(f"{len(mesh.faces)} triangles; at most {MOST} are allowed", "simplify the mesh")
    source.tell_size(mesh.vertices, LARGE_SURFACE)
    turned = turned_sides(faces)
    if turned:
        text = f"{turned} side{'s' * (turned != 1)} of triangles that are turned against each other"
        source.warn("mesh-turned", text, "a surface is felt from the side from which corners run anticlockwise")
    middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
    flat = source.tolerance() * size_of(mesh.vertices)
    return (Placed(as_vec3(middle), surface=Surface(mesh.vertices - middle, faces, flat)),)


_PLACED = {"hull": _one_hull, "decompose": _parts, "surface": _surface}


def _tell_added(hulls, own: float, what: str, limit: float, source: MeshSource, hint: str) -> None:
    """A warning where hulls are larger than the volume of their mesh."""
    added = sum(volume(h.vertices, h.triangles) for h in hulls) - own
    if added > limit * own:
        verb = "adds" if len(hulls) == 1 else "add"
        text = f"the mesh is concave: {what} {verb} {added:.6g} m^3, {100.0 * added / own:.3g} % of its volume"
        source.warn("concave-mesh", text, hint)


def _depth(points: np.ndarray, hull: ConvexHull) -> float:
    """How deep the deepest of the points lies in a hull [m]."""
    depth = np.full(len(points), np.inf)
    for normal, face in zip(hull.normals, hull.faces, strict=True):
        depth = np.minimum(depth, (hull.vertices[face[0]] - points) @ normal)
    return float(depth.max())


def _reduced(hull: ConvexHull, source: MeshSource) -> ConvexHull:
    """A hull of so few corners that contact with it is quick, with a warning of what it loses."""
    if len(hull.vertices) <= MAX_VERTICES:
        return hull
    tolerance = source.tolerance()
    recipe = f"reduced {MAX_VERTICES} {tolerance!r}"
    (found,) = cached_hulls(recipe, [hull.vertices], lambda: [reduced_hull(hull, MAX_VERTICES, tolerance)])
    before = volume(hull.vertices, hull.triangles)
    lost = before - volume(found.vertices, found.triangles)
    text = f"its hull has {len(hull.vertices)} corners, of which {MAX_VERTICES} are kept"
    text += f"; that takes {lost:.3g} m^3 off, {100.0 * lost / before:.2g} %"
    source.warn("reduced-hull", text, "give collision geometry of fewer triangles")
    return found


def mesh_of_file(address: str, beside: Path, scale: Vec3, use: str, where: Where, sources: Sources, report: Report) -> Mesh:
    """The mesh of a file that is named at `where`, in the file `beside`."""
    path, missing = missing_file(address, beside, sources, SUFFIXES)

    def read() -> tuple[np.ndarray, np.ndarray]:
        return read_mesh_file(path, sources.allows)

    return Mesh(MeshSource(address, read, scale, where, report, missing), use)


def missing_file(address: str, beside: Path, sources: Sources, suffixes: tuple[str, ...]) -> tuple[Path, MeshError | None]:
    """The path of a file, and why it cannot be read, where that is known already."""
    path, problem = sources.find(address, beside)
    if path is None:
        return Path(address), MeshError(problem, _hint(address, beside, sources, suffixes))
    return path, None


def _hint(address: str, beside: Path, sources: Sources, suffixes: tuple[str, ...]) -> str:
    """What to do about a file that is not there, or may not be read."""
    path = beside.parent / address
    if "://" in address:
        return "see `packages`, and --package NAME=DIR"
    if not sources.allows(path):
        return f"allow it on the command line: --allow {path.parent}"
    if os.path.isdir(path):
        return ""
    try:
        near = [p.name for p in path.parent.iterdir() if p.suffix.lower() in suffixes and p.is_file()]
    except (OSError, ValueError):  # no such folder, or a name that none can have
        near = []
    return did_you_mean(path.name, near)
