"""The figure of docs/contact_laws.md: scenes/three_laws.yaml under each contact law.

    python tests/bench/contact_laws_plot.py [FILE.png]

Needs matplotlib, which comes with the test requirement `drake`.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np

from sapsim.kinds.base import registry
from sapsim.scene.read import load
from sapsim.step.simulation import Simulation

ROOT = Path(__file__).parents[2]
HALF_HEIGHT = 0.025  # of the box [m]
END = 0.25  # of the plots [s]


@dataclass
class Run:
    """One law: times [s]; of the box the gap under it [m], the normal force [N] and the speed [m/s]; the ball's depth [m]."""

    law: str
    time: np.ndarray
    gap: np.ndarray
    force: np.ndarray
    speed: np.ndarray
    ball_depth: np.ndarray

    def summary(self) -> str:
        flight = int((self.force == 0.0).sum())
        return (
            f"{self.law:8} highest gap {1e3 * self.gap.max():.3f} mm, force {self.force.max():.1f} N at most, "
            f"{flight} steps in flight, ball's depth {1e3 * self.ball_depth[-1]:.4f} mm"
        )


def run(law: str) -> Run:
    """The scene under one law."""
    scene = load(str(ROOT / "scenes" / "three_laws.yaml"), overrides=[f"contact.law={law}"])
    sim = Simulation(scene, device="cpu")
    block = sim.advance(scene.steps)
    box, ball = sim.link_names.index("box"), sim.link_names.index("ball")
    contacts, n = block.contacts, len(block.step)
    force, depth = np.zeros(n), np.zeros(n)
    of_box, of_ball = contacts.body_b == box, contacts.body_b == ball
    np.add.at(force, contacts.row[of_box], contacts.impulse[of_box, 2] / scene.time_step)
    np.maximum.at(depth, contacts.row[of_ball], contacts.depth[of_ball])
    pose, twist = block.body_q[:, 0, box], block.body_qd[:, 0, box]
    return Run(law, block.step * scene.time_step, pose[:, 2] - HALF_HEIGHT, force, twist[:, 0], depth)


def plot(runs: list[Run], path: Path) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(3, 1, figsize=(7.0, 7.0), sharex=True)
    rows = [
        ("gap under the box [mm]", "gap", 1e3),
        ("normal force on the box [N]", "force", 1.0),
        ("speed [m/s]", "speed", 1.0),
    ]
    for axis, (label, name, scale) in zip(axes, rows, strict=True):
        for result in runs:
            shown = result.time <= END
            axis.plot(result.time[shown], scale * getattr(result, name)[shown], label=result.law, linewidth=1.2)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend(title="contact.law")
    axes[0].set_title("A box of 1 kg thrown along the ground at 1 m/s, mu = 0.5, h = 1 ms")
    axes[-1].set_xlabel("time [s]")
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    results = [run(law) for law in registry("contacts")]
    for result in results:
        print(result.summary())
    plot(results, Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "contact_laws.png")
