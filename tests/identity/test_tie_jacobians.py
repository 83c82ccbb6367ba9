"""J of ties on the device against finite differences of their residuals: positions are moved along a velocity, g is read again.

Fixed and floating trees, two trees, two bodies of one tree, the world on either side, links that fixed joints carry; and all
kinds that stand in the registry.
"""

import numpy as np
import pytest

from sapsim.kinds.base import registry
from sapsim.math.real import real
from sapsim.reference.integrate import step_coordinates
from sapsim.reference.kinematics import calc_kinematics
from sapsim.reference.step import Twin
from sapsim.reference.ties import calc_ends
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

SCENE = """
sapsim: 1
time_step: 0.001
steps: 1
models:
  limb:
    links:
      trunk: &l {inertial: {mass: 0.8, com: [0.02, 0.01, 0], inertia: {ixx: 0.004, iyy: 0.005, izz: 0.006}}}
      arm: *l
      hand: *l
      tool: *l
      tail: *l
      fin: *l
    joints:
      shoulder: {type: universal, parent: trunk, child: arm, origin: {xyz: [0.1, 0, 0.05], rpy: [0.2, 0.1, 0]}, axis: [1, 0, 1]}
      wrist: {type: revolute, parent: arm, child: hand, origin: {xyz: [0.2, 0, 0]}, axis: [0, 1, 0.2]}
      mount: {type: fixed, parent: hand, child: tool, origin: {xyz: [0, 0.1, 0], rpy: [0.5, 0, 0]}}
      hip: {type: ball, parent: trunk, child: tail, origin: {xyz: [-0.1, 0, 0]}}
      slide: {type: prismatic, parent: tail, child: fin, origin: {xyz: [0, 0, 0.1]}, axis: [0.3, 0, 1]}
instances:
  fixed: {model: limb, base: fixed, pose: {xyz: [1, 0, 1]}, joint_q: {shoulder: [0.3, -0.5], wrist: 0.4, slide: 0.1}}
  free: {model: limb, base: floating, pose: {xyz: [0, 0, 1], rpy: [0.5, 0.2, 1]},
         joint_q: {hip: [0.1, 0.3, 0.3, 0.9], wrist: -0.7}}
constraints:
  CONSTRAINTS
"""
POINTS = ", point: [0.03, -0.02, 0.05]"
PAIRS = {
    "two trees": ("fixed/tool", "free/fin"),
    "one tree": ("free/tool", "free/fin"),
    "on the world": ("free/hand", "world"),
    "from the world": ("fixed/body", "free/tool"),
    "a chain": ("free/trunk", "free/tool"),
}
JOINTS = {"two trees": ("fixed/wrist", "free/slide"), "one tree": ("free/slide", "free/wrist")}
FRAMED = ["distance", "ball", "weld"]
ON_JOINTS = {
    "coupler": "ratio: -1.7, offset: 0.2",
    "tendon": "coefficients: [0.6, -2.5], offset: 0.3, lower: 5, upper: -5",
}


def entries() -> dict[str, str]:
    """All constraints by name."""
    found = {}
    for kind in FRAMED:
        for name, (a, b) in PAIRS.items():
            a = a.replace("fixed/body", "world")
            more = ", length: 0.4" * (kind == "distance")
            ends = f"a: {{link: {a}{POINTS}}}, b: {{link: {b}, point: [0.1, 0.05, -0.1]}}"
            found[f"{kind} {name}"] = f"type: {kind}, {ends}{more}"
    for kind, keys in ON_JOINTS.items():
        for name, (first, second) in JOINTS.items():
            keys = keys.replace("lower: 5, upper: -5", "lower: 9")  # violated, so that the tendon acts
            found[f"{kind} {name}"] = f"type: {kind}, joints: [{first}, {second}], {keys}"
    return found


def test_all_kinds_are_here():
    assert {*FRAMED, *ON_JOINTS} == {name for name, kind in registry("constraints").items() if kind.keys}
    assert all(kind.make(real("float64")).compliance for kind in registry("constraints").values() if kind.keys)


class Probe:
    """A simulation of one constraint, whose residual and Jacobian at a state are read from a step."""

    def __init__(self, entry: str):
        self.scene = loads(SCENE.replace("CONSTRAINTS", f"c: {{{entry}}}"), file="probe.yaml")
        self.sim, self.twin = Simulation(self.scene, device="cpu"), Twin(self.scene)
        self.ndof = self.sim.model.sizes["ndof"]
        starts = self.sim.model.arrays["body_dof_start"]
        self.places = np.concatenate(
            [starts[b] + np.arange(body.nv) for b, body in enumerate(self.twin.system.bodies)]
        )  # of the twin's degrees of freedom

    def gap(self, q: np.ndarray) -> np.ndarray:
        """Residuals of all items' rows at the start of a step, filled up with zeros."""
        self.sim.set_state(q[None], np.zeros((1, self.scene_nv)))
        self.sim.advance(1)
        return self.sim.arrays["item_gap"].numpy()[0].ravel().copy()

    @property
    def scene_nv(self) -> int:
        return self.sim.model.sizes["nv"]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """(3 items, nv of the twin)."""
        self.gap(q)
        arrays, slots = self.sim.arrays, self.sim.model.slots
        assert arrays["ncontact"].numpy()[0] == 0
        J = np.zeros((3 * self.sim.model.sizes["nitem"], self.ndof))
        for i, entries in enumerate(arrays["contact_entries"].numpy()[0][: self.sim.model.sizes["nitem"]]):
            assert entries.sum() > 0
            for e in range(i * slots, i * slots + entries.sum()):
                block = arrays["J_block"].numpy()[0, e]
                J[3 * i : 3 * i + 3, 3 * block : 3 * block + 3] += arrays["J"].numpy()[0, e]
        return J[:, self.places]


@pytest.mark.parametrize("name", [n for n in entries() if not n.startswith("weld")])
def test_jacobian_is_the_rate_of_the_residual(name):
    probe = Probe(entries()[name])
    rng = np.random.default_rng(1)
    q, _ = probe.twin.initial()
    for _ in range(3):
        q = step_coordinates(probe.twin.system, q, 0.3 * rng.normal(size=probe.twin.system.nv), 1.0)
        check(probe, q, rng)


@pytest.mark.parametrize("pair", PAIRS)
def test_jacobian_of_a_closed_weld(pair):
    """At g = 0 both residuals change at the twist of B against A; elsewhere a rotation vector does not."""
    open_ = Probe(entries()[f"weld {pair}"])
    c = open_.scene.constraints[0]
    q, _ = open_.twin.initial()
    kin = calc_kinematics(open_.twin.system, q, np.zeros(open_.twin.system.nv))
    (_, P), (_, Q), _ = calc_ends(open_.scene, c, open_.twin.system, kin)
    R_QP = Q.R.T @ P.R  # the frame of b is placed where that of a is
    pitch = -np.arcsin(R_QP[2, 0])
    rpy = [np.arctan2(R_QP[2, 1], R_QP[2, 2]), pitch, np.arctan2(R_QP[1, 0], R_QP[0, 0])]
    point = np.array(c.b.X_LP.p) + Q.R.T @ (P.p - Q.p)
    a, b = (x.replace("fixed/body", "world") for x in PAIRS[pair])
    entry = f"type: weld, a: {{link: {a}{POINTS}}}, b: {{link: {b}, point: {point.tolist()}, rpy: {[float(x) for x in rpy]}}}"
    closed = Probe(entry)
    assert closed.scene.warnings == () and np.abs(closed.gap(q)).max() < 1e-14
    check(closed, q, np.random.default_rng(2))


def check(probe: Probe, q: np.ndarray, rng: np.random.Generator) -> None:
    """Central differences along random velocities: their error is of second order in the step, 1e-10, and round-off over it."""
    J, step = probe.jacobian(q), 1e-5
    assert np.abs(J).max() > 1e-2
    for _ in range(4):
        v = rng.normal(size=probe.twin.system.nv)
        ahead, behind = (probe.gap(step_coordinates(probe.twin.system, q, sign * v, step)) for sign in (1.0, -1.0))
        np.testing.assert_allclose((ahead - behind) / (2.0 * step), J @ v, atol=3e-9 * max(1.0, np.abs(J @ v).max()))
