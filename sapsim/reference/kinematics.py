"""Where every body is and how it moves: X_WB, motion subspaces S, Jacobians J, twists V (seed 000).

    X_WB = X_WP X_PF X_FM(q)             M is the child's own frame
    V_B = shift(V_P) + S v_joint = J_B v     at Bo, world axes, [omega; v_o]

S_F, the motion subspace in F, is constant for every joint but one: revolute [a; 0], prismatic [0; a], screw [a; pitch a],
cylindrical [a, 0; 0, a], ball [1; 0], planar [0, 0, n; e_x, e_y, 0], floating R_FW, since its v = [omega, v_o] is in world axes
and F does not move.  A universal joint has [a, R_1 a2; 0, 0] with R_1 = exp(a q_1): the relative acceleration of M in F is
S_F vdot plus the bias q_1' q_2' [a x R_1 a2; 0].
"""

from dataclasses import dataclass

import numpy as np

from sapsim.reference.bodies import Body, System
from sapsim.reference.spatial import (
    Placement,
    axis_angle_to_rotation,
    quaternion_to_rotation,
    rotation_to_quaternion,
    shift_twist,
    skew,
)


@dataclass(frozen=True)
class Kinematics:
    """Per body: placement X_WB, S (6, nv_joint), J (6, nv) and V (6,), all at Bo in world axes; and q they were made from."""

    X_WB: list[Placement]
    S: list[np.ndarray]
    J: list[np.ndarray]
    V: list[np.ndarray]
    q: np.ndarray


def calc_X_FM(body: Body, q: np.ndarray) -> Placement:
    """The joint's placement at its own coordinates q."""
    if body.kind in ("revolute", "continuous"):
        return Placement(axis_angle_to_rotation(body.axis, q[0]), np.zeros(3))
    if body.kind == "prismatic":
        return Placement(np.eye(3), q[0] * body.axis)
    if body.kind == "ball":
        return Placement(quaternion_to_rotation(q), np.zeros(3))
    if body.kind == "planar":
        return Placement(axis_angle_to_rotation(body.axis, q[2]), plane_axes(body.axis) @ q[:2])
    if body.kind == "screw":
        return Placement(axis_angle_to_rotation(body.axis, q[0]), body.pitch * q[0] * body.axis)
    if body.kind == "cylindrical":
        return Placement(axis_angle_to_rotation(body.axis, q[0]), q[1] * body.axis)
    if body.kind == "universal":
        first, second = (axis_angle_to_rotation(a, x) for a, x in ((body.axis, q[0]), (body.axis2, q[1])))
        return Placement(first @ second, np.zeros(3))
    return Placement(quaternion_to_rotation(q[3:]), q[:3])


def plane_axes(n: np.ndarray) -> np.ndarray:
    """e_x, e_y (3, 2) of a planar joint with the unit normal n in F.

    x and y after the shortest rotation of z to n; where n_z < 0, of -z to n, after the half-turn (x, -y, -z).
    """
    start = np.eye(3) if n[2] >= 0.0 else np.diag([1.0, -1.0, -1.0])
    z = start[:, 2]
    turn = skew(np.cross(z, n))  # sine times axis; R = 1 + [s]x + [s]x^2 / (1 + cosine)
    return ((np.eye(3) + turn + turn @ turn / (1.0 + z @ n)) @ start)[:, :2]


def calc_S(body: Body, R_WF: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Motion subspace at Mo in world axes, (6, nv): twist of M in F for unit rates."""
    if body.kind == "floating":
        return np.eye(6)
    if body.kind == "ball":
        return np.concatenate([R_WF, np.zeros((3, 3))])
    if body.kind == "planar":
        e = R_WF @ plane_axes(body.axis)
        return np.block([[np.zeros((3, 2)), (R_WF @ body.axis)[:, None]], [e, np.zeros((3, 1))]])
    a_W = R_WF @ body.axis
    if body.kind == "cylindrical":
        return np.kron(np.eye(2), a_W[:, None])
    if body.kind == "universal":
        carried = R_WF @ axis_angle_to_rotation(body.axis, q[0]) @ body.axis2
        return np.concatenate([np.column_stack([a_W, carried]), np.zeros((3, 2))])
    if body.kind == "screw":
        return np.concatenate([a_W, body.pitch * a_W])[:, None]
    column = np.concatenate([np.zeros(3), a_W] if body.kind == "prismatic" else [a_W, np.zeros(3)])
    return column[:, None]


def calc_bias(body: Body, S: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(6,) relative acceleration of M in F at zero joint acceleration, world axes, from S there and the joint's own v."""
    bias = np.zeros(6)
    if body.kind == "universal":
        bias[:3] = v[0] * v[1] * np.cross(S[:3, 0], S[:3, 1])
    return bias


def calc_kinematics(system: System, q: np.ndarray, v: np.ndarray) -> Kinematics:
    """All of Kinematics at external coordinates q (nq) and internal velocities v (nv); parents come before children."""
    X_WB, S, J, V = [], [], [], []
    for body in system.bodies:
        is_root = body.parent < 0
        X_WP = Placement() if is_root else X_WB[body.parent]
        X_WF = X_WP @ body.X_PF
        X = X_WF @ calc_X_FM(body, q[body.q])
        S_B = calc_S(body, X_WF.R, q[body.q])
        J_B = np.zeros((6, system.nv)) if is_root else shift_twist(J[body.parent], X.p - X_WP.p)
        J_B[:, body.dofs] += S_B
        X_WB.append(X)
        S.append(S_B)
        J.append(J_B)
        V.append(J_B @ v)
    return Kinematics(X_WB, S, J, V, q)


def point_jacobian(system: System, kin: Kinematics, body: int, p_W: np.ndarray) -> np.ndarray:
    """Jv (3, nv) of the point of `body` (-1: world) that is now at p_W: v_point = Jv v, world axes."""
    if body < 0:
        return np.zeros((3, system.nv))
    return shift_twist(kin.J[body], p_W - kin.X_WB[body].p)[3:]


def velocity_from_external(system: System, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Internal v from joint_qd of files.  Floating: [v_com, omega] -> [omega, v_o], v_o = v_com - omega x R_WB com."""
    kin = calc_kinematics(system, q, np.zeros(system.nv))
    v = np.zeros(system.nv)
    for body, X in zip(system.bodies, kin.X_WB, strict=True):
        rates = qd[body.qd]
        if body.kind == "floating":
            v_com, omega = rates[:3], rates[3:]
            rates = np.concatenate([omega, v_com - np.cross(omega, X.R @ body.com)])
        v[body.dofs] = rates
    return v


def velocity_to_external(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """joint_qd of files from the internal v, at the placement q."""
    kin = calc_kinematics(system, q, v)
    qd = np.zeros(system.nv)
    for body, X in zip(system.bodies, kin.X_WB, strict=True):
        rates = v[body.dofs]
        if body.kind == "floating":
            omega, v_o = rates[:3], rates[3:]
            rates = np.concatenate([v_o + np.cross(omega, X.R @ body.com), omega])
        qd[body.qd] = rates
    return qd


def link_placements(system: System, q: np.ndarray) -> np.ndarray:
    """body_q of files: [p, quaternion xyzw] of every link's origin in world, (nlink, 7)."""
    kin = calc_kinematics(system, q, np.zeros(system.nv))
    rows = []
    for body, X_BL in zip(system.link_body, system.link_X_BL, strict=True):
        X_WL = X_BL if body < 0 else kin.X_WB[body] @ X_BL
        rows.append(np.concatenate([X_WL.p, rotation_to_quaternion(X_WL.R)]))
    return np.array(rows).reshape(-1, 7)


def link_twists(scene, system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """body_qd of files: [v, omega] of every link, v of its own com (its origin where it has no mass), (nlink, 6)."""
    kin = calc_kinematics(system, q, v)
    rows = np.zeros((len(scene.links), 6))
    for i, (link, body, X_BL) in enumerate(zip(scene.links, system.link_body, system.link_X_BL, strict=True)):
        if body >= 0:
            point = link.inertial.com if link.inertial.mass > 0.0 else np.zeros(3)
            p_BoP_W = kin.X_WB[body].R @ X_BL.point(point)
            twist = shift_twist(kin.V[body], p_BoP_W)
            rows[i] = np.concatenate([twist[3:], twist[:3]])
    return rows
