"""Planted faults: `sapsim validate` must exit 5, and the check that is there for the fault must name it.

A fault of a kernel is planted in its source: the stage's file is copied with one term changed, compiled under a name of its
own, and put in the stage's place.  Faults of the host model are planted by replacing the function that makes it.
"""

import importlib.util
import json
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sapsim.cli.main import main
from sapsim.dynamics import aba, api, coriolis, crba, forces, frames, inverse, kinematics, momentum
from sapsim.math import spatial
from sapsim.model import build as build_module
from sapsim.scene import bodies

SCENE = """
sapsim: 1
time_step: 0.001
steps: 1
models:
  robot:
    links:
      base: {inertial: {mass: 2.0, com: [0.1, 0, 0.05], inertia: {ixx: 0.03, iyy: 0.04, izz: 0.05, ixy: 0.005}}}
      slide: {inertial: {mass: 0.7, com: [0, 0.1, 0], inertia: {ixx: 0.01, iyy: 0.012, izz: 0.013}}}
      arm: {inertial: {mass: 0.5, com: [0.2, 0, 0], inertia: {ixx: 0.002, iyy: 0.01, izz: 0.01}}}
      tool: {inertial: {mass: 0.3, com: [0.05, 0.02, 0], inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}}}
    joints:
      rail: {type: prismatic, parent: base, child: slide, origin: {xyz: [0.2, 0, 0.1]}, axis: [0.6, 0, 0.8], armature: 0.1}
      elbow: {type: revolute, parent: slide, child: arm, origin: {xyz: [0, 0.1, 0.2], rpy: [0.3, 0.1, 0]}, axis: [0, 1, 0]}
      flange: {type: fixed, parent: arm, child: tool, origin: {xyz: [0.4, 0, 0.1], rpy: [0, 0.5, 0]}}
instances:
  robot: {model: robot, base: floating}
"""


def planted(monkeypatch, folder: Path, module, *changes: tuple[str, str]):
    """A copy of a module with terms of its source changed, and its stage under another name."""
    text = Path(module.__file__).read_text()
    for old, new in changes:
        assert text.count(old) == 1, f"the term must stand once: {old}"
        text = text.replace(old, new)
    name = f"planted_{module.__name__.rpartition('.')[2]}"
    text = text.replace('make_stage("', f'make_stage("planted_{zlib.crc32(repr(changes).encode()):x}_')
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    copy = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, copy)
    spec.loader.exec_module(copy)
    return copy


def plant_kernel(monkeypatch, folder, module, old, new):
    monkeypatch.setattr(module, "make", planted(monkeypatch, folder, module, (old, new)).make)


def plant_method(monkeypatch, folder, module, owner, name, old, new):
    """A method of a class of the host, changed."""
    copy = planted(monkeypatch, folder, module, (old, new))
    monkeypatch.setattr(getattr(module, owner), name, getattr(getattr(copy, owner), name))


def armature_twice_in_rnea(monkeypatch, folder):
    plant_kernel(monkeypatch, folder, inverse, "+ s.dof_armature[w, k] *", "+ real(2.0) * s.dof_armature[w, k] *")


def armature_twice_in_crba(monkeypatch, folder):
    plant_kernel(monkeypatch, folder, crba, "return s.dof_armature[w, i] +", "return real(2.0) * s.dof_armature[w, i] +")


def armature_twice_in_the_model(monkeypatch, folder):
    """RNEA, CRBA and ABA agree: only what the scene says tells it."""

    def doubled(scene, factor):
        model = build_module.build(scene, factor)
        model.arrays["dof_armature"] = 2.0 * model.arrays["dof_armature"]
        return model

    monkeypatch.setattr(api, "build", doubled)


def missing_coriolis(monkeypatch, folder):
    """2 omega x v_rel is left out in what all algorithms share."""
    plant_kernel(monkeypatch, folder, kinematics, "+ real(2.0) * v_rel", "+ real(0.0) * v_rel")


def missing_gyroscopic_acceleration(monkeypatch, folder):
    plant_kernel(monkeypatch, folder, kinematics, "+ wp.cross(omega_P, omega_rel) +", "+")


def wrong_parallel_axis_in_crba(monkeypatch, folder):
    planted(monkeypatch, folder, spatial, ("I_cm[0, 1] - m * d[0] * d[1]", "I_cm[0, 1] + m * d[0] * d[1]"))
    copy = planted(monkeypatch, folder, crba, ("from sapsim.math.spatial import", "from planted_spatial import"))
    monkeypatch.setattr(crba, "make", copy.make)


def wrong_parallel_axis_in_the_merge(monkeypatch, folder):
    """Links held together by a fixed joint are summed without m (c c 1 - c c')."""

    right = bodies.MassSum

    class Wrong(right):
        @staticmethod
        def of(parts):
            parts = list(parts)
            total = right.of(parts)
            for inertial, X in parts:
                c = np.asarray(X.p) + np.asarray(inertial.com)
                total.second -= inertial.mass * (c @ c * np.eye(3) - np.outer(c, c))
            return total

    def merging(scene):  # where the model is built, not where the scene's masses are checked
        with monkeypatch.context() as patch:
            patch.setattr(bodies, "MassSum", Wrong)
            return bodies.group_links(scene)

    monkeypatch.setattr(build_module, "group_links", merging)


def force_at_the_wrong_point(monkeypatch, folder):
    plant_kernel(monkeypatch, folder, forces, "torque + wp.cross(p_BP, force)", "torque + real(0.0) * wp.cross(p_BP, force)")


def force_in_the_wrong_axes(monkeypatch, folder):
    plant_kernel(monkeypatch, folder, forces, "force = R_WB * force", "force = real(1.0) * force")


def gravity_with_the_wrong_sign(monkeypatch, folder):
    plant_kernel(monkeypatch, folder, kinematics, "-s.tree_gravity[w, s", "real(1.0) * s.tree_gravity[w, s")


def lost_fixed_link(monkeypatch, folder):
    """The tool keeps its name and place, and its mass is forgotten where links are merged."""

    def losing(scene):
        groups = bodies.group_links(scene)
        alone = [scene.links[g.root].inertial if g.root >= 0 else None for g in groups]
        return [
            replace(g, mass=own.mass, com=own.com, inertia=own.inertia) if own and len(g.members) > 1 else g
            for g, own in zip(groups, alone, strict=True)
        ]

    monkeypatch.setattr(build_module, "group_links", losing)


def reflected_force_that_grows_with_the_square(monkeypatch, folder):
    """armature a |a| for armature a: right for unit accelerations, which is all that a mass matrix at rest asks for."""
    old = "s.dof_armature[w, k] * s.vdot[w, k]"
    plant_kernel(monkeypatch, folder, inverse, old, old + " * wp.abs(s.vdot[w, k])")


def composite_inertia_without_its_first_moment(monkeypatch, folder):
    """I V without h x v, in the centroidal momentum matrix alone."""
    plant_method(monkeypatch, folder, momentum, "Momentum", "centroidal_momentum_matrix", "w) + np.cross(h, v)", "w)")


def missing_shift_to_the_mass_centre(monkeypatch, folder):
    plant_method(monkeypatch, folder, momentum, "Momentum", "centroidal_momentum", "- np.cross(p_WG, linear)", "- 0.0 * linear")


def bias_without_the_centripetal_term(monkeypatch, folder):
    """omega x (omega x r) is left out for points off the body's origin."""
    plant_method(
        monkeypatch, folder, frames, "Frames", "bias_accelerations_at", "+ np.cross(omega, np.cross(omega, r))", "+ 0.0 * r"
    )


def jacobian_of_the_origin(monkeypatch, folder):
    plant_method(
        monkeypatch, folder, frames, "Frames", "jacobian_at", "+ np.cross(np.swapaxes(S_T[:, :3], 1, 2), r)", "+ 0.0 * r"
    )


def missing_bracket(monkeypatch, folder):
    """Angular velocities taken for rates of coordinates."""
    plant_method(monkeypatch, folder, coriolis, "Coriolis", "coriolis_product", "symmetric + 0.5 *", "symmetric + 0.0 *")


def shared_force_seen_twice_by_aba(monkeypatch, folder):
    """ABA answers itself: only forces on links tell that it takes them twice."""
    plant_kernel(
        monkeypatch,
        folder,
        aba,
        "s.F_T[w, b] = body_force(s, w, b, s.A_WB[w, b])",
        "p_TB = s.p_WB[w, b] - s.p_WT[w, s.body_tree[b]]\n        F = s.F_applied[w, b]\n        "
        "s.F_T[w, b] = body_force(s, w, b, s.A_WB[w, b]) - join(top(F) + wp.cross(p_TB, bottom(F)), bottom(F))",
    )


FAULTS = [
    (reflected_force_that_grows_with_the_square, "delta_column"),
    (composite_inertia_without_its_first_moment, "centroidal_momentum"),
    (missing_shift_to_the_mass_centre, "centroidal_momentum"),
    (lost_fixed_link, "centroidal_momentum"),
    (bias_without_the_centripetal_term, "jacobian"),
    (jacobian_of_the_origin, "jacobian"),
    (missing_bracket, "coriolis"),
    (missing_coriolis, "coriolis"),
    (missing_gyroscopic_acceleration, "coriolis"),
    (shared_force_seen_twice_by_aba, "forward_inverse"),
    (armature_twice_in_rnea, "armature"),
    (armature_twice_in_crba, "armature"),
    (armature_twice_in_the_model, "armature"),
    (missing_coriolis, "newton_euler"),
    (missing_gyroscopic_acceleration, "newton_euler"),
    (wrong_parallel_axis_in_crba, "kinetic_energy"),
    (wrong_parallel_axis_in_the_merge, "kinetic_energy"),
    (force_at_the_wrong_point, "external_force"),
    (force_in_the_wrong_axes, "external_force"),
    (gravity_with_the_wrong_sign, "gravity"),
    (lost_fixed_link, "kinetic_energy"),
]


def run(tmp_path, capfd, *options: str) -> tuple[int, dict]:
    """Exit code and the object of `sapsim validate --json`, in this process."""
    scene = tmp_path / "robot.yaml"
    scene.write_text(SCENE)
    with pytest.raises(SystemExit) as left:
        main(["validate", str(scene), "--samples", "10", "--json", *options])
    return left.value.code, json.loads(capfd.readouterr().out)


@pytest.mark.parametrize("plant, check", FAULTS, ids=[f"{plant.__name__}-{check}" for plant, check in FAULTS])
def test_a_planted_fault_is_caught(plant, check, monkeypatch, tmp_path, capfd):
    plant(monkeypatch, tmp_path)
    code, found = run(tmp_path, capfd)
    failed = {c["name"]: c for c in found["checks"] if not c["passed"]}
    assert code == 5 and found["passed"] is False
    assert check in failed, sorted(failed)
    # a wrong term is wrong by a good part of what it is, not by round-off
    assert failed[check]["worst"] > 1.0e-4 and failed[check]["sample"] is not None


def test_in_float32_a_fault_is_caught_too(monkeypatch, tmp_path, capfd):
    gravity_with_the_wrong_sign(monkeypatch, tmp_path)
    code, found = run(tmp_path, capfd, "--precision", "float32")
    assert code == 5 and "gravity" in [c["name"] for c in found["checks"] if not c["passed"]]


def test_without_a_fault_it_passes(tmp_path, capfd):
    code, found = run(tmp_path, capfd)
    assert code == 0 and found["passed"] is True and all(c["passed"] for c in found["checks"])
    assert [found[key] for key in ("nq", "nv", "nbody", "samples", "precision")] == [9, 8, 4, 10, "float64"]
    assert all({"name", "worst", "tolerance", "passed", "sample", "where"} <= set(c) for c in found["checks"])
