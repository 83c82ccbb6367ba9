"""`as: decompose`: an L is two boxes, the same parts every time, and a ring keeps its hole."""

import numpy as np
import pytest
import trimesh
from mesh_files import L_FACES, L_SHAPE, PYRAMID, PYRAMID_FACES, body_of, obj, warnings_of

from sapsim.scene.decompose import decompose
from sapsim.scene.hull import convex_hull
from sapsim.scene.poses import matrix
from sapsim.scene.triangles import volume

pytestmark = pytest.mark.usefixtures("cache")


def size(hull):
    return volume(hull.vertices, hull.triangles)


def test_an_l_is_two_boxes(tmp_path):
    scene = body_of(tmp_path, obj(L_SHAPE, L_FACES), "{file: m.obj, as: decompose}")
    shapes = scene.links[0].shapes
    assert [s.name for s in shapes] == ["b/0/part0", "b/0/part1"] and {s.kind for s in shapes} == {"convex"}
    assert scene.warnings == () and scene.links[0].inertial.mass == pytest.approx(3000.0, rel=1e-12)
    assert sum(size(s.hull) for s in shapes) == pytest.approx(3.0, rel=1e-2)
    for shape in shapes:  # each lies within the L: no point of it is in the empty corner x > 1, y > 1
        corners = shape.hull.vertices @ matrix(shape.X_LG.q).T + shape.X_LG.p
        assert not ((corners[:, 0] > 1.02) & (corners[:, 1] > 1.02)).any()
        middle = volume(shape.hull.vertices, shape.hull.triangles)
        assert middle > 0.9 and np.linalg.norm(shape.hull.vertices.mean(axis=0)) < 0.2


def test_a_convex_mesh_is_one_part(tmp_path):
    scene = body_of(tmp_path, obj(PYRAMID, PYRAMID_FACES), "{file: m.obj, as: decompose}")
    (shape,) = scene.links[0].shapes
    assert shape.name == "b/0" and size(shape.hull) == pytest.approx(16e-3 / 3, rel=1e-3)


def test_the_same_mesh_gives_the_same_parts():
    first, again = (decompose(L_SHAPE, L_FACES, 1e-6) for _ in range(2))
    assert [h.digest() for h in first] == [h.digest() for h in again]


def test_parts_that_add_much_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("sapsim.scene.decompose.decompose", lambda v, f, tolerance: [convex_hull(v), convex_hull(v)])
    ((code, text),) = warnings_of(body_of(tmp_path, obj(L_SHAPE, L_FACES), "{file: m.obj, as: decompose}"))
    assert code == "concave-mesh" and "its 2 convex parts add 4 m^3, 133 % of its volume" in text


def test_parts_of_an_open_mesh_are_told(tmp_path, monkeypatch):
    """CoACD makes walls of its surface first; it takes a minute, and here it is not asked."""
    monkeypatch.setattr("sapsim.scene.decompose.decompose", lambda v, f, tolerance: [convex_hull(v), convex_hull(v + 1.0)])
    scene = body_of(tmp_path, obj(L_SHAPE, L_FACES[4:]), "{file: m.obj, as: decompose}", "mass: 1")
    assert len(scene.links[0].shapes) == 2 and [c for c, _ in warnings_of(scene)] == ["mesh-not-closed"] * 2
    assert "parts follow its surface" in " ".join(text for _, text in warnings_of(scene))


@pytest.mark.slow
def test_a_ring_keeps_its_hole(tmp_path):
    mesh = trimesh.creation.annulus(0.5, 1.0, 1.0, sections=24)
    scene = body_of(tmp_path, obj(mesh.vertices, mesh.faces), "{file: m.obj, as: decompose}")
    for shape in scene.links[0].shapes:
        hull, centre = shape.hull, -np.asarray(shape.X_LG.p)
        a, b, c = (hull.vertices[hull.triangles[:, k]] for k in range(3))
        normals = np.cross(b - a, c - a)
        inside = np.einsum("ij,ij->i", centre - a, normals) / np.linalg.norm(normals, axis=1)
        assert inside.max() > 0.3  # the ring's axis is well outside of every part
    total = sum(size(s.hull) for s in scene.links[0].shapes)
    assert mesh.volume < total * 1.01 and total < 1.1 * mesh.volume
