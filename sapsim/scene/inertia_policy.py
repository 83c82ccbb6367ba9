"""Inertia policies of models, `inertia: error | estimate | fix` (contract 1.7): what is put in where a body cannot move.

Only what would be refused is changed, and every change is a warning with its place, link, joint, old and new numbers.

**A joint that moves no mass**, the last one of a branch.  `fix`: its link gets a solid sphere of water of 10 g at its origin.
`estimate`: every link of the body gets its collision shapes, of water; where none has a volume, as `fix`.

**A moving body of impossible inertia**: every link of it that is impossible by itself is changed; its mass and com stay.
(What possible bodies make together is possible.)
`fix`: the nearest possible inertia, in the sense of Frobenius.  Its axes are the same; with the principal moments a <= b <= c,
where c exceeds a + b by d, c loses d/3 and the others gain d/3 each.  Where a is still not positive, the nearest is a rod
without thickness, (0, t, t) with t = (b + c) / 2: it becomes (t/1000, t, t).  Where t is not positive, the nearest is none at
all: it becomes that of a solid sphere of water of the link's mass.
`estimate`: the inertia of its collision shapes, filled evenly with the link's mass; where they have no volume, or not all of
them are known, that of the sphere.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from sapsim.scene.bodies import LinkGroup, group_links
from sapsim.scene.inertials import as_mat33, from_shapes, impossible
from sapsim.scene.physical import is_refused, massless_groups, place_of
from sapsim.scene.report import Report
from sapsim.scene.spec import Inertial, Link, Scene, Where

POLICIES = ("error", "estimate", "fix")
WATER = 1000.0  # [kg/m^3]
NOMINAL_MASS = 0.01  # [kg] of a link of which nothing is known
ROUND_OFF = 1.0e-12  # of a principal moment over the largest: what is smaller is not positive
THIN = 1.0e-3  # smallest moment of a rod over its others, where the nearest rod has none


def settle_inertias(scene: Scene, report: Report) -> Scene:
    """The scene with what the policies of its models put in; the scene itself where they say `error`."""
    if all(link.inertia_policy == "error" for link in scene.links):
        return scene
    told: set[Where] = set()
    scene = _give_mass(scene, told, report)
    return _make_possible(scene, told, report)


def sphere_of_water(mass: float) -> Inertial:
    """A solid sphere about the link's origin: r = (3 m / 4 pi rho)^(1/3), I = 2/5 m r^2."""
    r = (3.0 * mass / (4.0 * math.pi * WATER)) ** (1.0 / 3.0)
    return Inertial(mass, (0.0, 0.0, 0.0), as_mat33(0.4 * mass * r * r * np.eye(3)))


def nearest_possible(inertia: np.ndarray) -> np.ndarray | None:
    """The inertia that `fix` puts in for an impossible one; None where the nearest is zero."""
    moments, axes = np.linalg.eigh(inertia)  # ascending
    excess = max(moments[2] - moments[0] - moments[1], 0.0)
    nearest = moments + excess / 3.0 * np.array([1.0, 1.0, -1.0])
    if nearest[0] <= ROUND_OFF * nearest[2]:
        nearest = 0.5 * (moments[1] + moments[2]) * np.array([THIN, 1.0, 1.0])
    return axes @ np.diag(nearest) @ axes.T if nearest[0] > 0.0 else None


def _give_mass(scene: Scene, told: set[Where], report: Report) -> Scene:
    """Mass for the joints that move none."""
    groups = group_links(scene)
    new: dict[int, tuple[Inertial, str]] = {}
    for g in massless_groups(scene, groups, [is_refused(group) for group in groups]):
        group = groups[g]
        policy = scene.links[group.root].inertia_policy
        if policy == "error":
            continue
        found = _masses_of_shapes(scene, group) if policy == "estimate" else {}
        found = found or {group.root: (sphere_of_water(NOMINAL_MASS), f"a sphere of {NOMINAL_MASS:g} kg of water")}
        new |= found
        for i in found:
            scene = _changed(scene, i, lambda old, i=i: _added(old, new[i][0]))
            text = f'link "{scene.links[i].name}" moves on {_joint(scene, group)} without mass (S^T I S = 0)'
            _tell(scene.links[i], f"{text}; put in: {new[i][1]}, {_numbers(scene.links[i].inertial)}", told, report)
    return scene


def _masses_of_shapes(scene: Scene, group: LinkGroup) -> dict[int, tuple[Inertial, str]]:
    found = {}
    for i, _ in group.members:
        solid = _of_shapes(scene.links[i], density=WATER)
        if solid is not None:
            found[i] = (solid, "its collision shapes, of water")
    return found


def _make_possible(scene: Scene, told: set[Where], report: Report) -> Scene:
    """Inertias for the links that make a moving body impossible."""
    for group in group_links(scene):
        if not is_refused(group):
            continue
        for i, _ in group.members:
            link = scene.links[i]
            old = np.asarray(link.inertial.inertia)
            reason = impossible(old)
            if link.inertia_policy == "error" or not reason or (link.inertial.mass <= 0.0 and not old.any()):
                continue
            new, how = _possible(link)
            scene = _changed(scene, i, lambda own, new=new: replace(own, inertia=as_mat33(new)))
            text = f'link "{link.name}" on {_joint(scene, group)}: impossible inertia, {reason}'
            shown = ", ".join(f"{x:.6g}" for x in np.linalg.eigvalsh(new))
            _tell(link, f"{text}; put in: {how}, principal moments {shown} kg m^2", told, report)
    return scene


def _possible(link: Link) -> tuple[np.ndarray, str]:
    """The inertia that the link's policy puts in, and what it is."""
    mass = link.inertial.mass
    if link.inertia_policy == "estimate" and mass > 0.0:
        solid = _of_shapes(link, mass=mass)
        if solid is not None:
            return np.asarray(solid.inertia), "that of its collision shapes"
    else:
        nearest = nearest_possible(np.asarray(link.inertial.inertia))
        if nearest is not None:
            return nearest, "the nearest possible"
    if mass > 0.0:
        return np.asarray(sphere_of_water(mass).inertia), f"that of a sphere of {mass:g} kg of water"
    return np.zeros((3, 3)), "none, for it has no mass"


def _of_shapes(link: Link, *, mass: float | None = None, density: float | None = None) -> Inertial | None:
    """The inertial of a link's shapes; None where one is only named or has no volume."""
    return None if link.unbuilt else from_shapes(link.shapes, mass=mass, density=density)


def _added(old: Inertial, new: Inertial) -> Inertial:
    """Mass for a link without; an inertia that it had is kept on top."""
    return Inertial(new.mass, new.com, as_mat33(np.asarray(new.inertia) + np.asarray(old.inertia)))


def _changed(scene: Scene, i: int, change: Callable[[Inertial], Inertial]) -> Scene:
    links = list(scene.links)
    links[i] = replace(links[i], inertial=change(links[i].inertial))
    return replace(scene, links=tuple(links))


def _joint(scene: Scene, group: LinkGroup) -> str:
    joint = scene.joints[group.joint]
    return f'{joint.kind} joint "{joint.name}"'


def _numbers(own: Inertial) -> str:
    moments = np.linalg.eigvalsh(np.asarray(own.inertia))
    return f"mass {own.mass:.6g} kg, com {_list(own.com)} m, principal moments {_list(moments)[1:-1]} kg m^2"


def _list(values: Iterable[float]) -> str:
    return "[" + ", ".join(f"{x:.6g}" for x in values) + "]"


def _tell(link: Link, text: str, told: set[Where], report: Report) -> None:
    """One warning for each place: a model that is placed twice is changed alike."""
    where = place_of(link)
    if where not in told:
        done = "estimated" if link.inertia_policy == "estimate" else "fixed"
        report.warn(where, f"inertia-{done}", f"{text} (inertia: {link.inertia_policy})", "give the link what it really has")
    told.add(where)
