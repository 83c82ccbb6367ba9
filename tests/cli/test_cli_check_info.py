"""`sapsim check` and `sapsim info`: what they print, and their exit codes."""

import json
import os

import pytest
from sapsim_process import BALL, sapsim, write_scene

TWO_FAULTS = BALL.replace("mass: 1.0", "mass: -1.0").replace("bodies:", "bodeis: {}\nbodies:")
ARM = """\
sapsim: 1
time_step: 0.001
steps: 10
models:
  arm:
    links:
      base: {inertial: {mass: 2.0, inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}}
      tip: {inertial: {mass: 0.5, inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}, collision: [{sphere: 0.1}]}
    joints:
      elbow: {type: revolute, parent: base, child: tip}
instances:
  arm: {model: arm, base: floating}
"""


def test_a_good_scene(tmp_path):
    done = sapsim(tmp_path, "check", write_scene(tmp_path), "--json")
    assert done.code == 0 and done.json == {"ok": True, "errors": [], "warnings": []}
    plain = sapsim(tmp_path, "check", "ball.yaml")
    assert plain.code == 0 and "0 errors" in plain.out and plain.err == ""
    assert os.listdir(tmp_path) == ["ball.yaml"]


def test_every_fault_has_its_place(tmp_path):
    done = sapsim(tmp_path, "check", write_scene(tmp_path, TWO_FAULTS), "--json")
    assert done.code == 2 and not done.json["ok"]
    assert [(e["line"], e["path"]) for e in done.json["errors"]] == [(4, "bodeis"), (6, "bodies.ball.mass")]
    plain = sapsim(tmp_path, "check", "ball.yaml")
    assert plain.code == 2 and "ball.yaml:4" in plain.err and "ball.yaml:6" in plain.err and "2 errors" in plain.err
    assert "bodies" in done.json["errors"][0]["suggestion"]


@pytest.mark.parametrize("command", ["run", "info"])
def test_other_commands_print_the_same_object(tmp_path, command):
    scene = write_scene(tmp_path, TWO_FAULTS)
    expected = sapsim(tmp_path, "check", scene, "--json").json
    done = sapsim(tmp_path, command, scene, "--json")
    assert done.code == 2 and done.json == expected


def test_strict(tmp_path):
    scene = write_scene(tmp_path, BALL.replace("steps: 200", "duration: 0.0505"))
    assert sapsim(tmp_path, "check", scene, "--json").code == 0
    done = sapsim(tmp_path, "check", scene, "--strict", "--json")
    assert done.code == 3 and not done.json["ok"] and done.json["errors"] == [] and len(done.json["warnings"]) == 1


def test_no_geometry(tmp_path):
    assert sapsim(tmp_path, "check", write_scene(tmp_path), "--no-geometry").code == 0


def test_info_of_a_scene(tmp_path):
    done = sapsim(tmp_path, "info", write_scene(tmp_path, ARM), "--json")
    found = done.json
    assert done.code == 0 and found["kind"] == "scene" and found["mass"] == 2.5 and found["memory_bytes"] > 0
    assert [found[n] for n in ("nbody", "njoint", "nq", "nv", "nshape")] == [2, 2, 8, 7, 1]
    assert found["bodies"] == [
        {"name": "arm/base", "mass": 2.0, "parent": "world"},
        {"name": "arm/tip", "mass": 0.5, "parent": "arm/base"},
    ]
    assert {"name": "arm/elbow", "type": "revolute", "nq": 1, "nv": 1, "lower": None, "upper": None} in found["joints"]
    plain = sapsim(tmp_path, "info", "ball.yaml")
    assert plain.code == 0 and "name=arm/elbow" in plain.out


def test_info_of_a_result(tmp_path):
    sapsim(tmp_path, "run", write_scene(tmp_path), "--quiet", "--worlds", "2")
    found = sapsim(tmp_path, "info", "ball.h5", "--json").json
    assert found["kind"] == "result" and found["status"] == "complete" and found["rows"] == 201 and found["worlds"] == 2
    assert found["time_step"] == 0.001 and found["unconverged_rows"] == 0 and found["contacts"] > 0
    plain = sapsim(tmp_path, "info", "ball.h5")
    assert plain.code == 0 and "rows: 201" in plain.out


def test_info_of_the_machine(tmp_path):
    found = sapsim(tmp_path, "info", "--json").json
    assert found["kind"] == "machine" and "cpu" in [device["name"] for device in found["devices"]]


@pytest.mark.parametrize(
    "name, text",
    [
        ("arm.urdf", "no XML"),
        ("arm.mjcf", "not supported"),
        ("arm.xml", "no XML"),
        ("missing.yaml", "no such file"),
        ("junk.h5", "not supported"),
    ],
)
def test_info_of_other_files(tmp_path, name, text):
    if name != "missing.yaml":
        (tmp_path / name).write_text("hello")
    done = sapsim(tmp_path, "info", name, "--json")
    assert done.code == 2 and text in json.dumps(done.json["errors"])
