"""Time of a step at rest against Drake, on S2 (a cube on a plane) and S3 (ten cubes stacked).

    python tests/bench/drake_ratio.py

float64, one world, warm, nothing recorded, h = 1 ms.  Both engines settle for 3 s first and are then timed from their own
states at rest, in one process, in alternating runs; figures are medians of the runs with their extremes, process CPU time.
Scenes, engines and clock are those of `sapsim bench` (sapsim/bench).

Drake's point contact gives one point to a pair of geometries, so its cubes carry spheres of 2 mm radius in their bottom
corners.  sapsim runs the same model ("corners": the same contact set, which is checked) and its own boxes ("faces": four points
a pair by clipping).
"""

import argparse
import json

import numpy as np
import warp as wp

from sapsim.bench.cases import Wishes, make_cases
from sapsim.bench.measure import Row, measure
from sapsim.bench.own import Engine as Own
from sapsim.bench.peers.drake import Engine as Drake

REST = 3.0  # [s]
SAME = 1.0e-6  # [m] of heights at rest: far below the rest depths of 0.05 mm to 0.5 mm


def rows_of(scene: str, law: str, runs: int, steps: int) -> list[Row]:
    """Drake, and sapsim with the same contact set and with its own.  Raises RuntimeError where the first two rest apart."""
    case = make_cases([scene], [None], Wishes(law=law, steps=steps))[0]
    engines = [Drake(case), Own(case, "cpu", boxes="corners"), Own(case, "cpu", boxes="faces")]
    rows = measure(case, [], engines=engines, runs=runs, rest=REST)
    apart = np.abs(engines[0].poses()[:, 2, 3] - engines[1].poses()[:, 2, 3]).max()
    if apart > SAME:
        raise RuntimeError(f"{scene}: heights at rest differ by {apart:.2e} m, so the runs are not comparable")
    if rows[0].contacts_mean != rows[1].contacts_mean:
        raise RuntimeError(f"{scene}: {rows[0].contacts_mean} contacts in Drake and {rows[1].contacts_mean} in sapsim")
    return rows


def print_table(rows: list[dict]) -> None:
    line = "{:6}{:8}{:16}{:>12}{:>18}{:>9}{:>10}{:>7}{:>8}"
    print(line.format("scene", "law", "engine", "CPU us/step", "[min, max]", "wall", "contacts", "iter", "ratio"))
    for r in rows:
        engine = f"{r['engine']} {r['boxes']}"
        if r["void"]:
            print(f"{r['scene']:6}{r['law']:8}{engine:16}void: {r['void']}")
            continue
        spread = f"[{r['us_min']:.2f}, {r['us_max']:.2f}]"
        iterations = "-" if r["iterations_mean"] is None else f"{r['iterations_mean']:.2f}"
        cpu, wall, contacts = (f"{r[name]:.2f}" for name in ("us_per_step", "wall_us_per_step", "contacts_mean"))
        ratio = "-" if r["ratio_to_drake"] is None else f"{r['ratio_to_drake']:.1f}"
        print(line.format(r["scene"], r["law"], engine, cpu, spread, wall, contacts, iterations, ratio))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", nargs="+", default=["S2", "S3"], choices=["S2", "S3"])
    parser.add_argument("--laws", nargs="+", default=["lagged", "sap"], choices=["lagged", "sap"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4000, help="steps of a run")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    options = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    found = []
    for scene in options.scenes:
        for law in options.laws:
            drake, *own = (row.as_dict() for row in rows_of(scene, law, options.runs, options.steps))
            for row in (drake, *own):
                sound = not (drake["void"] or row["void"])
                found.append(row | {"ratio_to_drake": drake["us_per_step"] / row["us_per_step"] if sound else None})
    if options.json:
        print(json.dumps(found))
    else:
        print_table(found)


if __name__ == "__main__":
    main()
