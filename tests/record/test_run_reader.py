"""`open_run` reads finished and unfinished files, and says what is wrong with others."""

import h5py
import numpy as np
import pytest
from fake_simulation import FakeSimulation, scene
from recording import record, whole

import sapsim
from sapsim.errors import UsageError
from sapsim.record.reader import open_run
from sapsim.record.writer import Recorder


def test_states_and_contacts(tmp_path):
    sim = record(tmp_path / "run.h5", nworld=2)
    expected = whole(sim)
    with open_run(tmp_path / "run.h5") as run:
        assert run.status == "complete" and run.rows == 41 and run.time_step == 0.01
        assert run.bodies == ["ball0", "ball1"] and run.joints == ["ball0/base", "ball1/base"]
        assert run.shapes == sim.shape_names and run.coordinates == sim.coordinate_names and run.dofs == sim.dof_names
        state = run.state(-1, world=1)
        np.testing.assert_array_equal(state.body_q, expected.body_q[-1, 1])
        np.testing.assert_array_equal(state.joint_qd, expected.joint_qd[-1, 1])
        contacts = run.contacts(-1, world=1)
        assert contacts["body_b"].tolist() == [0, 1] and (contacts["depth"] == 0.04).all()
        assert len(run.contacts(0)["depth"]) == 0
        assert run.rows_of("solver/iterations").shape == (41, 2)
        with pytest.raises(IndexError):
            run.state(41)


def test_the_public_name(tmp_path):
    record(tmp_path / "run.h5")
    with sapsim.open_run(str(tmp_path / "run.h5")) as run:
        assert run.has("state") and not run.has("energy")  # a channel that the scene does not ask for


def test_an_unfinished_file_has_its_valid_rows(tmp_path):
    sim = FakeSimulation(scene())
    recorder = Recorder(str(tmp_path / "run.h5"), sim)
    with open_run(tmp_path / "run.h5.partial") as run:
        assert run.status == "running" and run.rows == 0 and len(run.time) == 0
    recorder.close("complete")


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        open_run(tmp_path / "run.h5")
    (tmp_path / "text.h5").write_text("hello")
    with pytest.raises(UsageError, match="not an HDF5 file"):
        open_run(tmp_path / "text.h5")
    h5py.File(tmp_path / "other.h5", "w").close()
    with pytest.raises(UsageError, match="no result of sapsim"):
        open_run(tmp_path / "other.h5")
    record(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "a") as file:
        file.attrs["format_version"] = "2.0"
    with pytest.raises(UsageError, match=r"version 2.0"):
        open_run(tmp_path / "run.h5")
