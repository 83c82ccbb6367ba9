"""Channel `state`: joint coordinates and velocities, poses and twists of the links (contract 3)."""

import numpy as np

from ...step.block import Block
from ..layout import Channel, Counts, Dataset

JOINT_Q = Dataset(
    "state/joint_q",
    ("time", "world", "coordinate"),
    "real",
    "see joint_q_units",
    "joint coordinates; floating: [p, quaternion xyzw] of the body origin",
    "world for floating joints, else the joint's frame on the parent",
    {"units_variable": "joint_q_units"},
)
JOINT_QD = Dataset(
    "state/joint_qd",
    ("time", "world", "dof"),
    "real",
    "see joint_qd_units",
    "joint velocities; floating: [velocity of the centre of mass, angular velocity]",
    "world axes for floating joints, else the joint's frame on the parent",
    {"units_variable": "joint_qd_units"},
)
BODY_Q = Dataset(
    "state/body_q",
    ("time", "world", "body", "pose"),
    "real",
    "m m m 1 1 1 1",
    "pose of the body origin: position [m], quaternion xyzw",
    "world",
)
BODY_QD = Dataset(
    "state/body_qd",
    ("time", "world", "body", "twist"),
    "real",
    "m/s m/s m/s rad/s rad/s rad/s",
    "velocity of the centre of mass [m/s], angular velocity [rad/s]",
    "world axes",
    {"order": "v,w", "point": "centre of mass"},
)
Q_UNITS = Dataset("state/joint_q_units", ("coordinate",), "text", "1", "units of each entry of joint_q")
QD_UNITS = Dataset("state/joint_qd_units", ("dof",), "text", "1", "units of each entry of joint_qd")


def rows(block: Block, counts: Counts) -> dict[str, np.ndarray]:
    """The block's states as they are: blocks are in the units, frames and order of files."""
    return {
        JOINT_Q.name: block.joint_q,
        JOINT_QD.name: block.joint_qd,
        BODY_Q.name: block.body_q,
        BODY_QD.name: block.body_qd,
    }


CHANNEL = Channel(
    "state",
    grows=(JOINT_Q, JOINT_QD, BODY_Q, BODY_QD),
    rows=rows,
    fixed=(Q_UNITS, QD_UNITS),
    values=lambda sim: {Q_UNITS.name: list(sim.coordinate_units), QD_UNITS.name: list(sim.dof_units)},
)
