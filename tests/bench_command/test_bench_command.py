"""`sapsim bench` as users run it: rows, table, faults, exit codes."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from sapsim_process import sapsim

KEYS = {  # of contract 2
    "scene": str, "time_step": float, "law": str, "engine": str, "engine_version": str, "worlds": int, "precision": str,
    "device": str, "threads": int, "us_per_step": float, "us_min": float, "us_max": float, "world_steps_per_second": float,
    "contacts_mean": float, "iterations_mean": float, "converged_fraction": float,
}  # fmt: skip
ENGINES = {"sapsim", "drake", "mujoco", "mujoco_warp", "newton", "pinocchio"}
STUCK = """\
sapsim: 1
time_step: 0.001
steps: 30
solver: {max_iterations: 1}
bodies:
  a: {box: [0.1, 0.1, 0.1], mass: 1.0, pose: {xyz: [0, 0, 0.0499]}, velocity: {linear: [1, 0, 0], angular: [0, 3, 0]}}
  b: {box: [0.1, 0.1, 0.1], mass: 1.0, pose: {xyz: [0, 0, 0.1497]}}
world: {collision: [{plane: {}}]}
"""
WILD = """\
sapsim: 1
time_step: 0.001
steps: 30
bodies:
  a: {box: [0.1, 0.2, 0.3], mass: 1.0, velocity: {angular: [1.0e+30, 5.0e+29, 3.0e+29]}}   # its gyroscopic term overflows
"""


def rows(done) -> list[dict]:
    found = json.loads(done.out)
    for row in found:
        for key, kind in KEYS.items():
            assert isinstance(row[key], (kind, int) if kind is float else kind), (key, row[key])
        assert row["engine"] in ENGINES
        assert row["us_min"] <= row["us_per_step"] <= row["us_max"]
        assert row["world_steps_per_second"] == pytest.approx(row["worlds"] * 1e6 / row["us_per_step"])
    return found


def test_a_row_for_every_scene_and_number_of_worlds(tmp_path):
    done = sapsim(
        tmp_path, "bench", "S1", "S2", "--worlds", "1,3", "--steps", "150", "--runs", "2", "--device", "cpu", "--json"
    )
    assert done.code == 0 and done.out.count("\n") == 1
    found = rows(done)
    assert [(r["scene"], r["worlds"]) for r in found] == [("S1", 1), ("S1", 3), ("S2", 1), ("S2", 3)]
    for r in found:
        assert (r["time_step"], r["law"], r["engine"], r["precision"], r["device"]) == (
            1e-3,
            "lagged",
            "sapsim",
            "float64",
            "cpu",
        )
        assert r["converged_fraction"] == 1.0 and r["void"] == "" and r["steps"] == 150 and r["runs"] == 2
    # the cube falls 53 mm, for 105 ms, and then has contacts; worlds are equal
    assert found[0]["contacts_mean"] == 0.0 < found[2]["contacts_mean"] == found[3]["contacts_mean"]


def test_peers_in_the_same_table(tmp_path):
    for package in ("pydrake", "mujoco", "pinocchio"):
        pytest.importorskip(package)
    done = sapsim(
        tmp_path, "bench", "S1", "--peers", "drake,mujoco,pinocchio", "--steps", "20", "--runs", "1", "--device", "cpu"
    )
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[3] for line in lines[1:5]] == ["sapsim", "drake", "mujoco", "pinocchio"]
    assert "us/step: one step of all worlds, cpu time" in lines[-1] and "S1: 1 world, 1 run of 20 steps" in done.err


@pytest.mark.parametrize("text, code, fraction", [(STUCK, 3, 0.99), (WILD, 4, 1.0)], ids=["unconverged", "not finite"])
def test_unsound_runs_void_the_figure(tmp_path, text, code, fraction):
    (tmp_path / "x.yaml").write_text(text)
    done = sapsim(tmp_path, "bench", "x.yaml", "--runs", "1", "--device", "cpu", "--json")
    assert done.code == code
    (row,) = json.loads(done.out)
    assert row["us_per_step"] is None and row["us_min"] is None and row["world_steps_per_second"] is None
    assert row["void"] and row["converged_fraction"] <= fraction
    assert not list(tmp_path.glob("*.h5"))


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["s2x"], 'did you mean "S2"?'),
        (["S1", "--peers", "drak"], 'did you mean "drake"?'),
        (["S1", "--peers", "newton"], "--peers newton: not supported yet"),
        (["S1", "--worlds", "1,x"], "--worlds 1,x: write whole numbers"),
        (["S1", "--precision", "float16"], "--precision float16: known are float64, float32"),
        (["S1", "--law", "lagd"], "lagd"),
        (["missing.yaml"], "missing.yaml"),
    ],
)
def test_bad_input_is_exit_2(tmp_path, arguments, said):
    done = sapsim(tmp_path, "bench", *arguments, "--device", "cpu")
    assert done.code == 2 and said in done.err and done.out == ""


def test_bad_input_as_json(tmp_path):
    done = sapsim(tmp_path, "bench", "S4", "S7", "--json", "--device", "cpu")
    assert done.code == 2 and not done.json["ok"]
    assert [(e["file"], e["code"]) for e in done.json["errors"]] == [("S4", "unknown-scene"), ("S7", "unknown-scene")]


def test_a_missing_package_names_the_extra(tmp_path, monkeypatch):
    import importlib.util

    from sapsim.bench.engine import load_peers
    from sapsim.errors import UsageError

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pinocchio" else found(name))
    with pytest.raises(UsageError, match=r"needs the package pin: pip install 'sapsim\[peers\]'"):
        load_peers(["pinocchio"])
