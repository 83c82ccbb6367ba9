"""What is said of an MJCF: everything that is left out, and every refusal, with its element and line."""

import json
import sys

import pytest
from mjcf_files import HINGE, SCENE, errors_of, mjcf, model_of, scene_of, write

from sapsim.cli.main import main

BALL = '<joint name="j" type="ball" {}/>'
LEFT_OUT = {
    "equality": (
        mjcf(after='<equality><connect name="loop" body1="b" anchor="0 0 0"/></equality>'),
        (7, "equality constraints are left out: loop"),
    ),
    "tendon": (
        mjcf(after='<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'),
        (7, "tendons are left out: t"),
    ),
    "pair": (
        mjcf('<geom name="h" size=".1"/>', after='<contact><pair name="p" geom1="g" geom2="h"/></contact>'),
        (7, "<pair> is left out: p"),
    ),
    "ball limit": (mjcf(joint=BALL.format('range="0 1" limited="true"')), (5, "limits of ball joints are left out: j")),
    "ball spring": (mjcf(joint=BALL.format('stiffness="2"')), (5, "springs of ball and free joints are left out: j")),
    "uneven effort": (
        mjcf(joint=HINGE.replace("/>", ' actuatorfrcrange="-1 2"/>')),
        (5, "actuatorfrcrange is left out, for its bounds are not +- one number: j"),
    ),
    "polynomial": (
        mjcf(joint=HINGE.replace("/>", ' damping="1 2"/>')),
        (5, "damping and stiffness are polynomials, of which the linear term is used: j"),
    ),
    "soft limit": (
        mjcf(joint=HINGE.replace("/>", ' range="0 1" limited="true" solreflimit=".1 1"/>')),
        (5, "solref, solimp and margin of limits are not used; limits are as stiff as a step resolves: j"),
    ),
    "soft contact": (
        mjcf('<geom name="h" size=".1" solimp=".8 .9 .01"/>'),
        (4, "solref and solimp are not used; the scene's materials are: h"),
    ),
    "condim": (mjcf('<geom size=".1" condim="6"/>'), (4, "condim is read as 3: contact with sliding friction: number 0")),
    "margin": (mjcf('<geom name="h" size=".1" margin=".1"/>'), (4, "margin and gap are not used; see `contact.margin`")),
    "priority": (mjcf('<geom name="h" size=".1" priority="1"/>'), (4, "priority is not used")),
    "belt": (mjcf('<geom name="h" size=".1" surfacevel="1 0 0 0 0 0"/>'), (4, "velocities of surfaces are left out: h")),
    "override": (
        mjcf(before='<option><flag override="enable"/></option>'),
        (1, "<flag> switches on what is not there: override"),
    ),
    "controller": (
        mjcf(after='<actuator><pid name="m" joint="j" kp="3"/><position joint="j" kp="5"/></actuator>'),
        (7, "actuators whose force is not linear are left out: m"),
    ),
    "gravcomp": (mjcf('<body name="up" gravcomp="1"><geom size=".1"/></body>'), (4, "gravcomp is left out: up")),
    "mocap": (mjcf('<body name="hand" mocap="true"/>'), (4, "mocap bodies are held where they start: hand")),
    "flag": (mjcf(before='<option><flag limit="disable"/></option>'), (1, "<flag> switches off what is simulated here: limit")),
    "gravity": (mjcf(before='<option gravity="0 0 -1"/>'), (1, "gravity 0, 0, -1 of <option> is not used; the scene's is")),
    "fluid": (mjcf(before='<option density="1.2"/>'), (1, "forces of the fluid")),
    "muscle": (
        mjcf(
            joint=HINGE.replace("/>", ' range="0 1" limited="true"/>'),
            after='<actuator><muscle name="m" joint="j"/></actuator>',
        ),
        (7, "actuators with a state of their own or a delay are left out: m"),
    ),
    "site actuator": (
        mjcf(inside='<site name="s"/>', after='<actuator><general name="jet" site="s"/></actuator>'),
        (7, "actuators that do not drive one hinge or slide are left out: jet"),
    ),
    "lopsided actuator": (
        mjcf(after='<actuator><motor name="m" joint="j" forcerange="-1 2"/></actuator>'),
        (7, "actuators whose forcerange is not +- one number are left out: m"),
    ),
    "negative gain": (
        mjcf(after='<actuator><general name="m" joint="j" biastype="affine" biasprm="0 1 0"/></actuator>'),
        (7, "actuators with gains below zero are left out: m"),
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_is_told_once_with_its_line(tmp_path, name):
    text, (line, said) = LEFT_OUT[name]
    found = scene_of(tmp_path, text).warnings
    assert [(w.line, w.message[: len(said)]) for w in found] == [(line, said)]
    assert found[0].file.endswith("m.xml")


def test_what_does_not_change_the_motion_is_not_told(tmp_path):
    before = '<asset><material name="red" rgba="1 0 0 1"/></asset><option timestep=".01" integrator="RK4"/>'
    after = '<keyframe><key qpos="1"/></keyframe><sensor><jointpos joint="j"/></sensor>'
    inside = '<site name="s"/><camera name="c"/><light name="l"/>'
    assert scene_of(tmp_path, mjcf(before=before, after=after, inside=inside)).warnings == ()


def test_one_warning_for_many_elements(tmp_path):
    inside = "".join(f'<geom name="g{i}" size=".1" condim="1"/>' for i in range(9))
    (found,) = scene_of(tmp_path, mjcf(inside=inside)).warnings
    assert found.message.endswith("g0, g1, g2, g3, g4, g5, ... (9 in all)")


@pytest.mark.parametrize("kind", ["cylinder", "ellipsoid"])
def test_shapes_of_all_kinds_are_read(tmp_path, kind):
    """Half lengths of MuJoCo become full ones where ours are."""
    scene = scene_of(tmp_path, mjcf(inside=f'<geom name="odd" type="{kind}" size=".1 .2 .3"/>'))
    assert scene.warnings == ()
    (shape,) = [s for link in scene.links for s in link.shapes if s.name.endswith("odd")]
    assert (shape.kind, shape.params) == (kind, {"cylinder": (0.1, 0.4), "ellipsoid": (0.1, 0.2, 0.3)}[kind])


@pytest.mark.parametrize(
    "text, line, code, said",
    [
        ("<mujoco", 1, "xml-syntax", "no XML"),
        ("<sdf/>", 1, "unknown-format", "<sdf> is no MJCF; its root must be <mujoco>"),
        ("<mujoco/>", 1, "no-links", "a model without bodies"),
        (mjcf(joint='<joint name="j" foo="1"/>'), 5, "mjcf", "unrecognized attribute: 'foo'"),
        (mjcf(joint='<joint name="j" axis="0 0 0"/>'), 5, "mjcf", "MuJoCo refuses this file"),
        (mjcf(body='<body name="b">{joint}{inside}</body>'), 5, "mjcf", "mass and inertia of moving bodies"),
        (mjcf('<include file="gone.xml"/>'), 4, "missing-file", "gone.xml: no such file"),
    ],
)
def test_refusals(tmp_path, text, line, code, said):
    error = errors_of(model_of, tmp_path, text)[0]
    assert (error.line, error.code) == (line, code) and said in error.message


@pytest.mark.parametrize("inside", ['<include file="../out/part.xml"/>', '<include file="/etc/hostname"/>'])
def test_a_scene_reads_no_include_from_elsewhere(tmp_path, inside):
    write(tmp_path, "<mujocoinclude/>", "out/part.xml")
    (error,) = errors_of(scene_of, tmp_path / "in", mjcf(inside))
    assert (error.line, error.code) == (4, "not-allowed") and "--allow" in error.suggestion


def test_a_scene_reads_no_asset_from_elsewhere(tmp_path):
    """MuJoCo would open it by itself."""
    before = '<compiler meshdir="../out"/><asset><mesh name="m" file="m.obj"/></asset>'
    write(tmp_path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n", "out/m.obj")
    text = mjcf(before=before, inside='<geom type="mesh" mesh="m" contype="0" conaffinity="0"/>')
    (error,) = errors_of(scene_of, tmp_path / "in", text)
    assert (error.line, error.code) == (2, "not-allowed")
    assert scene_of(tmp_path / "in", text, allow=[tmp_path / "out"]).warnings == ()


def test_what_mujoco_warns_of_is_a_warning(tmp_path, monkeypatch, capfd):
    """And neither printed nor written into a file of its own, as it does by itself."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write(tmp_path, mjcf(before='<option iterations="7"/>'), "part.xml")
    before = '<asset><model name="part" file="part.xml"/></asset>'
    text = mjcf('<attach model="part" body="b" prefix="other_"/>', before=before)
    (found,) = scene_of(tmp_path, text).warnings
    assert found.code == "mjcf" and found.message.startswith("MuJoCo warns: ") and "iterations" in found.message
    assert list((tmp_path / "here").iterdir()) == [] and capfd.readouterr() == ("", "")


def test_a_name_of_a_drive_is_taken(tmp_path):
    text = mjcf(after='<actuator><position name="p" joint="j" kp="1"/></actuator>')
    (error,) = errors_of(scene_of, tmp_path, text, SCENE + "actuators: {m/p: {joint: m/j, kp: 1}}\n")
    assert error.code == "duplicate-name" and error.line == 6


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    (error,) = errors_of(scene_of, tmp_path, mjcf())
    assert (error.code, error.line) == ("missing-package", 1) and "needs the package mujoco" in error.message
    assert error.suggestion == "pip install 'sapsim[mjcf]'"


def test_the_base_cannot_be_another(tmp_path):
    (error,) = errors_of(model_of, tmp_path, mjcf(), base="floating")
    assert error.code == "base-not-allowed" and "they are fixed" in error.message
    (error,) = errors_of(model_of, tmp_path, mjcf(joint="<freejoint/>"), base="fixed")
    assert error.code == "base-not-allowed" and "they are floating" in error.message
    scene = SCENE.replace("{model: m}", "{model: m, base: floating}")
    assert errors_of(scene_of, tmp_path, mjcf(), scene)[0].code == "base-not-allowed"


@pytest.mark.parametrize("command", ["info", "validate"])
def test_the_command_line_takes_mjcf(tmp_path, capfd, command):
    path = write(tmp_path, mjcf(joint="<freejoint/>"))
    with pytest.raises(SystemExit) as left:
        main([command, str(path), "--json"])
    found = json.loads(capfd.readouterr().out)
    assert left.value.code == 0 and found["base"] == "floating" and (found["nq"], found["nv"]) == (7, 6)


def test_a_scene_is_not_a_model(tmp_path, capfd):
    with pytest.raises(SystemExit) as left:
        main(["run", str(write(tmp_path, mjcf()))])
    assert left.value.code == 2 and "models: {robot: {mjcf: m.xml}}" in capfd.readouterr().err
