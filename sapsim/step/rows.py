"""Recorded rows from the device into a Block on the host."""

import numpy as np

from sapsim.model.arrays import Arrays
from sapsim.model.build import Model
from sapsim.step import record
from sapsim.step.block import Block, Contacts, Totals


def fetch_rows(arrays: Arrays, model: Model, nrow: int) -> Block:
    """The first nrow rows of the record arrays.  Contacts come out sorted by row, world, shapes and feature."""
    stat = _rows(arrays, "rec_stat", nrow)
    real = _rows(arrays, "rec_real", nrow)
    count = stat[..., record.NCONTACT].astype(np.int32)
    p, Q, V = (_rows(arrays, name, nrow) for name in ("rec_p", "rec_Q", "rec_V"))
    n = model.sizes
    return Block(
        step=_rows(arrays, "rec_step", nrow)[:, 0].astype(np.int64),
        joint_q=_rows(arrays, "rec_q", nrow)[..., : n["nq"]],
        joint_qd=_rows(arrays, "rec_qd", nrow)[..., : n["nv"]],
        body_q=np.concatenate([p, Q], axis=-1)[:, :, : n["nlink"]],
        body_qd=V[:, :, : n["nlink"]],
        contact_count=count,
        contacts=_contacts(arrays, model, nrow, count),
        converged=stat[..., record.CONVERGED] != 0,
        optimality_reached=stat[..., record.OPTIMALITY] != 0,
        cost_reached=stat[..., record.COST] != 0,
        iterations=stat[..., record.ITERATIONS].astype(np.int32),
        line_search_iterations=stat[..., record.LINE_SEARCH].astype(np.int32),
        linear_iterations=stat[..., record.LINEAR].astype(np.int32),
        residual=real[..., 0],
        residual_scale=real[..., 1],
        cost=real[..., 2],
        status=stat[..., record.STATUS].astype(np.uint32),
        energy=_rows(arrays, "rec_energy", nrow),
        constraint_impulse=_rows(arrays, "rec_constraint", nrow)[..., : n["nconstraint"]],
        reaction=_rows(arrays, "rec_reaction", nrow)[:, :, : n["nreaction"]],
    )


def _rows(arrays: Arrays, name: str, nrow: int) -> np.ndarray:
    """A copy: the device array is written again by the next block."""
    return arrays[name].numpy()[:nrow].copy()


def _contacts(arrays: Arrays, model: Model, nrow: int, count: np.ndarray) -> Contacts:
    most = int(count.max(initial=0))
    row, world, slot = np.nonzero(np.arange(most) < count[..., None])

    def take(name: str) -> np.ndarray:
        return arrays[name].numpy()[row, world, slot]

    shape_a, shape_b = take("rec_a"), take("rec_b")
    scalars = take("rec_scalars")
    return Contacts(
        row=row.astype(np.int64),
        world=world.astype(np.int32),
        shape_a=shape_a,
        shape_b=shape_b,
        body_a=model.shape_link[shape_a].astype(np.int32) if shape_a.size else shape_a,
        body_b=model.shape_link[shape_b].astype(np.int32) if shape_b.size else shape_b,
        part=take("rec_part"),
        feature=take("rec_feature"),
        point=take("rec_point"),
        normal=take("rec_normal"),
        depth=scalars[:, 0],
        impulse=take("rec_impulse"),
        slip_velocity=take("rec_slip"),
        stiffness=scalars[:, 1],
        friction=scalars[:, 2],
    )


def read_totals(arrays: Arrays, steps: int) -> Totals:
    """Counters over the run so far."""
    total = arrays["total"].numpy()
    return Totals(
        steps=steps,
        unconverged=total[:, record.UNCONVERGED].copy(),
        iterations_sum=total[:, record.ITERATIONS_SUM].copy(),
        iterations_max=total[:, record.ITERATIONS_MAX].copy(),
        contacts_sum=total[:, record.CONTACTS_SUM].copy(),
        contacts_max=total[:, record.CONTACTS_MAX].copy(),
        status=total[:, record.STATUS_OR].copy(),
        first_bad_step=total[:, record.FIRST_BAD].copy(),
    )
