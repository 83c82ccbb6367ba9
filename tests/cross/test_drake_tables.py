"""The scenes of sap_formulas 0.2 and 10.3 in Drake (1.51.1): 60 steps, each from Drake's state, and a free run.

In the norm of test_drake.py: 2e-6 against Drake, which stops at a relative residual of 1e-6, and 4e-6 of contact forces; from
the same states the simulation against the NumPy twin, both at a tolerance of 1e-13: 1e-10.  The figures of the rows are in
test_table_figures.py.
"""

import math

import numpy as np
import pytest
import table_scenes as table
from drake_plant import DrakePlant
from test_drake import drake_error, same_sign

from sapsim.reference.kinematics import velocity_to_external
from sapsim.reference.step import Twin
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

STEPS = 60
DRAKE, TWIN = 2e-6, 1e-10
LAWS = ("lagged", "sap", "similar")


def ground(law: str, push: float) -> str:
    return table.head(1e-3, STEPS, 10, law) + table.GROUND.replace("PUSH", str(push)).replace("TAU", "0.001")


def rod(torque: float, start: float) -> str:
    return table.head(1e-3, STEPS, 0, "sap") + table.ROD.replace("TORQUE", str(torque)).replace("START", str(start))


def rolling(law: str) -> str:
    z, angle = 0.05 - 1.9e-7, math.radians(15)
    text = table.ROLLING.replace("X", repr(z * math.sin(angle))).replace("Z", repr(z * math.cos(angle)))
    return table.head(1e-3, STEPS, 9.81, law, "stiction_tolerance: 1.0e-5") + text


# name: scene, contacts and rows of constraints that must act in it at some time
CASES = {}
for _law in LAWS:
    # beta 1 with h = .01, beta 0 with h = .001 (table 0.2)
    for _h, _beta in ((0.01, 1), (0.001, 0)):
        _text = table.head(_h, STEPS, 9.81, _law, f"near_rigid: {_beta}") + table.SPHERES_AND_ARM
        CASES[f"0.2 t2 {_law} {_h}"] = (_text, 3, 2)
    CASES[f"10.3.1 stick {_law}"] = (ground(_law, 5), 1, 0)
    CASES[f"10.3.4 rolling {_law}"] = (rolling(_law), 1, 0)
    CASES[f"10.3.6 stack {_law}"] = (table.head(1e-3, STEPS, 10, _law) + table.STACK.replace("UPPER", "0.5845"), 2, 0)
CASES |= {f"0.2 t3 {name}": (table.head(0.01, STEPS, 9.81, "sap") + table.alone(name), 0, 1) for name in table.ALONE}
CASES |= {
    "10.1 pizza sticks": (table.head(0.01, STEPS, 10, "sap") + table.pizza(20), 3, 0),
    "10.1 pizza slides": (table.head(0.01, STEPS, 10, "lagged") + table.pizza(40), 3, 0),
    "10.3.1 slip": (ground("sap", 55), 1, 0),
    "10.3.2 box": (table.head(1e-3, STEPS, 10, "sap") + table.BOX, 1, 0),
    "10.3.3 rod, upper": (rod(1.5, 1.04), 0, 1),
    "10.3.3 rod, lower": (rod(-1.5, -0.62), 0, 1),
    # the second hinge does not reach its limit in 60 steps: the others push it back
    "10.3.3 arm": (table.head(2e-3, STEPS, 0, "sap") + table.arm(["effort: 0.4"] * 7, scale=2e-4), 0, 6),
    "10.3.7 two bodies": (table.head(1e-3, STEPS, 0, "sap") + table.TWO_BODIES, 1, 0),
    "10.3.8 locked": (table.head(0.01, STEPS, 9.81, "sap") + table.locked_pendulum(), 0, 0),
    "10.3.9 saturated": (
        table.head(2e-3, STEPS, 9.81, "sap") + table.arm(["kp: 1e5, kd: 100, target: 1"] * 7, efforts=True),
        0,
        7,
    ),
}


class Walk:
    """Drake, the simulation and the twin beside it over the steps of a scene."""

    def __init__(self, text: str):
        self.scene = loads(text, file="table.yaml")
        tight = loads(text, file="table.yaml", overrides=("solver.relative_tolerance=1e-13",))
        self.twin, self.drake = Twin(tight), DrakePlant(self.scene)
        self.sim, self.tight = Simulation(self.scene, device="cpu"), Simulation(tight, device="cpu")

    def step(self, sim, q, qd):
        sim.set_state(*(x[None] for x in self.twin.locked.expand(q, qd)))
        block = sim.advance(1)
        assert block.converged[-1, 0]
        self.block = block
        return self.twin.locked.reduce(block.joint_q[-1, 0], block.joint_qd[-1, 0])

    def impulses_of(self, found) -> np.ndarray:
        """(n, 3) impulses on B, world axes, of Drake's contacts in the order of the last step's: by bodies, then by place."""
        c, h, out = self.block.contacts, self.scene.time_step, []
        assert len(found) == len(c.depth)
        links = [*self.sim.link_names, "world"]
        for a, b, point in zip(c.body_a, c.body_b, c.point, strict=True):
            bodies = [links[a], links[b]]
            same = [entry for entry in found if sorted(entry[:2]) == sorted(bodies)]
            _, name, place, force = min(same, key=lambda entry: np.linalg.norm(entry[2] - point))
            assert np.linalg.norm(place - point) < 1e-9
            out.append(h * force * (1.0 if name == bodies[1] else -1.0))
        return np.array(out).reshape(-1, 3)


@pytest.mark.parametrize("name", CASES)
def test_each_step_from_drakes_state_and_a_free_run(name):
    text, contacts_expected, rows_expected = CASES[name]
    walk = Walk(text)
    twin, drake, system = walk.twin, walk.drake, walk.twin.system
    q, qd = twin.locked.reduce(*twin.initial())
    free = q, qd
    x = drake.pack(system, q, twin.internal(*twin.initial()))
    contacts, acting = 0, set()
    for k in range(STEPS):
        q, v = drake.unpack(system, x)
        qd = velocity_to_external(system, q, v)
        touching = drake.contacts(x)
        x = drake.step(x)
        q_drake, v_drake = drake.unpack(system, x)
        result = twin.step(*twin.locked.expand(q, qd), k)
        # from Drake's state, at the default tolerance; positions follow from velocities
        q1, qd1 = walk.step(walk.sim, q, qd)
        assert drake_error(twin, result, q1, qd1, v_drake) <= DRAKE
        assert np.abs(same_sign(system, q1, q_drake) - q_drake).max() < 1e-6
        # contact forces, as the momentum that they make: where they are not unique, only their sum is
        error = walk.impulses_of(touching) - walk.block.contacts.impulse
        J = np.array([c.R_WC @ c.J for c in result.contacts]).reshape(-1, system.nv)
        assert np.linalg.norm(result.D * (J.T @ error.ravel())) <= 2.0 * DRAKE * result.momentum_scale
        # the same against the twin
        q1, qd1 = walk.step(walk.tight, q, qd)
        assert result.velocity_error(twin.internal(*twin.locked.expand(q1, qd1))) <= TWIN
        # and a run of its own
        free = walk.step(walk.sim, *free)
        assert drake_error(twin, result, *free, v_drake) <= DRAKE
        contacts = max(contacts, len(result.contacts))
        acting |= {c.row for c in result.constraints if c.gamma != 0.0}
    assert contacts >= contacts_expected and len(acting) >= rows_expected
