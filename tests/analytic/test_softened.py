"""What a run tells of contacts that the near-rigid limit of law `sap` softened, by pair of materials."""

from dataclasses import replace

import numpy as np
import pytest
from yaml_scene import read, run, simulation

from sapsim.step.simulation import Simulation

H, TAU = 0.01, 0.01
# Sliders, whose weight w = 1 / (3 m) does not depend on the depth: the limit's stiffness is 12 pi^2 m / (beta^2 h (h + tau)).
SLIDERS = """
sapsim: 1
time_step: 0.01
steps: 100
contact: {law: sap, near_rigid: 1.0}
materials:
  steel: {stiffness: 2.0e+8, relaxation_time: 0.005}
  foam: {stiffness: 2.0e+3, relaxation_time: 0.005}
models:
  ball:
    links: {ball: {inertial: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}, collision: [{sphere: 0.1}]}}
    joints: {lift: {type: prismatic, parent: world, child: ball, axis: [0, 0, 1]}}
instances:
  one: {model: ball, pose: {xyz: [0, 0, 0.1]}, material: steel}
  two: {model: ball, pose: {xyz: [1, 0, 0.1]}, material: steel, links: {ball: {mass: 3}}}
  three: {model: ball, pose: {xyz: [2, 0, 0.1]}, material: steel, links: {ball: {mass: 9}}}
  soft: {model: ball, pose: {xyz: [3, 0, 0.0]}, material: foam}
world: {collision: [{plane: {}, material: steel}]}
"""


def limit(m: float, h: float = H, beta: float = 1.0) -> float:
    """Stiffness of the near-rigid limit under a slider [N/m]."""
    return 12.0 * np.pi**2 * m / (beta**2 * h * (h + TAU))


def test_each_pair_of_materials_once():
    sim, block = run(SLIDERS)
    (found,) = sim.softened
    assert found.names == ("steel", "steel") and found.stiffness == 1e8
    assert found.least == pytest.approx(limit(1.0), rel=1e-12)
    assert found.median == pytest.approx(limit(3.0), rel=0.1)  # within half a bin, a quarter of an octave
    touching = np.isin(block.contacts.body_b, [sim.link_names.index(f"{x}/ball") for x in ("one", "two", "three")])
    assert found.count == touching.sum() > 290


def test_what_it_advises_is_the_edge():
    (found,) = simulation_after(SLIDERS).softened
    for key, value in (("time_step", found.time_step), ("contact.near_rigid", found.near_rigid)):
        assert not simulation_after(SLIDERS, f"{key}={0.999 * value}").softened
        assert simulation_after(SLIDERS, f"{key}={1.001 * value}").softened
    stiff = "materials.steel.stiffness"
    assert not simulation_after(SLIDERS, f"{stiff}={2 * 0.999 * found.least}").softened
    assert simulation_after(SLIDERS, f"{stiff}={2 * 1.001 * found.least}").softened


def simulation_after(text, *overrides):
    return run(text, *overrides)[0]


def test_other_laws_soften_nothing():
    sim, _ = run(SLIDERS, "contact.law=lagged")
    assert sim.softened == [] and sim.arrays["softened_count"].shape == (1, 1)


def test_two_pairs_and_the_default_material():
    sim, _ = run(SLIDERS.replace(", material: foam", ""), "time_step=0.05")
    assert [(p.names, p.stiffness) for p in sim.softened] == [
        (("", "steel"), pytest.approx(1e6 / 1.005)),
        (("steel", "steel"), 1e8),
    ]


def test_worlds_and_blocks_add_up():
    one = simulation_after(SLIDERS).softened[0]
    sim = Simulation(replace(read(SLIDERS), nworld=3), device="cpu")
    for n in (1, 30, 69):
        sim.advance(n)
    assert sim.softened == [replace(one, count=3 * one.count)]
    sim.reset()
    assert sim.softened == []


def test_a_stopped_world_counts_no_more():
    """How many steps it is asked for after its end depends on when the run ends."""
    counts = []
    for more in (5, 50):
        sim = simulation(SLIDERS)
        sim.advance(20)
        sim.arrays["stopped"].fill_(1)
        sim.advance(more)
        counts.append(sim.softened[0].count)
    assert counts[0] == counts[1]


def test_a_replayed_block_counts_once():
    """Room that grows within the block puts the state at its start back, counters too."""
    sim = simulation(SLIDERS)
    sim.capacity = replace(sim.capacity, contacts=1, near=1)
    sim._allocate()
    sim.advance(100)
    assert sim.capacity.contacts > 1 and sim.softened == simulation_after(SLIDERS).softened
