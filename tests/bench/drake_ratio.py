"""Time of a step at rest against Drake, on S2 (a cube on a plane) and S3 (ten cubes stacked).

    python tests/bench/drake_ratio.py

float64, one world, warm, captured, nothing recorded, h = 1 ms.  Both engines settle first and are then timed from their own
states at rest, in one process, in alternating runs; figures are medians of the runs with their extremes.  Pair parameters
are equal.

Drake's point contact gives one point to a pair of geometries, so its cubes carry four spheres of 2 mm radius in their
bottom corners, which touch the plane or the cube below; all other pairs are filtered.  sapsim runs the same model ("spheres":
the same contact set) and its own boxes ("boxes": four points a pair by clipping).  Drake's sampled output ports are off: that
is its faster setting.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

STIFFNESS, DISSIPATION, RELAXATION, FRICTION = 1.0e5, 20.0, 0.01, 0.5  # of one surface
HALF, RADIUS, MASS, H = 0.05, 0.002, 1.0, 1.0e-3
CORNERS = [(sx * (HALF - RADIUS), sy * (HALF - RADIUS), -(HALF - RADIUS)) for sx in (-1, 1) for sy in (-1, 1)]
# name: (position, rpy) of every cube at the start
SCENES = {
    "S2": [((0.0, 0.0, 0.11), (0.05, 0.08, 0.0))],
    "S3": [((0.0, 0.0, HALF + i * (2 * HALF + 0.0005)), (0.0, 0.0, 0.0)) for i in range(10)],
}
SETTLE = 3000  # steps before timing


@dataclass
class Row:
    """One engine on one scene: medians over the runs, and their extremes."""

    scene: str
    law: str
    engine: str
    us_per_step: float  # process CPU time
    us_min: float
    us_max: float
    wall_us_per_step: float
    contacts: float
    iterations: float | None
    ratio_to_drake: float | None = None


def sapsim_text(cubes: list, law: str, feet: bool) -> str:
    """The scene in sapsim's format, with corner spheres (`feet`) or boxes that collide."""
    i = MASS * (2 * HALF) ** 2 / 6.0
    inertial = f"inertial: {{mass: {MASS}, inertia: {{ixx: {i}, iyy: {i}, izz: {i}}}}}"
    side = 2 * HALF
    lines = [
        "sapsim: 1", f"time_step: {H}", "steps: 1000000000", f"contact: {{law: {law}}}",
        "materials:",
        f"  m: {{stiffness: {STIFFNESS}, dissipation: {DISSIPATION}, relaxation_time: {RELAXATION}, friction: {FRICTION}}}",
        "world: {collision: [{plane: {}, material: m}]}", "output: {every: 1000000000}",
        "models:", "  cube:", "    links:",
        f"      core: {{{inertial}, collision: [{{box: [{side}, {side}, {side}], material: m}}]}}",
    ]  # fmt: skip
    if feet:
        spheres = ", ".join(f"{{sphere: {RADIUS}, pose: {{xyz: {list(c)}}}, material: m}}" for c in CORNERS)
        lines += [
            f"      feet: {{inertial: {{mass: 0}}, collision: [{spheres}]}}",
            "    joints:", "      weld: {type: fixed, parent: core, child: feet}",
        ]  # fmt: skip
        n = len(cubes)
        pairs = [(f"c{a}/{link}", f"c{b}/{link}") for a in range(n) for b in range(a) for link in ("core", "feet")]
        pairs += [(f"c{a}/core", "world") for a in range(n)]
        lines.append("filter: [" + ", ".join(f"[{a}, {b}]" for a, b in pairs) + "]")
    lines.append("instances:")
    for k, (xyz, rpy) in enumerate(cubes):
        lines.append(f"  c{k}: {{model: cube, base: floating, pose: {{xyz: {list(xyz)}, rpy: {list(rpy)}}}}}")
    return "\n".join(lines) + "\n"


class SapsimRun:
    """sapsim on a scene, settled."""

    def __init__(self, scene: str, law: str, feet: bool):
        from sapsim.scene.read import loads
        from sapsim.step.simulation import Simulation

        self.name = "sapsim spheres" if feet else "sapsim boxes"
        self.simulation = Simulation(loads(sapsim_text(SCENES[scene], law, feet), file=f"{scene}.yaml"), device="cpu")
        self.simulation.advance(SETTLE)
        self.start = self.simulation.totals

    def advance(self, n: int) -> None:
        self.simulation.advance(n)

    def heights(self) -> np.ndarray:
        return self.simulation.arrays["p_WB"].numpy()[0, :, 2]

    def statistics(self) -> tuple[float, float | None]:
        """(contacts, Newton iterations) a step since it settled."""
        now = self.simulation.totals
        steps = now.steps - self.start.steps
        assert now.unconverged[0] == 0
        contacts = (now.contacts_sum[0] - self.start.contacts_sum[0]) / steps
        return contacts, (now.iterations_sum[0] - self.start.iterations_sum[0]) / steps


class DrakeRun:
    """Drake on a scene, settled."""

    name = "drake"

    def __init__(self, scene: str, law: str):
        from pydrake.multibody.plant import AddMultibodyPlant, DiscreteContactApproximation, MultibodyPlantConfig
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        builder = DiagramBuilder()
        config = MultibodyPlantConfig(time_step=H, contact_model="point", use_sampled_output_ports=False)
        self.plant, graph = AddMultibodyPlant(config, builder)
        approximation = {"lagged": DiscreteContactApproximation.kLagged, "sap": DiscreteContactApproximation.kSap}
        self.plant.set_discrete_contact_approximation(approximation[law])
        self._add_bodies(graph, SCENES[scene])
        self.plant.Finalize()
        self.simulator = Simulator(builder.Build())
        self._place(SCENES[scene])
        self.simulator.Initialize()
        self.steps = 0
        self.advance(SETTLE)

    def _add_bodies(self, graph, cubes: list) -> None:
        from pydrake.geometry import Box, CollisionFilterDeclaration, GeometrySet, HalfSpace, Sphere
        from pydrake.math import RigidTransform
        from pydrake.multibody.tree import SpatialInertia

        plant, material, side = self.plant, self._material(), 2 * HALF
        ground = plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", material)
        boxes, feet = [], []
        for k in range(len(cubes)):
            body = plant.AddRigidBody(f"c{k}", SpatialInertia.SolidBoxWithMass(MASS, side, side, side))
            boxes.append(plant.RegisterCollisionGeometry(body, RigidTransform(), Box(side, side, side), f"b{k}", material))
            for i, corner in enumerate(CORNERS):
                shape = Sphere(RADIUS)
                feet.append(plant.RegisterCollisionGeometry(body, RigidTransform(corner), shape, f"f{k}{i}", material))
        filters = CollisionFilterDeclaration()
        filters.ExcludeWithin(GeometrySet(boxes)).ExcludeWithin(GeometrySet(feet))
        filters.ExcludeBetween(GeometrySet(boxes), GeometrySet([ground]))
        graph.collision_filter_manager().Apply(filters)

    @staticmethod
    def _material():
        from pydrake.geometry import AddContactMaterial, ProximityProperties
        from pydrake.multibody.plant import CoulombFriction

        made, friction = ProximityProperties(), CoulombFriction(FRICTION, FRICTION)
        AddContactMaterial(dissipation=DISSIPATION, point_stiffness=STIFFNESS, friction=friction, properties=made)
        made.AddProperty("material", "relaxation_time", RELAXATION)
        return made

    def _place(self, cubes: list) -> None:
        from pydrake.math import RigidTransform, RollPitchYaw

        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for k, (xyz, rpy) in enumerate(cubes):
            X_WB = RigidTransform(RollPitchYaw(rpy), xyz)
            self.plant.SetFreeBodyPose(self.context, self.plant.GetBodyByName(f"c{k}"), X_WB)

    def advance(self, n: int) -> None:
        self.steps += n
        self.simulator.AdvanceTo(self.steps * H)

    def heights(self) -> np.ndarray:
        bodies = (self.plant.GetBodyByName(f"c{k}") for k in range(self.plant.num_bodies() - 1))
        return np.array([self.plant.EvalBodyPoseInWorld(self.context, body).translation()[2] for body in bodies])

    def statistics(self) -> tuple[float, float | None]:
        """(contacts now, None: Drake does not tell its iterations to Python)."""
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        return float(results.num_point_pair_contacts()), None


def timed(advance: Callable[[int], None], n: int) -> tuple[float, float]:
    """(process CPU, wall) time of a step [us]."""
    wall, cpu = time.perf_counter(), time.process_time()
    advance(n)
    return (time.process_time() - cpu) / n * 1e6, (time.perf_counter() - wall) / n * 1e6


def measure(scene: str, law: str, runs: int, steps: int) -> list[Row]:
    """All engines on one scene, in alternating runs."""
    engines = [DrakeRun(scene, law), SapsimRun(scene, law, True), SapsimRun(scene, law, False)]
    # the same model at rest: heights agree far below the rest depth of 0.05 mm to 0.5 mm, or the runs are not comparable
    assert np.abs(engines[0].heights() - engines[1].heights()).max() < 1e-6
    times: dict[str, list[tuple[float, float]]] = {e.name: [] for e in engines}
    for engine in engines:
        timed(engine.advance, steps)  # warm
    for _ in range(runs):
        for engine in engines:
            times[engine.name].append(timed(engine.advance, steps))
    rows = []
    for engine in engines:
        cpu, wall = zip(*times[engine.name], strict=True)
        median, wall_median = statistics.median(cpu), statistics.median(wall)
        rows.append(Row(scene, law, engine.name, median, min(cpu), max(cpu), wall_median, *engine.statistics()))
    for row in rows[1:]:
        row.ratio_to_drake = rows[0].us_per_step / row.us_per_step
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=list(SCENES))
    parser.add_argument("--laws", nargs="+", default=["lagged", "sap"], choices=["lagged", "sap"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4000, help="steps of a run")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    options = parser.parse_args()
    import warp as wp

    wp.config.log_level = wp.LOG_ERROR
    cases = [(scene, law) for scene in options.scenes for law in options.laws]
    rows = [row for scene, law in cases for row in measure(scene, law, options.runs, options.steps)]
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    print_table(rows)


def print_table(rows: list[Row]) -> None:
    line = "{:6}{:8}{:16}{:>12}{:>18}{:>9}{:>10}{:>7}{:>8}"
    print(line.format("scene", "law", "engine", "CPU us/step", "[min, max]", "wall", "contacts", "iter", "ratio"))
    for r in rows:
        spread = f"[{r.us_min:.2f}, {r.us_max:.2f}]"
        iterations = "-" if r.iterations is None else f"{r.iterations:.2f}"
        ratio = "" if r.ratio_to_drake is None else f"{r.ratio_to_drake:.1f}"
        cpu, wall, contacts = (f"{x:.2f}" for x in (r.us_per_step, r.wall_us_per_step, r.contacts))
        print(line.format(r.scene, r.law, r.engine, cpu, spread, wall, contacts, iterations, ratio))


if __name__ == "__main__":
    main()
