"""Mass centres, momenta and energies, as functions of a Dynamics (api.py).

The momentum of bodies about a point G is [k_G; p] = sum of [I omega + (p_com - p_G) x m v_com; m v_com].  About the mass centre
it is the centroidal momentum, h_G = A_G(q) v (Orin, Goswami and Lee 2013).  A column of A_G is the momentum of the subtree that
its degree of freedom carries, moving with the composite inertia about T (crba.py), and shifted from T to G:

    A_k = I_T(subtree) S_T,k = [k_T; p],   k_G = k_T + (p_T - p_G) x p

Reflected inertias of joints (armature) are in M and in the kinetic energy; they have no part in momentum, for a scene does not
say about which axes the rotors turn.  Links that are fixed in the world have no part in any sum.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MassCentre:
    """Of all that moves, or of every tree.

    Fields:
        mass: (1,) or (ntree,) [kg].
        p: (W, 3) or (W, ntree, 3) [m], world.
        v: (W, 3) or (W, ntree, 3) [m/s], world axes.
    """

    mass: np.ndarray
    p: np.ndarray
    v: np.ndarray


class Momentum:
    """Part of Dynamics."""

    def centre_of_mass(self, q, v=None, by_tree: bool = False) -> MassCentre:
        """Mass centre and its velocity at q and v (default: at rest), summed link by link.  Where there is no mass: nan."""
        links, own = self.forward_kinematics(q, v), self.inertias
        member = self.members(by_tree)
        mass = member @ own.mass
        with np.errstate(divide="ignore", invalid="ignore"):
            share = member * own.mass / mass[:, None]
        p, v = share @ links.points(own.com), share @ links.velocities(own.com)
        return MassCentre(mass, p, v) if by_tree else MassCentre(mass, p[:, 0], v[:, 0])

    def centroidal_momentum(self, q, v, by_tree: bool = False) -> np.ndarray:
        """(W, 6), or (W, ntree, 6): [angular; linear] momentum about the mass centre [kg m^2/s, kg m/s], world axes.

        Of all that moves about the common mass centre, or of every tree about its own.  Summed link by link.
        """
        links, own = self.forward_kinematics(q, v), self.inertias
        member, p_WG = self.members(by_tree), self._about(by_tree)
        p_com, p = links.points(own.com), own.mass[:, None] * links.velocities(own.com)
        spin = np.einsum("wlij,wlj->wli", own.in_world(links), links.V[..., :3])
        linear = member @ p
        angular = member @ (spin + np.cross(p_com, p)) - np.cross(p_WG, linear)
        both = np.concatenate([angular, linear], axis=-1)
        return both if by_tree else both[:, 0]

    def centroidal_momentum_matrix(self, q, by_tree: bool = False) -> np.ndarray:
        """A_G (W, 6, nv), or (W, ntree, 6, nv), with h_G = A_G v: by composite rigid bodies, without armature."""
        self.crba(q)  # for the composite inertias
        m = self.model.arrays
        of_dof = np.asarray(m["dof_to_body"], int)
        tree = np.asarray(m["body_tree"], int)[of_dof]
        columns = inertia_times(self.bodies("I_T")[:, of_dof], self._subspace())  # (W, nv, 6) about T
        p_WG = self._about(by_tree)
        p_GT = self._arrays["p_WT"].numpy()[:, tree].astype(float) - p_WG[:, tree if by_tree else [0] * len(tree)]
        angular = columns[..., :3] + np.cross(p_GT, columns[..., 3:])
        A = np.swapaxes(np.concatenate([angular, columns[..., 3:]], axis=-1), 1, 2)  # (W, 6, nv)
        return A[:, None] * (tree == np.arange(self.model.sizes["ntree"])[:, None])[:, None] if by_tree else A

    def kinetic_energy(self, q, v) -> np.ndarray:
        """(W,) kinetic energy [J]: sum over links, and armature v^2 / 2."""
        v = np.broadcast_to(np.asarray(v, float), (self.nworld, self.nv))
        return self.inertias.kinetic(self.forward_kinematics(q, v)) + 0.5 * v**2 @ self.armature

    def potential_energy(self, q) -> np.ndarray:
        """(W,) energy of gravity [J], zero at the world's origin: sum over links.  Springs of joints: `elastic_energy`."""
        return self.inertias.potential(self.forward_kinematics(q))

    def elastic_energy(self, q) -> np.ndarray:
        """(W,) energy of the springs of joints [J]: sum of stiffness (q - reference)^2 / 2."""
        m = self.model.arrays
        own = np.flatnonzero(m["dof_stiffness"][0, self._v_at])  # of joints of one degree of freedom
        first = np.asarray(self.joint_q_start)[np.searchsorted(self.joint_qd_start, own, side="right") - 1]
        stretch = np.broadcast_to(np.asarray(q, float), (self.nworld, self.nq))[:, first]
        stretch = stretch - m["dof_reference"][:, self._v_at[own]]
        return 0.5 * np.sum(m["dof_stiffness"][:, self._v_at[own]] * stretch**2, axis=1)

    def members(self, by_tree: bool) -> np.ndarray:
        """(1 or ntree, nlink): 1 where a moving link belongs to the sum."""
        body = np.asarray(self.model.arrays["link_body"], int)
        if not by_tree:
            return (body >= 0).astype(float)[None]
        tree = np.append(np.asarray(self.model.arrays["body_tree"], int), -1)[body]
        return (tree == np.arange(self.model.sizes["ntree"])[:, None]).astype(float)

    def _about(self, by_tree: bool) -> np.ndarray:
        """(W, 1 or ntree, 3): mass centres in the state that was last asked about, as kinematics found them for the trees."""
        p_WT = self._arrays["p_WT"].numpy()[:, : self.model.sizes["ntree"]].astype(float)
        if by_tree:
            return p_WT
        m = self.model.arrays
        trees = np.asarray(m["body_tree"], int) == np.arange(self.model.sizes["ntree"])[:, None]
        mass = m["body_mass"] @ trees.T  # (1 or W, ntree)
        total = mass.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sum((mass / total)[..., None] * p_WT, axis=1, keepdims=True)


def inertia_times(I: np.ndarray, V: np.ndarray) -> np.ndarray:
    """I V = [I_T w + h x v; m v - h x w] (math/spatial.py), I (..., 10), V (..., 6)."""
    xx, yy, zz, xy, xz, yz = np.moveaxis(I[..., 4:], -1, 0)
    matrix = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), (0, 1), (-2, -1))
    w, v, h = V[..., :3], V[..., 3:], I[..., 1:4]
    angular = np.einsum("...ij,...j->...i", matrix, w) + np.cross(h, v)
    return np.concatenate([angular, I[..., :1] * v - np.cross(h, w)], axis=-1)
