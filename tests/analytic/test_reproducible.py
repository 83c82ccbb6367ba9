"""Equal bits: from run to run, from world to world, whatever the blocks of steps, the recorded rows and the first buffers."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from yaml_scene import simulation

from sapsim.status import StepStatus
from sapsim.step import simulation as simulation_module
from sapsim.step.block import Block, Contacts
from sapsim.step.capacity import Capacity

BIN = (Path(__file__).parents[2] / "scenes" / "mixed_bin.yaml").read_text()
STEPS = 300  # the bodies land after 90 steps; 50 contacts at the end


def rows_of(block: Block) -> dict[str, np.ndarray]:
    """All arrays of a block, by name."""
    arrays = {f.name: getattr(block, f.name) for f in fields(Block) if f.name != "contacts"}
    return arrays | {f"contacts.{f.name}": getattr(block.contacts, f.name) for f in fields(Contacts)}


def assert_same_bits(a: Block, b: Block, skip: tuple[str, ...] = ()) -> None:
    a_rows, b_rows = rows_of(a), rows_of(b)
    for name, values in a_rows.items():
        if name not in skip:
            other = b_rows[name]
            assert values.dtype == other.dtype and values.shape == other.shape, name
            assert values.tobytes() == other.tobytes(), name


@pytest.fixture(scope="module")
def plain() -> Block:
    """300 steps of the bin, in one go."""
    block = simulation(BIN).advance(STEPS)
    assert block.contact_count[0, 0] < 10 < 40 < block.contact_count[-1, 0]
    return block


def test_two_simulations(plain):
    assert_same_bits(plain, simulation(BIN).advance(STEPS))


@pytest.mark.parametrize("sizes", [[1] * 40 + [260], [7, 16, 17, 60, 200]])
def test_block_sizes(plain, sizes):
    sim = simulation(BIN)
    assert sum(sizes) == STEPS
    assert_same_bits(plain, Block.joined([sim.advance(n) for n in sizes]))
    assert sim.steps_done == STEPS


@pytest.mark.parametrize("every", [4, 7])
def test_recording_every_few_steps(plain, every):
    """Rows at multiples of `every`, with the statistics of the steps since the row before (contract 3)."""
    sim = simulation(BIN, f"output.every={every}")
    sizes = [5, 100, 3, 192]
    block = Block.joined([sim.advance(n) for n in sizes])
    at = np.arange(every - 1, STEPS, every)
    assert np.array_equal(block.step, plain.step[at])
    for name in ("joint_q", "joint_qd", "body_q", "body_qd", "contact_count", "cost"):
        assert getattr(block, name).tobytes() == getattr(plain, name)[at].tobytes(), name
    of_rows = np.isin(plain.contacts.row, at)
    assert block.contacts.impulse.tobytes() == plain.contacts.impulse[of_rows].tobytes()
    assert np.array_equal(at[block.contacts.row], plain.contacts.row[of_rows])

    def merged(name: str, merge) -> np.ndarray:
        values = getattr(plain, name)[: len(at) * every]
        return merge(values.reshape(len(at), every, -1), axis=1)

    assert np.array_equal(block.converged, merged("converged", np.all))
    assert np.array_equal(block.iterations, merged("iterations", np.max))
    assert np.array_equal(block.line_search_iterations, merged("line_search_iterations", np.max))
    assert np.array_equal(block.status, merged("status", np.bitwise_or.reduce))
    with np.errstate(invalid="ignore"):
        ratio = np.nan_to_num(plain.residual / plain.residual_scale)[: len(at) * every].reshape(len(at), every)
    worst = np.arange(len(at)) * every + ratio.argmax(axis=1)
    assert np.array_equal(block.residual, plain.residual[worst])
    assert np.array_equal(block.residual_scale, plain.residual_scale[worst])


def test_last_step_is_a_row():
    """The last step of the scene is recorded, also where `every` does not divide it."""
    sim = simulation(BIN, "output.every=7", "duration=0.03")
    block = Block.joined([sim.advance(11), sim.advance(19)])
    assert block.step.tolist() == [7, 14, 21, 28, 30]


def test_totals_count_every_step(plain):
    """Counters over the run count the steps that are not recorded, too."""
    sim = simulation(BIN, "output.every=50")
    sim.advance(STEPS)
    totals = sim.totals
    assert totals.steps == STEPS
    assert totals.iterations_sum[0] == plain.iterations.sum() and totals.iterations_max[0] == plain.iterations.max()
    assert totals.contacts_sum[0] == plain.contact_count.sum() and totals.contacts_max[0] == plain.contact_count.max()
    assert totals.unconverged[0] == 0 and totals.first_bad_step[0] == -1 and totals.status[0] == 0


def test_worlds_are_equal_bit_for_bit(plain):
    """Four worlds: each is the one that runs alone."""
    block = simulation(BIN, "worlds.count=4").advance(STEPS)
    rows = rows_of(block)
    for w in range(4):
        one = block.contacts.world == w
        for name, values in rows_of(plain).items():
            if name == "step":
                found = rows[name]
            elif name == "contacts.world":
                continue
            else:
                found = rows[name][one] if name.startswith("contacts.") else rows[name][:, w : w + 1]
            assert np.ascontiguousarray(found).tobytes() == values.tobytes(), (w, name)


def test_buffers_grow_without_a_trace(plain, monkeypatch):
    """Room for one near pair, one contact, one block of the Hessian, three rows: grown as needed, nothing lost."""
    monkeypatch.setattr(simulation_module, "first_guess", lambda *_, **__: Capacity(1, 1, 1, 3))
    sim = simulation(BIN)
    blocks = [sim.advance(n) for n in (100, 1, 199)]
    assert_same_bits(plain, Block.joined(blocks))
    assert sim.capacity.contacts >= plain.contact_count.max() and sim.capacity.near > 1 and sim.capacity.hessian > 1
    # worlds grow together
    sim = simulation(BIN, "worlds.count=2")
    block = sim.advance(STEPS)
    assert np.ascontiguousarray(block.joint_q[:, 1]).tobytes() == plain.joint_q[:, 0].tobytes()


FAILING = """
sapsim: 1
time_step: 0.001
steps: 60
worlds: {count: 3}
world: {collision: [{plane: {}}]}
bodies:
  cube: {box: [0.1, 0.2, 0.3], mass: 1, pose: {xyz: [0, 0, 0.16]}}
  ball: {sphere: 0.1, mass: 1, pose: {xyz: [1, 0, 0.11]}}
"""


def test_a_world_that_fails_stops_alone():
    """The world whose velocities overflow keeps its last finite state and says so; the others are as if it were not there."""
    sim, healthy = simulation(FAILING), simulation(FAILING)
    q, v = np.tile(sim.model.q0, (3, 1)), np.tile(sim.model.qd0, (3, 1))
    v[1, 3:6] = [1e200, 2e200, 3e200]  # omega x I omega is not finite
    sim.set_state(q, v)
    block, expected = sim.advance(60), healthy.advance(60)
    assert sim.stopped.tolist() == [False, True, False] and not healthy.stopped.any()
    for w in (0, 2):
        assert np.ascontiguousarray(block.joint_q[:, w]).tobytes() == expected.joint_q[:, w].tobytes()
        assert block.converged[:, w].all() and np.all(block.status[:, w] == 0)
    assert block.status[0, 1] & StepStatus.NON_FINITE
    assert np.all(block.status[1:, 1] & StepStatus.WORLD_STOPPED)
    assert not block.converged[:, 1].any()
    assert np.array_equal(block.joint_q[:, 1], np.tile(q[1], (60, 1)))
    assert np.array_equal(block.contact_count[1:, 1], np.zeros(59))
    assert sim.totals.first_bad_step.tolist() == [-1, 1, -1]
    assert sim.totals.unconverged.tolist() == [0, 1, 0]  # the step that failed; a stopped world makes no steps


@pytest.mark.parametrize(("on_failure", "stops"), [("continue", False), ("stop", True)])
def test_a_solve_that_does_not_converge(on_failure, stops):
    """One iteration is not enough for a cube that lands on its edge: a status, not a crash; `stop` ends the world after it."""
    text = FAILING.replace("[0, 0, 0.16]}", "[0, 0, 0.16], rpy: [0.4, 0.3, 0]}, velocity: {linear: [3, 0, -5]}")
    sim = simulation(text, "solver.max_iterations=1", f"solver.on_failure={on_failure}", "worlds.count=1")
    block = sim.advance(60)
    bad = np.nonzero(block.status[:, 0] & StepStatus.MAX_ITERATIONS)[0]
    first = bad[0]
    assert not block.converged[first, 0] and sim.totals.first_bad_step[0] == first + 1
    assert np.all(np.isfinite(block.joint_q))
    assert bool(sim.stopped[0]) == stops
    after = block.status[first + 1 :, 0] & StepStatus.WORLD_STOPPED
    assert np.all(after) if stops else not np.any(after)
    moved = not np.array_equal(block.joint_q[first, 0], block.joint_q[-1, 0])
    assert moved != stops
