"""float32 on the scenes of the repository: every step converges by its own rule (sapsim/step/precision.py), and depths are
those of float64 to what single-precision positions can hold."""

import glob
import os

import numpy as np
import pytest

from sapsim.scene.read import load
from sapsim.step.precision import FLOORS, for_precision
from sapsim.step.simulation import Simulation

SCENES = sorted(glob.glob(os.path.join(os.path.dirname(__file__), "..", "..", "scenes", "*.yaml")))
# Trajectories that part after impacts, so that the two precisions do not end in the same contacts.
CHAOTIC = {"mixed_bin"}


def last_contacts(block) -> dict[tuple[int, int, int], tuple[float, float]]:
    """(shape_a, shape_b, feature) -> (depth, largest coordinate) of the last row."""
    c = block.contacts
    last = c.row == len(block.step) - 1
    keys = zip(c.shape_a[last].tolist(), c.shape_b[last].tolist(), c.feature[last].tolist(), strict=True)
    return dict(zip(keys, zip(c.depth[last], np.abs(c.point[last]).max(axis=1), strict=True), strict=True))


@pytest.mark.parametrize("path", SCENES, ids=lambda p: os.path.basename(p).removesuffix(".yaml"))
def test_scenes_converge_and_rest_at_the_same_depth(path):
    scene = load(path)
    single, double = Simulation(scene, device="cpu", precision="float32"), Simulation(scene, device="cpu")
    block, expected = single.advance(scene.steps), double.advance(scene.steps)
    assert block.converged.all() and single.totals.unconverged.sum() == 0
    assert block.joint_q.dtype == np.float32
    if scene.name in CHAOTIC:
        return
    found, wanted = last_contacts(block), last_contacts(expected)
    if scene.name != "falling_chain":  # its links touch and leave in turn
        assert found.keys() == wanted.keys()
    for key in found.keys() & wanted.keys():
        depth, coordinate = wanted[key]
        # a depth is a difference of coordinates, each held to half an ulp, after a step that rounds several times
        tolerance = max(1.0e-3 * depth, 4.0 * np.spacing(np.float32(coordinate)))
        assert abs(found[key][0] - depth) <= tolerance, key


def test_tolerances_are_raised_and_chosen_ones_with_a_warning(tmp_path):
    text = "sapsim: 1\ntime_step: 0.001\nsteps: 1\n"
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text(text + "solver: {relative_tolerance: 1.0e-9}\n")
    (tmp_path / "c.yaml").write_text(text + "solver: {relative_tolerance: 1.0e-2}\n")
    default, chosen, loose = (for_precision(load(str(tmp_path / f"{x}.yaml")), "float32") for x in "abc")
    floor = FLOORS["float32"]["relative_tolerance"]
    assert default.solver.relative_tolerance == floor and not default.warnings
    assert chosen.solver.relative_tolerance == floor and "solver.relative_tolerance" in str(chosen.warnings[0])
    assert loose.solver.relative_tolerance == 1.0e-2
    assert for_precision(chosen, "float32").warnings == chosen.warnings
    assert for_precision(load(str(tmp_path / "b.yaml")), "float64").solver.relative_tolerance == 1.0e-9
