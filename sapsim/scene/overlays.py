"""Overlays: what a scene changes of a model's links and joints, alike for all formats (contract 1.3).

An instance's overlay comes after that of its model.  A mass without an inertia scales the inertia; a com without one
leaves the inertia about the com as it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

from sapsim.kinds.base import JointKind, registry
from sapsim.scene.grammar import Items, Section
from sapsim.scene.inertials import UNKNOWN, from_shapes, read_moments
from sapsim.scene.limits import read_limit
from sapsim.scene.materials import Materials, read_shapes, with_material
from sapsim.scene.models import Model, ModelJoint, ModelLink
from sapsim.scene.report import Report, did_you_mean, listing
from sapsim.scene.spec import Inertial, Limit, Shape

_LINK_KEYS = ("material", "collision_off", "mass", "com", "inertia", "meshes")
# Keys of a joint's overlay that are values of the joint.
_JOINT_VALUES = tuple(
    f.name for f in fields(ModelJoint) if f.name in ("damping", "friction", "armature", "stiffness", "reference", "locked")
)


def overlaid(model: Model, section: Section, materials: Materials, report: Report) -> Model:
    """The model with the `links` and `joints` of a section of overlays; the model itself where it has none."""
    links: Section | None = section.get("links")
    joints: Section | None = section.get("joints")
    if not model.known or (links is None and joints is None):
        return model
    changed = replace(model, links=dict(model.links), joints=dict(model.joints))
    for name, overlay in (links or {}).items():
        if _known(name, overlay, "link", model.link_names, model, report) and name in model.links:
            changed.links[name] = overlay_link(model.links[name], overlay, materials, report)
    for name, overlay in (joints or {}).items():
        if _known(name, overlay, "joint", model.joint_names, model, report) and name in model.joints:
            changed.joints[name] = _overlay_joint(model.joints[name], overlay, report)
    return changed


def changed_links(model: Model, links: Mapping[str, Section], materials: Materials, report: Report) -> Model:
    """The model with what its own links say beside `inertial` and `collision`: a material, another mass."""
    for name, section in links.items():
        if name in model.links and section.given(*_LINK_KEYS):
            model.links[name] = overlay_link(model.links[name], section, materials, report, adds=False)
    return model


def _known(name: str, overlay: Section, noun: str, known: Iterable[str], model: Model, report: Report) -> bool:
    if name in known:
        return True
    text = f'unknown {noun} "{name}"; {noun}s of model {model.name}: {listing(known)}'
    report.error(overlay.where(), "unknown-name", text, did_you_mean(name, known))
    return False


def overlay_link(link: ModelLink, overlay: Section, materials: Materials, report: Report, adds: bool = True) -> ModelLink:
    """The link with an overlay; `adds` False where `collision` holds the link's own shapes, which it has already."""
    shapes = link.shapes
    if overlay.get("collision_off", False):
        shapes = ()
    if "meshes" in overlay:
        shapes = _used_as(shapes, overlay["meshes"])
    if "material" in overlay:
        name = overlay["material"]
        material = materials.find(name, overlay.where("material"), report)
        shapes = with_material(shapes, name, material, all_of_them=True)
    added = read_shapes(overlay.get("collision", Items()), materials, report) if adds else ()
    if "material" in overlay:
        added = with_material(added, name, material)
    _check_names(shapes, added, overlay, report)
    inertial, keys = _overlay_inertial(link, overlay, (*shapes, *added))
    where = overlay.where(keys[0]) if keys else link.inertial_where
    return replace(link, shapes=(*shapes, *added), inertial=inertial, inertial_where=where)


def _used_as(shapes, use: str):
    """The shapes with their meshes colliding in another way."""
    changed = [(s, s.mesh.used_as(use)) if getattr(s, "mesh", None) is not None else (s, None) for s in shapes]
    return tuple(s if mesh is None else replace(s, kind=mesh.kind, mesh=mesh) for s, mesh in changed)


def _check_names(shapes, added, overlay: Section, report: Report) -> None:
    taken = {s.name for s in shapes if s.name}
    for shape in added:
        if shape.name in taken:
            text = f'shape "{shape.name}" is in the model already'
            report.error(overlay.where("collision"), "duplicate-name", text, "choose another name")


def _overlay_inertial(link: ModelLink, overlay: Section, shapes) -> tuple[Inertial, list[str]]:
    """The link's mass properties, and which keys changed them."""
    keys = [k for k in ("mass", "com", "inertia") if overlay.given(k)]
    if overlay.broken("mass", "com", "inertia"):
        return UNKNOWN, keys
    own = link.inertial
    if "mass" in overlay:
        own = _with_mass(own, overlay["mass"], "inertia" in overlay, shapes)
    if "com" in overlay:
        own = replace(own, com=overlay["com"])
    if "inertia" in overlay:
        rows = read_moments(overlay["inertia"])
        if rows is None:
            return UNKNOWN, keys
        own = replace(own, inertia=rows)
    return own, keys


def _with_mass(own: Inertial, mass: float, has_inertia: bool, shapes) -> Inertial:
    """Another mass, the inertia in proportion; of a link that had none, from its shapes, if they have a volume."""
    if has_inertia:
        return replace(own, mass=mass)
    if own.mass > 0.0:
        rows = tuple(tuple(mass / own.mass * x for x in row) for row in own.inertia)
        return replace(own, mass=mass, inertia=rows)
    solids = [s for s in shapes if isinstance(s, Shape)]
    found = from_shapes(solids, mass=mass) if mass > 0.0 and len(solids) == len(shapes) else None
    return found if found is not None else replace(own, mass=mass)


def _check_values(values: dict[str, float], overlay: Section, kind: JointKind, report: Report) -> None:
    """Values that a kind of joint cannot have."""
    if kind.nv > 1 and values.get("stiffness", 0.0) > 0.0:
        text = f"a {kind.name} joint has {kind.nv} degrees of freedom; `stiffness` needs a joint with one"
        report.error(overlay.where("stiffness"), "not-one-dof", text, "remove it")
    for key in values if kind.nv == 0 else ():
        report.warn(overlay.where(key), "no-effect", f"`{key}` has no effect on a {kind.name} joint", "remove it")


def _overlay_joint(joint: ModelJoint, overlay: Section, report: Report) -> ModelJoint:
    """The joint with an overlay.  Made fixed, it holds its child where its zero coordinates have it."""
    values = overlay.only(*_JOINT_VALUES)
    kind: JointKind | None = registry("joints").get(overlay.get("type", joint.kind))
    if kind is not None:
        _check_values(values, overlay, kind, report)
    limit = read_limit(overlay.get("limit"), joint.limit, kind, report)
    if "type" not in overlay:
        return replace(joint, **values, limit=limit)
    held = {"damping": 0.0, "armature": 0.0, "friction": 0.0, "limit": Limit(), "mimic": None, "locked": False}
    return replace(joint, kind=overlay["type"], **held)
