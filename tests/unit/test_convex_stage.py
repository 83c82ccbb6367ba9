"""The stage `convex` in a simulation: only where a scene needs it, with cones' mass centres, and bodies that come to rest."""

from dataclasses import replace

import numpy as np
import pytest
import warp as wp

from sapsim.scene.hull import convex_hull
from sapsim.scene.read import loads
from sapsim.step.pipeline import step_stages
from sapsim.step.simulation import Simulation

wp.config.log_level = wp.LOG_WARNING
SCENE = """
sapsim: 1
time_step: 0.002
steps: 600
contact: {law: sap}
world: {collision: [{box: [2, 2, 0.5], pose: {xyz: [0, 0, -0.25]}}]}
bodies:
  can: {cylinder: {radius: 0.05, length: 0.1}, mass: 1, pose: {xyz: [0, 0, 0.051]}}
  log: {cylinder: {radius: 0.05, length: 0.2}, mass: 1, pose: {xyz: [0.3, 0, 0.051], rpy_deg: [90, 0, 0]}}
  cone: {cone: {radius: 0.05, length: 0.1}, mass: 1, pose: {xyz: [-0.3, 0, 0.051]}}
  egg: {ellipsoid: [0.05, 0.05, 0.03], mass: 1, pose: {xyz: [0, 0.3, 0.031]}}
  top: {cylinder: {radius: 0.04, length: 0.04}, mass: 1, pose: {xyz: [0, 0, 0.122]}}
  die: {sphere: 0.05, mass: 1, pose: {xyz: [0, -0.3, 0.051]}}
"""
CUBE = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)])
REST = {"can": 0.05, "log": 0.05, "cone": 0.05, "egg": 0.03, "top": 0.12, "die": 0.05}


def scene_with_hull():
    scene = loads(SCENE, file="rest.yaml")
    hull = convex_hull(CUBE)
    links = [
        replace(k, shapes=tuple(replace(s, kind="convex", params=(), hull=hull) for s in k.shapes)) if k.name == "die" else k
        for k in scene.links
    ]
    return replace(scene, links=type(scene.links)(links))


@pytest.mark.parametrize("precision", ("float64", "float32"))
def test_bodies_of_all_kinds_come_to_rest_where_they_belong(precision):
    """Depths are m g / k, 1e-4 m and less; nothing turns, slides or creeps."""
    scene = scene_with_hull()
    sim = Simulation(scene, device="cpu", precision=precision)
    assert sim.model.sizes["nconvexpair"] > 0
    sim.initial()
    sim.advance(600)
    p, R, V = (sim.arrays[name].numpy()[0] for name in ("p_WB", "R_WB", "V_WB"))
    for i, link in enumerate(scene.links):
        assert p[i][2] == pytest.approx(REST[link.name], abs=5.0e-4), link.name
        assert np.abs(V[i]).max() < (1.0e-6 if precision == "float64" else 2.0e-4), link.name
        upright = R[i] if link.name != "log" else R[i] @ np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
        assert upright[2, 2] > 1.0 - 1.0e-5, link.name
    assert sim.totals is not None


def test_a_cone_has_its_mass_centre_a_quarter_up():
    scene = loads(SCENE, file="rest.yaml")
    (cone,) = [link for link in scene.links if link.name == "cone"]
    np.testing.assert_allclose(cone.inertial.com, (0.0, 0.0, -0.025))
    np.testing.assert_allclose(np.diag(cone.inertial.inertia), [0.15 * 0.0025 + 0.0375 * 0.01] * 2 + [0.3 * 0.0025])


def test_other_scenes_have_no_such_stage():
    scene = loads(
        "sapsim: 1\ntime_step: 0.001\nsteps: 1\nbodies: {a: {sphere: 1, mass: 1}, b: {sphere: 1, mass: 1}}\n", file="x.yaml"
    )
    sim = Simulation(scene, device="cpu")
    assert sim.model.sizes["nconvexpair"] == 0 and sim.arrays["convex_point"].size == 1
    names = [s.name for s in step_stages(*sim._variant)]
    assert "convex" not in names
    assert [s.name for s in step_stages(*sim._variant[:4], True) if s.name not in names] == ["convex"]
