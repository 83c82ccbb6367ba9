"""A scene of sapsim in Drake, link by link from the resolved `Scene`: what the tables of test_drake_tables.py are made of.

Joints of one degree of freedom, fixed and floating; spheres and half-spaces; one actuator a joint; couplers, distances,
balls and welds, also on the world, for which a body that is welded to it stands (sap_formulas 3.5).  Anything else raises.
"""

import math

import numpy as np
from drake_scene import DrakeScene
from drake_ties import ANCHOR
from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import (
    AddMultibodyPlant,
    CoulombFriction,
    DiscreteContactApproximation,
    MultibodyPlantConfig,
)
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    PdControllerGains,
    PrismaticJoint,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
    WeldJoint,
    default_model_instance,
)
from pydrake.systems.framework import DiagramBuilder

from sapsim.reference.spatial import quaternion_to_rotation
from sapsim.scene.spec import WORLD

LAWS = {
    "lagged": DiscreteContactApproximation.kLagged,
    "sap": DiscreteContactApproximation.kSap,
    "similar": DiscreteContactApproximation.kSimilar,
}
JOINTS = {"revolute": RevoluteJoint, "continuous": RevoluteJoint, "prismatic": PrismaticJoint}
SHAPES = {"sphere": lambda p: Sphere(p[0]), "plane": lambda p: HalfSpace()}


def transform(pose) -> RigidTransform:
    """Of a spec.Pose."""
    return RigidTransform(RotationMatrix.ProjectToRotationMatrix(quaternion_to_rotation(np.array(pose.q))), pose.p)


class DrakePlant(DrakeScene):
    """The scene in Drake, default tolerances; states as in DrakeScene."""

    def __init__(self, scene):
        if scene.forces or scene.contact.margin or scene.contact.sigma != 1e-3:
            raise NotImplementedError("forces, a margin and another sigma are not translated")
        self.scene = scene
        config = MultibodyPlantConfig(
            time_step=scene.time_step,
            contact_model="point",
            use_sampled_output_ports=False,
            sap_near_rigid_threshold=scene.contact.near_rigid,
            stiction_tolerance=scene.contact.stiction_tolerance,
        )
        builder = DiagramBuilder()
        self.plant, self.graph = AddMultibodyPlant(config, builder)
        self.plant.set_discrete_contact_approximation(LAWS[scene.contact.law])
        self.plant.mutable_gravity_field().set_gravity_vector(scene.gravity)
        self.bodies, self.actuators = {WORLD: self.plant.world_body()}, {a.joint: a for a in scene.actuators}
        if len(self.actuators) < len(scene.actuators):
            raise NotImplementedError("in Drake the last actuator of a joint wins")
        self._add_links()
        for joint in scene.joints:
            self._add_joint(joint)
        if scene.constraints:
            self._add_constraints()
        self.plant.Finalize()
        self.diagram = builder.Build()
        self.context = self.diagram.CreateDefaultContext()
        self.plant_context = self.plant.GetMyContextFromRoot(self.context)
        self._fix_inputs()
        for joint in scene.joints:
            if joint.locked:
                self.plant.GetJointByName(joint.name).Lock(self.plant_context)

    # ---- the model ---------------------------------------------------------------------------------------------------

    def _add_links(self) -> None:
        for shape in self.scene.world_shapes:
            self._add_shape(self.bodies[WORLD], shape, shape.name)
        for link in self.scene.links:
            i = np.array(link.inertial.inertia)
            inertia = SpatialInertia.Zero()
            if link.inertial.mass > 0.0:
                moments = RotationalInertia(i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
                inertia = SpatialInertia.MakeFromCentralInertia(link.inertial.mass, np.array(link.inertial.com), moments)
            self.bodies[link.name] = self.plant.AddRigidBody(link.name, inertia)
            for n, shape in enumerate(link.shapes):
                self._add_shape(self.bodies[link.name], shape, f"{link.name}/{n}")

    def _add_shape(self, body, shape, name: str) -> None:
        m, surface = shape.material, ProximityProperties()
        friction = CoulombFriction(m.friction, m.friction)
        AddContactMaterial(dissipation=m.dissipation, point_stiffness=m.stiffness, friction=friction, properties=surface)
        surface.AddProperty("material", "relaxation_time", m.relaxation_time)
        made = SHAPES[shape.kind](shape.params)
        self.plant.RegisterCollisionGeometry(body, transform(shape.X_LG), made, name, surface)

    def _add_joint(self, joint) -> None:
        if joint.kind == "floating":
            return
        parent, child = self.bodies[joint.parent], self.bodies[joint.child]
        F = self.plant.AddFrame(FixedOffsetFrame(f"{joint.name}/F", parent.body_frame(), transform(joint.X_PF)))
        M = child.body_frame()
        if joint.kind == "fixed":
            self.plant.AddJoint(WeldJoint(joint.name, F, M, RigidTransform()))
            return
        if joint.friction or joint.stiffness:
            raise NotImplementedError("dry friction and springs of joints are not translated")
        limit, axis = joint.limit, np.array(joint.axis)
        made = self.plant.AddJoint(JOINTS[joint.kind](joint.name, F, M, axis, limit.lower, limit.upper, joint.damping))
        drive = self.actuators.get(joint.name)
        bound = min(limit.effort, drive.effort_limit) if drive else math.inf
        actuator = self.plant.AddJointActuator(joint.name, made, bound)
        actuator.set_default_rotor_inertia(joint.armature)
        actuator.set_default_gear_ratio(1.0)
        if drive and drive.has_gains:
            actuator.set_controller_gains(PdControllerGains(p=drive.kp, d=drive.kd))

    def _add_constraints(self) -> None:
        plant = self.plant
        anchor = plant.AddRigidBody(ANCHOR, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        plant.WeldFrames(plant.world_frame(), anchor.body_frame())
        bodies = self.bodies | {WORLD: anchor}
        for c in self.scene.constraints:
            if c.kind == "coupler":
                plant.AddCouplerConstraint(*(plant.GetJointByName(name) for name in c.joints), c.ratio, c.offset)
                continue
            a, b = bodies[c.a.link], bodies[c.b.link]
            if c.kind == "distance" and not c.unilateral:
                plant.AddDistanceConstraint(a, c.a.X_LP.p, b, c.b.X_LP.p, c.length, c.stiffness, c.damping)
            elif c.kind == "ball":
                plant.AddBallConstraint(a, c.a.X_LP.p, b, c.b.X_LP.p)
            elif c.kind == "weld":
                plant.AddWeldConstraint(a, transform(c.a.X_LP), b, transform(c.b.X_LP))
            else:
                raise NotImplementedError(f"{c.kind} {c.name} is not translated")

    def _fix_inputs(self) -> None:
        """Desired states, without which Drake drops a drive, and feed-forwards and efforts."""
        plant, n = self.plant, self.plant.num_actuators()
        driven = [i for i in plant.GetJointActuatorIndices() if plant.get_joint_actuator(i).has_controller()]
        feedforward, desired = np.zeros(n), []
        for i, index in enumerate(plant.GetJointActuatorIndices()):
            drive = self.actuators.get(plant.get_joint_actuator(index).joint().name())
            if drive:
                feedforward[i] = drive.feedforward if drive.has_gains else drive.effort
        for index in driven:
            drive = self.actuators[plant.get_joint_actuator(index).joint().name()]
            desired.append((drive.target, drive.target_velocity))
        if n:
            plant.get_actuation_input_port(default_model_instance()).FixValue(self.plant_context, feedforward)
        if driven:
            port, size = plant.get_desired_state_input_port(default_model_instance()), n
            values = np.zeros((2, size))
            for index, pair in zip(driven, desired, strict=True):
                values[:, list(plant.GetJointActuatorIndices()).index(index)] = pair
            port.FixValue(self.plant_context, values.ravel())

    def contacts(self, x: np.ndarray) -> list[tuple[str, str, np.ndarray, np.ndarray]]:
        """(body A, body B, point, force on B) of the contacts in the step from a state; names of links, WORLD included."""
        self.plant.SetPositionsAndVelocities(self.plant_context, x)
        results = self.plant.get_contact_results_output_port().Eval(self.plant_context)  # of the step that starts here
        names = {int(body.index()): name for name, body in self.bodies.items()}
        infos = (results.point_pair_contact_info(i) for i in range(results.num_point_pair_contacts()))
        return [(names[int(i.bodyA_index())], names[int(i.bodyB_index())], i.contact_point(), i.contact_force()) for i in infos]

    # ---- states ------------------------------------------------------------------------------------------------------

    def _slices(self, body) -> tuple[slice, slice]:
        if body.kind == "floating":
            link = next(j.child for j in self.scene.joints if j.name == body.joint)
            drake = self.bodies[link]
            iq, iv = drake.floating_positions_start(), drake.floating_velocities_start_in_v()
            return slice(iq, iq + 7), slice(iv, iv + 6)
        joint = self.plant.GetJointByName(body.joint)
        iq, iv = joint.position_start(), joint.velocity_start()
        return slice(iq, iq + 1), slice(iv, iv + 1)

    def pack(self, system, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        x = super().pack(system, q, v)
        for joint in self.scene.joints:
            if joint.locked:
                x[self.plant.GetJointByName(joint.name).position_start()] = joint.q0[0]
        return x
