"""Runs the command line as users do: in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

BALL = """\
sapsim: 1
time_step: 0.001
steps: 200
bodies:
  ball: {sphere: 0.05, mass: 1.0, pose: {xyz: [0, 0, 0.06]}}
world:
  collision: [{plane: {}}]
expect:
  - {link: ball, quantity: position.z, at: end, min: 0.04, max: 0.06}
  - {solver: true, quantity: converged_fraction, value: 1}
"""


class Finished(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        """The one object on stdout."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def environment() -> dict[str, str]:
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": paths, "COLUMNS": "160"}


def start(folder: Path, *arguments: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "sapsim", *arguments]
    pipe = subprocess.PIPE
    options = {"stdout": pipe, "stderr": pipe, "text": True, "env": environment()} | options
    return subprocess.Popen(command, cwd=folder, **options)


def sapsim(folder: Path, *arguments: str, stdin: str | None = None) -> Finished:
    process = start(folder, *arguments, stdin=subprocess.PIPE if stdin is not None else None)
    out, err = process.communicate(stdin, timeout=120)
    assert "Traceback" not in err
    return Finished(process.returncode, out, err)


def write_scene(folder: Path, text: str = BALL, name: str = "ball.yaml") -> str:
    (folder / name).write_text(text)
    return name
