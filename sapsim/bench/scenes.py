"""The standard scenes, as texts of scene files: the same numbers in every engine.

    S1              double pendulum, let go from q = (1.0, 0.5)
    S2              a cube of half edge 0.05 (1 kg), tilted by rpy (0.05, 0.08, 0), falls from z = 0.11 onto a plane
    S3              ten such cubes, one above the other with gaps of 0.5 mm, fall into a stack
    S4sph20 ..      20, 50, 100 spheres of radius 0.04 fall into a bin
    S4mix20 ..      the same with every odd one a cube of half edge 0.035
    S5 ..           robots: robots.py

g = 9.81, friction 0.5, density 1000, 2 s.  Surfaces have k = 1e5 N/m, d = 20 s/m, tau = 0.01 s, hence pairs 5e4, 20 and 0.02.

Boxes can be told to collide by their `faces`, four to eight points a pair, or by `corners`: spheres of 2 mm radius that the
corners carry, within the box's own surface.  An engine that gives one point to a pair of shapes runs the second; then the
contacts are the same.  In S2 and S3 only the bottom corners carry them, and they replace the box: it meets nothing but the
spheres of the cube above it.  In S4 all eight do, and boxes meet one another too, since two edges can cross; a pair of them has
several points in sapsim and one in Drake.  `points` leaves those pairs out, so that all contacts are the same.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sapsim.bench.robots import (
    HUMANOID,
    PANDA,
    SOLO,
    RobotFile,
    humanoid_ball_lines,
    humanoid_lines,
    panda_lines,
    solo_lines,
)

G, FRICTION, DENSITY = 9.81, 0.5, 1000.0
STIFFNESS, DISSIPATION, RELAXATION = 1.0e5, 20.0, 0.01  # of one surface [N/m], [s/m], [s]
CUBE, GAP = 0.05, 0.0005  # half edge of S2 and S3, gap of S3 [m]
BALL, BLOCK = 0.04, 0.035  # radius and half edge of S4 [m]
PITCH, JITTER, LAYER, ACROSS = 0.115, 0.02, 0.08, 4  # of S4's grid [m], first layer's height [m], bodies across
BIN, WALL, RISE = 0.25, 0.1, 1.2  # the bin's inner half width, its walls' thickness and height [m]
FOOT = 0.002  # radius of a corner's sphere [m]
TIME_STEP, DURATION = 1.0e-3, 2.0  # [s]

Vec3 = tuple[float, float, float]


@dataclass(frozen=True)
class Placed:
    """A free body at the start: a cube of half edge `size` or a ball of that radius, position [m] and rpy [rad]."""

    cube: bool
    size: float
    xyz: Vec3
    rpy: Vec3

    @property
    def model(self) -> str:
        return "cube" if self.cube else "ball"


def lcg(seed: int = 12345) -> Iterator[float]:
    """Numbers u in [0, 1): x <- (1103515245 x + 12345) mod 2^31, u = x / 2^31."""
    x = seed
    while True:
        x = (1103515245 * x + 12345) % 2**31
        yield x / 2**31


def pile(count: int, mixed: bool) -> list[Placed]:
    """The bodies of S4: layers of 4 x 4.  A body takes five numbers in order: x, y of the jitter, and rpy."""
    u, bodies = lcg(), []
    for i in range(count):
        layer, place = divmod(i, ACROSS * ACROSS)
        across = ((place % ACROSS, place // ACROSS)[k] - 0.5 * (ACROSS - 1) for k in range(2))
        x, y = (PITCH * a + JITTER * (next(u) - 0.5) for a in across)
        rpy = (next(u), next(u), next(u))
        cube = mixed and i % 2 == 1
        bodies.append(Placed(cube, BLOCK if cube else BALL, (x, y, LAYER + PITCH * layer), rpy))
    return bodies


def stack(count: int) -> list[Placed]:
    """The cubes of S3."""
    return [Placed(True, CUBE, (0.0, 0.0, CUBE + i * (2 * CUBE + GAP)), (0.0, 0.0, 0.0)) for i in range(count)]


def drop() -> list[Placed]:
    """The cube of S2."""
    return [Placed(True, CUBE, (0.0, 0.0, 0.11), (0.05, 0.08, 0.0))]


def _header() -> list[str]:
    return [
        "sapsim: 1",
        f"time_step: {TIME_STEP}",
        f"duration: {DURATION}",
        f"gravity: [0, 0, -{G}]",
        "contact: {law: lagged}",
        "materials:",
        f"  m: {{stiffness: {STIFFNESS}, dissipation: {DISSIPATION}, relaxation_time: {RELAXATION}, friction: {FRICTION}}}",
    ]


def pendulum_text(boxes: str) -> str:
    """S1."""
    inertial = f"inertial: {{mass: 1.0, com: [0, 0, -0.5], inertia: {{ixx: {1 / 12!r}, iyy: {1 / 12!r}, izz: 0.001}}}}"
    lines = [
        *_header(),
        "models:",
        "  double_pendulum:",
        "    links:",
        f"      upper: {{{inertial}}}",
        f"      lower: {{{inertial}}}",
        "    joints:",
        "      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0]}",
        "      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0, 0, -1]}, axis: [0, 1, 0]}",
        "instances:",
        "  pendulum: {model: double_pendulum, joint_q: {shoulder: 1.0, elbow: 0.5}}",
    ]
    return "\n".join(lines) + "\n"


def _plane() -> list[str]:
    return ["world: {collision: [{plane: {}, material: m}]}"]


def _bin() -> list[str]:
    """Floor with its top at z = 0, and four walls."""
    out, wide = BIN + 0.5 * WALL, 2.0 * (BIN + WALL)
    boxes = [((wide, wide, WALL), (0.0, 0.0, -0.5 * WALL))]
    boxes += [((WALL, wide, RISE), (sign * out, 0.0, 0.5 * RISE)) for sign in (-1, 1)]
    boxes += [((wide, WALL, RISE), (0.0, sign * out, 0.5 * RISE)) for sign in (-1, 1)]
    lines = ["world:", "  collision:"]
    return lines + [f"    - {{box: {list(size)}, pose: {{xyz: {list(xyz)}}}, material: m}}" for size, xyz in boxes]


def _model(body: Placed, feet: str) -> list[str]:
    """The model of a body; `feet`: which corners carry spheres."""
    inertial, size = f"inertial: {{density: {DENSITY}}}", 2.0 * body.size
    shape = f"box: [{size}, {size}, {size}]" if body.cube else f"sphere: {body.size}"
    lines = [f"  {body.model}:", "    links:", f"      core: {{{inertial}, collision: [{{{shape}, material: m}}]}}"]
    if not body.cube or feet == "none":
        return lines
    a = body.size - FOOT
    corners = [(x, y, z) for z in (-a, a)[: 1 if feet == "bottom" else 2] for x in (-a, a) for y in (-a, a)]
    spheres = ", ".join(f"{{sphere: {FOOT}, pose: {{xyz: {list(c)}}}, material: m}}" for c in corners)
    lines += [f"      feet: {{inertial: {{mass: 0}}, collision: [{spheres}]}}"]
    return [*lines, "    joints:", "      weld: {type: fixed, parent: core, child: feet}"]


def _filter(bodies: list[Placed], feet: str, meet: bool) -> list[str]:
    """What cores and feet do not meet: feet meet the world and other boxes' cores, and boxes the world by their feet alone.

    `meet`: whether boxes that have all feet meet each other, too.
    """
    cubes = [i for i, body in enumerate(bodies) if body.cube]
    pairs = [(f"b{a}/core", "world") for a in cubes]
    pairs += [(f"b{a}/feet", f"b{b}/feet") for a in cubes for b in cubes if b < a]
    pairs += [(f"b{a}/feet", f"b{b}/core") for a in cubes for b in range(len(bodies)) if not bodies[b].cube]
    if feet == "bottom" or not meet:
        pairs += [(f"b{a}/core", f"b{b}/core") for a in cubes for b in cubes if b < a]
    return ["filter: [" + ", ".join(f"[{a}, {b}]" for a, b in pairs) + "]"]


def bodies_text(bodies: list[Placed], world: list[str], corners: str, boxes: str) -> str:
    """S2 to S4: free bodies over what stands in the world."""
    feet = "none" if boxes == "faces" else corners
    lines = [*_header(), *world, "models:"]
    for model in {body.model: body for body in bodies}.values():
        lines += _model(model, feet)
    if feet != "none":
        lines += _filter(bodies, feet, boxes != "points")
    lines.append("instances:")
    for i, body in enumerate(bodies):
        pose = f"{{xyz: {list(body.xyz)}, rpy: {list(body.rpy)}}}"
        lines.append(f"  b{i}: {{model: {body.model}, base: floating, pose: {pose}}}")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Standard:
    """A standard scene: what it is, whether its bodies have boxes, and its text for `faces`, `corners` or `points`.

    `robot` is the file of a package that it reads.
    """

    name: str
    has_boxes: bool
    text: partial
    robot: RobotFile | None = None

    @property
    def folders(self) -> list[Path]:
        """Where the scene reads files."""
        path = self.robot.find() if self.robot else None
        return [path.parent] if path else []


def robot_text(file: RobotFile, lines: Callable[[Path], list[str]], boxes: str) -> str:
    """S5 and S6."""
    path = file.find()
    if path is None:
        raise FileNotFoundError(f"{file.package}: {file.inside}")
    return "\n".join([*_header(), *lines(path)]) + "\n"


def left_out(names: Iterable[str]) -> dict[str, str]:
    """Standard scenes that need a package which is not installed, and what to tell of them."""
    found = {}
    for name in names:
        robot = STANDARD[name].robot if name in STANDARD else None
        if robot and robot.find() is None:
            found[name] = f"{name} is left out: it needs the package {robot.package}: pip install {robot.package}"
    return found


def _all() -> dict[str, Standard]:
    found = [
        Standard("S1", False, partial(pendulum_text)),
        Standard("S2", True, partial(bodies_text, drop(), _plane(), "bottom")),
        Standard("S3", True, partial(bodies_text, stack(10), _plane(), "bottom")),
    ]
    for kind in ("sph", "mix"):
        for n in (20, 50, 100):
            text = partial(bodies_text, pile(n, kind == "mix"), _bin(), "all")
            found.append(Standard(f"S4{kind}{n}", kind == "mix", text))
    for name, robot, lines in (
        ("S5", PANDA, panda_lines),
        ("S6quad", SOLO, solo_lines),
        ("S6hum", HUMANOID, humanoid_lines),
        ("S6humballs", HUMANOID, humanoid_ball_lines),
    ):
        found.append(Standard(name, False, partial(robot_text, robot, lines), robot))
    return {s.name: s for s in found}


STANDARD = _all()
USUAL = ("S1", "S2", "S3", "S4sph20", "S4mix20")  # where none is named
