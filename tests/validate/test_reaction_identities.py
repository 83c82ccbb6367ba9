"""Reaction wrenches of random mechanisms: Newton's equations of every link, and the efforts of every joint."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import GRAVITY, random_tree

from sapsim.dynamics import Dynamics
from sapsim.kinds.base import registry
from sapsim.scene.spec import WORLD, Actuator, Force, Limit, Output
from sapsim.step.simulation import Simulation


def driven(scene):
    """The tree with actuators, a limit that acts, springs, and forces on links, some of them fixed to others."""
    one = [j for j in scene.joints if registry("joints")[j.kind].nv == 1]
    joints = [replace(j, stiffness=3.0, reference=0.2) if j is one[0] else j for j in scene.joints]
    joints = [replace(j, limit=Limit(lower=0.01)) if j.name == one[1].name else j for j in joints]
    return replace(
        scene,
        joints=tuple(joints),
        actuators=(
            Actuator("push", one[0].name, effort=2.0),
            Actuator("drive", one[2].name, kp=100.0, kd=3.0, target=0.5, highest=4.0, lowest=-4.0),
        ),
        forces=tuple(
            Force(f"f{i}", k.name, (1.0 + i, -2.0, 0.5 * i), (0.3, 0.1 * i, -0.2), (0.1, 0.2, 0.3), ("world", "link")[i % 2])
            for i, k in enumerate(scene.links)
        ),
        output=Output(channels=("state", "contacts", "solver", "reactions")),
    )


def link_accelerations(d, q, v, vdot):
    """(alpha, a of the mass centre, omega), each (nlink, 3): central differences of twists along the motion, fourth order."""

    def twist(t):
        moved = d.move(q, v + 0.5 * t * vdot, t)  # to second order; odd terms of higher order are below the differences' error
        links = d.forward_kinematics(moved, v + t * vdot)
        return np.concatenate([links.V[0, :, :3], links.velocities(d.inertias.com)[0]], axis=-1)

    e = 1e-4
    rate = (8 * (twist(e) - twist(-e)) - (twist(2 * e) - twist(-2 * e))) / (12 * e)
    return rate[:, :3], rate[:, 3:]


@pytest.mark.parametrize("root", ["fixed", "floating", "planar", "revolute"])
@pytest.mark.parametrize("seed", [1, 2])
def test_newtons_equations_of_every_link_and_the_efforts_of_every_joint(root, seed):
    """All kinds of joints: the wrenches that act on a link are its rates of momentum; S' F is the effort of the joint."""
    scene = driven(random_tree(seed, root))
    sim = Simulation(scene, device="cpu")
    d = Dynamics(scene)
    q0 = d.random(np.random.default_rng(seed))
    limited = next(j for j in scene.joints if j.limit.lower > -1)
    q0[0, d.joint_q_start[scene.joints.index(limited)]] = 0.0
    v0 = np.random.default_rng(seed + 1).normal(size=(1, d.nv))
    sim.set_state(q0, d.to_external(q0, v0))
    block = sim.advance(1)
    h = scene.time_step
    v1 = d.to_internal(block.joint_q[0], block.joint_qd[0])
    vdot = (v1 - v0) / h
    assert (block.constraint_impulse[0, 0] != 0.0).all(), "limit and drive must act"

    alpha, a = link_accelerations(d, q0, v0, vdot)
    links = d.forward_kinematics(q0, v0)
    p, R, omega = links.p[0], links.R[0], links.V[0, :, :3]
    com = links.points(d.inertias.com)[0]
    index = {name: i for i, name in enumerate(d.link_names)}
    torque, force = np.zeros((2, len(p), 3))  # of all that acts on a link, about its mass centre
    for j, joint in enumerate(scene.joints):
        i = index[joint.child]
        n, f = (R[i] @ x for x in np.split(block.reaction[0, 0, j], 2))
        force[i] += f
        torque[i] += n + np.cross(p[i] - com[i], f)
        if joint.parent != WORLD:
            b = index[joint.parent]
            force[b] -= f
            torque[b] -= n + np.cross(p[i] - com[b], f)
    for given in scene.forces:
        i = index[given.link]
        axes = R[i] if given.frame == "link" else np.eye(3)
        f = axes @ given.force
        force[i] += f
        torque[i] += axes @ given.torque + np.cross(p[i] + R[i] @ given.point - com[i], f)
    mass = np.array([k.inertial.mass for k in scene.links])
    I_W = R @ np.array([k.inertial.inertia for k in scene.links]) @ np.swapaxes(R, 1, 2)
    spin = np.einsum("lij,lj->li", I_W, alpha) + np.cross(omega, np.einsum("lij,lj->li", I_W, omega))
    # differences over 1e-4 of numbers of order 10, in forces of order 1e3
    scale = np.abs(block.reaction).max()
    assert_allclose(force + mass[:, None] * np.array(GRAVITY), mass[:, None] * a, atol=1e-7 * scale)
    assert_allclose(torque, spin, atol=1e-7 * scale)

    rows = dict(zip(sim.constraint_names, block.constraint_impulse[0, 0] / h, strict=True))
    for j, joint in enumerate(scene.joints):
        own = slice(d.joint_qd_start[j], d.joint_qd_start[j + 1])
        S = d.jacobian(q0, joint.child)[0]
        if joint.parent != WORLD:
            S = S - d.jacobian(q0, joint.parent, R[index[joint.parent]].T @ (p[index[joint.child]] - p[index[joint.parent]]))[0]
        F = np.concatenate([R[index[joint.child]] @ x for x in np.split(block.reaction[0, 0, j], 2)])
        effort = -joint.damping * v1[0, own] - joint.armature * vdot[0, own]
        if registry("joints")[joint.kind].nv == 1:
            spring = -joint.stiffness * (q0[0, d.joint_q_start[j]] - joint.reference)
            rows_of = [a.name for a in scene.actuators if a.joint == joint.name and a.has_gains] + [f"{joint.name}:lower"]
            effort = effort + spring + sum(a.effort for a in scene.actuators if a.joint == joint.name)
            effort = effort + sum(rows.get(name, 0.0) for name in rows_of)
        # the solver's tolerance, 1e-6 of impulses, divided by h
        assert_allclose(S[:, own].T @ F, effort, atol=1e-6 * scale, err_msg=joint.name)
