"""The registry of kinds: a file is a kind, under its own name, with consistent sizes."""

from itertools import combinations_with_replacement

import pytest
from source import PACKAGE

from sapsim.kinds.base import code, registry

FAMILIES = ("joints", "shapes", "pairs", "contacts", "constraints")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_file_is_a_kind_under_its_own_name(family):
    files = sorted(p.stem for p in (PACKAGE / "kinds" / family).glob("*.py") if not p.stem.startswith("_"))
    assert files == list(registry(family))
    assert [kind.name for kind in registry(family).values()] == files
    assert [code(family, name) for name in files] == list(range(len(files)))


@pytest.mark.parametrize("joint", registry("joints").values(), ids=lambda k: k.name)
def test_joint_sizes_agree(joint):
    assert len(joint.q_names) == len(joint.q_units) == len(joint.neutral) == joint.nq
    assert len(joint.v_names) == len(joint.v_units) == joint.nv
    assert joint.moves == (joint.nv > 0)


def test_pairs_are_named_by_their_shapes_and_cover_them():
    """Every two shapes that can touch have one kind of pair, their own or a generic one; two half-spaces cannot, and surfaces
    touch bodies only."""
    pairs, shapes = registry("pairs"), registry("shapes")
    assert all(name == f"{pair.a}_{pair.b}" for name, pair in pairs.items())
    assert all((pair.make is None) != (pair.make_convex is None) for pair in pairs.values())
    own = sorted(tuple(sorted((pair.a, pair.b))) for pair in pairs.values())
    assert len(set(own)) == len(own)
    convex = {name for name, shape in shapes.items() if shape.convex is not None and not shape.parts}
    made_of_parts = {name for name, shape in shapes.items() if shape.parts}
    left = {p for p in combinations_with_replacement(sorted(shapes), 2) if p not in own and not set(p) <= convex}
    left -= {p for p in left if len(set(p) & convex) == 1 and set(p) & made_of_parts}
    assert left == {("plane", "plane"), ("plane", "surface"), ("surface", "surface")}
    assert [name for name, pair in pairs.items() if pair.generic] == ["convex_convex", "convex_surface"]


def test_a_pair_fits_in_its_slots():
    from sapsim.collide.narrowphase import SLOTS

    assert all(0 < pair.max_points <= SLOTS for pair in registry("pairs").values())
