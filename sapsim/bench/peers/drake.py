"""Drake (`pip install drake`): MultibodyPlant with point contact, the SAP solver, default tolerances.

A pair of shapes gives one point there, so boxes of standard scenes collide by their corners; in other scenes a pair that has
several points in sapsim makes the row say "one point": then the contacts are not the same.  Sampled output ports are off, which
is the faster setting.  Worlds are simulators of one diagram, advanced one after another.  Drake does not tell Python how
many iterations it made; a solve that does not converge raises, which voids the figure.
"""

import logging
from importlib.metadata import version

import numpy as np

from sapsim.bench.cases import Case
from sapsim.bench.engine import SAMPLES, Fault, Seen
from sapsim.bench.mechanism import Body, Geometry, at_state, has_manifolds, mechanism, refuse_kinds, translated
from sapsim.bench.peers._drake_joints import JOINTS, Place, add_actuators, add_joint, fix_inputs, model_instances, rotation

LAWS = {"lagged": "kLagged", "similar": "kSimilar", "sap": "kSap"}
SHAPES = {
    "plane": lambda g, s: g.HalfSpace(),
    "sphere": lambda g, s: g.Sphere(s[0]),
    "box": lambda g, s: g.Box(*(2.0 * s)),
    "capsule": lambda g, s: g.Capsule(s[0], 2.0 * s[1]),
}


class Engine:
    """A scene in Drake."""

    NAME, PACKAGE, REQUIREMENT = "drake", "pydrake", "drake"

    def __init__(self, case: Case):
        from pydrake.multibody import plant, tree
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        logging.getLogger("drake").setLevel(logging.ERROR)  # it warns of half-spaces and deformable bodies
        self.tree = tree
        scene, model = case.scene(case.one_point)
        self.boxes = case.one_point or "one point" * has_manifolds(model)
        self.model = model
        self.mechanism = m = mechanism(scene, model)
        refuse_kinds("joints", [b.kind for b in m.bodies], JOINTS)
        refuse_kinds("shapes", [s.kind for s in m.shapes], SHAPES)
        self.version, self.device, self.precision, self.threads = version("drake"), "cpu", "float64", 1
        builder = DiagramBuilder()
        config = plant.MultibodyPlantConfig(time_step=m.time_step, contact_model="point", use_sampled_output_ports=False)
        self.plant, graph = plant.AddMultibodyPlant(config, builder)
        self.plant.set_discrete_contact_approximation(getattr(plant.DiscreteContactApproximation, LAWS[m.law]))
        self.plant.mutable_gravity_field().set_gravity_vector(m.gravity)
        self.bodies, self.joints, self.drives = [], {}, {}
        self.instances = model_instances(self.plant)
        for b, body in enumerate(m.bodies):
            self._add_body(b, body)
        geometries = [self._add_shape(i, shape) for i, shape in enumerate(m.shapes)]
        self.plant.Finalize()
        self._keep_pairs(graph, geometries)
        diagram = builder.Build()
        self.simulators = [Simulator(diagram) for _ in range(case.nworld)]
        self.restart()

    # ---- the model ---------------------------------------------------------------------------------------------------

    def _add_body(self, b: int, body: Body) -> None:
        tree, plant = self.tree, self.plant
        i = body.inertia
        inertia = tree.SpatialInertia.Zero()
        if body.mass > 0.0:
            moments = tree.RotationalInertia(i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
            inertia = tree.SpatialInertia.MakeFromCentralInertia(body.mass, body.com, moments)
        heavy, weightless = self.instances
        instance = weightless() if body.weightless else heavy
        self.bodies.append(plant.AddRigidBody(f"b{b}", instance, inertia))
        if JOINTS[body.kind] is None:
            return
        parent = plant.world_body() if body.parent < 0 else self.bodies[body.parent]
        X_PF = rotation(body.R_PF, body.p_PF)
        joints = add_joint(Place(plant, tree, f"j{b}", body, self.bodies[b], instance, parent, X_PF))
        add_actuators(plant, tree, body, joints)
        if body.drive:
            self.drives[joints[0].name()] = body.drive
        self.joints[b] = joints

    def _add_shape(self, i: int, shape: Geometry):
        from pydrake import geometry
        from pydrake.multibody.plant import CoulombFriction

        body = self.plant.world_body() if shape.body < 0 else self.bodies[shape.body]
        X_BG = rotation(shape.R_BG, shape.p_BG)
        surface, friction = geometry.ProximityProperties(), CoulombFriction(shape.friction, shape.friction)
        geometry.AddContactMaterial(
            dissipation=shape.dissipation, point_stiffness=shape.stiffness, friction=friction, properties=surface
        )
        surface.AddProperty("material", "relaxation_time", shape.relaxation_time)
        made = SHAPES[shape.kind](geometry, shape.size)
        return self.plant.RegisterCollisionGeometry(body, X_BG, made, f"g{i}", surface)

    def _keep_pairs(self, graph, geometries: list) -> None:
        """Tests the model's pairs of shapes and no others."""
        from pydrake.geometry import CollisionFilterDeclaration, GeometrySet

        filters = CollisionFilterDeclaration()
        filters.ExcludeWithin(GeometrySet(geometries))
        for i, geometry in enumerate(geometries):
            partners = [geometries[b] for a, b in sorted(self.mechanism.pairs) if a == i]
            if partners:
                filters.AllowBetween(GeometrySet([geometry]), GeometrySet(partners))
        graph.collision_filter_manager().Apply(filters)

    # ---- stepping ----------------------------------------------------------------------------------------------------

    def restart(self) -> None:
        self.steps, self.error = 0, ""
        for simulator in self.simulators:
            root = simulator.get_mutable_context()
            root.SetTime(0.0)
            self._place(self.plant.GetMyMutableContextFromRoot(root))
            simulator.Initialize()

    def start_from(self, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """A restart from another state, as files hold it, which stays the start."""
        self.mechanism = at_state(self.mechanism, self.model, joint_q, joint_qd)
        self.restart()

    def _place(self, context) -> None:
        from pydrake.multibody.math import SpatialVelocity

        q, v = self.plant.GetDefaultPositions(), np.zeros(self.plant.num_velocities())
        for b, joints in self.joints.items():
            done = 0
            for joint in joints:
                n = joint.num_velocities()
                q[joint.position_start() :][:n] = self.mechanism.bodies[b].q[done : done + n]
                v[joint.velocity_start() :][:n] = self.mechanism.bodies[b].v[done : done + n]
                done += n
        fix_inputs(self.plant, self.tree, context, self.drives)
        self.plant.SetPositions(context, q)
        self.plant.SetVelocities(context, v)
        for b, body in enumerate(self.mechanism.bodies):
            if b not in self.joints:
                self.plant.SetFreeBodyPose(context, self.bodies[b], rotation(*body.floating_pose()))
                self.plant.SetFreeBodySpatialVelocity(context, self.bodies[b], SpatialVelocity(*body.floating_twist()))

    def advance(self, n: int) -> None:
        self.steps += n
        end = self.steps * self.mechanism.time_step
        try:
            for simulator in self.simulators:
                simulator.AdvanceTo(end)
        except RuntimeError as error:
            self.error = str(error).splitlines()[0]

    def observe(self, n: int) -> Seen:
        chunk, done, contacts, looks = max(1, n // SAMPLES), 0, 0, 0
        while done < n and not self.error:
            self.advance(min(chunk, n - done))
            done += chunk
            contacts += self.contacts()
            looks += len(self.simulators)
        return Seen(contacts / max(1, looks), None, None if self.error else 1.0)

    def contacts(self) -> int:
        """Contacts of all worlds in the states as they are."""
        port = self.plant.get_contact_results_output_port()
        return sum(port.Eval(context).num_point_pair_contacts() for context in self._contexts())

    def fault(self) -> Fault | None:
        if self.error:
            return Fault("failed", self.error)
        if not all(np.isfinite(self.plant.GetPositionsAndVelocities(context)).all() for context in self._contexts()):
            return Fault("failed", "the state is not finite")
        return None

    def _contexts(self) -> list:
        return [self.plant.GetMyContextFromRoot(s.get_context()) for s in self.simulators]

    def poses(self) -> np.ndarray:
        context = self._contexts()[0]
        found = (self.plant.EvalBodyPoseInWorld(context, b).GetAsMatrix34() for b in self.bodies)
        return translated(self.mechanism.bodies, found)

    def twists(self) -> np.ndarray:
        """(n, 6) [omega_WB; v_WBo] of the bodies of world 0 that have mass, world axes."""
        context, bodies = self._contexts()[0], zip(self.bodies, self.mechanism.bodies, strict=True)
        found = [self.plant.EvalBodySpatialVelocityInWorld(context, b).get_coeffs() for b, own in bodies if own.mass > 0.0]
        return np.array(found).reshape(-1, 6)
