"""Islands: each is solved as if alone, to the bit; together they solve the whole problem; and their statistics.

Two piles far apart, of free bodies, arms and ties of all sorts; in the scene with both, their bodies, instances and constraints
stand in turn, so that shapes, trees and rows of the two alternate.
"""

from collections.abc import Callable

import numpy as np
import pytest

from sapsim.reference.islands import find_islands, merge_statistics
from sapsim.reference.sap_solver import Solution
from sapsim.reference.step import Twin
from sapsim.scene.read import loads
from sapsim.status import StepStatus
from sapsim.step.simulation import Simulation

HEAD = """
sapsim: 1
time_step: 0.005
steps: 60
contact: {law: LAW}
SOLVER
world: {collision: [{plane: {}}]}
models:
  arm:
    links:
      upper: {inertial: {mass: 1.0, com: [0.1, 0, 0], inertia: {ixx: 0.01, iyy: 0.02, izz: 0.02}}}
      lower: {inertial: {mass: 0.5, com: [0.1, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}, collision: [{sphere: 0.06}]}
    joints:
      shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], damping: 0.1, friction: 0.05,
                 limit: {lower: -0.1, upper: 0.4}}
      elbow: {type: revolute, parent: upper, child: lower, origin: {xyz: [0.3, 0, 0]}, axis: [0, 1, 0], damping: 0.02}
"""
# by section, (name, text) of each pile; section by section the two alternate
A = {
    "bodies": [
        ("a0", "{box: [0.1, 0.1, 0.1], density: 800, pose: {xyz: [0, 0, 0.055], rpy: [0.05, 0, 0.2]}}"),
        ("a1", "{box: [0.1, 0.1, 0.1], density: 800, pose: {xyz: [0.01, 0, 0.165], rpy: [0, 0.04, 0.5]}}"),
        ("a2", "{sphere: 0.05, mass: 0.5, pose: {xyz: [0.14, 0, 0.05]}, velocity: {linear: [-1, 0, 0]}}"),
        ("a3", "{sphere: 0.04, mass: 0.2, pose: {xyz: [0.24, 0, 0.2]}}"),
    ],
    "instances": [("aa", "{model: arm, pose: {xyz: [-0.45, 0, 0.16]}, joint_q: {shoulder: 0.2}, joint_qd: {elbow: 4}}")],
    "constraints": [
        ("ac", "{type: distance, a: {link: a2}, b: {link: a3}, length: 0.18, stiffness: 300, damping: 2}"),
        ("ar", "{type: distance, a: {link: a3}, b: {link: world, point: [0.24, 0, 0.4]}, length: 0.205, unilateral: true}"),
    ],
    "actuators": [("ad", "{joint: aa/elbow, kp: 5, kd: 0.2, target: 0.3, effort_limit: 2}")],
}
B = {
    "bodies": [
        ("b0", "{sphere: 0.06, mass: 0.4, pose: {xyz: [5, 0, 0.0595]}, velocity: {linear: [0.3, 0.1, 0], angular: [0, 0, 9]}}"),
        ("b1", "{box: [0.2, 0.15, 0.05], density: 500, pose: {xyz: [5.05, 0.01, 0.15], rpy: [0.2, -0.1, 0.6]}}"),
        ("b2", "{capsule: {radius: 0.04, length: 0.2}, density: 700, pose: {xyz: [5.3, 0, 0.07], rpy: [0, 1.5, 0.3]}}"),
    ],
    "instances": [("ba", "{model: arm, pose: {xyz: [4.6, 0.02, 0.1]}, joint_q: {shoulder: -0.05}, joint_qd: {shoulder: -2}}")],
    "constraints": [
        ("bc", "{type: ball, a: {link: b1, point: [0.1, 0, 0]}, b: {link: b2, point: [-0.1, 0, 0]}}"),
        ("bg", "{type: coupler, joints: [ba/shoulder, ba/elbow], ratio: 0.5}"),
        ("bt", "{type: tendon, joints: [ba/shoulder, ba/elbow], coefficients: [1, 1], upper: 0.3, stiffness: 40}"),
    ],
}  # fmt: skip
LAWS = ("lagged", "sap", "similar")


def text(*piles: dict, law: str = "lagged", solver: str = "") -> str:
    out = HEAD.replace("LAW", law).replace("SOLVER", f"solver: {{{solver}}}")
    for section in ("bodies", "instances", "constraints", "actuators"):
        rows = [pile.get(section, []) for pile in piles]
        turns = [row[i] for i in range(max(map(len, rows))) for row in rows if i < len(row)]
        out += f"{section}:\n" + "".join(f"  {name}: {what}\n" for name, what in turns) if turns else ""
    return out


def simulate(*piles: dict, steps: int = 60, start: Callable | None = None, **settings):
    sim = Simulation(loads(text(*piles, **settings), file="piles.yaml"), device="cpu")
    if start:
        start(sim)
    return sim, sim.advance(steps)


def of_pile(sim, block, letter: str) -> dict[str, np.ndarray]:
    """All that a run says of the bodies, contacts and constraints of one pile."""
    links = [i for i, name in enumerate(sim.link_names) if name.startswith(letter)]
    rows = [i for i, name in enumerate(sim.constraint_names) if name.startswith(letter)]
    c = block.contacts
    own = np.isin(c.body_b, links)
    return {
        "pose": block.body_q[:, 0, links],
        "twist": block.body_qd[:, 0, links],
        "constraints": block.constraint_impulse[:, 0, rows],
        "row": c.row[own],
        "impulse": c.impulse[own],
        "slip": c.slip_velocity[own],
    }


@pytest.mark.parametrize("form", ["v_star", "momentum"])
@pytest.mark.parametrize("law", LAWS)
def test_a_pile_moves_to_the_bit_as_if_it_were_alone(law, form):
    both = simulate(A, B, law=law, solver=f"form: {form}")
    whole = simulate(A, B, law=law, solver=f"form: {form}, islands: false")
    for pile, letter in ((A, "a"), (B, "b")):
        alone = of_pile(*simulate(pile, law=law, solver=f"form: {form}"), letter)
        found, other = of_pile(*both, letter), of_pile(*whole, letter)
        assert [key for key in alone if not np.array_equal(found[key], alone[key])] == []
        assert len(alone["row"]) > 60 and alone["constraints"].any(axis=0).sum() >= 3, "contacts and constraints must act"
        # without islands the other pile shows, in the last digits
        assert not np.array_equal(other["pose"], alone["pose"])
        np.testing.assert_allclose(other["pose"], alone["pose"], atol=1e-4)


@pytest.mark.parametrize("form", ["v_star", "momentum"])
@pytest.mark.parametrize("law", LAWS)
def test_islands_solve_the_whole_problem(law, form):
    """From the same states, at the tolerance 1e-13: the same velocity in momentum's norm, to what that leaves."""
    split, whole = (
        Simulation(loads(text(A, B, law=law, solver=f"form: {form}, relative_tolerance: 1e-13, islands: {x}"), file="p.yaml"))
        for x in ("true", "false")
    )
    twin = Twin(split.scene)
    for _ in range(12):
        before = split.advance(4)
        whole.set_state(before.joint_q[-1], before.joint_qd[-1])
        one, other = split.advance(1), whole.advance(1)
        assert one.converged.all() and other.converged.all()
        result = twin.step(before.joint_q[-1, 0], before.joint_qd[-1, 0], split.steps_done - 1)
        for block in (one, other):
            assert result.velocity_error(twin.internal(block.joint_q[-1, 0], block.joint_qd[-1, 0])) <= 1e-10
        np.testing.assert_allclose(one.cost[-1], other.cost[-1], rtol=1e-9)


def wide_net(n: int, m: int) -> dict:
    """n m spheres on the plane, each touching its neighbours: one island of more trees than bits in a word."""
    spread = f"count: [{n}, {m}, 1], spacing: [0.099, 0.099, 0], jitter: {{xyz: [0.0002, 0.0002, 0], rpy: [0, 0, 0], seed: 1}}"
    ball = f"{{sphere: 0.05, mass: 0.1, pose: {{xyz: [0, 3, 0.0499]}}, velocity: {{angular: [0, 5, 0]}}, repeat: {{{spread}}}}}"
    return {"bodies": [("n", ball)]}


def test_an_island_of_many_words_beside_others():
    """Its bits do not start at a word where another island comes before."""
    net = wide_net(9, 8)
    sim, block = simulate(B, net, steps=2)
    alone = of_pile(*simulate(net, steps=2), "n")
    found = of_pile(sim, block, "n")
    assert [key for key in alone if not np.array_equal(found[key], alone[key])] == []
    sizes = np.diff(sim.arrays["island_start"].numpy()[0][: sim.arrays["nisland"].numpy()[0] + 1])
    assert len(sizes) > 1 and 0 < sizes[0] < 64 and sizes[-1] == 72 and block.iterations.min() > 0


@pytest.mark.parametrize("form", ["v_star", "momentum"])
def test_the_islands_are_those_of_the_twin(form):
    """Connected components, also as contacts come and go; lists cover all that takes part, each once and in order."""
    sim = Simulation(loads(text(A, B, solver=f"form: {form}"), file="piles.yaml"), device="cpu")
    twin, counts = Twin(sim.scene), set()
    for _ in range(20):
        before = sim.advance(2)
        sim.advance(1)
        result = twin.step(before.joint_q[-1, 0], before.joint_qd[-1, 0], sim.steps_done - 1)
        islands = find_islands(
            twin.system, result.contacts, result.constraints, every_tree=form == "momentum", split=sim.scene.solver.islands
        )
        a = {name: sim.arrays[name].numpy()[0] for name in LISTS}
        n = a["nisland"]
        lists = {
            key: [list(a[name][a[start][k] : a[start][k + 1]]) for k in range(n)]
            for key, start, name in (
                ("trees", "island_start", "part_tree"),
                ("contacts", "island_contact_start", "island_contact"),
                ("rows", "island_active_start", "active_constraint"),
            )
        }
        assert {frozenset(trees) for trees in lists["trees"]} == {frozenset(i.trees) for i in islands} and n == len(islands)
        by_tree = {min(i.trees): i for i in islands}
        for trees, contacts, rows in zip(*lists.values(), strict=True):
            island = by_tree[min(trees)]
            assert contacts == island.contacts
            scalar = sim.model.sizes["nscalar"]
            assert rows == [r for i in island.constraints if (r := result.constraints[i].row) < scalar]
        counts.add(int(n))
    assert len(counts) > 1 and min(counts) > 1


LISTS = (
    "nisland", "island_start", "part_tree", "island_contact_start", "island_contact",
    "island_active_start", "active_constraint",
)  # fmt: skip


def test_statistics_of_a_step_sum_up_its_islands():
    """The largest iterations, the worst ratio with its scale, the sum of costs; one pile that fails to converge is enough."""
    for solver in ("", "max_iterations: 3", "line_search: backtracking", "form: momentum"):
        runs = {letters: simulate(*piles, solver=solver)[1] for letters, piles in (("a", (A,)), ("b", (B,)), ("ab", (A, B)))}
        a, b, both = runs["a"], runs["b"], runs["ab"]
        for name in ("iterations", "line_search_iterations"):
            assert np.array_equal(getattr(both, name), np.maximum(getattr(a, name), getattr(b, name)))
        worse_b = (b.residual * a.residual_scale > a.residual * b.residual_scale) | (a.residual_scale == 0.0)
        for name in ("residual", "residual_scale"):
            assert np.array_equal(getattr(both, name), np.where(worse_b, getattr(b, name), getattr(a, name)))
        np.testing.assert_allclose(both.cost, a.cost + b.cost, rtol=1e-12)
        assert np.array_equal(both.converged, a.converged & b.converged)
        assert np.array_equal(both.optimality_reached, a.optimality_reached & b.optimality_reached)
        assert np.array_equal(both.cost_reached, both.converged & (a.cost_reached | b.cost_reached))
        assert np.array_equal(both.status, a.status | b.status)
        assert worse_b.any() and not worse_b.all() and (a.iterations != b.iterations).any()
        if "max" in solver:
            assert {(bool(x), bool(y)) for x, y in zip(a.converged[:, 0], b.converged[:, 0], strict=True)} >= {(True, False)}


REST = """
sapsim: 1
time_step: 0.005
steps: 1
gravity: [0, 0, 0]
solver: {form: momentum, absolute_tolerance: 0, relative_tolerance: 0, cost_relative_tolerance: 1.0e-10}
bodies:
  still: {sphere: 0.1, mass: 1, pose: {xyz: [3, 0, 0]}}
  hit: {sphere: 0.1, mass: 1}
  fast: {sphere: 0.1, mass: 1, pose: {xyz: [0.1999, 0, 0]}, velocity: {linear: [-1, 0.3, 0]}}
"""


def test_a_step_converges_where_its_islands_do_each_by_its_own_criterion():
    """At no tolerance a body at rest is optimal at once, and a collision ends by its cost: the step has, too, by cost."""
    row = Simulation(loads(REST, file="rest.yaml"), device="cpu").advance(1)
    assert row.converged[-1, 0] and row.cost_reached[-1, 0] and not row.optimality_reached[-1, 0]
    assert row.iterations[-1, 0] > 0


def ended(optimality: bool, cost: bool, residual: float, scale: float, iterations: int, status: int = 0) -> Solution:
    v = np.zeros(0)
    flags = {"optimality_reached": optimality, "cost_reached": cost, "status": StepStatus(status)}
    return Solution(v, v, v, v, residual=residual, scale=scale, cost=scale, iterations=iterations, **flags)


def test_the_twin_sums_up_its_islands_alike():
    def merged(*found: Solution) -> Solution:
        v = np.zeros(0)
        return merge_statistics(Solution(v, v, v), list(found))

    one = merged(ended(True, False, 1.0, 10.0, 2), ended(True, True, 1.0, 8.0, 1), ended(True, False, 0.0, 0.0, 0))
    assert (one.residual, one.scale, one.cost, one.iterations) == (1.0, 8.0, 18.0, 2)
    assert one.optimality_reached and one.cost_reached and one.status == 0
    one = merged(ended(True, False, 1.0, 10.0, 2), ended(False, True, 1.0, 8.0, 1))
    assert not one.optimality_reached and one.cost_reached
    one = merged(ended(False, True, 1.0, 10.0, 2), ended(False, False, 1.0, 18.0, 100, StepStatus.MAX_ITERATIONS))
    assert not one.optimality_reached and not one.cost_reached and one.status == StepStatus.MAX_ITERATIONS
    assert merged(ended(False, False, np.nan, 10.0, 0, StepStatus.NON_FINITE), ended(True, False, 1.0, 1.0, 0)).scale == 10.0


@pytest.mark.parametrize("body", ["a2", "b0"])
def test_an_island_that_fails_stops_its_world(body):
    """Both piles keep the state before the step, whichever of them fails."""

    def start(sim):
        qd = sim.model.qd0.copy()
        link = sim.dof_names.index(next(name for name in sim.dof_names if name.startswith(body)))
        qd[link : link + 3] = (1e200, 2e200, 3e200)
        sim.set_state(sim.model.q0[None], qd[None])

    sim, block = simulate(A, B, steps=3, start=start)
    assert block.status[0, 0] & StepStatus.NON_FINITE and not block.converged[0, 0]
    assert (block.status[1:, 0] & StepStatus.WORLD_STOPPED).all()
    assert np.array_equal(block.joint_q[-1, 0], sim.model.q0)
