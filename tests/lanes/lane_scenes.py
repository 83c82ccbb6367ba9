"""The simulations of the lane tests, and a digest of everything they put out."""

import hashlib
from dataclasses import fields, replace
from unittest.mock import patch

import numpy as np

STACK = """
sapsim: 1
name: stack
time_step: 0.005
steps: 60
contact: {law: LAW}
world: {collision: [{plane: {}}]}
bodies:
  box:
    box: [0.1, 0.1, 0.1]
    mass: 1.0
    pose: {xyz: [0, 0, 0.0505], rpy: [0.01, 0.02, 0]}
    repeat: {count: [1, 1, 4], spacing: [0, 0, 0.102]}
"""

# Dense enough that clusters of many bodies form: only there do columns of the factor hold rows of several trees.
BIN = """
sapsim: 1
name: bin
time_step: 0.005
steps: 100
contact: {law: LAW}
solver: {line_search: SEARCH}
world:
  collision:
    - {plane: {}}
    - {box: [0.1, 0.5, 0.6], pose: {xyz: [0.20, 0, 0.3]}}
    - {box: [0.1, 0.5, 0.6], pose: {xyz: [-0.20, 0, 0.3]}}
    - {box: [0.5, 0.1, 0.6], pose: {xyz: [0, 0.20, 0.3]}}
    - {box: [0.5, 0.1, 0.6], pose: {xyz: [0, -0.20, 0.3]}}
bodies:
  ball:
    sphere: 0.04
    density: 1000
    velocity: {linear: [0, 0, -2]}
    pose: {xyz: [-0.09, -0.09, 0.06]}
    repeat: {count: [3, 3, 2], spacing: [0.09, 0.09, 0.16], jitter: {xyz: [0.004, 0.004, 0], seed: 1}}
  brick:
    box: [0.07, 0.06, 0.05]
    density: 1000
    velocity: {linear: [0, 0, -2]}
    pose: {xyz: [-0.09, -0.09, 0.14]}
    repeat: {count: [3, 3, 1], spacing: [0.09, 0.09, 0.16], jitter: {xyz: [0.004, 0.004, 0], rpy: [0.5, 0.5, 3], seed: 2}}
"""

# Round and pointed bodies: pairs of the stage `convex`, with each other and with parts of a surface.
HEAP = """
sapsim: 1
name: heap
time_step: 0.005
steps: 60
contact: {law: LAW, margin: 0.001}
world:
  collision:
    - {plane: {}}
    - {cylinder: {radius: 0.06, length: 0.1}, pose: {xyz: [0, 0, 0.03]}}
    - {heightfield: {size: [0.6, 0.6], scale: 0.02, heights: [[0, 1, 0, 2], [1, 0, 1, 1], [0, 1, 1, 0], [2, 0, 0, 2]]}}
    - {box: [0.05, 0.3, 0.1], pose: {xyz: [0.12, 0, 0.05], rpy: [0, 0.2, 0]}}
bodies:
  can:
    cylinder: {radius: 0.04, length: 0.08}
    density: 1000
    pose: {xyz: [-0.06, -0.05, 0.13]}
    repeat: {count: [2, 2, 1], spacing: [0.1, 0.1, 0], jitter: {rpy: [1, 1, 3], seed: 1}}
  cone:
    cone: {radius: 0.04, length: 0.08}
    density: 1000
    pose: {xyz: [-0.06, -0.05, 0.22]}
    repeat: {count: [2, 2, 1], spacing: [0.1, 0.1, 0], jitter: {rpy: [1, 1, 3], seed: 2}}
  egg:
    ellipsoid: [0.04, 0.03, 0.05]
    density: 1000
    pose: {xyz: [-0.06, -0.05, 0.32]}
    repeat: {count: [2, 2, 1], spacing: [0.1, 0.1, 0], jitter: {rpy: [1, 1, 3], seed: 3}}
  pill: {capsule: {radius: 0.02, length: 0.1}, density: 1000, pose: {xyz: [0, 0, 0.4], rpy: [1.5, 0, 0]}}
  ball: {sphere: 0.03, density: 1000, pose: {xyz: [0.02, 0.01, 0.14]}}
"""

CHAIN = """
sapsim: 1
name: chain
time_step: 0.005
steps: 120
contact: {law: LAW}
world: {collision: [{plane: {}}]}
models:
  chain:
    links:
      a: {inertial: {mass: 0.4, inertia: {ixx: 1.0e-3, iyy: 2.0e-3, izz: 2.0e-3}}, collision: [{box: [0.2, 0.06, 0.06]}]}
      b: &link
        inertial: {mass: 0.3, com: [0.1, 0, 0], inertia: {ixx: 5.0e-4, iyy: 1.0e-3, izz: 1.0e-3}}
        collision: [{sphere: 0.04, pose: {xyz: [0.1, 0, 0]}}, {sphere: 0.03, pose: {xyz: [0.18, 0, 0]}}]
      c: *link
      d: *link
    joints:
      ab: {type: revolute, parent: a, child: b, origin: {xyz: [0.1, 0, 0]}, axis: [0, 1, 0], damping: 0.02, armature: 0.001,
           limit: {lower: -0.1, upper: 0.2, effort: 1.5}}
      bc: {type: continuous, parent: b, child: c, origin: {xyz: [0.2, 0, 0]}, axis: [0, 0, 1]}
      cd: {type: prismatic, parent: c, child: d, origin: {xyz: [0.2, 0, 0]}, axis: [1, 0, 0], damping: 2.0,
           limit: {lower: -0.02, upper: 0.03}}
instances:
  one: {model: chain, base: floating, pose: {xyz: [0, 0, 0.2], rpy: [0.2, 0.4, 0]}}
  two: {model: chain, base: floating, pose: {xyz: [0.1, 0.05, 0.35], rpy: [0, -0.3, 1.0]}}
bodies:
  ball: {sphere: 0.05, mass: 0.5, pose: {xyz: [0.2, 0.05, 0.6]}}
actuators:
  bend: {joint: "*/ab", kp: 5, kd: 0.1, target: 0.3, effort_limit: 2}
  damp: {joint: "*/ab", kd: 0.05}
  push: {joint: one/ab, effort: {times: [0, 0.4], values: [0.3, -0.2]}}
  turn: {joint: "*/bc", kp: 1, kd: 0.02, target: {times: [0, 0.2, 0.4], values: [0, 0.4, -0.4], interpolation: hold}}
forces:
  wind: {link: ball, force: {times: [0, 0.5], values: [[0, 0, 0], [1, 0, 0]]}}
"""

# Ball and planar joints, a spring, capsules on a plane, a sphere and one another.
PUPPET = """
sapsim: 1
name: puppet
time_step: 0.005
steps: 100
contact: {law: LAW}
world: {collision: [{plane: {}}]}
models:
  puppet:
    links:
      trunk: {inertial: {mass: 1.0}, collision: [{capsule: {radius: 0.05, length: 0.15}}]}
      leg: {inertial: {mass: 0.4, com: [0, 0, -0.1], inertia: {ixx: 2.0e-3, iyy: 2.0e-3, izz: 5.0e-4}},
            collision: [{capsule: {radius: 0.03, length: 0.14}, pose: {xyz: [0, 0, -0.1]}}]}
      arm: {inertial: {mass: 0.3, com: [0.1, 0, 0], inertia: {ixx: 5.0e-4, iyy: 1.0e-3, izz: 1.0e-3}},
            collision: [{capsule: {radius: 0.03, length: 0.1}, pose: {xyz: [0.1, 0, 0], rpy: [0, 1.57, 0]}}]}
      hand: {inertial: {mass: 0.1, inertia: {ixx: 1.0e-4, iyy: 1.0e-4, izz: 1.0e-4}}, collision: [{box: [0.05, 0.04, 0.03]}]}
    joints:
      hip: {type: ball, parent: trunk, child: leg, origin: {xyz: [0, 0, -0.13]}, damping: 0.02}
      shoulder: {type: planar, parent: trunk, child: arm, origin: {xyz: [0, 0.06, 0.05]}, axis: [0.3, 1, 0.2], damping: 0.5}
      wrist: {type: revolute, parent: arm, child: hand, origin: {xyz: [0.2, 0, 0]}, axis: [0, 1, 0], stiffness: 0.5,
              reference: 0.4, damping: 0.005}
instances:
  one: {model: puppet, base: floating, pose: {xyz: [0, 0, 0.35], rpy: [0.3, 0.2, 0]}, joint_qd: {hip: [1, 2, 3]}}
  two: {model: puppet, base: floating, pose: {xyz: [0.05, 0.02, 0.75], rpy: [1.2, 0.1, 0.5]}}
bodies:
  ball: {sphere: 0.05, mass: 0.5, pose: {xyz: [0.05, 0, 0.05]}}
"""

# Capsules in a trough of boxes, lying along one another and along faces and edges.
LOGS = """
sapsim: 1
name: logs
time_step: 0.005
steps: 80
contact: {law: LAW}
world:
  collision:
    - {box: [0.8, 0.5, 0.1], pose: {xyz: [0, 0, -0.05]}}
    - {box: [0.8, 0.1, 0.5], pose: {xyz: [0, 0.2, 0.2], rpy: [-0.2, 0, 0]}}
    - {box: [0.8, 0.1, 0.5], pose: {xyz: [0, -0.2, 0.2], rpy: [0.2, 0, 0]}}
bodies:
  log:
    capsule: {radius: 0.04, length: 0.3}
    density: 700
    velocity: {linear: [0, 0, -1]}
    pose: {xyz: [0, -0.08, 0.08], rpy: [0, 1.5707963267948966, 0]}
    repeat: {count: [1, 3, 3], spacing: [0.1, 0.085, 0.1], jitter: {xyz: [0.02, 0.002, 0.002], rpy: [0.05, 0.05, 0.05]}}
  slab: {box: [0.3, 0.2, 0.04], density: 500, pose: {xyz: [0, 0, 0.42], rpy: [0.2, 0.1, 0.4]}}
"""

# All kinds of ties, within a tree, between two and with the world; dry friction; a net of bodies, whose graph has cliques.
TIED = CHAIN.replace("name: chain", "name: tied").replace("damping: 0.02, armature", "damping: 0.02, friction: 0.02, armature")
TIED = TIED.replace(
    "ball: {sphere",
    """knot: {sphere: 0.03, mass: 0.1, pose: {xyz: [0.5, 0, 0.1]},
         repeat: {count: [3, 3, 1], spacing: [0.1, 0.1, 0], jitter: {xyz: [0.01, 0.01, 0.01], rpy: [0, 0, 0], seed: 3}}}
  tag: {sphere: 0.03, mass: 0.1, pose: {xyz: [-0.0921, 0, 0.2389]}}
  lump: {sphere: 0.03, mass: 0.1, pose: {xyz: [0.0484, -0.0304, 0.3204], rpy: [0, -0.3, 1.0]}}
  ball: {sphere""",
)
TIED += """
filter: [[tag, one], [lump, two]]
constraints:
  gear: {type: coupler, joints: [one/ab, one/cd], ratio: 4}
  belt: {type: coupler, joints: [one/bc, two/bc], ratio: -1}
  cord: {type: tendon, joints: [one/ab, two/ab], coefficients: [1, 1], lower: -0.05, upper: 0.1, stiffness: 200, damping: 1}
  hook: {type: ball, a: {link: world, point: [0.2, 0.05, 0.7]}, b: {link: ball, point: [0, 0, 0.1]}}
  clasp: {type: ball, a: {link: one/a, point: [-0.1, 0, 0]}, b: {link: tag}}
  glue: {type: weld, a: {link: two/a, point: [-0.1, 0, 0]}, b: {link: lump}}
  hoop: {type: distance, a: {link: two/a}, b: {link: two/d}, length: 0.6, stiffness: 100, damping: 1}
  rope: {type: distance, a: {link: two/d}, b: {link: world, point: [0, 0, 1]}, length: 0.8, unilateral: true}
"""
TIED += "".join(
    f"  net{i}{j}{k}: {{type: distance, a: {{link: knot/{i}/{j}/0}}, b: {{link: knot/{i + k}/{j + 1 - k}/0}}, length: 0.1,"
    f" stiffness: 500, damping: 1}}\n"
    for k in range(2)
    for i in range(3 - k)
    for j in range(2 + k)
)
# Screw, universal and cylindrical joints.
LINKAGE = """
sapsim: 1
name: linkage
time_step: 0.005
steps: 60
contact: {law: LAW}
world: {collision: [{plane: {}}]}
models:
  linkage:
    links:
      trunk: {inertial: {mass: 1.0, inertia: {ixx: 4.0e-3, iyy: 5.0e-3, izz: 6.0e-3}}, collision: [{box: [0.2, 0.1, 0.08]}]}
      nut: {inertial: {mass: 0.3, com: [0, 0, 0.1], inertia: {ixx: 1.0e-3, iyy: 1.0e-3, izz: 5.0e-4}},
            collision: [{sphere: 0.04, pose: {xyz: [0, 0, 0.1]}}]}
      fork: {inertial: {mass: 0.3, com: [0.1, 0, 0], inertia: {ixx: 5.0e-4, iyy: 1.0e-3, izz: 1.0e-3}},
             collision: [{sphere: 0.04, pose: {xyz: [0.15, 0, 0]}}]}
      piston: {inertial: {mass: 0.2, com: [0, 0, 0.05], inertia: {ixx: 4.0e-4, iyy: 5.0e-4, izz: 2.0e-4}},
               collision: [{capsule: {radius: 0.03, length: 0.1}}]}
    joints:
      thread: {type: screw, parent: trunk, child: nut, origin: {xyz: [-0.1, 0, 0], rpy: [0, -1.2, 0]}, axis: [0, 0, 1],
               pitch: 0.05, damping: 0.01}
      cardan: {type: universal, parent: trunk, child: fork, origin: {xyz: [0.12, 0, 0]}, axis: [0, 1, 0], axis2: [0, 0, 1],
               damping: 0.01}
      sleeve: {type: cylindrical, parent: fork, child: piston, origin: {xyz: [0.2, 0, 0], rpy: [0, 0.4, 0]}, axis: [0, 0, 1],
               damping: 0.05}
instances:
  one: {model: linkage, base: floating, pose: {xyz: [0, 0, 0.15], rpy: [0.2, 0.4, 0]}, joint_qd: {cardan: [2, -3]}}
  two: {model: linkage, base: floating, pose: {xyz: [0.1, 0.05, 0.35], rpy: [0, -0.3, 1.0]}, joint_qd: {sleeve: [0.3, 4]}}
"""


def tree_text(arms: int, length: int) -> str:
    """A floating body with arms of hinges and balls at their ends: more than 64 degrees of freedom take the sparse factor."""
    links, joints = [], []
    for a in range(arms):
        for i in range(length):
            end = ", collision: [{sphere: 0.05}]" if i in (length // 2, length - 1) else ""
            links.append(f"a{a}x{i}: {{inertial: {{mass: 0.2, inertia: {{ixx: 1e-3, iyy: 2e-3, izz: 3e-3}}}}{end}}}")
            where = f"xyz: [{0.1 if i else 0.2}, 0, 0], rpy: [0, 0, {0 if i else a}]"
            joints.append(
                f"j{a}x{i}: {{type: revolute, parent: {f'a{a}x{i - 1}' if i else 'body'}, child: a{a}x{i}, damping: 0.1,"
                f" axis: [{i % 3}, 1, {i % 2}], origin: {{{where}}}}}"
            )
    text = "sapsim: 1\nname: tree\ntime_step: 0.005\nsteps: 30\ncontact: {law: LAW}\nworld: {collision: [{plane: {}}]}\n"
    text += "models:\n  tree:\n    links:\n      body: {inertial: {mass: 2, inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}}\n"
    text += "".join(f"      {k}\n" for k in links) + "    joints:\n" + "".join(f"      {j}\n" for j in joints)
    return text + "instances:\n  tree: {model: tree, base: floating, pose: {xyz: [0, 0, 0.08], rpy: [0.02, 0.01, 0]}}\n"


TREE = tree_text(5, 12)

TEXTS = {
    "stack-lagged": STACK.replace("LAW", "lagged"),
    "stack-sap": STACK.replace("LAW", "sap"),
    "bin-lagged": BIN.replace("LAW", "lagged").replace("SEARCH", "exact"),
    "bin-sap": BIN.replace("LAW", "sap").replace("SEARCH", "backtracking"),
    "chain-lagged": CHAIN.replace("LAW", "lagged"),
    "chain-sap": CHAIN.replace("LAW", "sap"),
    "chain-momentum": CHAIN.replace("LAW", "lagged") + "solver: {form: momentum}\n",
    "chain-whole": CHAIN.replace("LAW", "sap") + "solver: {islands: false}\n",
    "puppet-lagged": PUPPET.replace("LAW", "lagged"),
    "puppet-similar": PUPPET.replace("LAW", "similar"),
    "tied-lagged": TIED.replace("LAW", "lagged"),
    "tied-sap": TIED.replace("LAW", "sap"),
    "linkage-lagged": LINKAGE.replace("LAW", "lagged"),
    "tree-lagged": TREE.replace("LAW", "lagged"),
    "heap-lagged": HEAP.replace("LAW", "lagged"),
    "logs-sap": LOGS.replace("LAW", "sap"),
    "logs-similar": LOGS.replace("LAW", "similar"),
    "bin-dense": BIN.replace("LAW", "lagged").replace("SEARCH", "exact, linear_solver: dense"),
    "bin-pcg": BIN.replace("LAW", "lagged").replace("SEARCH", "exact, linear_solver: pcg"),
    "tied-block_sparse": TIED.replace("LAW", "lagged") + "solver: {linear_solver: block_sparse}\n",
    "tied-dense": TIED.replace("LAW", "lagged") + "solver: {linear_solver: dense}\n",
    "tied-pcg": TIED.replace("LAW", "lagged") + "solver: {linear_solver: pcg}\n",
    "tree-dense": TREE.replace("LAW", "lagged") + "solver: {linear_solver: dense}\n",
    "tree-pcg": TREE.replace("LAW", "lagged") + "solver: {linear_solver: pcg}\n",
}
# Lanes run stage by stage, as on a GPU: a kernel of all stages for each law, form and build would take longest to compile.  In
# one build these run as such a kernel, which has barriers of its own between stages.
FUSED_BUILD, FUSED = (32, "down"), ("stack-lagged", "bin-lagged", "chain-lagged", "puppet-lagged", "tied-lagged", "tree-lagged")
FUNCTIONS = "functions"  # a job: the functions of sapsim.dynamics
TEXTS = {name: text + "output: {channels: [state, contacts, solver, energy, reactions]}\n" for name, text in TEXTS.items()}
TEXTS["failing-lagged"] = TEXTS["chain-lagged"]
TEXTS["bin-grid"] = TEXTS["bin-lagged"]  # near pairs from the grid, which else only large models have
SINGLE = {"tied-float32": "tied-sap", "bin-float32": "bin-sap"}  # the same in float32
WORLDS = {"bin-lagged": 2, "bin-grid": 2, "bin-float32": 2, "failing-lagged": 3}  # so that more than one block runs


def run_functions(lanes: int | None) -> dict[str, str]:
    """The functions of sapsim.dynamics on states of three mechanisms, with both factors; a digest of what each returns."""
    found = {}
    for name, link in (("chain-sap", "one/c"), ("linkage-lagged", "two/fork"), ("tree-lagged", "tree/a2x4")):
        for factor in ("dense", "sparse"):
            found |= {f"{name} {factor} {key}": x for key, x in call_functions(name, link, factor, lanes).items()}
    assert all(np.isfinite(x).all() and x.any() for x in found.values())
    return {key: digest(value) for key, value in found.items()}


def call_functions(name: str, link: str, factor: str, lanes: int | None) -> dict[str, np.ndarray]:
    from sapsim.dynamics import Dynamics, ExternalForce
    from sapsim.scene.read import loads

    d = Dynamics(loads(TEXTS[name], file=f"{name}.yaml"), nworld=5, lanes=lanes, factor=factor)
    rng = np.random.default_rng(0)
    q = d.move(d.neutral, rng.normal(size=(5, d.nv)), 0.5)
    v, a = rng.normal(size=(2, 5, d.nv))
    push = [ExternalForce(link, (1.0, 2.0, 3.0), point=(0.1, 0.0, 0.0), frame="link")]
    tau = d.rnea(q, v, a, push)
    found = {"q": q, "tau": tau, "M": d.crba(q), "a": d.aba(q, v, tau, push), "qd": d.to_external(q, v)}
    return found | {"v": d.to_internal(q, found["qd"]), "x": d.solve(q, tau)}


def with_hull(scene, link: str):
    """The scene with a convex polytope in place of a link's shape."""
    from sapsim.scene.hull import convex_hull

    points = np.random.default_rng(1).normal(size=(24, 3))
    hull = convex_hull(0.035 * points / np.linalg.norm(points, axis=1)[:, None])
    links = [
        replace(k, shapes=tuple(replace(s, kind="convex", params=(), hull=hull) for s in k.shapes)) if k.name == link else k
        for k in scene.links
    ]
    return replace(scene, links=type(scene.links)(links))


def run(name: str, lanes: int | None = None, fused: bool | None = None) -> dict[str, str]:
    """Runs a simulation on the CPU; a digest of every output array by its name.  Lanes and `fused` must change none."""
    if name == FUNCTIONS:
        return run_functions(lanes)
    from sapsim.scene.read import loads
    from sapsim.step.simulation import Simulation

    text = TEXTS[SINGLE.get(name, name)]
    scene = replace(loads(text, file=f"{name}.yaml"), nworld=WORLDS.get(name, 1))
    if name.startswith("heap"):
        scene = with_hull(scene, "ball")
    precision = "float32" if name in SINGLE else "float64"
    with patch("sapsim.model.pairs.LISTED", 0 if name.endswith("-grid") else 10**9):
        sim = Simulation(scene, device="cpu", precision=precision, lanes=lanes, fused=fused)
    assert (sim.model.sizes["ngrid"] > 0) == name.endswith("-grid")
    good = np.ones(sim.nworld, bool)
    if name.startswith("failing"):
        good[1] = False
        make_fail(sim, 1)
    block = sim.advance(scene.steps)
    assert block.contact_count.max() > 0 and block.iterations.max() > 0, "nothing happened that lanes could get wrong"
    acting = (block.constraint_impulse[:, good] != 0.0).any(axis=(0, 1))
    assert acting.sum() >= 8 or not len(acting), "limits and drives must act where there are some"
    assert block.reaction[:, good].any(axis=(0, 1, 3)).all(), "every joint must transmit something, if only a residual"
    assert np.isfinite(block.reaction[:, good]).all() and np.isnan(block.reaction[:, ~good]).all()
    assert block.energy[..., :2].any(axis=(0, 1)).all(), "the scene records energies"
    assert np.isfinite(block.joint_q[:, good]).all() and (block.converged.all(axis=0) == good).all()
    arrays = {f.name: getattr(block, f.name) for f in fields(block) if f.name != "contacts"}
    arrays |= {f"contacts.{f.name}": getattr(block.contacts, f.name) for f in fields(block.contacts)}
    arrays |= {f"totals.{f.name}": np.asarray(getattr(sim.totals, f.name)) for f in fields(sim.totals)}
    arrays |= {name: sim.arrays[name].numpy() for name in ("softened_count", "softened_least")}
    assert not name.endswith("-sap") or arrays["softened_count"].any(), "law sap must have softened some contacts"
    sim.advance(1)  # a counting kernel looks back when its next block starts
    return {key: digest(value) for key, value in arrays.items()}


def make_fail(sim, world: int) -> None:
    """Gives the first body of a world a velocity whose square is not finite."""
    q, v = (np.tile(x, (sim.nworld, 1)) for x in (sim.model.q0, sim.model.qd0))
    v[world, 3:6] = (1e200, 2e200, 3e200)
    sim.set_state(q, v)


def digest(values: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
