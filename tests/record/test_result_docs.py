"""docs/result_file.md names every dataset and attribute, and its script runs."""

import re
import subprocess
import sys
from pathlib import Path

import h5py
from recording import record

PAGE = (Path(__file__).parents[2] / "docs" / "result_file.md").read_text()


def test_every_dataset_and_attribute_is_named(tmp_path):
    record(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        words = set(re.findall(r"`(\w+)`", PAGE))
        assert [name for name in names if name.split("/")[-1] not in words] == []
        assert [name for name in file.attrs if name not in words] == []


def test_the_script_prints_trajectory_force_and_unconverged_steps(tmp_path):
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in script.splitlines() if line]) <= 10
    record(tmp_path / "run.h5", failing={0: 38})
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run([sys.executable, "script.py", "run.h5"], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 42 and lines[-1] == "unconverged steps: [38, 39, 40]"
    assert lines[0].startswith("0.0000 s  p = [0. 0. 1.] m  F = [0. 0. 0.] N")
    assert re.search(r"F = \[0\.\s+0\.\s+9\.81\] N", lines[10])
