"""Chunks that are filtered by hand are what HDF5 itself reads, and unfinished ones never move in the file."""

import h5py
import numpy as np
import pytest

from sapsim.record.durable import DurableFile
from sapsim.record.growing import Growing


def dataset(file, dtype="f8", shape=(3,), chunk=8, compress=True):
    filters = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if compress else {}
    return file.create_dataset("x", (0, *shape), dtype, maxshape=(None, *shape), chunks=(chunk, *shape), **filters)


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u4", "i8", "bool"])
def test_hdf5_reads_what_was_filtered_here(tmp_path, dtype, compress):
    values = np.random.default_rng(0).normal(size=(37, 3)) * 100
    values = (values > 0) if dtype == "bool" else values.astype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        growing = Growing(dataset(file, np.dtype(dtype), compress=compress), compress)
        for part in np.array_split(values, [3, 4, 20, 36]):
            growing.append(part)
            growing.save()
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["x"][:] == values).all()


def test_an_unfinished_chunk_stays_in_its_place(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        growing = Growing(dataset(file), True)
        places = []
        for _ in range(8):
            growing.append(np.ones((1, 3)))
            growing.save()
            places.append(growing.dataset.id.get_chunk_info(0).byte_offset)
        assert len(set(places)) == 1


def test_full_chunks_are_compressed(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        growing = Growing(dataset(file, chunk=1000), True)
        growing.append(np.ones((1000, 3)))
        growing.save()
        assert growing.dataset.id.get_chunk_info(0).size < 1000


def test_cut_forgets_rows(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        growing = Growing(dataset(file), True)
        growing.append(np.arange(60.0).reshape(20, 3))
        growing.cut(13)
        growing.save(last=True)
        assert (file["x"][:] == np.arange(39.0).reshape(13, 3)).all()


def test_an_axis_of_length_zero_has_rows_and_no_content(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("x", (0, 0), "f8", maxshape=(None, None), chunks=(8, 1), compression="gzip", shuffle=True)
        growing = Growing(made, True)
        growing.append(np.zeros((11, 0)))
        growing.save()
        assert made.shape == (11, 0)


def test_a_failed_flush_changes_nothing(tmp_path):
    """Writes of a flush come out together or not at all."""
    disk = DurableFile(str(tmp_path / "a"))
    disk.write(b"old metadata")
    with pytest.raises(ZeroDivisionError), disk.whole():
        disk.seek(0)
        disk.write(b"new")
        raise ZeroDivisionError
    disk.close()
    assert (tmp_path / "a").read_bytes() == b"old metadata"


def test_held_writes_can_be_read(tmp_path):
    disk = DurableFile(str(tmp_path / "a"))
    disk.write(b"0123456789")
    with disk.whole():
        disk.seek(4)
        disk.write(b"abc")
        disk.seek(2)
        found = bytearray(6)
        disk.readinto(found)
        assert bytes(found) == b"23abc7" and (tmp_path / "a").read_bytes()[:10] == b"0123456789"
    disk.close()
    assert (tmp_path / "a").read_bytes() == b"0123abc789"
