"""Reading URDF: every rule with the place of what breaks it.  In the texts `#!` marks a line and the code of its fault."""

import math
import random
import re

import numpy as np
import pytest
from urdf_files import ARM, INERTIAL, SCENE, changed, codes, errors_of, marks, model_of, scene_of, write

from sapsim.errors import SceneError
from sapsim.scene.read import load, load_model
from sapsim.scene.spec import Limit

AXIS = '<axis xyz="0 1 0"/>'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="3"/>'
ORIGIN = '<origin xyz="0 0 0.5"/>'
JOINT = 'name="j1" type="revolute"'
PARENT = '<parent link="base"/> <child link="l1"/>'
L1 = f'<link name="l1">\n    {INERTIAL}\n  </link>'


def l1(content):
    """The arm whose moving link has another content."""
    return changed((L1, f'<link name="l1">{content}</link>'))


def robot(*elements):
    return "<robot name='r'>\n" + "\n".join(elements) + "\n</robot>\n"


def joint(name, parent, child, kind="fixed", more=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>'


def box(text):
    return l1(f"{INERTIAL}<collision><geometry>{text}</geometry></collision>")


FAULTS = {
    # texts that are no URDF
    "not XML": "<robot name='a'>\n<link name='b'>\n</robot> #! xml-syntax",
    "not a robot": "<sdf> <!-- #! unknown-format -->\n</sdf>",
    "document type": "<!DOCTYPE robot [  <!-- #! doctype -->\n<!ENTITY a 'aaaa'>]><robot name='a'/>",
    "xacro element": robot('<xacro:macro name="m"/> <!-- #! xacro -->', "<link name='a'/>"),
    "xacro by another prefix": robot("<x:if xmlns:x='http://www.ros.org/wiki/xacro' value='1'/> <!-- #! xacro -->"),
    "xacro expression": changed((ORIGIN, '<origin xyz="0 0 ${m}"/> <!-- #! xacro -->')),
    "no links": "<robot name='a'> <!-- #! no-links -->\n</robot>",
    # numbers
    "unit": changed((ORIGIN, '<origin xyz="0 0 0.5m"/> <!-- #! wrong-type -->')),
    "commas": changed((ORIGIN, '<origin xyz="0, 0, 0.5"/> <!-- #! wrong-type -->')),
    "decimal comma": changed((ORIGIN, '<origin xyz="0 0 0,5"/> <!-- #! wrong-type -->')),
    "nan": changed((ORIGIN, '<origin xyz="0 nan 0.5"/> <!-- #! not-finite -->')),
    "two numbers": changed((ORIGIN, '<origin xyz="0 0.5"/> <!-- #! wrong-length -->')),
    "four numbers": changed((ORIGIN, '<origin rpy="0 0 0 1"/> <!-- #! wrong-length -->')),
    "no number": changed((ORIGIN, '<origin xyz=""/> <!-- #! wrong-length -->')),
    "hexadecimal": changed((ORIGIN, '<origin xyz="0 0 0x1"/> <!-- #! wrong-type -->')),
    "underscore": changed((ORIGIN, '<origin xyz="0 0 1_0"/> <!-- #! wrong-type -->')),
    "overflow": changed((ORIGIN, '<origin xyz="0 0 1e999"/> <!-- #! out-of-range -->')),
    "infinite limit": changed((LIMIT, '<limit lower="-inf" upper="1"/> <!-- #! not-finite -->')),
    # links
    "link without a name": changed(("</robot>", "<link/> <!-- #! missing-attribute -->\n</robot>")),
    "link with an empty name": changed(("</robot>", '<link name=" "/> <!-- #! bad-name -->\n</robot>')),
    "negative mass": l1('<inertial> <mass value="-1"/> <inertia ixx="1" iyy="1" izz="1"/></inertial> <!-- #! out-of-range -->'),
    "inertial without mass": l1('<inertial><inertia ixx="1" iyy="1" izz="1"/></inertial> <!-- #! missing-element -->'),
    "mass without value": l1('<inertial><mass/><inertia ixx="1" iyy="1" izz="1"/></inertial> <!-- #! missing-attribute -->'),
    "missing moment": l1('<inertial><mass value="1"/><inertia ixx="1" iyy="1"/></inertial> <!-- #! missing-attribute -->'),
    "two inertials": l1(f"{INERTIAL} <inertial><mass value='1'/></inertial> <!-- #! duplicate-element -->"),
    "moving link without inertial": l1(" <!-- #! massless -->"),
    "moving link without inertia": l1("<inertial><mass value='2'/></inertial> <!-- #! impossible-inertia -->"),
    "impossible inertia": l1(
        "<inertial><mass value='1'/><inertia ixx='.010' iyy='.002' izz='.003'/></inertial> <!-- #! impossible-inertia -->"
    ),
    "duplicate link": changed(("</robot>", '<link name="l1"/> <!-- #! duplicate-name -->\n</robot>')),
    # collision shapes
    "flat box": box('<box size="1 0 1"/> <!-- #! out-of-range -->'),
    "negative radius": box('<sphere radius="-1"/> <!-- #! out-of-range -->'),
    "cylinder without length": box('<cylinder radius="1"/> <!-- #! missing-attribute -->'),
    "box of two numbers": box('<box size="1 1"/> <!-- #! wrong-length -->'),
    "unknown geometry": box('<cone radius="1"/> <!-- #! unknown-element -->'),
    "two geometries": box('<sphere radius="1"/><sphere radius="1"/> <!-- #! missing-element -->'),
    "mesh without file": box('<mesh scale="1 1 1"/> <!-- #! missing-attribute -->'),
    "mesh of no size": box('<mesh filename="a.stl" scale="1 0 1"/> <!-- #! out-of-range -->'),
    # joints
    "unknown type": changed((JOINT, 'name="j1" type="revolut"'), ("<joint", "<!-- #! unknown-value --> <joint")),
    "no type": changed((JOINT, 'name="j1"'), ("<joint", "<!-- #! missing-attribute --> <joint")),
    "zero axis": changed((AXIS, '<axis xyz="0 0 0"/> <!-- #! zero-axis -->')),
    "axis without numbers": changed((AXIS, "<axis/> <!-- #! missing-attribute -->")),
    "no child": changed(('<child link="l1"/>', ""), ("<joint", "<!-- #! missing-element --> <joint")),
    "unknown parent": changed(('<parent link="base"/>', '<parent link="bas"/> <!-- #! unknown-name -->')),
    "unknown child": changed(('<child link="l1"/>', '<child link="l2"/> <!-- #! unknown-name -->')),
    "world as a child": changed(('<child link="l1"/>', '<child link="world"/> <!-- #! unknown-name -->')),
    "lower above upper": changed((LIMIT, '<limit lower="1" upper="-1"/> <!-- #! out-of-range -->')),
    "lower above upper's default": changed((LIMIT, '<limit lower="1"/> <!-- #! out-of-range -->')),
    "negative effort": changed((LIMIT, '<limit effort="-1"/> <!-- #! out-of-range -->')),
    "negative damping": changed((LIMIT, f'{LIMIT}<dynamics damping="-1"/> <!-- #! out-of-range -->')),
    "duplicate joint": changed(("</robot>", joint("j1", "base", "l1") + " <!-- #! duplicate-name -->\n</robot>")),
    "two parents": changed(("</robot>", joint("j2", "base", "l1") + " <!-- #! two-parents -->\n</robot>")),
    "two roots": changed(("</robot>", '<link name="orphan"/> <!-- #! two-roots -->\n</robot>')),
    "cycle": robot("<link name='a'/><link name='b'/>", joint("x", "a", "b"), joint("y", "b", "a") + " <!-- #! joint-cycle -->"),
    "mimic of an unknown joint": changed((LIMIT, f'{LIMIT}<mimic joint="j2"/> <!-- #! unknown-name -->')),
    "mimic of itself": changed((LIMIT, f'{LIMIT}<mimic joint="j1"/> <!-- #! unknown-name -->')),
    "joint named base": changed((JOINT, 'name="base" type="revolute"'), ("<joint", "<!-- #! duplicate-name --> <joint")),
    # the world
    "world with a mass": robot(
        f"<link name='world'>{INERTIAL}".replace("\n", " ") + "</link> <!-- #! reserved-name -->",
        "<link name='a'/>",
        joint("x", "world", "a"),
    ),
    "world apart": robot("<link name='world'/> <!-- #! two-roots -->", "<link name='a'/>"),
    "world and another root": robot(
        "<link name='world'/><link name='a'/>", "<link name='b'/> <!-- #! two-roots -->", joint("x", "world", "a")
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused_with_its_line(tmp_path, name):
    text = FAULTS[name]
    errors = errors_of(model_of, tmp_path, text)
    assert [(e.line, e.code) for e in errors] == marks(text), errors
    assert all(e.file == str(tmp_path / "arm.urdf") and e.column >= 1 for e in errors)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_file(tmp_path, text):
    (error,) = errors_of(model_of, tmp_path, text)
    assert (error.code, error.line) == ("empty", 1)


# Words of the message and its hint.
WORDS = {
    "unit": ('xyz="0 0 0.5m"', '"0.5m"', "3 finite numbers", "units"),
    "commas": ('xyz="0, 0, 0.5"', "blanks"),
    "nan": ('xyz="0 nan 0.5"', "not finite"),
    "two numbers": ('xyz="0 0.5"', "found 2 numbers"),
    "xacro element": ("un-expanded xacro", "<xacro:macro>", "expand it first"),
    "xacro expression": ("un-expanded xacro", "${m}"),
    "impossible inertia": ('"l1"', '"j1"', "0.01 > 0.002 + 0.003 = 0.005"),
    "moving link without inertial": ('"l1"', '"j1"', "without mass", "give it mass"),
    "moving link without inertia": ('"l1"', '"j1"', "must be > 0"),
    "two roots": ('"base"', '"orphan"'),
    "two parents": ('"l1"', "j1 and j2"),
    "unknown type": ('"revolut"', 'did you mean "revolute"?'),
    "unknown parent": ('link="bas"', 'did you mean "base"?'),
    "duplicate link": ('"l1"', "in line 5 and in line"),
    "lower above upper": ("lower 1 is above upper -1", '"j1"'),
    "zero axis": ('xyz="0 0 0"', "1 0 0"),
    "unknown geometry": ("<cone>", "box, sphere, cylinder, capsule, mesh"),
}


@pytest.mark.parametrize("name", WORDS)
def test_a_message_has_element_value_and_a_way_out(tmp_path, name):
    (error, *_) = errors_of(model_of, tmp_path, FAULTS[name])
    assert error.path.startswith("robot") and error.suggestion
    for word in WORDS[name]:
        assert word in f"{error.message} {error.suggestion}"


def test_all_faults_of_a_file_come_at_once(tmp_path):
    text = changed(
        (AXIS, '<axis xyz="0 0 0"/> <!-- #! zero-axis -->'),
        (ORIGIN, '<origin xyz="0 0 a"/> <!-- #! wrong-type -->'),
        (PARENT, '<parent link="bas"/> <!-- #! unknown-name -->\n<child link="l1"/>'),
    )
    errors = errors_of(model_of, tmp_path, text)
    assert [(e.line, e.code) for e in errors] == marks(text)


WARNINGS = {
    "no limit": (changed((LIMIT, "")), "no-limit", "no bounds on j1"),
    "no bounds": (changed((LIMIT, '<limit effort="1" velocity="1"/>')), "no-limit", "no bounds on j1"),
    "one bound": (changed((LIMIT, '<limit lower="-1"/>')), "default-limit", "without upper, which is then 0"),
    "bounds of a continuous joint": (changed((JOINT, 'name="j1" type="continuous"')), "ignored-limit", "ignored on j1"),
    "no effort": (changed((LIMIT, '<limit lower="-1" upper="1" effort="0"/>')), "no-effort", "cannot drive j1"),
    "typo of an element": (changed((AXIS, f"{AXIS}<limits lower='1'/>")), "unknown-element", 'did you mean "limit"?'),
    "typo of an attribute": (changed((LIMIT, '<limit lowr="-1" upper="1"/>')), "unknown-attribute", 'did you mean "lower"?'),
    "what other programs use": (changed(("</robot>", "<gazebo/><transmission/></robot>")), "ignored-element", "<gazebo> (1)"),
    "no name": (changed(('<robot name="arm1">', "<robot>")), "missing-attribute", '"arm" is used'),
    "massive link that is attached": (
        changed((JOINT, 'name="j1" type="fixed"'), (L1, "<link name='l1'><inertial><mass value='1'/></inertial></link>")),
        "impossible-inertia",
        "accepted",
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_what_is_not_used_is_told(tmp_path, name):
    text, code, words = WARNINGS[name]
    warnings = [w for w in model_of(tmp_path, text).warnings if w.code == code]
    assert len(warnings) == 1 and warnings[0].line > 1
    assert words in f"{warnings[0].message} {warnings[0].suggestion}"
    assert warnings[0].file == str(tmp_path / "arm.urdf")
    with pytest.raises(SceneError):
        model_of(tmp_path, text, strict=True)


def test_a_good_file_has_no_warnings(tmp_path):
    assert model_of(tmp_path, strict=True).warnings == ()


def test_equal_warnings_are_one(tmp_path):
    text = changed(("</robot>", "<robot/><robot/></robot>"))
    warnings = model_of(tmp_path, text).warnings
    assert codes(warnings) == ["unknown-element"] and "2 times" in warnings[0].message


def test_names_and_frames(tmp_path):
    scene = model_of(tmp_path)
    assert [link.name for link in scene.links] == ["base", "l1"]
    assert [(j.name, j.kind, j.parent, j.child) for j in scene.joints] == [
        ("base", "fixed", "world", "base"),
        ("j1", "revolute", "base", "l1"),
    ]
    hinge = scene.joints[1]
    assert hinge.X_PF.p == (0.0, 0.0, 0.5) and hinge.axis == (0.0, 1.0, 0.0) and hinge.limit == Limit(-1.0, 1.0, 10.0, 3.0)
    own = scene.links[1].inertial
    assert (own.mass, own.com) == (2.0, (0.0, 0.0, -0.1)) and np.diag(own.inertia).tolist() == [0.02, 0.02, 0.01]
    assert scene.name == "arm1" and scene.extra["base"] == "fixed"


def test_a_joint_may_stand_before_its_links(tmp_path):
    head, rest = ARM.split("  <link", 1)
    links, joints = rest.split("  <joint", 1)
    swapped = head + "  <joint" + joints.replace("</robot>", "") + "  <link" + links + "</robot>"
    first, second = model_of(tmp_path, swapped), model_of(tmp_path)
    assert [x.name for x in first.links] == [x.name for x in second.links] and first.resolved == second.resolved


@pytest.mark.parametrize("axis", ['<axis xyz="2 0 0"/>', "", '<axis xyz="1 0 0"/>', '<axis\n xyz="\t3.5\n 0  0 "/>'])
def test_axes_are_normalised_and_x_by_default(tmp_path, axis):
    assert model_of(tmp_path, changed((AXIS, axis))).joints[1].axis == (1.0, 0.0, 0.0)


def test_a_fixed_joint_needs_no_axis(tmp_path):
    text = changed((JOINT, 'name="j1" type="fixed"'), (AXIS, '<axis xyz="0 0 0"/>'))
    assert model_of(tmp_path, text).joints[1].kind == "fixed"


def test_inertial_frames_are_rotated(tmp_path):
    """A quarter turn about z exchanges x and y: R I R^T."""
    text = l1(
        f'<inertial><origin xyz="1 2 3" rpy="0 0 {math.pi / 2}"/><mass value="1"/>'
        '<inertia ixx=".03" iyy=".02" izz=".04" ixz=".001"/></inertial>'
    )
    own = model_of(tmp_path, text).links[1].inertial
    np.testing.assert_allclose(own.inertia, [[0.02, 0, 0], [0, 0.03, 0.001], [0, 0.001, 0.04]], atol=1e-17)
    assert own.com == (1.0, 2.0, 3.0)


def test_a_fixed_link_without_mass_is_a_frame(tmp_path):
    text = changed(("</robot>", '<link name="tool"/>' + joint("t", "l1", "tool", more='<origin xyz="0 0 1"/>') + "</robot>"))
    scene = model_of(tmp_path, text, strict=True)
    assert [(x.name, x.inertial.mass) for x in scene.links] == [("base", 2.0), ("l1", 2.0), ("tool", 0.0)]


def test_limits_dynamics_and_mimics_are_kept(tmp_path):
    second = joint("j2", "l1", "l2", "prismatic", '<mimic joint="j1" multiplier="-2" offset="0.1"/>' + LIMIT)
    text = changed(
        (LIMIT, LIMIT + '<dynamics damping="0.3" friction="0.7"/>'),
        ("</robot>", f'<link name="l2">{INERTIAL}</link>{second}</robot>'),
    )
    _, j1, j2 = model_of(tmp_path, text).joints
    assert (j1.damping, j1.friction, j1.mimic) == (0.3, 0.7, None)
    assert (j2.mimic.joint, j2.mimic.multiplier, j2.mimic.offset) == ("j1", -2.0, 0.1)
    scene = scene_of(tmp_path, text=text)
    assert scene.joints[2].mimic.joint == "arm/j1" and scene.joints[1].friction == 0.7
    (coupler,) = scene.constraints
    assert (coupler.name, coupler.kind, coupler.joints) == ("arm/j2:mimic", "coupler", ("arm/j2", "arm/j1"))
    assert (coupler.ratio, coupler.offset, coupler.where.line) == (-2.0, 0.1, second_line(text))


def second_line(text: str) -> int:
    """The line of joint j2."""
    return 1 + text[: text.index('name="j2"')].count("\n")


def test_a_mimic_that_cannot_be_kept_is_a_warning(tmp_path):
    """Of a joint that an overlay fixes, or that has several degrees of freedom."""
    second = joint("j2", "l1", "l2", "prismatic", '<mimic joint="j1"/>' + LIMIT)
    text = changed((LIMIT, ""), ("</robot>", f'<link name="l2">{INERTIAL}</link>{second}</robot>'))
    fixed = SCENE.replace("model: arm", "model: arm, joints: {j1: {type: fixed}}")
    scene = scene_of(tmp_path, fixed, text)
    assert scene.constraints == ()
    (warning,) = [w for w in scene.warnings if "mimic" in w.message]
    assert warning.code == "not-enforced" and '"arm/j1" is fixed' in warning.message


def test_what_is_not_enforced_is_one_warning_of_a_scene(tmp_path):
    text = changed((LIMIT, LIMIT + '<dynamics friction="0.7"/>'))
    scene = scene_of(tmp_path, text=text)
    (warning,) = scene.warnings
    assert warning.code == "not-enforced" and warning.line == 9 and warning.file.endswith("arm.urdf")
    assert warning.message == "read, but not enforced yet: velocity limits (arm/j1)"
    two = SCENE.replace("instances: {", "instances: {other: {model: arm, base: floating}, ")
    assert codes(scene_of(tmp_path, two, text).warnings) == ["not-enforced"]
    assert codes(errors_of(scene_of, tmp_path, text=text, strict=True)) == ["not-enforced"]
    free = changed((JOINT, 'name="j1" type="continuous"'), (LIMIT, ""))
    assert scene_of(tmp_path, text=free).warnings == ()


def test_a_root_named_world_is_the_world(tmp_path):
    start = '<robot name="arm1">'
    text = changed((start, f"{start}<link name='world'/>{joint('w', 'world', 'base')}"))
    scene = model_of(tmp_path, text)
    assert [x.name for x in scene.links] == ["base", "l1"] and scene.joints[0].parent == "world"
    assert codes(errors_of(model_of, tmp_path, text, base="floating")) == ["base-not-allowed"]
    for base in ("", ", base: fixed"):
        placed = scene_of(tmp_path, SCENE.replace(", base: fixed", base + ", pose: {xyz: [1, 2, 3]}"), text)
        assert placed.joints[0].name == "arm/w" and placed.joints[0].X_PF.p == (1.0, 2.0, 3.0)
    errors = errors_of(scene_of, tmp_path, SCENE.replace("fixed", "floating"), text)
    assert codes(errors) == ["base-not-allowed"]


def test_a_floating_joint_starts_at_the_world(tmp_path):
    text = robot("<link name='base'/>", f"<link name='ball'>{INERTIAL}</link>", joint("f", "base", "ball", "floating", ORIGIN))
    scene = model_of(tmp_path, text)
    free = scene.joints[1]
    assert (free.kind, free.parent, free.q0) == ("floating", "world", (0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0))
    assert codes(errors_of(model_of, tmp_path, text, base="floating")) == ["not-on-world"]
    moving = changed(("</robot>", f"<link name='ball'>{INERTIAL}</link>{joint('f', 'l1', 'ball', 'floating')}</robot>"))
    assert codes(errors_of(model_of, tmp_path, moving)) == ["not-on-world"]


def test_other_encodings_are_read(tmp_path):
    text = ARM.replace('version="1.0"', 'version="1.0" encoding="ISO-8859-1"').replace('"l1"', '"glied_ä"')
    path = tmp_path / "arm.urdf"
    path.write_bytes(text.encode("latin-1"))
    assert load_model(path).links[1].name == "glied_ä"
    path.write_bytes(ARM.replace('version="1.0"', 'version="1.0" encoding="klingon"').encode())
    assert codes(errors_of(load_model, path)) == ["xml-syntax"]
    path.write_bytes(ARM.encode() + b"\xff")
    assert codes(errors_of(load_model, path)) == ["xml-syntax"]


def test_bounds_of_size(tmp_path):
    deep = "<robot name='a'>" + "<a>" * 2000 + "</a>" * 2000 + "</robot>"
    assert codes(errors_of(model_of, tmp_path, deep)) == ["too-deep"]


def test_a_model_is_no_scene_and_other_files_are_no_models(tmp_path):
    (error,) = errors_of(load, write(tmp_path, ARM))
    assert error.code == "not-a-scene" and "urdf: arm.urdf" in error.suggestion
    for name in ("arm.yaml", "arm.urdf.xacro", "arm"):
        (error,) = errors_of(load_model, write(tmp_path, ARM, name))
        assert error.code == "unknown-format" and ("expand it first" in error.suggestion) == name.endswith("xacro")
    (error,) = errors_of(load_model, tmp_path / "arn.urdf")
    assert error.code == "missing-file" and "arm.urdf" in error.suggestion


def test_a_damaged_file_is_refused_or_read_and_never_crashes(tmp_path):
    draw = random.Random(3)
    whole = changed(
        (ORIGIN, ORIGIN + '<dynamics damping="0.1" friction="0.2"/>'),
        ("</robot>", '<link name="t"><collision name="c"><geometry><box size="1 1 1"/></geometry></collision></link>'
         + joint("w", "l1", "t") + "</robot>"),
    )  # fmt: skip
    words = re.findall(r"[\w.]+|[<>/=\"]", whole)
    refused = 0
    for _ in range(300):
        text = whole
        for _ in range(draw.choice([1, 1, 2, 3])):
            i = draw.randrange(len(text))
            text = text[:i] + draw.choice([*words, "", "nan", "-1", "&lt;", "é"]) + text[i + draw.choice([0, 1, 3]) :]
        try:
            model_of(tmp_path, text, base=draw.choice(["fixed", "floating"]))
        except SceneError as error:
            refused += 1
            assert all(m.line >= 1 and m.column >= 1 and m.message for m in error.errors)
    assert refused > 100
