"""Engines run one scene: masses, start states, first steps and rest heights agree."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from peer_engines import case_of, engine

from sapsim.bench.cases import Wishes, make_cases
from sapsim.bench.engine import Unfit, find_peers
from sapsim.bench.mechanism import mechanism
from sapsim.bench.own import Engine as Own
from sapsim.scene.spec import Constraint

JOINTED = """\
sapsim: 1
time_step: 0.001
steps: 20
models:
  arm:
    links:
      upper: {inertial: {mass: 1.2, com: [0.1, 0.02, -0.15], inertia: {ixx: 0.02, iyy: 0.021, izz: 0.009, ixy: 0.001}}}
      tip: {inertial: {mass: 0.4, com: [0.05, 0, 0], inertia: {ixx: 0.001, iyy: 0.0015, izz: 0.0012}}}
      pad: {inertial: {mass: 0.1, inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}}}
    joints:
      hinge: {type: revolute, parent: world, child: upper, origin: {rpy: [0.1, 0, 0.3]}, axis: [0, 0.6, 0.8], armature: 0.02}
      slide: {type: prismatic, parent: upper, child: tip, origin: {xyz: [0, 0, -0.3], rpy: [0, 0.2, 0]}, axis: [0, 0, 1]}
      glue: {type: fixed, parent: tip, child: pad, origin: {xyz: [0.1, 0, 0]}}
instances:
  arm: {model: arm, pose: {xyz: [0.2, 0, 1]}, joint_q: {hinge: 0.4, slide: 0.03}, joint_qd: {hinge: 1.5, slide: -0.5}}
"""
FLYING = """\
bodies:
  stone: {sphere: 0.05, mass: 0.7, pose: {xyz: [1, 0, 1], rpy: [0.1, 0.2, 0.3]},
          velocity: {linear: [0.3, 0.1, 0.5], angular: [1, -2, 3]}}
"""


@pytest.fixture
def jointed(tmp_path):
    return partial(case_of, tmp_path)


def test_the_folder_is_scanned():
    assert find_peers() == ["drake", "mujoco", "mujoco_elliptic", "pinocchio"]


def drake_masses(peer):
    return [body.default_mass() for body in peer.bodies]


def mujoco_masses(peer):
    return peer.model.body_mass[1:]


@pytest.mark.parametrize("scene", ["S1", "S3", "S4mix20"])
@pytest.mark.parametrize("name, masses", [("drake", drake_masses), ("mujoco", mujoco_masses)])
def test_masses_and_start_states_are_equal(scene, name, masses):
    case = make_cases([scene], [None], Wishes())[0]
    own, peer = Own(case, "cpu"), engine(name)(case)
    assert np.asarray(masses(peer)) == pytest.approx(case.scene()[1].arrays["body_mass"][0], rel=1e-14)
    # round-off of places of order one
    assert np.abs(own.poses() - peer.poses()).max() < 1e-12


@pytest.mark.parametrize("name", ["drake", "mujoco", "pinocchio"])
@pytest.mark.parametrize("text", [JOINTED, JOINTED + FLYING], ids=["jointed", "flying"])
def test_a_scene_file_moves_alike(name, text, jointed):
    """20 steps of a jointed arm and a free body.

    Symplectic Euler in every engine, and the same matrices: what is left is round-off, and for the flying body the rule by
    which quaternions advance: MuJoCo's turn by h |omega|, ours by 2 atan(h |omega| / 2), (h |omega|)^3 / 12 = 4e-9 a step.
    """
    case = jointed(text)
    own = Own(case, "cpu")
    if name == "pinocchio" and "bodies" in text:
        with pytest.raises(Unfit, match="joints floating: not translated"):
            engine(name)(case)
        return
    peer = engine(name)(case)
    for e in (own, peer):
        e.restart()
        e.advance(20)
    assert own.fault() is None and peer.fault() is None
    start = Own(case, "cpu").poses()
    assert np.abs(own.poses() - start).max() > 0.01
    assert np.abs(own.poses() - peer.poses()).max() < (2e-7 if name == "mujoco" else 1e-10)


def test_a_restart_is_bit_for_bit():
    case = make_cases(["S2"], [3], Wishes())[0]
    own = Own(case, "cpu")
    start = own.poses()
    own.advance(150)
    after = own.poses()
    assert own.simulation.totals.contacts_sum.max() > 0
    own.restart()
    assert np.array_equal(own.poses(), start) and own.simulation.totals.contacts_sum.max() == 0
    own.advance(150)
    assert np.array_equal(own.poses(), after) and own.simulation.totals.steps == 150


@pytest.mark.parametrize("law", ["lagged", "similar", "sap"])
def test_rest_heights_agree_with_drake(law):
    """S2 by corners for 0.6 s, where the cube rests: half edge less m g / (4 k_pair) = 0.049 mm."""
    case = make_cases(["S2"], [None], Wishes(law=law))[0]
    own, drake = Own(case, "cpu", boxes="corners"), engine("drake")(case)
    for e in (own, drake):
        e.advance(600)
    heights = [e.poses()[0, 2, 3] for e in (own, drake)]
    # 2 % of the depth: d and tau hold the last of the creep back
    assert heights[0] == pytest.approx(0.05 - 9.81 / (4 * 5e4), abs=1e-6)
    assert abs(heights[0] - heights[1]) < 1e-6
    assert own.observe(5).contacts == drake.observe(5).contacts == 4.0


def test_what_peers_are_not_told_is_refused(jointed):
    plain = make_cases(["S2"], [None], Wishes())[0]
    with pytest.raises(Unfit, match="without contact"):
        engine("pinocchio")(plain)
    forced = jointed(JOINTED + "forces:\n  push: {link: arm/tip, force: [1, 0, 0]}\n")
    for name in find_peers():
        with pytest.raises(Unfit, match="applied forces"):
            engine(name)(forced)
    scene, model = jointed(JOINTED).scene()
    with pytest.raises(Unfit, match="dry joint friction"):
        mechanism(replace(scene, joints=tuple(replace(joint, friction=0.1) for joint in scene.joints)), model)
    with pytest.raises(Unfit, match="constraints"):
        mechanism(replace(scene, constraints=(Constraint("c", "ball"),)), model)


def test_worlds_of_a_peer_all_advance():
    case = make_cases(["S1"], [3], Wishes())[0]
    for name in ("drake", "mujoco", "pinocchio"):
        peer = engine(name)(case)
        peer.advance(10)
        first = peer.poses()
        assert peer.fault() is None
        for attribute in ("simulators", "datas", "states"):
            worlds = getattr(peer, attribute, None)
            if worlds is not None:
                assert len(worlds) == 3
                worlds.reverse()
        assert np.array_equal(peer.poses(), first)
