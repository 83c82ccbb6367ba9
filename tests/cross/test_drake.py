"""Parity with Drake (1.51.1): six spheres and two jointed chains with springs, damping and armature on a half-space, without
and with joint limits and drives, and with couplers, distances, balls and welds, alone and together.

Velocities are compared in momentum's own norm: |D^-1 (v - v_Drake)| against max(|D A v|, |D J^T gamma|) with
D = diag(A)^-1/2.  Drake stops at a relative residual of 1e-6 and its tolerance cannot be set from Python, so a solver
that is merely right agrees to 2e-6 (sap_formulas 0.2).  The twin walks Drake's own path (guess v0, participating trees,
line search) and must agree to round-off.
"""

import numpy as np
import pytest
from drake_scene import DrakeScene, scene_text
from drake_ties import KINDS, Ties

from sapsim.reference.kinematics import velocity_from_external, velocity_to_external
from sapsim.reference.step import Twin
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

STEPS = 60
CASES = [(law, h, False) for law in ("lagged", "sap", "similar") for h in (1e-3, 1e-2)]
CASES += [(law, h, True) for law in ("lagged", "sap") for h in (1e-3, 1e-2)]  # with limits and drives
CASES += [("lagged", 1e-2, False, kind) for kind in KINDS]
CASES += [(law, h, True, *KINDS) for law in ("lagged", "sap") for h in (1e-3, 1e-2)]  # all of it together


class TwinStepper:
    """The NumPy twin as a thing that steps external states."""

    # Same iterates as Drake: round-off only (measured 1e-13), amplified over a free run by the impacts in it (5e-13).
    tolerance, free_tolerance = 1e-11, 1e-10

    def __init__(self, scene):
        self.twin = Twin(scene)

    def step(self, q, qd, k):
        result = self.twin.step(q, qd, k)
        assert result.converged
        return result.q, result.qd


class SimulationStepper:
    """The simulation as a thing that steps external states, one world on the CPU."""

    tolerance = free_tolerance = 2e-6

    def __init__(self, scene):
        self.sim = Simulation(scene, device="cpu")

    def step(self, q, qd, k):
        self.sim.set_state(q[None], qd[None])
        block = self.sim.advance(1)
        assert block.converged[-1, 0]
        return block.joint_q[-1, 0], block.joint_qd[-1, 0]


@pytest.fixture(params=CASES, ids=lambda c: "-".join([f"{c[0]}-{c[1]:g}{'-driven' * c[2]}", *c[3:]]))
def case(request, tmp_path):
    law, h, driven, *kinds = request.param
    text = scene_text(law, h, 10 * STEPS, driven)
    ties = Ties(text, tuple(kinds)) if kinds else None
    path = tmp_path / "parity.yaml"
    path.write_text(text + (ties.text() if ties else ""))
    scene = load(str(path))
    return scene, Twin(scene), DrakeScene(law, h, driven, ties)


def drake_error(twin, result, q1, qd1, v_drake) -> float:
    """|D^-1 (v - v_Drake)| / max(|D A v|, |D J^T gamma|) after a step to q1, qd1; the norm's data are the twin's."""
    v = velocity_from_external(twin.system, q1, qd1)
    return float(np.linalg.norm((v - v_drake) / result.D)) / result.momentum_scale


@pytest.mark.parametrize("make", [TwinStepper, SimulationStepper])
def test_each_step_from_drakes_state(case, make):
    scene, twin, drake = case
    stepper = make(scene)
    q, qd = twin.initial()
    x = drake.pack(twin.system, q, twin.internal(q, qd))
    worst, contacts = 0.0, 0
    acting, saturated = set(), set()
    for k in range(STEPS):
        q, v = drake.unpack(twin.system, x)
        qd = velocity_to_external(twin.system, q, v)
        x = drake.step(x)
        q_drake, v_drake = drake.unpack(twin.system, x)
        q1, qd1 = stepper.step(q, qd, k)
        result = twin.step(q, qd, k)
        worst = max(worst, drake_error(twin, result, q1, qd1, v_drake))
        contacts = max(contacts, len(result.contacts))
        acting |= {c.row for c in result.constraints if c.gamma != 0.0}
        saturated |= {c.row for c in result.constraints if c.gamma != 0.0 and c.law.hessian(c.J @ result.v) == 0.0}
        # Positions follow from velocities: h = 1e-2 times velocity errors of at most 1e-4 that the norm lets through.
        assert np.abs(same_sign(twin.system, q1, q_drake) - q_drake).max() < 1e-6
    assert contacts >= 8  # the comparison is one of contacts: spheres among each other, and both chains, touch
    assert worst <= stepper.tolerance
    assert len(acting) >= len(scene.constraints)
    if scene.actuators:  # the drives, several limits, and a drive at its bound acted
        assert len(acting) >= len(scene.actuators) + 2 and saturated


@pytest.mark.parametrize("make", [TwinStepper, SimulationStepper])
def test_free_run(case, make):
    scene, twin, drake = case
    stepper = make(scene)
    q, qd = twin.initial()
    x = drake.pack(twin.system, q, twin.internal(q, qd))
    worst = 0.0
    for k in range(STEPS):
        x = drake.step(x)
        _, v_drake = drake.unpack(twin.system, x)
        q1, qd1 = stepper.step(q, qd, k)
        worst = max(worst, drake_error(twin, twin.step(q, qd, k), q1, qd1, v_drake))
        q, qd = q1, qd1
    assert worst <= stepper.free_tolerance


def same_sign(system, q, like):
    """q with the sign of each quaternion that of `like`: q and -q are one rotation."""
    out = q.copy()
    for body in system.bodies:
        if body.kind == "floating":
            quat = slice(body.iq + 3, body.iq + 7)
            out[quat] *= np.sign(q[quat] @ like[quat])
    return out
