"""The group /reactions of a result file: only where `output.channels` names it; and channel names of the scene."""

import h5py
import numpy as np
import pytest
import xarray as xr

from sapsim.errors import SceneError
from sapsim.record.expect import evaluate
from sapsim.record.reader import open_run
from sapsim.record.writer import Recorder
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

TEXT = """
sapsim: 1
time_step: 0.001
steps: 7
gravity: [0, 0, -10]
models:
  m:
    links:
      a: {inertial: {mass: 2, inertia: {ixx: 1, iyy: 1, izz: 1}}}
      b: {inertial: {mass: 3, inertia: {ixx: 1, iyy: 1, izz: 1}}}
    joints:
      s: {type: fixed, parent: world, child: a}
      t: {type: revolute, parent: a, child: b, origin: {xyz: [0.1, 0, 0]}, axis: [0, 0, 1]}
instances: {i: {model: m}}
worlds: {count: 2}
output: {every: 3, channels: [state, reactions]}
expect:
  - {joint: i/s, quantity: reaction_force.z, at: all, value: 50, atol: 1.0e-9}
  - {joint: i/s, quantity: reaction_torque.y, at: end, value: -3, atol: 1.0e-9}
  - {joint: i/t, quantity: reaction_force.z, at: 0.003, value: 30, atol: 1.0e-9}
  - {joint: i/t, quantity: reaction_force.z, at: end, value: 31, atol: 1.0e-9}
"""


def written(folder, text):
    sim = Simulation(loads(text, file="scene.yaml"), device="cpu")
    recorder = Recorder(str(folder / "run.h5"), sim, overwrite=True)
    recorder.put(sim.initial(), sim.totals)
    recorder.put(sim.advance(sim.scene.steps), sim.totals)
    return recorder.close("complete")


def test_wrenches_of_all_joints(tmp_path):
    with h5py.File(written(tmp_path, TEXT)) as file:
        wrench = file["reactions/wrench"]
        assert [wrench.dims[i][0].name for i in range(4)] == ["/time", "/world", "/joint", "/reactions/component"]
        assert list(file["reactions/component"].asstr()) == ["tx", "ty", "tz", "fx", "fy", "fz"]
        assert wrench.shape == (4, 2, 2, 6) and not wrench[0].any()
        expected = [[0, -3, 0, 0, 0, 50], [0, 0, 0, 0, 0, 30]]
        np.testing.assert_allclose(wrench[1:], np.broadcast_to(expected, (3, 2, 2, 6)), atol=1e-12)
        assert wrench.attrs["order"] == "torque,force" and "start of the step" in wrench.attrs["frame"]


def test_it_opens_in_xarray(tmp_path):
    with xr.open_datatree(written(tmp_path, TEXT), engine="h5netcdf") as tree:
        found = tree["reactions/wrench"].sel(joint="i/s", component="fz", world=1)
        assert found.dims == ("time",) and float(found[-1]) == pytest.approx(50)


def test_expectations(tmp_path):
    scene = loads(TEXT, file="scene.yaml")
    with open_run(written(tmp_path, TEXT)) as run:
        results = evaluate(run, scene.expect)
        assert [r.passed for r in results] == [True, True, True, False]
    with open_run(written(tmp_path, TEXT.replace("[state, reactions]", "[state]"))) as run:
        assert [r.where for r in evaluate(run, scene.expect)] == ["channel reactions was not recorded"] * 4


def test_only_where_it_is_asked_for(tmp_path):
    with h5py.File(written(tmp_path, TEXT.replace(", reactions", ""))) as file:
        assert "reactions" not in file


def test_constraints_may_be_named(tmp_path):
    """They are there where a scene has rows, named or not; a scene that names them and has none gets an empty table."""
    path = written(tmp_path, TEXT.replace("[state, reactions]", "[constraints]"))
    with h5py.File(path) as file:
        assert file["constraints/impulse"].shape == (4, 2, 0) and "state" not in file
    xr.open_datatree(path, engine="h5netcdf").close()


def test_unknown_channels_are_refused():
    with pytest.raises(SceneError, match="reaction") as caught:
        loads(TEXT.replace(", reactions]", ", reaction]"), file="scene.yaml")
    assert "constraints" in str(caught.value) and "reactions" in str(caught.value)


def test_a_scene_without_joints(tmp_path):
    text = "sapsim: 1\ntime_step: 0.1\nsteps: 2\noutput: {channels: [reactions]}\n"
    path = written(tmp_path, text)
    with h5py.File(path) as file:
        assert file["reactions/wrench"].shape == (3, 1, 0, 6)
    xr.open_datatree(path, engine="h5netcdf").close()
