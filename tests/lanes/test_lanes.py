"""Any number of lanes, in either order, gives the bits of one lane; and the checks that say so catch planted faults.

One lane is the production build in this process.  The others are fibers in a process of their own each (lane_worker.py), where
barriers count.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import lane_scenes
import planted_faults
import pytest

import sapsim.errors

WORKER = Path(__file__).with_name("lane_worker.py")
SIMULATIONS = (*lane_scenes.TEXTS, lane_scenes.FUNCTIONS)
FAULTS = tuple(f"{kind}:{word}" for kind in planted_faults.KINDS for word in ("sound", "faulty"))
# Every number of lanes is a compilation of all kernels: the pair that differs most from one lane runs always.
ALWAYS = [lane_scenes.FUSED_BUILD]
ALL = [(n, order) for n in (2, 32, 128) for order in ("up", "down")]
BUILDS = [pytest.param(b, marks=() if b in ALWAYS else pytest.mark.slow, id=f"{b[0]}-{b[1]}") for b in ALL]
SMALL = [(2, "up"), (2, "down"), (32, "up"), (32, "down")]


@cache
def worker(lanes: int, order: str, jobs: tuple[str, ...]) -> dict[str, dict]:
    root = str(Path(sapsim.errors.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(WORKER), str(lanes), order, *jobs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def one_lane(name: str) -> dict[str, str]:
    return lane_scenes.run(name)


@pytest.mark.parametrize("name", SIMULATIONS)
@pytest.mark.parametrize("build", BUILDS)
def test_bits_do_not_depend_on_lanes(build, name):
    found = worker(*build, SIMULATIONS)[name]
    expected = one_lane(name)
    assert [key for key in expected if found["results"][key] != expected[key]] == []
    assert not found["counts_differ"]


@pytest.mark.slow
@pytest.mark.parametrize("name", lane_scenes.SINGLE)
@pytest.mark.parametrize("build", [(32, "down"), (2, "up")], ids=lambda b: f"{b[0]}-{b[1]}")
def test_bits_do_not_depend_on_lanes_in_float32(build, name):
    """There a solve mixes two precisions."""
    found = worker(*build, tuple(lane_scenes.SINGLE))[name]
    expected = one_lane(name)
    assert [key for key in expected if found["results"][key] != expected[key]] == []
    assert not found["counts_differ"]


# What a user's CPU runs as one kernel, and no other test (tests/conftest.py): the other form and law, the other precision.
RARE = ("chain-momentum", "puppet-similar", "tied-float32")


@pytest.mark.parametrize("name", ["bin-lagged", "chain-sap", *(pytest.param(name, marks=pytest.mark.slow) for name in RARE)])
def test_bits_do_not_depend_on_fusing_the_stages(name):
    """A GPU runs the stages as kernels of their own, the CPU as one."""
    assert lane_scenes.run(name, fused=False) == lane_scenes.run(name, fused=True)


def test_bits_do_not_depend_on_where_near_pairs_come_from():
    """The grid finds other near pairs than the list, and the same contacts in the same order."""
    assert one_lane("bin-grid") == one_lane("bin-lagged")


@pytest.mark.parametrize("kind", planted_faults.KINDS)
def test_planted_fault_is_caught(kind):
    expected = worker(1, "up", FAULTS)[f"{kind}:sound"]["results"]
    sound = [worker(*build, FAULTS)[f"{kind}:sound"] for build in SMALL]
    faulty = [worker(*build, FAULTS)[f"{kind}:faulty"] for build in SMALL]
    assert all(f["results"] == expected and not f["counts_differ"] for f in sound)
    assert any(f["results"] != expected or f["counts_differ"] for f in faulty)


def test_each_order_and_the_count_catch_what_the_others_miss():
    """Why both orders and the count are needed: each of these faults shows in one of them only."""
    up, down = worker(2, "up", FAULTS), worker(2, "down", FAULTS)
    expected = {job: found["results"] for job, found in worker(1, "up", FAULTS).items()}

    def shows(found, kind):
        return found[f"{kind}:faulty"]["results"] != expected[f"{kind}:sound"]

    assert not shows(up, "broadcast_from_first_lane") and shows(down, "broadcast_from_first_lane")
    assert shows(up, "gather_by_one_lane") and not shows(down, "gather_by_one_lane")
    assert not shows(up, "divergent_barrier") and not shows(down, "divergent_barrier")
    assert up["divergent_barrier:faulty"]["counts_differ"] and down["divergent_barrier:faulty"]["counts_differ"]
