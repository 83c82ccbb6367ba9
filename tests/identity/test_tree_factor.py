"""The factors of the mass matrix, dense and sparse, against NumPy and one another, on drawn trees and on matrices that are not
positive definite; and the tree of blocks that the storage of A and the sparse factor rest on."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sapsim.dynamics import Dynamics
from sapsim.model.build import build
from sapsim.model.trees import BLOCK, DENSE_DOFS, FACTORS
from sapsim.scene.read import loads
from sapsim.scene.spec import Scene
from sapsim.step.simulation import Simulation

sys.path.append(str(Path(__file__).parents[1] / "validate"))
from random_trees import KINDS, random_tree

BOTH = ("dense", "sparse")
# of ||D A x - D tau|| / ||D tau||, D = diag(A)^-1/2: round-off of a hundred degrees of freedom, and its growth by scaled
# condition numbers of some thousands
TOLERANCE = {"float64": 1e-11, "float32": 2e-3}


def forest(seed: int, *sizes: int) -> Scene:
    """Trees of so many links each, in one scene, roots floating and fixed by turns."""
    scenes = [random_tree(seed + i, "floating" if i % 2 == 0 else "revolute", n) for i, n in enumerate(sizes)]
    links, joints = [], []
    for i, scene in enumerate(scenes):
        links += [replace(k, name=f"{i}/{k.name}") for k in scene.links]
        for j in scene.joints:
            parent = j.parent if j.parent == "world" else f"{i}/{j.parent}"
            joints.append(replace(j, name=f"{i}/{j.name}", parent=parent, child=f"{i}/{j.child}"))
    return replace(scenes[0], links=tuple(links), joints=tuple(joints))


SCENES = {
    "small": random_tree(1, "revolute", 3),
    "medium": random_tree(2, "floating", 14),
    "large": random_tree(3, "floating", 60),
    "forest": forest(4, 3, 20, 50, 1, 9),
}


def residual(M: np.ndarray, x: np.ndarray, tau: np.ndarray) -> float:
    """The worst ||D (M x - tau)|| / ||D tau|| over the samples."""
    D = 1.0 / np.sqrt(np.einsum("wii->wi", M))
    r = np.einsum("wij,wj->wi", M, x) - tau
    return float((np.linalg.norm(D * r, axis=1) / np.linalg.norm(D * tau, axis=1)).max())


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("factor", BOTH)
@pytest.mark.parametrize("name", SCENES)
def test_both_factors_solve(name, factor, precision):
    """M x = tau, with M of the same precision, whose products with x NumPy takes in float64."""
    d = Dynamics(SCENES[name], nworld=4, factor=factor, precision=precision)
    rng = np.random.default_rng(0)
    q, tau = d.random(rng), rng.normal(size=(4, d.nv))
    x = d.solve(q, tau)
    assert residual(d.crba(q), x, tau) < TOLERANCE[precision]
    if precision == "float64":
        assert np.allclose(x, np.linalg.solve(d.crba(q), tau[..., None])[..., 0], rtol=1e-8, atol=1e-8 * np.abs(x).max())


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**31 - 1), root=st.sampled_from(["floating", *KINDS]), joints=st.integers(1, 40))
def test_both_factors_solve_on_drawn_trees(seed, root, joints):
    """100 trees of 1 to 40 joints of every kind, in both precisions."""
    for factor in BOTH:
        for precision, tolerance in TOLERANCE.items():
            d = Dynamics(random_tree(seed, root, joints), nworld=2, factor=factor, precision=precision)
            rng = np.random.default_rng(seed)
            q, tau = d.random(rng), rng.normal(size=(2, d.nv))
            assert residual(d.crba(q), d.solve(q, tau), tau) < tolerance


@pytest.mark.parametrize("name", ["medium", "forest"])
def test_the_factors_give_one_step(name):
    """v_star of a step, from both and with all damping: at the round-off of a solve in the norm of momentum."""
    found = []
    for factor in BOTH:
        sim = Simulation(replace(SCENES[name], time_step=0.01), device="cpu", factor=factor)
        sim.advance(1)
        found.append(sim.arrays["v_star"].numpy()[0])
        assert not sim.arrays["free_status"].numpy().any() and np.abs(found[-1]).max() > 0.05
    dinv = sim.arrays["dinv"].numpy()[0].ravel()
    D = np.where(dinv > 0.0, 1.0 / np.sqrt(np.where(dinv > 0.0, dinv, 1.0)), 0.0)  # sqrt(diag A) weighs velocities
    assert np.linalg.norm(D * (found[0] - found[1])) < 1e-11 * np.linalg.norm(D * found[0])


def test_auto_takes_the_sparse_factor_for_large_trees_and_for_branches_that_pay():
    chain = build(random_tree(3, "revolute", 8)).sizes
    assert chain["nsparse_level"] == 0 and chain["ndense"] == 1
    large = SCENES["large"]
    assert build(large).sizes["nv"] > DENSE_DOFS and build(large).sizes["ndense"] == 0
    assert build(large, "dense").sizes["nsparse"] == 0
    both = build(SCENES["forest"]).sizes
    assert 0 < both["nsmall"] < both["ndense"] < both["ntree"], "all three ways in one scene"
    with pytest.raises(ValueError, match="none of auto"):
        build(large, "block")
    assert FACTORS == ("auto", *BOTH)


def starfish(arms: int, length: int) -> Scene:
    """A floating body with chains of revolute joints."""
    links = "body: &k {inertial: {mass: 1, inertia: {ixx: 0.01, iyy: 0.02, izz: 0.03}}}\n"
    joints = ""
    for a in range(arms):
        for i in range(length):
            links += f"      a{a}x{i}: *k\n"
            parent = f"a{a}x{i - 1}" if i else "body"
            joints += (
                f"      j{a}x{i}: {{type: revolute, parent: {parent}, child: a{a}x{i}, axis: [{i % 2}, {1 - i % 2}, 0.3],"
                f" origin: {{xyz: [0.1, 0.05, 0.2]}}}}\n"
            )
    text = "sapsim: 1\ntime_step: 0.001\nsteps: 1\nmodels:\n  star:\n    links:\n      LINKS    joints:\nJOINTS"
    text += "instances:\n  star: {model: star, base: floating}\n"
    return loads(text.replace("LINKS", links).replace("JOINTS", joints), file="star.yaml")


def test_branches_start_blocks_of_their_own():
    """Seven joints to an arm: an arm's blocks hang on the body's, not on those of the arm before it."""
    model = build(starfish(4, 7))
    m = model.arrays
    assert m["block_parent"].tolist() == [-1, 0, 1, 2, 3, 1, 5, 6, 1, 8, 9, 1, 11, 12]
    assert model.sizes["ndof"] == 42 and model.sizes["nv"] == 34
    assert build(starfish(3, 2)).sizes["ndof"] == 12, "short ones share blocks"
    assert model.sizes["ndense"] == 0, "and save half of the products"


@pytest.mark.parametrize("name", SCENES)
def test_A_has_entries_only_along_the_tree_of_blocks(name):
    """Every pair of a degree of freedom and an ancestor has a place, marked in the mask, and no other entry is marked."""
    m = build(SCENES[name]).arrays
    parent, of = m["body_parent"], m["dof_body"]
    marked = set()
    for r in range(len(m["block_parent"])):
        c, at = r, int(m["A_row"][r] + m["block_depth"][r])
        while c >= 0:
            assert c <= r <= m["block_last"][c]
            marked |= {(BLOCK * r + i, BLOCK * c + j) for i in range(3) for j in range(3) if m["A_mask"][at] >> (3 * i + j) & 1}
            c, at = int(m["block_parent"][c]), at - 1
    expected = set()
    for i, b in enumerate(of):
        a = int(b)
        while a >= 0:
            expected |= {(i, int(j)) for j in np.flatnonzero(of == a)}
            a = int(parent[a])
    assert {(i, j) for i, j in marked if i >= j} == {(i, j) for i, j in expected if i >= j}
    assert marked <= expected | {(j, i) for i, j in expected}


@pytest.mark.parametrize("factor", BOTH)
@pytest.mark.parametrize("name", SCENES)
def test_a_matrix_that_is_not_positive_definite_is_told(name, factor):
    """In one world of two, by a negative armature of the last degree of freedom of one tree: nothing else is touched."""
    d = Dynamics(SCENES[name], nworld=2, factor=factor)
    rng = np.random.default_rng(0)
    q, tau = d.random(rng), rng.normal(size=(2, d.nv))
    good = d.solve(q, tau)
    at = d._v_at[-1]
    armature = np.repeat(d.model.arrays["dof_armature"], 2, axis=0)
    armature[1, at] -= 2.0 * np.abs(np.diagonal(d.crba(q), axis1=1, axis2=2)).max()
    d._set_model("dof_armature", armature)
    bad = d.solve(q, tau)
    tree = d.model.arrays["body_tree"][d.model.arrays["dof_to_body"]]
    failed = tree == tree[-1]
    assert np.array_equal(bad[0], good[0]) and np.array_equal(bad[1, ~failed], good[1, ~failed])
    assert np.isnan(bad[1, failed]).all()


def test_factors_of_a_scene_without_bodies():
    d = Dynamics(Scene("empty", "", 1.0e-3, 1), factor="sparse")
    assert d.solve(np.zeros(0), np.zeros(0)).shape == (1, 0)
