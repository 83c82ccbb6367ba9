"""What peers are told of joints, drives, limits and weight: they move as sapsim does."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from peer_engines import case_of, engine

from sapsim.bench import mechanism as mechanism_module
from sapsim.bench.engine import Unfit, find_peers
from sapsim.bench.own import Engine as Own
from sapsim.kinds.base import registry

HEAD = "sapsim: 1\ntime_step: 0.001\nsteps: 40\n"
ARM = """\
models:
  arm:
    links:
      upper: {inertial: {mass: 1.2, com: [0.1, 0.02, -0.15], inertia: {ixx: 0.02, iyy: 0.021, izz: 0.009, ixy: 0.001}}}
      tip: {inertial: {mass: 0.4, com: [0.05, 0, 0], inertia: {ixx: 0.001, iyy: 0.0015, izz: 0.0012}}}
    joints:
      root: {type: KIND, parent: world, child: upper, origin: {xyz: [0, 0.1, 0], rpy: [0.1, 0, 0.3]}, damping: 0.4 MORE}
      hinge: {type: revolute, parent: upper, child: tip, origin: {xyz: [0, 0, -0.3], rpy: [0, 0.2, 0]},
              axis: [0, 0.6, 0.8] HINGE}
instances:
  arm: {model: arm, pose: {xyz: [0.2, 0, 1], rpy: [0.2, -0.1, 0]}, joint_q: {root: Q, hinge: 0.4},
        joint_qd: {root: V, hinge: 1.5}}
"""


def text(kind="revolute", more="", hinge="", q="0.3", v="-0.7") -> str:
    return HEAD + ARM.replace("KIND", kind).replace("MORE", more).replace("HINGE", hinge).replace("Q,", f"{q},").replace(
        "V,", f"{v},"
    )


@dataclass(frozen=True)
class Kind:
    """Keys, coordinates and velocities of a joint, and the peers that have it."""

    more: str
    q: str
    v: str
    peers: tuple[str, ...]


ALL = ("drake", "mujoco", "pinocchio")
KINDS = {
    "revolute": Kind(", axis: [0, 0.6, 0.8], armature: 0.02", "0.3", "-0.7", ALL),
    "continuous": Kind(", axis: [0, 0.6, 0.8], armature: 0.02", "0.3", "-0.7", ALL),
    "prismatic": Kind(", axis: [0.6, 0, 0.8], armature: 0.02", "0.3", "-0.7", ALL),
    "screw": Kind(", axis: [0, 0.6, 0.8], pitch: 0.05, armature: 0.02", "0.3", "-0.7", ("drake", "pinocchio")),
    "cylindrical": Kind(", axis: [0, 0.6, 0.8], armature: 0.02", "[0.3, 0.1]", "[-0.7, 0.4]", ALL),
    "universal": Kind(", axis: [0, 0.6, 0.8], axis2: [1, 0, 0]", "[0.3, 0.1]", "[-0.7, 0.4]", ALL),
    "planar": Kind(", axis: [0, 0.6, 0.8]", "[0.3, 0.1, 0.2]", "[-0.7, 0.4, 0.9]", ALL),
    "ball": Kind(", armature: 0.02", "[0.1, 0.2, 0.3, 0.9273618]", "[-0.7, 0.4, 0.9]", ("mujoco",)),
}


@pytest.fixture
def case(tmp_path):
    return partial(case_of, tmp_path)


def distance(case, name: str, steps: int = 40) -> float:
    """How far bodies are apart after some steps; they must have moved."""
    own, peer = Own(case, "cpu"), engine(name)(case)
    start = own.poses()
    assert np.abs(start - peer.poses()).max() < 1e-12
    for e in (own, peer):
        e.advance(steps)
        assert e.fault() is None
    assert np.abs(own.poses() - start).max() > 1e-3
    return float(np.abs(own.poses() - peer.poses()).max())


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_moves_alike_or_is_refused(kind, name, case):
    """40 steps: round-off; and for the ball's quaternion the other rule of MuJoCo, (h |omega|)^3 / 12 = 1e-10 a step."""
    given = KINDS[kind]
    made = case(text(kind, given.more, q=given.q, v=given.v))
    if name not in given.peers:
        with pytest.raises(Unfit, match=f"joints {kind}: not translated"):
            engine(name)(made)
        return
    assert distance(made, name) < (1e-7 if kind == "ball" else 1e-10)


def test_every_registered_joint_is_in_the_table():
    assert {name for name, kind in registry("joints").items() if kind.moves} == {*KINDS, "floating"}


@pytest.mark.parametrize(
    "more, match",
    [
        (("universal", ", axis: [0, 0.6, 0.8], axis2: [0, 0, 1]", "[0.3, 0.1]", "[-0.7, 0.4]"), "not at a right angle"),
        (("planar", ", armature: 0.1", "[0.3, 0.1, 0.2]", "[-0.7, 0.4, 0.9]"), "armatures of planar joints"),
        (("screw", ", pitch: 0.1, stiffness: 3", "0.3", "-0.7"), "springs of screw joints"),
    ],
)
def test_what_drake_has_not_is_named(more, match, case):
    kind, keys, q, v = more
    with pytest.raises(Unfit, match=match):
        engine("drake")(case(text(kind, keys, q=q, v=v)))


DRIVES = "actuators:\n  a: {joint: arm/root, kp: 30, kd: 2, target: 1.0, target_velocity: 0.1, feedforward: 0.2}\n"
WEAK = "actuators:\n  a: {joint: arm/root, kp: 300, kd: 2, target: 1.0, effort_limit: 3}\n"
DAMPED = "actuators:\n  a: {joint: arm/root, kd: 2, target_velocity: 3.0}\n  b: {joint: arm/root, effort: 1.5}\n"


@pytest.mark.parametrize("name", ALL)
def test_springs_and_effort_move_alike(name, case):
    made = case(text(hinge=", stiffness: 4, reference: 0.7, damping: 0.1") + "actuators: {a: {joint: arm/root, effort: 2.5}}\n")
    assert distance(made, name) < 1e-10


@pytest.mark.parametrize("drives", [DRIVES, DAMPED, DRIVES + "  b: {joint: arm/root, kp: 5, target: 0.2}\n"])
@pytest.mark.parametrize("name", ["drake", "pinocchio"])
def test_drives_are_implicit(name, drives, case):
    """Position and velocity at the step's end in all three.

    1e-8: our solver and Drake's stop at a relative residual of 1e-6, of velocities of order one over 40 steps of 1 ms.
    """
    assert distance(case(text() + drives), name) < 1e-8


def test_drives_in_mujoco(case):
    """`implicitfast` takes kd at the step's end, as we do, and kp at its start.

    Without kp that is the same.  With it q is off by h v in each step, kp h v / A in the rate: an error of first order,
    which halves with h.
    """
    assert distance(case(text() + DAMPED), "mujoco") < 1e-8
    coarse = distance(case(text() + DRIVES), "mujoco")
    fine = distance(case((text() + DRIVES).replace("time_step: 0.001", "time_step: 0.0005")), "mujoco", 80)
    assert 1e-6 < coarse < 1e-3 and coarse / fine == pytest.approx(2.0, rel=0.1)


def test_effort_limits_move_alike_in_drake(case):
    """The drive is at its limit first and leaves it later; Drake bounds the same sum at the step's end."""
    made = case(text() + WEAK)
    assert distance(made, "drake", 300) < 1e-6
    # as long as the limit holds, the effort is the same constant in MuJoCo
    assert distance(case(text() + WEAK.replace("effort_limit: 3", "effort_limit: 0.3")), "mujoco", 20) < 1e-9
    with pytest.raises(Unfit, match="effort limits need a solver"):
        engine("pinocchio")(made)


def test_joint_limits_move_alike_in_drake(case):
    made = case(text(hinge=", limit: {lower: -1, upper: 0.42}"))
    assert distance(made, "drake", 300) < 1e-6
    # MuJoCo's are soft: the hinge passes its limit, by less than 0.1 rad
    peer = engine("mujoco")(made)
    peer.advance(300)
    assert peer.datas[0].qpos[1] < 0.52 and peer.datas[0].nefc == 1
    with pytest.raises(Unfit, match="joint limits need a solver"):
        engine("pinocchio")(made)


@pytest.mark.parametrize("name", ["drake", "mujoco"])
def test_models_without_gravity(name, case):
    made = case(text() + "  free: {model: arm, pose: {xyz: [1, 0, 1]}, gravity: false, joint_qd: {root: 0.5}}\n")
    assert distance(made, name) < 1e-10
    with pytest.raises(Unfit, match="with and without gravity"):
        engine("pinocchio")(made)


MASSLESS = (
    HEAD
    + """\
models:
  arm:
    links:
      knuckle: {inertial: {mass: 0}}
      bone: {inertial: {mass: 0.6, com: [0.1, 0, -0.1], inertia: {ixx: 0.01, iyy: 0.012, izz: 0.004}}}
      tip: {inertial: {mass: 0.2, com: [0, 0, -0.1], inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}}}
    joints:
      turn: {type: revolute, parent: world, child: knuckle, origin: {rpy: [0.2, 0, 0]}, axis: [0, 0, 1]}
      lift: {type: revolute, parent: knuckle, child: bone, origin: {xyz: [0.1, 0, 0.05], rpy: [0, 0.4, 0]}, axis: [0, 1, 0]}
      bend: {type: revolute, parent: bone, child: tip, origin: {xyz: [0, 0, -0.2]}, axis: [0, 1, 0]}
instances:
  arm: {model: arm, joint_q: {turn: 0.5, lift: -0.3, bend: 0.2}, joint_qd: {turn: 1, lift: 2, bend: -1}}
"""
)


@pytest.mark.parametrize("name", ALL)
def test_links_without_mass_between_joints(name, case):
    made = case(MASSLESS)
    assert distance(made, name) < 1e-10
    assert engine(name)(made).poses().shape == (2, 3, 4)


def test_constraints_that_peers_are_not_told_of_are_refused(case, monkeypatch):
    monkeypatch.setattr(mechanism_module, "CONSTRAINTS", ("limit",))
    for name in find_peers():
        with pytest.raises(Unfit, match="constraints pd: not translated"):
            engine(name)(case(text() + DRIVES))


def test_shared_bounds_are_refused_by_all(case):
    made = case(text(more=", limit: {effort: 2}") + DRIVES + "  b: {joint: arm/root, kp: 5, target: 0.2}\n")
    for name in find_peers():
        with pytest.raises(Unfit, match="drives of joint arm/root under a common bound"):
            engine(name)(made)
