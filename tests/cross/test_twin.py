"""The simulation against the NumPy twin: one step from the same state, both at relative_tolerance 1e-13.

The error is |D^-1 (v - v_twin)| / max(|D A v|, |D J^T gamma|), D = diag(A)^-1/2.  The tolerance 1e-10 leaves three
digits for the conditioning of D A D above the residual of 1e-13 at which both stop.
"""

import numpy as np
import pytest

from sapsim.reference.step import Twin
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

TOLERANCE = 1e-10
TIGHT = ("solver.relative_tolerance=1e-13",)

SPHERES = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
materials:
  soft: {stiffness: 2.0e+4, dissipation: 5, relaxation_time: 0.01, friction: 0.6}
  hard: {stiffness: 1.0e+6, dissipation: 20, relaxation_time: 0.005, friction: 0.3}
world: {collision: [{plane: {}, material: soft}]}
bodies:
  low: {sphere: 0.1, mass: 1.0, material: hard, pose: {xyz: [0, 0, 0.099]}}
  high: {sphere: 0.08, mass: 0.5, material: soft, pose: {xyz: [0.02, 0.01, 0.276]}, velocity: {linear: [0, 0, -0.5]}}
  fast: {sphere: 0.06, mass: 0.2, material: hard, pose: {xyz: [-0.4, 0, 0.0595]},
         velocity: {linear: [1.0, 0.3, 0], angular: [0, 0, 20]}}
  spin: {sphere: 0.05, mass: 0.1, material: soft, pose: {xyz: [0.5, 0, 0.0495]}, velocity: {angular: [30, 0, 0]}}
"""

BIN = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
materials: {wood: {stiffness: 1.0e+5, dissipation: 10, relaxation_time: 0.01, friction: 0.5}}
world:
  collision:
    - {box: [0.7, 0.7, 0.1], pose: {xyz: [0, 0, -0.05]}, material: wood}
    - {box: [0.1, 0.7, 0.6], pose: {xyz: [0.25, 0, 0.3]}, material: wood}
    - {box: [0.1, 0.7, 0.6], pose: {xyz: [-0.25, 0, 0.3]}, material: wood}
    - {box: [0.7, 0.1, 0.6], pose: {xyz: [0, 0.25, 0.3]}, material: wood}
    - {box: [0.7, 0.1, 0.6], pose: {xyz: [0, -0.25, 0.3]}, material: wood}
bodies:
  cube: {box: [0.1, 0.1, 0.1], density: 800, material: wood, pose: {xyz: [-0.08, -0.08, 0.06], rpy: [0.1, 0.05, 0.4]},
         repeat: {count: [2, 2, 1], spacing: [0.16, 0.16, 0.2]}}
  slab: {box: [0.22, 0.2, 0.05], density: 500, material: wood, pose: {xyz: [0.01, 0, 0.20], rpy: [0.2, -0.1, 0.6]}}
  ball: {sphere: 0.06, density: 900, material: wood, pose: {xyz: [0.02, 0.03, 0.33]}, velocity: {angular: [5, 0, 0]}}
"""

CHAIN = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
world: {collision: [{plane: {}}]}
models:
  chain:
    links:
      a: {inertial: {mass: 1.0, com: [0.02, 0, 0.01], inertia: {ixx: 0.004, iyy: 0.005, izz: 0.006, ixy: 0.0003}},
          collision: [{box: [0.2, 0.1, 0.08]}]}
      plate: {inertial: {mass: 0.3, com: [0, 0.01, 0], inertia: {ixx: 0.001, iyy: 0.001, izz: 0.0015}},
              collision: [{box: [0.08, 0.08, 0.04]}]}
      b: {inertial: {mass: 0.6, com: [0.1, 0, 0], inertia: {ixx: 0.001, iyy: 0.003, izz: 0.003}},
          collision: [{sphere: 0.05, pose: {xyz: [0.2, 0, 0]}}]}
      c: {inertial: {mass: 0.4, com: [0, 0, -0.08], inertia: {ixx: 0.002, iyy: 0.002, izz: 0.001, ixz: 0.0001}},
          collision: [{sphere: 0.04, pose: {xyz: [0, 0, -0.15]}}]}
    joints:
      weld: {type: fixed, parent: a, child: plate, origin: {xyz: [-0.14, 0, 0], rpy: [0, 0.3, 0]}}
      elbow: {type: revolute, parent: a, child: b, origin: {xyz: [0.1, 0, 0], rpy: [0.2, 0, 0.1]}, axis: [0, 1, 0],
              damping: 0.05, armature: 0.004}
      slide: {type: prismatic, parent: plate, child: c, origin: {xyz: [-0.1, 0, 0]}, axis: [0, 0.6, 0.8],
              damping: 1.0, armature: 0.02}
instances:
  snake: {model: chain, base: floating, pose: {xyz: [0, 0, 0.2], rpy: [0.3, 0.2, 0.5]}, joint_q: {elbow: 0.3},
          joint_qd: {elbow: -1.0, slide: 0.2}, velocity: {linear: [0.5, 0, -1.0], angular: [1, 2, 3]}}
"""

PENDULUM = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
models:
  pendulum:
    links:
      upper: {inertial: {mass: 1, com: [0, 0.02, -0.5], inertia: {ixx: 0.0833, iyy: 0.0833, izz: 0.001}}}
      lower: {inertial: {mass: 1, com: [0.01, 0, -0.5], inertia: {ixx: 0.0833, iyy: 0.0833, izz: 0.001}}}
    joints:
      hip: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.1}
      knee: {type: continuous, parent: upper, child: lower, origin: {xyz: [0, 0, -1], rpy: [0, 0, 0.3]},
             axis: [0, 1, 0.2], armature: 0.05}
instances: {arm: {model: pendulum, pose: {xyz: [0, 0, 2], rpy: [0.1, 0, 0]}, joint_q: {hip: 1.0, knee: 0.5}}}
forces:
  push: {link: arm/lower, force: [3, 0, 1], torque: [0, 0.2, 0], point: [0, 0, -1], frame: link, from: 0.0, until: 0.5}
"""

LIMBS = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
world: {collision: [{plane: {}, pose: {rpy: [0.1, 0.05, 0]}}]}
models:
  limbs:
    links:
      trunk: {inertial: {mass: 1.0, com: [0.02, 0, 0.01], inertia: {ixx: 0.004, iyy: 0.005, izz: 0.006, ixy: 0.0003}},
              collision: [{capsule: {radius: 0.06, length: 0.2}, pose: {rpy: [0, 1.5707963267948966, 0]}}]}
      arm: {inertial: {mass: 0.4, com: [0.1, 0, 0], inertia: {ixx: 0.001, iyy: 0.003, izz: 0.003}},
            collision: [{capsule: {radius: 0.03, length: 0.15}, pose: {xyz: [0.1, 0, 0], rpy: [0, 1.4, 0]}}]}
      foot: {inertial: {mass: 0.5, com: [0, 0.02, -0.08], inertia: {ixx: 0.002, iyy: 0.002, izz: 0.001, ixz: 0.0001}},
             collision: [{sphere: 0.05, pose: {xyz: [0, 0, -0.1]}}]}
      hand: {inertial: {mass: 0.2, inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}},
             collision: [{box: [0.06, 0.05, 0.04]}]}
    joints:
      hip: {type: ball, parent: trunk, child: foot, origin: {xyz: [-0.1, 0, -0.05], rpy: [0.2, 0.1, 0]}, damping: 0.02,
            armature: 0.003}
      shoulder: {type: planar, parent: trunk, child: arm, origin: {xyz: [0.15, 0, 0]}, axis: [0.2, 0.4, -0.6], damping: 0.5}
      wrist: {type: prismatic, parent: arm, child: hand, origin: {xyz: [0.25, 0, 0], rpy: [0, 0.3, 0]}, stiffness: 200,
              reference: 0.02, damping: 0.5}
instances:
  puppet: {model: limbs, base: floating, pose: {xyz: [0, 0, 0.25], rpy: [0.3, 0.2, 0.5]}, joint_q: {hip: [0.1, 0.2, 0, 1],
           shoulder: [0.02, -0.01, 0.4]}, joint_qd: {hip: [1, -2, 3], shoulder: [0.3, 0.2, -2], wrist: 0.2},
           velocity: {linear: [0.5, 0, -1.0], angular: [1, 2, 3]}}
"""

LINKAGE = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
world: {collision: [{plane: {}, pose: {rpy: [0.1, 0.05, 0]}}]}
models:
  linkage:
    links:
      trunk: {inertial: {mass: 1.0, com: [0.02, 0, 0.01], inertia: {ixx: 0.004, iyy: 0.005, izz: 0.006, ixy: 0.0003}},
              collision: [{box: [0.2, 0.1, 0.08]}]}
      cross: {inertial: {mass: 0.4, com: [0.1, 0.02, 0], inertia: {ixx: 0.001, iyy: 0.003, izz: 0.003}},
              collision: [{sphere: 0.04, pose: {xyz: [0.15, 0, 0]}}]}
      nut: {inertial: {mass: 0.5, com: [0, 0.02, -0.08], inertia: {ixx: 0.002, iyy: 0.002, izz: 0.001, ixz: 0.0001}}}
      piston: {inertial: {mass: 0.3, com: [0, 0.03, 0], inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}},
               collision: [{sphere: 0.05}]}
    joints:
      gimbal: {type: universal, parent: trunk, child: cross, origin: {xyz: [0.15, 0, 0], rpy: [0.2, 0.1, 0]}, axis: [0, 0, 1],
               axis2: [0.2, 1, 0.4], damping: 0.02, armature: 0.003}
      thread: {type: screw, parent: trunk, child: nut, origin: {xyz: [-0.15, 0, 0]}, axis: [1, 0.2, 0], pitch: -0.05,
               stiffness: 0.5, reference: 0.2}
      sleeve: {type: cylindrical, parent: nut, child: piston, axis: [0.1, 0.2, 1], damping: 0.1}
instances:
  it: {model: linkage, base: floating, pose: {xyz: [0, 0, 0.25], rpy: [0.3, 0.2, 0.5]}, joint_q: {gimbal: [0.4, -0.7],
       sleeve: [0.2, -0.1]}, joint_qd: {gimbal: [3, -4], thread: 5, sleeve: [2, -0.3]},
       velocity: {linear: [0.5, 0, -1.0], angular: [1, 2, 3]}}
"""

LOGS = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
materials: {wood: {stiffness: 1.0e+5, dissipation: 10, relaxation_time: 0.01, friction: 0.5}}
world:
  collision:
    - {box: [0.8, 0.5, 0.1], pose: {xyz: [0, 0, -0.05]}, material: wood}
    - {box: [0.8, 0.1, 0.5], pose: {xyz: [0, 0.2, 0.2]}, material: wood}
    - {box: [0.8, 0.1, 0.5], pose: {xyz: [0, -0.2, 0.2]}, material: wood}
bodies:
  log: {capsule: {radius: 0.05, length: 0.3}, density: 700, material: wood,
        pose: {xyz: [0.02, -0.09, 0.06], rpy: [0, 1.5707963267948966, 0]},
        repeat: {count: [1, 3, 2], spacing: [0.2, 0.09, 0.1], jitter: {xyz: [0.02, 0.002, 0.002], rpy: [0.02, 0.02, 0.02]}}}
  ball: {sphere: 0.06, density: 900, material: wood, pose: {xyz: [0.02, 0.03, 0.3]}, velocity: {angular: [5, 0, 0]}}
"""

# The chain with limits that it runs into, a drive at its bound, one whose gains no step resolves, and two that share a bound
# with an open-loop actuator.
DRIVEN = CHAIN.replace("armature: 0.004}", "armature: 0.004, limit: {lower: 0.0, upper: 0.5, effort: 3}}").replace(
    "armature: 0.02}", "armature: 0.02, limit: {lower: -0.05, upper: 0.05}}"
)
DRIVEN += """
  robot: {model: chain, base: fixed, pose: {xyz: [1, 0, 0.3]}, joint_q: {elbow: 0.4}}
actuators:
  hold: {joint: snake/elbow, kp: 50, kd: 0.5, target: 0.6, feedforward: 0.2, effort_limit: 5}
  damp: {joint: snake/elbow, kd: 0.3}
  push: {joint: snake/elbow, effort: 0.7}
  lift: {joint: snake/slide, kp: 1.0e+6, kd: 10, target: 0.03, target_velocity: 0.1, effort_limit: 30}
  turn: {joint: robot/elbow, kp: 20, kd: 1, target: initial}
"""

# Every kind of tie, within a tree, between two and with the world; dry friction of joints of one and of three degrees.
TIED = """
sapsim: 1
time_step: 0.005
steps: 400
contact: {law: LAW}
models:
  limb:
    links:
      one: &link {inertial: {mass: 0.5, com: [0.1, 0, 0.02], inertia: {ixx: 1.0e-3, iyy: 3.0e-3, izz: 3.0e-3}},
                  collision: [{sphere: 0.04, pose: {xyz: [0.2, 0, 0]}}]}
      two: *link
      three: *link
    joints:
      a: {type: revolute, parent: world, child: one, axis: [0, 1, 0], friction: 0.3}
      b: {type: prismatic, parent: world, child: two, origin: {xyz: [0, 0.3, 0]}, axis: [0, 0, 1], damping: 1}
      c: {type: ball, parent: one, child: three, origin: {xyz: [0.2, 0, 0]}, friction: 0.01}
instances: {limb: {model: limb, pose: {xyz: [0, 0, 0.5]}}}
world: {collision: [{plane: {}}]}
bodies:
  x: {sphere: 0.1, mass: 1, pose: {xyz: [1, 0, 0.099]}, velocity: {linear: [-1, 0, 0]}}
  y: {sphere: 0.1, mass: 1, pose: {xyz: [1.5, 0, 1]}}
  z: {box: [0.1, 0.1, 0.2], mass: 1, pose: {xyz: [2, 0, 1]}}
  u: {box: [0.1, 0.1, 0.2], mass: 1, pose: {xyz: [2.2, 0, 1]}}
constraints:
  gear: {type: coupler, joints: [limb/a, limb/b], ratio: 0.5}
  rope: {type: distance, a: {link: x, point: [0, 0, 0.1]}, b: {link: world, point: [1.2, 0.1, 0.6]}, length: 0.48,
         unilateral: true}
  rod: {type: distance, a: {link: x}, b: {link: y}, length: 1.03, stiffness: 1000, damping: 10}
  pin: {type: ball, a: {link: world, point: [1.5, 0, 1.2]}, b: {link: y, point: [0, 0, 0.2]}}
  glue: {type: weld, a: {link: z, point: [0.1, 0, 0]}, b: {link: u, point: [-0.1, 0, 0]}}
  hang: {type: ball, a: {link: limb/three, point: [0.1, 0, 0]}, b: {link: z, point: [-1.7, 0, -0.5]}}
  brace: {type: distance, a: {link: limb/three, point: [0, 0.1, 0]}, b: {link: limb/one}, length: 0.223, stiffness: 500}
  cord: {type: tendon, joints: [limb/a, limb/b], coefficients: [1, 2], lower: -0.01, upper: 0.1, stiffness: 1000}
"""

# scene, steps that are compared, steps of the run between two of them, contacts that must come up
CASES = {
    "spheres": (SPHERES, 20, 5, 4),
    "bin": (BIN, 12, 20, 12),
    "chain": (CHAIN, 20, 10, 2),
    "pendulum": (PENDULUM, 20, 5, 0),
    "limbs": (LIMBS, 20, 10, 2),
    "linkage": (LINKAGE, 20, 10, 2),
    "logs": (LOGS, 12, 20, 12),
    "driven": (DRIVEN, 20, 10, 2),
    "tied": (TIED, 20, 10, 1),
}


# Settings under which both must walk the same path, also where it leads nowhere.
OPTIONS = {
    "default": (),
    "backtracking": ("solver.line_search=backtracking",),
    "too few iterations": ("solver.max_iterations=2",),
    "soft": ("contact.near_rigid=0.1", "contact.sigma=0.01", "contact.stiction_tolerance=0.01"),
    "margin": ("contact.margin=0.01",),
    "momentum form": ("solver.form=momentum",),
}


@pytest.mark.parametrize("law", ["lagged", "sap", "similar"])
@pytest.mark.parametrize("name", CASES)
def test_one_step_from_the_same_state(name, law, tmp_path):
    text, compared, between, contacts_expected = CASES[name]
    path = tmp_path / f"{name}.yaml"
    path.write_text(text.replace("LAW", law))
    scene = load(str(path), overrides=TIGHT)
    sim, twin = Simulation(scene, device="cpu"), Twin(scene)
    block = sim.initial()
    np.testing.assert_array_equal(block.joint_q[-1, 0], twin.initial()[0])
    np.testing.assert_array_equal(block.joint_qd[-1, 0], twin.initial()[1])

    most, acting = 0, set()
    for _ in range(compared):
        if between > 1:
            block = sim.advance(between - 1)
        q, qd = block.joint_q[-1, 0], block.joint_qd[-1, 0]
        k = sim.steps_done
        block = sim.advance(1)
        result = twin.step(q, qd, k)
        compare(twin, result, block)
        most = max(most, len(result.contacts))
        acting |= {sim.constraint_names[c.row] for c in result.constraints if c.gamma != 0.0}
    assert most >= contacts_expected
    if scene.actuators:
        assert acting >= {"hold", "damp", "lift", "turn", "snake/elbow:upper"}
    if scene.constraints:  # all rows, but of the tendon one bound
        assert len(set(sim.constraint_names) - acting) <= 1


def compare(twin, result, block):
    """One recorded row against the twin's step."""
    q, qd = block.joint_q[-1, 0], block.joint_qd[-1, 0]
    assert result.velocity_error(twin.internal(q, qd)) <= TOLERANCE
    # q = q0 + h N v: round-off of coordinates of order one, and h times the velocity error.
    np.testing.assert_allclose(q, result.q, atol=1e-11)
    body_q, expected_q = block.body_q[-1, 0], twin.body_q(result.q)
    signs = np.sign(np.sum(body_q[:, 3:] * expected_q[:, 3:], axis=1, keepdims=True))  # q and -q are one rotation
    expected_q[:, 3:] *= signs
    np.testing.assert_allclose(body_q, expected_q, atol=1e-11)
    np.testing.assert_allclose(block.body_qd[-1, 0], twin.body_qd(result.q, result.v), atol=1e-9)

    rows = np.flatnonzero(block.contacts.row == len(block.step) - 1)
    found = block.contacts
    assert block.contact_count[-1, 0] == len(rows) == len(result.contacts)
    expected = [(c.shape_a, c.shape_b, c.feature) for c in result.contacts]
    assert list(zip(found.shape_a[rows], found.shape_b[rows], found.feature[rows], strict=True)) == expected
    for i, c in zip(rows, result.contacts, strict=True):
        # Geometry and pair values: round-off of coordinates of order one.
        np.testing.assert_allclose(found.point[i], c.point, atol=1e-11)
        np.testing.assert_allclose(found.normal[i], c.normal, atol=1e-11)
        assert found.depth[i] == pytest.approx(c.depth, abs=1e-12)
        assert found.stiffness[i] == pytest.approx(c.stiffness, rel=1e-9)
        assert found.friction[i] == pytest.approx(c.friction, rel=1e-12)
    # Impulses in momentum's norm, as a velocity error is; where they are not unique only their sum J^T gamma is.
    frames = [c.R_WC for c in result.contacts]
    gamma = np.array([R.T @ found.impulse[i] for R, i in zip(frames, rows, strict=True)]).ravel()
    error = np.linalg.norm(result.D * (result.J.T @ (gamma - result.gamma)))
    assert error <= 10.0 * TOLERANCE * result.momentum_scale

    # those of constraints, too
    rows = block.constraint_impulse[-1, 0] - result.constraint_impulse
    rows_J = {c.row: c.J for c in result.constraints}
    assert not np.any(rows[[r for r in range(len(rows)) if r not in rows_J]])
    error = np.linalg.norm(result.D * sum((rows[r] * J for r, J in rows_J.items()), np.zeros_like(result.v)))
    assert error <= 10.0 * TOLERANCE * result.momentum_scale

    assert block.converged[-1, 0] and result.converged
    assert block.status[-1, 0] == result.status
    np.testing.assert_allclose(block.cost[-1, 0], result.cost, rtol=1e-9, atol=1e-12 * result.scale**2)
    np.testing.assert_allclose(block.residual_scale[-1, 0], result.scale, rtol=1e-9)


@pytest.mark.parametrize("law", ["lagged", "sap", "similar"])
@pytest.mark.parametrize("option", OPTIONS)
def test_the_path_is_the_same(option, law, tmp_path):
    """With the default tolerance: iterations, flags, status and the last iterate of the two agree, converged or not."""
    path = tmp_path / "bin.yaml"
    path.write_text(BIN.replace("LAW", law))
    scene = load(str(path), overrides=OPTIONS[option])
    sim, twin = Simulation(scene, device="cpu"), Twin(scene)
    sim.initial()
    unconverged = iterated = 0
    for _ in range(8):
        before = sim.advance(25)
        block = sim.advance(1)
        result = twin.step(before.joint_q[-1, 0], before.joint_qd[-1, 0], sim.steps_done - 1)
        v = twin.internal(block.joint_q[-1, 0], block.joint_qd[-1, 0])
        # The same iterates: round-off, magnified by the Newton steps (measured 2e-13).
        assert result.velocity_error(v) <= 1e-10
        assert block.contact_count[-1, 0] == len(result.contacts)
        assert block.iterations[-1, 0] == result.iterations
        assert block.optimality_reached[-1, 0] == result.optimality_reached
        assert block.cost_reached[-1, 0] == result.cost_reached
        assert block.status[-1, 0] == result.status
        unconverged += not result.converged
        iterated += result.iterations
    assert iterated > 0
    assert (unconverged > 0) == (option == "too few iterations")


@pytest.mark.parametrize("law", ["lagged", "sap"])
@pytest.mark.parametrize("name", CASES)
def test_one_step_in_float32(name, law, tmp_path):
    """From the state that the float32 run is in: its step is the twin's, to float32's stopping rule and its depths."""
    text, compared, between, contacts_expected = CASES[name]
    path = tmp_path / f"{name}.yaml"
    path.write_text(text.replace("LAW", law))
    scene = load(str(path))
    sim, twin = Simulation(scene, device="cpu", precision="float32"), Twin(scene)
    block = sim.initial()
    most = 0
    for _ in range(compared):
        if between > 1:
            block = sim.advance(between - 1)
        q, qd = block.joint_q[-1, 0].astype(float), block.joint_qd[-1, 0].astype(float)
        k = sim.steps_done
        block = sim.advance(1)
        result = twin.step(q, qd, k, relative_tolerance=1e-13)
        assert block.converged[-1, 0] and result.converged
        if block.contact_count[-1, 0] != len(result.contacts):
            continue  # one that touches by less than a rounding
        # Stopping at 1e-4 leaves a velocity error of the same order; an elastic force is k times a difference of coordinates,
        # which rounds by about four ulp.
        allowed = 5e-4 * result.momentum_scale
        for i, c in enumerate(result.contacts):
            ulp = np.spacing(np.float32(np.abs(c.point).max()))
            allowed += scene.time_step * c.stiffness * 4.0 * ulp * np.linalg.norm(result.D * result.J[3 * i + 2])
        for c in result.constraints if scene.constraints else ():
            # so does a residual, which a rigid row turns into a velocity over h: an impulse that changes v by that
            ulp = np.spacing(np.float32(2.0))
            allowed += 4.0 * ulp / scene.time_step / np.linalg.norm(result.D * c.J)
        v = twin.internal(block.joint_q[-1, 0].astype(float), block.joint_qd[-1, 0].astype(float))
        assert result.velocity_error(v) * result.momentum_scale <= allowed
        most = max(most, len(result.contacts))
    assert most >= contacts_expected
