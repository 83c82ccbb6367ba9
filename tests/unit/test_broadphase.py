"""Broad phase: the grid and the list of pairs against all pairs, one by one, on random scenes; and the rules of what is tested.

Which pairs touch is asked of the narrow phase, so the bounds are checked too: no contact may be lost.  Which pairs come with
them is found here once more, from centres and corners.
"""

import itertools

import numpy as np
import pytest

from sapsim.collide import broadphase, narrowphase
from sapsim.kinds.base import bound_of, registry
from sapsim.model import grid, pairs
from sapsim.model.build import build
from sapsim.scene.read import loads
from sapsim.scene.spec import WORLD
from sapsim.step.capacity import grown
from sapsim.step.simulation import SAVED, Simulation

PRECISIONS = ("float64", "float32")
WAYS = ("list", "grid", "levels")
NEAR = ("near_a", "near_b", "near_kind", "near_part")
CONTACT = ("contact_a", "contact_b", "contact_feature", "contact_p", "contact_n", "contact_depth")
SHAPES = {
    "sphere": lambda rng, r: f"sphere: {r}",
    "box": lambda rng, r: f"box: {(2 * r * rng.uniform(0.2, 1.0, 3)).tolist()}",
    "capsule": lambda rng, r: f"capsule: {{radius: {r * rng.uniform(0.1, 0.6)}, length: {1.2 * r}}}",
}


def scene_text(seed: int, n: int = 60, margin: float = 0.0, far: float = 0.0, robots: int = 6, spread: float = 1.0) -> str:
    """Bodies of all kinds in sizes from 0.02 to 0.3 m, in planes and walls, with two-link robots and filters between them."""
    rng = np.random.default_rng(seed)
    lines = [
        "sapsim: 1",
        "name: random",
        "time_step: 0.001",
        "steps: 1",
        f"contact: {{margin: {margin}}}",
        "world:",
        "  collision:",
    ]
    lines += ["    - {plane: {}}", f"    - {{plane: {{}}, pose: {{xyz: [{far - 0.9}, 0, 0], rpy: [0, 1.4, 0.3]}}}}"]
    lines += [f"    - {{box: [8, 8, 0.5], pose: {{xyz: [{far}, 0, -0.2], rpy: [0.02, 0, 0]}}}}"]
    lines += [f"    - {{capsule: {{radius: 0.3, length: 3}}, pose: {{xyz: [{far}, 0.5, 0.4], rpy: [0, 1.5, 0]}}}}"]
    lines += ["models:", "  arm:", "    links:"]
    lines += ["      a: {inertial: {mass: 1}, collision: [{box: [0.3, 0.1, 0.1]}, {sphere: 0.12, pose: {xyz: [0.1, 0, 0]}}]}"]
    lines += ["      b: {inertial: {mass: 1}, collision: [{capsule: {radius: 0.05, length: 0.2}}]}"]
    lines += ["      c: {inertial: {mass: 1}, collision: [{sphere: 0.1}]}"]
    lines += ["    joints:", "      ab: {type: revolute, parent: a, child: b, origin: {xyz: [0.1, 0, 0]}}"]
    lines += ["      bc: {type: fixed, parent: b, child: c, origin: {xyz: [0, 0, 0.1]}}", "instances:"]
    place = lambda: (rng.uniform(-spread, spread, 3) * [1, 1, 0.5] + [far, 0, 0.4]).tolist()  # noqa: E731
    for i in range(robots):
        on = f"self_collision: {str(i % 2 == 0).lower()}, collision: {str(i != 3).lower()}"
        lines += [
            f"  r{i}: {{model: arm, base: floating, {on}, pose: {{xyz: {place()}, rpy: {rng.uniform(-3, 3, 3).tolist()}}}}}"
        ]
    lines.append("bodies:")
    for i in range(n):
        kind = list(SHAPES)[i % len(SHAPES)]
        shape = SHAPES[kind](rng, float(0.02 * 15 ** rng.uniform()))
        lines += [f"  b{i}: {{{shape}, mass: 1, pose: {{xyz: {place()}, rpy: {rng.uniform(-3, 3, 3).tolist()}}}}}"]
    return "\n".join(lines) + "\nfilter: [[b0, world], [b1, b2], [b4, r0], [b7, r1/b]]\n"


def simulation(monkeypatch, text: str, way: str, precision: str = "float64") -> Simulation:
    """A simulation whose near pairs come from the `list`, from the `grid`, from a grid where every size has a level, or are all
    pairs."""
    monkeypatch.setattr(pairs, "LISTED", 10**9 if way in ("list", "all") else 0)
    monkeypatch.setattr(grid, "FEW", 1 if way == "levels" else 12)
    sim = Simulation(loads(text, file="random.yaml"), device="cpu", precision=precision, fused=False)
    if way == "all":
        arrays = sim.model.arrays
        for name, value in (("shape_radius", np.inf), ("body_reach", np.inf), ("shape_low", -np.inf), ("shape_high", np.inf)):
            arrays[name] = np.full_like(arrays[name], value)
        sim._allocate()
    sim._begin()
    return sim


def collide(sim: Simulation) -> dict[str, np.ndarray]:
    """Near pairs and contacts of the present state, with room for all."""
    stages = (broadphase.make(sim.R), narrowphase.make(sim.R))
    while True:
        sim.arrays["need"].zero_()
        for stage in stages:
            sim._launcher.launch(stage)
        larger = grown(sim.capacity, sim.arrays["need"].numpy().max(axis=0), sim.model, sim.nworld)
        if larger is None:
            break
        for name in SAVED:
            sim._saved[name].assign(sim.arrays[name].numpy())
        sim._grow(larger)
    near, contacts = int(sim.arrays["near_count"].numpy()[0]), int(sim.arrays["ncontact"].numpy()[0])
    found = {name: sim.arrays[name].numpy()[0, :near] for name in NEAR}
    return found | {name: sim.arrays[name].numpy()[0, :contacts] for name in CONTACT}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "case", [{}, {"margin": 0.2}, {"far": 1.0e4}, {"n": 12, "spread": 0.2}, {"n": 150, "spread": 3.0}, {"robots": 2}], ids=str
)
def test_no_contact_is_lost_and_the_order_is_that_of_all_pairs(monkeypatch, case, precision):
    for seed in range(3):
        text = scene_text(seed, **case)
        everything = collide(simulation(monkeypatch, text, "all", precision))
        assert len(everything["contact_a"]) > 5
        for way in WAYS:
            found = collide(simulation(monkeypatch, text, way, precision))
            assert all(np.array_equal(found[name], everything[name]) for name in CONTACT)
            key = found["near_a"].astype(np.int64) * 10**6 + found["near_b"]
            assert (np.diff(key) > 0).all() and (found["near_a"] < found["near_b"]).all()
            assert (found["near_part"] == -1).all() and (found["near_kind"] >= 0).all()
            assert len(key) < len(everything["near_a"])


def corners(sim: Simulation) -> np.ndarray:
    """Bounds (n, 2, 3) in world: of the eight corners of a shape's box, with its ball or capsule's radius about them."""
    scene = sim.scene
    shapes = [*scene.world_shapes, *(shape for link in scene.links for shape in link.shapes)]
    p, R = sim.arrays["p_WG"].numpy()[0].astype(float), sim.arrays["R_WG"].numpy()[0].astype(float)
    found = []
    for i, shape in enumerate(shapes):
        kind = registry("shapes")[shape.kind]
        low, high, semi = (np.array(x, float) for x in bound_of(kind, kind.size(shape.params)))
        assert np.ptp(semi) == 0.0, "a ball about a box"
        if not np.isfinite(low).all():
            found.append([[-np.inf] * 3, [np.inf] * 3])
            continue
        at = np.array([p[i] + R[i] @ x for x in itertools.product(*zip(low, high, strict=True))])
        found.append([at.min(axis=0) - semi, at.max(axis=0) + semi])
    return np.array(found)


def gaps_of_balls_and_boxes(sim: Simulation, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far the ball about the smaller shape of a pair is from the box of the larger, along the larger's axes, or from the
    ball about it where that is more."""
    scene = sim.scene
    shapes = [*scene.world_shapes, *(shape for link in scene.links for shape in link.shapes)]
    kinds = [registry("shapes")[shape.kind] for shape in shapes]
    sizes = [kind.size(shape.params) for kind, shape in zip(kinds, shapes, strict=True)]
    radius = np.array([kind.radius(size) for kind, size in zip(kinds, sizes, strict=True)])
    low, high, semi = np.array([bound_of(kind, size) for kind, size in zip(kinds, sizes, strict=True)]).transpose(1, 0, 2)
    p, R = sim.arrays["p_WG"].numpy()[0], sim.arrays["R_WG"].numpy()[0]
    large, small = np.where(radius[a] >= radius[b], a, b), np.where(radius[a] >= radius[b], b, a)
    d = p[small] - p[large]
    x = np.einsum("nji,nj->ni", R[large], d)
    walls = np.maximum(x - (high + semi)[large], (low - semi)[large] - x).max(axis=1)
    return np.maximum(walls, np.linalg.norm(d, axis=1) - radius[large]) - radius[small]


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("way", ["list", "levels"])
def test_near_pairs_have_touching_bounds_and_all_of_these_are_near(monkeypatch, way, margin):
    """But for pairs that are parted before: by the own axes of large shapes in the grid, by bodies as a whole in the list."""
    sim = simulation(monkeypatch, scene_text(4, 100, margin), way)
    found = collide(sim)
    a, b, kind = sim.model.pairs.rules.all_pairs()
    gap = gaps_of_balls_and_boxes(sim, a, b)
    body = sim.shape_body
    if way == "levels":
        bounds = corners(sim)
        gap = np.maximum(gap, np.maximum(bounds[a, 0] - bounds[b, 1], bounds[b, 0] - bounds[a, 1]).max(axis=1))
        parted = np.isin(a, sim.model.arrays["large_shape"]) | np.isin(b, sim.model.arrays["large_shape"])
    else:
        parted = np.array([(body == body[i]).sum() > 1 for i in b])
    touching, allowed = gap <= margin - 1e-9, gap <= margin + 1e-9
    near = np.isin(a.astype(np.int64) * 10**6 + b, found["near_a"].astype(np.int64) * 10**6 + found["near_b"])
    assert near.sum() == len(found["near_a"]) > 100 and not (near & ~allowed).any()
    assert not (touching & ~near & ~parted).any() and (touching & ~parted).sum() > 100
    assert np.array_equal(kind[near], found["near_kind"])


def test_a_floor_without_end_is_near_what_reaches_it(monkeypatch):
    """And to nothing else, though no box holds it."""
    text = scene_text(0, n=40, spread=3.0, robots=2)
    sim = simulation(monkeypatch, text, "grid")
    found = collide(sim)
    floor = found["near_b"][found["near_a"] == 0]
    lowest = corners(sim)[:, 0, 2]
    filtered = sim.link_names.index("b0")
    below = {i for i in np.flatnonzero(lowest <= 1e-9).tolist() if sim.shape_body[i] not in (-1, filtered)}
    assert len(floor) and set(floor.tolist()) == below


def test_one_lane_leaves_the_slots_of_near_pairs_to_other_stages(monkeypatch):
    """It finds the points of all pairs in the slots behind them."""
    sim = simulation(monkeypatch, scene_text(2), "list")
    collide(sim)
    slots = sim.arrays["point_feature"]
    slots.fill_(-7)
    found = collide(sim)
    values = slots.numpy()[0]
    assert len(found["contact_a"]) > 5 and values.size == narrowphase.SLOTS * (sim.capacity.near + 1)
    assert (values[: -narrowphase.SLOTS] == -7).all() and (values[-narrowphase.SLOTS :] != -7).any()


def test_rules_are_the_contracts_one_by_one():
    """Beside a plain reading of contract 1.4 over the scene."""
    scene = loads(scene_text(1), file="random.yaml")
    model = build(scene)
    shapes = [(None, s) for s in scene.world_shapes] + [(k, s) for k in scene.links for s in k.shapes]
    body = model.arrays["shape_body"]
    blocked = {frozenset(pair) for pair in scene.filters}
    wanted = []
    for i, j in itertools.combinations(range(len(shapes)), 2):
        (a, s), (b, t) = shapes[i], shapes[j]
        names = [k.name if k else WORLD for k in (a, b)]
        one = a is not None and b is not None and a.instance == b.instance
        joined = one and {names[0].split("/")[-1], names[1].split("/")[-1]} & {"a"}  # b and c are one body, jointed to a
        off = (a is not None and not a.collide) or (b is not None and not b.collide) or (one and not a.self_collision)
        if body[i] != body[j] and not joined and not off and frozenset(names) not in blocked and {s.kind, t.kind} != {"plane"}:
            wanted.append((i, j))
    found = model.pairs.rules.all_pairs()
    assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == wanted


def test_a_large_model_has_no_list_and_loads_in_a_moment():
    """2,000 bodies: arrays are linear in their number."""
    text = "sapsim: 1\nname: many\ntime_step: 0.001\nsteps: 1\nworld: {collision: [{plane: {}}]}\nbodies:\n"
    text += (
        "  ball: {sphere: 0.05, mass: 1, repeat: {count: [20, 10, 10], spacing: [0.2, 0.2, 0.2]}, pose: {xyz: [0, 0, 0.1]}}\n"
    )
    model = build(loads(text, file="many.yaml"))
    assert not model.pairs.listed and model.sizes["npair"] == 0 and model.sizes["ngrid"] == 2000
    assert max(values.nbytes for values in model.arrays.values()) < 2_000_000
