"""Where files of a URDF come from: `package://`, the folders that a scene may read, shapes that cannot be used."""

import os

import pytest
from urdf_files import INERTIAL, SCENE, changed, codes, errors_of, model_of, scene_of, write

from sapsim.scene.read import load, load_model

BASE = f'<link name="base">{INERTIAL}</link>'


def with_shape(geometry):
    return changed((BASE, BASE.replace("</link>", f"<collision><geometry>{geometry}</geometry></collision></link>")))


def with_mesh(address):
    return with_shape(f'<mesh filename="{address}"/>')


@pytest.fixture
def tree(tmp_path):
    """root/a/meshes/m.stl, and root/b/urdf/r.urdf that refers to it; no ROS around."""
    write(tmp_path, "solid", "root/a/meshes/m.stl")
    return write(tmp_path, with_mesh("package://a/meshes/m.stl"), "root/b/urdf/r.urdf")


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def reasons(scene):
    """Why shapes that are only named cannot be used, "" for those that could be."""
    return [shape.reason for link in scene.links for shape in link.unbuilt]


def test_a_bare_file_finds_packages_among_its_ancestors_from_anywhere(tree, monkeypatch):
    root = tree.parents[2]
    for folder in ("/", str(root), str(root / "b")):
        monkeypatch.chdir(folder)
        for path in (tree, os.path.relpath(tree)):
            scene = load_model(path)
            assert reasons(scene) == [""] and codes(scene.warnings) == []


def test_a_missing_package_names_every_folder_that_was_tried(tree, monkeypatch, tmp_path):
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/opt/one{os.pathsep}/opt/two")
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/opt/three")
    tree.write_text(with_mesh("package://c/m.stl"))
    (reason,) = reasons(load_model(tree))
    assert 'package "c" was not found' in reason
    for folder in ("/opt/one/c", "/opt/two/c", "/opt/three/share/c", tmp_path / "root/b/urdf/c", tmp_path / "root/c", "/c"):
        assert str(folder) in reason


@pytest.mark.parametrize("variable, place", [("ROS_PACKAGE_PATH", ""), ("ROS_PACKAGE_PATH", "c"), ("AMENT_PREFIX_PATH", "")])
def test_the_environment_is_searched(tree, monkeypatch, tmp_path, variable, place):
    inside = "share/c" if variable.startswith("AMENT") else "c"
    write(tmp_path, "solid", f"elsewhere/{inside}/m.stl")
    tree.write_text(with_mesh("package://c/m.stl"))
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere" / place))
    assert reasons(load_model(tree)) == [""]


def test_a_named_package_comes_first(tree, tmp_path):
    (tmp_path / "mine").mkdir()
    (reason,) = reasons(load_model(tree, packages={"a": tmp_path / "mine"}))
    assert reason == ""  # found among the ancestors: the named folder has no such file
    tree.write_text(with_mesh("package://a/other.stl"))
    (reason,) = reasons(load_model(tree, packages={"a": tmp_path / "mine"}))
    assert str(tmp_path / "mine" / "other.stl") in reason


@pytest.mark.parametrize(
    "address, words",
    [("m.stl", "does not exist"), ("file:///none/m.stl", "does not exist"), ("http://x/m.stl", "not supported")],
)
def test_other_addresses(tmp_path, address, words):
    scene = model_of(tmp_path, with_mesh(address))
    assert words in reasons(scene)[0] and address in reasons(scene)[0]
    assert codes(scene.warnings) == ["unusable-shape"]


def test_names_that_no_file_can_have(tmp_path):
    long = "x" * 5000
    for address in (long, f"package://{long}/m.stl", f"file:///{long}"):
        assert len(reasons(model_of(tmp_path, with_mesh(address)))) == 1
    for path in (f'"{long}"', r'"a\0b"', f'"package://{long}/a"'):
        (error,) = errors_of(scene_of, tmp_path, SCENE.replace("arm.urdf", path))
        assert error.code in ("missing-file", "not-allowed") and error.line == 4


def test_a_mesh_beside_the_file(tmp_path):
    write(tmp_path, "solid", "meshes/m.stl")
    for address in ("meshes/m.stl", f"file://{tmp_path}/meshes/m.stl"):
        assert reasons(model_of(tmp_path, with_mesh(address))) == [""]


UNUSABLE = with_shape('<mesh filename="gone.stl"/>')


def test_an_unusable_shape_is_an_error_of_a_run_and_a_warning_without_geometry(tmp_path):
    (error,) = errors_of(scene_of, tmp_path, text=UNUSABLE)
    assert error.code == "unusable-shape" and "gone.stl" in error.message and "arm/base" in error.message
    assert "collision_off" in error.suggestion and error.line == 4
    scene = load(tmp_path / "scene.yaml", geometry=False)
    assert sorted(codes(scene.warnings)) == ["not-enforced", "unusable-shape"]
    assert [s.name for s in scene.links[0].unbuilt] == ["arm/base/0"] and scene.links[0].shapes == ()


@pytest.mark.parametrize("more", ["collision: false", "links: {base: {collision_off: true}}"])
def test_a_shape_that_is_not_wanted_need_not_be_usable(tmp_path, more):
    scene = scene_of(tmp_path, SCENE.replace("base: fixed", f"base: fixed, {more}"), UNUSABLE)
    assert codes(scene.warnings) == ["not-enforced"]


def test_shapes_count_by_their_place_in_the_link(tmp_path):
    geometry = '<mesh filename="gone.stl"/></geometry></collision><collision name="{}"><geometry><sphere radius="1"/>'
    text = with_shape(geometry.format("ball"))
    (link, _) = scene_of(tmp_path, SCENE, text, geometry=False).links
    assert [s.name for s in link.shapes] == ["ball"]
    (link, _) = scene_of(tmp_path, SCENE, with_shape(geometry.format("")), geometry=False).links
    assert [s.name for s in link.shapes] == ["arm/base/1"] and [s.name for s in link.unbuilt] == ["arm/base/0"]


def test_primitives_of_a_scene_are_built(tmp_path):
    text = with_shape('<box size="1 2 3"/></geometry><origin xyz="0 0 1" rpy="0 0 1"/></collision><collision><geometry>'
                      '<sphere radius="0.5"/>')  # fmt: skip
    (box, ball) = scene_of(tmp_path, text=text).links[0].shapes
    assert (box.kind, box.params, box.X_LG.p, box.name) == ("box", (1.0, 2.0, 3.0), (0.0, 0.0, 1.0), "arm/base/0")
    assert (ball.kind, ball.params) == ("sphere", (0.5,)) and ball.material.friction == 0.5


# What a scene may read.


def test_a_scene_reads_only_below_its_own_folder(tmp_path):
    path = write(tmp_path, SCENE.replace("arm.urdf", "../arm.urdf"), "scenes/scene.yaml")
    write(tmp_path, changed())
    (error,) = errors_of(load, path)
    assert error.code == "not-allowed" and error.line == 4 and "--allow" in error.suggestion
    assert len(load(path, allow=[tmp_path]).links) == 2
    absolute = write(tmp_path, SCENE.replace("arm.urdf", str(tmp_path / "arm.urdf")), "scenes/scene.yaml")
    assert codes(errors_of(load, absolute)) == ["not-allowed"]


def test_a_link_out_of_the_folder_is_followed(tmp_path):
    write(tmp_path, changed())
    path = write(tmp_path, SCENE, "scenes/scene.yaml")
    (tmp_path / "scenes" / "arm.urdf").symlink_to(tmp_path / "arm.urdf")
    assert codes(errors_of(load, path)) == ["not-allowed"]


def test_packages_of_a_scene(tmp_path):
    write(tmp_path, with_mesh("package://my/m.stl"), "scenes/arm.urdf")
    write(tmp_path, "solid", "scenes/robots/m.stl")
    write(tmp_path, "solid", "outside/m.stl")
    head = SCENE.replace("instances: {arm: {", "instances: {arm: {collision: false, ")
    path = write(tmp_path, head.replace("arm.urdf", "arm.urdf, packages: {my: robots}"), "scenes/scene.yaml")
    assert reasons(load(path)) == [""]
    path = write(tmp_path, head.replace("arm.urdf", "arm.urdf, packages: {my: ../outside}"), "scenes/scene.yaml")
    (error,) = errors_of(load, path)
    assert error.code == "not-allowed" and error.path == "models.arm.packages.my" and "--package my=" in error.suggestion
    path = write(tmp_path, head.replace("arm.urdf", "arm.urdf, packages: {my: nowhere}"), "scenes/scene.yaml")
    assert codes(errors_of(load, path)) == ["missing-file"]
    path = write(tmp_path, head, "scenes/scene.yaml")
    assert 'package "my" is not known' in reasons(load(path))[0]  # a scene searches neither environment nor ancestors
    assert reasons(load(path, packages={"my": tmp_path / "outside"})) == [""]


def test_a_package_cannot_be_left(tmp_path):
    write(tmp_path, "solid", "secret.stl")
    (tmp_path / "scenes" / "my").mkdir(parents=True)
    write(tmp_path, with_mesh("package://my/../../secret.stl"), "scenes/arm.urdf")
    scene = SCENE.replace("arm.urdf", "arm.urdf, packages: {my: my}").replace("arm: {model", "arm: {collision: false, model")
    assert "outside of what may be read" in reasons(load(write(tmp_path, scene, "scenes/scene.yaml")))[0]


def test_the_urdf_itself_may_come_from_a_package(tmp_path):
    write(tmp_path, changed(), "pkg/urdf/arm.urdf")
    scene = write(tmp_path, SCENE.replace("arm.urdf", "package://pkg/urdf/arm.urdf"), "scenes/scene.yaml")
    assert len(load(scene, packages={"pkg": tmp_path / "pkg"}).links) == 2
    assert codes(errors_of(load, scene)) == ["missing-file"]


@pytest.mark.parametrize("options", [{"allow": ["nowhere"]}, {"packages": {"a": "nowhere"}}])
def test_folders_of_the_command_line_must_exist(tmp_path, options):
    (error,) = errors_of(scene_of, tmp_path, **options)
    assert error.code == "missing-file" and "nowhere" in error.file


def test_a_missing_urdf_has_the_place_that_names_it(tmp_path):
    (error,) = errors_of(scene_of, tmp_path, SCENE.replace("arm.urdf", "arn.urdf"))
    assert (error.code, error.line, error.file) == ("missing-file", 4, str(tmp_path / "scene.yaml"))
    assert 'did you mean "arm.urdf"?' in error.suggestion


def test_faults_of_the_urdf_and_of_the_scene_come_together(tmp_path):
    errors = errors_of(scene_of, tmp_path, SCENE.replace("steps: 100", "steps: 0"), changed(('xyz="0 0 0.5"', 'xyz="0 0"')))
    assert [(os.path.basename(e.file), e.line) for e in errors] == [("arm.urdf", 11), ("scene.yaml", 3)]


def test_a_model_that_cannot_be_read_leaves_its_names_open(tmp_path):
    scene = SCENE + "forces: {f: {link: arm/l1, force: [0, 0, 1]}}\nfilter: [[arm/l1, world]]\n"
    errors = errors_of(scene_of, tmp_path, scene, "<robot")
    assert codes(errors) == ["xml-syntax"]


@pytest.mark.parametrize(
    "model, code",
    [
        ("{urdf: arm.urdf, inertia: fix}", ""),
        ("{urdf: arm.urdf, inertia: estimate}", ""),
        ("{urdf: arm.urdf, inertia: error}", ""),
        ("{urdf: arm.urdf, inertia: guess}", "unknown-value"),
        ("{urdf: arm.urdf, mjcf: a.xml}", "exclusive-keys"),
        ("{urdf: 3}", "wrong-type"),
        ("{urdf: arm.urdf, packages: [a]}", "wrong-type"),
        ("{urfd: arm.urdf}", "unknown-key"),
        ("{}", "missing-key"),
    ],
)
def test_keys_of_a_model_in_a_file(tmp_path, model, code):
    scene = SCENE.replace("{urdf: arm.urdf}", model)
    if code:
        assert code in codes(errors_of(scene_of, tmp_path, scene))
    else:
        assert len(scene_of(tmp_path, scene).links) == 2
