"""What reading a scene costs at start-up, and what damaged files cannot do."""

import copy
import random
import subprocess
import sys
import warnings

import yaml

from sapsim.errors import SceneError
from sapsim.scene.read import loads


def test_reading_a_scene_imports_no_heavy_package():
    program = (
        "import sys\n"
        "from sapsim.scene.read import loads\n"
        "loads('sapsim: 1\\ntime_step: 0.1\\nsteps: 1\\nbodies: {b: {sphere: 1, mass: 1}}\\n')\n"
        "print([m for m in ('warp', 'trimesh', 'h5py', 'scipy') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


SCENE = """
sapsim: 1
time_step: 0.001
duration: 2.0
contact: {law: lagged, default_material: {friction: 0.3}}
materials: {rubber: {stiffness: 100000.0, dissipation: 10}}
models:
  arm:
    links:
      base: {inertial: {mass: 1, com: [0, 0, 0], inertia: {ixx: 1, iyy: 1, izz: 1}}}
      tip: {inertial: {density: 3}, collision: [{sphere: 1, name: ball, material: rubber}]}
      toe: {inertial: {mass: 0.1}, collision: [{box: [1, 1, 1], pose: {rpy_deg: [0, 0, 3]}}]}
    joints:
      h: {type: revolute, parent: base, child: tip, origin: {xyz: [1, 0, 0]}, axis: [0, 1, 0], damping: 0.1}
      f: {type: fixed, parent: tip, child: toe}
instances:
  a: {model: arm, base: floating, joint_q_deg: {h: 3}, velocity: {linear: [1, 2, 3]}, pose: {quaternion: [0, 0, 0, 1]}}
bodies:
  pile: {box: [1, 1, 1], density: 5, repeat: {count: [2, 1, 2], spacing: [2, 2, 2], jitter: {xyz: [0.1, 0, 0], seed: 1}}}
world: {collision: [{plane: {}, pose: {xyz: [0, 0, 0]}}]}
forces: {wind: {link: a/tip, force: [1, 0, 0], from: 0, until: 1}}
filter: [[a, pile], [a/tip, world]]
worlds: {count: 2, seed: 1}
output: {every: 2, channels: [state, contacts], worlds: [0]}
expect: [{joint: a/h, quantity: q, at: all, min: 0, max: 1, worlds: [0]}]
"""

# fmt: off
VALUES = [
    None, True, -1, 0, 1, 2.5, float("nan"), float("inf"), "x", "", "world", "a", "base", "h", "fixed", "floating", "a/base",
    "*", [], {}, [1, 2, 3], [1, 0, -1], [0, 0, 0, 0], {"a": 1}, {"sphere": 1}, 10**30, -1e308, 1e308, 5e-324, [[]], ["a", "*"],
]
# fmt: on
KEYS = ("zz", "world", "a", "pile", "repeat", "mass", "density", "base", "joint_q", "pose", "material", "velocity", "sphere")


def places(node, path=()):
    """The paths of all nodes below the root."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield (*path, key)
        yield from places(child, (*path, key))


def damage(tree, draw):
    """Remove, replace, or copy a random part of the tree."""
    path = draw.choice(list(places(tree)))
    parent = tree
    for key in path[:-1]:
        parent = parent[key]
    kind = draw.random()
    if kind < 0.15:
        del parent[path[-1]]
    elif kind < 0.3 and isinstance(parent, dict):
        parent[draw.choice(KEYS)] = copy.deepcopy(parent[path[-1]])
    else:
        parent[path[-1]] = copy.deepcopy(draw.choice(VALUES))


def test_a_damaged_scene_is_refused_with_located_messages_and_never_crashes():
    draw = random.Random(1)
    whole = yaml.safe_load(SCENE)
    assert loads(SCENE).warnings == ()
    refused = 0
    for _ in range(150):
        tree = copy.deepcopy(whole)
        for _ in range(draw.choice([1, 1, 2])):
            damage(tree, draw)
        text = yaml.safe_dump(tree, sort_keys=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy must not complain about overflow either
            try:
                loads(text)
            except SceneError as error:
                refused += 1
                assert error.errors
                for message in error.errors + error.warnings:
                    assert message.line >= 1 and message.column >= 1 and message.code and message.message
    assert refused > 100  # most damage is a fault


def test_damaged_text_is_refused_or_read():
    draw = random.Random(2)
    for _ in range(100):
        text = list(SCENE)
        for _ in range(3):
            i = draw.randrange(len(text))
            text[i : i + draw.choice([0, 1, 5])] = draw.choice(
                ["", ":", "- ", "[", "}", "\n", "\t", "&x ", "*x", "!!int ", "\x00", "é", "#"]
            )
        try:
            loads("".join(text))
        except SceneError as error:
            assert all(m.line >= 1 and m.column >= 1 for m in error.errors)
