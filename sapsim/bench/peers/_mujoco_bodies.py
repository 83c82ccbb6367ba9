"""Bodies and joints of a scene as MuJoCo's, in a specification that is being built.

MuJoCo lets a body have several joints and wants mass in all that move.  So bodies without mass and shapes are folded: their
joints become joints of the body beyond them, with anchors and axes in its frame, all coordinates being zero.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sapsim.bench.engine import Unfit
from sapsim.bench.mechanism import Body, Mechanism

# Kinds that become one joint of a type; None: a hinge or slide for each degree of freedom.
JOINTS = {
    "revolute": "mjJNT_HINGE",
    "continuous": "mjJNT_HINGE",
    "prismatic": "mjJNT_SLIDE",
    "floating": "mjJNT_FREE",
    "ball": "mjJNT_BALL",
    "planar": None,
    "universal": None,
    "cylindrical": None,
}
LIMITED = 1  # MuJoCo's mjLIMITED_TRUE, which Python is not told of
FAR = 1.0e10  # [m or rad] stands for infinity in a joint's range


@dataclass(frozen=True)
class Folded:
    """A body of MuJoCo: ours that it stands for, root first; only the last has mass.  Placement at q = 0."""

    members: list[int]
    R_PB: np.ndarray
    p_PB: np.ndarray
    X_BM: list[tuple[np.ndarray, np.ndarray]]  # of each member's frame in that of the last


def fold(m: Mechanism) -> list[Folded]:
    """All bodies of MuJoCo, in the order of ours.  Raises Unfit for one without mass that is no link of a chain."""
    with_shapes = {shape.body for shape in m.shapes}
    children = [sum(other.parent == b for other in m.bodies) for b in range(len(m.bodies))]
    folded, open_chain = [], []
    for b, body in enumerate(m.bodies):
        members = [*open_chain, b]
        if body.mass <= 0.0:
            if children[b] != 1 or b in with_shapes or body.floats:
                raise Unfit("bodies without mass that are no link of a chain: not translated")
            open_chain = members
            continue
        open_chain = []
        folded.append(_placed(m.bodies, members))
    return folded


def _placed(bodies: list[Body], members: list[int]) -> Folded:
    R, p, placed = np.eye(3), np.zeros(3), []
    for b in members:  # X_PF of the first, then M = F at q = 0 all along
        R, p = R @ bodies[b].R_PF, p + R @ bodies[b].p_PF
        placed.append((R, p))
    inside = [(R.T @ R_PM, R.T @ (p_PM - p)) for R_PM, p_PM in placed]
    return Folded(members, R, p, inside)


def add_joints(mj: Any, made: Any, folded: Folded, bodies: list[Body]) -> None:
    """The joints of a MuJoCo body, named after ours: j3, or j3_0, j3_1 where one of ours makes several."""
    for b, (R_BM, p_BM) in zip(folded.members, folded.X_BM, strict=True):
        body, type_ = bodies[b], JOINTS[bodies[b].kind]
        if type_ is not None:
            parts = [(f"j{b}", type_, body.axis)]
        else:
            kinds = ("mjJNT_SLIDE", "mjJNT_HINGE")
            parts = [(f"j{b}_{k}", kinds[turns], axis) for k, (turns, axis) in enumerate(body.motions())]
        for name, kind, axis in parts:
            joint = made.add_joint(name=name, type=getattr(mj.mjtJoint, kind), axis=R_BM @ axis, pos=p_BM)
            joint.armature, joint.springref = body.armature, body.reference
            _set_linear(joint, "damping", body.damping)
            _set_linear(joint, "stiffness", body.stiffness)
            if body.limited:
                joint.limited = LIMITED
                joint.range = np.clip([body.lower, body.upper], -FAR, FAR)


def add_drive(mj: Any, spec: Any, name: str, body: Body) -> None:
    """Its force is an affine function of q and v, bounded: no control is needed."""
    drive = body.drive
    actuator = spec.add_actuator(name=name, target=name, trntype=mj.mjtTrn.mjTRN_JOINT)
    actuator.gaintype, actuator.biastype = mj.mjtGain.mjGAIN_FIXED, mj.mjtBias.mjBIAS_AFFINE
    actuator.gainprm[0] = 0.0
    actuator.biasprm[:3] = [drive.bias, -drive.kp, -drive.kd]
    if np.isfinite(drive.limit):
        actuator.forcelimited, actuator.forcerange = LIMITED, [-drive.limit, drive.limit]


def _set_linear(joint: Any, name: str, value: float) -> None:
    """A coefficient that is a number before MuJoCo 4 and the first of a polynomial's since."""
    if np.ndim(getattr(joint, name)):
        getattr(joint, name)[0] = value
    else:
        setattr(joint, name, value)
