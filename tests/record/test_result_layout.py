"""The layout of a result file is that of contract 3: names, axes, types, attributes, scales."""

import re

import h5py
import numpy as np
import pytest
from recording import record

from sapsim.record.layout import channels

# contract 3: dataset -> (axes, kind of type); R rows, W worlds, N contacts
CONTRACT = {
    "time": ("time", "f"),
    "step": ("time", "i"),
    "world": ("world", "i"),
    "body": ("body", "O"),
    "joint": ("joint", "O"),
    "coordinate": ("coordinate", "O"),
    "dof": ("dof", "O"),
    "shape": ("shape", "O"),
    "pose": ("pose", "O"),
    "twist": ("twist", "O"),
    "xyz": ("xyz", "O"),
    "state/joint_q": ("time world coordinate", "f"),
    "state/joint_qd": ("time world dof", "f"),
    "state/joint_q_units": ("coordinate", "O"),
    "state/joint_qd_units": ("dof", "O"),
    "state/body_q": ("time world body pose", "f"),
    "state/body_qd": ("time world body twist", "f"),
    "contacts/contact": ("contacts/contact", "i"),
    "contacts/count": ("time world", "i"),
    "contacts/start": ("time world", "i"),
    **{
        f"contacts/{name}": ("contacts/contact", "i")
        for name in ("time_index", "world_index", "shape_a", "shape_b", "body_a", "body_b", "feature")
    },
    **{f"contacts/{name}": ("contacts/contact xyz", "f") for name in ("point", "normal", "impulse", "slip_velocity")},
    **{f"contacts/{name}": ("contacts/contact", "f") for name in ("depth", "stiffness", "friction")},
    **{f"solver/{name}": ("time world", "b") for name in ("converged", "optimality_reached", "cost_reached")},
    **{f"solver/{name}": ("time world", "i") for name in ("iterations", "line_search_iterations", "linear_iterations")},
    **{f"solver/{name}": ("time world", "f") for name in ("residual", "residual_scale", "cost")},
    "solver/status": ("time world", "u"),
    "solver/first_bad_step": ("world", "i"),
    **{f"config/{name}": ("", "O") for name in ("scene_yaml", "resolved_yaml", "overrides", "warnings")},
}
TYPES = {"contacts/count": "i4", "contacts/start": "i8", "solver/iterations": "i4", "solver/status": "u4"}
ATTRIBUTES = (
    "Conventions format format_version status rows_valid quaternion_order frame time_step gravity contact_law precision "
    "device seed deterministic sapsim_version warp_version scene_sha256 model_sha256 command started_at finished_at "
    "wall_seconds"
).split()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("layout") / "run.h5"
    record(path, nworld=2)
    with h5py.File(path) as opened:
        yield opened


def datasets(file) -> dict[str, h5py.Dataset]:
    found = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def axes(file, dataset) -> str:
    """Paths of the scales of a dataset's axes; a scale is its own axis."""
    if dataset.is_scale:
        return dataset.name[1:]
    return " ".join(dim[0].name[1:] for dim in dataset.dims)


@pytest.mark.parametrize("name", CONTRACT)
def test_dataset(file, name):
    dims, kind = CONTRACT[name]
    if name != "step":  # it lies along time and is no axis of others
        assert axes(file, file[name]) == dims
    else:
        assert file["step"].dims[0][0] == file["time"]
    assert file[name].dtype.kind == kind
    if name in TYPES:
        assert file[name].dtype == TYPES[name]


def test_every_dataset_says_its_units_and_name(file):
    for name, dataset in datasets(file).items():
        assert dataset.attrs["units"], name
        assert len(dataset.attrs["long_name"]) > 3, name


def test_vectors_say_their_frame(file):
    for name in ("state/body_q", "state/body_qd", "contacts/point", "contacts/normal", "contacts/impulse", "model/body_com"):
        assert file[name].attrs["frame"], name


def test_scales_on_all_axes_or_none(file):
    for name, dataset in datasets(file).items():
        if not dataset.is_scale:
            assert {len(dim) for dim in dataset.dims} <= {1}, name


def test_lengths_agree_with_scales(file):
    for name, dataset in datasets(file).items():
        if not dataset.is_scale:
            assert dataset.shape == tuple(len(dim[0]) for dim in dataset.dims), name


def test_attributes_of_the_root(file):
    attrs = file.attrs
    assert [name for name in ATTRIBUTES if name not in attrs] == []
    assert attrs["Conventions"] == "CF-1.11" and attrs["format"] == "sapsim" and attrs["format_version"] == "1.0"
    assert attrs["status"] == "complete" and attrs["rows_valid"] == 41 and attrs["quaternion_order"] == "xyzw"
    assert attrs["time_step"] == 0.01 and attrs["contact_law"] == "lagged" and tuple(attrs["gravity"]) == (0, 0, -9.81)
    for name in ("scene_sha256", "model_sha256"):
        assert re.fullmatch("[0-9a-f]{64}", attrs[name])
    for name in ("started_at", "finished_at"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", attrs[name])


def test_status_bits_are_named(file):
    attrs = file["solver/status"].attrs
    assert list(attrs["flag_masks"]) == [1, 2, 4, 8, 16, 32, 64]
    assert attrs["flag_meanings"] == (
        "max_iterations line_search_failed factorization_failed non_finite contact_overflow near_rigid_active world_stopped"
    )


def test_rows_are_chunked_along_time_and_compressed(file):
    for name in ("time", "state/body_q", "solver/status", "contacts/impulse"):
        dataset = file[name]
        assert dataset.compression == "gzip" and dataset.compression_opts == 1 and dataset.shuffle
        assert dataset.chunks[1:] == dataset.shape[1:] and dataset.maxshape[0] is None


def test_model_holds_what_the_scene_said(file):
    model = file["model"]
    assert list(model["body_mass"]) == [1.0, 2.0] and list(model["body_parent"]) == [-1, -1]
    assert list(model["joint_type"].asstr()) == ["floating"] * 2 and list(model["joint_child"]) == [0, 1]
    assert list(model["joint_q_start"]) == [0, 7] and list(model["joint_qd_start"]) == [0, 6]
    assert list(model["shape_type"].asstr()) == ["plane", "sphere", "sphere"] and list(model["shape_body"]) == [-1, 0, 1]
    assert list(model["shape_lengths"][:, 0]) == [0.0, 0.05, 0.05] and list(model["shape_stiffness"]) == [1e5] * 3
    assert file["config/scene_yaml"].asstr()[()] == "sapsim: 1\n"


def test_channels_are_found_by_their_files():
    assert list(channels()) == ["constraints", "contacts", "energy", "reactions", "solver", "state"]
    for channel in channels().values():
        assert all(dataset.dims and dataset.units and dataset.long_name for dataset in channel.grows)


def test_only_asked_channels_are_written(tmp_path):
    record(tmp_path / "run.h5", channels=("solver",))
    with h5py.File(tmp_path / "run.h5") as file:
        assert set(file) >= {"solver", "model", "config", "time"} and not {"state", "contacts"} & set(file)


def test_dtype_of_the_output(tmp_path):
    record(tmp_path / "run.h5", dtype="float32")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["state/body_q"].dtype == file["contacts/depth"].dtype == file["solver/cost"].dtype == np.float32
        assert file["time"].dtype == np.float64
