"""One MJCF in two engines: MuJoCo's states and matrices in our order and velocities.

MuJoCo's velocities are [v of the origin in world, omega in the body's axes] for a free joint and omega in the body's axes for a
ball; ours are [omega, v] in world and omega in F.  With v = T v_mj, where T changes no length and T v_mj' is the rate of v
(R (omega x omega) = 0), M_mj = T' M T and h_mj = T' h.  Joints are matched by their names.
"""

import mujoco
import numpy as np

from sapsim.dynamics import Dynamics
from sapsim.scene.read import load_model


class Both:
    """A file in sapsim (`dynamics`) and in MuJoCo (`model`, `data`)."""

    def __init__(self, path, nworld: int = 1):
        self.scene = load_model(path)
        self.dynamics = Dynamics(self.scene, nworld=nworld)
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)
        names = self.dynamics.joint_names
        self.joints = [(j, names.index(self._name(j))) for j in range(self.model.njnt)]

    def _name(self, j: int) -> str:
        return self.model.joint(j).name

    def random(self, rng) -> tuple[np.ndarray, np.ndarray]:
        """qpos and qvel: angles within a turn, lengths within 1 m, random rotations, rates of order one."""
        m = self.model
        qpos, qvel = rng.uniform(-np.pi, np.pi, m.nq), rng.normal(size=m.nv)
        for j in range(m.njnt):
            a, n = m.jnt_qposadr[j], {0: 7, 1: 4}.get(m.jnt_type[j], 1)
            if n > 1:
                q = rng.normal(size=4)
                qpos[a + n - 4 : a + n] = q / np.linalg.norm(q)
        return qpos, qvel

    def q(self, qpos: np.ndarray) -> np.ndarray:
        """joint_q of files."""
        m, q = self.model, np.zeros(self.dynamics.nq)
        for j, ours in self.joints:
            a, b = m.jnt_qposadr[j], self.dynamics.joint_q_start[ours]
            if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
                q[b : b + 3], q[b + 3 : b + 7] = qpos[a : a + 3], np.roll(qpos[a + 3 : a + 7], -1)
            elif m.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
                q[b : b + 4] = np.roll(qpos[a : a + 4], -1)
            else:
                q[b] = qpos[a]
        return q

    def T(self, qpos: np.ndarray) -> np.ndarray:
        """v = T v_mj, internal velocities."""
        m, T = self.model, np.zeros((self.dynamics.nv, self.model.nv))
        for j, ours in self.joints:
            a, v, b = m.jnt_qposadr[j], m.jnt_dofadr[j], self.dynamics.joint_qd_start[ours]
            R = np.zeros(9)
            if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
                mujoco.mju_quat2Mat(R, qpos[a + 3 : a + 7])
                T[b : b + 3, v + 3 : v + 6], T[b + 3 : b + 6, v : v + 3] = R.reshape(3, 3), np.eye(3)
            elif m.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
                mujoco.mju_quat2Mat(R, qpos[a : a + 4])
                T[b : b + 3, v : v + 3] = R.reshape(3, 3)
            else:
                T[b, v] = 1.0
        return T

    def mass_and_bias(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """MuJoCo's mj_fullM, armature included, and qfrc_bias."""
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        mujoco.mj_forward(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M, self.data.qfrc_bias.copy()
