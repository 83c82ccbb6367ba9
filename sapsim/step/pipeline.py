"""The step as a list of stages, and the launches of one step.

Kinematics of a new state comes last, so that rows of a result hold placements at their own instant and the next step finds them
ready; `begin` runs it once for the initial state.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from sapsim.collide import broadphase, convex, narrowphase
from sapsim.dynamics import crba, forces, free_momentum, free_motion, inputs, kinematics, rne, velocities
from sapsim.math.real import Real
from sapsim.model.arrays import Arrays
from sapsim.model.stage import Stage
from sapsim.solver import constraints, jacobian, newton, participants, problem, ties
from sapsim.step import energy, integrate, reactions, record


def step_stages(R: Real, law: str, form: str = "v_star", linear: str = "auto", convexes: bool = False) -> list[Stage]:
    """The stages of one step with a contact law, a form of the problem (solver/forms.py) and a linear solver
    (solver/linear.py), in order; `convexes`: for a model that has pairs of the stage `convex`."""
    free = {"v_star": free_motion, "momentum": free_momentum}[form]
    return [
        inputs.make(R),
        forces.make(R),
        rne.make(R),
        crba.make(R),
        free.make(R),
        broadphase.make(R),
        *([convex.make(R)] if convexes else []),
        narrowphase.make(R),
        jacobian.make(R),
        problem.make_law(R, law),
        constraints.make(R, form),
        ties.make(R, form),
        participants.make(R, form),
        newton.make(R, law, form, linear),
        reactions.make(R),
        integrate.make(R),
        kinematics.make(R),
        record.make_counters(R, law),
        record.make_contacts(R, law),
        record.make_state(R),
    ]


def begin_stages(R: Real) -> list[Stage]:
    """Placements, internal velocities and twists of a state that was set from outside."""
    return [kinematics.make(R), velocities.make_set(R), kinematics.make(R)]


def all_stages(R: Real, law: str, form: str = "v_star", linear: str = "auto", convexes: bool = True) -> list[Stage]:
    """Every stage that a run can launch, once."""
    stages = [*step_stages(R, law, form, linear, convexes), *begin_stages(R), energy.make(R)]
    return list({s.name: s for s in stages}.values())


@dataclass
class Launcher:
    """Launches stages with their structs bound to arrays and scalars."""

    arrays: Arrays
    scalars: dict[str, Any]
    lanes: int

    def __post_init__(self) -> None:
        self._bound: dict[str, Any] = {}

    def bound(self, stage: Stage) -> Any:
        """The stage's struct, filled."""
        if stage.name not in self._bound:
            values = {name: self.scalars[name] for name, _ in stage.scalars}
            self._bound[stage.name] = self.arrays.bind(stage.struct, **values)
        return self._bound[stage.name]

    def launch(self, stage: Stage) -> None:
        """One block to a world."""
        self.launch_kernel(stage.kernel, [self.bound(stage)])

    def launch_kernel(self, kernel: Any, inputs: list[Any]) -> None:
        wp.launch_tiled(kernel, dim=[self.arrays.nworld], inputs=inputs, block_dim=self.lanes, device=self.arrays.device)
