"""Result files open as netCDF-4 in xarray, also where the scene has no bodies, no joints, no contacts."""

import numpy as np
import pytest
from recording import record, whole

xarray = pytest.importorskip("xarray")

CASES = {
    "balls": {},
    "worlds": {"nworld": 3, "worlds": (0, 2)},
    "no contacts": {"plane": False},
    "no bodies": {"balls": 0},
    "nothing": {"balls": 0, "plane": False},
    "state only": {"channels": ("state",)},
    "float32, uncompressed": {"dtype": "float32", "compression": "none"},
}


@pytest.mark.parametrize("kind", CASES.values(), ids=CASES.keys())
def test_opens_as_a_tree(tmp_path, kind):
    sim = record(tmp_path / "run.h5", **kind)
    expected = whole(sim)
    worlds = list(sim.scene.output.worlds or range(sim.nworld))
    with xarray.open_datatree(tmp_path / "run.h5", engine="h5netcdf") as tree:
        tree.load()
        assert tree.attrs["format"] == "sapsim" and tree["time"].dims == ("time",)
        body_q = tree["state/body_q"]
        assert body_q.dims == ("time", "world", "body", "pose") and body_q.shape[2] == len(sim.link_names)
        np.testing.assert_array_equal(body_q.values, expected.body_q[:, worlds].astype(body_q.dtype))
        if "channels" not in kind:
            assert tree["solver/converged"].dtype == bool and bool(tree["solver/converged"].all())
            contacts = expected.contact_count[:, worlds].sum()
            assert tree["contacts/impulse"].dims == ("contact", "xyz") and len(tree["contacts/impulse"]) == contacts


def test_values_are_found_by_name(tmp_path):
    record(tmp_path / "run.h5")
    with xarray.open_datatree(tmp_path / "run.h5", engine="h5netcdf") as tree:
        height = tree["state/body_q"].sel(body="ball1", pose="z", world=0)
        np.testing.assert_array_equal(height.values, 1 - 4.905 * tree["time"].values ** 2)
