"""Time to the first step, with an empty and with a filled kernel cache: `python tests/bench/start_time.py`.

Every measurement is a process of its own; CPU time is the operating system's account of it, which other processes on the
machine disturb less than the clock.  `first step` goes from the start of Python to the end of one step; `run` is a whole
`sapsim run` of one step, result file and all; `validate` checks a scene's dynamics, with the kernels that a run does not
need.  Together they are the kernel set of a precision and a contact law.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

FIRST_STEP = """
import sys
from sapsim.cli.warp_start import start_warp
start_warp("cpu")
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation
Simulation(load(sys.argv[1], overrides=[sys.argv[2]]), device="cpu", precision=sys.argv[3]).advance(1)
"""
ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
SCENE = os.path.join(ROOT, "scenes", "ten_box_stack.yaml")


def measure(cache: str, *arguments: str) -> dict[str, float]:
    """CPU and wall time [s] of one Python process with its kernel cache in `cache`; raises where it fails."""
    environment = os.environ | {"WARP_CACHE_PATH": cache, "PYTHONPATH": os.path.abspath(ROOT)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return {"cpu_s": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, "wall_s": wall}


def rows(law: str, precision: str, warm_runs: int) -> list[dict]:
    """Cold and warm starts of a law and a precision; the warm row is the median of several."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "kernels")
        module = ["-m", "sapsim"]
        options = ["--set", f"contact.law={law}", "-o", os.path.join(folder, "r.h5"), "--overwrite", "--quiet"]
        commands = {
            "first step": ["-c", FIRST_STEP, SCENE, f"contact.law={law}", precision],
            "run": [*module, "run", SCENE, "--steps", "1", "--precision", precision, *options],
            "validate": [*module, "validate", SCENE, "--samples", "2", "--precision", precision],
        }
        for name, command in commands.items():
            found.append({"start": "cold", "command": name, **measure(cache, *command)})
        for name, command in commands.items():
            runs = sorted((measure(cache, *command) for _ in range(warm_runs)), key=lambda r: r["cpu_s"])
            found.append({"start": "warm", "command": name, **runs[len(runs) // 2]})
    return [{"law": law, "precision": precision, **row} for row in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--laws", nargs="+", default=["lagged"])
    parser.add_argument("--precisions", nargs="+", default=["float64"])
    parser.add_argument("--warm-runs", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    options = parser.parse_args()
    table = [r for law in options.laws for p in options.precisions for r in rows(law, p, options.warm_runs)]
    if options.json:
        print(json.dumps(table))
        return
    print(f"{'law':10s}{'precision':11s}{'start':7s}{'command':12s}{'CPU s':>8s}{'wall s':>8s}")
    for r in table:
        print(f"{r['law']:10s}{r['precision']:11s}{r['start']:7s}{r['command']:12s}{r['cpu_s']:8.2f}{r['wall_s']:8.2f}")
    cold = sum(r["cpu_s"] for r in table if r["start"] == "cold")
    print(f"cold, all of the above: {cold:.1f} s of CPU time")


if __name__ == "__main__":
    main()
