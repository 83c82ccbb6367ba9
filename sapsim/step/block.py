"""What the simulation hands to a recorder: the rows of one block of steps, on the host, in the units and order of files."""

from dataclasses import dataclass, fields

import numpy as np


@dataclass
class Contacts:
    """Contacts of the rows of a block, sorted by row, world, shapes, feature.  N contacts in all.

    `shape_*` index `Simulation.shape_names`, `body_*` index `Simulation.link_names` (-1: world).
    """

    row: np.ndarray  # (N,) int64, row within the block
    world: np.ndarray  # (N,) int32
    shape_a: np.ndarray  # (N,) int32
    shape_b: np.ndarray  # (N,) int32
    body_a: np.ndarray  # (N,) int32
    body_b: np.ndarray  # (N,) int32
    part: np.ndarray  # (N,) int32, facet of a surface, -1 = none
    feature: np.ndarray  # (N,) int32
    point: np.ndarray  # (N, 3) [m] world
    normal: np.ndarray  # (N, 3) from A to B
    depth: np.ndarray  # (N,) [m]
    impulse: np.ndarray  # (N, 3) [N s] on B, world axes
    slip_velocity: np.ndarray  # (N, 3) [m/s] of B against A, tangential, end of the step
    stiffness: np.ndarray  # (N,) [N/m] as realised
    friction: np.ndarray  # (N,)


@dataclass
class Block:
    """Rows of one block of steps.  R rows, W worlds.

    Statistics of a row cover all steps since the row before (contract 3: merged over `every`).
    """

    step: np.ndarray  # (R,) int64
    joint_q: np.ndarray  # (R, W, nq)
    joint_qd: np.ndarray  # (R, W, nv)
    body_q: np.ndarray  # (R, W, nlink, 7)
    body_qd: np.ndarray  # (R, W, nlink, 6)
    contact_count: np.ndarray  # (R, W) int32
    contacts: Contacts
    converged: np.ndarray  # (R, W) bool
    optimality_reached: np.ndarray  # (R, W) bool
    cost_reached: np.ndarray  # (R, W) bool
    iterations: np.ndarray  # (R, W) int32
    line_search_iterations: np.ndarray  # (R, W) int32
    linear_iterations: np.ndarray  # (R, W) int32, of conjugate gradients; 0 with the other linear solvers
    residual: np.ndarray  # (R, W) [J^0.5]
    residual_scale: np.ndarray  # (R, W) [J^0.5]
    cost: np.ndarray  # (R, W) [J]
    status: np.ndarray  # (R, W) uint32
    energy: np.ndarray  # (R, W, 3) [J] kinetic, potential, elastic; zero without channel energy
    constraint_impulse: np.ndarray  # (R, W, nconstraint) [N s or N m s] of the last step of a row
    # (R, W, njoint, 6) [N m, N] of the last step of a row, on the child link at its origin, in its axes at that step's start;
    # NaN in a step that failed or was not made; njoint = 0 unless the scene records reactions
    reaction: np.ndarray

    @staticmethod
    def joined(blocks: "list[Block]") -> "Block":
        """Blocks of consecutive steps as one."""
        offsets = np.cumsum([0] + [len(b.step) for b in blocks])
        values = {}
        for f in fields(Block):
            parts = [getattr(b, f.name) for b in blocks]
            if f.name == "contacts":
                values[f.name] = Contacts(
                    **{
                        g.name: np.concatenate(
                            [
                                c.row + offset if g.name == "row" else getattr(c, g.name)  # + 0 would turn -0.0 into 0.0
                                for c, offset in zip(parts, offsets, strict=False)
                            ]
                        )
                        for g in fields(Contacts)
                    }
                )
            else:
                values[f.name] = np.concatenate(parts)
        return Block(**values)


@dataclass
class Totals:
    """Counters over the whole run so far, each (W,): they count every step, whether or not it was recorded."""

    steps: int
    unconverged: np.ndarray  # steps whose solve did not converge or hit a hard limit
    iterations_sum: np.ndarray
    iterations_max: np.ndarray
    contacts_sum: np.ndarray
    contacts_max: np.ndarray
    status: np.ndarray  # `or` of all steps
    first_bad_step: np.ndarray  # -1 = none
