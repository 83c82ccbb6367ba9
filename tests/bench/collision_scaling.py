"""Time of the collision stage: by number of bodies at one density, and beside MuJoCo's on the piles of S4.

    python tests/bench/collision_scaling.py [--scaling 200,500,1000,2000] [--peers S4mix20,S4mix50,S4mix100] [--list N]
    python tests/bench/collision_scaling.py --scaling "" --peers "" --ways S4sph50,S4mix20:points,S4mix50:points,200,500

Scaling: N bodies, balls and cubes in turn, on a jittered lattice in a bin whose shape does not change with N, close enough that
neighbours touch; broad phase alone, and broad and narrow phase, in one kernel that repeats them.  The time of a body must not
grow by more than half from 200 to 2,000.

Peers: a pile of S4 after `--settle` seconds, the same poses in MuJoCo (`pip install mujoco`), whose `mj_collision` is called
in a loop; runs alternate, medians of process CPU time.

Ways: scenes of S4, with `:points` as `--boxes points` of `sapsim bench`, or lattices of N bodies; near pairs from the list and
from the grid at the same state, runs alternate.  It is what model/pairs.py's LISTED was chosen by.
"""

import argparse
import json
import statistics
import sys
import time

import numpy as np
import warp as wp

import sapsim.model.pairs
from sapsim.bench import cases
from sapsim.collide import broadphase, narrowphase
from sapsim.scene.read import loads
from sapsim.step.capacity import grown
from sapsim.step.simulation import SAVED, Simulation

BALL, BLOCK, PITCH, WALL = 0.04, 0.035, 0.077, 0.1  # radius, half edge, lattice and walls [m]
REPEATS = 5


def lattice_text(n: int) -> str:
    """A cube of bodies in a bin."""
    side = max(2, round(n ** (1.0 / 3.0)))
    high = -(-n // (2 * side * side))  # layers of balls, and as many of blocks
    a = 0.5 * PITCH * side + 0.005
    walls = [((2 * a + 2 * WALL, 2 * a + 2 * WALL, WALL), (0.0, 0.0, -0.5 * WALL))]
    for sign in (-1, 1):
        walls.append(((WALL, 2 * a, 4 * a), (sign * (a + 0.5 * WALL), 0.0, 2 * a)))
        walls.append(((2 * a, WALL, 4 * a), (0.0, sign * (a + 0.5 * WALL), 2 * a)))
    lines = ["sapsim: 1", "name: lattice", "time_step: 0.001", "steps: 1", "world:", "  collision:"]
    lines += [f"    - {{box: {list(size)}, pose: {{xyz: {list(xyz)}}}}}" for size, xyz in walls]
    lines.append("bodies:")
    for k, (name, shape) in enumerate((("ball", f"sphere: {BALL}"), ("block", f"box: {[2 * BLOCK] * 3}"))):
        first = [-0.5 * PITCH * (side - 1)] * 2 + [PITCH * (k + 0.5)]
        repeat = f"count: [{side}, {side}, {high}], spacing: [{PITCH}, {PITCH}, {2 * PITCH}]"
        jitter = f"jitter: {{xyz: [0.004, 0.004, 0.004], rpy: [0.3, 0.3, 3.0], seed: {k}}}"
        lines.append(f"  {name}: {{{shape}, density: 1000, pose: {{xyz: {first}}}, repeat: {{{repeat}, {jitter}}}}}")
    return "\n".join(lines) + "\n"


def make_kernel(R, stages: list, name: str):
    """kernel(n, structs): n collision stages, one after another; one world, one lane."""
    if len(stages) == 1:
        (f,), S = (s.func for s in stages), stages[0].struct

        @wp.kernel(module=f"bench_{name}", enable_backward=False)
        def one(n: int, s: S):
            for _ in range(n):
                f(s, 0, 0)

        return one
    (f0, f1), (S0, S1) = (s.func for s in stages), (s.struct for s in stages)

    @wp.kernel(module=f"bench_{name}", enable_backward=False)
    def both(n: int, s0: S0, s1: S1):
        for _ in range(n):
            f0(s0, 0, 0)
            f1(s1, 0, 0)

    return both


class Ours:
    """The collision stages of a simulation at its present state."""

    def __init__(self, sim: Simulation):
        self.sim = sim
        wide, narrow = broadphase.make(sim.R), narrowphase.make(sim.R)
        larger = sim.capacity
        while larger is not None:
            sim.arrays["need"].zero_()
            sim._launcher.launch(wide)
            sim._launcher.launch(narrow)
            larger = grown(sim.capacity, sim.arrays["need"].numpy()[0], sim.model, 1)
            if larger is not None:
                for name in SAVED:
                    wp.copy(sim._saved[name], sim.arrays[name])
                sim._grow(larger)
        self.kernels = {
            "broad": (make_kernel(sim.R, [wide], "broad"), [sim._launcher.bound(wide)]),
            "both": (make_kernel(sim.R, [wide, narrow], "both"), [sim._launcher.bound(wide), sim._launcher.bound(narrow)]),
        }
        self.near = int(sim.arrays["near_count"].numpy()[0])
        self.contacts = int(sim.arrays["ncontact"].numpy()[0])

    def seconds(self, which: str, n: int) -> float:
        kernel, bound = self.kernels[which]
        began = time.process_time()
        wp.launch(kernel, dim=1, inputs=[n, *bound], block_dim=1, device="cpu")
        return (time.process_time() - began) / n


def timed(run, least: float = 0.1) -> float:
    """Median of the seconds of one call in runs of `least` seconds each."""
    n = max(1, int(least / max(run(1), 1.0e-7)))
    return statistics.median(run(n) for _ in range(REPEATS))


def scaling(sizes: list[int]) -> list[dict]:
    rows = []
    for n in sizes:
        began = time.perf_counter()
        scene = loads(lattice_text(n), file="lattice.yaml")
        read = time.perf_counter() - began
        sim = Simulation(scene, device="cpu")
        built = time.perf_counter() - began - read
        sim._begin()
        ours, bodies = Ours(sim), sim.model.sizes["nbody"]
        row = {"bodies": bodies, "near": ours.near, "contacts": ours.contacts, "read_s": read, "build_s": built}
        row |= {f"{k}_us": 1.0e6 * timed(lambda m, k=k, o=ours: o.seconds(k, m)) for k in ours.kernels}
        row |= {f"{k}_ns_per_body": 1.0e3 * row[f"{k}_us"] / bodies for k in ours.kernels}
        rows.append(row)
        print(" ".join(f"{k} {v:.4g}" for k, v in row.items()), flush=True)
    return rows


def started(scene, settle: float, listed: int) -> Ours:
    """The scene after some seconds, with a list of pairs where there are at most `listed`."""
    sapsim.model.pairs.LISTED = listed
    sim = Simulation(scene, device="cpu")
    if settle:
        sim.advance(round(settle / sim.scene.time_step))
    else:
        sim._begin()
    return Ours(sim)


def both_ways(names: list[str], settle: float) -> list[dict]:
    rows = []
    for name in names:
        if name.isdigit():
            scene, seconds = loads(lattice_text(int(name)), file="lattice.yaml"), 0.0
        else:
            case, _, boxes = name.partition(":")
            wishes = cases.Wishes(boxes=boxes or "faces")
            scene, seconds = cases.make_cases([case], [None], wishes)[0].scene(wishes.boxes)[0], settle
        ways = {"list": started(scene, seconds, 10**9), "grid": started(scene, seconds, 0)}
        shapes = ways["list"].sim.model.sizes["nshape"]
        row = {"scene": name, "shapes": shapes, "pairs": shapes * (shapes - 1) // 2}
        row |= {f"{way}_near": ours.near for way, ours in ways.items()}
        for which in ("broad", "both"):
            times = [[timed(lambda n, o=o, k=which: o.seconds(k, n), 0.03) for o in ways.values()] for _ in range(5)]
            row |= {f"{way}_{which}_us": 1.0e6 * t for way, t in zip(ways, np.median(times, axis=0), strict=True)}
        rows.append(row)
        print(" ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()), flush=True)
    return rows


def beside_mujoco(names: list[str], settle: float) -> list[dict]:
    import mujoco

    from sapsim.bench.peers.mujoco import Engine

    rows = []
    for name in names:
        case = cases.make_cases([name], [None], cases.Wishes())[0]
        sim = Simulation(case.scene()[0], device="cpu")
        sim.advance(round(settle / sim.scene.time_step))
        ours, engine = Ours(sim), Engine(case)
        m, d = engine.model, engine.datas[0]
        p, R = (sim.arrays[x].numpy()[0, : m.nbody - 1] for x in ("p_WB", "R_WB"))
        for b in range(m.nbody - 1):
            at = m.jnt_qposadr[m.body_jntadr[b + 1]]
            d.qpos[at : at + 3] = p[b]
            mujoco.mju_mat2Quat(d.qpos[at + 3 : at + 7], R[b].ravel())
        mujoco.mj_forward(m, d)

        def theirs(n: int, m=m, d=d) -> float:
            began = time.process_time()
            for _ in range(n):
                mujoco.mj_collision(m, d)
            return (time.process_time() - began) / n

        times = np.array([(timed(lambda n, o=ours: o.seconds("both", n)), timed(theirs)) for _ in range(3)])
        ours_us, theirs_us = 1.0e6 * np.median(times, axis=0)
        broad_us = 1.0e6 * timed(lambda n, o=ours: o.seconds("broad", n))
        row = {"scene": name, "near": ours.near, "contacts": ours.contacts, "mujoco_contacts": int(d.ncon)}
        row |= {"broad_us": broad_us, "ours_us": ours_us, "mujoco_us": theirs_us, "ratio": ours_us / theirs_us}
        rows.append(row)
        print(" ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()), flush=True)
    return rows


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--scaling", default="200,500,1000,2000", help="numbers of bodies; empty: none")
    options.add_argument("--peers", default="S4mix20,S4mix50,S4mix100", help="scenes of S4; empty: none")
    options.add_argument("--ways", default="", help="scenes of S4 or numbers of bodies")
    options.add_argument("--settle", type=float, default=1.0, help="seconds of simulation before a scene of S4 is timed")
    options.add_argument("--list", type=int, help="pairs of shapes up to which a model lists them (model/pairs.py)")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    wp.config.quiet = True
    if args.list is not None:
        sapsim.model.pairs.LISTED = args.list
    found = {
        "scaling": scaling([int(n) for n in args.scaling.split(",") if n]),
        "peers": beside_mujoco([name for name in args.peers.split(",") if name], args.settle),
    }
    found["ways"] = both_ways([name for name in args.ways.split(",") if name], args.settle)
    if args.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
