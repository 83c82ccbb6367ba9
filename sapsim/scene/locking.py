"""Locked joints: their degrees of freedom are taken out, exactly as if a fixed joint held the child where they start.

Their coordinates stay in the order of files, at their initial values and with velocity zero.  Limits, springs, damping,
armature, friction and actuators of a locked joint do nothing; in couplers and tendons its coordinate is a constant.
"""

from dataclasses import replace
from typing import Any

from sapsim.kinds.base import registry
from sapsim.scene.poses import as_vec3, compose, normalised
from sapsim.scene.report import Report
from sapsim.scene.spec import Joint, Limit, Pose, Scene


def hold_locked(scene: Any) -> Any:
    """The scene with fixed joints in place of locked ones, without what acts on these alone; itself where none is locked."""
    locked = {joint.name for joint in scene.joints if joint.locked}
    if not locked:
        return scene
    return replace(
        scene,
        joints=tuple(_held(joint) if joint.locked else joint for joint in scene.joints),
        actuators=tuple(a for a in scene.actuators if a.joint not in locked),
        constraints=tuple(c for c in scene.constraints if not c.joints or not locked.issuperset(c.joints)),
    )


def _held(joint: Joint) -> Joint:
    kind = registry("joints")[joint.kind]
    p, Q = kind.X_FM(joint.axis, kind.second_axis(joint), joint.q0 or kind.neutral)
    X_FM = Pose(as_vec3(p), normalised(tuple(float(x) for x in Q)))
    return replace(
        joint,
        kind="fixed",
        X_PF=compose(joint.X_PF, X_FM),
        q0=(),
        qd0=(),
        damping=0.0,
        armature=0.0,
        friction=0.0,
        stiffness=0.0,
        limit=Limit(),
        mimic=None,
        locked=False,
    )


def still_locked(scene: Scene, report: Report) -> Scene:
    """Locked joints without initial velocities; a warning where one was given, and for each actuator of a locked joint."""
    locked = {joint.name for joint in scene.joints if joint.locked}
    if not locked:
        return scene
    joints = []
    for joint in scene.joints:
        if joint.locked and any(joint.qd0):
            text = f'joint "{joint.name}" is locked; its initial velocity is not used'
            report.warn(joint.where, "no-effect", text, "remove `locked`, or the velocity")
        joints.append(replace(joint, qd0=(0.0,) * len(joint.qd0)) if joint.locked else joint)
    for actuator in scene.actuators:
        if actuator.joint in locked:
            text = f'actuator "{actuator.name}" drives joint "{actuator.joint}", which is locked: it does nothing'
            report.warn(actuator.where, "no-effect", text, "remove `locked`, or the actuator")
    for c in scene.constraints:
        if c.joints and locked.issuperset(c.joints):
            text = f'constraint "{c.name}" acts on joints that are locked: it does nothing'
            report.warn(c.where, "no-effect", text, "remove `locked` from one of them, or the constraint")
    return replace(scene, joints=tuple(joints))
