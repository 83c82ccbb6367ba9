"""Every robot of example-robot-data: it loads, or is refused with link and joint named; and its mass matrix, bias forces and
placements are Pinocchio's, which reads the same file by itself.

Errors are measured in momentum's own norm, with D = diag(M)^(-1/2): M by |D (M - M') D|, forces by
|D (h - h')| / max(|D h|, |D tau|), tau those of a random acceleration.  1e-10 is far above the round-off of a hundred
degrees of freedom (1e-12 at most here) and below any fault of reading: the digits of these files end at 1e-8 or before.
"""

from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from sapsim.errors import SceneError
from sapsim.reference.bodies import build_system
from sapsim.reference.crba import calc_mass_matrix
from sapsim.reference.free_motion import calc_gravity
from sapsim.reference.kinematics import calc_kinematics, link_placements
from sapsim.reference.rne import calc_generalized_forces
from sapsim.reference.spatial import quaternion_to_rotation
from sapsim.scene.read import load_model
from sapsim.step.simulation import Simulation

ROBOTS = Path(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
TOLERANCE = 1e-10
# Left out for their licences.
LEFT_OUT = ("alex_description", "icub_description")
FILES = sorted(str(p.relative_to(ROBOTS)) for p in ROBOTS.rglob("*.urdf") if p.relative_to(ROBOTS).parts[0] not in LEFT_OUT)

# What must be refused, and words of its message.
REFUSED = {
    "romeo_description/urdf/romeo.urdf": ('link "LFinger13Link"', 'joint "LFinger13"', "without mass"),
    "romeo_description/urdf/romeo_laas_small.urdf": ('link "l_gripper"', 'joint "l_gripper_joint"', "without mass"),
    "romeo_description/urdf/romeo_small.urdf": ('link "RShoulderYawLink"', 'joint "RShoulderYaw"', "impossible inertia"),
    "ur_description/urdf/ur3.urdf": ("without links",),
}
# nq, nv with a fixed base.
SIZES = {
    "panda_description/urdf/panda.urdf": (9, 9),
    "solo_description/robots/solo12.urdf": (12, 12),
    "anymal_b_simple_description/robots/anymal.urdf": (12, 12),
    "anymal_c_simple_description/urdf/anymal.urdf": (12, 12),
    "talos_data/robots/talos_full_v2.urdf": (44, 44),
    "tiago_description/robots/tiago_dual.urdf": (101, 101),
    "ur_description/urdf/ur5_robot.urdf": (6, 6),
    "xarm_description/urdf/xarm7.urdf": (7, 7),
    "allegro_hand_description/urdf/allegro_left_hand.urdf": (16, 16),
    "simple_humanoid_description/urdf/simple_humanoid.urdf": (29, 29),
}


def stands_on_world(file: str) -> bool:
    return any(link.get("name") == "world" for link in ElementTree.parse(ROBOTS / file).getroot().findall("link"))


def pinocchio_model(file: str, base: str):
    path = str(ROBOTS / file)
    return pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if base == "floating" else pin.buildModelFromUrdf(path)


def random_state(system, rng):
    """External q, internal v."""
    q = np.empty(system.nq)
    for body in system.bodies:
        own = rng.uniform(-1.5, 1.5, body.nq)
        if body.nq == 7:
            own[3:] /= np.linalg.norm(own[3:])
        q[body.q] = own
    return q, rng.normal(size=system.nv)


def to_pinocchio(system, model, kin, q, v):
    """q and v of Pinocchio, T with v = T v_pin, and Tdot v_pin.  Its free flyer has v = [v_o, omega] in its own axes."""
    q_pin, T, bias = np.zeros(model.nq), np.zeros((system.nv, model.nv)), np.zeros(system.nv)
    for b, body in enumerate(system.bodies):
        joint = model.joints[model.getJointId("root_joint" if body.nv == 6 else body.joint)]
        columns = slice(joint.idx_v, joint.idx_v + joint.nv)
        own = q[body.q]
        q_pin[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(own[0]), np.sin(own[0])) if joint.nq == 2 else own
        if body.nv == 1:
            T[body.dofs, columns] = 1.0
            continue
        R = kin.X_WB[b].R
        T[body.dofs, columns] = np.block([[np.zeros((3, 3)), R], [R, np.zeros((3, 3))]])
        bias[body.dofs] = np.concatenate([np.zeros(3), np.cross(v[body.dofs][:3], v[body.dofs][3:])])
    return q_pin, T.T @ v, T, bias  # T is a permutation of rotations: its inverse is its transpose


def compare(file: str, base: str, rng) -> tuple[float, float, float]:
    """The errors of M, of h, and of the placements of all links (position [m], rotation matrix)."""
    scene = load_model(ROBOTS / file, base=base)
    system = build_system(scene)
    model = pinocchio_model(file, base)
    assert model.nv == system.nv
    data = model.createData()
    q, v = random_state(system, rng)
    kin = calc_kinematics(system, q, v)
    q_pin, v_pin, T, Tdot_v = to_pinocchio(system, model, kin, q, v)

    M_pin = pin.crba(model, data, q_pin)
    M_pin = T @ (np.triu(M_pin) + np.triu(M_pin, 1).T) @ T.T
    M = calc_mass_matrix(system, kin)
    D = 1.0 / np.sqrt(np.diag(M_pin))
    error_M = np.abs(D[:, None] * (M - M_pin) * D).max(initial=0.0)

    h = calc_generalized_forces(system, kin, v, np.zeros(system.nv)) - calc_gravity(system, kin, np.array(scene.gravity))
    h_pin = T @ pin.nonLinearEffects(model, data, q_pin, v_pin) - M_pin @ Tdot_v
    tau = M_pin @ rng.normal(size=system.nv) + h_pin
    scale = max(np.linalg.norm(D * h_pin), np.linalg.norm(D * tau))
    error_h = np.linalg.norm(D * (h - h_pin)) / scale if system.nv else 0.0

    pin.framesForwardKinematics(model, data, q_pin)
    error_X = 0.0
    for link, row in zip(scene.links, link_placements(system, q), strict=True):
        X = data.oMf[model.getFrameId(link.name, pin.FrameType.BODY)]
        error_X = max(error_X, np.abs(row[:3] - X.translation).max())
        error_X = max(error_X, np.abs(quaternion_to_rotation(row[3:]) - X.rotation).max())
    return error_M, error_h, error_X


def test_the_robots_are_there():
    assert len(FILES) > 50 and set(REFUSED) | set(SIZES) <= set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_a_robot_is_pinocchios_or_is_refused_by_name(file):
    rng = np.random.default_rng(1)
    for base in ("fixed", "floating"):
        if file in REFUSED or (base == "floating" and stands_on_world(file)):
            with pytest.raises(SceneError) as caught:
                load_model(ROBOTS / file, base=base)
            error = caught.value.errors[0]
            assert error.file == str(ROBOTS / file) and error.line > 0
            for word in REFUSED.get(file, ("joined to the world",)):
                assert word in error.message
            continue
        assert max(compare(file, base, rng)) < TOLERANCE, base


@pytest.mark.parametrize("file", SIZES)
def test_sizes(file):
    scene = load_model(ROBOTS / file)
    system = build_system(scene)
    assert (system.nq, system.nv) == SIZES[file] and scene.extra["base"] == "fixed"
    assert scene.name and all(not link.shapes for link in scene.links)
    if not stands_on_world(file):
        floating = build_system(load_model(ROBOTS / file, base="floating"))
        assert (floating.nq, floating.nv) == (system.nq + 7, system.nv + 6)


@pytest.mark.parametrize("file", SIZES)
def test_the_simulation_stands_where_the_twin_does(file):
    """The kernels' placements of every link, at a random state that file order and tree order see differently."""
    scene = load_model(ROBOTS / file, base="fixed" if stands_on_world(file) else "floating")
    system = build_system(scene)
    q, _ = random_state(system, np.random.default_rng(3))
    sim = Simulation(scene, device="cpu")
    sim.set_state(q[None], np.zeros((1, system.nv)))
    found, expected = sim.initial().body_q[0, 0], link_placements(system, q)
    np.testing.assert_allclose(found[:, :3], expected[:, :3], atol=TOLERANCE)
    # a quaternion and its negative are the same rotation
    np.testing.assert_allclose(np.abs(np.sum(found[:, 3:] * expected[:, 3:], axis=1)), 1.0, atol=TOLERANCE)


def test_a_fault_of_reading_is_found():
    """The comparison can fail: a com that is off by a tenth of a millimetre is far above the tolerance."""
    system = build_system(load_model(ROBOTS / "panda_description/urdf/panda.urdf"))
    q, v = random_state(system, np.random.default_rng(2))
    kin = calc_kinematics(system, q, v)
    body = system.bodies[3]
    bodies = list(system.bodies)
    bodies[3] = replace(body, com=body.com + np.array([1e-4, 0.0, 0.0]))
    M, M_off = calc_mass_matrix(system, kin), calc_mass_matrix(replace(system, bodies=bodies), kin)
    D = 1.0 / np.sqrt(np.diag(M))
    assert np.abs(D[:, None] * (M - M_off) * D).max() > 1e3 * TOLERANCE
