"""What a right scene file means: names, grids, materials, poses, settings, forces; models are in test_scene_models.py."""

import math

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation
from test_scene_models import MODEL

from sapsim.errors import SceneError
from sapsim.scene.poses import matrix, quat_from_rpy
from sapsim.scene.read import loads, scene_sha256
from sapsim.scene.spec import Contact, Material, Output, Solver

HEAD = "sapsim: 1\ntime_step: 0.001\nsteps: 10\n"

# Rotations and sums of a few float64 products: a few units in the last place of numbers of order one.
ROUND_OFF = 1e-14


def only(names, name):
    (found,) = (x for x in names if x.name == name)
    return found


def test_an_almost_empty_scene_has_the_defaults_of_the_contract():
    scene = loads(HEAD, file="some/where/pinch.yaml")
    assert (scene.name, scene.file, scene.time_step, scene.steps) == ("pinch", "some/where/pinch.yaml", 0.001, 10)
    assert scene.gravity == (0.0, 0.0, -9.81)
    assert scene.contact == Contact("lagged", 1e-4, 1.0, 1e-3, 0.0)
    assert scene.solver == Solver(1e-14, 1e-6, 1e-30, 1e-15, 100, "exact", "auto", "v_star", True, "continue")
    assert scene.output == Output(1, ("state", "contacts", "solver"), "float64", "gzip", 5.0, None)
    assert (scene.nworld, scene.seed, scene.links, scene.joints, scene.warnings) == (1, 0, (), (), ())
    assert scene.text == HEAD


def test_settings_are_read():
    scene = loads(
        """sapsim: 1
name: other
time_step: 1e-2
duration: 1
gravity: [0, 1, 2]
contact: {law: sap, stiction_tolerance: 1e-3, near_rigid: 0.5, sigma: 1e-2, margin: 0.1}
solver: {absolute_tolerance: 1, relative_tolerance: 2, cost_absolute_tolerance: 3, cost_relative_tolerance: 4,
         max_iterations: 5, line_search: backtracking, linear_solver: block_sparse, islands: false, on_failure: stop}
worlds: {count: 3, seed: 7}
output: {every: 2, channels: [state], dtype: float32, compression: none, flush_seconds: 1, worlds: [2, 0]}
"""
    )
    assert (scene.name, scene.steps, scene.gravity) == ("other", 100, (0.0, 1.0, 2.0))
    assert scene.contact == Contact("sap", 1e-3, 0.5, 1e-2, 0.1)
    assert scene.solver == Solver(1.0, 2.0, 3.0, 4.0, 5, "backtracking", "block_sparse", "v_star", False, "stop")
    assert scene.output == Output(2, ("state",), "float32", "none", 1.0, (0, 2))
    assert (scene.nworld, scene.seed) == (3, 7)


@pytest.mark.parametrize(("h", "duration", "steps"), [("1e-3", "2.0", 2000), ("0.1", "0.3", 3), ("3e-3", "3.0", 1000)])
def test_a_duration_of_whole_steps(h, duration, steps):
    scene = loads(f"sapsim: 1\ntime_step: {h}\nduration: {duration}\n")
    assert (scene.steps, scene.warnings) == (steps, ())


def test_a_duration_between_steps_is_rounded_with_a_warning():
    scene = loads("sapsim: 1\ntime_step: 0.01\nduration: 0.996\n")
    (warning,) = scene.warnings
    assert scene.steps == 100
    assert (warning.line, warning.column, warning.code) == (3, 1, "duration")


def test_repeat_makes_a_grid_with_k_fastest():
    scene = loads(
        HEAD
        + "bodies:\n  pile: {box: [1, 2, 3], mass: 2, pose: {xyz: [1, 2, 3], rpy: [0, 0, 1]}, velocity: {linear: [4, 5, 6]},"
        + " repeat: {count: [2, 1, 3], spacing: [10, 20, 30]}}\n"
    )
    names = [f"pile/{i}/0/{k}" for i in range(2) for k in range(3)]
    assert [link.name for link in scene.links] == names
    assert [joint.name for joint in scene.joints] == [f"{n}/base" for n in names]
    assert [joint.child for joint in scene.joints] == names
    q = quat_from_rpy((0.0, 0.0, 1.0))
    expected = [(1.0 + 10.0 * i, 2.0, 3.0 + 30.0 * k, *q) for i in range(2) for k in range(3)]
    assert [joint.q0 for joint in scene.joints] == expected
    assert all(joint.qd0 == (4.0, 5.0, 6.0, 0.0, 0.0, 0.0) for joint in scene.joints)
    assert all(link.inertial.mass == 2.0 for link in scene.links)
    assert [s.name for link in scene.links for s in link.shapes] == [f"{n}/0" for n in names]


JITTER = "bodies: {%s: {sphere: 1, mass: 1, repeat: {count: [%d, 5, 4], spacing: [1, 1, 1], jitter: {%s}}}}\n"


def jittered(name="pile", n=5, jitter="xyz: [0.1, 0.2, 0], rpy: [0, 0, 0.5], seed: 3"):
    """Deviations of positions from the grid (N, 3), and yaw (N,), by body name."""
    scene = loads(HEAD + JITTER % (name, n, jitter))
    q0 = np.array([j.q0 for j in scene.joints])
    grid = np.array([[int(x) for x in link.name.split("/")[1:]] for link in scene.links])
    return {k.name.partition("/")[2]: v for k, v in zip(scene.links, np.hstack([q0[:, :3] - grid, q0[:, 3:]]), strict=True)}


def test_jitter_is_seeded_bounded_and_keyed_by_the_body():
    first = jittered()
    assert first.keys() == jittered(n=3).keys() | {k for k in first if k[0] in "34"}
    shorter = jittered(n=3)
    assert all(np.array_equal(shorter[k], first[k]) for k in shorter)
    d = np.array(list(first.values()))
    assert (np.abs(d[:, :3]) <= [0.1, 0.2, 0.0]).all()
    # of 100 uniform draws some lie in the outer tenth on either side, for a fixed seed once and for all
    assert d[:, 0].max() > 0.09 and d[:, 0].min() < -0.09 and d[:, 1].max() > 0.18 and d[:, 1].min() < -0.18
    yaw = 2.0 * np.arctan2(d[:, 5], d[:, 6])
    assert np.abs(yaw).max() <= 0.5 and yaw.std() > 0.2 and (d[:, 3:5] == 0.0).all()
    assert not np.array_equal(d, np.array(list(jittered(name="heap").values())))
    assert not np.array_equal(d, np.array(list(jittered(jitter="xyz: [0.1, 0.2, 0], seed: 4").values())))
    degrees = jittered(jitter=f"xyz: [0.1, 0.2, 0], rpy_deg: [0, 0, {math.degrees(0.5)!r}], seed: 3")
    # degrees and back to radians: one rounding each
    np.testing.assert_allclose(np.array(list(degrees.values())), d, atol=ROUND_OFF)


def test_missing_keys_of_a_material_come_from_the_default_material():
    scene = loads(
        HEAD
        + """contact: {default_material: {friction: 0.9, stiffness: 2e5}}
materials: {rubber: {stiffness: 1e5}, bare: {}}
bodies:
  a: {sphere: 1, mass: 1, material: rubber}
  b: {sphere: 1, mass: 1}
  c: {sphere: 1, mass: 1, material: bare}
"""
    )
    shapes = {link.name: link.shapes[0] for link in scene.links}
    assert shapes["a"].material == Material(1e5, 50.0, 0.1, 0.9)
    assert shapes["b"].material == shapes["c"].material == Material(2e5, 50.0, 0.1, 0.9)
    assert [shapes[n].material_name for n in "abc"] == ["rubber", "", "bare"]


def test_the_material_of_a_shape_goes_before_that_of_its_instance_and_that_before_its_models():
    scene = loads(
        HEAD
        + """materials: {a: {friction: 0.1}, b: {friction: 0.2}, c: {friction: 0.3}}
models:
  m:
    material: b
    links: {l: {inertial: {mass: 1}, collision: [{sphere: 1, material: a}, {sphere: 1}]}}
instances:
  x: {model: m, base: fixed, material: c}
  y: {model: m, base: fixed}
"""
    )
    assert [[s.material.friction for s in link.shapes] for link in scene.links] == [[0.1, 0.3], [0.1, 0.2]]


# fmt: off
ANGLES = [(0.3, 0.0, 0.0), (0.0, 0.4, 0.0), (0.0, 0.0, 0.5), (0.1, -0.7, 2.9), (-3.0, 1.5, 0.2), (0.0, math.pi / 2, 0.3)]
# fmt: on


@pytest.mark.parametrize("rpy", ANGLES)
def test_rpy_turns_about_fixed_axes_x_then_y_then_z(rpy):
    # scipy's lower case "xyz" are extrinsic rotations about x, y, z in that order, as URDF's
    expected = Rotation.from_euler("xyz", rpy).as_matrix()
    np.testing.assert_allclose(matrix(quat_from_rpy(rpy)), expected, atol=ROUND_OFF)
    degrees = [math.degrees(a) for a in rpy]
    poses = [f"rpy: {list(rpy)}", f"rpy_deg: {degrees}", f"quaternion: {Rotation.from_euler('xyz', rpy).as_quat().tolist()}"]
    for pose in poses:
        scene = loads(HEAD + f"bodies: {{b: {{sphere: 1, mass: 1, pose: {{xyz: [1, 2, 3], {pose}}}}}}}")
        assert scene.joints[0].q0[:3] == (1.0, 2.0, 3.0)
        np.testing.assert_allclose(matrix(scene.joints[0].q0[3:]), expected, atol=ROUND_OFF)


def test_a_quaternion_is_normalised_with_a_warning_where_it_is_far_from_unit_length():
    def read(q):
        return loads(HEAD + f"bodies: {{b: {{sphere: 1, mass: 1, pose: {{quaternion: {q}}}}}}}")

    scene = read([0, 0, 3, 4])
    assert scene.joints[0].q0[3:] == (0.0, 0.0, 0.6, 0.8)
    assert [(w.code, w.line) for w in scene.warnings] == [("quaternion-norm", 4)]
    scene = read([0, 0, 0.6, 0.8005])
    assert scene.warnings == ()
    assert math.hypot(*scene.joints[0].q0[3:]) == pytest.approx(1.0, abs=ROUND_OFF)


def test_filters_are_pairs_of_links():
    scene = loads(
        HEAD
        + (MODEL % "revolute")
        + """  a: {model: arm, base: fixed}
bodies:
  pile: {sphere: 1, mass: 1, repeat: {count: [1, 1, 2], spacing: [0, 0, 3]}}
  ball: {sphere: 1, mass: 1, pose: {xyz: [9, 0, 0]}}
filter: [[a, ball/ball], [pile, world], [a/tip, pile/0/0/0], ['pile/*', ball], [ball, a/base], [pile, pile]]
"""
    )
    assert scene.filters == (
        ("a/base", "ball"),
        ("a/tip", "ball"),
        ("pile/0/0/0", "world"),
        ("pile/0/0/1", "world"),
        ("a/tip", "pile/0/0/0"),
        ("ball", "pile/0/0/0"),
        ("ball", "pile/0/0/1"),
        ("pile/0/0/0", "pile/0/0/1"),
    )


def test_forces_and_expectations():
    scene = loads(
        HEAD
        + (MODEL % "revolute")
        + """  a: {model: arm, base: fixed}
bodies: {ball: {sphere: 1, mass: 1}}
forces:
  wind: {link: ball/ball, force: [1, 0, 0], from: 0.5}
  turn: {link: a/tip, torque: [0, 1, 0], point: [0, 0, 1], frame: link, until: 2}
expect:
  - {link: ball, quantity: position.z, value: 1, atol: 0.1, rtol: 0.2}
  - {joint: a/hinge, quantity: qd, at: 0.5, min: -1, max: 1}
  - {world: , quantity: contact_count, at: all, max: 3, worlds: [0]}
  - {solver: true, quantity: converged_fraction, min: 1}
"""
    )
    wind, turn = scene.forces
    assert (wind.link, wind.force, wind.torque, wind.frame, wind.start, wind.until) == (
        "ball", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), "world", 0.5, math.inf,
    )  # fmt: skip
    assert (turn.link, turn.torque, turn.point, turn.frame, turn.start, turn.until) == (
        "a/tip", (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), "link", -math.inf, 2.0,
    )  # fmt: skip
    z, qd, count, solved = scene.expect
    assert (z.target, z.name, z.quantity, z.at, z.value, z.atol, z.rtol) == ("link", "ball", "position.z", "end", 1.0, 0.1, 0.2)
    assert (qd.target, qd.name, qd.at, qd.value, qd.min, qd.max) == ("joint", "a/hinge", 0.5, None, -1.0, 1.0)
    assert (count.target, count.name, count.at, count.worlds) == ("world", "", "all", (0,))
    assert (solved.target, solved.quantity, solved.min) == ("solver", "converged_fraction", 1.0)


def test_shapes_of_the_world_and_their_names():
    scene = loads(HEAD + "world: {collision: [{plane: {}}, {box: [1, 2, 3], name: table, pose: {xyz: [0, 0, 1]}}]}")
    plane, table = scene.world_shapes
    assert (plane.name, plane.kind, plane.params) == ("world/0", "plane", ())
    assert (table.name, table.kind, table.params, table.X_LG.p) == ("table", "box", (1.0, 2.0, 3.0), (0.0, 0.0, 1.0))


def test_the_order_is_that_of_the_file():
    bodies = "bodies: {z: {sphere: 1, mass: 1}, b: {sphere: 1, mass: 1}}\n"
    instances = "  k: {model: arm, base: fixed}\n"
    first = loads(HEAD + bodies + MODEL % "revolute" + instances)
    assert [link.name for link in first.links] == ["z", "b", "k/base", "k/tip"]
    last = loads(HEAD + MODEL % "revolute" + instances + bodies)
    assert [link.name for link in last.links] == ["k/base", "k/tip", "z", "b"]


def test_the_resolved_text_is_yaml_of_both_versions_and_hashes_the_meaning():
    text = HEAD + "bodies: {ball: {sphere: 1e-3, mass: 1e-6}}\nforces: {f: {link: ball, until: 1e20}}\n"
    scene = loads(text)
    plain = yaml.safe_load(scene.resolved)  # a reader of YAML 1.1
    assert plain["links"][0]["inertial"]["mass"] == 1e-6
    assert plain["forces"][0]["start"] == -math.inf and plain["forces"][0]["until"] == 1e20
    assert plain["contact"]["law"] == "lagged" and plain["time_step"] == 0.001
    same = loads("# a comment\n" + text.replace("1e-3", "0.001"), file="scene.yaml")
    assert scene_sha256(same) == scene_sha256(scene)
    assert scene_sha256(loads(text.replace("1e-3", "0.0011"))) != scene_sha256(scene)


def test_names_survive_the_resolved_text():
    name = 'a"b\\c é \U0001f600 \u2028'
    scene = loads(
        HEAD + "bodies: {" + yaml.safe_dump(name, allow_unicode=False, width=1000).splitlines()[0] + ": {sphere: 1, mass: 1}}"
    )
    assert scene.links[0].name == name
    assert yaml.safe_load(scene.resolved)["links"][0]["name"] == name


def test_strict_makes_warnings_faults():
    text = "sapsim: 1\ntime_step: 0.01\nduration: 0.996\n"
    with pytest.raises(SceneError) as caught:
        loads(text, strict=True)
    assert [e.code for e in caught.value.errors] == ["duration"]
