"""Jacobians and accelerations of points of links, as functions of a Dynamics (api.py).

With S_T,k the motion subspace of degree of freedom k about the tree's point T (kinematics.py) and P a point of body B:

    J_k = [omega_k; v_k + omega_k x (p_P - p_T)]  for S_T,k = [omega_k; v_k],  where k stands on the path of B;  else 0
    A_P = J a + J-dot v,   J-dot v = [alpha; a_B + alpha x r + omega x (omega x r)],  r = p_P - p_B

with alpha, a_B of B at zero joint acceleration.  Accelerations are classical ones: the rates of omega and of the velocity of
the point P that moves with the link, so J-dot v is what Pinocchio calls the classical bias in LOCAL_WORLD_ALIGNED.
"""

import numpy as np

AXES = ("world", "link")


class Frames:
    """Part of Dynamics."""

    def jacobian(self, q, link: str, point=(0.0, 0.0, 0.0), axes: str = "world") -> np.ndarray:
        """J (W, 6, nv): twist [omega; v of `point`] for unit velocities; `point` in link coordinates [m].

        `axes` of the twist: world, or the link's own (with the point at the origin that is Pinocchio's LOCAL, in our order).
        """
        if axes not in AXES:
            raise ValueError(f"axes {axes!r}: known are {', '.join(AXES)}")
        links = self.forward_kinematics(q)
        i = self.link_names.index(link)
        p_WP = links.p[:, i] + links.R[:, i] @ np.asarray(point, float)
        J = self.jacobian_at(int(self.model.arrays["link_body"][i]), p_WP)
        if axes == "link":
            R_LW = np.swapaxes(links.R[:, i], 1, 2)
            J = np.concatenate([R_LW @ J[:, :3], R_LW @ J[:, 3:]], axis=1)
        return J

    def bias_acceleration(self, q, v, link: str, point=(0.0, 0.0, 0.0)) -> np.ndarray:
        """J-dot v (W, 6): [alpha; a of `point`] at zero joint acceleration, world axes [rad/s^2, m/s^2]; no gravity in it."""
        links = self.forward_kinematics(q, v)
        i = self.link_names.index(link)
        p_WP = links.p[:, i] + links.R[:, i] @ np.asarray(point, float)
        return self.bias_accelerations_at(self.model.arrays["link_body"][i : i + 1], p_WP[:, None])[:, 0]

    def acceleration(self, q, v, a, link: str, point=(0.0, 0.0, 0.0)) -> np.ndarray:
        """J a + J-dot v (W, 6): [alpha; a of `point`], classical, world axes [rad/s^2, m/s^2]."""
        a = np.broadcast_to(np.asarray(a, float), (self.nworld, self.nv))
        return np.einsum("wij,wj->wi", self.jacobian(q, link, point), a) + self.bias_acceleration(q, v, link, point)

    def jacobian_at(self, body: int, p_WP: np.ndarray) -> np.ndarray:
        """J (W, 6, nv), world axes, of the point of a body (-1: world) that is at p_WP (W, 3) in the state that was last asked
        about."""
        m = self.model.arrays
        J = np.zeros((self.nworld, 6, self.nv))
        if body < 0:
            return J
        moves = self.moves_body()[body]
        S_T = np.swapaxes(self._subspace()[:, moves], 1, 2)
        r = (p_WP - self._arrays["p_WT"].numpy()[:, m["body_tree"][body]])[:, None]
        v = np.swapaxes(S_T[:, 3:], 1, 2) + np.cross(np.swapaxes(S_T[:, :3], 1, 2), r)
        J[:, :, moves] = np.concatenate([S_T[:, :3], np.swapaxes(v, 1, 2)], axis=1)
        return J

    def bias_accelerations_at(self, body: np.ndarray, p_WP: np.ndarray) -> np.ndarray:
        """J-dot v (W, n, 6) of the points of n bodies (-1: world) that are at p_WP (W, n, 3) in the state that was last asked
        about."""
        m, body = self.model.arrays, np.asarray(body, int)
        moving = np.flatnonzero(body >= 0)
        found = np.zeros((self.nworld, len(body), 6))
        body = body[moving]
        A, omega = self.bodies("A_WB")[:, body], self.bodies("V_WB")[:, body, :3]
        alpha, r = A[..., :3], p_WP[:, moving] - self.bodies("p_WB")[:, body]
        # kinematics lets the world accelerate with -g
        a = A[..., 3:] + m["tree_gravity"][:, np.asarray(m["body_tree"], int)[body]]
        a = a + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
        found[:, moving] = np.concatenate([alpha, a], axis=-1)
        return found

    def generalized_force(self, wrench: np.ndarray, p_WP: np.ndarray) -> np.ndarray:
        """(W, nv): sum of J' f over all links, f = `wrench` (W, nlink, 6) [torque; force] in world axes at the points p_WP
        (W, nlink, 3), in the state that was last asked about.  What stands on links fixed in the world does nothing."""
        body = np.asarray(self.model.arrays["link_body"], int)
        moving = np.flatnonzero(body >= 0)
        tau = np.zeros((self.nworld, self.nv))
        if not moving.size or not self.nv:
            return tau
        tree = np.asarray(self.model.arrays["body_tree"], int)[body[moving]]
        p_TP = p_WP[:, moving] - self._arrays["p_WT"].numpy()[:, tree]
        torque, force = wrench[:, moving, :3], wrench[:, moving, 3:]
        at_T = np.concatenate([torque + np.cross(p_TP, force), force], axis=-1)
        on_dof = np.swapaxes(self.moves_body()[body[moving]].astype(float), 0, 1) @ at_T  # (W, nv, 6)
        return np.sum(self._subspace() * on_dof, axis=-1)

    def moves_body(self) -> np.ndarray:
        """(nbody, nv) bool: whether a degree of freedom moves a body."""
        of_dof = np.asarray(self.model.arrays["dof_to_body"], int)
        body = np.arange(self.model.sizes["nbody"])[:, None]
        return (of_dof <= body) & (body <= self.model.body_last[of_dof])

    def _subspace(self) -> np.ndarray:
        """(W, nv, 6) S_T in the order of files."""
        return self._arrays["S_T"].numpy()[:, self._v_at].astype(float)
