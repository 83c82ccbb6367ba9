"""The plug-in seams: protocols of the kinds, and the registry that finds them.

A kind is one file in `kinds/<family>/` that defines `KIND`, whose name is the file's name.  A file adds its kind by being
there: no list is edited.  Host data of a kind (names, sizes, units, mass properties) is plain Python, so that scenes are
read without Warp; device code comes from its `make(R)`, which imports Warp when it is called.

Device dispatch: a family's functions are chained over all registered kinds, in order of `code`.  All kinds are always in
the chain, so the set of kinds that a scene uses never causes a compilation.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np


def random_coordinates(kind: "JointKind", rng: np.random.Generator) -> np.ndarray:
    """Coordinates that are angles and positions: uniform in +-pi and in +-1 m."""
    half = np.array([np.pi if unit == "rad" else 1.0 for unit in kind.q_units])
    return rng.uniform(-half, half)


def difference_of_coordinates(q0: Sequence[float], q1: Sequence[float]) -> np.ndarray:
    """That of coordinates whose rates are the velocities."""
    return np.asarray(q1, float) - np.asarray(q0, float)


def no_bracket(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """That of rates of coordinates, which commute."""
    return np.zeros_like(x)


def bracket_of_rotations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """That of angular velocities (..., 3) in axes that do not turn with the body: R-dot = [x] R gives [y][x] R - [x][y] R."""
    return -np.cross(x, y)


Bound = tuple[Sequence[float], Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class JointKind:
    """A joint type.

    Fields:
        name: the type's name in scene files.
        nq, nv: numbers of position coordinates and of degrees of freedom.
        uses_axis: whether `axis` means something.
        q_names, q_units, v_names, v_units: names and units of the external coordinates and velocities.
        neutral: the external coordinates at rest, nq numbers.
        moves: False where the joint only attaches (fixed).
        needs_world: True where the parent must be the world (floating).
        bounded: whether `limit` may have lower and upper (where it has one degree of freedom).
        default_axis: the axis where the file gives none.
        X_FM (axis, axis2, q) -> (p_FM, Q_FM): the joint's placement on the host; the quaternion need not be normalised.
        S_F (axis, axis2, q) -> (6, nv): the motion subspace on the host, [rotation; translation of Mo], axes of F.
        make: (R) -> JointFuncs.
        second_axis (joint: scene.spec.Joint) -> vector: what device code gets as axis2; zero where there is none.
        own_keys: keys of scene files that only this type of joint has (`axis2`, `pitch`).
        random (kind, rng) -> (nq,): coordinates for tests: any rotation, angles in +-pi, positions in +-1 m.
        difference (q0, q1) -> (nv,): the velocity that takes q0 to q1 in a step of one second, axes of F: internal
            velocities of step_q with R_WF = 1.
        bracket (x, y) -> (..., nv): the Lie bracket [x, y] of the fields of internal velocities with constant entries x, y
            (..., nv); zero where velocities are rates of coordinates.
    """

    name: str
    nq: int
    nv: int
    uses_axis: bool
    q_names: tuple[str, ...]
    q_units: tuple[str, ...]
    v_names: tuple[str, ...]
    v_units: tuple[str, ...]
    neutral: tuple[float, ...]
    X_FM: Callable[[Sequence[float], Sequence[float], Sequence[float]], tuple[Sequence[float], Sequence[float]]]
    S_F: Callable[[Sequence[float], Sequence[float], Sequence[float]], np.ndarray]
    make: Callable[[Any], "JointFuncs | None"]
    moves: bool = True
    needs_world: bool = False
    bounded: bool = True
    default_axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    second_axis: Callable[[Any], tuple[float, float, float]] = lambda joint: (0.0, 0.0, 0.0)
    own_keys: tuple[str, ...] = ()
    random: Callable[["JointKind", np.random.Generator], np.ndarray] = random_coordinates
    difference: Callable[[Sequence[float], Sequence[float]], np.ndarray] = difference_of_coordinates
    bracket: Callable[[np.ndarray, np.ndarray], np.ndarray] = no_bracket


@dataclass(frozen=True)
class JointFuncs:
    """Device functions of a joint.  F is the joint frame on the parent, M the joint frame on the child; M is the child's own
    frame, as in URDF.  `q`, `v` are the world's coordinate arrays, `iq`, `iv` the joint's first entries.

    Fields:
        X_FM (axis, axis2, q, w, iq) -> (vec3, quat): the joint's placement.
        S_W (axis, axis2, R_WF, q, w, iq, k) -> vec6: column k of the motion subspace, [rotation; translation of Mo],
            world axes.
        bias_F (axis, axis2, q, v, w, iq, iv) -> vec6: relative acceleration in F at zero joint acceleration.
        step_q (q, v, w, iq, iv, h, R_WF) -> int: q <- q + h N(q) v in place, on the joint's manifold.
        to_external (v, w, iv, k, p_BoBcm_W) -> real: entry k of the joint's velocities in files, from the internal ones.
        from_external (v, w, iv, k, p_BoBcm_W) -> real: the inverse.

    q, v are arrays (world, entry); v in internal order and padding.
    """

    X_FM: Any
    S_W: Any
    bias_F: Any
    step_q: Any
    to_external: Any
    from_external: Any


@dataclass(frozen=True)
class ShapeKind:
    """A collision shape.

    Fields:
        name: the key in scene files.
        nparam: how many lengths the key takes (1: a number, 3: a list, 0: an empty mapping).
        keys: names of the lengths where the file gives them as a mapping, in the order of params; else empty.
        size (params) -> three numbers of the device code [m].
        volume (params) -> [m^3], or None where the shape has none.
        unit_inertia (params) -> principal moments per unit mass about the centre [m^2], three numbers.
        radius (size) -> radius of a ball about the shape's origin that holds it [m]; inf for unbounded shapes.
        bound (size) -> (low, high, semi-axes): a box and an ellipsoid about the origin, in the shape's axes, whose sum holds
            the shape [m]; coordinates of the box may be infinite.  None: the ball of `radius`.
        com (params) -> its centre of volume in its frame [m].
        written: whether scene files name it; False for what only a mesh becomes.
        convex: (R, Hulls, Scratch) -> ConvexFuncs of a bounded convex shape (kinds/convexity.py), or a part; None for others.
        parts: whether it is made of convex parts, which meet other shapes one by one (collide/parts.py).
    """

    name: str
    nparam: int
    size: Callable[[tuple[float, ...]], tuple[float, float, float]]
    volume: Callable[[tuple[float, ...]], float | None]
    unit_inertia: Callable[[tuple[float, ...]], tuple[float, float, float] | None]
    radius: Callable[[tuple[float, float, float]], float]
    keys: tuple[str, ...] = ()
    bound: Callable[[tuple[float, float, float]], Bound] | None = None
    com: Callable[[tuple[float, ...]], tuple[float, float, float]] = lambda params: (0.0, 0.0, 0.0)
    written: bool = True
    convex: "Callable[[Any, Any, Any], ConvexFuncs] | None" = None
    parts: bool = False


@dataclass(frozen=True)
class ConvexFuncs:
    """Device functions by which a convex shape takes part in the generic pair.  All in the shape's frame.

    The shape is all points within `rounding` of a core (a sphere's is its centre); support and face are the core's.

    Fields:
        support (size, hulls, w, n) -> vec3: a point of the core farthest along n, which need not be a unit vector.
        rounding (size) -> real: [m].
        face (size, hulls, w, n: unit vector, scratch, row: vec2i, turned: int) -> (count: int, normal: vec3): the polygon
            (count >= 3, anticlockwise about its outward normal), segment (2) or point (1) of the core's surface that faces n
            and holds the support point; at most 32 corners, written with their names (kinds/convexity.py).
    """

    support: Any
    rounding: Any
    face: Any


def bound_of(kind: ShapeKind, size: tuple[float, float, float]) -> Bound:
    """The bound of a shape of a kind."""
    if kind.bound is not None:
        return kind.bound(size)
    none = (0.0, 0.0, 0.0)
    return none, none, (kind.radius(size),) * 3


@dataclass(frozen=True)
class PairKind:
    """A geometry pair.

    Fields:
        name: "<a>_<b>".
        a, b: names of the two shape kinds, in the order the device function takes them.
        max_points: the most points it writes.
        make (R, PointBuffer) -> device function
            collide(size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33, margin: real,
                    out: PointBuffer, w: int, base: int) -> (count: int, nhat_AB_W: vec3)
          It writes count points to slots base .. base + count - 1 of row w of `out`: `p` the witness point on A's surface
          [m, world], `depth` > 0 where the shapes overlap [m], `feature` an id that is unique in the manifold and stays
          with the same features from step to step.  The witness on B is p - depth * nhat_AB_W.
        generic: whether it also stands for every two convex shapes that have no pair of their own; where b has parts, for
            every convex shape and b.
        aside: whether the stage `convex` runs it too though `make` is enough: every function in the chain of the narrow phase
            makes the compiled code of all others slower (three more, 7 % of a step of twenty mixed bodies).
        make_convex: instead of `make` for pairs that need vertices or room to work in, which the stage `convex` runs
            (collide/convex.py): (R, PointBuffer, Convexity: kinds/convexity.py) -> device function
            collide(a: Solid, p_WA: vec3, b: Solid, p_WB: vec3, margin: real, hulls: Hulls, scratch: Scratch, row: vec2i,
                    out: PointBuffer, w: int, base: int) -> (count: int, nhat_AB_W: vec3).
    """

    name: str
    a: str
    b: str
    max_points: int
    make: Callable[[Any, Any], Any] | None = None
    generic: bool = False
    aside: bool = False
    make_convex: Callable[[Any, Any, Any], Any] | None = None

    @property
    def in_convex_stage(self) -> bool:
        """Whether the stage `convex` runs it, not `narrowphase`."""
        return self.aside or self.make_convex is not None


@dataclass(frozen=True)
class ContactLaw:
    """A contact law: convex cost l(vc), impulse gamma = -dl/dvc, Hessian G = -dgamma/dvc (symmetric, PSD).

    Fields:
        name: the value of `contact.law`.
        code: the value of the attribute `contact_law` is the name; the code only orders.
        make (R) -> LawFuncs.
        softens: whether it has a near-rigid limit, which makes contacts softer than their materials.
    """

    name: str
    make: Callable[[Any], "LawFuncs"]
    softens: bool = False


@dataclass(frozen=True)
class LawFuncs:
    """Device functions of a contact law.  `row` (vec8) holds what is frozen for the step.

    Fields:
        prepare (h, k, d, tau, mu, depth, vn0, w, p: LawParams vec4 = (sigma, stiction_tolerance, near_rigid, 0)) -> vec8 row.
        cost (row, vc) -> real [J].
        gamma (row, vc) -> vec3 [N s].
        hessian (row, vc) -> mat33 [kg].
        stiffness (row, h) -> real: the stiffness as realised [N/m].
        near_rigid (row) -> bool: whether the near-rigid limit acts.
    """

    prepare: Any
    cost: Any
    gamma: Any
    hessian: Any
    stiffness: Any
    near_rigid: Any


@dataclass(frozen=True)
class ConstraintRow:
    """A scalar row of a constraint that stands in the problem whenever its kind's `prepare` finds it active.

    Fields:
        name: its name in the result file.
        joint: index into `scene.joints` of the joint on which it acts.
        sign: vc = sign v of the degree of freedom, so that an impulse gamma adds sign gamma to its momentum.
        parameters: up to eight numbers for `prepare`, in the order of the kind.
        sum_bounds: least and greatest sum of the efforts of all rows of the joint that have it.
        entry: which of the joint's degrees of freedom it acts on.
        inputs: (place in `parameters`, scene.spec.Series) of parameters that change with time.
    """

    name: str
    joint: int
    sign: float
    parameters: tuple[float, ...]
    sum_bounds: tuple[float, float] | None = None
    entry: int = 0
    inputs: tuple[tuple[int, Any], ...] = ()


@dataclass(frozen=True)
class Tie:
    """One constraint over several degrees of freedom of at most two trees: g(q) = 0 or one-sided, vc = dg/dt = J v.

    Its rows are laid out in items of three, the last one filled up with rows of zeros.  They come from coordinates of joints,
    g_r = sum c_r q + bias_r over `terms`, or from frames P on body A and Q on body B, the `ends`, by the kind's `frames`.

    Fields:
        rows, units: names of the rows and units of their impulses in the result file.
        parameters: up to eight numbers for `compliance`, in the order of the kind.
        terms: (index into `scene.joints` of a joint of one degree of freedom, its three coefficients c_r).
        bias: of the three rows.
        ends: (link or world, p_LP, quaternion xyzw of R_LP) of A and B.
    """

    rows: tuple[str, ...]
    units: tuple[str, ...]
    parameters: tuple[float, ...] = ()
    terms: tuple[tuple[int, tuple[float, float, float]], ...] = ()
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ends: tuple[tuple[str, Any, Any], ...] = ()


@dataclass(frozen=True)
class ConstraintKind:
    """A kind of constraint: of scalar rows on one degree of freedom, or of ties over several.

    Every row of every kind is a bounded linear one (kinds/constraints/_bounded.py): gamma = clip((v_hat - vc) / R, lowest,
    highest).  A kind says which rows or ties a scene has and what (R, v_hat, lowest, highest) are in a step; the solver
    knows no more of it.

    Fields:
        name: the kind's name in the result file, and the `type` of entries of `constraints` where it has keys.
        order: rows of kinds with a smaller one come first; scalar rows before ties.
        make: (R) -> ConstraintFuncs.
        rows (scene) -> all its scalar rows of a scene, in the order of the result file.
        ties (scene) -> all its ties of a scene, in the order of the result file.
        keys, required: keys that an entry of `constraints` of this type may and must have beside `type`.
        njoint: how many `joints` it takes, None for any number.
        oriented: whether `a` and `b` may have an orientation.
        gaps (constraint: scene.spec.Constraint, q by joint, ((p_WP, R_WP), (p_WQ, R_WQ)) or None) -> [(size, words)]:
            how far from its constraint a state is, zero within the bounds of a one-sided one.
    """

    name: str
    order: int
    make: Callable[[Any], "ConstraintFuncs"]
    rows: Callable[[Any], list[ConstraintRow]] = lambda scene: []
    ties: Callable[[Any], list[Tie]] = lambda scene: []
    keys: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    njoint: int | None = None
    oriented: bool = False
    gaps: Callable[[Any, dict[str, float], Any], list[tuple[float, str]]] | None = None


@dataclass(frozen=True)
class ConstraintFuncs:
    """Device functions of a kind of constraint, those that it needs.

    Fields:
        prepare (h, p: vec8 parameters, w, q0, v0, v_star) -> vec4 (R, v_hat, lowest, highest): what is frozen for the step
            of a scalar row, from the Delassus weight w = J diag(A)^-1 J' and the joint's coordinate and velocities.
        compliance (h, p: vec8 parameters, w, g: vec3, v0: vec3, v_star: vec3) -> vec4 (R, tau, lowest, highest): the same of
            the rows of a tie's item, with v_hat = -g / (h + tau); w is that of the whole tie, v0 and v_star are J v.
        frames (item, p_WP: vec3, Q_WP: quat, p_WQ: vec3, Q_WQ: quat) -> (D: mat33, g: vec3, p_WA: vec3, p_WB: vec3,
            turns: int): the item's J = D (J_B - J_A), with the velocities of the points of A and B that are at p_WA and
            p_WB, or their angular velocities where `turns` is 1; and the residuals g of its rows.

    R = 0: not active.
    """

    prepare: Any = None
    compliance: Any = None
    frames: Any = None


@cache
def registry(family: str) -> dict[str, Any]:
    """All kinds of a family ("joints", "shapes", "pairs", "contacts", ...), sorted by name; files named _x are no kinds.

    Raises RuntimeError where a file defines no KIND or one of another name.
    """
    package = importlib.import_module(f"sapsim.kinds.{family}")
    found = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        if info.name.startswith("_"):
            continue  # shared by the kinds of the family, not a kind
        kind = getattr(importlib.import_module(f"{package.__name__}.{info.name}"), "KIND", None)
        if kind is None or kind.name != info.name:
            raise RuntimeError(f"kinds/{family}/{info.name}.py must define KIND with the name {info.name!r}")
        found[info.name] = kind
    return found


def code(family: str, name: str) -> int:
    """The integer by which device code knows a kind: its place in the sorted registry."""
    return list(registry(family)).index(name)
