"""What a result file proves by itself: every recorded step can be solved again, and the books of free bodies close.

Nothing but the HDF5 file is read here: the scene's text from /config, masses and inertias from /model, the states,
contacts and solver statistics of the rows.
"""

import h5py
import numpy as np
import pytest
import yaml

from sapsim.record.writer import Recorder
from sapsim.reference.spatial import quaternion_to_rotation
from sapsim.reference.step import Twin
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

SCENE = """
sapsim: 1
time_step: 0.002
steps: 150
contact: {law: LAW}
materials:
  wood: {stiffness: 1.0e+5, dissipation: 10, relaxation_time: 0.01, friction: 0.5}
  steel: {stiffness: 1.0e+6, dissipation: 20, relaxation_time: 0.005, friction: 0.3}
world: {collision: [{plane: {}, material: wood}, {box: [0.1, 0.6, 0.4], pose: {xyz: [0.3, 0, 0.2]}, material: steel}]}
bodies:
  cube: {box: [0.1, 0.1, 0.1], density: 800, material: wood, pose: {xyz: [0, 0, 0.06], rpy: [0.1, 0.05, 0.4]},
         velocity: {linear: [0.8, 0, 0], angular: [0, 0, 2]}}
  slab: {box: [0.2, 0.15, 0.05], density: 500, material: steel, pose: {xyz: [0.02, 0.01, 0.15], rpy: [0.2, -0.1, 0.6]}}
  ball: {sphere: 0.06, density: 900, material: steel, pose: {xyz: [0.17, -0.08, 0.0605]},
         velocity: {linear: [0.5, 0, 0], angular: [5, 0, 9]}}
  high: {sphere: 0.05, mass: 0.4, material: wood, pose: {xyz: [0.0, 0.0, 1.5]},
         velocity: {linear: [0, 0.1, 0], angular: [1, 2, 3]}}
CHAIN
"""
CHAIN = """
models:
  hammer:
    links:
      handle: {inertial: {mass: 0.3, com: [0.1, 0, 0], inertia: {ixx: 0.0002, iyy: 0.001, izz: 0.001}}}
      head: {inertial: {mass: 0.6, com: [0, 0.01, 0], inertia: {ixx: 0.001, iyy: 0.001, izz: 0.001}},
             collision: [{box: [0.06, 0.12, 0.06], material: steel}]}
    joints:
      pivot: {type: revolute, parent: world, child: handle, axis: [0, 1, 0], damping: 0.02, armature: 0.001,
              limit: {lower: 0.2, upper: 0.8}}
      grip: {type: prismatic, parent: handle, child: head, origin: {xyz: [0.2, 0, 0], rpy: [0, 0.2, 0]},
             axis: [1, 0, 0], damping: 0.5, armature: 0.02, limit: {lower: -0.01, upper: 0.01}}
instances: {hammer: {model: hammer, pose: {xyz: [-0.3, 0.2, 0.15]}, joint_q: {pivot: 0.3}, joint_qd: {pivot: 3.0}}}
actuators: {raise: {joint: hammer/pivot, kp: 30, kd: 0.5, target: 0.3, effort_limit: 1.5}}
"""
# What joins the hammer, the free bodies and the world: rows of every kind.
TIES = """
constraints:
  crank: {type: coupler, joints: [hammer/pivot, hammer/grip], ratio: 30, offset: 0.3}
  cord: {type: tendon, joints: [hammer/pivot, hammer/grip], coefficients: [0.1, 1], upper: 0.03, stiffness: 2000, damping: 5}
  rod: {type: distance, a: {link: cube, point: [0.05, 0, 0]}, b: {link: slab, point: [0, 0.05, 0]}, length: 0.1}
  string: {type: distance, a: {link: world, point: [0, 0, 2]}, b: {link: high}, length: 0.502, unilateral: true}
  swivel: {type: ball, a: {link: ball, point: [0.05, 0, 0]}, b: {link: cap}}
  splice: {type: weld, a: {link: high, point: [0.06, 0, 0]}, b: {link: tip, point: [-0.06, 0, 0]}}
"""
EXTRA = """
  cap: {sphere: 0.02, mass: 0.05, material: wood, pose: {xyz: [0.22, -0.08, 0.0605]}}
  tip: {sphere: 0.05, mass: 0.2, material: wood, pose: {xyz: [0.12, 0, 1.5]}}
"""


def tied(law: str, chain: bool = True) -> str:
    """The scene with ties and dry friction; without the chain, of free bodies alone."""
    text = SCENE.replace("CHAIN", EXTRA.strip("\n") + "\nCHAIN").replace("LAW", law)
    ties = TIES if chain else "\n".join(line for line in TIES.splitlines() if "hammer" not in line)
    return text.replace("CHAIN", CHAIN * chain + ties + "\nfilter: [[cap, ball], [tip, high]]\n").replace(
        "armature: 0.001,", "armature: 0.001, friction: 0.05,"
    )


def run(folder, text: str, *overrides: str) -> dict:
    """A run of a scene from its text to a result file; all datasets of that file and the attributes of its root."""
    path, out = folder / "scene.yaml", folder / "out.h5"
    path.write_text(text)
    sim = Simulation(load(str(path), overrides=overrides), device="cpu")
    recorder = Recorder(str(out), sim)
    recorder.put(sim.initial(), sim.totals)
    recorder.put(sim.advance(sim.scene.steps), sim.totals)
    recorder.close("complete")
    found = {}
    with h5py.File(out) as file:
        file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
        found = {name: (x.asstr() if h5py.check_string_dtype(x.dtype) else x)[()] for name, x in found.items()}
        return found | dict(file.attrs)


def scene_of(file: dict, folder):
    """The scene that a result file tells of: /config holds its text and the overrides."""
    path = folder / "from_file.yaml"
    path.write_text(file["config/scene_yaml"])
    return load(str(path), overrides=[x for x in file["config/overrides"].splitlines() if x])


def row_contacts(file: dict, row: int) -> slice:
    start, count = int(file["contacts/start"][row, 0]), int(file["contacts/count"][row, 0])
    return slice(start, start + count)


@pytest.fixture(scope="module", params=["lagged", "sap", "similar", "lagged-tied", "sap-tied"])
def certified(request, tmp_path_factory):
    """One run with default tolerances, of free bodies and a jointed chain; and of those with constraints of every kind."""
    folder = tmp_path_factory.mktemp("certificate")
    law, _, ties = request.param.partition("-")
    file = run(folder, tied(law) if ties else SCENE.replace("LAW", law).replace("CHAIN", CHAIN))
    return file, Twin(scene_of(file, folder))


def test_steps_can_be_solved_again(certified):
    """The twin, from the row before: the same contacts, residual, impulses and flags."""
    file, twin = certified
    iterated = 0
    for row in range(1, len(file["time"]), 4):
        q, qd = file["state/joint_q"][row - 1, 0], file["state/joint_qd"][row - 1, 0]
        result = twin.step(q, qd, int(file["step"][row - 1]))
        at = row_contacts(file, row)
        names = ("shape_a", "shape_b", "feature")
        found = list(zip(*(file[f"contacts/{name}"][at].tolist() for name in names), strict=True))
        assert found == [(c.shape_a, c.shape_b, c.feature) for c in result.contacts]

        scale = file["solver/residual_scale"][row, 0]
        # 1e-9: both walk the same iterates, so they differ by round-off, magnified by at most the condition of A.
        assert abs(file["solver/residual"][row, 0] - result.residual) <= 1e-9 * scale
        assert scale == pytest.approx(result.scale, rel=1e-9)
        frames = [c.R_WC for c in result.contacts]
        gamma = [R.T @ impulse for R, impulse in zip(frames, file["contacts/impulse"][at], strict=True)]
        error = result.D * (result.J.T @ (np.array(gamma).ravel() - result.gamma))
        rows = file["constraints/impulse"][row, 0] - result.constraint_impulse
        assert set(np.flatnonzero(file["constraints/impulse"][row, 0])) <= {c.row for c in result.constraints}
        error += result.D * sum((rows[c.row] * c.J for c in result.constraints), np.zeros_like(result.v))
        assert np.linalg.norm(error) <= 1e-9 * scale

        for flag in ("optimality_reached", "cost_reached", "converged"):
            assert file[f"solver/{flag}"][row, 0] == getattr(result, flag)
        assert file["solver/iterations"][row, 0] == result.iterations
        assert file["solver/status"][row, 0] == result.status
        assert result.velocity_error(twin.internal(result.q, file["state/joint_qd"][row, 0])) <= 1e-9
        iterated += result.iterations
    kinds, acting = list(file["constraints/kind"]), np.any(file["constraints/impulse"][:, 0], axis=0)
    assert kinds[:5] == ["limit"] * 4 + ["pd"]
    if len(kinds) == 5:
        assert acting.sum() >= 2  # a limit, and the drive
    else:
        ties = ["coupler"] + ["distance"] * 2 + ["ball"] * 3 + ["weld"] * 6 + ["tendon"]
        assert kinds[5:] == ["dry_friction", *ties] and acting[5:].all()
    assert iterated > 20  # the run is not one long fall


class Books:
    """Momentum of the free bodies, one row to the next, from the file's numbers."""

    def __init__(self, file: dict):
        self.file = file
        self.h, self.g = float(file["time_step"]), np.array(file["gravity"])
        child, kind = file["model/joint_child"], file["model/joint_type"]
        self.free = [int(link) for link, name in zip(child, kind, strict=True) if name == "floating"]
        self.mass = file["model/body_mass"]
        assert not np.any(file["model/body_com"][self.free])  # the origin is the com

    def inertia_W(self, link: int, row: int) -> np.ndarray:
        xx, yy, zz, xy, xz, yz = self.file["model/body_inertia"][link]
        R = quaternion_to_rotation(self.file["state/body_q"][row, 0, link, 3:])
        return R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T

    def impulses(self, row: int, link: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum of contact impulses on a link [N s] and of their moments about its com at the step's start [N m s]."""
        at = row_contacts(self.file, row)
        impulse, point = self.file["contacts/impulse"][at], self.file["contacts/point"][at]
        sign = 1.0 * (self.file["contacts/body_b"][at] == link) - 1.0 * (self.file["contacts/body_a"][at] == link)
        arm = point - self.file["state/body_q"][row - 1, 0, link, :3]
        force, moment = self.tie_impulses(row, link)
        return sign @ impulse + force, sign @ np.cross(arm, impulse) + moment

    def place(self, row: int, link: str, point) -> np.ndarray:
        """A point of a link, or of the world, in world at the row."""
        if link == "world":
            return np.array(point, float)
        p, q = np.split(self.file["state/body_q"][row, 0, list(self.file["body"]).index(link)], [3])
        return p + quaternion_to_rotation(q) @ np.array(point, float)

    def tie_impulses(self, row: int, link: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum of the impulses that ties between points make on a link, and of their moments about its com.

        The points are those of the step's start: of a distance along their line, of a ball at each point, of a weld in the
        middle, with an impulse of rotation beside.
        """
        force, moment = np.zeros(3), np.zeros(3)
        if "constraints/name" not in self.file:
            return force, moment
        name, centre = self.file["body"][link], self.file["state/body_q"][row - 1, 0, link, :3]
        rows = [str(x).partition(":")[0] for x in self.file["constraints/name"]]
        for key, c in yaml.safe_load(self.file["config/scene_yaml"]).get("constraints", {}).items():
            ends = [c[side]["link"] for side in "ab" if side in c]
            if name not in ends:
                continue
            gamma = self.file["constraints/impulse"][row, 0, [r == key for r in rows]]
            points = [self.place(row - 1, c[side]["link"], c[side].get("point", [0, 0, 0])) for side in "ab"]
            side = ends.index(name)
            sign, at = (-1.0, 1.0)[side], points[side]
            turn = np.zeros(3)
            if len(gamma) == 1:
                gamma = gamma[0] * (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
            if len(gamma) == 6:
                turn, gamma, at = gamma[:3], gamma[3:], 0.5 * (points[0] + points[1])
            force = force + sign * gamma
            moment = moment + sign * (turn + np.cross(at - centre, gamma))
        return force, moment

    def linear(self, row: int, link: int) -> tuple[np.ndarray, float]:
        """m dv - h m g - impulses [N s], and the size of its terms."""
        before, after = self.file["state/body_qd"][row - 1 : row + 1, 0, link, :3]
        m = self.mass[link]
        impulse, _ = self.impulses(row, link)
        size = m * (np.linalg.norm(before) + np.linalg.norm(after) + self.h * np.linalg.norm(self.g))
        return m * (after - before) - self.h * m * self.g - impulse, size + np.linalg.norm(impulse)

    def angular(self, row: int, link: int) -> np.ndarray:
        """I dw + h w x I w - moments [N m s], I and w of the step's start."""
        before, after = self.file["state/body_qd"][row - 1 : row + 1, 0, link, 3:]
        inertia = self.inertia_W(link, row - 1)
        _, moment = self.impulses(row, link)
        return inertia @ (after - before) + self.h * np.cross(before, inertia @ before) - moment


def test_linear_book_closes_to_the_recorded_residual(certified):
    """|sum m dv - h m g - impulses| <= sqrt(sum m) residual: the residual is |D r|, D = 1 / sqrt(m) in these rows."""
    file, _ = certified
    books = Books(file)
    for row in range(1, len(file["time"])):
        residual = file["solver/residual"][row, 0]
        total, total_size, total_mass = np.zeros(3), 0.0, 0.0
        for link in books.free:
            error, size = books.linear(row, link)
            assert np.linalg.norm(error) <= np.sqrt(books.mass[link]) * residual + 1e-12 * size
            total, total_size, total_mass = total + error, total_size + size, total_mass + books.mass[link]
        assert np.linalg.norm(total) <= np.sqrt(total_mass) * residual + 1e-12 * total_size


@pytest.mark.parametrize("law", ["lagged", "sap", "similar", "lagged-tied", "sap-tied"])
def test_books_close_at_a_tight_tolerance(law, tmp_path):
    """At relative_tolerance 1e-13 linear and angular momentum close within 1e-10 of the momentum's scale."""
    law, _, ties = law.partition("-")
    text = tied(law, chain=False) if ties else SCENE.replace("LAW", law).replace("CHAIN", "")
    file = run(tmp_path, text, "solver.relative_tolerance=1e-13")
    books = Books(file)
    assert len(books.free) == 4 + 2 * bool(ties)
    assert not ties or np.all(np.any(file["constraints/impulse"][:, 0], axis=0))
    for row in range(1, len(file["time"])):
        squares, momentum = 0.0, 0.0
        for link in books.free:
            m, inertia = books.mass[link], books.inertia_W(link, row - 1)
            v, omega = np.split(file["state/body_qd"][row, 0, link], 2)
            squares += np.sum(books.linear(row, link)[0] ** 2) / m
            squares += np.sum(books.angular(row, link) ** 2 / np.diag(inertia))
            momentum += m * v @ v + np.sum((inertia @ omega) ** 2 / np.diag(inertia))
        scale = max(np.sqrt(momentum), file["solver/residual_scale"][row, 0])
        assert np.sqrt(squares) <= 1e-10 * scale
