"""Links in NumPy: placements, twists, Jacobians and energies, from what the kinematics stage found for bodies.

Links that fixed joints hold together are one body; here each is taken by itself, with its own mass and inertia.  So the
energies do not depend on how a body's composite inertia was made, nor on the mass matrix, and check both.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LinkMotion:
    """Where links are and how they move, in the order of the scene's links.

    Fields:
        p: (W, nlink, 3) position of the link's origin in world [m].
        R: (W, nlink, 3, 3) orientation.
        V: (W, nlink, 6) twist [omega [rad/s]; v of the link's origin [m/s]], world axes.
        Q_WB, Q_BL: (W, nlink, 4), (nlink, 4) orientation of the link's body, and of the link on it, as quaternions xyzw.
    """

    p: np.ndarray
    R: np.ndarray
    V: np.ndarray
    Q_WB: np.ndarray
    Q_BL: np.ndarray

    @property
    def body_q(self) -> np.ndarray:
        """(W, nlink, 7) position [m] and quaternion xyzw, as in result files."""
        return np.concatenate([self.p, quaternion_product(self.Q_WB, np.broadcast_to(self.Q_BL, self.Q_WB.shape))], axis=-1)

    def points(self, p_L: np.ndarray) -> np.ndarray:
        """(W, nlink, 3): world positions [m] of a point of each link, given in its own frame (nlink, 3)."""
        return self.p + np.einsum("wlij,lj->wli", self.R, p_L)

    def velocities(self, p_L: np.ndarray) -> np.ndarray:
        """(W, nlink, 3): velocities [m/s] of those points."""
        return self.V[..., 3:] + np.cross(self.V[..., :3], self.points(p_L) - self.p)


@dataclass(frozen=True)
class LinkInertias:
    """Own mass properties of the scene's links; mass and inertia are zero for links that are fixed in the world.

    Fields:
        mass: (nlink,) [kg].
        com: (nlink, 3) [m] in the link's frame.
        inertia: (nlink, 3, 3) [kg m^2] about the com, in the link's axes.
        gravity: (nlink, 3) [m/s^2] world axes, zero for links that feel none.
    """

    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray
    gravity: np.ndarray

    @staticmethod
    def of(scene, link_body: np.ndarray) -> "LinkInertias":
        """Of a resolved scene."""
        moves = np.asarray(link_body) >= 0
        own = [link.inertial for link in scene.links]
        return LinkInertias(
            mass=np.array([i.mass for i in own]).reshape(-1) * moves,
            com=np.array([i.com for i in own], float).reshape(-1, 3),
            inertia=np.array([i.inertia for i in own], float).reshape(-1, 3, 3) * moves[:, None, None],
            gravity=np.array([scene.gravity if k.gravity else (0.0,) * 3 for k in scene.links], float).reshape(-1, 3),
        )

    def on_bodies(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """(nlink, 3): the mass centres in the frames of the links' bodies [m].  `arrays` of the model."""
        return arrays["link_p_BL"][0] + np.einsum("lij,lj->li", quaternion_matrix(arrays["link_Q_BL"][0]), self.com)

    def kinetic(self, links: LinkMotion) -> np.ndarray:
        """(W,) sum of m v_com^2 / 2 + omega I omega / 2 [J]."""
        v, omega = links.velocities(self.com), links.V[..., :3]
        turning = np.einsum("wli,wlij,wlj->w", omega, self.in_world(links), omega)
        return 0.5 * (np.einsum("l,wli,wli->w", self.mass, v, v) + turning)

    def potential(self, links: LinkMotion) -> np.ndarray:
        """(W,) minus the sum of m g . p_com [J]; zero at the world's origin."""
        return -np.einsum("l,li,wli->w", self.mass, self.gravity, links.points(self.com))

    def in_world(self, links: LinkMotion) -> np.ndarray:
        """(W, nlink, 3, 3) inertias about the com in world axes."""
        return links.R @ self.inertia @ np.swapaxes(links.R, -1, -2)


def quaternion_matrix(Q: np.ndarray) -> np.ndarray:
    """(..., 3, 3) rotation matrices of unit quaternions xyzw (..., 4)."""
    x, y, z, w = np.moveaxis(np.asarray(Q, float), -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, xyzw, (..., 4)."""
    va, vb, wa, wb = a[..., :3], b[..., :3], a[..., 3:], b[..., 3:]
    return np.concatenate([wa * vb + wb * va + np.cross(va, vb), wa * wb - (va * vb).sum(-1, keepdims=True)], axis=-1)


def link_motion(arrays: dict[str, np.ndarray], p_WB: np.ndarray, Q_WB: np.ndarray, V_WB: np.ndarray) -> LinkMotion:
    """Links on their bodies.  `arrays` of the model; p_WB (W, nbody, 3), Q_WB (W, nbody, 4), V_WB (W, nbody, 6)."""
    body = np.asarray(arrays["link_body"], int)
    nworld = len(p_WB)

    def of_link(values: np.ndarray, in_world: np.ndarray) -> np.ndarray:
        """Values of each link's body; those of the world where it has none."""
        return np.concatenate([values, np.broadcast_to(in_world, (nworld, 1, len(in_world)))], axis=1)[:, body]

    p_WB = of_link(p_WB, np.zeros(3))
    Q_WB = of_link(Q_WB, np.array([0.0, 0.0, 0.0, 1.0]))
    V_WB = of_link(V_WB, np.zeros(6))
    R_WB, Q_BL = quaternion_matrix(Q_WB), arrays["link_Q_BL"][0]
    p_BL_W = np.einsum("wlij,lj->wli", R_WB, arrays["link_p_BL"][0])
    v = V_WB[..., 3:] + np.cross(V_WB[..., :3], p_BL_W)
    return LinkMotion(
        p=p_WB + p_BL_W,
        R=R_WB @ quaternion_matrix(Q_BL),
        V=np.concatenate([V_WB[..., :3], v], axis=-1),
        Q_WB=Q_WB,
        Q_BL=Q_BL,
    )
