"""Contacts of a run that a user must hear of: overlaps at the start, and more of them than `--max-contacts` allows."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from sapsim_process import sapsim

from sapsim.cli.main import main
from sapsim.status import StepStatus
from sapsim.step import simulation
from sapsim.step.capacity import first_guess

# user case B45
TOWER = """\
sapsim: 1
name: tower
time_step: 0.002
steps: 100
world: {collision: [{plane: {}}]}
bodies:
  box: {box: [0.1, 0.1, 0.1], density: 1000, pose: {xyz: [0, 0, 0.04998]},
        repeat: {count: [1, 1, 12], spacing: [0, 0, 0.09998]}}
output: {channels: [state, contacts, solver]}
"""


def write(folder, text: str) -> str:
    (folder / "scene.yaml").write_text(text)
    return "scene.yaml"


def test_a_hard_limit_is_exit_3_and_says_what_was_needed(tmp_path):
    done = sapsim(tmp_path, "run", write(tmp_path, TOWER), "--max-contacts", "1", "--json", "--quiet", "--steps", "20")
    found = done.json
    assert done.code == 3 and found["exit_code"] == 3 and "contact_overflow" in found["flags"]
    assert found["contacts_max"] == 1 and found["unconverged_steps"] == 20
    (warning,) = (w for w in found["warnings"] if w["code"] == "contact-limit")
    assert "48 contacts" in warning["message"] and "--max-contacts 48" in warning["suggestion"]
    with h5py.File(tmp_path / "tower.h5") as file:
        assert (file["solver/status"][1:] & StepStatus.CONTACT_OVERFLOW).all() and file["solver/status"][0, 0] == 0
        assert (file["contacts/count"][1:] == 1).all() and np.isfinite(file["state/joint_q"][:]).all()
        assert "48 contacts" in file["config/warnings"].asstr()[()]


def test_a_limit_that_is_not_reached_changes_nothing(tmp_path):
    scene = write(tmp_path, TOWER)
    free = sapsim(tmp_path, "run", scene, "-o", "free.h5", "--json", "--quiet")
    held = sapsim(tmp_path, "run", scene, "-o", "held.h5", "--json", "--quiet", "--max-contacts", "48")
    assert free.code == held.code == 0 and free.json["warnings"] == held.json["warnings"] == []
    assert contents(tmp_path / "free.h5") == contents(tmp_path / "held.h5")


@pytest.mark.parametrize("limit", ["0", "-3"])
def test_a_limit_is_a_positive_number(tmp_path, limit):
    done = sapsim(tmp_path, "run", write(tmp_path, TOWER), "--max-contacts", limit)
    assert done.code == 2 and f"--max-contacts {limit}" in done.err and "at least 1" in done.err


def contents(path) -> dict[str, bytes]:
    """The bytes of every dataset of a result, and its texts as they are."""
    found = {}

    def take(name: str, x) -> None:
        if isinstance(x, h5py.Dataset):
            found[name] = str(x.asstr()[()]) if x.dtype == object else np.asarray(x[()]).tobytes()

    with h5py.File(path) as file:
        file.visititems(take)
    return found


def test_a_tower_with_room_for_one_contact_ends_in_the_same_bytes(tmp_path, monkeypatch):
    """As with room for 1,000: room grows, and the block of steps is replayed."""
    scene = write(tmp_path, TOWER)
    seen = []

    def run(name: str, contacts: int, near: int) -> dict[str, bytes]:
        def guess(*arguments, **named):
            return replace(first_guess(*arguments, **named), contacts=contacts, near=near, hessian=near)

        def grown(capacity, *rest):
            found = grow(capacity, *rest)
            seen.append((name, found))
            return found

        monkeypatch.setattr(simulation, "first_guess", guess)
        monkeypatch.setattr(simulation, "grown", grown)
        with pytest.raises(SystemExit) as left:
            main(["run", str(tmp_path / scene), "-o", str(tmp_path / f"{name}.h5"), "--quiet", "--device", "cpu"])
        assert left.value.code == 0
        return contents(tmp_path / f"{name}.h5")

    grow = simulation.grown
    small, large = run("small", 1, 1), run("large", 1000, 1000)
    assert any(found for name, found in seen if name == "small") and not any(found for name, found in seen if name == "large")
    assert len(small) > 30 and small == large


OVERLAPPING = """\
sapsim: 1
name: mess
time_step: 0.001
steps: 3
world: {collision: [{plane: {}}, {box: [0.1, 0.1, 0.4], pose: {xyz: [0, 0, 0.2]}, name: post}]}
bodies:
  sunk: {sphere: 0.1, mass: 1, pose: {xyz: [1, 0, 0.07]}}
  rest: {sphere: 0.1, mass: 1, pose: {xyz: [2, 0, 0.0999]}}
  box: {box: [0.2, 0.2, 0.2], mass: 1, pose: {xyz: [0.14, 0, 0.1]}}
"""


def test_overlaps_at_the_start_are_listed_deepest_first(tmp_path):
    done = sapsim(tmp_path, "run", write(tmp_path, OVERLAPPING), "--json", "--quiet")
    found = [(w["message"], w["line"]) for w in done.json["warnings"] if w["code"] == "overlap"]
    assert done.code == 0 and done.json["warnings"][0]["suggestion"]
    assert (
        found
        == [
            ("shapes post and box/0 overlap by 0.01 m at the start", 9),
            ("shapes world/0 and sunk/0 overlap by 0.03 m at the start", 7),
        ][::-1]
    )
    with h5py.File(tmp_path / "mess.h5") as file:
        assert "overlap by 0.03 m" in file["config/warnings"].asstr()[()]
    plain = sapsim(tmp_path, "run", "scene.yaml", "--overwrite")
    assert "scene.yaml:7" in plain.err and "overlap by 0.03 m" in plain.err
    assert sapsim(tmp_path, "run", "scene.yaml", "--overwrite", "--strict", "--quiet").code == 3


def test_the_shallower_of_many_overlaps_are_counted(tmp_path):
    bodies = "".join(f"  b{i}: {{sphere: 0.1, mass: 1, pose: {{xyz: [{i}, 0, {0.05 + 0.002 * i}]}}}}\n" for i in range(13))
    text = "sapsim: 1\nname: many\ntime_step: 0.001\nsteps: 2\nworld: {collision: [{plane: {}}]}\nbodies:\n" + bodies
    done = sapsim(tmp_path, "run", write(tmp_path, text), "--json", "--quiet")
    found = [w["message"] for w in done.json["warnings"]]
    assert len(found) == 11 and "b0/0" in found[0] and "by 0.05 m" in found[0] and "b9/0" in found[9]
    assert found[10] == "3 more pairs of shapes overlap at the start, by 0.03 m at most"


def test_a_soft_body_rests_deep(tmp_path):
    """m g / k = 9.81 mm of a ball of 10 cm is a tenth of it, and no overlap; three times that is."""
    text = """
sapsim: 1
name: soft
time_step: 0.001
steps: 2
materials: {rubber: {stiffness: 2.0e+3}}
world: {collision: [{plane: {}, material: rubber}]}
bodies: {soft: {sphere: 0.05, mass: 1, material: rubber, pose: {xyz: [0, 0, Z]}}}
"""
    found = []
    for z in ("0.0402", "0.02"):
        done = sapsim(tmp_path, "run", write(tmp_path, text.replace("Z", z)), "--json", "--quiet", "--overwrite")
        found.append([w["code"] for w in done.json["warnings"]])
    assert found == [[], ["overlap"]]


def test_depths_of_rest_are_no_overlaps(tmp_path):
    """The lowest of twelve boxes carries all: 12 m g over four points of the pair's 5e5 N/m, 0.06 mm; they may start so."""
    weight, k = 1.0 * 9.81, 4 * 5.0e5
    z, text = 0.0, "sapsim: 1\nname: rest\ntime_step: 0.001\nsteps: 2\nworld: {collision: [{plane: {}}]}\nbodies:\n"
    for i in range(12):
        z += (0.1 if i else 0.05) - (12 - i) * weight / k
        text += f"  b{i}: {{box: [0.1, 0.1, 0.1], mass: 1, pose: {{xyz: [0, 0, {z}]}}}}\n"
    assert sapsim(tmp_path, "run", write(tmp_path, text), "--json", "--quiet").json["warnings"] == []
