"""Overlays of links and joints (contract 1.3): they work alike for models in the scene and in a URDF, and in both places."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from urdf_files import changed, codes, errors_of, write

from sapsim.scene.read import load

URDF = changed(('<link name="l1">', '<link name="l1"><collision><geometry><sphere radius="0.05"/></geometry></collision>'))
INERTIAL = {"mass": 2, "com": [0, 0, -0.1], "inertia": {"ixx": 0.02, "iyy": 0.02, "izz": 0.01}}
IN_SCENE = {
    "links": {"base": {"inertial": INERTIAL}, "l1": {"inertial": INERTIAL, "collision": [{"sphere": 0.05}]}},
    "joints": {"j1": {"type": "revolute", "parent": "base", "child": "l1", "origin": {"xyz": [0, 0, 0.5]}, "axis": [0, 1, 0]}},
}


def scene_with(folder, overlay, form, overrides=(), more=()):
    """A scene whose arm, a URDF or a model in the scene, has an overlay: of its model or of its instance."""
    model = IN_SCENE if form == "instance of scene" else {"urdf": "arm.urdf"}
    instance = {"model": "arm", "base": "fixed"}
    if form == "urdf":
        model = model | overlay
    else:
        instance = instance | overlay
    text = {"sapsim": 1, "time_step": 0.001, "steps": 10, "models": {"arm": model}, "instances": {"arm": instance}}
    text |= {"materials": {"rubber": {"friction": 0.9}, "ice": {"friction": 0.01}}} | dict(more)
    write(folder, URDF)
    return load(write(folder, yaml.safe_dump(text, sort_keys=False), "scene.yaml"), overrides=overrides)


FORMS = ("urdf", "instance of urdf", "instance of scene")
forms = pytest.mark.parametrize("form", FORMS)


@forms
def test_a_mass_scales_the_inertia(tmp_path, form):
    own = scene_with(tmp_path, {"links": {"l1": {"mass": 3}}}, form).links[1].inertial
    assert (own.mass, own.com) == (3.0, (0.0, 0.0, -0.1))
    np.testing.assert_allclose(np.diag(own.inertia), [0.03, 0.03, 0.015], rtol=1e-15)


@forms
def test_mass_com_and_inertia(tmp_path, form):
    overlay = {"mass": 3, "com": [1, 2, 3], "inertia": {"ixx": 3, "iyy": 4, "izz": 5, "ixy": 0.1}}
    own = scene_with(tmp_path, {"links": {"l1": overlay}}, form).links[1].inertial
    assert (own.mass, own.com) == (3.0, (1.0, 2.0, 3.0))
    assert own.inertia == ((3.0, 0.1, 0.0), (0.1, 4.0, 0.0), (0.0, 0.0, 5.0))
    own = scene_with(tmp_path, {"links": {"l1": {"com": [1, 2, 3]}}}, form).links[1].inertial
    assert own.com == (1.0, 2.0, 3.0) and np.diag(own.inertia).tolist() == [0.02, 0.02, 0.01]


@forms
def test_shapes_are_added_or_left_out(tmp_path, form):
    added = {"collision": [{"box": [1, 1, 1], "name": "pad"}, {"sphere": 0.1}]}
    shapes = scene_with(tmp_path, {"links": {"l1": added}}, form).links[1].shapes
    assert [(s.name, s.kind) for s in shapes] == [("arm/l1/0", "sphere"), ("pad", "box"), ("arm/l1/2", "sphere")]
    shapes = scene_with(tmp_path, {"links": {"l1": added | {"collision_off": True}}}, form).links[1].shapes
    assert [(s.name, s.kind) for s in shapes] == [("pad", "box"), ("arm/l1/1", "sphere")]
    assert scene_with(tmp_path, {"links": {"l1": {"collision_off": True}}}, form).links[1].shapes == ()


@forms
def test_materials(tmp_path, form):
    added = [{"sphere": 0.1, "material": "ice"}, {"sphere": 0.2}]
    scene = scene_with(tmp_path, {"links": {"l1": {"material": "rubber", "collision": added}}}, form)
    assert [s.material.friction for s in scene.links[1].shapes] == [0.9, 0.01, 0.9]
    scene = scene_with(tmp_path, {"material": "ice"}, form)
    assert [s.material_name for s in scene.links[1].shapes] == ["ice"]
    scene = scene_with(tmp_path, {"material": "ice", "links": {"l1": {"material": "rubber"}}}, form)
    assert [s.material_name for s in scene.links[1].shapes] == ["rubber"]


@forms
def test_joints(tmp_path, form):
    joint = scene_with(tmp_path, {"joints": {"j1": {"armature": 0.5, "damping": 2}}}, form).joints[1]
    assert (joint.armature, joint.damping, joint.kind) == (0.5, 2.0, "revolute")
    scene = scene_with(tmp_path, {"joints": {"j1": {"type": "fixed"}}}, form)
    assert (scene.joints[1].kind, scene.joints[1].X_PF.p) == ("fixed", (0.0, 0.0, 0.5)) and scene.warnings == ()
    scene = scene_with(tmp_path, {"joints": {"j1": {"type": "fixed", "damping": 1}}}, form)
    assert codes(scene.warnings) == ["no-effect"]


@forms
def test_limits(tmp_path, form):
    """An overlay changes what it names and leaves the rest."""
    before = scene_with(tmp_path, {}, form).joints[1].limit
    limit = scene_with(tmp_path, {"joints": {"j1": {"limit": {"upper": 0.5, "effort": 3}}}}, form).joints[1].limit
    assert limit == replace(before, upper=0.5, effort=3.0)
    limit = scene_with(tmp_path, {"joints": {"j1": {"limit": {"lower_deg": -90, "velocity": 2}}}}, form).joints[1].limit
    assert limit == replace(before, lower=-np.pi / 2, velocity=2.0)


@forms
def test_flags(tmp_path, form):
    scene = scene_with(tmp_path, {"gravity": False, "collision": False, "self_collision": False}, form)
    assert all((x.gravity, x.collide, x.self_collision) == (False, False, False) for x in scene.links)


FAULTS = [
    ({"links": {"l11": {"mass": 1}}}, "unknown-name", 'did you mean "l1"?', "links.l11"),
    ({"joints": {"j_1": {"damping": 1}}}, "unknown-name", 'did you mean "j1"?', "joints.j_1"),
    ({"links": {"l1": {"mas": 1}}}, "unknown-key", 'did you mean "mass"?', "links.l1.mas"),
    ({"links": {"l1": {"mass": -1}}}, "out-of-range", ">= 0", "links.l1.mass"),
    ({"links": {"l1": {"mass": 0}}}, "massless", "without mass", "links.l1.mass"),
    ({"links": {"l1": {"inertia": {"ixx": 1, "iyy": 1, "izz": 3}}}}, "impossible-inertia", "3 > 1 + 1", "links.l1.inertia"),
    ({"links": {"l1": {"material": "rubbr"}}}, "unknown-name", 'did you mean "rubber"?', "links.l1.material"),
    ({"joints": {"j1": {"type": "prismatic"}}}, "unknown-value", "fixed", "joints.j1.type"),
    ({"joints": {"j1": {"locked": 2}}}, "wrong-type", "true or false", "joints.j1.locked"),
    ({"joints": {"j1": {"friction": -1}}}, "out-of-range", ">= 0", "joints.j1.friction"),
    ({"joints": {"j1": {"limit": {"lower": 2, "upper": 1}}}}, "out-of-range", "above upper", "joints.j1.limit.lower"),
    ({"joints": {"j1": {"limit": {"lowr": 2}}}}, "unknown-key", 'did you mean "lower"?', "joints.j1.limit.lowr"),
    ({"joints": {"j1": {"limit": {"effort": -1}}}}, "out-of-range", ">= 0", "joints.j1.limit.effort"),
    ({"joints": {"j1": {"axis": [0, 0, 1]}}}, "unknown-key", "allowed", "joints.j1.axis"),
]


@forms
@pytest.mark.parametrize("overlay, code, words, path", FAULTS)
def test_a_fault_of_an_overlay_has_its_place(tmp_path, form, overlay, code, words, path):
    (error,) = errors_of(scene_with, tmp_path, overlay, form)
    home = "instances.arm" if form.startswith("instance") else "models.arm"
    assert (error.code, error.path) == (code, f"{home}.{path}")
    assert words in f"{error.message} {error.suggestion}" and error.file.endswith("scene.yaml")


def test_a_shape_name_of_the_model_is_taken(tmp_path):
    model = {"links": {"l1": {"collision": [{"sphere": 1, "name": "a"}]}}}
    assert len(scene_with(tmp_path, model, "urdf").links[1].shapes) == 2
    text = URDF.replace("<collision>", '<collision name="a">')
    write(tmp_path, text)
    errors = errors_of(load, tmp_path / "scene.yaml")
    write(tmp_path, URDF)
    assert codes(errors) == ["duplicate-name"]


def test_the_instance_comes_after_the_model_and_other_instances_are_not_changed(tmp_path):
    instances = {
        "a": {"model": "arm", "base": "fixed", "links": {"l1": {"mass": 5}}},
        "b": {"model": "arm", "base": "fixed"},
    }
    scene = scene_with(tmp_path, {"links": {"l1": {"mass": 3}}}, "urdf", more={"instances": instances})
    assert {x.name: x.inertial.mass for x in scene.links} == {"a/base": 2.0, "a/l1": 5.0, "b/base": 2.0, "b/l1": 3.0}


def test_a_mass_of_a_link_without_one_comes_from_its_shapes(tmp_path):
    """A ball of radius 0.1: I = 2/5 m r^2."""
    overlay = {"links": {"base": {"mass": 3, "collision": [{"sphere": 0.1}]}}}
    scene = scene_with(tmp_path, overlay, "urdf", more={"instances": {"arm": {"model": "arm", "base": "floating"}}})
    np.testing.assert_allclose(np.diag(scene.links[0].inertial.inertia), [0.03, 0.03, 0.015])  # it had one
    (tmp_path / "arm.urdf").write_text("<robot name='r'><link name='base'/></robot>")
    own = load(tmp_path / "scene.yaml").links[0].inertial
    np.testing.assert_allclose(np.diag(own.inertia), 0.4 * 3 * 0.01)
    assert own.mass == 3.0


def test_a_model_in_the_scene_may_say_the_same_of_its_own_links(tmp_path):
    text = yaml.safe_load(yaml.safe_dump(IN_SCENE))
    text["links"]["l1"] |= {"material": "rubber", "mass": 4}
    scene = scene_with(tmp_path, {}, "instance of scene", more={"models": {"arm": text}})
    link = scene.links[1]
    assert link.inertial.mass == 4.0 and link.shapes[0].material_name == "rubber"


@pytest.mark.parametrize("form", ["urdf", "instance of scene"])
def test_overrides_of_the_command_line_make_overlays(tmp_path, form):
    overrides = [
        "instances.arm.links.l1.mass=7",
        "instances.arm.joints.j1.damping=0.5",
        'instances.arm.links."base".com=[1, 0, 0]',
    ]
    scene = scene_with(tmp_path, {}, form, overrides=overrides)
    assert (
        scene.links[1].inertial.mass == 7.0
        and scene.joints[1].damping == 0.5
        and scene.links[0].inertial.com == (1.0, 0.0, 0.0)
    )
    errors = errors_of(scene_with, tmp_path, {}, form, overrides=["instances.arm.links.l2.mass=7"])
    assert codes(errors) == ["unknown-name"] and errors[0].file == "--set instances.arm.links.l2.mass=7"


def test_overrides_of_a_model_follow_what_it_is(tmp_path):
    scene = scene_with(tmp_path, {}, "urdf", overrides=["models.arm.links.l1.mass=7"])
    assert scene.links[1].inertial.mass == 7.0
    errors = errors_of(scene_with, tmp_path, {}, "urdf", overrides=["models.arm.links.l1.inertial.mass=7"])
    assert codes(errors) == ["unknown-key"]
    scene = scene_with(tmp_path, {}, "instance of scene", overrides=["models.arm.links.l1.inertial.mass=7"])
    assert scene.links[1].inertial.mass == 7.0
