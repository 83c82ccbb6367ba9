"""The twin's bodies: merging by fixed joints, order of trees and dofs, and which pairs collide (contract 1.4)."""

from dataclasses import replace

import numpy as np
import pytest

from sapsim.model.build import build
from sapsim.reference.bodies import build_system
from sapsim.reference.step import Twin
from sapsim.scene.spec import WORLD, Inertial, Joint, Link, Material, Pose, Scene, Shape
from sapsim.status import StepStatus

INERTIA = ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01))


def link(name: str, instance: str = "robot", massive: bool = True, shape: bool = True, **more) -> Link:
    shapes = (Shape(f"{name}/0", "sphere", (0.1,), Pose(), Material()),) if shape else ()
    return Link(name, instance, Inertial(1.0, (0.0, 0.0, 0.0), INERTIA) if massive else Inertial(), shapes, **more)


def scene(links, joints, **more) -> Scene:
    ground = Shape("ground", "plane", (), Pose(), Material())
    return Scene("s", "", 1e-3, 1, links=tuple(links), joints=tuple(joints), world_shapes=(ground,), **more)


def hinge(parent: str, child: str, **more) -> Joint:
    return Joint(f"{parent}-{child}", "revolute", parent, child, q0=(0.0,), qd0=(0.0,), **more)


def pairs_by_name(given: Scene) -> set[frozenset[str]]:
    """Tested pairs, in which the model builder and the twin must agree."""
    names = ["ground"] + [x.name for x in given.links if x.shapes]
    built = build(given).pairs
    assert list(zip(built.a.tolist(), built.b.tolist(), strict=True)) == build_system(given).pairs
    return {frozenset((names[a], names[b])) for a, b in build_system(given).pairs}


def pair(a: str, b: str) -> frozenset[str]:
    return frozenset((a, b))


ARM = [link("a"), link("b"), link("c")]
ARM_JOINTS = [hinge(WORLD, "a"), hinge("a", "b"), hinge("b", "c")]


def test_jointed_bodies_do_not_collide_but_with_the_world_they_do():
    found = pairs_by_name(scene(ARM, ARM_JOINTS))
    assert found == {pair("ground", "a"), pair("ground", "b"), pair("ground", "c"), pair("a", "c")}


def test_collide_true():
    joints = [ARM_JOINTS[0], replace(ARM_JOINTS[1], collide=True), ARM_JOINTS[2]]
    assert pair("a", "b") in pairs_by_name(scene(ARM, joints))
    assert pair("b", "c") not in pairs_by_name(scene(ARM, joints))


def test_links_joined_by_fixed_joints_are_one_body():
    """c is fixed to b: neither b-c nor, across the joint, a-c is tested."""
    joints = [ARM_JOINTS[0], ARM_JOINTS[1], Joint("b-c", "fixed", "b", "c")]
    assert pairs_by_name(scene(ARM, joints)) == {pair("ground", "a"), pair("ground", "b"), pair("ground", "c")}


def test_links_fixed_to_the_world_are_immovable_and_no_part_of_the_world_rule():
    """a stands fixed, as a robot's base does: it does not meet the ground nor b, which is jointed to it; b meets the ground."""
    joints = [Joint("a", "fixed", WORLD, "a"), *ARM_JOINTS[1:]]
    found = pairs_by_name(scene(ARM, joints))
    assert found == {pair("ground", "b"), pair("ground", "c"), pair("a", "c")}
    joints[1] = replace(joints[1], collide=True)
    assert pair("a", "b") in pairs_by_name(scene(ARM, joints))


def test_a_second_link_fixed_to_the_world_meets_what_is_jointed_to_the_first():
    links = [*ARM[:2], link("table")]
    joints = [Joint("a", "fixed", WORLD, "a"), ARM_JOINTS[1], Joint("table", "fixed", WORLD, "table")]
    found = pairs_by_name(scene(links, joints))
    assert pair("b", "table") in found and pair("a", "b") not in found


def test_a_link_without_mass_and_shapes_is_part_of_the_joint():
    links = [link("a"), link("b", massive=False, shape=False), link("c")]
    assert pair("a", "c") not in pairs_by_name(scene(links, ARM_JOINTS))
    with_shape = [link("a"), link("b", massive=False), link("c")]
    assert pair("a", "c") in pairs_by_name(scene(with_shape, ARM_JOINTS))
    with_mass = [link("a"), link("b", shape=False), link("c")]
    assert pair("a", "c") in pairs_by_name(scene(with_mass, ARM_JOINTS))


def test_filters_and_switches():
    assert pair("a", "c") not in pairs_by_name(scene(ARM, ARM_JOINTS, filters=(("c", "a"),)))
    assert pair("ground", "b") not in pairs_by_name(scene(ARM, ARM_JOINTS, filters=(("b", WORLD),)))
    off = [ARM[0], ARM[1], link("c", collide=False)]
    assert pairs_by_name(scene(off, ARM_JOINTS)) == {pair("ground", "a"), pair("ground", "b")}
    alone = [replace(x, self_collision=False) for x in ARM]
    other = [*alone, link("d", instance="other")]
    joints = [*ARM_JOINTS, hinge(WORLD, "d")]
    assert pair("a", "c") not in pairs_by_name(scene(other, joints))
    assert pair("c", "d") in pairs_by_name(scene(other, joints))


def test_trees_and_dofs_follow_links_coordinates_follow_joints():
    """Trees are numbered by their first link; the joints of the file are in another order."""
    links = [link("a"), link("x"), link("b")]
    float_x = Joint("x", "floating", WORLD, "x", q0=(0, 0, 0, 0, 0, 0, 1), qd0=(0,) * 6)
    system = build_system(scene(links, [float_x, hinge("a", "b"), hinge(WORLD, "a")]))
    assert [(b.joint, b.tree, b.dof, b.iq, b.iv) for b in system.bodies] == [
        ("world-a", 0, 0, 8, 7),
        ("a-b", 0, 1, 7, 6),
        ("x", 1, 2, 0, 0),
    ]
    assert (system.nq, system.nv, system.ntree) == (9, 8, 2)
    np.testing.assert_array_equal(system.dof_tree, [0, 0, 1, 1, 1, 1, 1, 1])


def test_merged_inertia():
    """Two unit masses 1 m apart: com in the middle, 0.5 kg m^2 more about the axes across."""
    joints = [hinge(WORLD, "a"), Joint("a-b", "fixed", "a", "b", Pose((1.0, 0.0, 0.0)))]
    (body,) = build_system(scene([link("a"), link("b")], joints)).bodies
    assert body.mass == pytest.approx(2.0)
    np.testing.assert_allclose(body.com, [0.5, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(body.inertia, np.diag([0.02, 0.52, 0.52]), atol=1e-15)


@pytest.mark.parametrize("which", ["q", "qd"])
def test_a_non_finite_state_is_a_flag(which):
    """The step returns what it was given, with the flag; nothing is raised."""
    float_a = Joint("a", "floating", WORLD, "a", q0=(0, 0, 0.05, 0, 0, 0, 1), qd0=(0,) * 6)
    twin = Twin(scene([link("a")], [float_a]))
    q, qd = twin.initial()
    (q if which == "q" else qd)[2] = np.nan
    result = twin.step(q, qd)
    assert result.status & StepStatus.NON_FINITE
    np.testing.assert_array_equal(result.q, q)
    np.testing.assert_array_equal(result.qd, qd)


def test_a_world_without_contacts_takes_the_free_motion():
    """v = v* exactly, no iteration, the flags of success (contract 3)."""
    float_a = Joint("a", "floating", WORLD, "a", q0=(0, 0, 3, 0, 0, 0, 1), qd0=(1, 2, 3, 4, 5, 6))
    twin = Twin(scene([link("a")], [float_a]))
    result = twin.step(*twin.initial())
    np.testing.assert_array_equal(result.v, result.v_star)
    assert (result.iterations, result.residual, result.scale, result.cost) == (0, 0.0, 0.0, 0.0)
    assert result.optimality_reached and not result.cost_reached and result.status == 0
    # The moments of inertia are equal, so only gravity acts: h g.
    np.testing.assert_allclose(result.qd, [1, 2, 3 - 9.81e-3, 4, 5, 6], rtol=1e-15, atol=1e-15)
