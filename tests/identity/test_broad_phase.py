"""The broad phase leaves out what cannot touch and nothing else; its runs and bounds."""

import numpy as np
import pytest

from sapsim.bench.cases import Wishes, make_cases
from sapsim.kinds.base import bound_of, registry
from sapsim.model.pair_runs import LONGEST
from sapsim.scene.hull import convex_hull
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

CLUTTER = """\
sapsim: 1
time_step: 0.002
steps: 1000000
materials: {m: {friction: 0.4}}
world:
  collision:
    - {plane: {}, material: m}
    - {box: [0.02, 2, 1], pose: {xyz: [0.5, 0, 0.5], rpy: [0, 0, 0.3]}, material: m}
models:
  dumbbell:
    links:
      core:
        inertial: {density: 800}
        collision:
          - {sphere: 0.06, pose: {xyz: [0.12, 0, 0]}, material: m}
          - {sphere: 0.06, pose: {xyz: [-0.12, 0, 0]}, material: m}
          - {capsule: {radius: 0.03, length: 0.2}, pose: {rpy: [0, 1.5707963, 0]}, material: m}
  brick:
    links:
      core: {inertial: {density: 800}, collision: [{box: [0.3, 0.1, 0.05], material: m}]}
instances:
"""


def clutter():
    """Dumbbells of three shapes and flat bricks fall against a tilted wall."""
    lines = []
    for i in range(12):
        model = ("dumbbell", "brick")[i % 2]
        pose = f"{{xyz: [{0.33 * (i % 2)}, {0.2 * (i % 3)}, {0.15 + 0.13 * i}], rpy: [{0.4 * i}, {0.3 * i}, {0.2 * i}]}}"
        lines.append(f"  b{i}: {{model: {model}, base: floating, pose: {pose}}}")
    return loads(CLUTTER + "\n".join(lines) + "\n", file="clutter.yaml")


def without_bounds(simulation: Simulation) -> Simulation:
    """All pairs are near: bounds are infinite."""
    arrays = simulation.model.arrays
    for name, value in (("shape_radius", np.inf), ("body_reach", np.inf), ("shape_low", -np.inf), ("shape_high", np.inf)):
        arrays[name] = np.full_like(arrays[name], value)
    simulation._allocate()
    return simulation


def scene_of(name: str):
    if name == "clutter":
        return clutter()
    return make_cases([name], [None], Wishes(boxes="points"))[0].scene("points")[0]


@pytest.mark.parametrize("name, steps", [("clutter", 600), ("S3", 60), ("S4mix20", 300)])
def test_bounds_change_no_bit(name, steps):
    """The same contacts, so the same motion, bit for bit, as with every pair in the narrow phase; and far fewer near pairs."""
    bounded, unbounded = Simulation(scene_of(name), device="cpu"), without_bounds(Simulation(scene_of(name), device="cpu"))
    fewer = []
    for _ in range(10):
        for simulation in (bounded, unbounded):
            simulation.advance(steps // 10)
        near, everything = (int(s.arrays["near_count"].numpy()[0]) for s in (bounded, unbounded))
        fewer.append(near / everything)
    assert np.array_equal(bounded.arrays["q"].numpy(), unbounded.arrays["q"].numpy())
    assert bounded.totals.contacts_sum[0] == unbounded.totals.contacts_sum[0] > 0
    assert max(fewer) < 0.6


def surface(name: str, params: tuple[float, ...], directions: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the surface of a shape, one for each direction."""
    along = np.sign(directions[:, 2:]) * [0.0, 0.0, 1.0]
    around = directions * [1.0, 1.0, 0.0] / np.linalg.norm(directions[:, :2], axis=1)[:, None]
    make = {
        "box": lambda x, y, z: 0.5 * np.array((x, y, z)) * np.sign(directions),
        "sphere": lambda r: r * directions,
        "capsule": lambda r, length: r * directions + 0.5 * length * along,
        "cylinder": lambda r, length: r * around + 0.5 * length * along,
        "cone": lambda r, length: r * around * (along[:, 2:] < 0.0) + 0.5 * length * along,
        "ellipsoid": lambda x, y, z: np.array((x, y, z)) * directions,
    }
    return make[name](*params)


@pytest.mark.parametrize("name", sorted(name for name, kind in registry("shapes").items() if kind.written))
def test_bounds_hold_the_shape(name):
    """Points of the surface, from the formulas of the shapes, lie in the box and the ball, and reach both."""
    kind = registry("shapes")[name]
    rng = np.random.default_rng(1)
    params = tuple(rng.uniform(0.2, 1.0, kind.nparam))
    directions = rng.normal(size=(20000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    low, high, semi = (np.array(x) for x in bound_of(kind, kind.size(params)))
    if name == "plane":
        assert (low == -np.inf).all() and high.tolist() == [np.inf, np.inf, 0.0] and not semi.any()
        return
    points = surface(name, params, directions)
    # along any direction the extent of the sum of box and ellipsoid (collide/bounds.py); of the axes, first
    for i, d in enumerate([*np.eye(3), *-np.eye(3), *directions[:20]]):
        extent = np.where(d > 0, high, low) @ d + np.linalg.norm(d * semi)
        found = (points @ d).max()
        assert found <= extent * (1 + 1e-12)
        # 20000 directions come within 1 % of each direction; a cone's bound is that of the cylinder about it, tight along axes
        assert found >= 0.99 * extent or (name == "cone" and i >= 6)
    reach = np.linalg.norm(points, axis=1).max()
    assert 0.99 * kind.radius(kind.size(params)) <= reach <= kind.radius(kind.size(params)) * (1 + 1e-12)


def test_bounds_hold_a_hull():
    corners = np.random.default_rng(2).normal(size=(30, 3)) * [1.0, 0.5, 0.1]
    hull = convex_hull(corners)
    np.testing.assert_array_equal(hull.box, (corners.min(axis=0), corners.max(axis=0)))
    assert hull.radius == pytest.approx(np.linalg.norm(corners, axis=1).max(), rel=1e-15)
    (name,) = [name for name, kind in registry("shapes").items() if not (kind.written or kind.parts)]
    # a kind does not know the hull: its own bound is a ball, and the model takes the box
    assert bound_of(registry("shapes")[name], (0.0, hull.radius, 0.0)) == ((0.0,) * 3, (0.0,) * 3, (hull.radius,) * 3)


@pytest.mark.parametrize("name", ["clutter", "S3", "S4mix20"])
def test_runs_hold_every_pair_once(name):
    model = Simulation(scene_of(name), device="cpu").model
    m = model.arrays
    assert m["run_start"][0] == 0 and m["run_start"][-1] == len(m["pair_a"]) and np.all(np.diff(m["run_start"]) > 0)
    for first, end, body in zip(m["run_start"], m["run_start"][1:], m["run_body"], strict=False):
        assert len(set(m["pair_a"][first:end])) == 1
        bodies = set(m["shape_body"][m["pair_b"][first:end]])
        assert (bodies == {body} and end - first > 1) if body >= 0 else end - first <= LONGEST
    radius, centre = m["shape_radius"][0], np.linalg.norm(m["shape_p_BG"][0], axis=1)
    for b in range(model.sizes["nbody"]):
        own = m["shape_body"] == b
        assert m["body_reach"][0, b] >= (radius + centre)[own].max()
