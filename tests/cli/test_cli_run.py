"""`sapsim run`: options, output, exit codes (contract 2)."""

import json
import os

import h5py
import pytest
from sapsim_process import BALL, sapsim, write_scene

KEYS = (
    "status exit_code steps worlds simulated_seconds wall_seconds steps_per_second world_steps_per_second "
    "unconverged_steps iterations_mean iterations_max contacts_mean contacts_max warnings output bytes"
).split()


def test_json_and_file(tmp_path):
    done = sapsim(tmp_path, "run", write_scene(tmp_path), "--check", "--json")
    found = done.json
    assert done.code == 0 and [key for key in KEYS if key not in found] == []
    assert found["status"] == "complete" and found["steps"] == 200 and found["worlds"] == 1
    assert found["simulated_seconds"] == pytest.approx(0.2) and found["unconverged_steps"] == 0
    assert found["contacts_max"] == 1 and found["output"] == "ball.h5" and found["warnings"] == []
    assert found["bytes"] == os.path.getsize(tmp_path / "ball.h5")
    assert [check["passed"] for check in found["checks"]] == [True, True]
    with h5py.File(tmp_path / "ball.h5") as file:
        assert len(file["time"]) == 201 and file.attrs["command"] == "sapsim run ball.yaml --check --json"
        assert (file.attrs["status"] == "complete" and file.attrs["device"] == "cpu") or "cuda" in file.attrs["device"]


def test_summary_and_progress(tmp_path):
    scene = write_scene(tmp_path)
    done = sapsim(tmp_path, "run", scene)
    assert done.code == 0 and "complete, 200 steps" in done.out and "ball.h5" in done.out and "unconverged 0" in done.out
    assert "100 %  step 200 of 200" in done.err
    assert sapsim(tmp_path, "run", scene, "--overwrite", "--quiet").err == ""


def test_options_change_the_scene(tmp_path):
    scene = write_scene(tmp_path)
    options = ["--duration", "0.1", "--time-step", "2e-3", "--worlds", "3", "--seed", "7", "--every", "20"]
    done = sapsim(tmp_path, "run", scene, *options, "--set", "bodies.ball.mass=2", "-o", "out.h5", "--json", "--quiet")
    assert done.code == 0 and done.json["steps"] == 50 and done.json["worlds"] == 3
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["step"][:].tolist() == [0, 20, 40, 50] and file["world"][:].tolist() == [0, 1, 2]
        assert file["model/body_mass"][:].tolist() == [2.0] and file.attrs["seed"] == 7 and file.attrs["time_step"] == 2e-3
        assert "bodies.ball.mass=2" in file["config/overrides"].asstr()[()]


def test_a_scene_from_standard_input(tmp_path):
    done = sapsim(tmp_path, "run", "-", "--steps", "3", "--json", "-o", "in.h5", stdin=BALL)
    assert done.code == 0 and done.json["steps"] == 3
    assert h5py.is_hdf5(tmp_path / "in.h5")


def test_a_failed_check_is_exit_5(tmp_path):
    done = sapsim(tmp_path, "run", write_scene(tmp_path), "--check", "--json", "--set", "bodies.ball.pose.xyz=[0, 0, 5]")
    assert done.code == 5 and done.json["exit_code"] == 5
    assert [check["passed"] for check in done.json["checks"]] == [False, True]


def test_an_unconverged_step_is_exit_3(tmp_path):
    """One iteration of Newton's method is not enough for an impact."""
    options = ["--set", "solver.max_iterations=1", "--set", "solver.relative_tolerance=1e-14"]
    options += ["--set", "bodies.ball.velocity.linear=[1, 0, -3]"]
    done = sapsim(tmp_path, "run", write_scene(tmp_path), "--json", *options)
    assert done.code == 3 and done.json["unconverged_steps"] > 0 and done.json["status"] == "complete"
    with h5py.File(tmp_path / "ball.h5") as file:
        first = int(file["solver/first_bad_step"][0])
        assert first > 0 and not file["solver/converged"][first, 0] and file["solver/converged"][1:first, 0].all()


def test_strict_makes_a_warning_exit_3(tmp_path):
    scene = write_scene(tmp_path, BALL.replace("steps: 200", "duration: 0.0505"))
    done = sapsim(tmp_path, "run", scene, "--json")
    assert done.code == 0 and len(done.json["warnings"]) == 1
    assert sapsim(tmp_path, "run", scene, "--json", "--strict", "--overwrite").code == 3


def test_a_failed_world_is_exit_4_and_ends_the_run(tmp_path):
    """A spin whose gyroscopic term squares it in every step until it overflows: no world goes on."""
    scene = write_scene(tmp_path, BALL.replace("sphere: 0.05", "box: [0.1, 0.2, 0.3]").replace("0.06]", "5]"))
    done = sapsim(tmp_path, "run", scene, "--json", "--set", "bodies.ball.velocity.angular=[1e30, 5e29, 3e29]")
    assert done.code == 4 and done.json["status"] == "failed" and "non_finite" in done.json["flags"]
    assert done.json["steps"] < 20
    with h5py.File(tmp_path / "ball.h5") as file:
        assert file.attrs["status"] == "failed" and len(file["time"]) == done.json["steps"] + 1


def test_two_runs_give_the_same_datasets(tmp_path):
    scene = write_scene(tmp_path)
    for name in ("a.h5", "b.h5"):
        assert sapsim(tmp_path, "run", scene, "-o", name, "--quiet").code == 0
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "b.h5") as b:
        names = []
        a.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        assert len(names) > 60
        for name in names:
            x, y = a[name][()], b[name][()]
            assert x == y if a[name].dtype == object and not a[name].ndim else x.tobytes() == y.tobytes() or (x == y).all(), (
                name
            )


def test_dry_run_writes_nothing(tmp_path):
    done = sapsim(tmp_path, "run", write_scene(tmp_path), "--dry-run", "--worlds", "4", "--json")
    found = done.json
    assert done.code == 0 and found["worlds"] == 4 and found["memory_bytes"] > 0 and found["rows"] == 201
    assert "ball" in found["resolved"] and os.listdir(tmp_path) == ["ball.yaml"]


@pytest.mark.parametrize(
    "options, text",
    [
        (["--resume"], "not supported yet"),
        (["--precision", "float16"], "float32"),
        (["--package", "a"], "NAME=DIR"),
        (["--package", "a=b"], "no such folder"),
        (["--allow", "x"], "no such folder"),
        (["--steps", "3", "--duration", "1"], "one of the two"),
        (["--device", "abacus"], "known are auto"),
        (["--steps", "many"], "many"),
        (["--steps", "-3"], "-3"),
        (["--time-step", "0"], "0"),
        (["--worlds", "0"], "0"),
        (["--nonsense"], "nonsense"),
        (["-o", "."], "is a directory"),
        (["-o", "nowhere/x.h5"], "no directory"),
        (["-o", "there.h5"], "exists already"),
        (["-o", "left.h5"], "left.h5.partial: exists already"),
        (["--set", "bodies.bal.mass=1"], "ball"),
        (["--set", "expect=[]", "--check"], "expect"),
        (["--set", "output.channels=[solver]", "--check"], "needs channel state"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_usage_is_exit_2_and_writes_nothing(tmp_path, options, text):
    scene = write_scene(tmp_path)
    for name in ("there.h5", "left.h5.partial"):
        (tmp_path / name).write_text("dear data")
    before = sorted(os.listdir(tmp_path))
    done = sapsim(tmp_path, "run", scene, *options, "--json")
    assert done.code == 2
    found = json.loads(done.out)
    assert not found["ok"] and len(found["errors"]) == 1 and text in json.dumps(found["errors"])
    assert set(found["errors"][0]) == {"file", "line", "column", "path", "code", "message", "suggestion"}
    assert sorted(os.listdir(tmp_path)) == before and (tmp_path / "there.h5").read_text() == "dear data"
    plain = sapsim(tmp_path, "run", scene, *options)
    assert plain.code == 2 and text in plain.err and plain.out == ""


def test_overwrite(tmp_path):
    scene = write_scene(tmp_path)
    (tmp_path / "ball.h5").write_text("old")
    (tmp_path / "ball.h5.partial").write_text("older")
    assert sapsim(tmp_path, "run", scene, "--quiet", "--overwrite").code == 0
    assert h5py.is_hdf5(tmp_path / "ball.h5") and not (tmp_path / "ball.h5.partial").exists()


def test_a_missing_device_is_a_failure_of_the_machine(tmp_path):
    done = sapsim(tmp_path, "run", write_scene(tmp_path), "--device", "cuda:99", "--json")
    assert done.code == 6 and "cuda:99 is not there" in done.json["error"]
    assert os.listdir(tmp_path) == ["ball.yaml"]


def test_warp_says_nothing_on_stdout_or_stderr(tmp_path):
    done = sapsim(tmp_path, "run", write_scene(tmp_path), "--quiet", "--device", "cpu", "--json")
    assert done.json["exit_code"] == 0 and done.err == ""


SOFTENED = """\
sapsim: 1
time_step: 0.01
steps: 20
contact: {law: sap}
materials:
  steel: {stiffness: 1.0e+9, relaxation_time: 0.005}
  rubber: {stiffness: 1.0e+3, relaxation_time: 0.005}
bodies:
  ball: {sphere: 0.05, mass: 1.0, material: steel, pose: {xyz: [0, 0, 0.05]}}
  other: {sphere: 0.05, mass: 2.0, material: steel, pose: {xyz: [1, 0, 0.05]}}
  soft: {sphere: 0.05, mass: 1.0, material: rubber, pose: {xyz: [2, 0, 0.04]}}
world:
  collision: [{plane: {}, material: steel}]
"""


def test_contacts_softer_than_their_materials_are_a_warning_for_each_pair(tmp_path):
    """The near-rigid limit under a ball: 4 pi^2 / (w h (h + tau)) with w = 1.68 / m (sap_formulas 3.8, for beta = 1)."""
    scene = write_scene(tmp_path, SOFTENED)
    done = sapsim(tmp_path, "run", scene, "--json")
    assert done.code == 0 and done.json["flags"] == ["near_rigid_active"]
    (warning,) = done.json["warnings"]
    assert warning["code"] == "near-rigid" and warning["file"] == "ball.yaml"
    assert "steel and steel" in warning["message"] and "5e+08 N/m" in warning["message"] and "0.01 s" in warning["message"]
    least = 4 * 3.14159**2 / (1.68 * 0.01 * 0.02)
    assert f"{least:.3g}"[:3] in warning["message"]
    assert "contact.near_rigid 0.015" in warning["suggestion"]  # sqrt(1.17e5 / 5e8)
    with h5py.File(tmp_path / "ball.h5") as file:
        assert file["config/warnings"].asstr()[()].startswith("ball.yaml: contacts of steel and steel")
    again = sapsim(tmp_path, "run", scene, "--overwrite", "--strict")
    assert again.code == 3 and "warning: ball.yaml: contacts of steel and steel" in again.err and "warnings    1" in again.out


def test_a_limit_that_does_not_act_is_no_warning(tmp_path):
    done = sapsim(tmp_path, "run", write_scene(tmp_path, SOFTENED), "--json", "--set", "contact.near_rigid=0.01", "--strict")
    assert done.code == 0 and done.json["warnings"] == [] and done.json["flags"] == []
    with h5py.File(tmp_path / "ball.h5") as file:
        assert file["config/warnings"].asstr()[()] == ""
