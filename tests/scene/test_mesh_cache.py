"""Hulls on disk: what is read back, what is made again, and folders that cannot be written."""

import os

import numpy as np
import pytest
from mesh_files import L_FACES, L_SHAPE, body_of, obj
from test_hull import sphere_points

from sapsim.scene import decompose, mesh
from sapsim.scene.hull import convex_hull
from sapsim.scene.mesh_cache import cached_hulls, folder

HULLS = [convex_hull(sphere_points(30, seed)) for seed in range(3)] + [convex_hull(np.eye(4, 3))]
POINTS = sphere_points(10)


def count_calls():
    calls = []

    def make():
        calls.append(1)
        return HULLS

    return calls, make


def test_what_was_made_is_read(cache):
    calls, make = count_calls()
    for _ in range(3):
        found = cached_hulls("recipe", [POINTS], make)
        assert found == HULLS and [h.digest() for h in found] == [h.digest() for h in HULLS]
        assert all(h.vertices.dtype == np.float64 for h in found)
    assert len(calls) == 1 and [p.suffix for p in cache.iterdir()] == [".npz"]


@pytest.mark.parametrize(
    "recipe, arrays",
    [("other", [POINTS]), ("recipe", [POINTS * 2.0]), ("recipe", [POINTS, POINTS]), ("recipe", [POINTS.reshape(3, 10)])],
)
def test_another_content_is_made_anew(cache, recipe, arrays):
    calls, make = count_calls()
    cached_hulls("recipe", [POINTS], make)
    cached_hulls(recipe, arrays, make)
    assert len(calls) == 2 and len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("spoil", ["empty", "cut", "flipped", "text", "another hull", "folder"])
def test_a_spoilt_file_is_made_again(cache, spoil):
    calls, make = count_calls()
    cached_hulls("recipe", [POINTS], make)
    (path,) = cache.iterdir()
    content = path.read_bytes()
    if spoil == "another hull":
        with np.load(path) as stored:
            arrays = dict(stored)
        arrays["vertices1"] = arrays["vertices1"] * 2.0
        np.savez(path, **arrays)
    elif spoil == "folder":
        path.unlink()
        path.mkdir()
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        path.write_bytes({"empty": b"", "cut": content[:-40], "flipped": flipped, "text": b"no archive"}[spoil])
    for _ in range(2):
        assert cached_hulls("recipe", [POINTS], make) == HULLS
    assert len(calls) == (3 if spoil == "folder" else 2)  # a folder of that name cannot be replaced, and does no harm


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SAPSIM_CACHE_DIR", str(tmp_path / "file"))
    calls, make = count_calls()
    assert cached_hulls("recipe", [POINTS], make) == cached_hulls("recipe", [POINTS], make) == HULLS and len(calls) == 2


def test_where_the_folder_is(monkeypatch, tmp_path):
    monkeypatch.setenv("SAPSIM_CACHE_DIR", str(tmp_path))
    assert folder() == tmp_path
    monkeypatch.delenv("SAPSIM_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert folder() == tmp_path / "x" / "sapsim"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder() == tmp_path / ".cache" / "sapsim"


def test_large_hulls_and_decompositions_are_cached_and_small_hulls_are_not(cache, tmp_path, monkeypatch):
    scene = body_of(tmp_path, obj(L_SHAPE, L_FACES))
    assert not cache.exists()
    hull = convex_hull(sphere_points(300))
    first = body_of(tmp_path, obj(hull.vertices, hull.triangles))
    parts = body_of(tmp_path, obj(L_SHAPE, L_FACES), "{file: m.obj, as: decompose}")
    assert len(os.listdir(cache)) == 3  # the hull, the one with fewer corners, and the parts

    def refuse(*arguments):
        raise AssertionError("made again")

    monkeypatch.setattr(decompose, "decompose", refuse)
    monkeypatch.setattr(mesh, "reduced_hull", refuse)
    assert body_of(tmp_path, obj(hull.vertices, hull.triangles)).resolved == first.resolved
    assert body_of(tmp_path, obj(L_SHAPE, L_FACES), "{file: m.obj, as: decompose}").resolved == parts.resolved != scene.resolved
