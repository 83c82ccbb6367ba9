"""What an MJCF becomes: links, joints, shapes, filters, drives, by the numbers that MuJoCo compiles."""

import math

import mujoco
import numpy as np
import pytest
from mjcf_files import HINGE, SCENE, mjcf, model_of, scene_of, write

from sapsim.model.build import build
from sapsim.scene.poses import matrix
from sapsim.scene.spec import WORLD


def joints_of(scene):
    return {joint.name: joint for joint in scene.joints}


def links_of(scene):
    return {link.name: link for link in scene.links}


def test_degrees_and_defaults_are_mujocos(tmp_path):
    """A range in degrees is turned, a damping is not; a class gives what its element leaves out."""
    text = mjcf(
        joint='<joint name="j" axis="0 0 2" range="-90 45" class="c" limited="true"/>',
        before='<compiler angle="degree"/><default><default class="c"><joint damping="2" armature=".3" frictionloss=".1"'
        ' stiffness="7" springref="30" actuatorfrcrange="-5 5"/></default></default>',
    )
    joint = joints_of(model_of(tmp_path, text))["j"]
    assert (joint.limit.lower, joint.limit.upper) == pytest.approx((-math.pi / 2, math.pi / 4))
    assert (joint.damping, joint.armature, joint.friction, joint.stiffness) == (2.0, 0.3, 0.1, 7.0)
    assert joint.reference == pytest.approx(math.pi / 6) and joint.axis == (0, 0, 1) and joint.limit.effort == 5.0
    assert (joint.kind, joint.parent, joint.child) == ("revolute", WORLD, "b")


def test_radians_are_kept(tmp_path):
    text = mjcf(joint='<joint name="j" range="-1 .5" limited="true"/>', before='<compiler angle="radian"/>')
    joint = joints_of(model_of(tmp_path, text))["j"]
    assert (joint.limit.lower, joint.limit.upper) == (-1.0, 0.5)


def test_inertias_are_those_of_the_geoms(tmp_path):
    """By MuJoCo from two turned boxes; and of `fullinertia`, in the body's axes."""
    inside = """<geom type="box" size=".1 .2 .3" euler="0 40 10" pos=".3 0 0"/>
      <body name="c"><joint/><inertial pos=".1 0 0" mass="2" fullinertia=".02 .03 .04 .001 .002 .003"/></body>"""
    scene = model_of(tmp_path, mjcf(inside=inside))
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    for name in "bc":
        own, theirs = links_of(scene)[name].inertial, compiled.body(name)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, theirs.iquat)
        R = R.reshape(3, 3)
        assert own.mass == theirs.mass[0] and own.com == pytest.approx(theirs.ipos)
        assert np.asarray(own.inertia) == pytest.approx(R @ np.diag(theirs.inertia) @ R.T, rel=1e-12)
    full = [[0.02, 0.001, 0.002], [0.001, 0.03, 0.003], [0.002, 0.003, 0.04]]
    assert np.asarray(links_of(scene)["c"].inertial.inertia) == pytest.approx(np.array(full), abs=1e-15)


def test_joints_of_one_body_are_a_chain_of_links_without_mass(tmp_path):
    joint = '<joint name="x" axis="1 0 0"/><joint name="y" axis="0 1 0" pos="0 0 .2"/>'
    scene = model_of(tmp_path, mjcf(joint=joint))
    chain = {name: (j.kind, j.parent, j.child, j.X_PF.p) for name, j in joints_of(scene).items()}
    assert chain == {
        "x": ("revolute", WORLD, "b_x", (0, 0, 1)),
        "y": ("revolute", "b_x", "b_y", (0, 0, 0.2)),
        "b_fixed": ("fixed", "b_y", "b", (0, 0, -0.2)),
    }
    assert [link.inertial.mass > 0 for link in scene.links] == [False, False, True]


def test_names_where_there_are_none(tmp_path):
    """And one that is taken gets an underscore."""
    inside = (
        '<body><joint/><joint type="slide"/><geom size=".1"/></body><body name="body2_body2_joint1"><geom size=".1"/></body>'
    )
    scene = model_of(tmp_path, mjcf(inside=inside))
    assert list(links_of(scene)) == ["b", "body2_body2_joint1_", "body2", "body2_body2_joint1"]
    assert list(joints_of(scene)) == ["j", "body2_joint1", "body2_joint2", "body2_body2_joint1_fixed"]


def test_shapes(tmp_path):
    world = """<geom name="floor" type="plane" size="1 1 1" pos="0 0 -.5" friction=".3"/>
      <geom name="seen" size=".1" contype="0" conaffinity="0"/>"""
    inside = """<geom type="box" size=".1 .2 .3" pos=".1 0 0" euler="90 0 0"/>
      <geom name="rod" type="capsule" size=".05" fromto="0 0 0 0 .4 0"/>"""
    scene = model_of(tmp_path, mjcf(world, inside=inside))
    assert [u.name for link in scene.links for u in link.unbuilt] == ["floor", "g", "b/1", "rod"]
    scene = scene_of(tmp_path, mjcf(world, inside=inside))
    shapes = [s for link in scene.links for s in link.shapes]
    assert [(s.name, s.kind, s.params) for s in shapes] == [
        ("floor", "plane", ()),
        ("g", "sphere", (0.1,)),
        ("m/b/1", "box", (0.2, 0.4, 0.6)),
        ("rod", "capsule", (0.05, pytest.approx(0.4))),
    ]
    assert [s.material.friction for s in shapes] == [0.3, 1.0, 1.0, 1.0]
    assert shapes[0].X_LG.p == (0, 0, -0.5) and shapes[3].X_LG.p == pytest.approx((0, 0.2, 0))
    # the capsule's z axis lies along y, the box's too
    assert np.abs(matrix(shapes[3].X_LG.q)[:, 2]) == pytest.approx([0, 1, 0], abs=1e-12)
    assert matrix(shapes[2].X_LG.q)[:, 2] == pytest.approx([0, -1, 0], abs=1e-12)
    assert links_of(scene)["m/worldbody"].inertial.mass == 0.0


def test_a_material_of_the_scene_takes_the_place_of_the_geoms(tmp_path):
    scene = SCENE.replace("{mjcf: m.xml}", "{mjcf: m.xml, material: ice}") + "materials: {ice: {friction: 0.02}}\n"
    shapes = [s for link in scene_of(tmp_path, mjcf(), scene).links for s in link.shapes]
    assert {(s.material.friction, s.material_name) for s in shapes} == {(0.02, "ice")}


PILE = """<mujoco><option gravity="0 0 -9.81">{flag}</option><default><geom size=".5" friction="1"/></default><worldbody>
  <geom name="floor" type="plane" size="1 1 1" pos="0 0 .1"/>
  <geom name="wall" contype="2" conaffinity="0"/>
  <body name="post"><geom name="post"/>
    <body name="arm"><joint/><geom name="arm"/><geom name="ghost" contype="0" conaffinity="0"/>
      <body name="hand"><joint/><joint axis="1 0 0"/><geom name="hand" contype="4" conaffinity="3"/>
        <body name="nail"><geom name="nail"/></body>
        <body name="tip"><joint/><geom name="tip" contype="1" conaffinity="2"/></body>
      </body>
    </body>
  </body>
  <body name="free"><freejoint/><geom name="free" contype="2" conaffinity="5"/></body>
  <body name="other"><freejoint/><geom name="other"/></body>
</worldbody>
<contact><exclude body1="free" body2="tip"/><exclude body1="other" body2="world"/><exclude body1="arm" body2="other"/></contact>
</mujoco>
"""


@pytest.mark.parametrize("flag", ["", '<flag filterparent="disable"/>'])
def test_the_pairs_that_meet_are_mujocos(tmp_path, flag):
    """All shapes overlap at the start, so that MuJoCo's contacts are the pairs that it tests."""
    text = PILE.format(flag=flag)
    scene = scene_of(tmp_path, text)
    model = build(scene)
    own = {
        frozenset((model.shape_names[a], model.shape_names[b]))
        for a, b in zip(model.arrays["pair_a"], model.arrays["pair_b"], strict=True)
    }
    compiled = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    theirs = {frozenset(compiled.geom(g).name for g in data.contact[i].geom) for i in range(data.ncon)}
    assert own == theirs and len(own) >= 8


ACTUATORS = {
    "motor": '<motor joint="j" gear="3" ctrlrange="-1 1"/>',
    "motor that starts": '<motor joint="j" gear="-3" ctrlrange=".2 1" ctrllimited="true"/>',
    "position": '<position joint="j" kp="20" kv="2" gear="2" forcerange="-4 4"/>',
    "position off zero": '<position joint="j" kp="20" gear="-2" ctrlrange=".3 1" ctrllimited="true"/>',
    "behind one of two controls": '<pid joint="j" kp="1"/><position joint="j" kp="2" ctrlrange=".5 1" ctrllimited="true"/>',
    "velocity": '<velocity joint="j" kv="3" ctrlrange=".5 1" ctrllimited="true"/>',
    "damper": '<damper joint="j" kv="3" ctrlrange="0 1"/>',
    "general": '<general joint="j" biastype="affine" gainprm="2" biasprm="1.5 -3 -.5" gear="1.5" forcerange="-6 6"/>',
}


@pytest.mark.parametrize("name", ACTUATORS)
def test_actuators_put_out_what_mujocos_do(tmp_path, name):
    """The joint's effort at random states with controls as MuJoCo starts; what has no translation must say so."""
    text = mjcf(after=f"<actuator>{ACTUATORS[name]}</actuator>")
    scene = scene_of(tmp_path, text)
    if name == "damper":  # its gain is the velocity's
        assert scene.actuators == () and "whose force is not linear are left out" in scene.warnings[0].message
        return
    (a,) = scene.actuators
    assert a.joint == "m/j" and len(scene.warnings) == ("pid" in text)
    last = ACTUATORS[name].rpartition("<")[2]  # the one that has a translation
    compiled = mujoco.MjModel.from_xml_string(mjcf(after=f"<actuator><{last}</actuator>"))
    data, rng = mujoco.MjData(compiled), np.random.default_rng(0)
    for q, v in rng.normal(size=(20, 2)):
        data.qpos[0], data.qvel[0] = q, v
        mujoco.mj_forward(compiled, data)
        if a.has_gains:
            effort = np.clip(-a.kp * (q - a.target) - a.kd * (v - a.target_velocity) + a.feedforward, a.lowest, a.highest)
        else:
            effort = a.effort
        assert effort == pytest.approx(data.qfrc_actuator[0], abs=1e-12)


def test_drives_of_a_joint_share_its_bound(tmp_path):
    """`actuatorfrcrange` bounds the sum of the file's drives and the scene's; a joint made fixed has none."""
    joint = HINGE.replace("/>", ' actuatorfrcrange="-2 2"/>')
    text = mjcf(joint=joint, after='<actuator><position name="p" joint="j" kp="20"/></actuator>')
    scene = scene_of(tmp_path, text, SCENE + "actuators: {mine: {joint: m/j, kp: 5, target: 1}}\n")
    assert [a.name for a in scene.actuators] == ["m/p", "mine"]
    assert {a.sum_bounds for a in scene.actuators} == {(-2.0, 2.0)}
    held = SCENE.replace("{model: m}", "{model: m, joints: {j: {type: fixed}}}")
    assert scene_of(tmp_path, text, held).actuators == ()


def test_the_base_is_the_files(tmp_path):
    free = mjcf(joint='<freejoint name="f"/>')
    assert model_of(tmp_path, mjcf()).extra["base"] == "fixed"
    scene = model_of(tmp_path, free, base="floating")
    assert scene.extra["base"] == "floating" and joints_of(scene)["f"].q0 == (0, 0, 1, 0, 0, 0, 1)
    placed = SCENE.replace("{model: m}", "{model: m, base: fixed, pose: {xyz: [1, 2, 3]}}")
    assert joints_of(scene_of(tmp_path, free, placed))["m/f"].q0 == (1, 2, 4, 0, 0, 0, 1)


def test_a_reference_is_where_the_joint_starts(tmp_path):
    scene = scene_of(tmp_path, mjcf(joint='<joint name="j" axis="0 0 1" ref="90"/><joint name="s" type="slide" ref=".5"/>'))
    assert joints_of(scene)["m/j"].q0 == pytest.approx((math.pi / 2,)) and joints_of(scene)["m/s"].q0 == (0.5,)
    given = SCENE.replace("{model: m}", "{model: m, joint_q: {j: 0.1}}")
    scene = scene_of(tmp_path, mjcf(joint='<joint name="j" axis="0 0 1" ref="90"/>'), given)
    assert joints_of(scene)["m/j"].q0 == (0.1,)


def test_includes_and_places(tmp_path):
    """An element of another file is found there by its name; one without a name at its line in the main file."""
    part = '<mujocoinclude>\n\n<body name="part"><joint name="deep" solreflimit=".1 1" limited="true" range="0 1"/>'
    write(tmp_path, part + '<geom size=".1"/></body>\n</mujocoinclude>\n', "parts/part.xml")
    scene = model_of(tmp_path, mjcf('<include file="parts/part.xml"/>'))
    joints = joints_of(scene)
    assert joints["deep"].where.file.endswith("part.xml") and joints["deep"].where.line == 3
    assert joints["j"].where.file.endswith("m.xml") and joints["j"].where.line == 5
    assert [(w.file.rpartition("/")[2], w.line) for w in scene.warnings] == [("part.xml", 3)]


def test_a_urdf_may_end_in_xml(tmp_path):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    urdf = f'<robot name="r"><link name="a"/><link name="b">{inertial}</link>{joint}</robot>'
    assert [j.name for j in model_of(tmp_path, urdf).joints] == ["base", "j"]
    assert model_of(tmp_path, mjcf()).name == "small"
