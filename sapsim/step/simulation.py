"""The simulation of a scene: builds the model, holds the state, advances blocks of steps and hands out their rows.

The steps of a block are captured graphs of stage kernels on CUDA, and one kernel of all stages on the CPU (fused.py); nothing
is allocated and nothing is read by the host inside a block.  Where a block needed more room than there was, the state at its
start is put back, the room is grown, the graphs are captured again and the block is replayed, bit for bit.
"""

import gc
import threading

import numpy as np
import warp as wp

from sapsim.collide import convex
from sapsim.errors import MachineError
from sapsim.math.real import real
from sapsim.model.arrays import Arrays
from sapsim.model.build import build
from sapsim.model.fields import FIELDS
from sapsim.solver import linear
from sapsim.step import energy, overlaps, record, softened
from sapsim.step import fused as fused_step
from sapsim.step.block import Block, Totals
from sapsim.step.capacity import first_guess, grown
from sapsim.step.pipeline import Launcher, begin_stages, step_stages
from sapsim.step.rows import fetch_rows, read_totals

GRAPH_STEPS = 16  # steps to a captured graph: below ten, launching from Python shows (performance_facts 12)
GPU_LANES = 32
SAVED = ("q", "v", "step", "stopped", "total", "merged", "merged_real", *softened.ARRAYS)

_CAPTURE = threading.Lock()  # one capture at a time in a process


class Simulation:
    """A scene in motion.  W = scene.nworld worlds advance together; each stops on its own failure.

    Arrays of states are those of files: joint_q (W, nq), joint_qd (W, nv), in the order of `scene.joints`.
    """

    def __init__(
        self,
        scene,
        *,
        device: str = "auto",
        precision: str = "float64",
        lanes: int | None = None,
        fused: bool | None = None,
        factor: str = "auto",
        max_contacts: int | None = None,
    ):
        """Builds the model and allocates.  `lanes` (a block's threads) and `fused` (one kernel instead of captured graphs)
        change how fast it runs and not one bit of what comes out.  `factor` is how mass matrices are factorised: "dense",
        "sparse", or "auto", which chooses for each tree (model/trees.py).  `max_contacts`: a hard limit of the contacts of a
        world; steps that find more keep the first ones and carry StepStatus.CONTACT_OVERFLOW.  Without it the room grows.
        Raises MachineError where the device is missing or too small.
        """
        self.scene = scene
        self.nworld = scene.nworld
        self.precision = precision
        self.device = resolve_device(device)
        self.model = build(scene, factor)
        self.R = real(precision)
        convexes = self.model.sizes["nconvexpair"] > 0
        self._variant = (self.R, scene.contact.law, scene.solver.form, scene.solver.linear_solver, convexes)
        on_gpu = self.device.startswith("cuda")
        self.lanes = lanes or (GPU_LANES if on_gpu else 1)
        self._fused = not on_gpu if fused is None else fused
        couples = linear.assembles(scene.solver.linear_solver)
        self.capacity = first_guess(self.model, self.nworld, max_contacts, couples=couples)
        self.contacts_found = 0  # the most that a step of the run found, whether or not there was room
        self.steps_done = 0
        model = self.model
        self.link_names, self.joint_names = model.link_names, model.joint_names
        self.coordinate_names, self.coordinate_units = model.coordinate_names, model.coordinate_units
        self.dof_names, self.dof_units = model.dof_names, model.dof_units
        self.joint_q_start, self.joint_qd_start = model.joint_q_start, model.joint_qd_start
        self.shape_names, self.shape_body = model.shape_names, model.shape_link
        self.constraint_names, self.constraint_kinds = model.constraints.names, model.constraints.kinds
        self.constraint_units = model.constraints.units
        self._begun = False  # kernels are loaded when the state is first needed, not to learn names and sizes
        self._allocate()

    # ---- memory ------------------------------------------------------------------------------------------------------

    def _allocate(self) -> None:
        sizes = self.model.sizes | self.capacity.sizes(self.model)
        ntree = max(1, sizes["ntree"])
        sizes |= {
            "none": 1, "nlane": 1024, "nsum": 32, "nneed": 3, "nsolve_int": 8, "nmerged_real": 3,
            "ntotal": record.NTOTAL, "nmerged": record.NMERGED, "nstat": record.NMERGED,
            "cconvex": convex.scratch_entries(self.lanes) if sizes["nconvexpair"] else 1,
            "words": (ntree + 63) // 64, "nedge": ntree * ((ntree + 63) // 64),
        }  # fmt: skip
        self.arrays = Arrays(self.R, self.device, self.nworld, sizes)
        try:
            for name, values in self.model.arrays.items():
                set_one = self.arrays.set_topology if FIELDS[name].group == "topology" else self.arrays.set_model
                set_one(name, values)
            self.arrays.set_topology("row_offset", np.zeros(1, np.int32))
            self.arrays.allocate([f.name for f in FIELDS.values() if f.group in ("data", "record")])
            self._saved = {name: wp.empty_like(self.arrays[name]) for name in SAVED}
        except RuntimeError as error:
            raise MachineError(f"not enough memory on {self.device} for {self.nworld} world(s): {error}") from error
        self._zero_totals()
        self._launcher = Launcher(self.arrays, self._scalars(sizes), self.lanes)
        self._graphs: dict[int, wp.Graph] = {}

    def _zero_totals(self) -> None:
        total = np.zeros_like(self.arrays["total"].numpy())
        total[:, record.FIRST_BAD] = -1
        self.arrays["total"].assign(total)
        for name in softened.ARRAYS:
            self.arrays[name].zero_()

    def _scalars(self, sizes: dict[str, int]) -> dict[str, int | float]:
        scene, contact, solver = self.scene, self.scene.contact, self.scene.solver
        return sizes | {
            "slots": self.model.slots,
            "h": scene.time_step,
            "margin": contact.margin,
            "sigma": contact.sigma,
            "stiction_tolerance": contact.stiction_tolerance,
            "near_rigid": contact.near_rigid,
            "islands": int(solver.islands),
            "max_iterations": solver.max_iterations,
            "backtracking": int(solver.line_search == "backtracking"),
            "absolute_tolerance": solver.absolute_tolerance,
            "relative_tolerance": solver.relative_tolerance,
            "cost_absolute_tolerance": solver.cost_absolute_tolerance,
            "cost_relative_tolerance": solver.cost_relative_tolerance,
            "stop_on_failure": int(solver.on_failure == "stop"),
            "every": scene.output.every,
            "last_step": scene.steps,
        }

    @property
    def memory_bytes(self) -> int:
        """Memory of all arrays on the device."""
        return self.arrays.bytes()

    # ---- state -------------------------------------------------------------------------------------------------------

    def set_state(self, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Puts all worlds into a state: joint_q (W, nq), joint_qd (W, nv), as files hold them.

        Raises ValueError where a locked joint is not where the scene holds it.
        """
        m = self.model.arrays
        moves = m["dof_to_body"] >= 0
        self._check_locked(np.asarray(joint_q, float), np.asarray(joint_qd, float)[..., ~moves])
        q = np.zeros(self.arrays["q"].shape, self.R.np)
        v = np.zeros(self.arrays["v"].shape, self.R.np)
        if m["coordinate_from"].size:
            q[:, m["coordinate_from"]] = joint_q
            v[:, (m["dof_from"] + m["dof_entry"])[moves]] = np.asarray(joint_qd)[..., moves]
        self.arrays["q"].assign(q)
        self.arrays["v_in"].assign(v)
        self.arrays["v"].zero_()
        for stage in begin_stages(self.R):
            self._launcher.launch(stage)
        self._begun = True

    def _check_locked(self, joint_q: np.ndarray, locked_qd: np.ndarray) -> None:
        model = self.model
        for j, joint in enumerate(self.scene.joints):
            if joint.locked:
                at = slice(model.joint_q_start[j], model.joint_q_start[j + 1])
                if not np.array_equal(joint_q[..., at], np.broadcast_to(model.q0[at], joint_q[..., at].shape)):
                    raise ValueError(f"joint {joint.name} is locked at {model.q0[at]}")
        if locked_qd.any():
            raise ValueError("a locked joint has no velocity")

    def _begin(self) -> None:
        """The scene's own initial state, unless another was set."""
        if not self._begun:
            model, n = self.model, self.nworld
            self.set_state(np.tile(model.q0, (n, 1)), np.tile(model.qd0, (n, 1)))

    def reset(self) -> None:
        """Back to the scene's initial state before the first step: no world stopped, counters at zero.  Room that has grown
        stays."""
        for name in ("step", "stopped", "merged", "merged_real"):
            self.arrays[name].zero_()
        self._zero_totals()
        self.steps_done, self.contacts_found, self._begun = 0, 0, False
        self._begin()

    @property
    def stopped(self) -> np.ndarray:
        """(W,) bool: worlds that a failure has stopped."""
        return self.arrays["stopped"].numpy().astype(bool)

    @property
    def totals(self) -> Totals:
        """Counters over the run so far."""
        return read_totals(self.arrays, self.steps_done)

    @property
    def softened(self) -> list[softened.Softened]:
        """Pairs of materials with contacts that the near-rigid limit softened in the run so far."""
        return softened.read(self.arrays, self.model, self.scene)

    def overlaps(self) -> list[overlaps.Overlap]:
        """Shapes that overlap in the initial state more than contacts at rest do.  Right after the first step only:
        RuntimeError later."""
        if self.steps_done != 1:
            raise RuntimeError("overlaps() tells of the initial state, and only the first step knows it")
        return overlaps.read(self)

    def initial(self) -> Block:
        """Row 0: the state as it is, no contacts, converged.  Only before the first step: RuntimeError after it."""
        if self.steps_done:
            raise RuntimeError("initial() gives the row before the first step, and steps have been made")
        self._begin()
        self.arrays["row_offset"].zero_()
        self.arrays["ncontact"].zero_()
        self.arrays["constraint_gamma"].zero_()
        self.arrays["reaction"].zero_()
        merged = np.zeros(self.arrays["merged"].shape, np.int32)
        merged[:, [record.CONVERGED, record.OPTIMALITY]] = 1
        self.arrays["merged"].assign(merged)
        self.arrays["merged_real"].zero_()
        self._launcher.launch(record.make_state(self.R))
        return self._fetch(1)

    # ---- stepping ----------------------------------------------------------------------------------------------------

    def advance(self, nsteps: int) -> Block:
        """Advances nsteps steps and returns the rows that they end: multiples of `every`, and the scene's last step."""
        self._begin()
        blocks = []
        while nsteps > 0:
            room = self.capacity.rows * self.scene.output.every - self.steps_done % self.scene.output.every
            n = min(nsteps, max(1, room - 1))
            blocks.append(self._advance_block(n))
            nsteps -= n
        return Block.joined(blocks) if len(blocks) != 1 else blocks[0]

    def _advance_block(self, n: int) -> Block:
        every, last = self.scene.output.every, self.scene.steps
        start = self.steps_done
        for name in SAVED:
            wp.copy(self._saved[name], self.arrays[name])
        while True:
            self.arrays["row_offset"].assign(np.array([start // every + 1], np.int32))
            self.arrays["need"].zero_()
            self._run(n)
            need = self.arrays["need"].numpy().max(axis=0)
            larger = grown(self.capacity, need, self.model, self.nworld)
            if larger is None:
                break
            self._grow(larger)
        self.contacts_found = max(self.contacts_found, int(need[1]))
        self.steps_done = start + n
        nrow = self.steps_done // every - start // every + int(self.steps_done == last and last % every != 0)
        return self._fetch(nrow)

    def _fetch(self, nrow: int) -> Block:
        """The first rows of the record arrays, with their energies where the scene records them."""
        if "energy" in self.scene.output.channels:
            stage = energy.make(self.R)
            bound = self.arrays.bind(stage.struct, nbody=self.model.sizes["nbody"], nrow=nrow)
            self._launcher.launch_kernel(stage.kernel, [bound])
        return fetch_rows(self.arrays, self.model, nrow)

    def _grow(self, capacity) -> None:
        """More room, with the state at the block's start."""
        saved = {name: a.numpy() for name, a in self._saved.items()}
        self.capacity = capacity
        self._allocate()
        for name, values in saved.items():
            self.arrays[name].assign(values)
            self._saved[name].assign(values)
        begin_kinematics, *_ = begin_stages(self.R)
        self._launcher.launch(begin_kinematics)

    def _run(self, n: int) -> None:
        if self._fused:
            arguments = fused_step.arguments(self._launcher.bound, *self._variant)
            self._launcher.launch_kernel(fused_step.make(*self._variant), [n, *arguments])
            n = 0
        for steps in (GRAPH_STEPS, 1):
            while n >= steps:
                wp.capture_launch(self._graph(steps))
                n -= steps
        wp.synchronize_device(self.device)

    def _graph(self, steps: int) -> wp.Graph:
        if steps not in self._graphs:
            stages = [s for s in step_stages(*self._variant) if not s.needs or self.model.sizes[s.needs] > 0]
            for stage in stages:  # modules load before a capture
                wp.load_module(stage.kernel.module, device=self.device, block_dim=self.lanes)
            with _CAPTURE:
                collecting = gc.isenabled()
                gc.disable()  # a collection on another thread can break a capture
                try:
                    with wp.ScopedCapture(device=self.device) as capture:
                        for _ in range(steps):
                            for stage in stages:
                                self._launcher.launch(stage)
                finally:
                    if collecting:
                        gc.enable()
            self._graphs[steps] = capture.graph
        return self._graphs[steps]


def resolve_device(name: str) -> str:
    """A Warp device name; `auto` is the first CUDA device, or the CPU.  Raises MachineError where it is not there."""
    if name == "auto":
        return "cuda:0" if wp.get_cuda_device_count() else "cpu"
    try:
        return str(wp.get_device(name))
    except Exception as error:
        known = ", ".join(str(d) for d in wp.get_devices())
        raise MachineError(f"device {name!r} is not there; this machine has {known}") from error
