"""Time of a step in float64 and float32, at the default tolerance and at 1e-5: `python tests/bench/float32_time.py [SCENE]...`.

Standard scenes (sapsim bench), one world, CPU time in us, alternating runs; the median of them, and Newton iterations a step.
"""

import sys
import time
from dataclasses import replace
from statistics import median

from sapsim.bench.cases import Wishes, make_cases
from sapsim.step.simulation import Simulation

SETTINGS = (("float64", 1e-6), ("float32", 1e-6), ("float32", 1e-5))
RUNS = 7


def measure(name: str) -> list[tuple[float, float]]:
    """(us a step, iterations a step) of each setting."""
    (case,) = make_cases([name], [1], Wishes())
    scene, _ = case.scene()
    sims = [
        Simulation(
            replace(scene, solver=replace(scene.solver, relative_tolerance=tolerance)), device="cpu", precision=precision
        )
        for precision, tolerance in SETTINGS
    ]
    times = [[] for _ in sims]
    for run in range(1 + RUNS):  # the first loads kernels and grows room
        for sim, found in zip(sims, times, strict=True):
            sim.reset()
            start = time.process_time()
            sim.advance(case.steps)
            if run:
                found.append((time.process_time() - start) / case.steps * 1e6)
            if sim.totals.unconverged.any():
                raise SystemExit(f"{name}: a step did not converge")
    return [(median(t), sim.totals.iterations_sum[0] / case.steps) for t, sim in zip(times, sims, strict=True)]


def main(names: list[str]) -> None:
    print("| scene |" + "".join(f" {precision}, {tolerance:g} | iterations |" for precision, tolerance in SETTINGS))
    print("|---" * (1 + 2 * len(SETTINGS)) + "|")
    for name in names:
        cells = "".join(f" {us:.3g} | {iterations:.3g} |" for us, iterations in measure(name))
        print(f"| {name} |{cells}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["S2", "S3", "S4sph20", "S4mix20", "S6quad", "S6hum"])
