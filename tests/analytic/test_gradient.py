"""Derivatives of a step against central differences of whole solves of the NumPy twin, which shares no code with them.

States are taken out of runs: sticking, sliding, free flight, an arm with limits and a drive that leans on the ground.  Errors
are relative to the largest derivative of the parameter; 1e-6 is the gate.
"""

from dataclasses import replace

import numpy as np
import pytest

from sapsim import gradient
from sapsim.dynamics.api import Dynamics
from sapsim.reference.step import Twin
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

GATE = 1.0e-6
LAWS = ("lagged", "similar", "sap")

# The surfaces are soft enough that a difference of coordinates stays well within a depth.
BLOCK = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
materials:
  ground: {stiffness: 3.0e+4, dissipation: 8, relaxation_time: 0.02, friction: 0.4}
  wood: {stiffness: 2.0e+4, dissipation: 5, relaxation_time: 0.01, friction: 0.6}
world: {collision: [{plane: {}, material: ground, pose: {rpy: [0.1, 0.05, 0]}}]}
bodies:
  ball: {sphere: 0.06, mass: 0.7, material: wood, pose: {xyz: [0, 0, HEIGHT]},
         velocity: {linear: [SPEED, 0.1, -0.2], angular: [0, SPIN, 2]}}
"""
BALL = {
    "sticking": BLOCK.replace("HEIGHT", "0.0601").replace("SPEED", "0.3").replace("SPIN", "5.0"),  # rolls
    "sliding": BLOCK.replace("HEIGHT", "0.0601").replace("SPEED", "2.0").replace("SPIN", "0.0"),
    "flight": BLOCK.replace("HEIGHT", "0.5").replace("SPEED", "1.0").replace("SPIN", "3.0"),
}

ARM = """
sapsim: 1
time_step: 0.002
steps: 1000
contact: {law: LAW}
materials: {rubber: {stiffness: 4.0e+4, dissipation: 5, relaxation_time: 0.02, friction: 0.7}}
world: {collision: [{plane: {}, material: rubber}]}
models:
  arm:
    links:
      upper: {inertial: {mass: 1.0, com: [0, 0.01, -0.2], inertia: {ixx: 0.02, iyy: 0.02, izz: 0.004}}}
      lower: {inertial: {mass: 0.5, com: [0.01, 0, -0.2], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.002}},
              collision: [{sphere: 0.06, material: rubber, pose: {xyz: [0, 0, -0.4]}}]}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.1, armature: 0.01,
                 limit: {lower: -2, upper: 0.5}}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0, 0, -0.4]}, axis: [0, 1, 0.1]}
instances: {arm: {model: arm, pose: {xyz: [0, 0, 0.8]}, joint_q: {shoulder: 0.3, elbow: -0.2}}}
bodies: {ball: {sphere: 0.05, mass: 0.3, material: rubber, pose: {xyz: [0.05, 0.01, 0.0499]}}}
actuators: {hold: {joint: arm/elbow, kp: 20, kd: 1, target: -0.4, effort_limit: 30}}
"""


def state(text: str, steps: int):
    """Scene, q, qd, number of the step: after some steps."""
    scene = loads(text, file="scene.yaml")
    sim = Simulation(scene, device="cpu")
    block = sim.initial() if steps == 0 else sim.advance(steps)
    return scene, block.joint_q[-1, 0], block.joint_qd[-1, 0], steps


def solved(scene, q, v, k: int) -> np.ndarray:
    """The next internal velocity of the twin from q and the internal velocity v."""
    twin = Twin(scene)
    d = Dynamics(scene)
    result = twin.step(q, d.to_external(q, v)[0], k, relative_tolerance=1e-14)
    assert result.converged
    return result.v


def difference(change, half: float) -> np.ndarray:
    """d/dx by central differences of fourth order of a function of x around 0."""
    f = [change(a * half) for a in (-2.0, -1.0, 1.0, 2.0)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * half)


def with_material(scene, name: str, key: str, by: float):
    """The scene with another value in the material of one shape."""

    def change(shape):
        if shape.name != name:
            return shape
        return replace(shape, material=replace(shape.material, **{key: getattr(shape.material, key) + by}))

    links = tuple(replace(link, shapes=tuple(map(change, link.shapes))) for link in scene.links)
    return replace(scene, links=links, world_shapes=tuple(map(change, scene.world_shapes)))


def with_mass(scene, name: str, by: float):
    links = []
    for link in scene.links:
        own = link.inertial
        if link.name == name:
            share = 1.0 + by / own.mass
            own = replace(own, mass=own.mass * share, inertia=tuple(tuple(share * x for x in row) for row in own.inertia))
        links.append(replace(link, inertial=own))
    return replace(scene, links=tuple(links))


def expected(scene, q, qd, k: int, parameter: str, column: int, name: str) -> np.ndarray:
    d = Dynamics(scene)
    v = d.to_internal(q, qd)[0]
    unit = np.eye(len(v))[column] if column < len(v) else None
    if parameter == "q0":
        return difference(lambda x: solved(scene, d.move(q, unit, x)[0], v, k), 1e-6)
    if parameter == "v0":
        return difference(lambda x: solved(scene, q, v + x * unit, k), 1e-4)
    if parameter == "mass":
        return difference(lambda x: solved(with_mass(scene, name, x), q, v, k), 1e-4)
    if parameter == "actuation":
        return difference(lambda x: pushed(scene, q, v, k, column, x), 1e-2)
    half = {"friction": 1e-3, "stiffness": 10.0, "dissipation": 1e-2}[parameter]
    return difference(lambda x: solved(with_material(scene, name, parameter, x), q, v, k), half)


def pushed(scene, q, v, k: int, dof: int, effort: float) -> np.ndarray:
    """With a force or torque along a degree of freedom."""
    twin = Twin(scene)
    return twin.step(
        q, Dynamics(scene).to_external(q, v)[0], k, relative_tolerance=1e-14, effort=effort * np.eye(len(v))[dof]
    ).v


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", [*BALL, "arm"])
def test_derivatives_of_a_step(case, law):
    text, steps = (ARM, 150) if case == "arm" else (BALL[case], {"sticking": 12, "sliding": 0, "flight": 0}[case])
    scene, q, qd, k = state(text.replace("LAW", law), steps)
    found = gradient.step(scene, q, qd, step_index=k)
    assert found.undefined == []
    result = Twin(scene).step(q, qd, k)
    slips = [np.linalg.norm(c.vc[:2]) for c in result.contacts]
    if case == "sticking":
        assert len(slips) == 1 and slips[0] < 1e-2
    elif case == "sliding":
        assert len(slips) == 1 and slips[0] > 1.0
    else:
        assert len(slips) == {"flight": 0, "arm": 2}[case]
    for parameter in gradient.PARAMETERS:
        names = found.columns[parameter]
        exact = np.array([expected(scene, q, qd, k, parameter, i, name) for i, name in enumerate(names)]).T
        scale = np.abs(exact).max()
        np.testing.assert_allclose(found[parameter], exact, atol=GATE * scale + 1e-10, err_msg=parameter)


def test_a_contact_that_comes_or_goes_is_named_and_not_a_number():
    """Two planes apart by less than a step of the differences: no derivative with respect to what closes the gap."""
    text = (
        BALL["flight"]
        .replace("LAW", "lagged")
        .replace(", pose: {rpy: [0.1, 0.05, 0]}", "")
        .replace("[0, 0, 0.5]", "[0, 0, 0.06]")
    )
    scene, q, qd, _ = state(text.replace("[1.0, 0.1, -0.2]", "[1.0, 0.1, 0.2]"), 0)
    found = gradient.step(scene, q, qd, ("q0", "v0"))
    assert found.undefined == [("q0", "ball/base[5]")]
    assert np.isnan(found["q0"][:, 5]).all() and np.isfinite(found["q0"][:, :5]).all() and np.isfinite(found["v0"]).all()


def test_a_parameter_that_is_not_known():
    scene, q, qd, _ = state(BALL["flight"].replace("LAW", "lagged"), 0)
    with pytest.raises(ValueError, match="wrt colour: known are q0, v0"):
        gradient.step(scene, q, qd, ("colour",))
