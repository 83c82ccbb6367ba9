"""A scene as peers want it: rigid bodies with one joint each, shapes, and the pairs of shapes that are tested.

Read from the Model that sapsim itself advances, so that masses, frames, start states, materials and pairs are its own.
"""

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sapsim.bench.engine import Unfit
from sapsim.kinds.base import registry
from sapsim.model.build import Model
from sapsim.scene.poses import matrix

CONSTRAINTS = ("limit", "pd")  # kinds that `Body` tells of


@dataclass(frozen=True)
class Drive:
    """All that drives a joint: clip(-kp (q - target) - kd (v - target_velocity) + feedforward, +- limit) [N or N m].

    q and v are those of the step's end where an engine can.
    """

    kp: float
    kd: float
    target: float
    target_velocity: float
    feedforward: float
    limit: float

    @property
    def bias(self) -> float:
        """What does not depend on q and v, unbounded."""
        return self.kp * self.target + self.kd * self.target_velocity + self.feedforward


@dataclass(frozen=True)
class Body:
    """A moving body B and its joint; M is B's own frame.  Axes of B, moments about the mass centre.

    Fields:
        parent: the body that carries it, -1 = world.
        kind: of the joint; floats: whether that leaves the body free in the world.
        S: (6, nv) columns [omega; v] of its motion in F where its coordinates are neutral.
        q, v: at the start, as files hold them; v of a floating joint is [v_com, omega].
        armature, damping, stiffness, reference: of the joint, the same for all its degrees of freedom.
        lower, upper: its limits, infinite where it has none.
        drive: what drives it, or None.
        weightless: whether gravity does not act on it, while it acts on others.
    """

    parent: int
    kind: str
    floats: bool
    p_PF: np.ndarray
    R_PF: np.ndarray
    axis: np.ndarray
    S: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    q: np.ndarray
    v: np.ndarray
    armature: float
    damping: float
    stiffness: float
    reference: float
    lower: float
    upper: float
    drive: Drive | None
    weightless: bool

    @property
    def limited(self) -> bool:
        return math.isfinite(self.lower) or math.isfinite(self.upper)

    def motions(self) -> list[tuple[bool, np.ndarray]]:
        """The columns of S as (whether it turns, its direction): joints one after another that make this one.

        Right where each is carried along by those before it, or does not change under them.
        """
        return [(True, s[:3]) if s[:3].any() else (False, s[3:]) for s in self.S.T]

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
    """Raises Unfit for what no peer is told: forces, constraints, dry friction, drives of a joint under a common bound."""
    m = model.arrays
    if m["force_frame"].size:
        raise Unfit("applied forces are not translated")
    if scene.constraints:
        raise Unfit("constraints are not translated")
    if any(j.friction > 0.0 for j in scene.joints):
        raise Unfit("dry joint friction is not translated")
    refuse_kinds("constraints", model.constraints.kinds, CONSTRAINTS)
    used = sorted({*m["pair_a"].tolist(), *m["pair_b"].tolist()})
    place = {shape: i for i, shape in enumerate(used)}
    pairs = {(place[a], place[b]) for a, b in zip(m["pair_a"].tolist(), m["pair_b"].tolist(), strict=True)}
    shapes = _shapes(scene, m)
    chosen = [shapes[i] for i in used]
    return Mechanism(_bodies(scene, model), chosen, pairs, np.asarray(scene.gravity), scene.time_step, scene.contact.law)


def at_state(m: Mechanism, model: Model, joint_q: np.ndarray, joint_qd: np.ndarray) -> Mechanism:
    """The mechanism with another start: joint_q (nq,), joint_qd (nv,), as files hold them."""
    own = model.arrays
    inside = np.zeros(model.sizes["nq"])
    inside[own["coordinate_from"]] = joint_q
    bodies = []
    for b, body in enumerate(m.bodies):
        first = own["body_q_start"][b]
        bodies.append(replace(body, q=inside[first : first + len(body.q)], v=joint_qd[own["dof_to_body"] == b]))
    return replace(m, bodies=bodies)


def _joint_of_body(model: Model) -> dict[int, int]:
    """The joint, as an index of the scene's, that carries each body."""
    found, starts = {}, model.joint_q_start
    body_of = {int(first): b for b, first in enumerate(model.arrays["body_q_start"])}
    for j in range(len(model.joint_names)):
        first = int(model.arrays["coordinate_from"][starts[j]]) if starts[j] < starts[j + 1] else -1
        if first in body_of:  # a locked joint carries none
            found[body_of[first]] = j
    return found


def _drive(name: str, actuators: Iterable[Any]) -> Drive | None:
    """One drive for the actuators of a joint.  Raises Unfit where theirs is no single one."""
    actuators = list(actuators)
    gains = [a for a in actuators if a.has_gains]
    if any(hasattr(x, "times") for a in actuators for x in (a.target, a.target_velocity, a.feedforward, a.effort)):
        raise Unfit("inputs over time are not translated")
    effort = sum(a.effort for a in actuators if not a.has_gains)
    if not gains:
        return Drive(0.0, 0.0, 0.0, 0.0, effort, math.inf) if effort else None
    alone = len(gains) == 1 and not effort and -gains[0].lowest == gains[0].highest
    free = all((a.lowest, a.highest, a.sum_bounds) == (-math.inf, math.inf, None) for a in gains)
    if not alone and not free:
        raise Unfit(f"drives of joint {name} under a common bound are not translated")
    if gains[0].highest <= 0.0:  # a joint that cannot be driven
        return None
    kp, kd = sum(a.kp for a in gains), sum(a.kd for a in gains)
    target = sum(a.kp * a.target for a in gains) / kp if kp else 0.0
    target_velocity = sum(a.kd * a.target_velocity for a in gains) / kd if kd else 0.0
    feedforward = effort + sum(a.feedforward for a in gains)
    return Drive(kp, kd, target, target_velocity, feedforward, gains[0].highest)


def _bodies(scene: Any, model: Model) -> list[Body]:
    joint_of = _joint_of_body(model)
    driving: dict[str, list[Any]] = {}
    for actuator in scene.actuators:
        driving.setdefault(actuator.joint, []).append(actuator)
    m, kinds = model.arrays, list(registry("joints").values())
    inside = np.zeros(model.sizes["nq"])
    inside[m["coordinate_from"]] = model.q0
    bodies = []
    for b, code in enumerate(m["body_joint"]):
        kind, first, dof = kinds[code], m["body_q_start"][b], m["body_dof_start"][b]
        scalars = {name: float(m[f"dof_{name}"][0, dof]) for name in ("armature", "damping", "stiffness", "reference")}
        axis, axis2 = m["body_axis"][0, b], m["body_axis2"][0, b]
        joint = scene.joints[joint_of[b]]
        own_gravity = m["tree_gravity"][0, m["body_tree"][b]]
        body = Body(
            parent=int(m["body_parent"][b]),
            kind=kind.name,
            floats=kind.needs_world,
            p_PF=m["body_p_PF"][0, b],
            R_PF=matrix(tuple(m["body_Q_PF"][0, b])),
            axis=axis,
            S=np.asarray(kind.S_F(axis, axis2, kind.neutral)),
            mass=float(m["body_mass"][0, b]),
            com=m["body_com"][0, b],
            inertia=m["body_inertia"][0, b],
            q=inside[first : first + kind.nq],
            v=model.qd0[m["dof_to_body"] == b],
            **scalars,
            lower=joint.limit.lower,
            upper=joint.limit.upper,
            drive=_drive(joint.name, driving.get(joint.name, ())),
            weightless=bool(np.any(own_gravity != scene.gravity)),
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


def translated(bodies: list[Body], poses: Iterable[np.ndarray]) -> np.ndarray:
    """The poses of the bodies that have mass, as Engine.poses has them; those without only join others."""
    return np.array([X for body, X in zip(bodies, poses, strict=True) if body.mass > 0.0]).reshape(-1, 3, 4)


def has_manifolds(model: Model) -> bool:
    """Whether any tested pair of shapes can touch in more than one point."""
    kinds = list(registry("pairs").values())
    return any(kinds[code // 2].max_points > 1 for code in set(model.pairs.kind.tolist()))


def refuse_kinds(what: str, used: Iterable[str], known: Container[str]) -> None:
    """Raises Unfit where a kind is used that a peer has no translation of."""
    unknown = sorted({name for name in used if name not in known})
    if unknown:
        raise Unfit(f"{what} {', '.join(unknown)}: not translated")
