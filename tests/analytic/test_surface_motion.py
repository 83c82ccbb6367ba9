"""Bodies on surfaces: as on the shapes that have the same surface, over a floor without a bump, and to and fro in a valley."""

import numpy as np
import pytest

from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

SLAB = """sapsim: 1
time_step: 0.001
steps: 1000
world: {collision: [{SHAPE, pose: {xyz: [0, 0, -0.05]}}]}
bodies:
  box: {box: [0.2, 0.16, 0.1], mass: 1, pose: {xyz: [0.013, 0.027, 0.051], rpy_deg: [0, 0, 17]}}
  can: {cylinder: {radius: 0.05, length: 0.1}, mass: 1, pose: {xyz: [0.3, 0.027, 0.051], rpy_deg: [0, 0, 17]}}
  log: {cylinder: {radius: 0.05, length: 0.1}, mass: 1, pose: {xyz: [-0.3, 0.027, 0.051], rpy_deg: [90, 0, 17]}}
  pill: {capsule: {radius: 0.05, length: 0.1}, mass: 1, pose: {xyz: [-0.3, 0.3, 0.051], rpy_deg: [90, 0, 17]}}
  ball: {sphere: 0.05, mass: 1, pose: {xyz: [0.3, 0.3, 0.051]}}
  egg: {ellipsoid: [0.05, 0.04, 0.03], mass: 1, pose: {xyz: [0.3, -0.3, 0.031]}}
  half: {box: [0.1, 0.1, 0.1], mass: 1, pose: {xyz: [0.48, 0, 0.051]}}
"""


def mesh_files(folder):
    """A slab of 1 m x 1 m x 0.1 m, each face cut into 512 triangles; and the same turned, with the digits of STL."""
    import trimesh

    slab = trimesh.creation.box((1, 1, 0.1))
    for _ in range(4):
        slab = slab.subdivide()
    slab.export(folder / "slab.obj")
    slab.apply_transform(trimesh.transformations.rotation_matrix(0.3, (1, 2, 0.5)))
    slab.export(folder / "turned.stl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("meshes")
    mesh_files(folder)
    return folder


def simulation(folder, text, precision="float64"):
    path = folder / "scene.yaml"
    path.write_text(text)
    return Simulation(load(path), device="cpu", precision=precision)


def test_bodies_rest_on_a_surface_as_on_the_hull_of_the_same_mesh(folder):
    """One that hangs half over the edge too: depths and places to 1e-9 m, and as many contacts."""
    found = {}
    for shape in ("mesh: {file: slab.obj, as: hull}", "mesh: {file: slab.obj, as: surface}"):
        block = simulation(folder, SLAB.replace("SHAPE", shape)).advance(1000)
        assert block.converged.all() and np.abs(block.body_qd[-1]).max() < 1.0e-7
        found[shape] = block.body_q[-1, 0], block.contact_count[-1, 0]
    (one, n), (two, m) = found.values()
    np.testing.assert_allclose(one, two, atol=1.0e-7)
    np.testing.assert_allclose(one[:, 2], two[:, 2], atol=1.0e-9)
    assert n == m == 22


ROLL = """sapsim: 1
time_step: 0.001
steps: 800
gravity: [GRAVITY]
world: {collision: [{mesh: {file: turned.stl, as: surface}}]}
bodies: {ball: {sphere: 0.05, mass: 1, pose: {xyz: [START]}, velocity: {linear: [SPEED]}}}
"""


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_ball_rolls_over_turned_triangles_without_a_bump(folder, precision):
    """Corners have the seven digits of STL, so triangles of the top are turned against each other by some 1e-6; the ball
    crosses a hundred sides at 1 m/s from its depth on.  The velocity along the normal stays below 1e-4 m/s."""
    import trimesh

    R = trimesh.transformations.rotation_matrix(0.3, (1, 2, 0.5))[:3, :3]

    def words(v):
        return ", ".join(repr(float(x)) for x in R @ np.array(v))

    text = ROLL.replace("GRAVITY", words((0, 0, -9.81))).replace("START", words((-0.4, 0.03, 0.09998038)))
    block = simulation(folder, text.replace("SPEED", words((1.0, 0.1, 0.0))), precision).advance(800)
    assert block.converged.all() and (block.contact_count == 1).all()
    along = block.body_qd[:, 0, 0, :3] @ R
    assert np.abs(along[:, 2]).max() < 1.0e-4
    assert along[-1, 0] == pytest.approx(1.0 / 1.4, rel=0.01)  # 5/7: it has come to roll


def test_a_box_slides_over_the_edge_of_a_table_and_falls(folder):
    """Its side is felt by nobody: it gains no speed but by falling."""
    text = """sapsim: 1
time_step: 0.001
steps: 700
contact: {default_material: {friction: 0.05}}
world: {collision: [{mesh: {file: slab.obj, as: surface}, pose: {xyz: [0, 0, -0.05]}}]}
bodies: {box: {box: [0.2, 0.16, 0.1], mass: 1, pose: {xyz: [0.3, 0.1, 0.05]}, velocity: {linear: [1, 0, 0]}}}
"""
    block = simulation(folder, text).advance(700)
    v, z = block.body_qd[:, 0, 0, :3], block.body_q[:, 0, 0, 2]
    assert block.converged.all() and z[-1] < -0.1
    assert v[:, 0].max() < 1.0 + 1.0e-9 and np.abs(v[:, 1]).max() < 0.02
    energy = 0.5 * (v**2).sum(axis=1) + 9.81 * z
    assert energy.max() < 0.5 + 9.81 * 0.05 + 1.0e-6


def test_a_ball_swings_in_a_valley_with_the_period_of_a_pendulum(tmp_path):
    """Without friction, on an arc of radius R: T = 2 pi sqrt((R - r) / g) (1 + a^2 / 16).  The valley is cut into strips of
    5 mm, on which it lies lower than the arc by up to s^2 / 8 R = 1.6 um; the depth adds 10 um to R - r."""
    R, r, amplitude = 2.0, 0.1, 0.1
    x = np.linspace(-0.4, 0.4, 161)
    np.save(tmp_path / "valley.npy", np.tile(R - np.sqrt(R**2 - x**2), (2, 1)))
    z = R - np.sqrt((R - r) ** 2 - amplitude**2)
    block = simulation(
        tmp_path,
        f"""sapsim: 1
time_step: 0.001
steps: 3500
contact: {{default_material: {{stiffness: 1.0e+6, dissipation: 0, friction: 0}}}}
world: {{collision: [{{heightfield: {{file: valley.npy, size: [0.8, 0.6]}}}}]}}
bodies: {{ball: {{sphere: {r}, mass: 1, pose: {{xyz: [{amplitude}, 0.02, {float(z)!r}]}}}}}}
""",
    ).advance(3500)
    x = block.body_q[:, 0, 0, 0]
    up = int(np.flatnonzero((x[:-1] < 0.0) & (x[1:] >= 0.0))[0])
    three_quarters = (block.step[up] - x[up] / (x[up + 1] - x[up])) * 0.001
    period = 2.0 * np.pi * np.sqrt((R - r) / 9.81) * (1.0 + (amplitude / (R - r)) ** 2 / 16.0)
    assert block.converged.all()
    assert three_quarters == pytest.approx(0.75 * period, rel=1.0e-3)
    assert x[block.step > 0.9 * period / 0.001][:500].max() == pytest.approx(amplitude, rel=0.01)


def test_a_ball_and_a_box_stay_in_a_bowl_of_triangles(tmp_path):
    """A hollow of 0.3 m x 0.3 m between walls of 45 degrees; both come to rest on its floor."""
    heights = [[3, 3, 3, 3], [3, 0, 0, 3], [3, 0, 0, 3], [3, 3, 3, 3]]
    block = simulation(
        tmp_path,
        f"""sapsim: 1
time_step: 0.002
steps: 1500
world: {{collision: [{{heightfield: {{heights: {heights}, size: [0.9, 0.9], scale: 0.1}}}}]}}
bodies:
  ball: {{sphere: 0.05, mass: 1, pose: {{xyz: [-0.2, 0.02, 0.4]}}}}
  box: {{box: [0.1, 0.08, 0.06], mass: 1, pose: {{xyz: [0.25, 0.05, 0.5], rpy_deg: [30, 20, 10]}}}}
""",
    ).advance(1500)
    assert block.converged.all()
    p = block.body_q[-1, 0, :, :3]
    assert np.abs(p[:, :2]).max() < 0.15 and p[0, 2] == pytest.approx(0.05, abs=1.0e-4)
    assert min(abs(p[1, 2] - h) for h in (0.03, 0.04, 0.05)) < 1.0e-4
    assert np.abs(block.body_qd[-1, 0, 1]).max() < 1.0e-4


def test_which_of_two_bodies_stands_first_changes_nothing(folder):
    """A ball whose middle is 1 cm below the top of a moving slab is pushed out, and its way to the slab's sides is the same."""
    ball = "  ball: {sphere: 0.05, mass: 1, pose: {xyz: [0.1, 0.2, 0.04]}}\n"
    slab = "  slab: {mesh: {file: slab.obj, as: surface}, mass: 10}\n"
    head = "sapsim: 1\ntime_step: 0.001\nsteps: 100\ngravity: [0, 0, 0]\nbodies:\n"
    found = []
    for text, order in ((ball + slab, (0, 1)), (slab + ball, (1, 0))):
        block = simulation(folder, head + text).advance(100)
        assert block.contact_count[0, 0] == 1
        found.append(block.body_qd[-1, 0][list(order)])
    assert found[0][0, 2] > 0.01  # out it comes
    np.testing.assert_allclose(found[0], found[1], rtol=1.0e-9, atol=1.0e-12)
