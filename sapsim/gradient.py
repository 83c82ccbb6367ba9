"""Derivatives of one step: how the next velocity changes with the state, the loads and the parameters.

    gradient = sapsim.gradient.step(scene, joint_q, joint_qd)
    gradient["q0"]            # (nv, nv): d v_next / d q0, along unit velocities
    gradient["friction"]      # (nv, nshape)

The velocity v of the end of a step solves r(v, theta) = 0, the optimality condition of the SAP problem, so

    dv/dtheta = -H^-1 dr/dtheta,      H = dr/dv = A + J' G J       (implicit function theorem)

H is factorised once, on the device.  dr/dtheta is taken by central differences of fourth order of the residual at fixed v, all
parameters at once as worlds of one batch; no problem is solved for it, and r is smooth where the set of contacts and their
modes do not change.  Where the set of contacts differs within a difference, the derivative does not exist: the column is NaN,
and named.

Velocities are internal ones, as in sapsim.dynamics: joints in the order of files, a floating joint's are [omega, v of the
body's origin], world axes.  `q0` means moving the coordinates along these velocities, the velocity itself held.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import warp as wp

from sapsim.dynamics.api import Dynamics
from sapsim.solver.sensitivity import make_sensitivity
from sapsim.step.capacity import grown
from sapsim.step.pipeline import begin_stages, step_stages
from sapsim.step.simulation import Simulation

PARAMETERS = ("q0", "v0", "actuation", "mass", "friction", "stiffness", "dissipation")
MATERIAL = {"stiffness": 0, "dissipation": 1, "friction": 3}  # entries of shape_material
# Steps of the differences: coordinates [m, rad] well below a depth; others relative to max(1, |x|) or x.
MOVE, SHARE = 1.0e-7, 1.0e-6
STENCIL = {-2: 1.0 / 12.0, -1: -8.0 / 12.0, 1: 8.0 / 12.0, 2: -1.0 / 12.0}  # d/dx of fourth order, times the step
WORLDS = 256  # of a batch
TOLERANCE = 1.0e-13  # of the solve whose solution is differentiated


@dataclass(frozen=True)
class StepGradient:
    """Derivatives of the velocity at the end of a step.

    Fields:
        v: (nv,) that velocity, internal [rad/s, m/s].
        dof_names: (nv) names of its entries.
        columns: by parameter, names of the columns: dofs (q0, v0, actuation), bodies by their root link (mass), shapes.
        derivatives: by parameter, (nv, n): per m or rad, m/s or rad/s, N or N m, kg, 1, N/m, s/m.
        undefined: (parameter, column) where the set of contacts changes with the parameter; NaN in `derivatives`.
    """

    v: np.ndarray
    dof_names: list[str]
    columns: dict[str, list[str]]
    derivatives: dict[str, np.ndarray]
    undefined: list[tuple[str, str]]

    def __getitem__(self, parameter: str) -> np.ndarray:
        return self.derivatives[parameter]


def step(
    scene: Any,
    joint_q: np.ndarray,
    joint_qd: np.ndarray,
    wrt: Sequence[str] = PARAMETERS,
    *,
    step_index: int = 0,
    device: str = "cpu",
) -> StepGradient:
    """Derivatives of the step that starts at joint_q (nq,), joint_qd (nv,), as files hold them, at t = step_index h.

    `scene` as of `sapsim.load`; its first world is taken.  `wrt`: some of PARAMETERS.  float64.

    Raises ValueError for another parameter, RuntimeError where the step does not converge or H has no factor.
    """
    unknown = [name for name in wrt if name not in PARAMETERS]
    if unknown:
        raise ValueError(f"wrt {', '.join(unknown)}: known are {', '.join(PARAMETERS)}")
    return _Gradient(scene, step_index, device).all(np.asarray(joint_q, float), np.asarray(joint_qd, float), wrt)


@dataclass(frozen=True)
class _Column:
    """One parameter: the body, shape or degree of freedom that it belongs to, and the step of its differences."""

    parameter: str
    name: str
    place: int
    step: float


class _Gradient:
    def __init__(self, scene, step_index: int, device: str):
        # whatever linear solver the scene has: the solution is the same, and H is factorised here, in the room that `auto` has
        solver = replace(scene.solver, form="momentum", islands=False, linear_solver="auto", relative_tolerance=TOLERANCE)
        self.scene, self.step_index, self.device = replace(scene, solver=solver, nworld=1), step_index, device
        self.dynamics = Dynamics(self.scene, device=device)

    def all(self, joint_q, joint_qd, wrt) -> StepGradient:
        sim = Simulation(self.scene, device=self.device)
        sim.set_state(joint_q[None], joint_qd[None])
        q, v = (sim.arrays[name].numpy().copy() for name in ("q", "v"))  # of the start: the step moves them
        sim.arrays["step"].fill_(self.step_index)
        sim.steps_done = self.step_index
        row = sim.advance(1)
        if not row.converged.all():
            raise RuntimeError(f"the step does not converge (status {int(row.status[0, 0])}): it has no derivative")
        v_next = sim.arrays["v_next"].numpy().copy()
        m = sim.model.arrays
        moves = m["dof_to_body"] >= 0
        at = (m["dof_from"] + m["dof_entry"])[moves]
        self.model, self.at, self.v_next = sim.model, at, v_next
        columns = [c for name in wrt for c in self._columns(name, v)]
        rhs, differs = self._differences(columns, q, v)
        dv = self._solve(rhs, q, v)[:, at].T if columns else np.zeros((len(at), 0))
        dv[:, differs] = np.nan
        where = {name: [i for i, c in enumerate(columns) if c.parameter == name] for name in wrt}
        return StepGradient(
            v=v_next[0, at],
            dof_names=self.dynamics.dof_names,
            columns={name: [columns[i].name for i in found] for name, found in where.items()},
            derivatives={name: dv[:, found] for name, found in where.items()},
            undefined=[(columns[i].parameter, columns[i].name) for i in np.flatnonzero(differs)],
        )

    def _columns(self, parameter: str, v: np.ndarray) -> list[_Column]:
        """The columns of a parameter."""
        m, names = self.model.arrays, self.dynamics.dof_names
        if parameter in MATERIAL:
            shapes = self.model.shape_names[: self.model.sizes["nshape"]]
            values = m["shape_material"][0, :, MATERIAL[parameter]]
            return [
                _Column(parameter, n, i, SHARE * max(x, SHARE)) for i, (n, x) in enumerate(zip(shapes, values, strict=True))
            ]
        if parameter == "mass":
            roots = [int(np.flatnonzero(m["link_body"] == b)[0]) for b in range(self.model.sizes["nbody"])]
            masses = m["body_mass"][0]
            return [
                _Column("mass", self.model.link_names[k], b, SHARE * masses[b]) for b, k in enumerate(roots) if masses[b] > 0.0
            ]
        step = {"q0": lambda k: MOVE, "v0": lambda k: SHARE * max(1.0, abs(v[0, k])), "actuation": lambda k: SHARE}[parameter]
        return [_Column(parameter, name, i, step(k)) for i, (name, k) in enumerate(zip(names, self.at, strict=True))]

    # ---- dr/dtheta ---------------------------------------------------------------------------------------------------

    def _differences(self, columns, q, v) -> tuple[np.ndarray, np.ndarray]:
        """dr/dtheta (n, ndof) by central differences at v_next, and which columns see another set of contacts."""
        rhs, differs = np.zeros((len(columns), self.v_next.shape[1])), np.zeros(len(columns), bool)
        for first in range(0, len(columns), WORLDS // len(STENCIL)):
            part = slice(first, first + WORLDS // len(STENCIL))
            rhs[part], differs[part] = self._batch(columns[part], q, v)
        return rhs, differs

    def _batch(self, columns, q, v) -> tuple[np.ndarray, np.ndarray]:
        nworld = 1 + len(STENCIL) * len(columns)  # world 0 is as it was
        sim = Simulation(replace(self.scene, nworld=nworld), device=self.device)
        Q, V = np.repeat(q, nworld, axis=0), np.repeat(v, nworld, axis=0)
        changed: dict[str, np.ndarray] = {}
        for j, c in enumerate(columns):
            for i, steps in enumerate(STENCIL):
                self._perturb(c, 1 + len(STENCIL) * j + i, steps * c.step, Q, V, changed, nworld)
        r = self._residual(sim, Q, V, changed)[1:].reshape(len(columns), len(STENCIL), -1)
        sets = self._contact_sets(sim)
        differs = [s != sets[0] for s in sets[1:]]
        rhs = np.einsum("i,jik->jk", list(STENCIL.values()), r) / np.array([c.step for c in columns])[:, None]
        return rhs, np.reshape(differs, (len(columns), len(STENCIL))).any(axis=1)

    def _perturb(self, c: _Column, w: int, by: float, Q, V, changed, nworld: int) -> None:
        def model_array(name: str) -> np.ndarray:
            if name not in changed:
                changed[name] = np.repeat(self.model.arrays[name], nworld, axis=0).astype(float)
            return changed[name]

        if c.parameter in MATERIAL:
            model_array("shape_material")[w, c.place, MATERIAL[c.parameter]] += by
        elif c.parameter == "mass":
            mass = model_array("body_mass")
            model_array("body_inertia")[w, c.place] *= 1.0 + by / mass[w, c.place]
            mass[w, c.place] += by
        elif c.parameter == "actuation":
            model_array("dof_effort")[w, self.at[c.place]] += by
        elif c.parameter == "v0":
            V[w, self.at[c.place]] += by
        else:
            unit = np.zeros(len(self.at))
            unit[c.place] = 1.0
            inside = np.asarray(self.dynamics.model.arrays["coordinate_from"], int)
            Q[w, inside] = self.dynamics.move(Q[w, inside], unit, by)[0]

    def _prepare(self, sim: Simulation, Q, V, changed) -> Any:
        """Runs a step's stages up to the solve, with room for all contacts; returns the Newton struct."""
        solver = self.scene.solver
        variant = (sim.R, self.scene.contact.law, "momentum", solver.linear_solver, sim.model.sizes["nconvexpair"] > 0)
        before = step_stages(*variant)
        before = before[: next(i for i, stage in enumerate(before) if stage.name.startswith("newton"))]
        while True:
            for name, values in changed.items():
                sim.arrays.set_model(name, values)
            sim._launcher._bound.clear()
            sim.arrays["q"].assign(Q)
            sim.arrays["v"].assign(V)
            sim.arrays["step"].fill_(self.step_index)
            sim.arrays["need"].zero_()
            for stage in [begin_stages(sim.R)[0], *before]:
                sim._launcher.launch(stage)
            larger = grown(sim.capacity, sim.arrays["need"].numpy().max(axis=0), sim.model, sim.nworld)
            if larger is None:
                break
            sim._grow(larger)
        kernels = make_sensitivity(sim.R, self.scene.contact.law)
        scalars = {name: sim._launcher.scalars[name] for name, _ in kernels.scalars}
        return kernels, sim.arrays.bind(kernels.struct, **scalars)

    def _residual(self, sim: Simulation, Q, V, changed) -> np.ndarray:
        """r (W, ndof) at v_next."""
        kernels, bound = self._prepare(sim, Q, V, changed)
        v = wp.array(np.repeat(self.v_next, sim.nworld, axis=0).reshape(sim.nworld, -1, 3), dtype=sim.R.vec3, device=sim.device)
        r = wp.zeros_like(v)
        sim._launcher.launch_kernel(kernels.residual, [bound, v, r])
        return r.numpy().reshape(sim.nworld, -1)

    @staticmethod
    def _contact_sets(sim: Simulation) -> list[tuple]:
        count, *names = (sim.arrays[n].numpy() for n in ("ncontact", "contact_a", "contact_b", "contact_feature"))
        return [tuple(zip(*(x[w, :n] for x in names), strict=True)) for w, n in enumerate(count)]

    # ---- H ---------------------------------------------------------------------------------------------------------

    def _solve(self, rhs: np.ndarray, q, v) -> np.ndarray:
        """-H^-1 of every row of rhs (n, ndof): one factor, n solves."""
        sim = Simulation(self.scene, device=self.device)
        columns = wp.array(rhs.reshape(len(rhs), -1, 3), dtype=sim.R.vec3, device=sim.device)
        x, failed = wp.zeros_like(columns), wp.zeros(1, dtype=int, device=sim.device)
        while True:
            self._residual(sim, q, v, {})
            kernels = make_sensitivity(sim.R, self.scene.contact.law)
            scalars = {name: sim._launcher.scalars[name] for name, _ in kernels.scalars}
            bound = sim.arrays.bind(kernels.struct, **scalars)
            sim._launcher.launch_kernel(kernels.solve, [bound, len(rhs), columns, x, failed])
            code = int(failed.numpy()[0])
            if code != 1:
                break
            sim._grow(grown(sim.capacity, sim.arrays["need"].numpy().max(axis=0), sim.model, sim.nworld))
        if code:
            raise RuntimeError("the Hessian of the step has no Cholesky factor")
        return x.numpy().reshape(len(rhs), -1)
