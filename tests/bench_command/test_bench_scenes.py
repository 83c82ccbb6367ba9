"""The standard scenes hold the numbers they are defined by."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from sapsim.bench.cases import Wishes, make_cases
from sapsim.bench.scenes import STANDARD, lcg, pile
from sapsim.errors import SceneError
from sapsim.scene.poses import matrix, quat_from_rpy
from sapsim.step.simulation import Simulation

# x <- (1103515245 x + 12345) mod 2^31 from 12345, by long multiplication
FIRST = [1406932606, 654583775, 1449466924, 229283573, 1109335178]


def case(name: str, **wishes):
    return make_cases([name], [None], Wishes(**wishes))[0]


def test_lcg_numbers():
    u = list(islice(lcg(), 5))
    assert u == [x / 2**31 for x in FIRST]
    assert 0.0 <= min(islice(lcg(), 1000)) and max(islice(lcg(), 1000)) < 1.0


def test_the_pile_draws_jitter_then_orientation():
    first, second = pile(20, True)[:2]
    u = [x / 2**31 for x in FIRST]
    assert first.xyz == pytest.approx((-1.5 * 0.115 + 0.02 * (u[0] - 0.5), -1.5 * 0.115 + 0.02 * (u[1] - 0.5), 0.08))
    assert first.rpy == tuple(u[2:5]) and not first.cube and first.size == 0.04
    assert second.cube and second.size == 0.035
    assert second.xyz[0] == pytest.approx(-0.5 * 0.115, abs=0.01)


@pytest.mark.parametrize("name", [name for name in STANDARD if name.startswith("S4")])
def test_the_pile_starts_in_layers_of_sixteen_inside_the_bin(name):
    bodies = pile(int(name[5:]), name[2:5] == "mix")
    p = np.array([body.xyz for body in bodies])
    assert np.all(np.abs(p[:, :2]) <= 1.5 * 0.115 + 0.01)
    assert p[:, 2] == pytest.approx(0.08 + 0.115 * (np.arange(len(bodies)) // 16))
    assert sum(body.cube for body in bodies) == (len(bodies) // 2 if "mix" in name else 0)
    # nothing overlaps at the start: balls that hold the bodies are apart, or boxes are cubes of half edge 0.035 whose
    # corners reach 0.0606, which the jitter of 0.02 and the pitch of 0.115 keep from most neighbours' balls
    gaps = np.linalg.norm(p[:, None] - p[None], axis=2) + np.eye(len(p))
    assert gaps.min() > 0.08


@pytest.mark.parametrize("boxes", ["faces", "corners"])
@pytest.mark.parametrize("name, mass", [("S1", [1.0, 1.0]), ("S2", [1.0]), ("S3", [1.0] * 10)])
def test_masses_of_the_small_scenes(name, mass, boxes):
    scene, model = case(name, boxes=boxes).scene(boxes)
    # 1e-14: a density times a volume, rounded
    assert model.arrays["body_mass"][0] == pytest.approx(mass, rel=1e-14)
    assert scene.time_step == 1e-3 and scene.contact.law == "lagged"


@pytest.mark.parametrize("boxes", ["faces", "corners"])
def test_masses_and_places_of_a_mixed_pile(boxes):
    _, model = case("S4mix20").scene(boxes)
    sphere, cube = 1000.0 * 4.0 / 3.0 * np.pi * 0.04**3, 1000.0 * 0.07**3
    assert model.arrays["body_mass"][0] == pytest.approx([sphere, cube] * 10, rel=1e-14)
    assert model.arrays["body_inertia"][0, 1] == pytest.approx(np.eye(3) * cube * 0.07**2 / 6.0, rel=1e-12, abs=1e-18)
    q = model.q0.reshape(20, 7)
    for row, body in zip(q, pile(20, True), strict=True):
        assert row[:3] == pytest.approx(body.xyz)
        assert matrix(tuple(row[3:])) == pytest.approx(matrix(quat_from_rpy(body.rpy)))


def test_pairs_have_the_stated_parameters():
    """k1 k2 / (k1 + k2), d, tau1 + tau2, mu: 5e4 N/m, 20 s/m, 0.02 s, 0.5."""
    scene, _ = case("S2").scene()
    assert {s.material for s in scene.world_shapes} == {s.material for link in scene.links for s in link.shapes}
    material = scene.world_shapes[0].material
    assert (material.stiffness, material.dissipation, material.relaxation_time, material.friction) == (1e5, 20.0, 0.01, 0.5)
    recorded = replace(scene, steps=150, output=replace(scene.output, every=1))
    contacts = Simulation(recorded, device="cpu").advance(150).contacts
    assert set(contacts.stiffness) == {5e4} and set(contacts.friction) == {0.5}


def test_corners_meet_what_they_should():
    """S3 by corners: four spheres a cube, which meet the plane and the cube below; no pair of boxes or of spheres."""
    _, faces = case("S3").scene("faces")
    _, corners = case("S3").scene("corners")
    assert len(faces.pairs.a) == 10 + 45
    assert len(corners.shape_names) == 1 + 10 * 5
    assert len(corners.pairs.a) == 10 * 4 + 10 * 9 * 4
    # S4: 10 spheres and 10 cubes, five boxes of the bin: spheres - bin, spheres - all bodies' own shapes, feet - bin,
    # feet - other cubes, cubes - cubes
    _, corners = case("S4mix20").scene("corners")
    assert len(corners.pairs.a) == 10 * 5 + 45 + 100 + 10 * 8 * 5 + 10 * 9 * 8 + 45
    # one point to every pair: no cubes against cubes
    _, points = case("S4mix20", boxes="points").scene("points")
    assert len(points.pairs.a) == len(corners.pairs.a) - 45


def test_options_reach_the_scenes():
    found = case("S2", time_step=0.005, law="sap", steps=7)
    scene, _ = found.scene()
    assert (scene.time_step, scene.contact.law, found.steps) == (0.005, "sap", 7)
    assert case("S2", time_step=0.005).steps == 400 and case("S2").steps == 2000
    assert [c.nworld for c in make_cases(["S1"], [1, 16], Wishes())] == [1, 16]


def test_all_faults_come_in_one_pass():
    with pytest.raises(SceneError) as caught:
        make_cases(["S1", "S7", "nowhere.yaml", "S4sp20"], [1, 4], Wishes())
    found = {e.file: e for e in caught.value.errors}
    assert len(caught.value.errors) == len(found) == 3
    assert found["S7"].code == "unknown-scene" and "S4mix100" in found["S7"].message and "S6hum" in found["S7"].message
    assert found["S4sp20"].suggestion == 'did you mean "S4sph20"?'
