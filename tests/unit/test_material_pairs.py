"""Pairs of materials: numbered where they can meet, and within bounds where a model has no list of its pairs of shapes."""

import numpy as np
import pytest

from sapsim.model import pairs
from sapsim.model.build import build
from sapsim.model.material_pairs import MOST
from sapsim.scene.read import loads


def text(materials: int, bodies: int) -> str:
    """Bodies i of material i % materials, m0 the softest; the rarer a material, the higher its number."""
    lines = ["sapsim: 1", "name: many", "time_step: 0.001", "steps: 1", "contact: {law: sap}", "materials:"]
    lines += [f"  m{i:03}: {{stiffness: {1.0e5 + 1.0e3 * i}, relaxation_time: 0.01}}" for i in range(materials)]
    lines += ["world: {collision: [{plane: {}, material: m000}]}", "bodies:"]
    lines += [
        f"  b{i}: {{sphere: 0.1, mass: 1, material: m{i % materials:03}, pose: {{xyz: [{i}, 0, 1]}}}}" for i in range(bodies)
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("listed", [0, 10**9])
def test_every_pair_that_meets_has_its_number(monkeypatch, listed):
    monkeypatch.setattr(pairs, "LISTED", listed)
    model = build(loads(text(5, 12), file="many.yaml"))
    surface, table = model.arrays["shape_surface"], model.arrays["surface_pair"].reshape(5, 5)
    assert model.sizes["nsurface"] == 5 and len(model.material_pairs) == 15
    a, b, _ = model.pairs.rules.all_pairs()
    for i, j in zip(a.tolist(), b.tolist(), strict=True):
        number = table[surface[i], surface[j]]
        k = [1.0e5 + 1.0e3 * ((s - 1) % 5 if s else 0) for s in (i, j)]
        assert model.material_pairs[number].stiffness == pytest.approx(k[0] * k[1] / sum(k), rel=1e-12)
    assert np.array_equal(table, table.T)


def test_a_list_leaves_out_pairs_that_cannot_meet():
    """Two bodies on a plane that are filtered from one another."""
    scene = text(3, 3).replace("bodies:", "filter: [[b1, b2]]\nbodies:")
    model = build(loads(scene, file="many.yaml"))
    found = {p.names for p in model.material_pairs}
    assert ("m001", "m002") not in found and found == {("m000", "m000"), ("m000", "m001"), ("m000", "m002")}
    assert (model.arrays["surface_pair"] == -1).sum() == 9 - 5


def test_rare_materials_of_a_large_model_are_counted_together(monkeypatch):
    """As the stiffest of them: tables do not grow with the square of the number of materials."""
    monkeypatch.setattr(pairs, "LISTED", 0)
    model = build(loads(text(100, 160), file="many.yaml"))
    assert model.sizes["nsurface"] == MOST and len(model.material_pairs) == MOST * (MOST + 1) // 2
    assert model.arrays["shape_surface"].max() == MOST - 1
    others = [p for p in model.material_pairs if p.names == ("other materials", "other materials")]
    assert len(others) == 1 and others[0].stiffness == pytest.approx(0.5 * 199.0e3)
