"""Structures that stand by friction and normal forces alone, an arch and a card house, and a bowl that keeps what falls in.

The meshes are made here, and read as every mesh of a scene is.
"""

import numpy as np
import pytest
import trimesh

from sapsim.scene.hull import convex_hull
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

pytestmark = pytest.mark.slow
G = 9.81
H = 0.002
INNER, DEPTH, STONES, DENSITY = 1.0, 0.4, 15, 2000.0  # of arches [m, kg/m^3]


def write_obj(path, vertices, triangles) -> None:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, float).tolist()]
    path.write_text("\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(triangles).tolist())]) + "\n")


def stone(i: int, outer: float) -> np.ndarray:
    """Corners of a voussoir: a part of a half ring about y, whose joints are radial."""
    angles = np.pi * np.array([i, i + 1]) / STONES
    return np.array(
        [(-r * np.cos(a), y, r * np.sin(a)) for r in (INNER, outer) for a in angles for y in (-DEPTH / 2, DEPTH / 2)]
    )


def shell() -> trimesh.Trimesh:
    """A bowl: its lowest point at z = 0, its rim at 0.3 m, inside a half ball of 0.25 m."""
    turn = np.linspace(0.0, np.pi / 2, 9)
    outside = np.c_[0.3 * np.sin(turn), 0.3 - 0.3 * np.cos(turn)]
    inside = np.c_[0.25 * np.sin(turn), 0.3 - 0.25 * np.cos(turn)]
    outside[0, 0] = inside[0, 0] = 0.0
    return trimesh.creation.revolve(np.concatenate([outside, inside[::-1]]), sections=24)


def simulate(path, text: str, steps: int):
    """(last block of a hundred steps, poses (steps / 100, links, 7) at the end of each); every step converges."""
    (path / "scene.yaml").write_text(text)
    sim = Simulation(load(path / "scene.yaml"), device="cpu")
    poses = []
    for _ in range(steps // 100):
        block = sim.advance(100)
        assert block.converged.all()
        poses.append(block.body_q[-1, 0])
    return block, np.array(poses)


def arch(folder, outer: float, steps: int):
    """(weight of the stones, last block, poses) of an arch on two fixed springers."""
    bodies = []
    weight = 0.0
    for i in range(STONES):
        hull = convex_hull(stone(i, outer))
        weight += DENSITY * hull.volume_properties()[0] * G
        write_obj(folder / f"stone{i}.obj", hull.vertices, hull.triangles)
        bodies.append(f"  stone{i}: {{mesh: {{file: stone{i}.obj}}, density: {DENSITY}, material: stone}}")
    text = f"""sapsim: 1
time_step: {H}
steps: {steps}
materials: {{stone: {{stiffness: 1.0e+8, friction: 0.7}}}}
world:
  collision:
    - {{box: [0.6, 0.6, 0.2], pose: {{xyz: [-1.15, 0, -0.1]}}, material: stone}}
    - {{box: [0.6, 0.6, 0.2], pose: {{xyz: [1.15, 0, -0.1]}}, material: stone}}
bodies:
"""
    return weight, *simulate(folder, text + "\n".join(bodies), steps)


def test_an_arch_of_fifteen_voussoirs_stands(tmp_path):
    """Ten seconds, with a thickness of 0.26 of the mean radius.  The springers carry the weight, half each, and push inwards
    alike.  Stones creep along their joints by the law's own v_s rho / sqrt(1 - rho^2), and no faster; the thrust is a third of
    a springer's load, rho = 0.47 of what friction bears, so that is half of v_s = 1e-4 m/s at each of two sides.
    """
    weight, block, poses = arch(tmp_path, 1.3, 5000)
    creep = 1.0e-4
    assert np.linalg.norm(poses[:, :, :3], axis=2).max() < 2.0 * creep * 10.0  # all origins start at that of the world
    assert np.abs(block.body_qd[-1, 0]).max() < 2.0 * creep
    c = block.contacts
    last = (c.row == len(block.step) - 1) & (c.body_a == -1)
    force, left = c.impulse[last] / H, c.point[last, 0] < 0.0
    assert force[:, 2].sum() == pytest.approx(weight, rel=1e-5)
    assert force[left, 2].sum() == pytest.approx(weight / 2, rel=1e-3)
    assert force[left, 0].sum() == pytest.approx(-force[~left, 0].sum(), rel=1e-5)
    assert 0.2 * weight / 2 < force[left, 0].sum() < 0.7 * weight / 2


def test_a_thin_arch_falls(tmp_path):
    """A half ring holds its line of thrust from a thickness of 0.1075 of the mean radius on (Milankovitch 1907); here 0.05."""
    _, _, poses = arch(tmp_path, 1.05, 1000)
    assert np.linalg.norm(poses[-1, :, :3], axis=1).max() > 0.5


def test_a_decomposed_bowl_keeps_a_ball_and_a_box(tmp_path, monkeypatch):
    """Half a shell of 0.3 m, 0.05 m thick, whose hull would be full: both come to rest in it, below the rim."""
    monkeypatch.setenv("SAPSIM_CACHE_DIR", str(tmp_path / "cache"))
    bowl = shell()
    write_obj(tmp_path / "bowl.obj", bowl.vertices, bowl.faces)
    text = """sapsim: 1
time_step: 0.002
steps: 1500
world: {collision: [{mesh: {file: bowl.obj, as: decompose}}]}
bodies:
  ball: {sphere: 0.06, mass: 1, pose: {xyz: [0.08, 0, 0.4]}}
  box: {box: [0.08, 0.08, 0.08], mass: 1, pose: {xyz: [-0.08, 0.02, 0.4], rpy_deg: [20, 30, 0]}}
"""
    block, poses = simulate(tmp_path, text, 1500)
    assert len(load(tmp_path / "scene.yaml").world_shapes) >= 8
    # in it from the first on, seen every 0.2 s: no farther from the half ball's middle than leaves them room, but for 5 mm that
    # the parts of a decomposition may miss the shell by
    below = poses[:, :, 2] < 0.3
    assert below[-1].all() and below[2:].mean() > 0.9
    room = np.linalg.norm(poses[:, :, :3] - (0.0, 0.0, 0.3), axis=2)
    assert (room < 0.25 - np.array([0.06, 0.04]) + 0.005)[below].all()
    assert (np.hypot(poses[:, :, 0], poses[:, :, 1]) < 0.25).all()
    assert np.abs(block.body_qd[-1, 0]).max() < 0.05


def card(name: str, lengths, mass: float, x: float, z: float, lean: float = 0.0) -> str:
    """A line of `bodies`."""
    pose = f"{{xyz: [{x!r}, 0, {z!r}], rpy_deg: [0, {lean}, 0]}}"
    return f"  {name}: {{box: {list(lengths)}, mass: {mass}, material: card, pose: {pose}}}"


def card_house(storeys: int, friction: float) -> str:
    """Tents of two cards that lean by 15 degrees, on each other's edges; a board lies on the tents of a storey.

    Feet stand in the mid between two tents' tops.  Friction creeps: at the default stiction tolerance of 1e-4 m/s the feet
    slide so far in six seconds that the house falls.
    """
    half, thick, lean = 0.05, 0.0015, np.radians(15.0)  # half lengths of a card [m]
    reach = thick * np.cos(lean) + half * np.sin(lean)
    height = 2.0 * (thick * np.sin(lean) + half * np.cos(lean))
    step, z, lines = 4.0 * half * np.sin(lean) + 0.004, 0.0, []
    for k in range(storeys):
        n = storeys - k
        for i in range(n):
            for side in (-1, 1):
                x = float((i - (n - 1) / 2) * step + side * reach)
                name, lengths = f"storey{k}_{i}{'lr'[side > 0]}", (2.0 * thick, 0.06, 2.0 * half)
                lines.append(card(name, lengths, 0.002, x, float(z + height / 2), -15.0 * side))
        z += height
        if n > 1:
            lines.append(card(f"board{k}", (float((n - 1) * step + 0.02), 0.06, 2.0 * thick), 0.001 * n, 0.0, float(z + thick)))
        z += 2.0 * thick
    head = f"""sapsim: 1
time_step: 0.001
steps: 10000
contact: {{stiction_tolerance: 1.0e-5}}
materials: {{card: {{stiffness: 1.0e+5, friction: {friction}}}}}
world: {{collision: [{{plane: {{}}, material: card}}]}}
bodies:
"""
    return head + "\n".join(lines)


def test_a_card_house_of_five_storeys_stands(tmp_path):
    """Ten seconds; with a little friction it falls in the first."""
    _, poses = simulate(tmp_path, card_house(5, 0.6), 10_000)
    assert poses.shape[1] == 2 * 15 + 4
    moved = np.linalg.norm(poses[:, :, :3] - poses[0, :, :3], axis=2)
    assert moved.max() < 2.0e-3
    assert moved[-1].max() - moved[len(moved) // 2].max() < 1.0e-4
    _, fallen = simulate(tmp_path, card_house(5, 0.1), 1000)
    assert np.linalg.norm(fallen[-1, :, :3] - poses[0, :, :3], axis=1).max() > 0.05
