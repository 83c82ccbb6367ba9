"""Stacks that are built to touch, with a margin of 1 um: whether rounding left a gap or an overlap of 1e-16 m does not show.

Without a margin a point whose depth is zero but for rounding may be no contact: its corner falls for a step while others are
held, and the stack is kicked.  With one the first step has all points of all faces, and the motion is that of a stack that is
built to overlap by 10 um.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_surface_motion import simulation

SIZE, COUNT, STEPS = 0.1, 10, 300
MARGIN = 1.0e-6  # [m]
OVERLAP = 1.0e-5  # of the stack that all are compared with [m]
TURNED = Rotation.from_euler("xyz", (0.3, 0.2, 0.1))
PLACES = {"origin": ((0.0, 0.0, 0.0), Rotation.identity()), "far": ((10.0, -7.0, 3.0), Rotation.identity()),
          "turned": ((0.0, 0.0, 0.0), TURNED), "far and turned": ((10.0, -7.0, 3.0), TURNED)}  # fmt: skip
BOX, HULL = f"box: [{SIZE}, {SIZE}, {SIZE}]", "mesh: {file: cube.obj}"
CYLINDER = f"cylinder: {{radius: 0.05, length: {SIZE}}}"
PLANE, SLAB = ("plane: {}", 0.0), ("box: [2, 2, 0.2]", -0.1)
FIELD = ("heightfield: {heights: [[0, 0], [0, 0]], size: [2, 2]}", 0.0)
# shape, its floor, turn of each against the one below [rad], points of its stack: of the floor, and of each pair
STACKS = {
    "boxes on a plane": (BOX, PLANE, 0.0, 4, 4),
    "boxes on a box": (BOX, SLAB, 0.0, 4, 4),
    "turned boxes on a box": (BOX, SLAB, 1.0e-5, 4, 8),
    "hulls on a plane": (HULL, PLANE, 0.0, 4, 4),
    "hulls on a surface": (HULL, FIELD, 0.0, 4, 4),
    "cylinders on a plane": (CYLINDER, PLANE, 0.0, 6, 8),
}


def stack(law: str, name: str, place: str, gap: float) -> str:
    """Ten bodies of 1 kg, each `gap` above what is below it."""
    shape, (floor, height), turn, _, _ = STACKS[name]
    p, R = np.array(PLACES[place][0]), PLACES[place][1]

    def pose(z: float, yaw: float = 0.0) -> str:
        q = (R * Rotation.from_euler("z", yaw)).as_quat().tolist()
        return f"pose: {{xyz: {(p + R.apply((0.0, 0.0, z))).tolist()}, quaternion: {q}}}"

    lines = ["sapsim: 1", "time_step: 0.001", f"steps: {STEPS}", f"gravity: {R.apply((0, 0, -9.81)).tolist()}"]
    lines += [f"contact: {{law: {law}, margin: {MARGIN}, default_material: {{relaxation_time: 0.005}}}}"]
    lines += [f"world: {{collision: [{{{floor}, {pose(height)}}}]}}", "bodies:"]
    lines += [f"  b{i}: {{{shape}, mass: 1, {pose((i + 0.5) * SIZE + (i + 1) * gap, i * turn)}}}" for i in range(COUNT)]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import trimesh

    folder = tmp_path_factory.mktemp("stacks")
    trimesh.creation.box((SIZE, SIZE, SIZE)).export(folder / "cube.obj")
    return folder


def motion(folder, law: str, name: str, place: str, gap: float, precision: str):
    """Numbers of contacts of all steps, and the places of the ten in the axes of the stack (steps, 10, 3)."""
    block = simulation(folder, stack(law, name, place, gap), precision).advance(STEPS)
    assert block.converged.all()
    p, R = PLACES[place]
    return block.contact_count[:, 0], (block.body_q[:, 0, :, :3] - p) @ R.as_matrix()


WHERE = [(name, "origin") for name in STACKS] + [("boxes on a plane", p) for p in ("far", "turned", "far and turned")]
WHERE += [("hulls on a plane", "far and turned"), ("turned boxes on a box", "far and turned")]


def assert_moves_as_one_that_touches(folder, law, name, place, precision, gap, same, end):
    """With gaps of -gap and gap as with none but for `same` [m], and in the end as from an overlap but for `end`; nobody is
    pushed aside, and no step has more or fewer points."""
    *_, on_floor, on_each = STACKS[name]
    _, built_in = motion(folder, law, name, place, -OVERLAP, precision)
    _, exact = motion(folder, law, name, place, 0.0, precision)
    for g in (-gap, gap):
        count, p = motion(folder, law, name, place, g, precision)
        assert (count == on_floor + (COUNT - 1) * on_each).all()
        np.testing.assert_allclose(p, exact, atol=same, rtol=0.0)
        assert np.abs(p[:, :, :2]).max() < same
        np.testing.assert_allclose(p[-1], built_in[-1], atol=end, rtol=0.0)


@pytest.mark.parametrize("name, place", WHERE)
@pytest.mark.parametrize("law", ["lagged", "sap"])
def test_a_stack_that_touches_but_for_rounding_moves_as_one_that_touches(folder, law, name, place):
    """To 0.1 nm in every step: measured 1e-11, what the solver's tolerance of 1e-6 leaves of speeds of 1e-5 m/s in a step."""
    assert_moves_as_one_that_touches(folder, law, name, place, "float64", 1.0e-16, 1.0e-10, 1.0e-8)


@pytest.mark.parametrize("name, place, ulp", [
    ("boxes on a plane", "origin", 6.0e-8), ("boxes on a plane", "far", 1.0e-6), ("boxes on a plane", "turned", 6.0e-8),
    ("hulls on a plane", "turned", 6.0e-8), ("boxes on a box", "origin", 6.0e-8),
])  # fmt: skip
def test_in_single_precision_too(folder, name, place, ulp):
    """To eight ulp of the farthest coordinate, which gaps of half an ulp at 1 m are rounded to."""
    assert_moves_as_one_that_touches(folder, "lagged", name, place, "float32", 3.0e-8, 8.0 * ulp, 8.0 * ulp)
