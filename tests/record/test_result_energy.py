"""The group /energy: what NumPy makes of placements and twists in the same file, and sapsim.dynamics of joints."""

import h5py
import numpy as np
import pytest
import xarray as xr

from sapsim.dynamics import Dynamics
from sapsim.record.writer import Recorder
from sapsim.scene.read import loads
from sapsim.step.simulation import Simulation

# Fixed links with masses of their own, a link fixed in the world, armature, a spring, an instance without gravity, and contact.
TEXT = """
sapsim: 1
time_step: 0.002
steps: 100
gravity: [0.5, 0, -9.81]
models:
  arm:
    links:
      stand: {inertial: {mass: 5.0, com: [0, 0, 1], inertia: {ixx: 1, iyy: 1, izz: 1}}}
      upper: {inertial: {mass: 1.0, com: [0.1, 0, -0.2], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.012, ixy: 0.002}}}
      lower: {inertial: {mass: 0.5, com: [0, 0, -0.2], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.002}}}
      tool: {inertial: {mass: 0.3, com: [0.05, 0.1, 0], inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}}}
    joints:
      bolt: {type: fixed, parent: world, child: stand}
      shoulder: {type: revolute, parent: stand, child: upper, axis: [0, 1, 0], armature: 0.4, stiffness: 30, reference: -0.3}
      wrist: {type: ball, parent: upper, child: lower, origin: {xyz: [0, 0, -0.4]}, armature: 0.05}
      flange: {type: fixed, parent: lower, child: tool, origin: {xyz: [0, 0.1, -0.4], rpy: [0.3, 0, 0.2]}}
  drone:
    gravity: false
    links: {hull: {inertial: {mass: 2.0, com: [0.1, 0, 0], inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04}}}}
instances:
  arm: {model: arm, pose: {xyz: [0, 0, 2], rpy: [0.2, 0, 0]}, joint_q: {shoulder: 0.8},
        joint_qd: {shoulder: -1.0, wrist: [1, 2, 3]}}
  drone: {model: drone, base: floating, pose: {xyz: [0, 3, 1]}, velocity: {linear: [1, 0, 0], angular: [0.3, 2, 1]}}
bodies:
  ball: {sphere: 0.1, mass: 1.5, pose: {xyz: [5, 0, 0.2]}, velocity: {linear: [0, 1, -1]}}
world: {collision: [{plane: {}}]}
worlds: {count: 2}
output: {every: 3, channels: [state, energy], dtype: float64}
"""


def written(folder, precision: str = "float64", **options) -> str:
    sim = Simulation(loads(TEXT, file="scene.yaml"), device="cpu", precision=precision, **options)
    recorder = Recorder(str(folder / f"{precision}{len(options)}.h5"), sim)
    recorder.put(sim.initial(), sim.totals)
    for n in (10, 90):
        recorder.put(sim.advance(n), sim.totals)
    return recorder.close("complete")


def rotation(Q: np.ndarray) -> np.ndarray:
    """(..., 3, 3) of quaternions xyzw, from v' = v + 2 w (u x v) + 2 u x (u x v)."""
    u, w = Q[..., None, :3], Q[..., None, 3:]
    e = np.broadcast_to(np.eye(3), (*Q.shape[:-1], 3, 3))
    turned = e + 2.0 * w * np.cross(u, e) + 2.0 * np.cross(u, np.cross(u, e))
    return np.swapaxes(turned, -1, -2)


def by_link(file) -> tuple[np.ndarray, np.ndarray]:
    """Kinetic energy without armature, and potential (R, W), from /state and /model alone; `stand` is fixed in the world."""
    names = list(file["body"].asstr())
    moves = np.array([not n.endswith("stand") for n in names])
    mass, com = file["model/body_mass"][()] * moves, file["model/body_com"][()]
    xx, yy, zz, xy, xz, yz = np.moveaxis(file["model/body_inertia"][()] * moves[:, None], -1, 0)
    inertia = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), (0, 1), (-2, -1))
    q, qd = file["state/body_q"][()], file["state/body_qd"][()]
    R = rotation(q[..., 3:])
    omega = np.einsum("rwbji,rwbj->rwbi", R, qd[..., 3:])  # in the link's axes
    kinetic = 0.5 * np.einsum("b,rwbi,rwbi->rw", mass, qd[..., :3], qd[..., :3])
    kinetic = kinetic + 0.5 * np.einsum("rwbi,bij,rwbj->rw", omega, inertia, omega)
    p_com = q[..., :3] + np.einsum("rwbij,bj->rwbi", R, com)
    weight = mass * np.array(["drone" not in n for n in names])
    return kinetic, -np.einsum("b,i,rwbi->rw", weight, file.attrs["gravity"], p_com)


@pytest.mark.parametrize("precision, rtol", [("float64", 1e-13), ("float32", 1e-5)])
def test_energies_are_those_of_the_links(tmp_path, precision, rtol):
    """rtol: tens of roundings; the potential is measured against m g 2 m of what hangs there."""
    with h5py.File(written(tmp_path, precision)) as file:
        group = file["energy"]
        assert set(group) == {"kinetic", "potential", "elastic"}
        assert all(group[name].shape == (35, 2) and group[name].attrs["units"] == "J" for name in group)
        kinetic, potential = by_link(file)
        q, qd = file["state/joint_q"][()], file["state/joint_qd"][()]
        dofs = list(file["dof"].asstr())
        shoulder = dofs.index("arm/shoulder")
        wrist = [i for i, n in enumerate(dofs) if n.startswith("arm/wrist")]
        rotors = 0.5 * (0.4 * qd[..., shoulder] ** 2 + 0.05 * np.sum(qd[..., wrist] ** 2, axis=-1))
        assert rotors.max() > 0.1, "the armature must count for something"
        np.testing.assert_allclose(group["kinetic"], kinetic + rotors, rtol=rtol)
        np.testing.assert_allclose(group["potential"], potential, atol=60.0 * rtol)
        stretch = q[..., list(file["coordinate"].asstr()).index("arm/shoulder")] + 0.3
        np.testing.assert_allclose(group["elastic"], 15.0 * stretch**2, rtol=rtol, atol=rtol)


def test_energies_are_those_of_the_dynamics_functions(tmp_path):
    path = written(tmp_path)
    with h5py.File(path) as file:
        q, qd = (file[f"state/{name}"][:, 0] for name in ("joint_q", "joint_qd"))
        d = Dynamics(loads(TEXT, file="scene.yaml"), nworld=len(q))
        v = d.to_internal(q, qd)
        # 1e-12: other orders of summation
        np.testing.assert_allclose(file["energy/kinetic"][:, 0], d.kinetic_energy(q, v), rtol=1e-12)
        np.testing.assert_allclose(file["energy/potential"][:, 0], d.potential_energy(q), rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(file["energy/elastic"][:, 0], d.elastic_energy(q), rtol=1e-12)


def test_lanes_and_kernels_change_nothing(tmp_path):
    with h5py.File(written(tmp_path)) as file:
        expected = {name: file[f"energy/{name}"][()] for name in file["energy"]}
    with h5py.File(written(tmp_path, fused=False)) as file:
        assert all(np.array_equal(file[f"energy/{name}"][()], values) for name, values in expected.items())


def test_the_group_opens_in_xarray_and_is_there_only_when_asked_for(tmp_path):
    with xr.open_datatree(written(tmp_path), engine="h5netcdf") as tree:
        assert tree["energy/kinetic"].dims == ("time", "world")
    sim = Simulation(loads(TEXT.replace("[state, energy]", "[state]"), file="scene.yaml"), device="cpu")
    recorder = Recorder(str(tmp_path / "without.h5"), sim)
    recorder.put(sim.initial(), sim.totals)
    with h5py.File(recorder.close("interrupted")) as file:
        assert "energy" not in file
