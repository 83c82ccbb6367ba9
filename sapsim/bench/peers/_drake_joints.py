"""Joints of a scene as Drake's, in a plant that is being built.

Drake's planar and universal joints have axes of their own, so F and M are turned there by B: [x y n] or [a1 a2 a1 x a2].  A
cylindrical joint is a hinge and a slide with a body without mass between them.  A rotor of gear ratio 1 is the armature.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapsim.bench.engine import Unfit
from sapsim.bench.mechanism import Body

ROUND_OFF = 1.0e-12  # of the scalar product of two unit axes


@dataclass(frozen=True)
class Place:
    """Where a joint is made: the plant, its name, the body and its model instance, the parent's Drake body and X_PF."""

    plant: Any
    tree: Any
    name: str
    body: Body
    made: Any
    instance: Any
    parent: Any
    X_PF: Any

    def frame(self, turn: np.ndarray | None = None):
        """F, turned."""
        X_PF = self.X_PF if turn is None else self.X_PF @ rotation(turn)
        return self.plant.AddFrame(self.tree.FixedOffsetFrame(f"F{self.name}", self.parent.body_frame(), X_PF))

    def child(self, turn: np.ndarray | None = None):
        """M, turned."""
        if turn is None:
            return self.made.body_frame()
        return self.plant.AddFrame(self.tree.FixedOffsetFrame(f"M{self.name}", self.made.body_frame(), rotation(turn)))


def rotation(R: np.ndarray, p: np.ndarray | None = None):
    """Drake's transform of a rotation, and a position."""
    from pydrake.math import RigidTransform, RotationMatrix

    return RigidTransform(RotationMatrix.ProjectToRotationMatrix(R), np.zeros(3) if p is None else p)


def _hinge(at: Place) -> list:
    return [at.plant.AddJoint(at.tree.RevoluteJoint(at.name, at.frame(), at.child(), at.body.axis, damping=at.body.damping))]


def _slide(at: Place) -> list:
    return [at.plant.AddJoint(at.tree.PrismaticJoint(at.name, at.frame(), at.child(), at.body.axis, damping=at.body.damping))]


def _screw(at: Place) -> list:
    advance = 2.0 * math.pi * float(at.body.axis @ at.body.S[3:, 0])  # Drake's pitch is that of a turn
    joint = at.tree.ScrewJoint(at.name, at.frame(), at.child(), at.body.axis, advance, at.body.damping)
    return [at.plant.AddJoint(joint)]


def _cylinder(at: Place) -> list:
    between = at.plant.AddRigidBody(f"{at.name}_between", at.instance, at.tree.SpatialInertia.Zero())
    axis, damping = at.body.axis, at.body.damping
    turns = at.tree.RevoluteJoint(f"{at.name}_turns", at.frame(), between.body_frame(), axis, damping=damping)
    slides = at.tree.PrismaticJoint(f"{at.name}_slides", between.body_frame(), at.child(), axis, damping=damping)
    return [at.plant.AddJoint(turns), at.plant.AddJoint(slides)]


def _planar(at: Place) -> list:
    B = np.column_stack([at.body.S[3:, 0], at.body.S[3:, 1], at.body.S[:3, 2]])
    return [at.plant.AddJoint(at.tree.PlanarJoint(at.name, at.frame(B), at.child(B), np.full(3, at.body.damping)))]


def _universal(at: Place) -> list:
    a, b = at.body.S[:3].T
    if abs(a @ b) > ROUND_OFF:
        raise Unfit("universal joints whose axes are not at a right angle: not translated")
    B = np.column_stack([a, b, np.cross(a, b)])
    return [at.plant.AddJoint(at.tree.UniversalJoint(at.name, at.frame(B), at.child(B), at.body.damping))]


@dataclass(frozen=True)
class Translation:
    """How a kind of joint is made, and the name of Drake's spring on it, "" where it has none."""

    make: Callable[[Place], list]
    spring: str = ""


JOINTS = {
    "revolute": Translation(_hinge, "RevoluteSpring"),
    "continuous": Translation(_hinge, "RevoluteSpring"),
    "prismatic": Translation(_slide, "PrismaticSpring"),
    "screw": Translation(_screw),
    "cylindrical": Translation(_cylinder),
    "planar": Translation(_planar),
    "universal": Translation(_universal),
    "floating": None,
}


def add_joint(at: Place) -> list:
    """Drake's joints in the place of a body's, with limits and spring."""
    body, translation = at.body, JOINTS[at.body.kind]
    joints = translation.make(at)
    if body.limited:
        joints[0].set_position_limits([body.lower], [body.upper])
    if body.stiffness:
        if not translation.spring:
            raise Unfit(f"springs of {body.kind} joints: not translated")
        at.plant.AddForceElement(getattr(at.tree, translation.spring)(joints[0], body.reference, body.stiffness))
    return joints


def add_actuators(plant: Any, tree: Any, body: Body, joints: list) -> None:
    """The rotors and the drive of a body's joints.  A drive stands on the first, which is the only one then."""
    if not body.armature and body.drive is None:
        return
    for joint in joints:
        if joint.num_velocities() > 1:
            raise Unfit(f"armatures of {body.kind} joints: not translated")
        drive = body.drive
        actuator = plant.AddJointActuator(joint.name(), joint, drive.limit if drive else math.inf)
        actuator.set_default_rotor_inertia(body.armature)
        actuator.set_default_gear_ratio(1.0)
        if drive and (drive.kp or drive.kd):
            actuator.set_controller_gains(tree.PdControllerGains(p=drive.kp, d=drive.kd))


def fix_inputs(plant: Any, tree: Any, context: Any, drives: dict[str, Any]) -> None:
    """Desired states and feed-forward of every drive, by the names of their actuators, as constants of a context."""
    for i in range(plant.num_model_instances()):
        instance = tree.ModelInstanceIndex(i)
        names = [plant.get_joint_actuator(a).name() for a in plant.GetJointActuatorIndices(instance)]
        found = [drives.get(name) for name in names]
        if not any(found):
            continue
        values = [(d.target, d.target_velocity, d.feedforward) if d else (0.0, 0.0, 0.0) for d in found]
        target, velocity, forward = (np.array(column) for column in zip(*values, strict=True))
        plant.get_desired_state_input_port(instance).FixValue(context, np.concatenate([target, velocity]))
        plant.get_actuation_input_port(instance).FixValue(context, forward)


def model_instances(plant: Any) -> tuple[Any, Callable[[], Any]]:
    """The instance of bodies that gravity acts on, and a function that gives the one of those on which it does not."""
    from pydrake.multibody.tree import default_model_instance

    made: list[Any] = []

    def weightless():
        if not made:
            made.append(plant.AddModelInstance("weightless"))
            plant.set_gravity_enabled(made[0], False)
        return made[0]

    return default_model_instance(), weightless
