"""One scene in two engines: six spheres and two jointed chains with springs, damping and armature over a half-space.

`scene_text` gives the scene in sapsim's own format, `DrakeScene` is the same in Drake, from the same numbers.  States
go between the engines by joint names; velocities are compared in sapsim's internal form, which is Drake's too: [omega,
v_Bo] in world axes for floating bodies, rates for the other joints.
"""

import math

import numpy as np
from drake_ties import ANCHOR
from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform, RollPitchYaw
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
    PrismaticSpring,
    RevoluteJoint,
    RevoluteSpring,
    RotationalInertia,
    SpatialInertia,
    UnitInertia,
    default_model_instance,
)
from pydrake.systems.framework import DiagramBuilder

GRAVITY = [0.0, 0.0, -9.81]
MATERIALS = {  # stiffness [N/m], dissipation [s/m], relaxation time [s], friction
    "ground": (4.0e5, 30.0, 0.02, 0.8),
    "rubber": (1.0e5, 10.0, 0.01, 0.7),
    "steel": (1.0e6, 5.0, 0.005, 0.3),
}
SPHERES = {  # radius, mass, material, position, linear velocity, angular velocity
    "s1": (0.10, 1.0, "rubber", (0.0, 0.0, 0.0995), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "s2": (0.08, 0.4, "steel", (0.03, 0.02, 0.274), (0.0, 0.0, -0.2), (0.0, 2.0, 0.0)),  # falls onto s1
    "s3": (0.10, 2.0, "steel", (0.1985, 0.0, 0.0999), (-0.3, 0.1, 0.0), (0.0, 0.0, 5.0)),  # runs into s1
    "s4": (0.05, 0.2, "rubber", (0.5, 0.4, 0.0510), (1.0, 0.0, -0.4), (0.0, 0.0, 0.0)),  # lands sliding
    "s5": (0.06, 0.3, "steel", (-0.4, 0.5, 0.0598), (0.0, -0.8, 0.0), (30.0, 0.0, 0.0)),  # spins against its slide
    "s6": (0.07, 0.5, "rubber", (0.0, -0.6, 3.0), (0.1, 0.2, 0.3), (1.0, -2.0, 3.0)),  # flies all the time
}
# Links of a chain: mass, com, principal-ish moments (ixx, iyy, izz, ixy, ixz, iyz), spheres (radius, centre, material).
LINKS = {
    "arm": {
        "upper": (1.2, (0.0, 0.02, -0.15), (0.012, 0.013, 0.004, 0.001, -0.0005, 0.0008), []),
        "slider": (0.6, (0.01, 0.0, -0.05), (0.003, 0.004, 0.002, 0.0, 0.0002, 0.0001), []),
        "tip": (0.4, (0.05, 0.0, 0.0), (0.001, 0.0015, 0.0012, 0.0, 0.0, 0.0001), [(0.05, (0.1, 0.0, 0.0), "rubber")]),
    },
    "snake": {
        "head": (
            0.8,
            (0.02, 0.01, 0.0),
            (0.004, 0.005, 0.006, 0.0003, 0.0, -0.0002),
            [(0.06, (0.0, 0.0, 0.0), "steel")],
        ),
        "middle": (0.5, (0.1, 0.0, 0.01), (0.002, 0.003, 0.003, 0.0, 0.0001, 0.0), [(0.05, (0.2, 0.0, 0.0), "rubber")]),
        "tail": (0.3, (0.08, -0.01, 0.0), (0.001, 0.0012, 0.0013, 0.0, 0.0, 0.0), [(0.04, (0.16, 0.0, 0.0), "steel")]),
    },
}
# Joints of a chain: type, parent, child, origin xyz, origin rpy, axis, damping, armature, q0, qd0.
JOINTS = {
    "arm": {
        "shoulder": (
            "revolute",
            "world",
            "upper",
            (0.0, 0.0, 0.0),
            (0.1, 0.0, 0.3),
            (0.0, 1.0, 0.0),
            0.3,
            0.02,
            0.3,
            -1.0,
        ),
        "slide": (
            "prismatic",
            "upper",
            "slider",
            (0.0, 0.0, -0.3),
            (0.0, 0.2, 0.0),
            (0.0, 0.0, -1.0),
            2.0,
            0.05,
            0.0,
            0.5,
        ),
        "wrist": (
            "revolute",
            "slider",
            "tip",
            (0.0, 0.0, -0.1),
            (0.0, 0.0, 0.5),
            (0.0, 0.6, 0.8),
            0.05,
            0.003,
            0.4,
            2.0,
        ),
    },
    "snake": {
        "neck": (
            "revolute",
            "head",
            "middle",
            (0.08, 0.0, 0.0),
            (0.0, 0.0, 0.0),
            (0.0, 1.0, 0.0),
            0.02,
            0.002,
            0.1,
            0.5,
        ),
        "hip": (
            "revolute",
            "middle",
            "tail",
            (0.25, 0.0, 0.0),
            (0.3, 0.0, 0.0),
            (0.0, 0.0, 1.0),
            0.01,
            0.001,
            -0.2,
            1.0,
        ),
    },
}
SPRINGS = {"arm/slide": (40.0, 0.05), "arm/wrist": (3.0, 0.2), "snake/hip": (0.5, -0.1)}  # stiffness, reference
# What the driven scene has beside: lower and upper bounds; kp, kd, target, target velocity, feed-forward, effort limit.
# The slide has a drive too weak to lift the tip, the wrist one whose gains no step here resolves, the neck a soft one.
LIMITS = {"arm/slide": (-0.03, 0.06), "arm/shoulder": (0.0, 0.25), "snake/hip": (-0.25, -0.1), "snake/neck": (-0.3, 0.3)}
DRIVES = {
    "arm/slide": (300.0, 20.0, -0.1, 0.2, 0.0, 6.0),
    "arm/wrist": (1.0e7, 5.0e3, 0.1, 0.0, 1.0, 50.0),
    "snake/neck": (4.0, 0.1, -0.2, 0.1, 0.3, math.inf),
}
ARM_POSE = (-0.8, 0.0, 0.40)
SNAKE_POSE = ((0.3, -0.9, 0.0598), (0.02, 0.03, 0.5))
SNAKE_VELOCITY = ((0.4, 0.0, 0.0), (0.0, 0.5, -1.0))  # of the com of the head; angular


def scene_text(law: str, h: float, steps: int, driven: bool = False) -> str:
    """The scene as YAML (contract 1), with limits and drives if `driven`."""
    lines = ["sapsim: 1", "name: parity", f"time_step: {h!r}", f"steps: {steps}", f"gravity: {GRAVITY}"]
    lines += [f"contact: {{law: {law}}}", "materials:"]
    for name, (k, d, tau, mu) in MATERIALS.items():
        lines.append(f"  {name}: {{stiffness: {k}, dissipation: {d}, relaxation_time: {tau}, friction: {mu}}}")
    lines.append("world: {collision: [{plane: {}, material: ground}]}")
    lines.append("bodies:")
    for name, (r, m, material, p, v, w) in SPHERES.items():
        lines.append(
            f"  {name}: {{sphere: {r}, mass: {m}, material: {material}, pose: {{xyz: {list(p)}}}, "
            f"velocity: {{linear: {list(v)}, angular: {list(w)}}}}}"
        )
    lines.append("models:")
    for model, links in LINKS.items():
        lines += [f"  {model}:", "    links:"]
        for name, (m, com, moments, spheres) in links.items():
            inertia = ", ".join(f"{k}: {x}" for k, x in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), moments, strict=True))
            shapes = ", ".join(f"{{sphere: {r}, pose: {{xyz: {list(c)}}}, material: {x}}}" for r, c, x in spheres)
            inertial = f"{{mass: {m}, com: {list(com)}, inertia: {{{inertia}}}}}"
            lines.append(f"      {name}: {{inertial: {inertial}, collision: [{shapes}]}}")
        lines.append("    joints:")
        for name, (kind, parent, child, xyz, rpy, axis, damping, armature, _, _) in JOINTS[model].items():
            lines.append(
                f"      {name}: {{type: {kind}, parent: {parent}, child: {child}, "
                f"origin: {{xyz: {list(xyz)}, rpy: {list(rpy)}}}, axis: {list(axis)}, "
                f"damping: {damping}, armature: {armature}{spring_text(f'{model}/{name}')}"
                f"{limit_text(f'{model}/{name}') * driven}}}"
            )
    lines.append("instances:")
    for model in LINKS:
        q = ", ".join(f"{name}: {row[8]}" for name, row in JOINTS[model].items())
        qd = ", ".join(f"{name}: {row[9]}" for name, row in JOINTS[model].items())
        where = f"pose: {{xyz: {list(ARM_POSE)}}}"
        if model == "snake":
            (xyz, rpy), (linear, angular) = SNAKE_POSE, SNAKE_VELOCITY
            where = f"base: floating, pose: {{xyz: {list(xyz)}, rpy: {list(rpy)}}}, "
            where += f"velocity: {{linear: {list(linear)}, angular: {list(angular)}}}"
        lines.append(f"  {model}: {{model: {model}, {where}, joint_q: {{{q}}}, joint_qd: {{{qd}}}}}")
    if driven:
        lines += ["actuators:", *(f"  drive_{i}: {drive_text(joint)}" for i, joint in enumerate(DRIVES))]
    return "\n".join(lines) + "\n"


def limit_text(joint: str) -> str:
    return f", limit: {{lower: {LIMITS[joint][0]}, upper: {LIMITS[joint][1]}}}" if joint in LIMITS else ""


def drive_text(joint: str) -> str:
    kp, kd, target, speed, feedforward, bound = DRIVES[joint]
    keys = f"kp: {kp}, kd: {kd}, target: {target}, target_velocity: {speed}, feedforward: {feedforward}"
    return f"{{joint: {joint}, {keys}" + (f", effort_limit: {bound}}}" if math.isfinite(bound) else "}")


def spring_text(joint: str) -> str:
    k, reference = SPRINGS.get(joint, (0.0, 0.0))
    return f", stiffness: {k}, reference: {reference}" if k else ""


class DrakeScene:
    """The scene in Drake, one point per geometry pair, default tolerances."""

    def __init__(self, law: str, h: float, driven: bool = False, ties=None):
        """`ties`: of drake_ties.py."""
        self.driven = driven
        config = MultibodyPlantConfig(time_step=h, contact_model="point", use_sampled_output_ports=False)
        builder = DiagramBuilder()
        self.plant, _ = AddMultibodyPlant(config, builder)
        plant = self.plant
        plant.set_discrete_contact_approximation(
            {
                "lagged": DiscreteContactApproximation.kLagged,
                "sap": DiscreteContactApproximation.kSap,
                "similar": DiscreteContactApproximation.kSimilar,
            }[law]
        )
        plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", properties("ground"))
        for name, (r, m, material, *_) in SPHERES.items():
            body = plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(m, r))
            plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(r), name, properties(material))
        for model in LINKS:
            self._add_chain(model)
        if ties is not None:
            anchor = plant.AddRigidBody(ANCHOR, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
            plant.WeldFrames(plant.world_frame(), anchor.body_frame())
            ties.add_to(plant)
        plant.Finalize()
        self.diagram = builder.Build()
        self.context = self.diagram.CreateDefaultContext()
        self.plant_context = plant.GetMyContextFromRoot(self.context)
        if driven:
            self._fix_inputs()

    def _fix_inputs(self):
        """Desired states, without which Drake drops drive and feed-forward, and feed-forward, by place of the actuator."""
        plant, n = self.plant, self.plant.num_actuators()
        target, speed, feedforward = np.zeros(n), np.zeros(n), np.zeros(n)
        for i, index in enumerate(plant.GetJointActuatorIndices()):
            joint = plant.get_joint_actuator(index).joint().name()
            if joint in DRIVES:
                _, _, target[i], speed[i], feedforward[i], _ = DRIVES[joint]
        instance = default_model_instance()
        plant.get_desired_state_input_port(instance).FixValue(self.plant_context, np.concatenate([target, speed]))
        plant.get_actuation_input_port(instance).FixValue(self.plant_context, feedforward)

    def _add_chain(self, model: str):
        plant, bodies = self.plant, {"world": self.plant.world_body()}
        for name, (m, com, moments, spheres) in LINKS[model].items():
            body = plant.AddRigidBody(f"{model}/{name}", spatial_inertia(m, com, moments))
            bodies[name] = body
            for i, (r, c, material) in enumerate(spheres):
                plant.RegisterCollisionGeometry(body, RigidTransform(c), Sphere(r), f"{model}/{name}/{i}", properties(material))
        for name, (kind, parent, child, xyz, rpy, axis, damping, armature, _, _) in JOINTS[model].items():
            X_PF = RigidTransform(RollPitchYaw(rpy), xyz)
            if parent == "world":
                X_PF = RigidTransform(ARM_POSE) @ X_PF
            F = plant.AddFrame(FixedOffsetFrame(f"{model}/{name}/F", bodies[parent].body_frame(), X_PF))
            M = bodies[child].body_frame()
            full = f"{model}/{name}"
            make = RevoluteJoint if kind == "revolute" else PrismaticJoint
            lower, upper = LIMITS.get(full, (-math.inf, math.inf)) if self.driven else (-math.inf, math.inf)
            joint = plant.AddJoint(make(full, F, M, np.array(axis), lower, upper, damping))
            # Reflected inertia: rotor inertia times gear ratio squared; an actuator without a drive has no input.
            kp, kd, *_, bound = DRIVES.get(full, (0.0, 0.0, math.inf)) if self.driven else (0.0, 0.0, math.inf)
            actuator = plant.AddJointActuator(full, joint, bound)
            if kp > 0.0:
                actuator.set_controller_gains(PdControllerGains(p=kp, d=kd))
            actuator.set_default_rotor_inertia(armature)
            actuator.set_default_gear_ratio(1.0)
            if full in SPRINGS:
                spring = RevoluteSpring if kind == "revolute" else PrismaticSpring
                k, reference = SPRINGS[full]
                plant.AddForceElement(spring(joint, reference, k))

    def _slices(self, body) -> tuple[slice, slice]:
        """Places of a twin's body in Drake's q and v."""
        if body.kind == "floating":
            name = body.joint.removesuffix("/base")
            drake = self.plant.GetBodyByName("snake/head" if name == "snake" else name)
            iq, iv = drake.floating_positions_start(), drake.floating_velocities_start_in_v()
            return slice(iq, iq + 7), slice(iv, iv + 6)
        joint = self.plant.GetJointByName(body.joint)
        iq, iv = joint.position_start(), joint.velocity_start()
        return slice(iq, iq + 1), slice(iv, iv + 1)

    def pack(self, system, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Drake's state of sapsim's external q and internal v."""
        x_q, x_v = np.zeros(self.plant.num_positions()), np.zeros(self.plant.num_velocities())
        for body in system.bodies:
            iq, iv = self._slices(body)
            q_F = q[body.q]
            if body.kind == "floating":  # X_WB from X_FM
                X = RigidTransform(to_drake_pose(body.X_PF.R, body.X_PF.p).rotation(), body.X_PF.p) @ pose(q_F)
                q_F = np.concatenate([X.rotation().ToQuaternion().wxyz(), X.translation()])
            x_q[iq], x_v[iv] = q_F, v[body.dofs]
        return np.concatenate([x_q, x_v])

    def unpack(self, system, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """sapsim's external q (quaternions normalised) and internal v of Drake's state."""
        x_q, x_v = np.split(x, [self.plant.num_positions()])
        q, v = np.zeros(system.nq), np.zeros(system.nv)
        for body in system.bodies:
            iq, iv = self._slices(body)
            q_B = x_q[iq]
            if body.kind == "floating":
                X_WB = pose(np.concatenate([q_B[4:], q_B[1:4], q_B[:1]]))
                X = to_drake_pose(body.X_PF.R, body.X_PF.p).inverse() @ X_WB
                w, *xyz = X.rotation().ToQuaternion().wxyz()
                q_B = np.concatenate([X.translation(), xyz, [w]])
            q[body.q], v[body.dofs] = q_B, x_v[iv]
        return q, v

    def step(self, x: np.ndarray) -> np.ndarray:
        """Drake's state one step after x."""
        self.plant.SetPositionsAndVelocities(self.plant_context, x)
        return self.diagram.EvalUniquePeriodicDiscreteUpdate(self.context).get_vector(0).value().copy()


def pose(q: np.ndarray) -> RigidTransform:
    """RigidTransform of [p, quaternion xyzw]."""
    from pydrake.common.eigen_geometry import Quaternion

    wxyz = np.array([q[6], q[3], q[4], q[5]])
    return RigidTransform(Quaternion(wxyz / np.linalg.norm(wxyz)), q[:3])


def to_drake_pose(R: np.ndarray, p: np.ndarray) -> RigidTransform:
    from pydrake.math import RotationMatrix

    return RigidTransform(RotationMatrix.ProjectToRotationMatrix(R), p)


def properties(material: str) -> ProximityProperties:
    k, d, tau, mu = MATERIALS[material]
    made = ProximityProperties()
    AddContactMaterial(dissipation=d, point_stiffness=k, friction=CoulombFriction(mu, mu), properties=made)
    made.AddProperty("material", "relaxation_time", tau)
    return made


def spatial_inertia(mass: float, com, moments) -> SpatialInertia:
    """Drake's inertia about the body origin, from moments about the com."""
    about_com = RotationalInertia(*moments)
    unit = UnitInertia()
    unit.SetFromRotationalInertia(about_com, mass)
    return SpatialInertia.MakeFromCentralInertia(mass, np.array(com), about_com)
