"""Time of a step against Drake from the very same states at rest with the same contacts, and against MuJoCo at its own rest.

    python tests/bench/rest_states.py
    python tests/bench/rest_states.py S4sph50 --laws lagged sap --time-steps 0.001

float64, one world, one core, one process, alternating runs, process CPU time; how states are kept equal and what is checked:
sapsim/bench/same_states.py.  Boxes have spheres in their corners there, capsules of the humanoid spheres at their ends: Drake
gives one point to a pair of shapes.  Beside it MuJoCo (Newton, elliptic cone) and sapsim run boxes by their faces, each from
its own state at rest.

Columns: contacts; Newton iterations a step of sapsim / of all trees as one island, which is Drake's path; us a step of sapsim
and Drake and their ratio; us an iteration and ratio where every second step or more has an iteration; ratio of whole runs from
the start; us of sapsim and MuJoCo with faces and the ratio sapsim / MuJoCo; the largest difference of places after a step.
"""

import argparse
import json

import warp as wp

from sapsim.bench.cases import Wishes, make_cases
from sapsim.bench.measure import measure
from sapsim.bench.own import Engine as Own
from sapsim.bench.peers.mujoco_elliptic import Engine as MuJoCo
from sapsim.bench.same_states import measure_same

SCENES = ("S2", "S3", "S4sph20", "S4sph50", "S4sph100", "S4mix20", "S4mix50", "S5", "S6quad", "S6humballs")
LINE = "{:11}{:>4} {:7}{:>6}{:>12}{:>9}{:>9}{:>7}{:>9}{:>9}{:>7}{:>7}{:>9}{:>9}{:>7}{:>11}"
HEAD = (
    "scene", "h", "law", "cont", "iterations", "us", "Drake", "ratio", "us/it", "Drake/it", "ratio", "free", "faces us",
    "MuJoCo", "ratio", "apart [m]",
)  # fmt: skip


def rows_of(scene: str, wishes: Wishes, options: argparse.Namespace) -> dict:
    """A row of the table."""
    case = make_cases([scene], [None], wishes)[0]
    faces = "faces" if "faces" in case.scenes else ""
    same = measure_same(case, rest=options.rest, steps=options.states, chunk=options.chunk, runs=options.runs)
    row = same.as_dict() | dict.fromkeys(("rest_us", "mujoco_us", "mujoco_ratio"))
    if not options.without_mujoco:
        engines = [Own(case, "cpu", boxes=faces), MuJoCo(case)]
        own, mujoco = measure(case, [], engines=engines, runs=options.runs, rest=options.rest)
        row |= {"rest_us": own.us_per_step, "mujoco_us": mujoco.us_per_step, "mujoco_void": own.void or mujoco.void}
        if own.us_per_step and mujoco.us_per_step:
            row["mujoco_ratio"] = own.us_per_step / mujoco.us_per_step
    return row


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def print_row(row: dict) -> None:
    head = [row["scene"], f"{1e3 * row['time_step']:g}", row["law"], number(row["contacts"])]
    iterations = f"{row['iterations']:.2f}/{row['drake_iterations']:.2f}"
    names = (
        "us", "drake_us", "ratio", "us_per_iteration", "drake_per_iteration", "iteration_ratio", "free_ratio", "rest_us",
        "mujoco_us", "mujoco_ratio",
    )  # fmt: skip
    print(LINE.format(*head, iterations, *(number(row[name]) for name in names), f"{row['place_apart']:.0e}"), flush=True)
    for reason in (row["void"], row.get("mujoco_void")):
        if reason:
            print(f"{'':11}void: {reason}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenes", nargs="*", default=list(SCENES), help=f"default: {' '.join(SCENES)}")
    parser.add_argument("--laws", nargs="+", default=["lagged"])
    parser.add_argument("--time-steps", nargs="+", type=float, default=[1e-3, 5e-3])
    parser.add_argument("--rest", type=float, default=3.0, help="[s] in which a scene settles")
    parser.add_argument("--states", type=int, default=200, help="states on the path")
    parser.add_argument("--chunk", type=int, default=20, help="steps after which Drake starts again from a state of ours")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--without-mujoco", action="store_true")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    options = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    rows = []
    if not options.json:
        print(LINE.format(*HEAD))
    for scene in options.scenes:
        for law in options.laws:
            for time_step in options.time_steps:
                rows.append(rows_of(scene, Wishes(time_step, law, 2000, "points"), options))
                if not options.json:
                    print_row(rows[-1])
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
