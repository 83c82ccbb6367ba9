"""Memory of the arrays: a world of few bodies takes little, a world of many takes it in proportion."""

import pytest

from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

KINDS = (
    "box: [0.1, 0.1, 0.1]", "sphere: 0.05", "capsule: {radius: 0.05, length: 0.1}", "cylinder: {radius: 0.05, length: 0.1}",
    "cone: {radius: 0.05, length: 0.1}",
)  # fmt: skip


def memory(bodies: int, worlds: int = 1, precision: str = "float64") -> Simulation:
    """`bodies` of five kinds above a plane, not stepped yet."""
    lines = ["sapsim: 1", "time_step: 0.001", "steps: 10", "world: {collision: [{plane: {}}]}", f"worlds: {{count: {worlds}}}"]
    lines += ["output: {channels: [state, solver], every: 10}", "bodies:"]
    for k, shape in enumerate(KINDS):
        count = f"[{bodies // (10 * len(KINDS))}, 10, 1]" if bodies >= 100 else f"[{bodies // len(KINDS)}, 1, 1]"
        lines.append(f"  b{k}: {{{shape}, mass: 1, pose: {{xyz: [0, 0, {0.1 + 0.2 * k}]}},")
        lines.append(f"       repeat: {{count: {count}, spacing: [0.2, 0.2, 0]}}}}")
    return Simulation(loads("\n".join(lines) + "\n", file="many.yaml"), device="cpu", precision=precision)


@pytest.mark.parametrize("precision, most", [("float64", 300_000), ("float32", 180_000)])
def test_a_world_of_twenty_bodies(precision, most):
    """Bytes of one more world, beside what all share.

    There is room for 6 x 20 + 16 = 136 near pairs, with places for eight points of 36 bytes each, 39 kB in float64, and for as
    many contacts: J of four blocks, G, its frame and what the law keeps, 600 bytes, 82 kB.  The factor has room for 560 blocks
    of 72 bytes, and clipping for 384 points, another 53 kB.  The rest, as much again, is bodies, lanes, lists and statistics.
    """
    small, large = (memory(20, worlds, precision).memory_bytes for worlds in (64, 192))
    assert 100_000 < (large - small) / 128 < most


def test_many_bodies_take_memory_in_proportion():
    """But for the graph of the elimination order, a bit for each pair of trees: 2 MB of 4,000 bodies."""
    small, large = memory(2000), memory(4000)
    graph = [sim.arrays["edge"].size * 8 for sim in (small, large)]
    assert graph == [2000 * 32 * 8, 4000 * 63 * 8]
    assert large.memory_bytes - graph[1] < 2.05 * (small.memory_bytes - graph[0])
    assert large.memory_bytes / 4000 < 50_000
