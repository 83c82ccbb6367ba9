"""The recorder writes every row once and in order, whatever the sizes of blocks, and never over another file."""

import os

import h5py
import numpy as np
import pytest
from fake_simulation import FakeSimulation, scene
from recording import record, whole

from sapsim.errors import UsageError
from sapsim.record import select
from sapsim.record.writer import Recorder, check_target, partial_name

RAGGED = "shape_a shape_b body_a body_b feature point normal depth impulse slip_velocity stiffness friction".split()


def contents(path) -> dict[str, tuple]:
    """Bytes, type and shape of every dataset."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            values = item[()]
            raw = repr(values.tolist() if item.ndim else values) if item.dtype == object else values.tobytes()
            found[name] = (raw, str(item.dtype), item.shape)

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


@pytest.mark.parametrize("compression", ["gzip", "none"])
@pytest.mark.parametrize("block", [1, 13, 600])
def test_rows_come_back(tmp_path, block, compression):
    sim = record(tmp_path / "run.h5", block, steps=600, compression=compression)
    expected = whole(sim)
    with h5py.File(tmp_path / "run.h5") as file:
        assert (file["step"][:] == np.arange(601)).all() and (file["time"][:] == np.arange(601) * 0.01).all()
        for name in ("joint_q", "joint_qd", "body_q", "body_qd"):
            assert (file["state"][name][:] == getattr(expected, name)).all()
        for name in ("converged", "iterations", "residual", "status"):
            assert (file["solver"][name][:] == getattr(expected, name)).all()
        for name in RAGGED:
            assert (file["contacts"][name][:] == getattr(expected.contacts, name)).all()
        assert (file["contacts/time_index"][:] == expected.contacts.row).all()


@pytest.mark.parametrize("kind", [{}, {"nworld": 3}, {"nworld": 3, "worlds": (0, 2)}, {"every": 7}, {"plane": False}])
def test_datasets_are_the_same_bytes_whatever_the_blocks(tmp_path, kind):
    """Blocks are sized by the clock, and flushes come by the clock; neither may show."""
    record(tmp_path / "a.h5", 1, flush_seconds=1e-3, command="one", **kind)
    record(tmp_path / "b.h5", 17, flush_seconds=100.0, command="another", **kind)
    a, b = contents(tmp_path / "a.h5"), contents(tmp_path / "b.h5")
    assert a.keys() == b.keys() and [name for name in a if a[name] != b[name]] == []


@pytest.mark.parametrize("steps, every", [(40, 1), (40, 7), (40, 40), (40, 100), (42, 7)])
def test_rows_of_every(tmp_path, steps, every):
    """Rows at steps 0, K, 2K, ... and always the last: R = ceil(steps / K) + 1."""
    record(tmp_path / "run.h5", steps=steps, every=every)
    with h5py.File(tmp_path / "run.h5") as file:
        expected = sorted({*range(0, steps + 1, every), steps})
        assert file["step"][:].tolist() == expected and len(expected) == -(-steps // every) + 1
        assert file.attrs["rows_valid"] == len(expected)


def test_start_and_count_point_at_the_contacts(tmp_path):
    record(tmp_path / "run.h5", 9, balls=3, nworld=2)
    with h5py.File(tmp_path / "run.h5") as file:
        c = file["contacts"]
        start, count = c["start"][:], c["count"][:]
        assert (start[0] == 0).all() and (count[0] == 0).all() and count[5:].min() == 3 and count[:5].max() == 0
        for row in range(len(start)):
            for world in range(2):
                part = slice(start[row, world], start[row, world] + count[row, world])
                assert (c["time_index"][part] == row).all() and (c["world_index"][part] == world).all()
                assert c["shape_b"][part].tolist() == list(range(1, 1 + count[row, world]))
        assert count.sum() == len(c["contact"])


def test_only_asked_worlds_are_written(tmp_path):
    sim = record(tmp_path / "run.h5", nworld=4, worlds=(1, 3))
    expected = whole(sim)
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["world"][:].tolist() == [1, 3]
        assert (file["state/body_q"][:] == expected.body_q[:, [1, 3]]).all()
        assert set(file["contacts/world_index"][:]) == {0, 1}
        assert len(file["contacts/contact"]) == expected.contact_count[:, [1, 3]].sum()


def test_first_bad_step_is_of_the_recorded_worlds(tmp_path):
    record(tmp_path / "run.h5", nworld=3, worlds=(0, 2), failing={2: 20})
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["solver/first_bad_step"][:].tolist() == [-1, 20]


def test_an_interrupted_run_is_closed_with_its_rows(tmp_path):
    record(tmp_path / "run.h5", 5, status="interrupted", upto=15)
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["status"] == "interrupted" and file.attrs["rows_valid"] == 16 == len(file["time"])
    assert os.listdir(tmp_path) == ["run.h5"]


def test_the_name_is_partial_until_it_is_closed(tmp_path):
    sim = FakeSimulation(scene())
    recorder = Recorder(str(tmp_path / "run.h5"), sim)
    assert os.listdir(tmp_path) == ["run.h5.partial"]
    recorder.put(sim.initial())
    recorder.close("complete")
    assert os.listdir(tmp_path) == ["run.h5"]


def test_a_running_file_can_be_read_beside(tmp_path):
    """What was flushed is a whole file, also for a reader that opens it while it is written."""
    sim = FakeSimulation(scene(steps=10**6, flush_seconds=1e-3))
    recorder = Recorder(str(tmp_path / "run.h5"), sim)
    recorder.put(sim.initial())
    rows = 0
    while not rows:
        recorder.put(sim.advance(50))
        with h5py.File(tmp_path / "run.h5.partial") as file:
            rows = int(file.attrs["rows_valid"])
            assert file.attrs["status"] == "running" and (file["step"][:rows] == np.arange(rows)).all()
    recorder.close("interrupted")


@pytest.mark.parametrize("left", ["run.h5", "run.h5.partial"])
def test_nothing_is_overwritten_unless_asked(tmp_path, left):
    (tmp_path / left).write_bytes(b"dear data")
    sim = FakeSimulation(scene())
    with pytest.raises(UsageError, match=left):
        Recorder(str(tmp_path / "run.h5"), sim)
    assert os.listdir(tmp_path) == [left] and (tmp_path / left).read_bytes() == b"dear data"
    recorder = Recorder(str(tmp_path / "run.h5"), sim, overwrite=True)
    recorder.close("complete")
    assert os.listdir(tmp_path) == ["run.h5"]
    assert h5py.is_hdf5(tmp_path / "run.h5")


def test_an_old_result_stays_until_the_new_one_is_finished(tmp_path):
    record(tmp_path / "run.h5", steps=5)
    recorder = Recorder(str(tmp_path / "run.h5"), FakeSimulation(scene()), overwrite=True)
    with h5py.File(tmp_path / "run.h5") as file:
        assert len(file["time"]) == 6
    recorder.close("complete")


def test_targets_that_cannot_be_written(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="is a directory"):
        check_target(str(tmp_path / "folder"), overwrite=True)
    with pytest.raises(UsageError, match="there is no directory"):
        check_target(str(tmp_path / "nowhere" / "run.h5"), overwrite=True)
    assert partial_name("run.h5") == "run.h5.partial"


def test_a_fault_of_the_thread_reaches_the_caller(tmp_path):
    """A block of the wrong shape is a bug, and must not vanish in the thread."""
    sim = FakeSimulation(scene())
    recorder = Recorder(str(tmp_path / "run.h5"), sim)
    block = sim.initial()
    block.body_q = block.body_q[..., :3]
    recorder.put(block)
    with pytest.raises(ValueError, match="state/body_q"):
        recorder.close("complete")


def test_a_run_ends_at_the_row_where_its_last_world_stops():
    sim = FakeSimulation(scene(nworld=2, steps=40), failing={0: 10, 1: 25})
    first, second = sim.advance(20), sim.advance(20)
    assert select.rows_until_stopped(first) is None
    assert select.rows_until_stopped(second) == 5
    head = select.head(second, 5)
    assert head.step.tolist() == [21, 22, 23, 24, 25] and head.contacts.row.max() == 4
    assert len(head.contacts.row) == head.contact_count.sum()
