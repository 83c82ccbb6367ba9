"""Mass properties of meshes: closed forms, trimesh's, and what is done where they bound no volume (B10, B23, B25)."""

import numpy as np
import pytest
import trimesh
from mesh_files import (
    BOX_FACES,
    L_FACES,
    L_SHAPE,
    PYRAMID,
    PYRAMID_FACES,
    PYRAMID_VOLUME,
    UNIT_BOX,
    body_of,
    errors_of,
    obj,
    stl,
    warnings_of,
)

from sapsim.scene.inertials import from_shapes
from sapsim.scene.mesh_file import MeshError
from sapsim.scene.triangles import CLOSED, OPEN, TURNED, clean, solid, volume

pytestmark = pytest.mark.usefixtures("cache")
MOMENTS = np.diag([0.008, 0.008, 0.004])  # of the pyramid, per unit mass


def is_pyramid(inertial):
    assert inertial.mass == pytest.approx(1000.0 * PYRAMID_VOLUME, rel=1e-12)
    np.testing.assert_allclose(inertial.com, (0, 0, 0.1), atol=1e-15)
    np.testing.assert_allclose(np.asarray(inertial.inertia) / inertial.mass, MOMENTS, rtol=1e-12, atol=1e-17)


@pytest.mark.parametrize("write, name", [(obj, "m.obj"), (stl, "m.stl")])
def test_b23_a_pyramid(tmp_path, write, name):
    scene = body_of(tmp_path, write(PYRAMID, PYRAMID_FACES), f"{{file: {name}}}", name=name)
    is_pyramid(scene.links[0].inertial)
    assert scene.warnings == ()


def test_a_given_mass_is_spread_over_the_volume(tmp_path):
    own = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES), mass="mass: 2").links[0].inertial
    assert own.mass == 2.0 and own.com[2] == pytest.approx(0.1, rel=1e-12)
    np.testing.assert_allclose(own.inertia, 2.0 * MOMENTS, rtol=1e-12, atol=1e-17)


def test_b25_an_open_pyramid_has_the_inertia_of_its_hull(tmp_path):
    scene = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES[:-1]))
    is_pyramid(scene.links[0].inertial)
    ((code, text),) = warnings_of(scene)
    raw = volume(PYRAMID, PYRAMID_FACES[:-1])
    assert code == "mesh-not-closed" and "the mesh is open" in text
    assert "its hull, 0.00533333 m^3" in text and f"add up to {raw:.6g} m^3" in text and scene.warnings[0].line == 6


def test_b25_a_reversed_pyramid_has_the_same_mass(tmp_path):
    scene = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES[:, ::-1]))
    is_pyramid(scene.links[0].inertial)
    ((code, text),) = warnings_of(scene)
    assert code == "mesh-reversed" and "turned inside out" in text


def test_one_triangle_turned_round_is_not_trusted(tmp_path):
    faces = PYRAMID_FACES.copy()
    faces[3] = faces[3][::-1]
    scene = body_of(tmp_path, obj(PYRAMID, faces))
    is_pyramid(scene.links[0].inertial)
    ((code, text),) = warnings_of(scene)
    assert code == "mesh-not-closed" and "turned against each other" in text


@pytest.mark.parametrize("scale", [[-1, 1, 1], [1, -1, -1], [-1, -1, -1], -1])
def test_a_signed_scale_mirrors_and_stays_outside_out(tmp_path, scale):
    """Of a lopsided tetrahedron, so that a mirror image is another body."""
    corners, faces = np.array([[0, 0, 0], [3.0, 0, 0], [0, 2, 0], [0.5, 0.2, 1]]), [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
    factors = np.ones(3) * scale
    scene = body_of(tmp_path, obj(corners, faces), f"{{file: m.obj, scale: {scale}}}", "density: 2")
    own = scene.links[0].inertial
    assert scene.warnings == () and own.mass == pytest.approx(2.0, rel=1e-12)
    np.testing.assert_allclose(own.com, factors * corners.mean(axis=0), rtol=1e-12)
    plain = body_of(tmp_path, obj(corners, faces), mass="density: 2").links[0].inertial
    np.testing.assert_allclose(own.inertia, np.outer(factors, factors) * plain.inertia, rtol=1e-11)


def test_scales_along_axes(tmp_path):
    own = body_of(tmp_path, obj(UNIT_BOX, BOX_FACES), "{file: m.obj, scale: [1, 2, 3]}").links[0].inertial
    assert own.mass == pytest.approx(6000.0, rel=1e-13)
    np.testing.assert_allclose(own.com, (0.5, 1.0, 1.5), rtol=1e-13)
    np.testing.assert_allclose(own.inertia, np.diag([13.0, 10.0, 5.0]) * 500.0, rtol=1e-12, atol=1e-11)


def test_b10_a_cube_in_millimetres(tmp_path):
    cube = stl(100.0 * UNIT_BOX, BOX_FACES)
    scene = body_of(tmp_path, cube, "{file: m.stl}", name="m.stl")
    assert scene.links[0].inertial.mass == pytest.approx(1e9, rel=1e-12)
    (side, weight) = scene.warnings
    assert (
        side.code == weight.code == "probable-unit" and "longest side is 100 m" in side.message and "1e+09 kg" in weight.message
    )
    assert "scale 0.001" in side.suggestion and (side.line, weight.line) == (6, 7)
    scene = body_of(tmp_path, cube, "{file: m.stl, scale: 0.001}", name="m.stl")
    own = scene.links[0].inertial
    assert scene.warnings == () and own.mass == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(own.inertia, 1.0 / 600.0 * np.eye(3), rtol=1e-12, atol=1e-18)


def test_a_tiny_mesh_is_probably_scaled_twice(tmp_path):
    scene = body_of(tmp_path, obj(UNIT_BOX, BOX_FACES), "{file: m.obj, scale: 1e-6}")
    assert [code for code, _ in warnings_of(scene)] == ["probable-unit"]


def test_mass_properties_against_trimesh():
    """Round and ragged closed meshes, away from the origin; trimesh integrates over other terms."""
    rng = np.random.default_rng(0)
    shapes = [trimesh.creation.icosphere(3), trimesh.creation.annulus(0.5, 1.0, 1.0), trimesh.creation.torus(1.0, 0.3)]
    for mesh in shapes:
        mesh.apply_transform(trimesh.transformations.random_rotation_matrix(rng.random(3)))
        vertices = mesh.vertices * [1.0, 2.0, 0.5] + rng.uniform(-3, 3, 3)
        own = solid(vertices, mesh.faces)
        theirs = trimesh.Trimesh(vertices, mesh.faces, process=False)
        assert own.mass == pytest.approx(theirs.volume, rel=1e-12)
        np.testing.assert_allclose(own.com, theirs.center_mass, rtol=1e-11)
        np.testing.assert_allclose(own.inertia, theirs.moment_inertia, rtol=1e-9, atol=1e-9 * np.max(own.inertia))
        assert clean(vertices, mesh.faces).state == CLOSED


def test_mass_properties_do_not_depend_on_where_a_body_is():
    far = solid(UNIT_BOX + 1.0e6, BOX_FACES)
    assert far.mass == 1.0
    np.testing.assert_allclose(far.inertia, np.eye(3) / 6.0, rtol=1e-12, atol=1e-17)


# What a mesh is, and what is left of it.


def test_states_of_meshes():
    assert clean(PYRAMID, PYRAMID_FACES).state == CLOSED
    assert clean(PYRAMID, PYRAMID_FACES[1:]).state == OPEN
    turned = PYRAMID_FACES.copy()
    turned[0] = turned[0][::-1]
    assert clean(PYRAMID, turned).state == TURNED
    corners = PYRAMID[PYRAMID_FACES].reshape(-1, 3)  # a triangle soup, as of STL
    soup = clean(corners, np.arange(18).reshape(-1, 3))
    assert soup.state == CLOSED and len(soup.vertices) == 5 and not soup.reversed


def test_corners_that_differ_by_a_digit_of_float32_are_one():
    rng = np.random.default_rng(5)
    corners = (UNIT_BOX + 3.0)[BOX_FACES].reshape(-1, 3)
    near = corners * (1.0 + 1.0e-7 * rng.uniform(-1, 1, corners.shape))
    mesh = clean(near, np.arange(36).reshape(-1, 3))
    assert mesh.state == CLOSED and len(mesh.vertices) == 8
    assert clean(corners + 1e-3 * rng.uniform(-1, 1, corners.shape), np.arange(36).reshape(-1, 3)).state == OPEN


def test_a_small_mesh_far_away_keeps_its_corners():
    """1 mm at 10 km, in float64: the last digit of float32 there is as large as the mesh."""
    mesh = clean(1.0e-3 * PYRAMID + 1.0e4, PYRAMID_FACES[1:])
    assert mesh.state == OPEN and len(mesh.vertices) == 5 and mesh.dropped == 0


def two_boxes(offset, scale, turned):
    inner = UNIT_BOX * scale + offset
    faces = BOX_FACES[:, ::-1] if turned else BOX_FACES
    return np.concatenate([UNIT_BOX, inner]), np.concatenate([BOX_FACES, faces + 8])


def test_a_cavity_is_left_out_and_a_reversed_part_is_not_trusted():
    cavity = clean(*two_boxes(0.25, 0.5, True))
    assert cavity.state == CLOSED and volume(cavity.vertices, cavity.faces) == pytest.approx(0.875, rel=1e-14)
    assert clean(*two_boxes(5.0, 0.5, False)).state == CLOSED
    assert clean(*two_boxes(5.0, 0.5, True)).state == TURNED


def test_overlapping_parts_do_not_count_twice(tmp_path):
    scene = body_of(tmp_path, obj(*two_boxes(0.0, 0.999, False)))
    assert scene.links[0].inertial.mass == pytest.approx(1000.0, rel=1e-12)
    assert any("overlap" in text for _, text in warnings_of(scene))


def test_triangles_without_area_are_left_out_and_noted(tmp_path):
    """One with a corner twice, and one along an edge that only it makes meet: the mesh is as closed as with it."""
    corners = np.concatenate([UNIT_BOX, [[0.0, 0.0, 0.5]]])  # within the edge 0-1
    split = [f for f in BOX_FACES.tolist() if f != [0, 1, 3]]
    faces = [*split, [0, 8, 3], [8, 1, 3], [0, 1, 8], [2, 2, 3]]
    mesh = clean(corners, np.array(faces))
    assert mesh.state == CLOSED and mesh.dropped == 2 and volume(mesh.vertices, mesh.faces) == pytest.approx(1.0, rel=1e-14)
    scene = body_of(tmp_path, obj(corners, faces))
    assert scene.links[0].inertial.mass == pytest.approx(1000.0, rel=1e-12)
    ((code, text),) = warnings_of(scene)
    assert code == "mesh-degenerate" and "2 triangles without area left out, of 15" in text


@pytest.mark.parametrize(
    "vertices, faces, words",
    [
        (PYRAMID, np.zeros((0, 3), int), "without triangles"),
        (np.where(PYRAMID == 0.4, np.nan, PYRAMID), PYRAMID_FACES, "1 of 5 corners are not finite"),
        (np.where(PYRAMID == 0.4, np.inf, PYRAMID), PYRAMID_FACES, "1 of 5 corners are not finite"),
        (1e32 * PYRAMID, PYRAMID_FACES, "at most 1e+30"),
        (0.0 * PYRAMID, PYRAMID_FACES, "without area"),
        (PYRAMID, np.array([[0, 1, 1]]), "without area"),
    ],
)
def test_meshes_of_which_nothing_is_left(vertices, faces, words):
    with pytest.raises(MeshError, match=words.replace("+", r"\+")):
        clean(vertices, faces)


@pytest.mark.parametrize("geometry", [True, False])
@pytest.mark.parametrize(
    "content, words",
    [
        (obj(PYRAMID * [1, 1, 0], PYRAMID_FACES), "points in a plane"),
        ("v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
        ("", "an empty file"),
        (" \n", "an empty file"),
        ("v 0 0 0\n", "without triangles"),
        (b"\x00\xff\xfe" * 50, "without triangles"),
    ],
)
def test_a_mesh_without_mass_is_one_error(tmp_path, content, words, geometry):
    """Where mass is to come from it, also without collision geometry."""
    (error,) = errors_of(tmp_path, content, geometry=geometry)
    assert error.code == "unusable-mesh" and words in error.message and "m.obj" in error.message
    assert (error.file, error.line, error.path) == (str(tmp_path / "scene.yaml"), 6, "bodies.b.mesh.file") and error.suggestion


def test_l_shape_is_what_its_tests_think():
    assert volume(L_SHAPE, L_FACES) == pytest.approx(3.0, rel=1e-15) and clean(L_SHAPE, L_FACES).state == CLOSED


def test_a_convex_shape_without_its_mesh_has_the_mass_of_its_hull(tmp_path):
    """As the scene has it when its meshes have been built."""
    scene = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES))
    is_pyramid(from_shapes(scene.links[0].shapes, density=1000.0))
