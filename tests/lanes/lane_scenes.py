"""The simulations of the lane tests, and a digest of everything they put out."""

import hashlib
from dataclasses import fields, replace

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
  push: {joint: one/ab, effort: 0.3}
  turn: {joint: "*/bc", kp: 1, kd: 0.02, target: initial}
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

TEXTS = {
    "stack-lagged": STACK.replace("LAW", "lagged"),
    "stack-sap": STACK.replace("LAW", "sap"),
    "bin-lagged": BIN.replace("LAW", "lagged").replace("SEARCH", "exact"),
    "bin-sap": BIN.replace("LAW", "sap").replace("SEARCH", "backtracking"),
    "chain-lagged": CHAIN.replace("LAW", "lagged"),
    "chain-sap": CHAIN.replace("LAW", "sap"),
    "chain-momentum": CHAIN.replace("LAW", "lagged") + "solver: {form: momentum}\n",
    "puppet-lagged": PUPPET.replace("LAW", "lagged"),
    "puppet-similar": PUPPET.replace("LAW", "similar"),
    "logs-sap": LOGS.replace("LAW", "sap"),
    "logs-similar": LOGS.replace("LAW", "similar"),
}
TEXTS = {name: text + "output: {channels: [state, contacts, solver, reactions]}\n" for name, text in TEXTS.items()}
FUNCTIONS = "functions"  # a job: the functions of sapsim.dynamics
TEXTS["failing-lagged"] = TEXTS["chain-lagged"]
WORLDS = {"bin-lagged": 2, "failing-lagged": 3}  # so that more than one block runs


def run_functions(lanes: int | None) -> dict[str, str]:
    """The functions of sapsim.dynamics on five states of the chains; a digest of what each returns."""
    from sapsim.dynamics import Dynamics, ExternalForce
    from sapsim.scene.read import loads

    d = Dynamics(loads(TEXTS["chain-sap"], file="chain.yaml"), nworld=5, lanes=lanes)
    rng = np.random.default_rng(0)
    q = d.move(d.neutral, rng.normal(size=(5, d.nv)), 0.5)
    v, a = rng.normal(size=(2, 5, d.nv))
    push = [ExternalForce("one/c", (1.0, 2.0, 3.0), point=(0.1, 0.0, 0.0), frame="link")]
    tau = d.rnea(q, v, a, push)
    found = {"q": q, "tau": tau, "M": d.crba(q), "a": d.aba(q, v, tau, push), "qd": d.to_external(q, v)}
    found["v"] = d.to_internal(q, found["qd"])
    assert all(np.isfinite(x).all() and x.any() for x in found.values())
    return {key: digest(value) for key, value in found.items()}


def run(name: str, lanes: int | None = None, fused: bool | None = None) -> dict[str, str]:
    """Runs a simulation on the CPU; a digest of every output array by its name.  Lanes and `fused` must change none."""
    if name == FUNCTIONS:
        return run_functions(lanes)
    from sapsim.scene.read import loads
    from sapsim.step.simulation import Simulation

    scene = replace(loads(TEXTS[name], file=f"{name}.yaml"), nworld=WORLDS.get(name, 1))
    sim = Simulation(scene, device="cpu", lanes=lanes, fused=fused)
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
