"""Links held together by fixed joints as one body, and the checks of what moves."""

import math

import numpy as np
import pytest

from sapsim.errors import SceneError
from sapsim.scene.bodies import group_links
from sapsim.scene.inertials import MassSum, impossible
from sapsim.scene.poses import compose, matrix, quat_from_rpy
from sapsim.scene.read import loads
from sapsim.scene.spec import Inertial, Pose

HEAD = "sapsim: 1\ntime_step: 0.001\nsteps: 10\n"
UNIT = "{inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}"

# Sums of a few float64 products of numbers up to about ten.
ROUND_OFF = 1e-13

TREE = f"""
models:
  m:
    links:
      stand: {UNIT}
      plate: {UNIT}
      arm: {UNIT}
      tool: {{inertial: {{mass: 2, com: [0.5, 0, 0], inertia: {{ixx: 1, iyy: 2, izz: 2.5, ixy: 0.1}}}}}}
      frame: {{}}
      finger: {UNIT}
    joints:
      grip: {{type: prismatic, parent: frame, child: finger, origin: {{xyz: [0, 0, 0.5]}}}}
      mount: {{type: fixed, parent: stand, child: plate, origin: {{xyz: [0, 0, 1]}}}}
      hinge: {{type: revolute, parent: plate, child: arm, origin: {{xyz: [1, 0, 0], rpy: [0, 0.3, 0]}}, axis: [0, 0, 1]}}
      weld: {{type: fixed, parent: arm, child: tool, origin: {{xyz: [0, 2, 0], rpy: [0.2, 0.3, 0.4]}}}}
      mark: {{type: fixed, parent: tool, child: frame, origin: {{xyz: [0, 0, 1]}}}}
instances:
  r: {{model: m, base: fixed, pose: {{xyz: [10, 0, 0]}}}}
  f: {{model: m, base: floating}}
bodies: {{ball: {{sphere: 1, mass: 1}}}}
"""


@pytest.fixture(scope="module")
def tree():
    return loads(HEAD + TREE)


def test_groups_are_the_world_and_then_every_moving_body_after_its_parent(tree):
    groups = group_links(tree)
    names = [[tree.links[i].name for i, _ in g.members] for g in groups]
    assert names == [
        ["r/stand", "r/plate"],
        ["r/arm", "r/tool", "r/frame"],
        ["r/finger"],
        ["f/stand", "f/plate"],
        ["f/arm", "f/tool", "f/frame"],
        ["f/finger"],
        ["ball"],
    ]
    joints = [tree.joints[g.joint].name if g.joint >= 0 else "" for g in groups]
    assert joints == ["", "r/hinge", "r/grip", "f/base", "f/hinge", "f/grip", "ball/base"]
    assert [g.parent for g in groups] == [-1, 0, 1, 0, 3, 4, 0]
    assert [tree.links[g.root].name if g.root >= 0 else "" for g in groups] == [
        n[0] if n[0] != "r/stand" else "" for n in names
    ]
    assert sorted(i for g in groups for i, _ in g.members) == list(range(len(tree.links)))


def test_placements_are_composed_along_fixed_joints(tree):
    world, arm, finger, floating = group_links(tree)[:4]
    np.testing.assert_allclose([X.p for _, X in world.members], [[10, 0, 0], [10, 0, 1]], atol=ROUND_OFF)
    np.testing.assert_allclose(arm.X_PF.p, [11, 0, 1], atol=ROUND_OFF)
    np.testing.assert_allclose(arm.X_PF.q, quat_from_rpy((0, 0.3, 0)), atol=ROUND_OFF)
    R = matrix(quat_from_rpy((0.2, 0.3, 0.4)))
    np.testing.assert_allclose(arm.members[2][1].p, [0, 2, 0] + R[:, 2], atol=ROUND_OFF)
    np.testing.assert_allclose(finger.X_PF.p, [0, 2, 0] + 1.5 * R[:, 2], atol=ROUND_OFF)
    assert floating.X_PF == Pose() and floating.members[0][1] == Pose()


def point_masses(inertial, X):
    """Six point masses (mass, position) with the mass, com and inertia of a link that is placed at X.

    Two at +-a_k along each principal axis with sum 2 m_k a_k^2 = J_k, J the second moments of the distribution.
    """
    moments, axes = np.linalg.eigh(np.asarray(inertial.inertia))
    J = 0.5 * moments.sum() - moments
    a = np.sqrt(3.0 * J / inertial.mass)
    R = matrix(X.q)
    p = [np.asarray(inertial.com) + s * a[k] * axes[:, k] for k in range(3) for s in (-1, 1)]
    return [(inertial.mass / 6.0, np.asarray(X.p) + R @ x) for x in p]


def test_composite_mass_properties_are_those_of_the_same_points(tree):
    for group in group_links(tree):
        points = [x for i, X in group.members if (k := tree.links[i].inertial).mass > 0 for x in point_masses(k, X)]
        mass = sum(m for m, _ in points)
        com = sum(m * x for m, x in points) / mass
        inertia = sum(m * ((x - com) @ (x - com) * np.eye(3) - np.outer(x - com, x - com)) for m, x in points)
        assert group.mass == pytest.approx(mass, rel=ROUND_OFF)
        np.testing.assert_allclose(group.com, com, atol=ROUND_OFF)
        # the world group stands at x = 10: its sums are of the size m x^2 = 200
        np.testing.assert_allclose(group.inertia, inertia, atol=200 * ROUND_OFF)
        assert group.inertial == Inertial(group.mass, group.com, group.inertia)


def test_a_link_of_its_own_keeps_its_numbers_exactly(tree):
    finger = group_links(tree)[2]
    assert finger.inertial == tree.links[finger.root].inertial
    assert finger.round_off == 0.0


def test_composition_of_placements():
    X_AB = Pose((1.0, 2.0, 3.0), quat_from_rpy((0.1, 0.2, 0.3)))
    X_BC = Pose((-1.0, 0.5, 2.0), quat_from_rpy((-1.0, 0.7, 2.0)))
    X_AC = compose(X_AB, X_BC)
    np.testing.assert_allclose(matrix(X_AC.q), matrix(X_AB.q) @ matrix(X_BC.q), atol=ROUND_OFF)
    np.testing.assert_allclose(X_AC.p, np.asarray(X_AB.p) + matrix(X_AB.q) @ X_BC.p, atol=ROUND_OFF)


@pytest.mark.parametrize(
    ("moments", "fine"),
    [
        ((1.0, 1.0, 1.0), True),
        ((1.0, 1.0, 2.0), True),  # a thin plate is just possible
        ((1.0, 1.0, 2.0 * (1 + 0.9e-5)), True),
        ((1.0, 1.0, 2.0 * (1 + 1.1e-5)), False),
        ((1e-9, 1.0, 1.0), True),
        ((0.0, 1.0, 1.0), False),
        ((-1e-9, 1.0, 1.0), False),
        ((0.010, 0.002, 0.003), False),
    ],
)
def test_the_triangle_rule_is_about_principal_moments(moments, fine):
    R = matrix(quat_from_rpy((0.3, 0.4, 0.5)))
    assert bool(impossible(np.diag(moments))) is not fine
    if abs(moments[0]) > 1e-6:  # turning the axes adds round-off, which would hide the smallest moments
        assert bool(impossible(R @ np.diag(moments) @ R.T)) is not fine


def test_the_diagonal_alone_does_not_decide():
    # principal moments 0.0014, 0.0021, 0.0087 [kg m^2]: impossible, though the diagonal passes (user case B25)
    R = matrix(quat_from_rpy((0.0, 0.8, 0.0)))
    inertia = R @ np.diag([0.0014, 0.0021, 0.0087]) @ R.T
    a, b, c = sorted(np.diag(inertia))
    assert c < a + b
    assert "0.0087" in impossible(inertia)


def codes(text):
    with pytest.raises(SceneError) as caught:
        loads(HEAD + text)
    return [(e.code, e.message) for e in caught.value.errors]


def chain(links, joints, base="floating"):
    return f"models:\n  m:\n    links: {{{links}}}\n    joints: {{{joints}}}\ninstances: {{i: {{model: m, base: {base}}}}}\n"


def test_a_chain_without_mass_is_one_fault_at_its_last_link():
    joints = "j1: {type: revolute, parent: a, child: b}, j2: {type: prismatic, parent: b, child: c}"
    ((code, message),) = codes(chain(f"a: {UNIT}, b: {{}}, c: {{}}", joints))
    assert code == "massless"
    assert '"i/c"' in message and '"i/j2"' in message


def test_moments_of_inertia_without_mass_carry_a_hinge_about_their_axis_only():
    rotor = "{inertial: {mass: 0, inertia: {ixx: 0, iyy: 0, izz: 1}}}"
    joint = "j: {type: revolute, parent: a, child: b, axis: %s}"
    scene = loads(HEAD + chain(f"a: {UNIT}, b: {rotor}", joint % "[0, 0, 1]"))
    assert len(scene.links) == 2
    assert [c for c, _ in codes(chain(f"a: {UNIT}, b: {rotor}", joint % "[1, 0, 0]"))] == ["massless"]
    assert [c for c, _ in codes(chain(f"a: {UNIT}, b: {rotor}", "j: {type: prismatic, parent: a, child: b}"))] == ["massless"]


def test_point_masses_make_a_possible_body_or_not():
    point = "{inertial: {mass: 1, inertia: {ixx: 0, iyy: 0, izz: 0}}}"
    places = {"b": "[1, 0, 0]", "c": "[0.1, 0.7, 0]", "d": "[0.3, 0.1, 0.9]"}
    joints = ", ".join(f"{n}: {{type: fixed, parent: a, child: {n}, origin: {{xyz: {p}}}}}" for n, p in places.items())
    links = ", ".join(f"{n}: {point}" for n in "abcd")
    scene = loads(HEAD + chain(links, joints))
    assert [w.code for w in scene.warnings] == ["impossible-inertia"]
    # all on one line: no moment about it, but for round-off of the sums
    line = joints.replace("[0.1, 0.7, 0]", "[0.1, 0, 0]").replace("[0.3, 0.1, 0.9]", "[0.3, 0, 0]")
    ((code, message),) = codes(chain(links, line))
    assert code == "impossible-inertia"
    assert "i/a, i/b, i/c, i/d" in message and '"i/base"' in message
    assert loads(HEAD + chain(links, line, base="fixed")).links[0].inertial.mass == 1.0


def test_sums_with_an_unknown_mass_stay_unknown():
    total = MassSum.of([(Inertial(1.0), Pose()), (Inertial(math.nan), Pose())])
    assert math.isnan(total.inertial().mass)
    assert impossible(np.asarray(total.inertial().inertia)) == ""
