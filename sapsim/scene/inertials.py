"""Mass properties on the host: from collision shapes, about other points, of several links together."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sapsim.kinds.base import registry
from sapsim.scene.grammar import Section
from sapsim.scene.poses import as_vec3, matrix
from sapsim.scene.report import Report
from sapsim.scene.spec import Inertial, Mat33, Pose, Shape, Vec3, Where

# How far a principal moment may exceed the sum of the other two, relative to that sum (contract 1.7).
TRIANGLE_TOLERANCE = 1.0e-5
HEAVY = 1.0e5  # [kg] mass of a mesh that is probably in another unit
# Stands for a mass that could not be read: no check fires on it, and the scene is refused for the fault already found.
UNKNOWN = Inertial(mass=math.nan)


def as_mat33(a: np.ndarray) -> Mat33:
    """A symmetric matrix as nested tuples, its halves made equal."""
    s = 0.5 * (a + a.T)
    return (as_vec3(s[0]), as_vec3(s[1]), as_vec3(s[2]))


@dataclass
class MassSum:
    """Mass m [kg], first moment m c [kg m], inertia about the frame's origin [kg m^2], summed over parts.

    `scale` is the size of the terms that were added to the inertia; it bounds the round-off of the sum.
    """

    mass: float
    first: np.ndarray
    second: np.ndarray
    scale: float = 0.0
    parts: int = 0

    @staticmethod
    def of(parts: Iterable[tuple[Inertial, Pose]]) -> "MassSum":
        """The sum over (inertial, X_FB), in the frame F."""
        total = MassSum(0.0, np.zeros(3), np.zeros((3, 3)))
        for inertial, X_FB in parts:
            R_FB = matrix(X_FB.q)
            c_F = np.asarray(X_FB.p) + R_FB @ np.asarray(inertial.com)
            I_F = R_FB @ np.asarray(inertial.inertia) @ R_FB.T
            total.mass += inertial.mass
            total.first += inertial.mass * c_F
            total.second += I_F + inertial.mass * (c_F @ c_F * np.eye(3) - np.outer(c_F, c_F))
            total.scale += np.abs(I_F).max() + inertial.mass * (c_F @ c_F)
            total.parts += 1
        return total

    @property
    def com(self) -> np.ndarray:
        """Centre of mass [m]; the origin where there is no mass."""
        return self.first / self.mass if self.mass > 0.0 else np.zeros(3)

    @property
    def about_com(self) -> np.ndarray:
        """Inertia about the centre of mass [kg m^2], axes of the frame."""
        c = self.com
        return self.second - self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def inertial(self) -> Inertial:
        """As mass, com and inertia."""
        return Inertial(float(self.mass), as_vec3(self.com), as_mat33(self.about_com))

    @property
    def round_off(self) -> float:
        """Below this a moment is zero: the error of the sums, and none where a single part was taken as it stands."""
        return 0.0 if self.parts < 2 else 64.0 * np.finfo(float).eps * self.scale


def impossible(inertia: np.ndarray, round_off: float = 0.0) -> str:
    """Why no rigid body has this inertia about its com, or "" where one can.

    Principal moments must be positive, and none above the sum of the other two.
    """
    if not np.isfinite(inertia).all():
        return ""
    a, b, c = (float(x) for x in np.linalg.eigvalsh(inertia))
    if a <= round_off:
        return f"principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2: each must be > 0"
    if c > (1.0 + TRIANGLE_TOLERANCE) * (a + b) + round_off:
        return f"principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2: {c:.6g} > {a:.6g} + {b:.6g} = {a + b:.6g}"
    return ""


def _solid(shape: Shape) -> tuple[float, Vec3, np.ndarray] | None:
    """Volume [m^3], its centre [m] and moments per unit mass about that [m^2], in the shape's frame; None without a volume."""
    if shape.mesh is not None:
        own = shape.mesh.solid()
        return None if own is None else (own.mass, own.com, np.asarray(own.inertia) / own.mass)
    if shape.hull is not None:
        volume, com, moments = shape.hull.volume_properties()
        return volume, as_vec3(com), moments
    kind = registry("shapes")[shape.kind]
    volume = kind.volume(shape.params)
    return None if volume is None else (volume, kind.com(shape.params), np.diag(kind.unit_inertia(shape.params)))


def solids(shapes: Sequence[Shape]) -> bool:
    """Whether there are shapes, and all of them have a volume."""
    return bool(shapes) and all(_solid(s) is not None for s in shapes)


def from_shapes(shapes: Sequence[Shape], *, mass: float | None = None, density: float | None = None) -> Inertial | None:
    """The inertial of shapes of one density: given, or such that they weigh `mass`.  None where one has no volume.

    Shapes that overlap count twice, as in every composite of volumes.
    """
    found = [_solid(s) for s in shapes]
    if not found or any(s is None for s in found):
        return None
    if density is None:
        density = mass / sum(volume for volume, _, _ in found)
    parts = []
    for shape, (volume, com, moments) in zip(shapes, found, strict=True):
        m = density * volume
        parts.append((Inertial(m, com, as_mat33(moments * m)), shape.X_LG))
    if len(parts) == 1 and shapes[0].X_LG == Pose():
        own = parts[0][0]
        return own if mass is None else Inertial(mass, own.com, own.inertia)
    total = MassSum.of(parts).inertial()
    return total if mass is None else Inertial(mass, total.com, total.inertia)


def read_moments(section: Section) -> Mat33 | None:
    """The matrix of an `inertia` section; None where a part of it was refused."""
    if not {"ixx", "iyy", "izz"} <= set(section) or section.broken("ixy", "ixz", "iyz"):
        return None
    xy, xz, yz = (section.get(k, 0.0) for k in ("ixy", "ixz", "iyz"))
    return ((section["ixx"], xy, xz), (xy, section["iyy"], yz), (xz, yz, section["izz"]))


def read_inertial(
    section: Section | None, shapes: Sequence[Shape], complete: bool, report: Report, lenient: bool = False
) -> Inertial:
    """The Inertial of an `inertial` section (contract 1); a link without one has no mass.

    `complete` says whether all of the link's shapes could be read; UNKNOWN where a fault was found here or there.  `lenient`:
    an inertia that cannot be known is zero, for a policy to settle (inertia_policy.py).
    """
    if section is None:
        return Inertial()
    if section.broken("mass", "density", "com", "inertia") or not section.given("mass", "density"):
        return UNKNOWN
    if "inertia" in section:
        rows = read_moments(section["inertia"])
        if rows is None:
            return UNKNOWN
        return Inertial(section.get("mass", math.nan), section.get("com", (0.0, 0.0, 0.0)), rows)
    if lenient and "mass" in section and ("com" in section or not solids(shapes)):
        return Inertial(section["mass"], section.get("com", (0.0, 0.0, 0.0)))
    if "com" in section:
        text = "`com` without `inertia`: the inertia about a given com cannot be known from the shapes"
        report.error(section.where("com"), "missing-inertia", text, "add `inertia`, or take both from the shapes")
        return UNKNOWN
    if not complete:
        return UNKNOWN
    return _inertial_of_shapes(section, shapes, section.where(), report)


def _inertial_of_shapes(given: Section, shapes: Sequence[Shape], where: Where, report: Report) -> Inertial:
    if given.get("mass") == 0.0:
        return Inertial()
    found = from_shapes(shapes, mass=given.get("mass"), density=given.get("density"))
    meshes = [s.mesh.source for s in shapes if s.mesh is not None]
    if found is None and any(source.failed for source in meshes):
        for source in meshes:
            source.tell_failure()
        return UNKNOWN
    if found is None:
        what = "a plane has none" if shapes else "there is none"
        text = f"inertia is to come from the volumes of the collision shapes, and {what}"
        report.error(where, "missing-inertia", text, "give mass, com and inertia")
        return UNKNOWN
    if meshes and found.mass > HEAVY and "density" in given:
        text = f"a mesh of this density weighs {found.mass:.6g} kg"
        report.warn(given.where("density"), "probable-unit", text, "a mesh in millimetres needs scale 0.001")
    return found


def body_inertial(body: Section, shape: Shape | None, report: Report) -> Inertial:
    """The Inertial of an entry of `bodies` with its single shape (None: not readable)."""
    if shape is None or body.broken("mass", "density") or not body.given("mass", "density"):
        return UNKNOWN
    return _inertial_of_shapes(body, (shape,), body.where(), report)
