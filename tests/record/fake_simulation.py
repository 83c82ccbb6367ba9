"""A stand-in for the simulation in tests of the recorder: balls that fall onto a plane, by closed formulas in NumPy."""

from dataclasses import replace

import numpy as np

from sapsim.scene.spec import Inertial, Joint, Link, Material, Output, Scene, Shape
from sapsim.step.block import Block, Contacts, Totals

H = 0.01


def scene(balls: int = 2, steps: int = 40, nworld: int = 1, plane: bool = True, **output) -> Scene:
    """`balls` floating balls of radius 0.05 m above a plane."""
    rubber = Material(stiffness=1e5)
    pose = Shape("0", "sphere", (0.05,), X_LG=_pose(), material=rubber, material_name="rubber")
    names = [f"ball{i}" for i in range(balls)]
    return Scene(
        name="balls",
        file="/somewhere/balls.yaml",
        time_step=H,
        steps=steps,
        links=tuple(Link(n, n, Inertial(1.0 + i), shapes=(replace(pose, name=f"{n}/0"),)) for i, n in enumerate(names)),
        joints=tuple(
            Joint(f"{n}/base", "floating", "world", n, q0=(float(i), 0, 1, 0, 0, 0, 1), qd0=(0.0,) * 6)
            for i, n in enumerate(names)
        ),
        world_shapes=(Shape("world/0", "plane", (), X_LG=_pose(), material=rubber, material_name="rubber"),) * plane,
        nworld=nworld,
        output=Output(**output),
        text="sapsim: 1\n",
        resolved="sapsim: 1\nname: balls\n",
    )


def _pose():
    from sapsim.scene.spec import Pose

    return Pose()


class FakeSimulation:
    """The interface of `sapsim.step.simulation.Simulation`.  From step 5 on every ball touches the plane."""

    def __init__(self, made: Scene, failing: dict[int, int] | None = None):
        self.scene = made
        self.nworld = made.nworld
        self.device, self.precision = "cpu", "float64"
        self.link_names = [link.name for link in made.links]
        self.joint_names = [joint.name for joint in made.joints]
        self.coordinate_names = [f"{n}:{c}" for n in self.joint_names for c in ("px", "py", "pz", "qx", "qy", "qz", "qw")]
        self.coordinate_units = ["m", "m", "m", "1", "1", "1", "1"] * len(made.joints)
        self.dof_names = [f"{n}:{c}" for n in self.joint_names for c in ("vx", "vy", "vz", "wx", "wy", "wz")]
        self.dof_units = ["m/s"] * 3 + ["rad/s"] * 3
        self.dof_units = self.dof_units * len(made.joints)
        self.joint_q_start = [7 * i for i in range(len(made.joints))]
        self.joint_qd_start = [6 * i for i in range(len(made.joints))]
        self.shape_names = [s.name for s in made.world_shapes] + [s.name for link in made.links for s in link.shapes]
        self.shape_body = np.array([-1] * len(made.world_shapes) + list(range(len(made.links))), np.int32)
        self.constraint_names = self.constraint_kinds = self.constraint_units = []
        self.memory_bytes = 1000
        self.steps_done = 0
        self.failing = failing or {}  # {world: step at which it fails}

    @property
    def totals(self) -> Totals:
        zero = np.zeros(self.nworld, np.int64)
        bad = np.array([self.failing.get(w, -1) for w in range(self.nworld)])
        bad = np.where(bad <= self.steps_done, bad, -1)
        status = np.where(bad >= 0, 8, 0).astype(np.uint32)
        return Totals(self.steps_done, (bad >= 0).astype(int), zero + 2, zero + 3, zero + 4, zero + 5, status, bad)

    @property
    def stopped(self) -> np.ndarray:
        return self.totals.first_bad_step >= 0

    def initial(self) -> Block:
        return self._rows(np.array([0]))

    def advance(self, nsteps: int) -> Block:
        end = min(self.steps_done + nsteps, self.scene.steps)
        steps = np.arange(self.steps_done + 1, end + 1)
        self.steps_done = end
        return self._rows(steps[(steps % self.scene.output.every == 0) | (steps == self.scene.steps)])

    def _rows(self, step: np.ndarray) -> Block:
        """Row of step k: height 1 - g (k h)^2 / 2, a little different in each world and for each ball."""
        R, W, B = len(step), self.nworld, len(self.link_names)
        time = (step * H)[:, None] * np.ones((1, W))
        t = time[:, :, None] * np.ones((1, 1, B))
        body_q = np.zeros((R, W, B, 7))
        body_q[..., 0] = np.arange(B) + 0.001 * np.arange(W)[:, None]
        body_q[..., 2] = 1 - 4.905 * t**2
        body_q[..., 5], body_q[..., 6] = np.sin(t), np.cos(t)  # turns about z at 2 rad/s
        body_qd = np.zeros((R, W, B, 6))
        body_qd[..., 2] = -9.81 * t
        body_qd[..., 5] = 2.0
        count = np.where((step >= 5)[:, None], B if self.shape_names and self.shape_body[0] < 0 else 0, 0)
        count = (count * np.ones((1, W))).astype(np.int32)
        status = np.zeros((R, W), np.uint32)
        for world, fails in self.failing.items():
            status[step == fails, world] = 8
            status[step > fails, world] = 64
        return Block(
            step=step,
            joint_q=body_q.reshape(R, W, 7 * B),
            joint_qd=body_qd.reshape(R, W, 6 * B),
            body_q=body_q,
            body_qd=body_qd,
            contact_count=count,
            contacts=self._contacts(step, count),
            converged=status == 0,
            optimality_reached=status == 0,
            cost_reached=np.zeros((R, W), bool),
            iterations=np.where((step > 0)[:, None], 2, 0) * np.ones((1, W), np.int32),
            line_search_iterations=np.zeros((R, W), np.int32),
            linear_iterations=np.zeros((R, W), np.int32),
            residual=np.full((R, W), 1e-9),
            residual_scale=np.ones((R, W)),
            cost=np.full((R, W), 0.5),
            status=status,
            energy=np.stack([4.0 + time, -3.0 * time, 0.5 * np.ones((R, W))], axis=-1),
            constraint_impulse=np.zeros((R, W, 0)),
            reaction=np.zeros((R, W, 0, 6)),
        )

    def _contacts(self, step: np.ndarray, count: np.ndarray) -> Contacts:
        row, world = np.repeat(np.argwhere(count >= 0), count.ravel(), axis=0).T
        n = len(row)
        ball = np.concatenate([np.arange(c) for c in count.ravel()] or [np.arange(0)]).astype(np.int32)
        up = np.tile([0.0, 0.0, 1.0], (n, 1))
        # each ball's ground impulse is its weight times h, and each depth is 1 mm times its step
        impulse = up * (9.81 * H * (1.0 + ball))[:, None]
        zero = np.zeros(n, np.int32)
        return Contacts(
            row=row.astype(np.int64),
            world=world.astype(np.int32),
            shape_a=zero,
            shape_b=1 + ball,
            body_a=zero - 1,
            body_b=ball,
            part=zero - 1,
            feature=zero,
            point=np.zeros((n, 3)),
            normal=up,
            depth=1e-3 * step[row],
            impulse=impulse,
            slip_velocity=np.zeros((n, 3)),
            stiffness=np.full(n, 5e4),
            friction=np.full(n, 0.5),
        )
