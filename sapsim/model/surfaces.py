"""Surfaces as arrays: their triangles, here called parts, what lies beside each, and a tree of boxes over them.

**Facets.**  Coplanar neighbours form a facet, which has one normal, so that contact with a flat piece does not depend on how it
is cut into triangles: a side or corner within a facet is no place where a contact polygon ends.  A facet of which some corner
is farther from its mean plane than the tolerance (a fine mesh of a round body) is taken apart into its triangles.

**Tree.**  Triangles are numbered along a curve that fills space (Morton order), so a box over consecutive ones is small; the
tree halves the row of leaves, its nodes stand in the order of a depth-first walk, and each knows where the walk goes on when
its box is missed.  The order is that of T. Karras, "Maximizing parallelism in the construction of BVHs, octrees, and k-d
trees", 2012.
"""

from typing import Any

import numpy as np

from sapsim.model.box_tree import box_tree, morton_order

# bits of tri_bits: three sides and three corners that end their facet, and whether a side is a ridge or an open end
CORNER, RIDGE = 3, 64
STRAIGHT = 1.0e-6  # sine of the turn of a facet's border at a corner that counts as none


def place_surfaces(shapes: list[Any]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays of all surfaces (fields.py), and which surface each shape has, -1 = none."""
    place: dict[Any, int] = {}
    index = [-1 if s.surface is None else place.setdefault(s.surface, len(place)) for s in shapes]
    return surface_arrays(list(place)), np.array(index, np.int32)


def surface_arrays(surfaces: list[Any]) -> dict[str, np.ndarray]:
    """Of scene.surface.Surfaces, in order."""
    parts, trees = [], []
    count = np.zeros(3, np.int64)  # vertices, parts, sides so far
    node_start = [0]
    for surface in surfaces:
        order = morton_order(surface.vertices[surface.triangles])
        triangles = surface.triangles[order]
        part = _parts(surface.vertices, triangles, surface.flat)
        tree = box_tree(surface.vertices[triangles])
        for name, kind in (("tri_corner", 0), ("ring", 0), ("tri_side", 2), ("tri_facet", 1), ("tri_beside", 1)):
            part[name] = np.where(part[name] >= 0, part[name] + count[kind], -1)
        tree["node_tri"] = np.where(tree["node_tri"] >= 0, tree["node_tri"] + count[1], -1)
        tree["node_tri_end"] = tree["node_tri_end"] + count[1]
        tree["node_next"] = tree["node_next"] + node_start[-1]
        node_start.append(node_start[-1] + len(tree["node_next"]))
        count += (len(surface.vertices), len(triangles), part.pop("sides"))
        parts.append(part)
        trees.append(tree)
    arrays = {name: _joined(name, [*parts, *trees]) for name in (*_INTS, *_VECTORS)}
    ring = [np.zeros(1, np.int64), *(np.diff(part["ring_start"]) for part in parts)]
    arrays["ring_start"] = np.cumsum(np.concatenate(ring)).astype(np.int32)
    return arrays | {"surface_node": np.array(node_start, np.int32)}


_INTS = (
    "tri_corner", "tri_side", "tri_beside", "tri_bits", "tri_facet", "ring", "node_tri", "node_tri_end", "node_next",
)  # fmt: skip
_VECTORS = {"tri_vertex": 3, "tri_plane": 4, "node_low": 3, "node_high": 3}


def _joined(name: str, tables: list[dict[str, np.ndarray]]) -> np.ndarray:
    """An array of all surfaces; of vectors with the axis of worlds."""
    found = [table[name] for table in tables if name in table]
    if name in _VECTORS:
        return np.concatenate([np.zeros((0, _VECTORS[name])), *found])[None]
    return np.concatenate([np.zeros(0, np.int64), *(x.ravel() for x in found)]).astype(np.int32)


def _parts(vertices: np.ndarray, triangles: np.ndarray, flat: float) -> dict[str, np.ndarray]:
    """Arrays of the parts of one surface, numbers from 0; and the number of `sides`."""
    normal, area = _normals(vertices, triangles)
    side, partner = _neighbours(triangles)
    opposite = np.roll(triangles, 1, axis=1)  # of side k, from corner k to the next, the third corner
    across = np.where(partner >= 0, opposite.ravel()[partner], -1)
    beside = np.where(partner >= 0, partner // 3, -1)
    height = np.where(across >= 0, np.einsum("tki,ti->tk", vertices[across] - vertices[triangles[:, :1]], normal), 0.0)
    facet = _facets(vertices, triangles, normal, area, partner, height, flat)
    border = (partner < 0) | (facet[partner // 3] != facet[:, None])
    ridge = border & ((partner < 0) | (height < 1.0e-12 * np.abs(vertices).max()))
    bits = (border << np.arange(3)).sum(axis=1) | (_turns(vertices, triangles, facet, border) << np.arange(3, 6)).sum(axis=1)
    bits |= RIDGE * ridge.any(axis=1)
    plane, lift = _planes(vertices, triangles, normal, area, facet)
    first = np.unique(facet, return_index=True)[1]
    ring_start, ring = _rings(len(vertices), triangles)
    return {
        "tri_vertex": vertices,
        "tri_corner": triangles,
        "tri_side": side,
        "tri_beside": beside,
        "tri_bits": bits,
        "tri_facet": first[facet],
        "tri_plane": np.column_stack([plane, lift]),
        "ring_start": ring_start,
        "ring": ring,
        "sides": int(side.max()) + 1,
    }


def _normals(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (m, 3) and areas (m,)."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    twice = np.linalg.norm(n, axis=1)
    return n / twice[:, None], 0.5 * twice


def _neighbours(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of every side (m, 3) its number, that of the same side of a neighbour being equal, and that neighbour's place among all
    sides; -1 where there is none, or more than one, or one that is turned the other way."""
    ends = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
    low, high = ends.min(axis=1), ends.max(axis=1)
    number = np.unique(low * (high.max() + 1) + high, return_inverse=True)[1].reshape(-1)
    order = np.argsort(number, kind="stable")
    count = np.bincount(number)
    first = np.cumsum(count) - count
    partner = np.full(len(ends), -1)
    two = np.flatnonzero(count == 2)
    one, other = order[first[two]], order[first[two] + 1]
    met = ends[one, 0] == ends[other, 1]
    partner[one[met]], partner[other[met]] = other[met], one[met]
    return number.reshape(triangles.shape), partner.reshape(triangles.shape)


def _facets(vertices, triangles, normal, area, partner, height, flat: float) -> np.ndarray:
    """Facet of every triangle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    m = len(triangles)
    other = partner // 3
    alike = np.einsum("tki,ti->tk", normal[other], normal) > 0.999
    back = np.where(partner >= 0, height.ravel()[partner], np.inf)
    level = (partner >= 0) & alike & (np.maximum(np.abs(height), np.abs(back)) <= flat)
    i, k = np.nonzero(level)
    graph = coo_array((np.ones(len(i)), (i, other[i, k])), (m, m))
    facet = connected_components(graph, directed=False)[1]
    plane, lift = _planes(vertices, triangles, normal, area, facet)
    local = vertices[triangles] - vertices[triangles[:, :1]]
    off = np.abs(np.einsum("tki,ti->tk", local, plane) + lift[:, None]).max(axis=1)
    bent = np.zeros(facet.max() + 1, bool)
    bent[facet[(off > flat) | (np.einsum("ti,ti->t", plane, normal) < 0.999)]] = True
    facet = np.where(bent[facet], facet.max() + 1 + np.arange(m), facet)
    return np.unique(facet, return_inverse=True)[1]


def _planes(vertices, triangles, normal, area, facet) -> tuple[np.ndarray, np.ndarray]:
    """Of every triangle its facet's unit normal, and how far its first corner lies above its facet's plane [m]."""
    n = np.stack([np.bincount(facet, area * normal[:, i]) for i in range(3)], axis=1)
    alone = np.bincount(facet) == 1
    first = np.unique(facet, return_index=True)[1]
    n[alone] = normal[first[alone]]
    n[~alone] /= np.linalg.norm(n[~alone], axis=1)[:, None]
    # Heights are measured from a corner of the facet, so that they are small numbers.
    start = vertices[triangles[first, 0]]
    above = np.einsum("tki,ti->tk", vertices[triangles] - start[facet][:, None], n[facet])
    mean = np.bincount(facet, area * above.mean(axis=1)) / np.bincount(facet, area)
    mean[alone] = 0.0
    return n[facet], above[:, 0] - mean[facet]


def _turns(vertices, triangles, facet, border) -> np.ndarray:
    """Whether each corner (m, 3) is one where the border of its facet turns."""
    t, k = np.nonzero(border)
    if not len(t):
        return np.zeros(triangles.shape, bool)
    n = len(vertices)
    ends = triangles[t, k], triangles[t, (k + 1) % 3]
    along = vertices[ends[1]] - vertices[ends[0]]
    along /= np.linalg.norm(along, axis=1)[:, None]
    key, at = np.unique(np.concatenate([facet[t] * n + v for v in ends]), return_inverse=True)
    at = at.reshape(2, -1)
    leaving, arriving = np.zeros((len(key), 3)), np.zeros((len(key), 3))
    np.add.at(leaving, at[0], along)
    np.add.at(arriving, at[1], along)
    once = (np.bincount(at[0], minlength=len(key)) == 1) & (np.bincount(at[1], minlength=len(key)) == 1)
    turn = np.linalg.norm(np.cross(arriving, leaving), axis=1)
    straight = once & (turn < STRAIGHT) & (np.einsum("ij,ij->i", arriving, leaving) > 0.0)
    wanted = facet[:, None] * n + triangles
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    return (key[place] == wanted) & ~straight[place]


def _rings(nvertex: int, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices that share a side with each vertex: start (nvertex + 1,), and those vertices, ascending."""
    i, j = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).T
    key = np.unique(np.concatenate([i * nvertex + j, j * nvertex + i]))
    return np.searchsorted(key, np.arange(nvertex + 1) * nvertex), key % nvertex
