"""A scene as peers want it: rigid bodies with one joint each, shapes, and the pairs of shapes that are tested.

Read from the Model that sapsim itself advances, so that masses, frames, start states, materials and pairs are its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sapsim.bench.engine import Unfit
from sapsim.kinds.base import registry
from sapsim.model.build import Model
from sapsim.scene.poses import matrix


@dataclass(frozen=True)
class Body:
    """A moving body B and its joint; M is B's own frame.  Axes of B, moments about the mass centre.

    Fields:
        parent: the body that carries it, -1 = world.
        kind: of the joint; floats: whether that leaves the body free in the world.
        q, v: at the start, as files hold them; v of a floating joint is [v_com, omega].
        armature, damping, stiffness, reference: of the joint, the same for all its degrees of freedom.
    """

    parent: int
    kind: str
    floats: bool
    p_PF: np.ndarray
    R_PF: np.ndarray
    axis: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    q: np.ndarray
    v: np.ndarray
    armature: float
    damping: float
    stiffness: float
    reference: float

    def floating_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """R_WB, p_WB of a floating body at the start."""
        return self.R_PF @ matrix(tuple(self.q[3:])), self.p_PF + self.R_PF @ self.q[:3]

    def floating_twist(self) -> tuple[np.ndarray, np.ndarray]:
        """omega_WB, v_WBo of a floating body at the start, world axes."""
        R_WB, _ = self.floating_pose()
        return self.v[3:], self.v[:3] - np.cross(self.v[3:], R_WB @ self.com)


@dataclass(frozen=True)
class Geometry:
    """A shape on a body (-1: the world): kind, size in the order of kinds/shapes (half lengths), placement, surface."""

    body: int
    kind: str
    size: np.ndarray
    p_BG: np.ndarray
    R_BG: np.ndarray
    stiffness: float
    dissipation: float
    relaxation_time: float
    friction: float


@dataclass(frozen=True)
class Mechanism:
    """The whole: `pairs` are places (a, b) in `shapes`, a < b.  A shape that no pair has is left out."""

    bodies: list[Body]
    shapes: list[Geometry]
    pairs: set[tuple[int, int]]
    gravity: np.ndarray
    time_step: float
    law: str


def mechanism(scene: Any, model: Model) -> Mechanism:
    """Raises Unfit for what peers are not told: forces, gravity of single models, limits, actuators, constraints, friction."""
    m = model.arrays
    if m["force_frame"].size:
        raise Unfit("applied forces are not translated")
    if any(np.isfinite(j.limit.lower) or np.isfinite(j.limit.upper) for j in scene.joints):
        raise Unfit("joint limits are not translated")
    if scene.actuators:
        raise Unfit("actuators are not translated")
    if scene.constraints:
        raise Unfit("constraints are not translated")
    if any(j.friction > 0.0 for j in scene.joints):
        raise Unfit("dry joint friction is not translated")
    gravity = np.unique(m["tree_gravity"][0], axis=0)
    if len(gravity) > 1:
        raise Unfit("models with and without gravity are not translated")
    used = sorted({*m["pair_a"].tolist(), *m["pair_b"].tolist()})
    place = {shape: i for i, shape in enumerate(used)}
    pairs = {(place[a], place[b]) for a, b in zip(m["pair_a"].tolist(), m["pair_b"].tolist(), strict=True)}
    shapes = _shapes(scene, m)
    g = gravity[0] if len(gravity) else np.asarray(scene.gravity)
    return Mechanism(_bodies(model), [shapes[i] for i in used], pairs, g, scene.time_step, scene.contact.law)


def _bodies(model: Model) -> list[Body]:
    m, kinds = model.arrays, list(registry("joints").values())
    inside = np.zeros(model.sizes["nq"])
    inside[m["coordinate_from"]] = model.q0
    bodies = []
    for b, code in enumerate(m["body_joint"]):
        kind, first, dof = kinds[code], m["body_q_start"][b], m["body_dof_start"][b]
        scalars = {name: float(m[f"dof_{name}"][0, dof]) for name in ("armature", "damping", "stiffness", "reference")}
        body = Body(
            parent=int(m["body_parent"][b]),
            kind=kind.name,
            floats=kind.needs_world,
            p_PF=m["body_p_PF"][0, b],
            R_PF=matrix(tuple(m["body_Q_PF"][0, b])),
            axis=m["body_axis"][0, b],
            mass=float(m["body_mass"][0, b]),
            com=m["body_com"][0, b],
            inertia=m["body_inertia"][0, b],
            q=inside[first : first + kind.nq],
            v=model.qd0[m["dof_to_body"] == b],
            **scalars,
        )
        bodies.append(body)
    return bodies


def _shapes(scene: Any, m: dict[str, np.ndarray]) -> list[Geometry]:
    """In the order of the model: the world's, then the links'."""
    shapes = [*scene.world_shapes, *(shape for link in scene.links for shape in link.shapes)]
    placed = (m["shape_body"], m["shape_size"][0], m["shape_p_BG"][0], m["shape_R_BG"][0], m["shape_material"][0])
    return [
        Geometry(int(body), shape.kind, size, p_BG, R_BG, *map(float, material))
        for shape, body, size, p_BG, R_BG, material in zip(shapes, *placed, strict=True)
    ]


def has_manifolds(model: Model) -> bool:
    """Whether any tested pair of shapes can touch in more than one point."""
    kinds = list(registry("pairs").values())
    return any(kinds[code // 2].max_points > 1 for code in set(model.pairs.kind.tolist()))


def refuse_kinds(what: str, used: list[str], known: dict[str, Any]) -> None:
    """Raises Unfit where a kind is used that a peer has no translation of."""
    unknown = sorted(set(used) - set(known))
    if unknown:
        raise Unfit(f"{what} {', '.join(unknown)}: not translated")
