"""Time of the dynamics functions beside Pinocchio's: the same mechanism, 256 random states, one core, float64, one process.

    python tests/bench/dynamics_ratio.py

rnea, crba and aba from coordinates, velocities, accelerations or forces, with all that they need; cholesky factors the mass
matrix that crba left.  Ours is one launch over 256 worlds with one lane, as sapsim.dynamics.Dynamics makes it.
Pinocchio's are loops in C++ over the same states (pinocchio_loops.cpp), compiled from the headers of the package `pin` and
Eigen's (`pip install pin cmeel-eigen`; g++, two minutes, once): joints along axes of their frames have Pinocchio's own types,
and of its two conventions, local and world axes, the faster one counts.  Without a compiler Pinocchio is called from Python,
less the time of a call that does next to nothing, and the table says so.

Runs alternate; figures are medians of process CPU time with their extremes.  Before that both must agree at zero velocity: the
joints' part of M and of the forces that gravity needs.
"""

import argparse
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import warp as wp

from sapsim.dynamics import Dynamics, aba, crba, forces, inverse, kinematics, solve
from sapsim.dynamics.links import quaternion_matrix
from sapsim.kinds.base import registry
from sapsim.scene.read import load_model

WORLDS = 256
SOURCE = Path(__file__).with_name("pinocchio_loops.cpp")
FUNCTIONS = ("rnea", "crba", "aba", "cholesky")
ROBOTS = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "solo12": ("solo_description/robots/solo12.urdf", "floating"),
    "talos": ("talos_data/robots/talos_full_v2.urdf", "floating"),
    "tiago_dual": ("tiago_description/robots/tiago_dual.urdf", "floating"),
}
KINDS = {"floating": 0, "revolute": 1, "continuous": 1, "prismatic": 2}  # as pinocchio_loops.cpp numbers them
COMPILER = ["g++", "-std=c++17", "-O3", "-mavx2", "-mfma", "-DNDEBUG", "-w", "-shared", "-fPIC"]
# what Pinocchio's own build sets: its list of joints is longer than Boost's default
COMPILER += ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
COMPILER += ["-DFUSION_MAX_VECTOR_SIZE=10", "-DBOOST_FUSION_INVOKE_MAX_ARITY=10"]
BUILD = Path(tempfile.gettempdir()) / "sapsim_pinocchio"
SAME = 1.0e-9  # of M and gravity's forces, relative to their largest entry


def compiled(folder: Path) -> ctypes.CDLL | None:
    """The library of loops, compiled unless the folder has it; None without a compiler or headers."""
    include = Path(distribution("pin").locate_file("cmeel.prefix/include"))
    eigen = next((p for p in (include / "eigen3", Path("/usr/include/eigen3")) if p.is_dir()), None)
    if shutil.which(COMPILER[0]) is None or eigen is None:
        return None
    key = zlib.crc32(SOURCE.read_bytes() + " ".join(COMPILER).encode() + distribution("pin").version.encode())
    path = folder / f"pinocchio_loops_{key:x}.so"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"compiling {SOURCE.name}, which takes minutes", file=sys.stderr)
        made = path.with_suffix(f".{os.getpid()}")
        subprocess.run([*COMPILER, f"-I{include}", f"-I{eigen}", str(SOURCE), "-o", str(made)], check=True)
        made.replace(path)
    library = ctypes.CDLL(str(path))
    library.make.restype = ctypes.c_void_p
    return library


class States:
    """The samples, in the order of our bodies, which is that of Pinocchio's joints."""

    def __init__(self, dynamics: Dynamics):
        self.dynamics, m = dynamics, dynamics.model.arrays
        rng = np.random.default_rng(0)
        self.q = dynamics.random(rng)
        self.v, self.x = rng.normal(size=(2, WORLDS, dynamics.nv))
        self.inside = np.empty_like(self.q)
        self.inside[:, np.asarray(m["coordinate_from"], int)] = self.q
        at = np.asarray(m["dof_from"], int) + np.asarray(m["dof_entry"], int)
        self.order = np.argsort(at)  # of files -> of bodies
        kinds = list(registry("joints"))
        self.kinds = [kinds[c] for c in m["body_joint"]]
        self.joints = np.concatenate([[k != "floating"] * n for k, n in zip(self.kinds, m["body_nv"], strict=True)])


class Loops:
    """Pinocchio in C++."""

    called = "C++"

    def __init__(self, library: ctypes.CDLL, states: States):
        m, d = states.dynamics.model.arrays, states.dynamics
        self.library, self.nv = library, d.nv
        R = quaternion_matrix(m["body_Q_PF"][0]).reshape(-1, 9)
        values = [m["body_parent"].astype(np.int32), np.array([KINDS[k] for k in states.kinds], np.int32)]
        values += [m["body_axis"][0], np.concatenate([R, m["body_p_PF"][0]], axis=1), m["body_mass"][0], m["body_com"][0]]
        values += [m["body_inertia"][0], d.armature[states.order]]
        values = [np.ascontiguousarray(x) for x in values]
        self.mechanism = ctypes.c_void_p(library.make(d.model.sizes["nbody"], *(pointer(x) for x in values)))
        self.states = [np.ascontiguousarray(x) for x in (states.inside, states.v, states.x)]
        self.last = np.zeros(d.nv * d.nv)

    def call(self, function: str, convention: int = 0, states=None, n: int = WORLDS) -> np.ndarray:
        self.library.run(
            self.mechanism, function.encode(), convention, n, *(pointer(x) for x in states or self.states), pointer(self.last)
        )
        return self.last

    def ways(self, function: str) -> list:
        """One call to a convention."""
        return [lambda c=c: self.call(function, c) for c in ((0, 1) if function in ("crba", "aba") else (0,))]

    def at_rest(self) -> tuple[np.ndarray, np.ndarray]:
        """M and gravity's forces of the first state."""
        M = self.call("crba", n=1).reshape(self.nv, self.nv)  # by columns: its upper half is this one's lower half
        M = np.tril(M) + np.tril(M, -1).T
        zero = np.zeros_like(self.states[1])
        return M, self.call("rnea", states=[self.states[0], zero, zero], n=1)[: self.nv].copy()


class PythonCalls:
    """Pinocchio from Python: of each figure the time of as many calls that do next to nothing is to be taken."""

    called = "Python, less its calls"

    def __init__(self, states: States):
        import pinocchio as pin

        from sapsim.validate.base import Samples
        from sapsim.validate.peers.pinocchio import Peer

        d = states.dynamics
        samples = Samples(d, d, states.q, states.v, states.x, np.random.default_rng(0))
        self.pin, self.model = pin, Peer(samples).model
        self.model.gravity = pin.Motion(np.array([0.0, 0.0, -9.81]), np.zeros(3))
        self.data = self.model.createData()
        self.states = [list(x) for x in (states.inside, states.v, states.x)]

    def ways(self, function: str) -> list:
        pin, model, data = self.pin, self.model, self.data
        q, v, x = self.states
        calls = {
            "rnea": lambda i: pin.rnea(model, data, q[i], v[i], x[i]),
            "crba": lambda i: pin.crba(model, data, q[i]),
            "aba": lambda i: pin.aba(model, data, q[i], v[i], x[i]),
            "cholesky": lambda i: pin.cholesky.decompose(model, data),
        }
        call = calls[function]
        return [lambda: [call(i) for i in range(WORLDS)]]

    def overhead(self) -> float:
        """[us] of a call with a model of no joints."""
        pin, model = self.pin, self.pin.Model()
        data, none = model.createData(), np.zeros(0)
        return timed(lambda: [pin.rnea(model, data, none, none, none) for _ in range(WORLDS)], 50)

    def at_rest(self) -> tuple[np.ndarray, np.ndarray]:
        q, v, _ = self.states
        M = self.pin.crba(self.model, self.data, q[0])
        return np.triu(M) + np.triu(M, 1).T, self.pin.rnea(self.model, self.data, q[0], 0.0 * v[0], 0.0 * v[0]).copy()


class Ours:
    """The launches of a function, on states that stand in the arrays."""

    def __init__(self, states: States):
        d, R = states.dynamics, states.dynamics.R
        self.dynamics = d
        d.aba(states.q, states.v, d.rnea(states.q, states.v, states.x))
        self.stages = {
            "rnea": (kinematics.make(R), forces.make(R), inverse.make(R)),
            "crba": (kinematics.make_placements(R), crba.make(R)),
            "aba": (kinematics.make(R), forces.make(R), aba.make(R)),
            "cholesky": (solve.make_factor(R),),
        }

    def call(self, function: str) -> None:
        self.dynamics._launch(*self.stages[function])


def pointer(values: np.ndarray) -> ctypes.c_void_p:
    return values.ctypes.data_as(ctypes.c_void_p)


def timed(call, repeats: int) -> float:
    """[us] of process CPU time a state."""
    start = time.process_time()
    for _ in range(repeats):
        call()
    return 1.0e6 * (time.process_time() - start) / (repeats * WORLDS)


def check(states: States, peer) -> None:
    """Raises RuntimeError where the mechanisms are not the same."""
    d, order, joints = states.dynamics, states.order, states.joints
    M, g = d.crba(states.q)[0][np.ix_(order, order)], d.nonlinear_effects(states.q, np.zeros(d.nv))[0][order]
    M_peer, g_peer = peer.at_rest()
    for name, ours, theirs in (
        ("mass matrices", M[np.ix_(joints, joints)], M_peer[np.ix_(joints, joints)]),
        ("forces of gravity", g[joints], g_peer[joints]),
    ):
        apart = np.abs(ours - theirs).max() / np.abs(theirs).max()
        if not apart < SAME:
            raise RuntimeError(f"{name} differ by {apart:.1e} of the largest entry: not the same mechanism")


def rows_of(robot: str, runs: int, library: ctypes.CDLL | None) -> list[dict]:
    """One row to a function."""
    file, base = ROBOTS[robot]
    root = Path(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
    states = States(Dynamics(load_model(root / file, base=base), nworld=WORLDS, lanes=1))
    peer, ours = Loops(library, states) if library else PythonCalls(states), Ours(states)
    check(states, peer)
    overhead = 0.0 if library else peer.overhead()
    repeats = max(1, 2000 // states.dynamics.nv)
    found = []
    for function in FUNCTIONS:
        ours.call("crba"), [way() for way in peer.ways("crba")]
        ways = [lambda f=function: ours.call(f), *peer.ways(function)]
        times = [[timed(way, 1 + repeats // (1 if library else 8)) for way in ways] for _ in range(runs + 1)][1:]
        own, *theirs = (sorted(t) for t in zip(*times, strict=True))
        best = min(theirs, key=statistics.median)
        us, peer_us = statistics.median(own), statistics.median(best) - overhead
        found.append(
            {
                "robot": robot, "nv": states.dynamics.nv, "function": function, "us": us, "us_min": own[0], "us_max": own[-1],
                "pinocchio_us": peer_us, "pinocchio_min": best[0] - overhead, "pinocchio_max": best[-1] - overhead,
                "pinocchio_called": peer.called, "ratio": us / peer_us,
            }
        )  # fmt: skip
    return found


def print_table(rows: list[dict]) -> None:
    line = "| {:10} | {:>3} | {:8} | {:>6} | {:>14} | {:>9} | {:>14} | {:>5} |"
    print(f"Pinocchio called from: {rows[0]['pinocchio_called']}; us for one evaluation")
    print(line.format("robot", "nv", "function", "sapsim", "[min, max]", "Pinocchio", "[min, max]", "ratio"))
    print(line.format(*["---"] * 8))
    for r in rows:
        spread, peer = (f"[{r[f'{k}_min']:.2f}, {r[f'{k}_max']:.2f}]" for k in ("us", "pinocchio"))
        us, peer_us, ratio = (f"{r[k]:.2f}" for k in ("us", "pinocchio_us", "ratio"))
        print(line.format(r["robot"], r["nv"], r["function"], us, spread, peer_us, peer, ratio))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", nargs="+", default=list(ROBOTS), choices=ROBOTS)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--build", type=Path, default=BUILD, help="folder of the library")
    parser.add_argument("--python", action="store_true", help="call Pinocchio from Python")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    options = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    library = None if options.python else compiled(options.build)
    rows = [row for robot in options.robots for row in rows_of(robot, options.runs, library)]
    print(json.dumps(rows)) if options.json else print_table(rows)


if __name__ == "__main__":
    main()
