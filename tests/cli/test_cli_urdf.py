"""Robots on the command line: `info` of a URDF, scenes that name one, --package, --allow, and what is not enforced."""

import pytest
from sapsim_process import sapsim

LINK = '<inertial><mass value="2"/><inertia ixx=".02" iyy=".02" izz=".01"/></inertial>'
ARM = f"""<robot name="arm1">
  <link name="base">{LINK}</link>
  <link name="l1">{LINK}</link>
  <link name="tool"><collision><geometry><mesh filename="package://a/m.stl"/></geometry></collision></link>
  <joint name="j1" type="revolute">
    <parent link="base"/><child link="l1"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="3"/>
  </joint>
  <joint name="t" type="fixed"><parent link="l1"/><child link="tool"/></joint>
</robot>
"""
SCENE = """sapsim: 1
time_step: 0.001
steps: 3
models: {arm: {urdf: ../arm.urdf, collision: false}}
instances: {arm: {model: arm, base: fixed}}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "scenes").mkdir()
    (tmp_path / "scenes" / "arm.yaml").write_text(SCENE)
    return tmp_path


@pytest.mark.parametrize("base, nq, nv", [("fixed", 1, 1), ("floating", 8, 7), (None, 1, 1)])
def test_info_of_a_model(folder, base, nq, nv):
    done = sapsim(folder, "info", "arm.urdf", "--json", *(["--base", base] if base else []))
    found = done.json
    assert done.code == 0 and found["kind"] == "model" and found["base"] == (base or "fixed") and found["name"] == "arm1"
    assert [found[n] for n in ("nbody", "njoint", "nq", "nv", "nshape", "mass")] == [3, 3, nq, nv, 1, 4.0]
    assert found["bodies"] == [
        {"name": "base", "mass": 2.0, "parent": "world"},
        {"name": "l1", "mass": 2.0, "parent": "base"},
        {"name": "tool", "mass": 0.0, "parent": "l1"},
    ]
    assert {"name": "j1", "type": "revolute", "nq": 1, "nv": 1, "lower": -1.0, "upper": 1.0} in found["joints"]
    assert {"name": "t", "type": "fixed", "nq": 0, "nv": 0, "lower": None, "upper": None} in found["joints"]
    assert found["memory_bytes"] > 0 and [w["code"] for w in found["warnings"]] == ["unusable-shape"]
    assert 'package "a" was not found' in found["warnings"][0]["message"]


def test_info_finds_a_package_that_is_named(folder):
    (folder / "pkg").mkdir()
    (folder / "pkg" / "m.stl").write_text("solid")
    plain = sapsim(folder, "info", "arm.urdf", "--package", "a=pkg")
    assert plain.code == 0 and "base: fixed" in plain.out and "was not found" not in plain.err


def test_bad_use_of_info(folder):
    assert sapsim(folder, "info", "arm.urdf", "--base", "flying").code == 2
    assert sapsim(folder, "info", "scenes/arm.yaml", "--base", "fixed").code == 2
    done = sapsim(folder, "run", "arm.urdf")
    assert done.code == 2 and "a model, not a scene" in done.err


def test_a_scene_needs_leave_to_read_elsewhere(folder):
    done = sapsim(folder, "check", "scenes/arm.yaml", "--json")
    assert done.code == 2 and [e["code"] for e in done.json["errors"]] == ["not-allowed"]
    assert sapsim(folder, "check", "scenes/arm.yaml", "--allow", ".").code == 0


def test_a_run_warns_of_what_is_not_enforced(folder):
    command = ["run", "scenes/arm.yaml", "--allow", ".", "--json", "--quiet", "--overwrite"]
    done = sapsim(folder, *command)
    assert done.code == 0 and [w["code"] for w in done.json["warnings"]] == ["not-enforced"]
    assert done.json["warnings"][0]["line"] == 5
    assert sapsim(folder, *command, "--strict").code == 3


def test_a_shape_that_cannot_be_used_stops_a_run_and_not_a_check_without_geometry(folder):
    scene = folder / "scenes" / "arm.yaml"
    scene.write_text(SCENE.replace(", collision: false", ""))
    done = sapsim(folder, "run", "scenes/arm.yaml", "--allow", ".", "--json")
    assert done.code == 2 and [e["code"] for e in done.json["errors"]] == ["unusable-shape"]
    assert sapsim(folder, "check", "scenes/arm.yaml", "--allow", ".").code == 2
    done = sapsim(folder, "check", "scenes/arm.yaml", "--allow", ".", "--no-geometry", "--json")
    assert done.code == 0 and "unusable-shape" in [w["code"] for w in done.json["warnings"]]
    assert sapsim(folder, "info", "scenes/arm.yaml", "--allow", ".", "--json").json["nshape"] == 1
