"""What tests of surfaces share: contacts of a body in many poses, one to a world, and distances in plain NumPy."""

from dataclasses import replace
from functools import cache

import coal
import numpy as np
import warp as wp
from scipy.spatial.transform import Rotation

from sapsim.collide import broadphase, convex, narrowphase
from sapsim.scene.hull import convex_hull
from sapsim.scene.read import loads
from sapsim.scene.surface import Surface
from sapsim.step.simulation import Simulation

wp.config.log_level = wp.LOG_WARNING
SCENE = """
sapsim: 1
time_step: 0.001
steps: 1
worlds: {{count: {count}}}
contact: {{margin: {margin}}}
world: {{collision: [{{box: [1, 1, 1]}}]}}
bodies: {{body: {{{shape}, mass: 1}}}}
"""
CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.08, 0.08) for z in (-0.05, 0.05)])
SHAPES = {
    "sphere": "sphere: 0.1",
    "capsule": "capsule: {radius: 0.05, length: 0.2}",
    "box": "box: [0.2, 0.16, 0.1]",
    "cylinder": "cylinder: {radius: 0.08, length: 0.12}",
    "cone": "cone: {radius: 0.1, length: 0.2}",
    "ellipsoid": "ellipsoid: [0.1, 0.06, 0.08]",
    "hull": "box: [0.2, 0.16, 0.1]",
}
FLAT = 1.0e-9


@cache
def hull():
    """A convex shape of 20 corners, about the middle of its volume."""
    points = np.random.default_rng(3).normal(size=(20, 3))
    points = 0.1 * points / np.linalg.norm(points, axis=1)[:, None]
    own = convex_hull(points)
    return convex_hull(own.vertices - own.volume_properties()[1])


def grid(x, y, z):
    """Corners and triangles of heights z (rows along y, columns along x)."""
    rows, columns = z.shape
    X, Y = np.meshgrid(x, y)
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = at[:-1, :-1].ravel(), at[:-1, 1:].ravel(), at[1:, 1:].ravel(), at[1:, :-1].ravel()
    return np.column_stack([X.ravel(), Y.ravel(), z.ravel()]), np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def terrain(seed: int = 1, n: int = 9, height: float = 0.2):
    """A rough terrain of 2 m x 2 m."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-1.0, 1.0, n)
    return grid(x, x, rng.uniform(-height, height, (n, n)))


def boxes(half=(0.5, 0.4, 0.3), cuts: int = 0):
    """A closed box, its faces cut into smaller triangles."""
    import trimesh

    mesh = trimesh.creation.box(2.0 * np.array(half))
    for _ in range(cuts):
        mesh = mesh.subdivide()
    return np.array(mesh.vertices), np.array(mesh.faces)


def stone(seed: int):
    """A closed surface with sharp ridges: the hull of ten points on an ellipsoid, as large as the bodies."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(10, 3))
    own = convex_hull(points / np.linalg.norm(points, axis=1)[:, None] * rng.uniform(0.05, 0.2, 3))
    return own.vertices, own.triangles


class Poses:
    """Contacts of a body with a surface in many poses at once."""

    def __init__(self, shape: str, mesh, count: int, *, margin: float = 0.0, precision: str = "float64", lanes: int = 1):
        scene = loads(SCENE.format(shape=SHAPES[shape], count=count, margin=margin), file="poses.yaml")
        surface = Surface(*mesh, FLAT)
        (box,) = scene.world_shapes
        links = scene.links
        if shape == "hull":
            (own,) = links[0].shapes
            links = (replace(links[0], shapes=(replace(own, kind="convex", params=(), hull=hull()),)),)
        surfaces = (replace(box, kind="surface", params=(), surface=surface),)
        self.scene = replace(scene, links=links, world_shapes=surfaces)
        self.sim = Simulation(self.scene, device="cpu", precision=precision, lanes=lanes)
        self.stages = [stage.make(self.sim.R) for stage in (broadphase, convex, narrowphase)]

    def contacts(self, q: np.ndarray) -> list[list[tuple]]:
        """Of each pose (xyz, quaternion xyzw) its contacts (normal from surface to body, point, depth, part, feature)."""
        sim = self.sim
        while True:
            sim.set_state(q, np.zeros((len(q), 6)))
            sim.initial()
            for name in ("need", "stopped"):
                sim.arrays[name].zero_()
            for stage in self.stages:
                sim._launcher.launch(stage)
            need = sim.arrays["need"].numpy().max(axis=0)
            grown = self.grow(need)
            if not grown:
                break
        names = ("contact_n", "contact_p", "contact_depth", "contact_part", "contact_feature")
        n, p, depth, part, feature = (sim.arrays[name].numpy() for name in names)
        count = sim.arrays["ncontact"].numpy()
        return [[(n[w, c], p[w, c], depth[w, c], part[w, c], feature[w, c]) for c in range(count[w])] for w in range(len(q))]

    def grow(self, need) -> bool:
        from sapsim.step.capacity import grown

        capacity = grown(self.sim.capacity, need, self.sim.model, self.sim.nworld)
        if capacity is not None:
            self.sim._grow(capacity)
        return capacity is not None


def random_quaternions(rng, n: int) -> np.ndarray:
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def nearest_on_triangles(x: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The points of triangles (m, 3, 3) nearest to x (3,), by their regions (Ericson, Real-Time Collision Detection, 5.1.5):
    the nearest of the inside's projection and of those on the three sides."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    inside = x - ((x - a) * n).sum(1)[:, None] * n
    ok = np.ones(len(corners), bool)
    found, best = np.zeros_like(a), np.full(len(a), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        ok &= (np.cross(q - p, inside - p) * n).sum(1) >= 0.0
        s = np.clip(((x - p) * (q - p)).sum(1) / ((q - p) ** 2).sum(1), 0.0, 1.0)
        on = p + s[:, None] * (q - p)
        d = np.linalg.norm(x - on, axis=1)
        found[d < best], best[d < best] = on[d < best], d[d < best]
    found[ok] = inside[ok]
    return found


@cache
def coal_body(shape: str):
    """coal's geometry of a body of SHAPES."""
    if shape == "hull":
        return coal_convex(hull().vertices, hull().triangles)
    return {
        "sphere": coal.Sphere(0.1),
        "capsule": coal.Capsule(0.05, 0.2),
        "box": coal.Box(0.2, 0.16, 0.1),
        "cylinder": coal.Cylinder(0.08, 0.12),
        "cone": coal.Cone(0.1, 0.2),
        "ellipsoid": coal.Ellipsoid(0.1, 0.06, 0.08),
    }[shape]


def coal_convex(vertices, faces):
    """coal's convex polytope."""
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for v in vertices:
        points.append(v)
    for t in faces:
        triangles.append(coal.Triangle(*map(int, t)))
    return coal.Convex(points, triangles)


def coal_mesh(mesh):
    """coal's tree of a mesh."""
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(mesh[1]), len(mesh[0]))
    for triangle in mesh[1]:
        model.addTriangle(*(mesh[0][i] for i in triangle))
    model.endModel()
    return model


def coal_distance(body, other, pose) -> float:
    """Signed where both are convex."""
    X = coal.Transform3s(Rotation.from_quat(pose[3:]).as_matrix(), pose[:3])
    request = coal.DistanceRequest(True, True)
    request.gjk_tolerance = 1.0e-9
    return coal.distance(body, X, other, coal.Transform3s.Identity(), request, coal.DistanceResult())


def coal_distance_to_mesh(body, mesh, pose) -> float:
    """Of separated shapes."""
    return coal_distance(body, mesh, pose)


def coal_distance_to_box(body, pose) -> float:
    """Signed, to the box of `boxes()`."""
    return coal_distance(body, coal.Box(1.0, 0.8, 0.6), pose)
