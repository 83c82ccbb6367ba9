"""`sapsim validate` and `sapsim schema` as commands: what they print, and their exit codes."""

import json

import pytest
from sapsim_process import ROOT, sapsim, write_scene

PENDULUM = str(ROOT / "scenes" / "double_pendulum.yaml")


def test_the_object(tmp_path):
    done = sapsim(tmp_path, "validate", PENDULUM, "--samples", "5", "--seed", "3", "--json")
    found = done.json
    assert done.code == 0 and found["passed"] is True
    assert [found[k] for k in ("nq", "nv", "nbody", "samples", "seed", "precision")] == [2, 2, 2, 5, 3, "float64"]
    assert found["plain"]["condition"] > 1.0
    for check in found["checks"]:
        assert check["passed"] is True and check["worst"] <= check["tolerance"]
        assert check["sample"] is None or 0 <= check["sample"] < 5


def test_the_lines(tmp_path):
    done = sapsim(tmp_path, "validate", PENDULUM, "--samples", "5", "--precision", "float32")
    assert done.code == 0 and "pass  rnea_crba" in done.out and "all 17 checks passed" in done.out and "condition" in done.out


def test_a_tolerance_that_cannot_be_met_exits_5(tmp_path):
    done = sapsim(tmp_path, "validate", PENDULUM, "--samples", "5", "--tolerance", "0")
    assert done.code == 5 and "FAIL  rnea_crba" in done.out and "checks failed" in done.err


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["missing.yaml"], "no such file"),
        (["ball.yaml", "--base", "floating"], "--base is for model files"),
        (["arm.urdf", "--base", "hanging"], "known are fixed, floating"),
        (["ball.yaml", "--inertia", "fix"], "--inertia is for model files"),
        (["arm.urdf", "--inertia", "guess"], "allowed: error, estimate, fix"),
        (["ball.yaml", "--precision", "float16"], "known are float64, float32"),
        (["ball.yaml", "--tolerance", "nan"], "must be a number"),
        (["ball.yaml", "--samples", "0"], "--samples"),
        (["ball.yaml", "--against", "simbody"], "known are pinocchio"),
    ],
)
def test_bad_input_exits_2(tmp_path, arguments, text):
    write_scene(tmp_path)
    done = sapsim(tmp_path, "validate", *arguments, "--json")
    assert done.code == 2 and text in json.dumps(done.json["errors"])


def test_schema(tmp_path):
    done = sapsim(tmp_path, "schema")
    found = json.loads(done.out)
    assert done.code == 0 and found["$schema"].endswith("2020-12/schema") and "bodies" in found["properties"]
