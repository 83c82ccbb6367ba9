"""Simulations of scenes that tests write as YAML text, and the numbers that closed forms need of their contacts."""

import tempfile
from pathlib import Path

import numpy as np

from sapsim.scene.read import load
from sapsim.scene.spec import Scene
from sapsim.step.block import Block
from sapsim.step.simulation import Simulation


def read(text: str, *overrides: str) -> Scene:
    """The scene of a YAML text; overrides are `key.path=value`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.yaml"
        path.write_text(text)
        return load(str(path), overrides=overrides)


def simulation(text: str, *overrides: str) -> Simulation:
    """The simulation of a YAML text, on the CPU."""
    return Simulation(read(text, *overrides), device="cpu")


def run(text: str, *overrides: str) -> tuple[Simulation, Block]:
    """All steps of a scene; the rows start with the first step."""
    sim = simulation(text, *overrides)
    block = sim.advance(sim.scene.steps)
    assert block.converged.all()
    return sim, block


def link(sim: Simulation, name: str) -> int:
    """The row of a link."""
    return sim.link_names.index(name)


def contacts_of(sim: Simulation, block: Block, name: str, row: int = -1, world: int = 0) -> np.ndarray:
    """Indices into block.contacts: those of a link in one row of one world."""
    c = block.contacts
    row = row % len(block.step)
    i = link(sim, name)
    return np.nonzero((c.row == row) & (c.world == world) & ((c.body_a == i) | (c.body_b == i)))[0]


def depth(sim: Simulation, block: Block, name: str, row: int = -1) -> float:
    """The mean depth of a link's contacts [m]."""
    return float(block.contacts.depth[contacts_of(sim, block, name, row)].mean())
