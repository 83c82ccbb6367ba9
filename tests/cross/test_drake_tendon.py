"""Tendons against Drake (1.51.1), which takes them from its own tag in a URDF alone: two arms of two joints each; a tendon over
joints of one tree or of both.

The norm is that of test_drake.py; the twin walks Drake's path and agrees to round-off.
"""

import numpy as np
import pytest
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlant, DiscreteContactApproximation, MultibodyPlantConfig
from pydrake.systems.framework import DiagramBuilder

from sapsim.reference.kinematics import velocity_from_external
from sapsim.reference.step import Twin
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

STEPS = 60
JOINTS = {
    "a1": ("revolute", "0 1 0"),
    "a2": ("prismatic", "1 0 0"),
    "b1": ("revolute", "0 0.6 0.8"),
    "b2": ("revolute", "1 0 0"),
}
START = {"a1": 0.2, "a2": -0.05, "b1": -0.3, "b2": 0.5}
INERTIAL = (
    '<inertial><origin xyz="0.1 0.02 -0.03"/><mass value="0.7"/>'
    '<inertia ixx="0.003" iyy="0.004" izz="0.005" ixy="0.0002" ixz="0" iyz="0.0001"/></inertial>'
)
# Coefficients by joint, offset, lower, upper, stiffness, damping.
TENDONS = {
    "one tree": ({"a1": 0.5, "a2": 1.0}, 0.1, 0.0, 0.12, np.inf, 0.0),
    "two trees": ({"a1": 0.3, "a2": -1.0, "b1": 0.2, "b2": 0.1}, 0.0, 0.0995, 0.101, 5e3, 4.0),
    "lower": ({"b2": 1.0, "a1": -0.5}, -0.2, 0.15, None, 1e9, 10.0),  # near-rigid
}


def urdf(tendon: str = "") -> str:
    """The two arms; the world is their common root."""
    parts = ['<robot name="arms"><link name="world"/>']
    for name, (kind, axis) in JOINTS.items():
        parent = "world" if name.endswith("1") else f"{name[0]}1l"
        limit = '<limit lower="-100" upper="100" effort="1000" velocity="1000"/>'
        place = '<origin xyz="0.2 0.1 0" rpy="0.1 0.2 0.3"/>'
        parts.append(
            f'<link name="{name}l">{INERTIAL}</link><joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{name}l"/>{place}<axis xyz="{axis}"/>{limit}<dynamics damping="0.02"/></joint>'
        )
    return "\n".join([*parts, tendon, "</robot>"])


def drake_tag(tendon) -> str:
    coefficients, offset, lower, upper, stiffness, damping = tendon
    # all tags are mandatory there and take no infinity; a bound that is never met changes nothing, not even w
    lower, upper = (-1e3 if lower is None else lower), (1e3 if upper is None else upper)
    values = {"offset": offset, "lower_limit": lower, "upper_limit": upper, "damping": damping}
    values["stiffness"] = min(stiffness, 1e20)
    joints = "".join(f'<drake:tendon_constraint_joint name="{j}" a="{a}"/>' for j, a in coefficients.items())
    rest = "".join(f'<drake:tendon_constraint_{key} value="{x}"/>' for key, x in values.items())
    return f"<drake:tendon_constraint>{joints}{rest}</drake:tendon_constraint>"


def scene_of(tmp_path, tendon, law: str, h: float):
    coefficients, offset, lower, upper, stiffness, damping = tendon
    (tmp_path / "arms.urdf").write_text(urdf())
    keys = {"lower": lower, "upper": upper, "stiffness": stiffness if np.isfinite(stiffness) else None, "damping": damping}
    values = "".join(f", {key}: {x}" for key, x in keys.items() if x is not None)
    q = ", ".join(f"{joint}: {x}" for joint, x in START.items())
    joints = ", ".join(f"i/{joint}" for joint in coefficients)
    (tmp_path / "tendon.yaml").write_text(
        f"sapsim: 1\ntime_step: {h}\nsteps: {10 * STEPS}\ncontact: {{law: {law}}}\nmodels: {{m: {{urdf: arms.urdf}}}}\n"
        f"instances: {{i: {{model: m, joint_q: {{{q}}}}}}}\nconstraints:\n  c: {{type: tendon, joints: [{joints}], "
        f"coefficients: {list(coefficients.values())}, offset: {offset}{values}}}\n"
    )
    return load(str(tmp_path / "tendon.yaml"))


class DrakeArms:
    def __init__(self, tendon, law: str, h: float):
        builder = DiagramBuilder()
        config = MultibodyPlantConfig(time_step=h, use_sampled_output_ports=False)
        self.plant, _ = AddMultibodyPlant(config, builder)
        approximation = {"lagged": DiscreteContactApproximation.kLagged, "sap": DiscreteContactApproximation.kSap}[law]
        self.plant.set_discrete_contact_approximation(approximation)
        text = urdf(drake_tag(tendon)).replace("<robot", '<robot xmlns:drake="http://drake.mit.edu"', 1)
        Parser(self.plant).AddModelsFromString(text, "urdf")
        self.plant.Finalize()
        self.diagram = builder.Build()
        self.context = self.diagram.CreateDefaultContext()

    def step(self, q: dict, v: dict) -> dict:
        """Velocities by joint after a step."""
        plant_context = self.plant.GetMyMutableContextFromRoot(self.context)
        for name in JOINTS:
            joint = self.plant.GetJointByName(name)
            set_position = getattr(joint, "set_angle", None) or joint.set_translation
            set_rate = getattr(joint, "set_angular_rate", None) or joint.set_translation_rate
            set_position(plant_context, q[name])
            set_rate(plant_context, v[name])
        x = self.diagram.EvalUniquePeriodicDiscreteUpdate(self.context).get_vector(0).value()
        nq = self.plant.num_positions()
        return {name: x[nq + self.plant.GetJointByName(name).velocity_start()] for name in JOINTS}


@pytest.mark.parametrize("h", [1e-3, 1e-2])
@pytest.mark.parametrize("law", ["lagged", "sap"])
@pytest.mark.parametrize("name", TENDONS)
def test_a_run_with_a_tendon(name, law, h, tmp_path):
    scene = scene_of(tmp_path, TENDONS[name], law, h)
    drake, twin, sim = DrakeArms(TENDONS[name], law, h), Twin(scene), Simulation(scene, device="cpu")
    order = [joint.name.removeprefix("i/") for joint in scene.joints]
    q, qd = twin.initial()
    worst = {"twin": 0.0, "simulation": 0.0}
    acted = released = 0
    for k in range(STEPS * (5 if h < 2e-3 else 1)):
        found = drake.step(dict(zip(order, q, strict=True)), dict(zip(order, qd, strict=True)))
        result = twin.step(q, qd, k)
        v_drake = velocity_from_external(twin.system, q, np.array([found[joint] for joint in order]))
        sim.set_state(q[None], qd[None])
        block = sim.advance(1)
        for key, v in (("twin", result.v), ("simulation", twin.internal(q, block.joint_qd[-1, 0]))):
            error = np.linalg.norm((v - v_drake) / result.D) / result.momentum_scale
            worst[key] = max(worst[key], float(error))
        acted += bool(result.constraints)
        released += not result.constraints
        q, qd = result.q, result.qd
    assert acted > 5 and released > 0  # it was in the problem, and it was not
    assert worst["twin"] <= 1e-11 and worst["simulation"] <= 2e-6
