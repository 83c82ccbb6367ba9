"""Meshes as collision shapes: what they become, overlays, warnings, and what is said of uses that there are not yet."""

import numpy as np
import pytest
from mesh_files import (
    BOX_FACES,
    L_FACES,
    L_SHAPE,
    PYRAMID,
    PYRAMID_FACES,
    UNIT_BOX,
    body_of,
    errors_of,
    obj,
    stl,
    warnings_of,
)
from test_hull import rotation, sphere_points
from urdf_files import INERTIAL, changed, write

from sapsim.scene.hull import convex_hull
from sapsim.scene.poses import matrix
from sapsim.scene.read import load, load_model
from sapsim.scene.triangles import volume

pytestmark = pytest.mark.usefixtures("cache")
HULL_VOLUME = 3.5  # of the L


def placed(shape):
    """The corners of a shape in its link."""
    return shape.hull.vertices @ matrix(shape.X_LG.q).T + shape.X_LG.p


def test_a_mesh_becomes_a_convex_shape_about_its_middle(tmp_path):
    scene = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES))
    (shape,) = scene.links[0].shapes
    assert (shape.name, shape.kind, shape.params, shape.mesh) == ("b/0", "convex", (), None)
    np.testing.assert_allclose(shape.X_LG.p, (0, 0, 0.1), atol=1e-16)
    np.testing.assert_allclose(placed(shape), PYRAMID[[0, 3, 4, 1, 2]], atol=1e-16)
    assert sorted(len(f) for f in shape.hull.faces) == [3, 3, 3, 3, 4]
    assert scene.warnings == () and scene.links[0].unbuilt == ()


def test_meshes_of_the_world_and_of_models(tmp_path):
    (tmp_path / "m.obj").write_text(obj(UNIT_BOX, BOX_FACES))
    text = """sapsim: 1
time_step: 0.001
steps: 1
materials: {ice: {friction: 0}}
models:
  two:
    links:
      a:
        inertial: {density: 1000}
        collision:
          - {mesh: {file: m.obj}, pose: {xyz: [1, 0, 0], rpy_deg: [0, 0, 90]}, material: ice, name: block}
          - {sphere: 1.0, pose: {xyz: [0, 0, 9]}}
instances: {two: {model: two, base: floating}}
world: {collision: [{plane: {}}, {mesh: {file: m.obj, scale: 2}}]}
"""
    scene = load(write(tmp_path, text, "scene.yaml"))
    block, ball = scene.links[0].shapes
    assert (block.name, block.material_name, ball.kind) == ("block", "ice", "sphere")
    np.testing.assert_allclose(np.sort(placed(block), axis=0)[[0, -1]], [[0, 0, 0], [1, 1, 1]], atol=1e-15)
    volume_of_ball = 4.0 / 3.0 * np.pi
    assert scene.links[0].inertial.mass == pytest.approx(1000.0 * (1.0 + volume_of_ball), rel=1e-12)
    com = (np.array([0.5, 0.5, 0.5]) + volume_of_ball * np.array([0, 0, 9])) / (1.0 + volume_of_ball)
    np.testing.assert_allclose(scene.links[0].inertial.com, com, rtol=1e-12)
    plane, large = scene.world_shapes
    assert (plane.kind, large.kind, large.name) == ("plane", "convex", "world/1")
    np.testing.assert_allclose(placed(large), 2.0 * UNIT_BOX, atol=1e-15)


def test_bodies_of_one_mesh_are_alike(tmp_path):
    mass = "density: 1000\n    repeat: {count: [2, 1, 2], spacing: [1, 0, 1]}"
    scene = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES[:-1]), mass=mass)
    assert [link.shapes[0].name for link in scene.links] == ["b/0/0/0/0", "b/0/0/1/0", "b/1/0/0/0", "b/1/0/1/0"]
    assert len({id(link.shapes[0].hull) for link in scene.links}) == 1 and len(scene.warnings) == 1


def test_the_resolved_scene_tells_meshes_apart(tmp_path):
    one = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES)).resolved
    assert one == body_of(tmp_path, obj(PYRAMID[::-1], 4 - PYRAMID_FACES)).resolved  # the same in another order
    assert one != body_of(tmp_path, obj(PYRAMID * [1, 1, 1.0001], PYRAMID_FACES), mass="mass: 1").resolved
    hull = next(line for line in one.splitlines() if "sha256" in line)
    assert "hull: {vertices: 5, faces: 5, sha256: " in hull and "mesh" not in hull


def test_a_hull_that_fills_a_corner_is_told(tmp_path):
    scene = body_of(tmp_path, stl(L_SHAPE, L_FACES), "{file: m.stl}", name="m.stl")
    ((code, text),) = warnings_of(scene)
    assert (
        code == "concave-mesh" and "adds 0.5 m^3, 16.7 % of its volume" in text and "decompose" in scene.warnings[0].suggestion
    )
    (shape,) = scene.links[0].shapes
    assert volume(shape.hull.vertices, shape.hull.triangles) == pytest.approx(HULL_VOLUME, rel=1e-12)
    assert scene.links[0].inertial.mass == pytest.approx(3000.0, rel=1e-12)  # of the mesh, not of its hull


def test_a_hull_over_an_open_bowl_is_told(tmp_path):
    """A box without its lid, with given mass properties: only its points can say that it is hollow."""
    faces = [f for f in BOX_FACES.tolist() if f not in ([1, 5, 7], [1, 7, 3])]
    floor = np.array([[0.5, 0.5, 0.25]])  # a dent in the bottom, 0.25 m deep
    (tmp_path / "m.obj").write_text(obj(np.concatenate([UNIT_BOX, floor]), [*faces, [0, 2, 8], [2, 6, 8]]))
    text = """sapsim: 1
time_step: 0.001
steps: 1
world: {collision: [{mesh: {file: m.obj}}]}
"""
    ((code, said),) = warnings_of(load(write(tmp_path, text, "scene.yaml")))
    assert code == "concave-mesh" and "up to 0.25 m deep" in said


def test_a_hull_of_too_many_corners_is_told(tmp_path):
    hull = convex_hull(sphere_points(400))
    scene = body_of(tmp_path, obj(hull.vertices, hull.triangles))
    ((code, text),) = warnings_of(scene)
    less = scene.links[0].shapes[0].hull
    own = volume(hull.vertices, hull.triangles)
    lost = own - volume(less.vertices, less.triangles)
    assert code == "reduced-hull" and "has 400 corners, of which 256 are kept" in text
    assert f"takes {lost:.3g} m^3 off, {100 * lost / own:.2g} %" in text and len(less.vertices) == 256
    assert scene.links[0].inertial.mass == pytest.approx(1000.0 * own, rel=1e-9)


@pytest.mark.parametrize("away", [0.0, 5.0])
def test_faces_of_a_turned_box_in_float32_are_faces(tmp_path, away):
    """As STL has them: the corners of a face are not in a plane."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        corners = (UNIT_BOX @ rotation(rng) + away).astype(np.float32).astype(float)
        (shape,) = body_of(tmp_path, stl(corners, BOX_FACES), "{file: m.stl}", name="m.stl").links[0].shapes
        assert [len(f) for f in shape.hull.faces] == [4] * 6


def test_an_override_scales_a_mesh(tmp_path):
    for override, mass in (("scale=2", 8.0), ("scale=[1, 1, 3]", 3.0), ("scale.2=5", 5.0)):
        mesh = "{file: m.obj, scale: [1, 1, 1]}"
        scene = body_of(tmp_path, obj(UNIT_BOX, BOX_FACES), mesh, "density: 1", overrides=[f"bodies.b.mesh.{override}"])
        assert scene.links[0].inertial.mass == pytest.approx(mass, rel=1e-12)


# Robots.


def robot(geometry):
    base = f'<link name="base">{INERTIAL}</link>'
    shape = f'<collision><origin xyz="0 0 1"/><geometry>{geometry}</geometry></collision>'
    return changed((base, base.replace("</link>", shape + "</link>")))


SCENE = """sapsim: 1
time_step: 0.001
steps: 1
models: {arm: {urdf: arm.urdf}}
instances: {arm: {model: arm, base: fixed}}
"""


def robot_scene(folder, text=SCENE, geometry='<mesh filename="l.obj" scale="1 1 -1"/>', **options):
    write(folder, robot(geometry))
    write(folder, obj(L_SHAPE, L_FACES), "l.obj")
    return load(write(folder, text, "scene.yaml"), **options)


def test_a_mesh_of_a_urdf(tmp_path):
    scene = robot_scene(tmp_path)
    (shape,) = scene.links[0].shapes
    assert (shape.name, shape.kind) == ("arm/base/0", "convex") and [c for c, _ in warnings_of(scene)].count(
        "concave-mesh"
    ) == 1
    np.testing.assert_allclose(np.sort(placed(shape), axis=0)[[0, -1]], [[0, 0, 0], [2, 2, 1]], atol=1e-15)


@pytest.mark.parametrize("place", ["models", "instances"])
def test_an_overlay_chooses_how_a_mesh_collides(tmp_path, place):
    overlay = "links: {base: {meshes: decompose}}"
    old, new = ("{urdf: arm.urdf}", f"{{urdf: arm.urdf, {overlay}}}")
    if place == "instances":
        old, new = ("base: fixed}", f"base: fixed, {overlay}}}")
    scene = robot_scene(tmp_path, SCENE.replace(old, new))
    shapes = scene.links[0].shapes
    assert len(shapes) == 2 and [s.name for s in shapes] == ["arm/base/0/part0", "arm/base/0/part1"]
    assert "concave-mesh" not in [code for code, _ in warnings_of(scene)]


def test_an_unknown_way_to_collide(tmp_path):
    (error,) = errors_of(tmp_path, obj(PYRAMID, PYRAMID_FACES), "{file: m.obj, as: hul}")
    assert error.path == "bodies.b.mesh.as" and "hull, decompose, surface" in error.message and '"hull"' in error.suggestion


@pytest.mark.parametrize("scale", ["0", "[1, 0, 1]"])
def test_a_scale_of_zero(tmp_path, scale):
    (error,) = errors_of(tmp_path, obj(PYRAMID, PYRAMID_FACES), f"{{file: m.obj, scale: {scale}}}")
    assert error.code == "out-of-range" and error.path == "bodies.b.mesh.scale"


@pytest.mark.parametrize(
    "file, words, hint",
    [
        ("n.obj", "does not exist", 'did you mean "m.obj"?'),
        ("../m.obj", "outside of what may be read", "--allow"),
        ("package://pkg/m.obj", 'package "pkg" is not known', "--package NAME=DIR"),
        ("scene.yaml", 'suffix ".yaml" are no meshes; supported: .obj', "convert it"),
    ],
)
def test_files_that_are_no_meshes(tmp_path, file, words, hint):
    (error,) = errors_of(tmp_path, obj(PYRAMID, PYRAMID_FACES), f"{{file: {file}}}")
    assert words in error.message and hint in error.suggestion and error.path == "bodies.b.mesh.file"


def test_a_mesh_of_a_package(tmp_path):
    write(tmp_path, obj(PYRAMID, PYRAMID_FACES), "pkg/m.obj")
    scene = body_of(tmp_path, "", "{file: package://pkg/m.obj}", packages={"pkg": tmp_path / "pkg"})
    assert len(scene.links[0].shapes[0].hull.vertices) == 5


def test_what_does_not_collide_is_not_read(tmp_path):
    scene = robot_scene(tmp_path, SCENE.replace("base: fixed", "base: fixed, collision: false"), '<mesh filename="gone.obj"/>')
    assert [w.code for w in scene.warnings] == ["not-enforced"] and scene.links[0].shapes == ()
    assert robot_scene(tmp_path, SCENE.replace("base: fixed", "base: fixed, links: {base: {collision_off: true}}")).links


def test_a_surface_has_the_triangles_of_its_mesh_about_the_middle_of_its_box(tmp_path):
    scene = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES), "{file: m.obj, as: surface}")
    (shape,) = scene.links[0].shapes
    assert (shape.name, shape.kind, shape.params, shape.hull) == ("b/0", "surface", (), None)
    np.testing.assert_allclose(shape.X_LG.p, (0, 0, 0.2), atol=1e-16)
    mesh = shape.surface
    np.testing.assert_allclose(sorted(map(tuple, mesh.vertices + shape.X_LG.p)), sorted(map(tuple, PYRAMID)), atol=1e-16)
    assert volume(mesh.vertices, mesh.triangles) == pytest.approx(16.0e-3 / 3.0)  # turned as in the file
    assert scene.links[0].inertial.com == pytest.approx((0, 0, 0.1))
    (warning,) = scene.warnings
    assert warning.code == "moving-surface" and 'surface "b/0" moves' in warning.message and warning.line == 6


def test_a_surface_that_is_closed_and_turned_inwards_is_a_hall(tmp_path):
    (tmp_path / "m.obj").write_text(obj(PYRAMID, np.array(PYRAMID_FACES)[:, ::-1]))
    text = "sapsim: 1\ntime_step: 0.001\nsteps: 1\nworld: {collision: [{mesh: {file: m.obj, as: surface}}]}\n"
    scene = load(write(tmp_path, text, "scene.yaml"))
    assert scene.warnings == ()
    mesh = scene.world_shapes[0].surface
    assert volume(mesh.vertices, mesh.triangles) == pytest.approx(-16.0e-3 / 3.0)


def test_triangles_of_a_surface_that_are_turned_against_each_other_are_told(tmp_path):
    faces = np.array(PYRAMID_FACES)[1:]  # open
    faces[-1] = faces[-1][::-1]
    found = body_of(tmp_path, obj(PYRAMID, faces), "{file: m.obj, as: surface}").warnings
    (warning,) = [w for w in found if w.code == "mesh-turned"]
    assert "3 sides of triangles that are turned against each other" in warning.message and warning.line == 6


def test_a_surface_in_millimetres_is_told(tmp_path):
    found = body_of(tmp_path, obj(8000.0 * np.array(PYRAMID), PYRAMID_FACES), "{file: m.obj, as: surface}").warnings
    assert "probable-unit" in [w.code for w in found]


def test_without_geometry_meshes_are_named_and_not_read(tmp_path):
    write(tmp_path, robot('<mesh filename="l.obj"/>'))
    write(tmp_path, "no mesh", "l.obj")
    scene = load_model(tmp_path / "arm.urdf")
    assert [s.name for s in scene.links[0].unbuilt] == ["base/0"]
    assert "unusable-shape" not in [w.code for w in scene.warnings]
    scene = load(write(tmp_path, SCENE, "scene.yaml"), geometry=False)
    assert [s.kind for s in scene.links[0].unbuilt] == ["convex"] and scene.links[0].shapes == ()


def test_an_estimate_takes_the_volume_of_a_mesh(tmp_path):
    inertia = '<inertia ixx=".02" ixy="0" ixz="0" iyy=".02" iyz="0" izz=".01"/>'
    text = robot('<mesh filename="l.obj"/>').replace(inertia, '<inertia ixx="9" iyy="1" izz="1"/>')
    write(tmp_path, obj(UNIT_BOX, BOX_FACES), "l.obj")
    scene = load_model(write(tmp_path, text), base="floating", inertia="estimate")
    own = scene.links[0].inertial
    np.testing.assert_allclose(own.inertia, own.mass / 6.0 * np.eye(3), rtol=1e-12, atol=1e-15)


def test_the_geoms_of_an_mjcf(tmp_path):
    pyramid = '<asset><mesh name="m" file="m.obj" scale="1 1 2"/></asset>'
    body = '<body name="b" pos="0 0 1"><freejoint/><geom name="g" type="mesh" mesh="m" pos="1 0 0" friction=".3"/></body>'
    write(tmp_path, f"<mujoco>{pyramid}<worldbody>{body}</worldbody></mujoco>", "m.xml")
    write(tmp_path, obj(PYRAMID, PYRAMID_FACES), "m.obj")
    text = "sapsim: 1\ntime_step: 0.001\nsteps: 1\nmodels: {m: {mjcf: m.xml}}\ninstances: {m: {model: m}}\n"
    (shape,) = load(write(tmp_path, text, "scene.yaml")).links[0].shapes
    assert (shape.name, shape.kind, shape.material.friction) == ("g", "convex", 0.3)
    found = placed(shape)
    expected = PYRAMID * [1, 1, 2] + [1, 0, 0]
    distance = np.linalg.norm(found[:, None] - expected, axis=2)
    assert len(found) == 5 and distance.min(axis=1).max() < 1e-7  # MuJoCo keeps corners in float32
    overlay = text.replace("{model: m}", "{model: m, links: {b: {meshes: decompose}}}")
    assert len(load(write(tmp_path, overlay, "scene.yaml")).links[0].shapes) == 1
