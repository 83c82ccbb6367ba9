"""Mass matrices, bias forces, placements and contact-free steps of MJCFs, against MuJoCo's own."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
import pytest
from mujoco_model import Both

from sapsim.scene.read import load
from sapsim.scene.spec import Limit
from sapsim.step.simulation import Simulation

HUMANOID = Path(find_spec("mujoco_warp").origin).parent / "test_data" / "humanoid" / "humanoid.xml"
H = 1.0e-3  # [s]
CHAIN = """<mujoco model="chain">
  <compiler angle="degree"/>
  <default><joint armature=".02" damping=".3"/><geom type="capsule" size=".04" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="a" pos="0 0 1">
      <joint name="a1" axis="0 0 1" pos=".1 0 0" ref="20"/>
      <joint name="a2" axis="0 1 0" stiffness="5" springref="-40"/>
      <geom fromto="0 0 0 .4 0 0"/>
      <body name="b" pos=".4 0 0" euler="0 30 0">
        <joint name="b1" type="slide" axis="1 0 1" stiffness="80" ref=".1" springref=".05"/>
        <joint name="b2" axis="1 0 0" pos="0 .1 0"/>
        <geom fromto="0 0 0 .1 .2 -.3"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
# Every kind of joint, several to a body, with anchors, references, turned inertias, and bodies that are fixed.
ZOO = """<mujoco model="zoo">
  <compiler angle="degree" eulerseq="xyz"/>
  <default>
    <geom density="900"/>
    <joint armature=".03" damping=".1"/>
    <default class="stiff"><joint stiffness="4" springref="30" type="hinge"/></default>
  </default>
  <worldbody>
    <body name="post" pos="0 0 1" euler="10 20 30">
      <geom type="box" size=".1 .1 .5"/>
      <body name="arm" pos=".2 .1 0" euler="0 0 40">
        <joint name="yaw" axis="0 0 1" pos=".05 0 .1" ref="25" range="-90 90" limited="true"/>
        <joint name="reach" type="slide" axis="1 1 0" ref=".2"/>
        <joint name="pitch" class="stiff" axis="0 1 .3" pos="-.1 .2 0"/>
        <geom type="capsule" size=".05" fromto="0 0 0 .3 .2 .1"/>
        <geom type="sphere" size=".08" pos=".4 0 0" mass=".3"/>
        <body name="tip" pos=".4 .2 .1" quat=".7 .1 .5 .2">
          <joint name="wrist" type="ball" pos=".02 .03 .04"/>
          <inertial pos=".1 .02 .03" mass=".7" fullinertia=".02 .03 .04 .001 .002 .003"/>
          <body name="nail" pos="0 0 .2" euler="0 90 0"><geom type="box" size=".02 .03 .1"/></body>
        </body>
      </body>
    </body>
    <body name="stone" pos="1 2 3" euler="30 0 0">
      <freejoint name="free"/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0" euler="0 30 0"/>
      <body name="lid" pos="0 0 .3"><joint name="hinge" axis="0 1 0" pos=".1 0 0"/><geom type="sphere" size=".1"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    path = tmp_path_factory.mktemp("mjcf") / "zoo.xml"
    path.write_text(ZOO)
    return path


@pytest.fixture(params=["humanoid", "zoo"])
def path(request, zoo):
    return HUMANOID if request.param == "humanoid" else zoo


def test_mass_matrix_and_bias_at_random_states(path):
    """100 states, armature included; errors in the norm of momentum, D = diag(M)^(-1/2): |D dM D| and |D dh| / |D h|.

    1e-10 is what the project asks for; round-off of sums over 27 degrees of freedom is below 1e-13.
    """
    n = 100
    both, rng = Both(path, n), np.random.default_rng(7)
    states = [both.random(rng) for _ in range(n)]
    T = [both.T(qpos) for qpos, _ in states]
    q = np.array([both.q(qpos) for qpos, _ in states])
    v = np.array([t @ qvel for t, (_, qvel) in zip(T, states, strict=True)])
    M, h = both.dynamics.crba(q), both.dynamics.rnea(q, v, np.zeros_like(v))
    for w, (qpos, qvel) in enumerate(states):
        M_mj, h_mj = both.mass_and_bias(qpos, qvel)
        D = 1.0 / np.sqrt(np.diag(M_mj))
        dM, dh = T[w].T @ M[w] @ T[w] - M_mj, T[w].T @ h[w] - h_mj
        assert np.abs(D[:, None] * dM * D).max() < 1e-10
        assert np.linalg.norm(D * dh) < 1e-10 * np.linalg.norm(D * h_mj)
    assert both.dynamics.nv == both.model.nv


def test_every_body_stands_where_mujoco_has_it(path):
    both, rng = Both(path), np.random.default_rng(3)
    for _ in range(10):
        qpos, qvel = both.random(rng)
        both.mass_and_bias(qpos, qvel)
        motion = both.dynamics.forward_kinematics(both.q(qpos))
        for b in range(1, both.model.nbody):
            link = both.dynamics.link_names.index(both.model.body(b).name)
            # round-off of places of a few metres
            assert np.allclose(motion.p[0, link], both.data.xpos[b], atol=1e-12)
            assert np.allclose(motion.R[0, link], both.data.xmat[b].reshape(3, 3), atol=1e-12)


def test_the_start_is_mujocos(path, tmp_path):
    """Without `joint_q` an instance starts in qpos0, references and free bodies included."""
    both = Both(path)
    scene = f"sapsim: 1\ntime_step: 0.001\nsteps: 1\nmodels: {{m: {{mjcf: {path.name}}}}}\ninstances: {{m: {{model: m}}}}\n"
    file = tmp_path / "scene.yaml"
    file.write_text(scene.replace(path.name, str(path)))
    loaded = load(file, allow=[path.parent])
    q0 = np.concatenate([joint.q0 for joint in loaded.joints])
    assert np.allclose(q0, both.q(both.model.qpos0), atol=1e-15)


def steps(path, n: int, rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """joint_q after n steps without contact and limits: at the start, ours and MuJoCo's, from the same random state.

    Euler's method with implicit dampers in both, whatever the file says.
    """
    both = Both(path)
    qpos, qvel = both.random(rng)
    scene, v = both.scene, both.T(qpos) @ qvel
    q, qd = both.q(qpos), both.dynamics.to_external(both.q(qpos), v)[0]
    joints = []
    for j, joint in enumerate(scene.joints):
        own = [slice(s[j], s[j + 1]) for s in (both.dynamics.joint_q_start, both.dynamics.joint_qd_start)]
        joints.append(replace(joint, q0=tuple(q[own[0]]), qd0=tuple(qd[own[1]]), limit=Limit()))
    links = tuple(replace(link, unbuilt=()) for link in scene.links)
    moving = replace(scene, joints=tuple(joints), links=links, actuators=(), time_step=H, steps=n)
    block = Simulation(moving, device="cpu").advance(n)
    model, data = both.model, mujoco.MjData(both.model)
    model.opt.timestep, model.opt.integrator = H, mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_step(model, data, nstep=n)
    return q, block.joint_q[-1, 0], both.q(data.qpos)


def test_a_chain_steps_as_in_mujoco(tmp_path):
    """Hinges and a slide with references, springs, dampers, armature: the same map, so 200 steps differ by round-off."""
    path = tmp_path / "chain.xml"
    path.write_text(CHAIN)
    start, own, theirs = steps(path, 200, np.random.default_rng(1))
    assert np.abs(own - start).max() > 0.1 and np.abs(own - theirs).max() < 1e-10


def test_free_bodies_and_balls_step_as_in_mujoco(path):
    """MuJoCo turns a quaternion by h |omega|, we by 2 atan(h |omega| / 2): (h |omega|)^3 / 12 a step.

    |omega| stays below 10 rad/s in these 50 steps, which makes 50 * 1e-6 / 12 = 4e-6.
    """
    start, own, theirs = steps(path, 50, np.random.default_rng(2))
    assert np.abs(own - start).max() > 0.01 and np.abs(own - theirs).max() < 4e-6
