"""The resolved Scene: what a scene file means, with every name expanded, every default filled in, and SI units.

Plain frozen dataclasses, no Warp and no trimesh.  Readers (`scene/formats`) produce it, `model/build.py` consumes it.
Models and instances are gone by then: links and joints carry their full names (`arm/elbow`, `ball`).  Lists keep the
file's order, which is the order of the result file.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from sapsim.scene.hull import ConvexHull
from sapsim.scene.surface import Surface

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]  # xyzw
Mat33 = tuple[Vec3, Vec3, Vec3]

WORLD = "world"


@dataclass(frozen=True)
class Where:
    """A place in a file: 1-based line and column, and the path of the key (`bodies.ball.mass`)."""

    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""


@dataclass(frozen=True)
class Pose:
    """Placement of a frame: position [m] and unit quaternion xyzw."""

    p: Vec3 = (0.0, 0.0, 0.0)
    q: Quat = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Material:
    """Contact properties of one surface."""

    stiffness: float = 1.0e6  # [N/m]
    dissipation: float = 50.0  # [s/m]
    relaxation_time: float = 0.1  # [s]
    friction: float = 0.5  # [-]


@dataclass(frozen=True)
class Shape:
    """A collision shape of a link or the world; `params` as in the file (kinds/shapes), `X_LG` its pose in the link."""

    name: str
    kind: str
    params: tuple[float, ...]
    X_LG: Pose
    material: Material
    material_name: str = ""
    where: Where = Where()
    bits: tuple[int, int] = (1, 1)  # two shapes may meet where the first of one and the second of the other share a bit
    hull: ConvexHull | None = None  # of a convex shape, in the shape's frame; its params are empty
    surface: Surface | None = None  # of a surface, in the shape's frame; its params are empty
    mesh: Any = None  # mesh.Mesh until the shape is built (built_shapes.py)


@dataclass(frozen=True)
class UnbuiltShape:
    """A collision shape of which only the name is known; `reason` says why, "" where geometry was not asked for."""

    name: str
    kind: str
    reason: str = ""
    where: Where = Where()
    hint: str = ""  # how to mend it


@dataclass(frozen=True)
class Inertial:
    """Mass [kg], centre of mass [m] in the link frame, inertia [kg m^2] about it in the link's axes."""

    mass: float = 0.0
    com: Vec3 = (0.0, 0.0, 0.0)
    inertia: Mat33 = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Link:
    """A rigid link.  `instance` is the instance (or body) it belongs to; `collide` False where `collision: false`."""

    name: str
    instance: str
    inertial: Inertial
    shapes: tuple[Shape, ...] = ()
    collide: bool = True
    gravity: bool = True
    self_collision: bool = True
    where: Where = Where()
    inertial_where: Where = Where()
    unbuilt: tuple[UnbuiltShape, ...] = ()
    inertia_policy: str = "error"  # error | estimate | fix: what the reader did about an inertia that cannot be


@dataclass(frozen=True)
class Limit:
    """Bounds of a joint: coordinate [m or rad], |force| [N or N m], |velocity| [m/s or rad/s].

    The coordinate's bounds and the bound of the sum of a joint's actuators are kept; that of the velocity is not enforced yet.
    """

    lower: float = -math.inf
    upper: float = math.inf
    effort: float = math.inf
    velocity: float = math.inf


@dataclass(frozen=True)
class Mimic:
    """q = multiplier q_joint + offset, with the leading joint's name; becomes a coupler among the scene's constraints."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint.  `X_PF`: the joint frame on the parent link (in world where parent is WORLD); M is the child's frame.

    `q0` (nq), `qd0` (nv) are the initial external coordinates and velocities (contract 3: floating joint_q = [p, q
    xyzw], joint_qd = [v_com, omega] in world axes).
    """

    name: str
    kind: str
    parent: str
    child: str
    X_PF: Pose = Pose()
    axis: Vec3 = (1.0, 0.0, 0.0)
    q0: tuple[float, ...] = ()
    qd0: tuple[float, ...] = ()
    damping: float = 0.0  # [N s/m or N m s/rad]
    armature: float = 0.0  # [kg or kg m^2]
    friction: float = 0.0  # dry friction [N or N m], of each degree of freedom
    limit: Limit = Limit()
    mimic: Mimic | None = None
    collide: bool = False
    stiffness: float = 0.0  # [N/m or N m/rad] of the spring -stiffness (q - reference), one-coordinate joints only
    reference: float = 0.0  # [m or rad]
    axis2: Vec3 = (0.0, 1.0, 0.0)  # unit vector, of a universal joint only
    pitch: float = 0.0  # [m/rad], of a screw only
    locked: bool = False  # held at q0 (scene/locking.py)
    where: Where = Where()


@dataclass(frozen=True)
class Series:
    """A value over time, taken at the start of each step and held outside the range.

    Fields:
        times: strictly ascending [s].
        values: as many numbers, or vectors.
        hold: each value lasts until the next time; else linear in between.
    """

    times: tuple[float, ...]
    values: tuple[Any, ...]
    hold: bool = False


@dataclass(frozen=True)
class Force:
    """A force and torque on a link, in steps with from - h/2 <= t_k < until - h/2; `point` in link coordinates [m]."""

    name: str
    link: str
    force: Vec3 | Series = (0.0, 0.0, 0.0)  # [N]
    torque: Vec3 | Series = (0.0, 0.0, 0.0)  # [N m]
    point: Vec3 = (0.0, 0.0, 0.0)
    frame: str = "world"  # world | link
    start: float = float("-inf")  # [s]
    until: float = float("inf")  # [s]
    where: Where = Where()


@dataclass(frozen=True)
class Attachment:
    """A frame on a link, or on WORLD, at which a constraint acts; `X_LP` its pose there."""

    link: str
    X_LP: Pose = Pose()


@dataclass(frozen=True)
class Constraint:
    """An entry of `constraints`, or a `mimic` of a joint: what its kind (kinds/constraints) takes of these.

    `joints` of one degree of freedom with `coefficients`, `ratio`, `offset`, and bounds of their sum; or frames `a` and `b`.
    """

    name: str
    kind: str
    joints: tuple[str, ...] = ()
    coefficients: tuple[float, ...] = ()
    ratio: float = 1.0
    offset: float = 0.0  # [m or rad]
    lower: float = -math.inf
    upper: float = math.inf
    a: Attachment | None = None
    b: Attachment | None = None
    length: float = 0.0  # [m]
    stiffness: float = math.inf  # [N/m]
    damping: float = 0.0  # [N s/m]
    unilateral: bool = False
    where: Where = Where()


@dataclass(frozen=True)
class Actuator:
    """A drive of a joint of one degree of freedom [N or N m]; with gains

        u = clip(-kp (q - target) - kd (v - target_velocity) + feedforward, lowest, highest),

    implicit in q and v, with target, its velocity and feedforward of the step's start; without gains u = `effort`.
    `effort_limit` is the actuator's own bound; `lowest`, `highest` and `effort` are what is left within it and the bound of
    the joint's sum; where several with gains share that bound, it is `sum_bounds` of each of them.
    """

    name: str
    joint: str
    kp: float = 0.0  # [N/m or N m/rad]
    kd: float = 0.0  # [N s/m or N m s/rad]
    target: float | Series = 0.0  # [m or rad]
    target_velocity: float | Series = 0.0  # [m/s or rad/s]
    feedforward: float | Series = 0.0
    effort_limit: float = math.inf
    lowest: float = -math.inf
    highest: float = math.inf
    effort: float | Series = 0.0  # a Series is bounded in the step, with `effort_limit` and the joint's bound
    sum_bounds: tuple[float, float] | None = None
    where: Where = Where()

    @property
    def has_gains(self) -> bool:
        return self.kp > 0.0 or self.kd > 0.0


@dataclass(frozen=True)
class Contact:
    """Contact settings (contract 1)."""

    law: str = "lagged"
    stiction_tolerance: float = 1.0e-4  # [m/s]
    near_rigid: float = 1.0
    sigma: float = 1.0e-3
    margin: float = 0.0  # [m]


@dataclass(frozen=True)
class Solver:
    """Solver settings (contract 1)."""

    absolute_tolerance: float = 1.0e-14
    relative_tolerance: float = 1.0e-6
    cost_absolute_tolerance: float = 1.0e-30
    cost_relative_tolerance: float = 1.0e-15
    max_iterations: int = 100
    line_search: str = "exact"
    linear_solver: str = "auto"
    form: str = "v_star"
    islands: bool = True
    on_failure: str = "continue"


@dataclass(frozen=True)
class Output:
    """What is recorded (contract 1)."""

    every: int = 1
    channels: tuple[str, ...] = ("state", "contacts", "solver")
    dtype: str = "float64"
    compression: str = "gzip"
    flush_seconds: float = 5.0
    worlds: tuple[int, ...] | None = None  # None: all


@dataclass(frozen=True)
class Expect:
    """One checked quantity (contract 1.8).  `at` is "end", "all" or a time [s]; one of value, min, max is given."""

    target: str  # link | joint | world | solver
    name: str  # the link's or joint's name; "" for world and solver
    quantity: str
    at: str | float = "end"
    value: float | None = None
    min: float | None = None
    max: float | None = None
    atol: float = 0.0
    rtol: float = 0.0
    worlds: tuple[int, ...] | None = None
    where: Where = Where()


@dataclass(frozen=True)
class Scene:
    """A whole resolved scene."""

    name: str
    file: str
    time_step: float  # h [s]
    steps: int
    gravity: Vec3 = (0.0, 0.0, -9.81)
    contact: Contact = Contact()
    solver: Solver = Solver()
    links: tuple[Link, ...] = ()
    joints: tuple[Joint, ...] = ()
    world_shapes: tuple[Shape, ...] = ()
    forces: tuple[Force, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()  # pairs of link names (or WORLD), all patterns expanded
    nworld: int = 1
    seed: int = 0
    output: Output = Output()
    expect: tuple[Expect, ...] = ()
    warnings: tuple[Any, ...] = ()  # errors.Message
    text: str = ""  # the file as read
    resolved: str = ""  # the resolved scene as YAML
    overrides: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
