"""Every scene of `scenes/` runs, clean and in seconds, and its `expect` entries hold; and they would notice other physics."""

import json
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
import yaml

from sapsim.cli.main import main

FOLDER = Path(__file__).parents[2] / "scenes"
FOLDERS = (FOLDER, FOLDER / "literature", FOLDER / "user_cases")
SCENES = sorted(path for folder in FOLDERS for path in folder.glob("*.yaml"))
# what takes more than a second or two
SLOW = {"bouncing", "clutter", "convex_bin", "spheres_666"}
NEAR_RIGID = ("near_rigid_ball", "near_rigid_sliders", "b35_near_rigid_ball", "clutter")
# the warnings there may be are about the run: the near-rigid limit acted; the grid of bodies overlaps at the start, as it says
WARNED = {"mixed_bin": {"overlap"}} | {name: {"near-rigid"} for name in NEAR_RIGID}
# contract 2, `--json` of run
KEYS = {
    "status", "exit_code", "steps", "worlds", "simulated_seconds", "wall_seconds", "steps_per_second",
    "world_steps_per_second", "unconverged_steps", "iterations_mean", "iterations_max", "contacts_mean", "contacts_max",
    "warnings", "output", "bytes",
}  # fmt: skip

all_scenes = pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem in SLOW else []) for p in SCENES]
)


def run(capfd, *arguments: str) -> tuple[int, dict]:
    """Exit code and JSON object of `sapsim run` with these arguments, in this process."""
    with pytest.raises(SystemExit) as left:
        main(["run", *arguments, "--check", "--json", "--quiet"])
    return left.value.code, json.loads(capfd.readouterr().out)


def test_there_are_enough():
    names = {path.stem for path in SCENES}
    assert len(names) >= 8
    assert {
        "falling_ball", "incline_stick", "incline_slide", "sliding_stop", "rolling_ball", "ten_box_stack", "mixed_bin",
        "double_pendulum", "falling_chain",
    } <= names  # fmt: skip


@all_scenes
def test_scene_explains_and_checks_itself(path):
    """A comment at the top; expectations of more than convergence; convergence of every step."""
    text = path.read_text()
    head = text[: text.index("sapsim:")]
    assert all(line.startswith("#") for line in head.splitlines()) and len(head) > 200
    assert max(len(line) for line in text.splitlines()) <= 120
    expect = yaml.safe_load(text)["expect"]
    quantities = [entry["quantity"] for entry in expect]
    assert len(set(quantities) - {"converged_fraction"}) >= 3
    assert {"solver": True, "quantity": "converged_fraction", "value": 1} in expect
    for entry in expect:
        if "value" in entry and entry["quantity"] not in ("contact_count", "converged_fraction"):
            assert 0 < entry.get("atol", 0) + entry.get("rtol", 0)  # no two machines round alike
            # a tolerance is no way around a value: at most 1 % of it, or of the scene's units where it is 0
            assert entry.get("atol", 0) <= 0.01 * (abs(entry["value"]) or 1) and entry.get("rtol", 0) <= 0.01


@all_scenes
def test_scene_runs_clean(path, tmp_path, capfd):
    out = tmp_path / "out.h5"
    code, found = run(capfd, str(path), "-o", str(out))
    assert [c for c in found["checks"] if not c["passed"]] == []
    assert code == 0
    assert KEYS <= set(found)
    scene = yaml.safe_load(path.read_text())
    assert found["status"] == "complete" and found["exit_code"] == 0 and found["unconverged_steps"] == 0
    assert found["steps"] == round(scene["duration"] / scene["time_step"]) and found["worlds"] == 1
    assert found["simulated_seconds"] == pytest.approx(scene["duration"], rel=1e-12)
    assert len(found["checks"]) == len(scene["expect"])
    assert {w["code"] for w in found["warnings"]} == WARNED.get(path.stem, set())
    assert found["output"] == str(out) and found["bytes"] == out.stat().st_size
    with h5py.File(out) as file:
        assert file.attrs["status"] == "complete" and len(file["time"]) == found["steps"] + 1


@all_scenes
def test_expectations_notice_another_gravity(path, tmp_path, capfd):
    """One per cent more weight: exit code 5, the check failed."""
    code, found = run(capfd, str(path), "-o", str(tmp_path / "out.h5"), "--set", "gravity=[0, 0, -9.9081]")
    assert code == 5
    assert not all(c["passed"] for c in found["checks"])


def datasets(path: Path) -> dict[str, bytes]:
    """The bytes of every dataset of a file."""
    found = {}

    def visit(name: str, item) -> None:
        if isinstance(item, h5py.Dataset):
            values = item[()]
            found[name] = values.tobytes() if item.dtype.kind != "O" else repr(values).encode()

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def test_two_runs_are_byte_identical(tmp_path, capfd):
    """Every dataset, whatever blocks of steps the run's speed made; and four worlds are one world four times."""
    bin_scene, names = str(FOLDER / "mixed_bin.yaml"), [str(tmp_path / f"{name}.h5") for name in ("a", "b", "four")]
    for name in names[:2]:
        assert run(capfd, bin_scene, "-o", name)[0] == 0
    first, second = datasets(Path(names[0])), datasets(Path(names[1]))
    assert len(first) > 30
    assert [name for name in first if first[name] != second[name]] == [] and set(first) == set(second)

    assert run(capfd, bin_scene, "-o", names[2], "--worlds", "4")[0] == 0
    with h5py.File(names[0]) as one, h5py.File(names[2]) as four:
        for name in ("state/joint_q", "state/joint_qd", "solver/residual", "contacts/count"):
            for w in range(4):
                assert four[name][:, w].tobytes() == one[name][:, 0].tobytes()
        impulse, world = four["contacts/impulse"][()], four["contacts/world_index"][()]
        for w in range(4):
            assert impulse[world == w].tobytes() == one["contacts/impulse"][()].tobytes()


def test_command_line(tmp_path):
    """The command in its own process: JSON alone on stdout."""
    out = tmp_path / "ball.h5"
    command = [sys.executable, "-m", "sapsim", "run", "scenes/falling_ball.yaml", "-o", str(out), "--check", "--json"]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["output"] == str(out)
    assert out.exists()
