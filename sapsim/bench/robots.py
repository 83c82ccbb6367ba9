"""The standard scenes with robots, whose files come with Python packages (none is part of this one).

S5       Panda: seven hinges with drives and effort limits, fingers fixed, no collision
S6quad   Solo-12 on a plane: twelve driven hinges, floating, four feet
S6hum    MuJoCo's humanoid falls limp on a plane: 27 degrees of freedom, springs, dampers, limits, capsules
S6humballs  the same with two spheres in the place of each capsule, at its ends: one point to a pair of shapes
"""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from sapsim.scene.poses import matrix

LEGS, SEGMENTS = ("FL", "FR", "HL", "HR"), ("SHOULDER", "UPPER_LEG", "LOWER_LEG", "FOOT")
HINGES = ("HAA", "HFE", "KFE")  # of a leg
FOOT = 0.016  # radius of a foot's sphere [m]
SOLO_HEIGHT = 0.26  # of the base at the start [m]
SOLO_Q = (0.1, 0.8, -1.6, -0.1, 0.8, -1.6, 0.1, -0.8, 1.6, -0.1, -0.8, 1.6)
SOLO_KP, SOLO_KD = 8.0, 0.2  # [N m/rad], [N m s/rad]
PANDA_START = (0.0, -0.3, 0.0, -1.8, 0.0, 1.6, 0.5)
PANDA_TARGET = (0.4, 0.1, -0.3, -1.4, 0.3, 1.9, 0.8)
PANDA_KP = (600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0)
PANDA_KD = (50.0, 50.0, 50.0, 50.0, 20.0, 15.0, 5.0)


@dataclass(frozen=True)
class RobotFile:
    """A file of a package: what pip calls the package, and the path from the folder in which it is installed."""

    package: str
    inside: str

    def find(self) -> Path | None:
        """The file, or None where the package is not installed or does not have it."""
        try:
            path = Path(str(metadata.distribution(self.package).locate_file(self.inside)))
        except metadata.PackageNotFoundError:
            return None
        return path if path.is_file() else None


_ROBOTS = "cmeel.prefix/share/example-robot-data/robots"
PANDA = RobotFile("example-robot-data", f"{_ROBOTS}/panda_description/urdf/panda.urdf")
SOLO = RobotFile("example-robot-data", f"{_ROBOTS}/solo_description/robots/solo12.urdf")
HUMANOID = RobotFile("mujoco-warp", "mujoco_warp/test_data/humanoid/humanoid.xml")


def panda_lines(file: Path) -> list[str]:
    """S5, after the header."""
    start = ", ".join(f"panda_joint{i + 1}: {q}" for i, q in enumerate(PANDA_START))
    lines = [
        "models:",
        f"  panda: {{urdf: '{file}'}}",
        "instances:",
        "  panda:",
        "    model: panda",
        "    base: fixed",
        "    collision: false",
        "    joints: {panda_finger_joint1: {type: fixed}, panda_finger_joint2: {type: fixed}}",
        f"    joint_q: {{{start}}}",
        "actuators:",
    ]
    for i, (kp, kd, target) in enumerate(zip(PANDA_KP, PANDA_KD, PANDA_TARGET, strict=True)):
        lines.append(f"  servo{i + 1}: {{joint: panda/panda_joint{i + 1}, kp: {kp}, kd: {kd}, target: {target}}}")
    return lines


def solo_lines(file: Path) -> list[str]:
    """S6quad, after the header.  The legs' meshes do not collide; they start where their drives hold them."""
    joints = [f"{leg}_{hinge}" for leg in LEGS for hinge in HINGES]
    start = ", ".join(f"{joint}: {q}" for joint, q in zip(joints, SOLO_Q, strict=True))
    bare = ["base_link", *(f"{leg}_{segment}" for leg in LEGS for segment in SEGMENTS[:-1])]
    feet = [f"{leg}_{SEGMENTS[-1]}" for leg in LEGS]
    return [
        "world: {collision: [{plane: {}, material: m}]}",
        "models:",
        f"  solo: {{urdf: '{file}'}}",
        "instances:",
        "  solo:",
        "    model: solo",
        "    base: floating",
        f"    pose: {{xyz: [0, 0, {SOLO_HEIGHT}]}}",
        f"    joint_q: {{{start}}}",
        "    links:",
        *(f"      {link}: {{collision_off: true}}" for link in bare),
        *(f"      {link}: {{collision_off: true, collision: [{{sphere: {FOOT}, material: m}}]}}" for link in feet),
        "actuators:",
        f"  legs: {{joint: 'solo/*_*', kp: {SOLO_KP}, kd: {SOLO_KD}, target: initial}}",
    ]


def humanoid_lines(file: Path) -> list[str]:
    """S6hum, after the header.  The file has the plane, too; its motors put out nothing."""
    return [
        "models:",
        f"  humanoid: {{mjcf: '{file}', material: m}}",
        "instances:",
        "  humanoid: {model: humanoid}",
    ]


def humanoid_ball_lines(file: Path) -> list[str]:
    """S6humballs, after the header."""
    from sapsim.scene.read import loads

    header = ["sapsim: 1", "time_step: 0.001", "steps: 1"]
    materials = ["materials: {m: {}}"]
    scene = loads("\n".join([*header, *materials, *humanoid_lines(file)]), file="humanoid.yaml", allow=[file.parent])
    lines = [*humanoid_lines(file)[:-1], "  humanoid:", "    model: humanoid", "    links:"]
    for link in scene.links:
        if not any(shape.params for shape in link.shapes):  # the plane
            continue
        balls = [ball for shape in link.shapes for ball in _end_balls(shape)]
        name = link.name.split("/")[-1]
        lines.append(f"      {name}: {{collision_off: true, collision: [{', '.join(balls)}]}}")
    return lines


def _end_balls(shape: Any) -> list[str]:
    """A sphere (radius) as it is; of a capsule (radius, length), whose axis is z, the spheres at its two ends."""
    radius, *length = shape.params
    p, axis = np.array(shape.X_LG.p), matrix(shape.X_LG.q)[:, 2]
    ends = [p + sign * 0.5 * along * axis for along in length for sign in (-1, 1)] or [p]
    return [f"{{sphere: {radius!r}, pose: {{xyz: {end.tolist()}}}, material: m}}" for end in ends]
