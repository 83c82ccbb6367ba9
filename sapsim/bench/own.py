"""sapsim itself, as an engine to be measured."""

import numpy as np

from sapsim import __version__
from sapsim.bench.cases import Case
from sapsim.bench.engine import Fault, Seen
from sapsim.step.simulation import Simulation


class Engine:
    """All worlds together in one simulation, nothing recorded."""

    NAME, PACKAGE, REQUIREMENT = "sapsim", "sapsim", "sapsim"

    def __init__(self, case: Case, device: str = "auto", precision: str = "float64", boxes: str | None = None):
        self.boxes = case.boxes if boxes is None else boxes
        scene, _ = case.scene(self.boxes)
        self.simulation = Simulation(scene, device=device, precision=precision)
        self.device, self.precision, self.threads = self.simulation.device, precision, 1
        self.version = __version__
        self.simulation.reset()

    def restart(self) -> None:
        self.simulation.reset()

    def advance(self, n: int) -> None:
        self.simulation.advance(n)

    def observe(self, n: int) -> Seen:
        before = self.simulation.totals
        self.simulation.advance(n)
        now = self.simulation.totals
        steps = n * len(now.unconverged)

        def mean(name: str) -> float:
            return float((getattr(now, name) - getattr(before, name)).sum()) / steps

        return Seen(mean("contacts_sum"), mean("iterations_sum"), 1.0 - mean("unconverged"))

    def fault(self) -> Fault | None:
        totals = self.simulation.totals
        if self.simulation.stopped.any():
            return Fault("failed", f"{int(self.simulation.stopped.sum())} worlds stopped: not finite, or a failed solve")
        bad = int(totals.unconverged.sum())
        if bad:
            return Fault("unconverged", f"{bad} of {totals.steps * len(totals.unconverged)} steps did not converge")
        return None

    def poses(self) -> np.ndarray:
        arrays, n = self.simulation.arrays, self.simulation.model.sizes["nbody"]
        R, p = arrays["R_WB"].numpy()[0, :n], arrays["p_WB"].numpy()[0, :n]
        has_mass = self.simulation.model.arrays["body_mass"][0] > 0.0
        return np.concatenate([R, p[:, :, None]], axis=2).astype(float)[has_mass]
