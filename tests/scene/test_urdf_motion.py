"""Robots from URDF in motion: free fall, a damped hinge, a continuous joint, links on fixed joints; against closed forms."""

import numpy as np
import pytest
from urdf_files import ARM, INERTIAL, SCENE, changed, scene_of

from sapsim.step.simulation import Simulation

JOINT = 'name="j1" type="revolute"'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="3"/>'
H = 0.001


def motion(folder, scene=SCENE, text=ARM, **options):
    sim = Simulation(scene_of(folder, scene, text, **options), device="cpu")
    block = sim.advance(sim.scene.steps)
    assert block.converged.all()
    return sim, block


@pytest.mark.parametrize("base, drop", [("floating", 4.905 * (1.0 + H)), ("fixed", 0.0)])
def test_a_single_link_falls_or_stands(tmp_path, base, drop):
    """z(1 s) = 5 - g t (t + h) / 2 by symplectic Euler."""
    inertial = '<inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    text = f'<robot name="r"><link name="body">{inertial}</link></robot>'
    scene = SCENE.replace("steps: 100", "steps: 1000").replace("base: fixed", f"base: {base}, pose: {{xyz: [0, 0, 5]}}")
    sim, block = motion(tmp_path, scene, text)
    assert sim.scene.links[0].inertial.mass == 3.0 and sim.link_names == ["arm/body"]
    assert block.body_q[-1, 0, 0, 2] == pytest.approx(5.0 - drop, abs=1e-10)  # 1e-10: rounding of 1000 sums


def test_damping_of_a_hinge_is_implicit(tmp_path):
    """v_n = (1 + h d / I)^-n with I = .02 + 2 * 0.1^2 about the axis."""
    text = changed((LIMIT, LIMIT + '<dynamics damping="0.3" friction="0"/>'))
    scene = SCENE.replace("base: fixed", "base: fixed, gravity: false, joint_qd: {j1: 1.0}")
    _, block = motion(tmp_path, scene, text)
    n = np.arange(1, 101)
    np.testing.assert_allclose(block.joint_qd[:, 0, 0], (1.0 + H * 0.3 / 0.04) ** -n, rtol=1e-12)


def test_a_continuous_joint_has_no_bounds(tmp_path):
    text = changed((JOINT, 'name="j1" type="continuous"'), (LIMIT, '<limit lower="-0.5" upper="0.5"/>'))
    scene = SCENE.replace("steps: 100", "steps: 2000").replace(
        "base: fixed", "base: fixed, gravity: false, joint_qd: {j1: 1.0}"
    )
    sim, block = motion(tmp_path, scene, text)
    assert block.joint_q[-1, 0, 0] == pytest.approx(2.0, abs=1e-10)
    assert [w.code for w in sim.scene.warnings] == ["ignored-limit"]


def test_the_length_of_an_axis_means_nothing(tmp_path):
    turned = "base: fixed, joint_q: {j1: 0.5}"
    blocks = [
        motion(tmp_path, SCENE.replace("base: fixed", turned), changed(('"0 1 0"', f'"{axis}"')))[1]
        for axis in ("0 1 0", "0 2 0")
    ]
    assert np.array_equal(blocks[0].joint_q, blocks[1].joint_q) and blocks[0].joint_q[-1, 0, 0] != 0.5


def test_a_joint_made_fixed_merges_and_its_link_keeps_its_row(tmp_path):
    tool = (
        '<link name="tool"/><joint name="t" type="fixed"><parent link="l1"/><child link="tool"/><origin xyz="0 0 1"/></joint>'
    )
    text = changed(("</robot>", tool + "</robot>"))
    scene = SCENE.replace("base: fixed", "base: floating, joints: {j1: {type: fixed}}")
    sim, block = motion(tmp_path, scene, text)
    assert sim.model.sizes["nbody"] == 1 and sim.link_names == ["arm/base", "arm/l1", "arm/tool"]
    fallen = block.body_q[-1, 0, :, 2]
    np.testing.assert_allclose(fallen - fallen[0], [0.0, 0.5, 1.5], atol=1e-12)
    assert fallen[0] == pytest.approx(-4.905 * 0.1 * (0.1 + H), abs=1e-12)


def test_links_of_a_urdf_touch_and_are_addressed(tmp_path):
    """The arm's lower link, a ball on the hinge, lies on the floor; the base stays where it is."""
    shape = '<collision><origin xyz="0.4 0 -0.1"/><geometry><sphere radius="0.1"/></geometry></collision>'
    text = changed((f'<link name="l1">\n    {INERTIAL}', f'<link name="l1">\n    {INERTIAL}{shape}'))
    scene = (
        SCENE.replace("steps: 100", "steps: 400").replace("base: fixed", "base: fixed, pose: {xyz: [0, 0, -0.3]}")
        + "world: {collision: [{plane: {}}]}\nforces: {push: {link: arm/l1, force: [0, 0, -5], point: [0.4, 0, 0]}}\n"
    )
    _, block = motion(tmp_path, scene, text)
    assert block.contact_count[-1, 0] == 1
    # it rests: the moment of weight (com on the axis' vertical) and push about the hinge is the floor's, 5 N at 0.4 m
    assert abs(block.joint_qd[-1, 0, 0]) < 1e-3
