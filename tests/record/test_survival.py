"""What was written survives kill -9 and a full disk."""

import os
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

WORKER = """
import resource, sys
from fake_simulation import FakeSimulation, scene
from sapsim.errors import MachineError
from sapsim.record.writer import Recorder

path, flush, limit = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
sim = FakeSimulation(scene(balls=3, nworld=2, steps=10**8, flush_seconds=flush))
recorder = Recorder(path, sim)
recorder.put(sim.initial())
try:
    while True:
        recorder.put(sim.advance(17), sim.totals)
except MachineError as error:
    print(error)
try:
    recorder.close("complete")
except MachineError as error:
    print("closed:", error)
"""


def start(tmp_path, flush: float, limit: int = 0) -> subprocess.Popen:
    here = Path(__file__).parent
    (tmp_path / "worker.py").write_text(WORKER)
    paths = os.pathsep.join([str(here), str(here.parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(tmp_path / "worker.py"), str(tmp_path / "run.h5"), str(flush), str(limit)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True)


def check_rows(file) -> int:
    """Every valid row is whole and right; returns how many there are."""
    rows = int(file.attrs["rows_valid"])
    time_ = file["time"][:rows]
    assert (file["step"][:rows] == np.arange(rows)).all() and (time_ == np.arange(rows) * 0.01).all()
    assert (file["state/body_q"][:rows, 1, 2, 2] == 1 - 4.905 * time_**2).all()
    count, start = file["contacts/count"][:rows], file["contacts/start"][:rows]
    total = count.sum()
    row = np.repeat(np.arange(rows), count.sum(axis=1))
    assert (file["contacts/time_index"][:total] == row).all() and (file["contacts/depth"][:total] == 1e-3 * row).all()
    assert (start.ravel()[2:] == np.cumsum(count.ravel())[1:-1]).all()
    for dataset in (*file["state"].values(), *file["solver"].values(), *file["contacts"].values()):
        assert dataset[()].shape == dataset.shape  # every chunk can be read
    return rows


@pytest.mark.parametrize("wait", [0.1, 0.3, 0.7])
def test_kill(tmp_path, wait):
    """Killed while flushes follow one another: the .partial opens with plain h5py and its rows are whole."""
    worker = start(tmp_path, flush=0.02)
    partial = tmp_path / "run.h5.partial"
    while not partial.exists():
        assert worker.poll() is None
        time.sleep(0.01)
    time.sleep(wait)
    worker.kill()
    worker.wait()
    assert [name for name in os.listdir(tmp_path) if name.startswith("run")] == ["run.h5.partial"]
    with h5py.File(partial) as file:
        assert file.attrs["status"] == "running" and check_rows(file) > 1
        assert len({len(file[name]) for name in ("time", "state/body_q", "solver/status", "contacts/count")}) == 1


@pytest.mark.parametrize("flush, limit", [(100.0, 1_000_000), (0.05, 1_500_000), (100.0, 3_000_000)])
def test_full_disk(tmp_path, flush, limit):
    """A limit on the size of files acts as a full disk.  What fitted is in the file, which is closed with status failed."""
    worker = start(tmp_path, flush, limit)
    out, _ = worker.communicate(timeout=60)
    assert "writing failed" in out and "closed:" in out
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["status"] == "failed"
        assert check_rows(file) > 100
        assert len({len(file[name]) for name in ("time", "state/body_q", "solver/status", "contacts/count")}) == 1
    assert os.path.getsize(tmp_path / "run.h5") <= limit
