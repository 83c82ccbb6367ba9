"""Scenes of the tables of sap_formulas 0.2 and 10.3 as YAML, for test_drake_tables.py and test_table_figures.py.

Stiffnesses and relaxation times of materials are of one surface: those of a pair of equal surfaces are k / 2 and 2 tau.
Without islands, as Drake solves them.
"""

from pathlib import Path

HEAD = """sapsim: 1
time_step: {h!r}
steps: {steps}
gravity: {gravity}
contact: {{law: {law}{contact}}}
solver: {{islands: false}}
"""


def head(h: float, steps: int, g: float, law: str, contact: str = "") -> str:
    """Time step, gravity -g z, law, and further keys of `contact`."""
    return HEAD.format(h=h, steps=steps, gravity=[0, 0, -float(g)], law=law, contact=contact and f", {contact}")


# 0.2 t2: two spheres, a half-space, and an arm of two links with drives, limits, armature and damping
SPHERES_AND_ARM = """
materials:
  ground: {stiffness: 4.0e+5, dissipation: 20, relaxation_time: 0.01, friction: 0.6}
  skin: {stiffness: 1.0e+5, dissipation: 10, relaxation_time: 0.01, friction: 0.8}
world: {collision: [{plane: {}, material: ground}]}
bodies:
  one: {sphere: 0.1, mass: 1, material: skin, pose: {xyz: [0, 0, 0.0995]}, velocity: {linear: [0.3, 0, 0], angular: [0, 1, 4]}}
  two: {sphere: 0.08, mass: 0.5, material: skin, pose: {xyz: [0.02, 0.01, 0.277]}, velocity: {linear: [0, 0, -0.5]}}
models:
  arm:
    links:
      upper: {inertial: {mass: 1, com: [0.15, 0, 0.01], inertia: {ixx: 0.002, iyy: 0.01, izz: 0.011}}}
      lower:
        inertial: {mass: 0.6, com: [0.1, 0.02, 0], inertia: {ixx: 0.001, iyy: 0.006, izz: 0.006, ixy: 0.0001}}
        collision: [{sphere: 0.05, pose: {xyz: [0.25, 0, 0]}, material: skin}]
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.2, armature: 0.02,
                 limit: {lower: -0.5, upper: 0.35}}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0.3, 0, 0]}, axis: [0, 0.8, 0.6], damping: 0.1,
              armature: 0.01, limit: {lower: -0.1, upper: 1, effort: 4}}
instances: {arm: {model: arm, pose: {xyz: [-0.7, 0.1, 0.18]}, joint_q: {shoulder: 0.2, elbow: 0.1},
            joint_qd: {shoulder: 1, elbow: -2}}}
actuators:
  shoulder: {joint: arm/shoulder, kp: 60, kd: 4, target: 0.5, feedforward: 1}
  elbow: {joint: arm/elbow, kp: 200, kd: 5, target: -0.4, target_velocity: 0.2}
"""

# 0.2 t3: an arm of two hinges from the world and a floating body with a hinge of its own, which one constraint joins or holds
TREES = """
models:
  arm:
    links:
      upper: {inertial: {mass: 1, com: [0.15, 0.01, 0], inertia: {ixx: 0.002, iyy: 0.01, izz: 0.011}}}
      lower: {inertial: {mass: 0.6, com: [0.1, 0.02, 0], inertia: {ixx: 0.001, iyy: 0.006, izz: 0.006, ixy: 0.0001}}}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.2, armature: 0.02}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0.3, 0, 0]}, axis: [0, 0.8, 0.6], damping: 0.1}
  craft:
    links:
      hull: {inertial: {mass: 1.5, com: [0.02, 0, 0.01], inertia: {ixx: 0.01, iyy: 0.008, izz: 0.012, ixz: 0.0005}}}
      flap: {inertial: {mass: 0.3, com: [0.1, 0, 0], inertia: {ixx: 0.0005, iyy: 0.002, izz: 0.002}}}
    joints: {hinge: {type: revolute, parent: hull, child: flap, origin: {xyz: [0.1, 0, 0]}, axis: [0, 1, 0]LIMIT}}
instances:
  arm: {model: arm, pose: {xyz: [0, 0, 0.5]}, joint_qd: {shoulder: 0.5}}
  craft: {model: craft, base: floating, pose: {xyz: [0.6, 0, 0.5]}, joint_qd: {hinge: 3},
          velocity: {linear: [0, 0.1, 0], angular: [0.5, 0, 1]}}
"""
TIP, NOSE = "{link: arm/lower, point: [0.2, 0, 0]}", "{link: craft/hull, point: [-0.1, 0, 0]}"
HULL, TILTED = "{link: craft/hull, point: [0, 0, 0.1]}", "{link: craft/hull, point: [-0.1, 0, 0], rpy: [0, 0.01, 0]}"
ABOVE, AT_HULL, AT_TIP = (f"{{link: world, point: {p}}}" for p in ([0.6, 0, 1.1], [0.6, 0, 0.6], [0.5, 0, 0.5]))
TIES = {
    "distance, soft": f"distance, a: {TIP}, b: {HULL}, length: 0.1, stiffness: 300, damping: 2",
    "distance, near-rigid": f"distance, a: {TIP}, b: {HULL}, length: 0.1415, stiffness: 1.0e+9",
    "distance, world": f"distance, a: {ABOVE}, b: {HULL}, length: 0.5",
    "ball": f"ball, a: {TIP}, b: {NOSE}",
    "ball, world": f"ball, a: {HULL}, b: {AT_HULL}",
    "ball, closed chain": f"ball, a: {AT_TIP}, b: {TIP}",
    "weld": f"weld, a: {TILTED}, b: {TIP}",
    "weld, world": f"weld, a: {AT_HULL}, b: {HULL}",
    "coupler, fixed tree": "coupler, joints: [arm/shoulder, arm/elbow], ratio: -1.5, offset: 0.001",
    "coupler, two trees": "coupler, joints: [craft/hinge, arm/elbow], ratio: 0.7",
}
DRIVES = {
    "drive, floating tree": "joint: craft/hinge, kp: 40, kd: 1, target: -0.2, feedforward: 0.1, effort_limit: 2",
    "drive, fixed tree": "joint: arm/shoulder, kp: 4.0e+6, kd: 100, target: 0.1",  # gains that the step does not resolve
}
ALONE = [*TIES, *DRIVES, "limit, floating tree"]


def alone(name: str) -> str:
    """The trees with one constraint, one drive or one limit."""
    text = TREES.replace("LIMIT", ", limit: {lower: -0.1, upper: 0.05}" * name.startswith("limit"))
    if name in TIES:
        text += f"constraints: {{c: {{type: {TIES[name]}}}}}\n"
    return text + (f"actuators: {{d: {{{DRIVES[name]}}}}}\n" if name in DRIVES else "")


# 10.3.1: a body of 10 kg on a massless rail on compliant ground, friction 0.5; it starts at m g / k = 10 mm
GROUND = """
materials:
  ground: {stiffness: 1.0e+4, dissipation: 0.2, friction: 0.5, relaxation_time: TAU}
  hard: {stiffness: 1.0e+30, dissipation: 0, friction: 0.5, relaxation_time: TAU}
world: {collision: [{plane: {}, material: ground}]}
models:
  m:
    links:
      rail: {}
      body: {inertial: {mass: 10, inertia: {ixx: 1, iyy: 1, izz: 1}}, collision: [{sphere: 0.02, material: hard}]}
    joints:
      z: {type: prismatic, parent: world, child: rail, axis: [0, 0, 1]}
      x: {type: prismatic, parent: rail, child: body, axis: [1, 0, 0]}
instances: {i: {model: m, joint_q: {z: 0.01}}}
actuators: {push: {joint: i/x, effort: PUSH}}
"""

# 10.3.2: a box of 1 kg that slides along x and z, of which one corner sphere stands for the face; pushed by 5 N
BOX = """
materials: {wood: {stiffness: 2.0e+5, dissipation: 50, friction: 0.6, relaxation_time: 0.005}}
world: {collision: [{plane: {}, material: wood}]}
models:
  m:
    links:
      rail: {}
      box: {inertial: {mass: 1, inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}, collision: [{sphere: 0.05, material: wood}]}
    joints:
      x: {type: prismatic, parent: world, child: rail, axis: [1, 0, 0]}
      z: {type: prismatic, parent: rail, child: box, axis: [0, 0, 1]}
instances: {i: {model: m, joint_q: {z: 0.04999}}}
actuators: {push: {joint: i/x, effort: 5}}
"""

# 10.3.3: a rod of 1 kg and 0.3 m about its end, 10 mm thick, against limits -pi/5 .. pi/3
ROD = """
models:
  m:
    links: {rod: {inertial: {mass: 1, com: [0.15, 0, 0], inertia: {ixx: 5.0e-5, iyy: 7.525e-3, izz: 7.525e-3}}}}
    joints: {pin: {type: revolute, parent: world, child: rod, axis: [0, 1, 0], limit: {lower_deg: -36, upper_deg: 60}}}
instances: {i: {model: m, joint_q: {pin: START}}}
actuators: {turn: {joint: i/pin, effort: TORQUE}}
"""

# 10.3.3 and 10.3.9: an arm of seven hinges, about z and y in turn, with the limits and efforts of an iiwa
LIMIT_DEG = [170, 120, 170, 120, 170, 120, 175]
EFFORT = [176, 176, 110, 110, 110, 40, 40]
MASSES = [5.8, 6.3, 3.5, 3.5, 3.5, 1.8, 1.2]
LENGTHS = [0.16, 0.2, 0.2, 0.2, 0.2, 0.2, 0.08]


def arm(commands, efforts: bool = False, scale: float = 1.0, start: float = 0.0) -> str:
    """Seven hinges driven open loop by `commands`, limits `scale` times those of the robot, efforts bounded or not."""
    links, joints, drives = [], [], []
    for i, (mass, length) in enumerate(zip(MASSES, LENGTHS, strict=True)):
        I = mass * length**2 / 12 + 0.01
        links.append(
            f"      l{i}: {{inertial: {{mass: {mass}, com: [0.01, 0.02, {length / 2}], "
            f"inertia: {{ixx: {I!r}, iyy: {I!r}, izz: {mass * 2e-3!r}}}}}}}"
        )
        parent, z = (f"l{i - 1}", LENGTHS[i - 1]) if i else ("world", 0.1)
        bound = f", effort: {EFFORT[i]}" * efforts
        limit = scale * LIMIT_DEG[i]
        joints.append(
            f"      j{i}: {{type: revolute, parent: {parent}, child: l{i}, origin: {{xyz: [0, 0, {z}]}}, damping: 0.5, "
            f"axis: {[0, i % 2, 1 - i % 2]}, limit: {{lower_deg: {-limit}, upper_deg: {limit}{bound}}}}}"
        )
        drives.append(f"  d{i}: {{joint: arm/j{i}, {commands[i]}}}")
    q = ", ".join(f"j{i}: {start * (-1) ** i}" for i in range(7))
    instance = f"instances: {{arm: {{model: arm, joint_q: {{{q}}}}}}}"
    return "\n".join(["models:", "  arm:", "    links:", *links, "    joints:", *joints, instance, "actuators:", *drives, ""])


# 10.3.4: a ball of 0.1 kg rolls down a slope of 15 degrees; friction 0.5, k = 1e7 of each surface, d = 30 s/m
ROLLING = """
materials: {hard: {stiffness: 1.0e+7, dissipation: 30, friction: 0.5}}
world: {collision: [{plane: {}, pose: {rpy_deg: [0, 15, 0]}, material: hard}]}
bodies: {ball: {sphere: 0.05, mass: 0.1, material: hard, pose: {xyz: [X, 0, Z]}}}
"""

# 10.3.6: two spheres of 10 kg on sliders, one above the other, each 1 mm deep; tau of each surface 0.02 s
STACK = """
materials: {soft: {stiffness: 1.0e+5, dissipation: 10, relaxation_time: 0.02, friction: 1}}
world: {collision: [{plane: {}, material: soft}]}
bodies:
  lower: {sphere: 0.2, mass: 10, material: soft, pose: {xyz: [0, 0, 0.199]}}
  upper: {sphere: 0.2, mass: 10, material: soft, pose: {xyz: [0.1, 0, UPPER]}}
"""

# 10.3.7: two free spheres that overlap by 1 mm
TWO_BODIES = """
materials: {one: {stiffness: 3.0e+4, dissipation: 25, relaxation_time: 0.02, friction: 1.2}}
bodies:
  a: {sphere: 0.01, mass: 0.5, material: one, pose: {xyz: [0, 0, 0.5]}, velocity: {linear: [0, 0.2, 0]}}
  b: {sphere: 0.01, mass: 0.7, material: one, pose: {xyz: [0, 0, 0.519]}, velocity: {angular: [3, 0, 1]}}
"""

# 10.3.8: a double pendulum of unit inertias and links of 0.1 m, the elbow locked at 0.3
PENDULUM = """
models:
  m:
    links:
      upper: {inertial: {mass: 1, com: [0, 0, -0.1], inertia: {ixx: 1, iyy: 1, izz: 1}}}
      lower: {inertial: {mass: 1, com: [0, 0, -0.1], inertia: {ixx: 1, iyy: 1, izz: 1}}}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0]}
      elbow: {ELBOW, parent: upper, child: lower, axis: [0, 1, 0]}
instances: {i: {model: m, joint_q: {shoulder: 0.5ANGLE}, joint_qd: {shoulder: 1}}}
"""


def locked_pendulum() -> str:
    text = PENDULUM.replace("ELBOW, parent: upper, child: lower", "type: revolute, ELBOW, parent: upper, child: lower")
    return text.replace("ELBOW", "locked: true, origin: {xyz: [0, 0, -0.1]}").replace("ANGLE", ", elbow: 0.3")


def welded_pendulum() -> str:
    text = PENDULUM.replace("ELBOW", "type: fixed, origin: {xyz: [0, 0, -0.1], rpy: [0, 0.3, 0]}")
    return text.replace("lower, axis: [0, 1, 0]}", "lower}").replace("ANGLE", "")


def pizza(torque: float) -> str:
    """scenes/pizza_saver.yaml from `materials` on."""
    text = (Path(__file__).parents[2] / "scenes" / "pizza_saver.yaml").read_text()
    text = text[text.index("materials:") : text.index("expect:")].replace("effort: 20", f"effort: {torque}")
    return text.replace("joint_q: {", "joint_q: {z: -1.0e-3, ")
