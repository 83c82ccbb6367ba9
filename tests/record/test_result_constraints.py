"""The group /constraints of a result file: there where a scene has rows, in the order of the simulation."""

import h5py
import numpy as np
import pytest
import xarray as xr

from sapsim.record.writer import Recorder
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

TEXT = """
sapsim: 1
time_step: 0.001
steps: 7
gravity: [0, 0, 0]
models:
  m:
    links: {a: {inertial: {mass: 2, inertia: {ixx: 1, iyy: 1, izz: 1}}}}
    joints: {s: {type: prismatic, parent: world, child: a, limit: {upper: 0.5}}}
  n:
    links: {a: {inertial: {mass: 2, inertia: {ixx: 1, iyy: 1, izz: 1}}}}
    joints: {r: {type: revolute, parent: world, child: a}}
instances: {i: {model: m}, k: {model: n}}
actuators: {d: {joint: k/r, kp: 1e3, target: 1, effort_limit: 3}, c: {joint: i/s, kp: 1e3, target: -1, effort_limit: 4}}
worlds: {count: 2}
output: {every: 3, channels: [solver]}
"""


def written(folder, text):
    sim = Simulation(loads(text, file="scene.yaml"), device="cpu")
    recorder = Recorder(str(folder / "run.h5"), sim)
    recorder.put(sim.initial(), sim.totals)
    recorder.put(sim.advance(sim.scene.steps), sim.totals)
    return recorder.close("complete")


def test_rows_are_in_the_order_of_the_scene(tmp_path):
    with h5py.File(written(tmp_path, TEXT)) as file:
        group = file["constraints"]
        assert set(group) == {"row", "name", "kind", "units", "impulse"}
        assert list(group["name"].asstr()) == ["i/s:upper", "d", "c"]
        assert list(group["kind"].asstr()) == ["limit", "pd", "pd"]
        assert list(group["units"].asstr()) == ["N s", "N m s", "N s"]
        assert [group["impulse"].dims[i][0].name for i in range(3)] == ["/time", "/world", "/constraints/row"]
        impulse = group["impulse"][()]
        assert impulse.shape == (4, 2, 3) and not impulse[0].any()
        # both drives are at their bounds, and the limit is far; the row of three steps holds the last one's impulse
        np.testing.assert_allclose(impulse[1:], np.broadcast_to([0.0, 3e-3, -4e-3], (3, 2, 3)), rtol=1e-14)
        assert "state" not in file


def test_a_file_with_rows_opens_in_xarray(tmp_path):
    with xr.open_datatree(written(tmp_path, TEXT), engine="h5netcdf") as tree:
        assert tree["constraints/impulse"].dims == ("time", "world", "row")


@pytest.mark.parametrize("actuator", ["", "actuators: {d: {joint: k/r, effort: 3}}"])
def test_a_scene_without_rows_has_no_group(tmp_path, actuator):
    text = "\n".join(line for line in TEXT.replace("{upper: 0.5}", "{}").splitlines() if not line.startswith("actuators"))
    with h5py.File(written(tmp_path, f"{text}\n{actuator}\n")) as file:
        assert "constraints" not in file
