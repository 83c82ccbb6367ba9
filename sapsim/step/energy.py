"""Energies of recorded rows (channel `energy`), from the placements and velocities in the rows themselves.

    kinetic    sum over bodies of m v_com^2 / 2 + omega I omega / 2, and of armature v^2 / 2 over their joints, once
    potential  of gravity: -sum of m g . p_com, zero at the world's origin, with the gravity of each tree
    elastic    of the springs of joints: sum of stiffness (q - reference)^2 / 2

A body is all links that fixed joints hold together; its frame is that of its root link.  The stage is launched once a block of
steps, and only for scenes that record energies, so that a step costs the same with it and without.  A lane owns whole rows and
adds bodies in order: neither lanes nor blocks change a bit.
"""

from functools import cache

import warp as wp

from sapsim.kinds.dispatch import make_joints
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "body_joint", "body_dof_start", "body_nv", "body_tree", "body_link", "body_q_from", "body_qd_from",
    "body_mass", "body_com", "body_inertia", "tree_gravity", "dof_armature", "dof_stiffness", "dof_reference", "link_com",
    "rec_q", "rec_qd", "rec_p", "rec_Q", "rec_V", "rec_energy",
)  # fmt: skip
SCALARS = (("nbody", "int"), ("nrow", "int"))


@cache
def make(R) -> Stage:
    """The stage `record_energy`; reads the first nrow rows, writes rec_energy."""
    real, vec3 = R.t, R.vec3
    from_external = make_joints(R).from_external
    struct = make_struct("RecordEnergy", R, ARRAYS, SCALARS)

    @wp.func
    def of_joint(s: struct, w: int, row: int, b: int, p_BoBcm: vec3) -> vec3:
        """Energy of the joint's reflected inertia and of its spring."""
        qd = s.rec_qd[row]
        kinetic = real(0.0)
        elastic = real(0.0)
        for i in range(s.body_nv[b]):
            k = s.body_dof_start[b] + i
            if s.dof_armature[w, k] > real(0.0):
                v = real(from_external(s.body_joint[b], qd, w, s.body_qd_from[b], i, p_BoBcm))
                kinetic += real(0.5) * s.dof_armature[w, k] * v * v
            if s.dof_stiffness[w, k] > real(0.0):  # of a joint of one degree of freedom
                stretch = s.rec_q[row, w, s.body_q_from[b]] - s.dof_reference[w, k]
                elastic += real(0.5) * s.dof_stiffness[w, k] * stretch * stretch
        return vec3(kinetic, real(0.0), elastic)

    @wp.func
    def of_body(s: struct, w: int, row: int, b: int) -> vec3:
        """Kinetic, potential and elastic energy of body b and of its joint."""
        i = s.body_link[b]
        Q_WB = s.rec_Q[row, w, i]
        V = s.rec_V[row, w, i]
        omega = vec3(V[3], V[4], V[5])
        p_BoBcm = wp.quat_rotate(Q_WB, s.body_com[w, b])
        # rows hold the velocity of the link's own mass centre
        v_cm = vec3(V[0], V[1], V[2]) + wp.cross(omega, p_BoBcm - wp.quat_rotate(Q_WB, s.link_com[w, i]))
        omega_B = wp.quat_rotate_inv(Q_WB, omega)
        m = s.body_mass[w, b]
        kinetic = real(0.5) * (m * wp.dot(v_cm, v_cm) + wp.dot(omega_B, s.body_inertia[w, b] * omega_B))
        potential = -m * wp.dot(s.tree_gravity[w, s.body_tree[b]], s.rec_p[row, w, i] + p_BoBcm)
        return vec3(kinetic, potential, real(0.0)) + of_joint(s, w, row, b, p_BoBcm)

    @wp.func
    def record_energy(s: struct, w: int, lane: int):
        for row in range(lane, s.nrow, wp.block_dim()):
            total = vec3(real(0.0))
            for b in range(s.nbody):
                total += of_body(s, w, row, b)
            s.rec_energy[row, w] = total

    return make_stage("record_energy", R, struct, record_energy, SCALARS)
