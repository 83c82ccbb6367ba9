"""Time of every stage of a step at rest, and the time of the solve to an iteration and a contact.

    python tests/bench/stage_times.py S2 S4sph20 S4sph100
    python tests/bench/stage_times.py S4sph20 S4sph100 --rest 0 --steps 600     # fall and impact

Stages run here as kernels of their own, each in a captured graph, and every launch is timed: process CPU time [us], less that
of an empty graph.  Columns hold means over the steps.  In one kernel, as a step on the CPU is made, a stage costs less: its
arguments are not copied to a launch.

ns/(it x contact): the sum of the times of the stage `newton` over the sum of iterations x contacts.  With --one-island every
iteration looks at every contact; without it the iterations are those of the slowest island, and others look at fewer.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
import warp as wp

from sapsim.bench.cases import Wishes, make_cases
from sapsim.step.pipeline import step_stages
from sapsim.step.simulation import Simulation


def graph_of(simulation: Simulation, stage) -> wp.Graph:
    """A launch of one stage, or of none, captured."""
    if stage is not None:
        wp.load_module(stage.kernel.module, device="cpu", block_dim=simulation.lanes)
    with wp.ScopedCapture(device="cpu") as capture:
        if stage is not None:
            simulation._launcher.launch(stage)
    return capture.graph


def timed(graph: wp.Graph) -> float:
    start = time.process_time()
    wp.capture_launch(graph)
    return time.process_time() - start


def profile(simulation: Simulation, steps: int) -> tuple[dict[str, float], float, float, float]:
    """(mean us of each stage, mean iterations, mean contacts, ns of newton to an iteration and a contact)."""
    stages = step_stages(*simulation._variant)
    empty = graph_of(simulation, None)
    graphs = {stage.name: graph_of(simulation, stage) for stage in stages}
    floor = float(np.median([timed(empty) for _ in range(1000)]))
    times = dict.fromkeys(graphs, 0.0)
    counts, work = np.zeros(2), 0.0
    for _ in range(steps):
        for name, graph in graphs.items():
            times[name] += timed(graph) - floor
        iterations = int(simulation.arrays["solve_int"].numpy()[0, 2])
        contacts = int(simulation.arrays["ncontact"].numpy()[0])
        counts += (iterations, contacts)
        work += iterations * contacts
    newton = next(value for name, value in times.items() if name.startswith("newton"))
    means = {name: 1e6 * value / steps for name, value in times.items()}
    return means, *(counts / steps), 1e9 * newton / max(work, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenes", nargs="*", default=["S2", "S3", "S4sph20", "S4sph100"])
    parser.add_argument("--law", default="lagged")
    parser.add_argument("--time-step", type=float, default=1e-3)
    parser.add_argument("--rest", type=float, default=3.0, help="[s] before the steps that are timed")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--boxes", default="faces", choices=["faces", "corners", "points"])
    parser.add_argument("--one-island", action="store_true", help="solve all trees as one island")
    options = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    found = {}
    for name in options.scenes:
        case = make_cases([name], [None], Wishes(options.time_step, options.law, None, options.boxes))[0]
        scene, _ = case.scene(options.boxes)
        solver = replace(scene.solver, islands=not options.one_island)
        whole = Simulation(replace(scene, solver=solver), device="cpu")
        whole.advance(max(1, round((options.rest or 2.0) / options.time_step)))  # without rest: makes room, then starts again
        if not options.rest:
            whole.reset()
        found[name] = profile(whole, options.steps)
    names = list(next(iter(found.values()))[0])
    print("{:20}".format("us") + "".join(f"{name:>12}" for name in found))
    for stage in names:
        print(f"{stage:20}" + "".join(f"{means[stage]:12.2f}" for means, *_ in found.values()))
    print("{:20}".format("sum") + "".join(f"{sum(means.values()):12.2f}" for means, *_ in found.values()))
    for i, text in enumerate(("iterations", "contacts", "ns/(it x contact)")):
        print(f"{text:20}" + "".join(f"{values[1 + i]:12.3g}" for values in found.values()))


if __name__ == "__main__":
    main()
