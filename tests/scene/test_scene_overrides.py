"""Overrides of the command line: checked like the file, with the path instead of a line."""

import pytest

from sapsim.errors import SceneError
from sapsim.scene.read import loads

SCENE = """sapsim: 1
time_step: 0.001
duration: 1.0
gravity: [0, 0, -9.81]
materials: {rubber: &rubber {friction: 0.5}, copy: *rubber}
models:
  arm:
    links:
      "link_11.0": {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}
instances:
  a: {model: arm, base: fixed}
bodies:
  ball: {sphere: 0.1, mass: 1, pose: {rpy: [0, 0, 1]}, material: rubber}
world: {collision: [{plane: {}}, {box: [1, 1, 1]}]}
expect:
  - {link: ball, quantity: position.z, value: 0.05, atol: 0.1}
"""


def load(*overrides):
    return loads(SCENE, overrides=overrides)


def errors(*overrides):
    with pytest.raises(SceneError) as caught:
        load(*overrides)
    return caught.value.errors


def test_values_are_replaced_and_the_strings_kept():
    scene = load("bodies.ball.mass=2", "contact.law=sap", "gravity=[0, 0, 0]", "bodies.ball.mass=3")
    assert scene.links[1].inertial.mass == 3.0
    assert (scene.contact.law, scene.gravity) == ("sap", (0.0, 0.0, 0.0))
    assert scene.overrides == ("bodies.ball.mass=2", "contact.law=sap", "gravity=[0, 0, 0]", "bodies.ball.mass=3")
    assert scene.text == SCENE


def test_sections_that_are_not_in_the_file_are_made():
    scene = load("contact.default_material.friction=0.25", "worlds.count=4")
    assert scene.world_shapes[0].material.friction == 0.25
    assert scene.nworld == 4


def test_a_segment_with_a_dot_is_quoted():
    assert load('models.arm.links."link_11.0".inertial.mass=7').links[0].inertial.mass == 7.0
    assert load("models.arm.links.'link_11.0'.inertial.mass=7").links[0].inertial.mass == 7.0


def test_entries_of_lists():
    scene = load("world.collision[1].box=[2, 2, 2]", "world.collision.0.name=floor", "gravity[2]=-1", "expect[0].value=3")
    assert scene.world_shapes[1].params == (2.0, 2.0, 2.0)
    assert scene.world_shapes[0].name == "floor"
    assert scene.gravity == (0.0, 0.0, -1.0)
    assert scene.expect[0].value == 3.0


def test_an_override_replaces_what_excludes_it():
    assert load("steps=7").steps == 7
    assert load("steps=7", "duration=0.5").steps == 500
    ball = load("bodies.ball.box=[1, 1, 1]", "bodies.ball.density=2").links[1]
    assert (ball.shapes[0].kind, ball.inertial.mass) == ("box", 2.0)
    assert load("bodies.ball.pose.quaternion=[0, 0, 0, 1]").joints[1].q0[3:] == (0.0, 0.0, 0.0, 1.0)


def test_an_override_below_an_anchor_changes_one_use_of_it():
    scene = load("materials.copy.friction=0.9")
    assert scene.links[1].shapes[0].material.friction == 0.5


def test_new_entries_can_be_added():
    scene = load("bodies.cube={box: [1, 1, 1], mass: 1}", 'bodies."odd.name"={sphere: 1, mass: 1}')
    assert [link.name for link in scene.links] == ["a/link_11.0", "ball", "cube", "odd.name"]


@pytest.mark.parametrize(
    ("override", "code", "path", "words"),
    [
        ("bodies.bal.mass=2", "unknown-name", "bodies.bal", 'did you mean "ball"?'),
        ("bodies.ball.mas=2", "unknown-key", "bodies.ball.mas", 'did you mean "mass"?'),
        ("contakt.law=sap", "unknown-key", "contakt", 'did you mean "contact"?'),
        ("contact.law=sup", "unknown-value", "contact.law", 'did you mean "sap"?'),
        ("bodies.ball.mass=-2", "out-of-range", "bodies.ball.mass", "found -2"),
        ("bodies.ball.mass=two", "wrong-type", "bodies.ball.mass", 'found "two"'),
        ("bodies.ball.mass=", "wrong-type", "bodies.ball.mass", "found nothing"),
        ("bodies.ball.mass.kg=2", "unknown-key", "bodies.ball.mass.kg", "below a value"),
        ("world.collision[2].name=x", "unknown-key", "world.collision[2]", "list of 2"),
        ("output.channels[0]=state", "unknown-key", "output.channels", "set all of it"),
        ("gravity=[0, 0", "yaml-syntax", "gravity", "flow sequence"),
        ("gravity=[0, 0, .nan]", "not-finite", "gravity[2]", "found .nan"),
        ("solver.linear_solver=pgc", "unknown-value", "solver.linear_solver", 'did you mean "pcg"?'),
        ("worlds.vary.gravity.values=[1]", "not-supported", "worlds.vary", "not supported yet"),
        ("instances.a.joints.wrist.damping=1", "unknown-name", "instances.a.joints.wrist", "joints of model arm: none"),
        ("bodies.ball.material=ruber", "unknown-name", "bodies.ball.material", 'did you mean "rubber"?'),
        ("gravity", "bad-override", "", "key.path=value"),
        ("=3", "bad-override", "", "key.path=value"),
        ("", "bad-override", "", "key.path=value"),
        ("gravity]=3", "bad-override", "", "key.path=value"),
        ("{a: 1, a: 2}", "bad-override", "", "key.path=value"),
        ("worlds={count: 1, count: 2}", "duplicate-key", "count", "given twice"),
    ],
)
def test_a_wrong_override_is_refused_with_its_path(override, code, path, words):
    (error,) = errors(override)
    assert (error.code, error.path) == (code, path)
    assert error.file == f"--set {override}"
    assert words in error.message + error.suggestion


def test_faults_of_overrides_and_of_the_file_come_together():
    with pytest.raises(SceneError) as caught:
        loads(SCENE.replace("gravity", "gravty"), overrides=["steps=0", "nonsense"])
    assert {e.code for e in caught.value.errors} == {"unknown-key", "out-of-range", "bad-override"}
