"""Inertia policies: what `fix` and `estimate` put in, where they do nothing, and that they say what they did."""

import json
from itertools import product

import numpy as np
import pytest
from urdf_files import ARM, INERTIAL, SCENE, changed, codes, model_of, scene_of

from sapsim.errors import SceneError
from sapsim.scene.inertia_policy import nearest_possible, settle_inertias, sphere_of_water
from sapsim.scene.inertials import impossible
from sapsim.scene.read import loads
from sapsim.scene.report import Report
from sapsim.validate.report import validate

HEAD = "sapsim: 1\ntime_step: 0.001\nsteps: 10\n"
GOOD = "{inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}"
WATER_10_G = 0.4 * 0.01 * (3 * 0.01 / (4 * np.pi * 1000)) ** (2 / 3)  # [kg m^2] 2/5 m r^2


def arm(link: str, policy: str, more: str = "", joint: str = "{type: revolute, parent: base, child: tip, axis: [0, 1, 0]}"):
    """A scene with one link on a hinge, and links and joints beside it."""
    links, _, joints = more.partition("|")
    text = f"""{HEAD}models:
  arm:
    inertia: {policy}
    links: {{base: {GOOD}, tip: {link}{links}}}
    joints: {{hinge: {joint}{joints}}}
instances: {{a: {{model: arm, base: fixed}}}}
"""
    return loads(text, file="arm.yaml")


def tip(scene):
    return next(link.inertial for link in scene.links if link.name == "a/tip")


def moments(own) -> np.ndarray:
    return np.linalg.eigvalsh(np.asarray(own.inertia))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((2, 3, 8), (3, 4, 7)),  # 8 exceeds 5 by 3
        ((1e-9, 1, 1.5), (1 / 6 + 2e-9 / 3, 7 / 6 - 1e-9 / 3, 4 / 3 + 1e-9 / 3)),
        ((-1, 3, 8), (1, 5, 6)),  # negative, and positive once the excess of 6 is shared
        ((0, 1, 1), (1e-3, 1, 1)),  # a rod without thickness
        ((-4, 1, 3), (2e-3, 2, 2)),  # the nearest is (0, 2, 2)
        ((0, 0, 3), (1, 1, 2)),
        ((0, 0, 0), None),
        ((-1, -1, -1), None),
        ((-5, -4, 3), None),  # the nearest is zero
    ],
)
def test_the_nearest_possible_inertia(before, after):
    R, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    found = nearest_possible(R @ np.diag(np.array(before, float)) @ R.T)
    if after is None:
        assert found is None
        return
    assert np.allclose(found, R @ np.diag(after) @ R.T, rtol=0.0, atol=1e-13)  # round-off of moments up to 8
    assert impossible(found) == ""


def test_nothing_possible_is_nearer():
    """On a grid of possible moments none is nearer, but for the thickness of a rod."""
    rng = np.random.default_rng(0)
    grid = np.array([m for m in product(np.linspace(0, 3, 31), repeat=3) if 2 * max(m) <= sum(m)])
    for before in np.sort(rng.uniform(-1, 2, (40, 3)), axis=1):
        if not impossible(np.diag(before)):
            continue
        found = nearest_possible(np.diag(before))
        if found is not None:
            nearest = np.linalg.norm(grid - before, axis=1).min()
            assert np.linalg.norm(np.diag(found) - before) <= nearest + 2e-3 * np.abs(before).max()


def test_fix_shares_the_excess_and_says_so():
    scene = arm("{inertial: {mass: 1, com: [0, 0, 0.1], inertia: {ixx: 0.002, iyy: 0.008, izz: 0.003}}}", "fix")
    own = tip(scene)
    assert (own.mass, own.com) == (1.0, (0.0, 0.0, 0.1))
    np.testing.assert_allclose(own.inertia, np.diag([0.003, 0.007, 0.004]), atol=1e-17)
    (warning,) = scene.warnings
    assert (warning.code, warning.file, warning.line) == ("inertia-fixed", "arm.yaml", 7)
    assert warning.path == "models.arm.links.tip.inertial"
    for words in ('link "a/tip"', 'revolute joint "a/hinge"', "0.008 > 0.002 + 0.003", "0.003, 0.004, 0.007", "inertia: fix"):
        assert words in warning.message
    assert "0.007" in scene.resolved


def test_error_refuses_and_names_the_policies():
    with pytest.raises(SceneError) as caught:
        arm("{inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 3}}}", "error")
    (error,) = caught.value.errors
    assert error.code == "impossible-inertia" and "inertia: fix" in error.suggestion


@pytest.mark.parametrize("policy", ["fix", "estimate"])
def test_what_is_possible_is_left_alone(policy):
    shape = "{inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 2}}, collision: [{sphere: 0.1}]}"
    scene, plain = arm(shape, policy), arm(shape, "error")
    assert scene.links[1].inertial == plain.links[1].inertial and scene.warnings == () and scene.resolved == plain.resolved


def test_a_fixed_link_that_is_impossible_alone_is_left_alone():
    """What is refused is the body; one that is possible keeps its odd links, with the warning that `error` has, too."""
    more = ", plate: {inertial: {mass: 1, inertia: {ixx: 0, iyy: 0, izz: 0}}}|, glue: {type: fixed, parent: tip, child: plate}"
    scene = arm(GOOD, "fix", more)
    assert codes(scene.warnings) == ["impossible-inertia"] and "accepted" in scene.warnings[0].message
    assert not np.any(scene.links[2].inertial.inertia)


def test_of_links_on_fixed_joints_those_are_changed_that_are_impossible_alone():
    more = ", plate: {inertial: {mass: 1, inertia: {ixx: 9, iyy: 1, izz: 1}}}|, glue: {type: fixed, parent: tip, child: plate}"
    scene = arm("{inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}", "fix", more)
    np.testing.assert_allclose(scene.links[2].inertial.inertia, np.diag([9 - 7 / 3, 1 + 7 / 3, 1 + 7 / 3]), atol=1e-14)
    assert moments(tip(scene)).tolist() == [1.0, 1.0, 1.0] and codes(scene.warnings) == ["inertia-fixed"]
    assert 'link "a/plate" on revolute joint "a/hinge"' in scene.warnings[0].message


@pytest.mark.parametrize("policy", ["fix", "estimate"])
def test_a_point_mass_becomes_a_sphere_of_water(policy):
    """`estimate` has no shape to go by here."""
    scene = arm("{inertial: {mass: 2, com: [0, 0, 0.1]}}", policy)
    r = (3 * 2 / (4 * np.pi * 1000)) ** (1 / 3)
    np.testing.assert_allclose(tip(scene).inertia, 0.4 * 2 * r**2 * np.eye(3), rtol=1e-14)
    assert tip(scene).com == (0.0, 0.0, 0.1) and "sphere of 2 kg of water" in scene.warnings[0].message
    with pytest.raises(SceneError):
        arm("{inertial: {mass: 2, com: [0, 0, 0.1]}}", "error")


def test_a_mass_alone_without_a_solid_shape():
    """`fix` and `estimate` accept it; `plane` has no volume."""
    for link in ("{inertial: {mass: 2}}", "{inertial: {mass: 2}, collision: [{plane: {}}]}"):
        for policy in ("fix", "estimate"):
            np.testing.assert_allclose(tip(arm(link, policy)).inertia, sphere_of_water(2.0).inertia, rtol=1e-15)
    with pytest.raises(SceneError):
        arm("{inertial: {density: 2}}", "fix")


def test_estimate_takes_the_shapes_with_the_links_mass():
    box = "collision: [{box: [1, 2, 3], pose: {xyz: [0, 0, 5]}}]"
    link = f"{{inertial: {{mass: 12, com: [0, 0, 0.1], inertia: {{ixx: 1, iyy: 1, izz: 3}}}}, {box}}}"
    scene = arm(link, "estimate")
    # 12 / 12 (b^2 + c^2) about the box's own centre; the com stays as the file says
    np.testing.assert_allclose(tip(scene).inertia, np.diag([13, 10, 5]), atol=1e-12)
    assert (tip(scene).mass, tip(scene).com) == (12.0, (0.0, 0.0, 0.1))
    (warning,) = scene.warnings
    assert warning.code == "inertia-estimated"
    assert "put in: that of its collision shapes, principal moments 5, 10, 13" in warning.message
    # `fix` looks at no shape
    np.testing.assert_allclose(tip(arm(link, "fix")).inertia, np.diag([4 / 3, 4 / 3, 8 / 3]), atol=1e-14)


@pytest.mark.parametrize("policy", ["fix", "estimate"])
def test_a_joint_without_mass_gets_ten_grams_of_water(policy):
    """Of a chain the last joint only: it gives mass to those before it."""
    more = ", a: {}, b: {}|, j1: {type: revolute, parent: tip, child: a}, j2: {type: prismatic, parent: a, child: b}"
    scene = arm("{}", policy, more)
    masses = [link.inertial.mass for link in scene.links]
    assert masses == [1.0, 0.0, 0.0, 0.01]
    np.testing.assert_allclose(scene.links[3].inertial.inertia, WATER_10_G * np.eye(3), rtol=1e-14)
    (warning,) = scene.warnings
    for words in ('link "a/b"', 'prismatic joint "a/j2"', "without mass", "mass 0.01 kg", "7.14498e-07"):
        assert words in warning.message


def test_estimate_gives_mass_by_the_shapes():
    more = ", shell: {collision: [{sphere: 0.1, pose: {xyz: [0, 0, 1]}}]}|, glue: {type: fixed, parent: tip, child: shell}"
    scene = arm("{}", "estimate", more)
    shell = scene.links[2].inertial
    mass = 1000 * 4 / 3 * np.pi * 1e-3
    assert shell.mass == pytest.approx(mass, rel=1e-14) and shell.com == (0.0, 0.0, 1.0)
    np.testing.assert_allclose(shell.inertia, 0.4 * mass * 0.01 * np.eye(3), rtol=1e-12)
    assert tip(scene).mass == 0.0 and 'link "a/shell" moves on revolute joint "a/hinge"' in scene.warnings[0].message


def test_inertia_without_mass_stays():
    """A rotor on a slide: its inertia is kept, and what it moves by gets mass."""
    slide = "{type: prismatic, parent: base, child: tip}"
    own = tip(arm("{inertial: {mass: 0, inertia: {ixx: 1, iyy: 1, izz: 1}}}", "fix", joint=slide))
    assert own.mass == 0.01 and moments(own) == pytest.approx(1 + WATER_10_G, rel=1e-14)


def test_after_either_policy_every_check_of_validate_passes():
    bad = "{inertial: {mass: 1, com: [0, 0, 0.1], inertia: {ixx: 0.002, iyy: 0.008, izz: -0.003}}, collision: [{sphere: 1}]}"
    for policy in ("fix", "estimate"):
        scene = arm(bad, policy, ", a: {}|, j1: {type: universal, parent: tip, child: a}")
        assert len(scene.warnings) == 2 and validate(scene, samples=10).passed


def test_two_models_two_policies():
    text = f"""{HEAD}models:
  good: {{inertia: fix, links: {{l: {{inertial: {{mass: 1, inertia: {{ixx: 1, iyy: 1, izz: 3}}}}}}}}}}
  bad: {{links: {{l: {{inertial: {{mass: 1, inertia: {{ixx: 1, iyy: 1, izz: 3}}}}}}}}}}
instances: {{x: {{model: good, base: floating}}, y: {{model: bad, base: floating}}, z: {{model: good, base: floating}}}}
"""
    with pytest.raises(SceneError) as caught:
        loads(text)
    assert [(e.code, e.line) for e in caught.value.errors] == [("impossible-inertia", 6)]
    # a model that is placed twice is told once
    assert [(w.code, w.line) for w in caught.value.warnings] == [("inertia-fixed", 5)]


def test_a_scene_of_possible_bodies_is_the_scene_itself():
    scene = arm(GOOD, "error")
    assert settle_inertias(scene, Report()) is scene


BAD = INERTIAL.replace('izz=".01"', 'izz=".07"')
TEXT = ARM.replace(INERTIAL, BAD, 2).replace(BAD, INERTIAL, 1)


def test_a_urdf_and_its_file_alone(tmp_path):
    for scene in (
        scene_of(tmp_path, SCENE.replace("arm.urdf}", "arm.urdf, inertia: fix}"), TEXT),
        model_of(tmp_path, TEXT, inertia="fix"),
    ):
        np.testing.assert_allclose(scene.links[1].inertial.inertia, np.diag([0.03, 0.03, 0.06]), atol=1e-16)
        (warning,) = [w for w in scene.warnings if w.code != "not-enforced"]
        assert (warning.code, warning.line) == ("inertia-fixed", 6) and warning.file.endswith("arm.urdf")
        assert 'on revolute joint "' in warning.message and "0.03, 0.03, 0.06" in warning.message
    with pytest.raises(SceneError) as caught:
        model_of(tmp_path, TEXT, inertia="guess")
    assert "allowed: error, estimate, fix" in caught.value.errors[0].message


def test_shapes_of_a_urdf_are_known_without_geometry(tmp_path):
    """load_model only names shapes, after their volumes have been taken; with a mesh among them they have none."""
    sphere = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
    mesh = '<collision><geometry><mesh filename="a.stl"/></geometry></collision>'
    text = changed((BAD, BAD + sphere), text=TEXT)
    own = model_of(tmp_path, text, inertia="estimate").links[1].inertial
    np.testing.assert_allclose(own.inertia, 0.4 * 2 * 0.25 * np.eye(3), rtol=1e-12)
    own = model_of(tmp_path, changed((sphere, sphere + mesh), text=text), inertia="estimate").links[1].inertial
    np.testing.assert_allclose(own.inertia, sphere_of_water(2.0).inertia, rtol=1e-12)


def test_warnings_are_objects(tmp_path):
    """What `--json` prints of them."""
    (warning,) = model_of(tmp_path, TEXT, inertia="fix").warnings
    assert json.loads(json.dumps(warning.as_dict()))["code"] == "inertia-fixed"
