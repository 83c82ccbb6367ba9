"""The NumPy twin's dynamics against Pinocchio and against identities that need no other code."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from sapsim.reference.bodies import NQ, NV, build_system
from sapsim.reference.crba import calc_mass_matrix
from sapsim.reference.free_motion import calc_free_motion, calc_gravity, calc_springs
from sapsim.reference.integrate import step_coordinates
from sapsim.reference.kinematics import (
    calc_kinematics,
    link_placements,
    plane_axes,
    point_jacobian,
    velocity_from_external,
    velocity_to_external,
)
from sapsim.reference.rne import calc_generalized_forces
from sapsim.reference.spatial import quaternion_to_rotation, rotation_to_quaternion, spatial_inertia
from sapsim.scene.spec import WORLD, Force, Inertial, Joint, Link, Pose, Scene

GRAVITY = (0.3, -0.2, -9.7)
SEEDS = range(4)
# Sums of a few hundred products of numbers of order one: round-off 1e-13; the factor covers the conditioning here.
ROUND_OFF = 1e-11


def random_pose(rng) -> Pose:
    q = rng.normal(size=4)
    return Pose(tuple(rng.uniform(-0.5, 0.5, 3)), tuple(q / np.linalg.norm(q)))


def random_inertial(rng) -> Inertial:
    """A solid: positive definite, principal moments that obey the triangle rule, com off the origin."""
    semi = rng.uniform(0.05, 0.3, 3) ** 2
    mass = rng.uniform(0.3, 3.0)
    R = quaternion_to_rotation(rng.normal(size=4))
    inertia = R @ np.diag(mass / 5.0 * (semi.sum() - semi)) @ R.T
    return Inertial(mass, tuple(rng.uniform(-0.2, 0.2, 3)), tuple(map(tuple, inertia)))


def random_scene(seed: int) -> Scene:
    """A floating tree and one jointed to the world, ten links, branches, fixed joints inside and at the world.

    `e` hangs on a ball joint; `i` (and `d` with an odd seed) slides on a planar one; `b` and `f` take turns on a universal,
    a cylindrical and a screw joint.
    """
    rng = np.random.default_rng(seed)
    # child: parent.  `stand` is fixed to the world, `c` and `g` merge into their parents.
    parents = {"a": WORLD, "b": "a", "c": "b", "d": "c", "e": "a", "stand": WORLD, "f": "stand", "g": "f", "i": "g"}
    kinds = {"a": "floating", "c": "fixed", "stand": "fixed", "g": "fixed", "e": "ball", "i": "planar"}
    kinds |= {"d": "planar"} if seed % 2 else {}
    new = ("universal", "cylindrical", "screw")
    kinds |= {"b": new[seed % 3], "f": new[(seed + 1) % 3]}
    links, joints = [], []
    for child, parent in parents.items():
        kind = kinds.get(child, rng.choice(["revolute", "prismatic", "continuous"]))
        axis, axis2 = rng.normal(size=(2, 3))
        q, v = NQ[kind], NV[kind]
        q0 = rng.normal(size=q)
        if kind in ("floating", "ball"):
            q0[-4:] /= np.linalg.norm(q0[-4:])
        links.append(Link(child, "robot", random_inertial(rng), gravity=child != "d"))
        joints.append(
            Joint(
                f"j_{child}",
                str(kind),
                parent,
                child,
                X_PF=random_pose(rng),
                axis=tuple(axis / np.linalg.norm(axis)),
                axis2=tuple(axis2 / np.linalg.norm(axis2)),
                pitch=float(rng.normal(scale=0.3)),
                q0=tuple(q0),
                qd0=tuple(rng.normal(size=v)),
                damping=float(rng.uniform(0.0, 0.5)) if v else 0.0,
                armature=float(rng.uniform(0.0, 0.2)) if v else 0.0,
                stiffness=float(rng.uniform(0.0, 5.0)) if v == 1 else 0.0,
                reference=float(rng.normal()),
            )
        )
    # The order of the file is not that of the tree: coordinates of files and internal dofs differ.
    order = [3, 5, 0, 4, 1, 2, 8, 7, 6]
    return Scene(
        "random",
        "",
        1e-3,
        1,
        gravity=GRAVITY,
        links=tuple(links),
        joints=tuple(joints[i] for i in order),
    )


def random_state(scene: Scene, system):
    q = np.array([x for joint in scene.joints for x in joint.q0])
    qd = np.array([x for joint in scene.joints for x in joint.qd0])
    return q, velocity_from_external(system, q, qd)


@pytest.fixture(params=SEEDS)
def case(request):
    scene = random_scene(request.param)
    system = build_system(scene)
    q, v = random_state(scene, system)
    return scene, system, q, v, calc_kinematics(system, q, v), np.random.default_rng(100 + request.param)


def pinocchio_model(scene: Scene, system):
    """The same scene in Pinocchio, and per body its joint there."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(scene.gravity), np.zeros(3))
    ids = []
    for body in system.bodies:
        kind = {
            "floating": pin.JointModelFreeFlyer,
            "prismatic": lambda: pin.JointModelPrismaticUnaligned(body.axis),
            "revolute": lambda: pin.JointModelRevoluteUnaligned(body.axis),
            "continuous": lambda: pin.JointModelRevoluteUnaligned(body.axis),
            "ball": pin.JointModelSpherical,
            "planar": lambda: planar_of_pinocchio(body.axis),
            "screw": lambda: pin.JointModelHelicalUnaligned(body.axis, body.pitch),
            "cylindrical": lambda: composite(
                pin.JointModelRevoluteUnaligned(body.axis), pin.JointModelPrismaticUnaligned(body.axis)
            ),
            "universal": lambda: composite(
                pin.JointModelRevoluteUnaligned(body.axis), pin.JointModelRevoluteUnaligned(body.axis2)
            ),
        }[body.kind]()
        parent = ids[body.parent] if body.parent >= 0 else 0
        ids.append(model.addJoint(parent, kind, pin.SE3(body.X_PF.R, body.X_PF.p), body.joint))
    # Links one by one, at their place in the body: Pinocchio, not the twin, sums the inertias.
    for link, body, X in zip(scene.links, system.link_body, system.link_X_BL, strict=True):
        if body >= 0:
            own = link.inertial
            inertia = pin.Inertia(own.mass, np.array(own.com), np.array(own.inertia))
            model.appendBodyToJoint(ids[body], inertia, pin.SE3(X.R, X.p))
    return model, ids


def planar_of_pinocchio(axis):
    """Two sliders and a hinge in one joint: Pinocchio's own planar joint has the normal z and velocities in its own axes."""
    sliders = [pin.JointModelPrismaticUnaligned(e) for e in plane_axes(axis).T]
    return composite(*sliders, pin.JointModelRevoluteUnaligned(axis))


def composite(*parts):
    """Joints of Pinocchio one after another, as one."""
    joint = pin.JointModelComposite(len(parts))
    for part in parts:
        joint.addJoint(part)
    return joint


def pinocchio_state(system, model, ids, kin, q, v, vdot):
    """q, v, a of Pinocchio (free flyer and ball: own axes), T with v = T v_pin, and Tdot v_pin."""
    q_pin, T, bias = np.zeros(model.nq), np.zeros((system.nv, model.nv)), np.zeros(system.nv)
    for b, body in enumerate(system.bodies):
        joint = model.joints[ids[b]]
        q_pin[joint.idx_q : joint.idx_q + joint.nq] = q[body.q]
        columns = slice(joint.idx_v, joint.idx_v + joint.nv)
        if body.kind == "ball":  # own axes there, those of F here
            T[body.dofs, columns] = quaternion_to_rotation(q[body.q])
            continue
        if body.kind != "floating":
            T[body.dofs, columns] = np.eye(body.nv)
            continue
        R = kin.X_WB[b].R
        omega, v_o = v[body.dofs][:3], v[body.dofs][3:]
        T[body.dofs, columns] = np.block([[np.zeros((3, 3)), R], [R, np.zeros((3, 3))]])
        bias[body.dofs] = np.concatenate([np.zeros(3), np.cross(omega, v_o)])  # d/dt R = [omega] R
    return q_pin, np.linalg.solve(T, v), np.linalg.solve(T, vdot - bias), T


def test_mass_matrix_and_forces_equal_pinocchio(case):
    scene, system, q, v, kin, rng = case
    model, ids = pinocchio_model(scene, system)
    data = model.createData()
    vdot = rng.normal(size=system.nv)
    q_pin, v_pin, a_pin, T = pinocchio_state(system, model, ids, kin, q, v, vdot)

    M_pin = pin.crba(model, data, q_pin)
    M_pin = np.triu(M_pin) + np.triu(M_pin, 1).T
    M = calc_mass_matrix(system, kin)
    np.testing.assert_allclose(T.T @ M @ T, M_pin, atol=ROUND_OFF * np.abs(M_pin).max())

    # Every link heavy: Pinocchio has no weightless bodies.
    all_heavy = build_system(replace(scene, links=tuple(replace(x, gravity=True) for x in scene.links)))
    tau = calc_generalized_forces(system, kin, v, vdot) - calc_gravity(all_heavy, kin, np.array(scene.gravity))
    tau_pin = pin.rnea(model, data, q_pin, v_pin, a_pin)
    np.testing.assert_allclose(T.T @ tau, tau_pin, atol=ROUND_OFF * np.abs(tau_pin).max())

    pin.forwardKinematics(model, data, q_pin, v_pin)
    for b in range(len(system.bodies)):
        np.testing.assert_allclose(kin.X_WB[b].R, data.oMi[ids[b]].rotation, atol=ROUND_OFF)
        np.testing.assert_allclose(kin.X_WB[b].p, data.oMi[ids[b]].translation, atol=ROUND_OFF)
        twist = pin.getVelocity(model, data, ids[b], pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(kin.V[b], np.concatenate([twist.angular, twist.linear]), atol=ROUND_OFF)


def test_mass_matrix_is_a_sum_over_links(case):
    """M = sum of J^T I J, link by link, each Jacobian by finite differences of the link's placement."""
    scene, system, q, _, kin, _ = case
    M = np.zeros((system.nv, system.nv))
    step = 1e-6
    for i, link in enumerate(scene.links):
        if system.link_body[i] < 0:
            continue
        J = np.zeros((6, system.nv))
        for k in range(system.nv):
            ahead, behind = (
                link_placements(system, step_coordinates(system, q, np.eye(system.nv)[k], s))[i]
                for s in (0.5 * step, -0.5 * step)
            )
            turn = quaternion_to_rotation(ahead[3:]) @ quaternion_to_rotation(behind[3:]).T
            J[:3, k] = rotation_to_quaternion(turn)[:3] * 2.0 / step
            J[3:, k] = (ahead[:3] - behind[:3]) / step
        R = quaternion_to_rotation(link_placements(system, q)[i][3:])
        own = link.inertial
        M += J.T @ spatial_inertia(own.mass, R @ np.array(own.com), R @ np.array(own.inertia) @ R.T) @ J
    # Central differences of step 1e-6: truncation 1e-12, round-off 1e-16 / 1e-6.
    np.testing.assert_allclose(calc_mass_matrix(system, kin), M, atol=1e-8 * np.abs(M).max())


def kinetic_energy(system, q, v):
    return 0.5 * v @ calc_mass_matrix(system, calc_kinematics(system, q, v)) @ v


def potential_energy(scene, system, q):
    """- sum of m g . p_com over heavy links."""
    energy = 0.0
    for link, row, body in zip(scene.links, link_placements(system, q), system.link_body, strict=True):
        if link.gravity and body >= 0:
            p = row[:3] + quaternion_to_rotation(row[3:]) @ np.array(link.inertial.com)
            energy -= link.inertial.mass * np.array(scene.gravity) @ p
    return energy


def test_power(case):
    """v . tau = dT/dt along any motion: T by finite differences."""
    _, system, q, v, kin, rng = case
    vdot = rng.normal(size=system.nv)
    power = v @ calc_generalized_forces(system, kin, v, vdot)
    s = 1e-5

    def energy(t):
        return kinetic_energy(system, step_coordinates(system, q, v, t), v + t * vdot)

    # Central difference: truncation ~ s^2, round-off ~ 1e-16 / s, both relative to the terms of the sum.
    size = np.abs(v * calc_generalized_forces(system, kin, v, vdot)).sum()
    assert (energy(s) - energy(-s)) / (2.0 * s) == pytest.approx(power, abs=1e-7 * size)


def test_gravity_is_the_gradient_of_the_potential(case):
    scene, system, q, _, kin, _ = case
    s = 1e-6
    gradient = [
        (
            potential_energy(scene, system, step_coordinates(system, q, e, s))
            - potential_energy(scene, system, step_coordinates(system, q, e, -s))
        )
        / (2.0 * s)
        for e in np.eye(system.nv)
    ]
    tau = calc_gravity(system, kin, np.array(scene.gravity))
    np.testing.assert_allclose(-np.array(gradient), tau, atol=1e-8 * np.abs(tau).max())


def test_damping_is_implicit(case):
    """A v* = (M + armature) v0 + h (gravity - bias - spring): damping acts on the new velocity (sap_formulas 1.1)."""
    scene, system, q, v, kin, _ = case
    free = calc_free_motion(scene, system, kin, v, 0.0)
    armature = np.array([b.armature for b in system.bodies for _ in range(b.nv)])
    bias = calc_generalized_forces(system, kin, v, np.zeros(system.nv))
    right = (calc_mass_matrix(system, kin) + np.diag(armature)) @ v
    right += scene.time_step * (calc_gravity(system, kin, np.array(GRAVITY)) - bias - calc_springs(system, q))
    np.testing.assert_allclose(free.A @ free.v_star, right, atol=ROUND_OFF * np.abs(right).max())


@pytest.mark.parametrize("frame", ["world", "link"])
@pytest.mark.parametrize("link", ["d", "i", "c"])
def test_applied_force_does_its_power(case, frame, link):
    """v . tau = f . v_point + n . omega for a force on any link, also one that a fixed joint merged."""
    scene, system, _, v, kin, _ = case
    force, torque, point = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, -0.7]), np.array([0.1, 0.2, -0.3])
    item = Force("f", link, tuple(force), tuple(torque), tuple(point), frame)
    pushed = calc_free_motion(replace(scene, forces=(item,)), system, kin, v, 0.0)
    tau = pushed.tau - calc_free_motion(scene, system, kin, v, 0.0).tau

    i = [x.name for x in scene.links].index(link)
    body = system.link_body[i]
    X_WL = kin.X_WB[body] @ system.link_X_BL[i]
    velocity = point_jacobian(system, kin, body, X_WL.point(point)) @ v
    R = X_WL.R if frame == "link" else np.eye(3)
    expected = (R @ force) @ velocity + (R @ torque) @ kin.V[body][:3]
    assert v @ tau == pytest.approx(expected, abs=ROUND_OFF * 100.0)


@pytest.mark.parametrize(
    "start, until, active",
    [(0.0, 0.0125, [1, 1, 0]), (0.005, 0.015, [0, 1, 0]), (0.0149, 0.1, [0, 0, 1]), (-1.0, 0.0, [0, 0, 0])],
)
def test_forces_act_in_their_steps(start, until, active):
    """Active in steps with from - h/2 <= t_k < until - h/2; here h = 8 ms, t = 0, 8, 16 ms."""
    scene = replace(random_scene(0), time_step=0.008)
    system = build_system(scene)
    q, v = random_state(scene, system)
    kin = calc_kinematics(system, q, v)
    pushed = replace(scene, forces=(Force("f", "a", (1.0, 0.0, 0.0), start=start, until=until),))
    acts = [
        bool(
            np.any(
                calc_free_motion(pushed, system, kin, v, k * 0.008).tau
                != calc_free_motion(scene, system, kin, v, k * 0.008).tau
            )
        )
        for k in range(3)
    ]
    assert acts == [bool(x) for x in active]


def test_velocities_of_files_and_inside(case):
    """External floating velocity is that of the body's com; the way there and back is exact to round-off."""
    _, system, q, v, kin, _ = case
    qd = velocity_to_external(system, q, v)
    np.testing.assert_allclose(velocity_from_external(system, q, qd), v, atol=ROUND_OFF)
    b = next(i for i, body in enumerate(system.bodies) if body.kind == "floating")
    body = system.bodies[b]
    com_velocity = point_jacobian(system, kin, b, kin.X_WB[b].point(body.com)) @ v
    np.testing.assert_allclose(qd[body.qd], np.concatenate([com_velocity, kin.V[b][:3]]), atol=ROUND_OFF)
    assert np.linalg.norm(body.com) > 0.01


def test_free_spin_turns_by_the_half_angle_tangent():
    """One step of omega turns by 2 atan(h |omega| / 2) about omega, whatever the joint frame (sap_formulas 6.2)."""
    rng = np.random.default_rng(5)
    h, omega = 0.01, np.array([3.0, -6.0, 6.0])  # |omega| = 9
    link = Link("a", "a", random_inertial(rng))
    joint = Joint("a/base", "floating", WORLD, "a", X_PF=random_pose(rng), q0=(0, 0, 0, *random_pose(rng).q))
    system = build_system(Scene("spin", "", h, 1, links=(link,), joints=(joint,)))
    q = np.array(joint.q0)
    before, after = (
        quaternion_to_rotation(link_placements(system, x)[0][3:])
        for x in (q, step_coordinates(system, q, np.concatenate([omega, np.zeros(3)]), h))
    )
    turn = rotation_to_quaternion(after @ before.T)
    angle = 2.0 * np.arctan(0.5 * h * 9.0)
    np.testing.assert_allclose(turn, np.append(omega / 9.0 * np.sin(0.5 * angle), np.cos(0.5 * angle)), atol=1e-15)
