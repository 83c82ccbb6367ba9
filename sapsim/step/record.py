"""The last stage of a step: counters over the run, statistics merged since the last recorded row, and the rows themselves.

Rows are kept on the device for a block of steps (simulation.py) and fetched together.  Merging over `every` steps follows
contract 3: converged = all, counts = max, status = or, residual with its scale of the step with the worst ratio, cost,
contacts and impulses of constraints of the last step.  This file is where internal velocities become those of files.
"""

from functools import cache

import warp as wp

from sapsim.kinds.base import registry
from sapsim.kinds.dispatch import make_joints
from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage
from sapsim.status import FAILURES, HARD_LIMITS, StepStatus
from sapsim.step.softened import ARRAYS as SOFTENED
from sapsim.step.softened import make_count

# Entries of `total`.
UNCONVERGED, ITERATIONS_SUM, ITERATIONS_MAX, CONTACTS_SUM, CONTACTS_MAX, STATUS_OR, FIRST_BAD, NTOTAL = range(8)
# Entries of `merged` and `rec_stat`; rec_stat has the contact count in the place of the number of steps.
CONVERGED, OPTIMALITY, COST, ITERATIONS, LINE_SEARCH, LINEAR, STATUS, NSTEPS, NMERGED = range(9)
NCONTACT = NSTEPS

COUNTER_ARRAYS = (
    "ncontact", "contact_found", "contact_row", "contact_a", "contact_b", "shape_surface", "surface_pair",
    "solve_int", "solve_real", "step", "total", "merged", "merged_real", *SOFTENED,
)  # fmt: skip
COUNTER_SCALARS = (("nsurface", "int"), ("ccontact", "int"), ("h", "real"))


@cache
def make_counters(R, law_name: str) -> Stage:
    """The stage `counters` of a contact law; updates total, merged, merged_real, softened_count and softened_least."""
    real = R.t
    struct = make_struct("Counters", R, COUNTER_ARRAYS, COUNTER_SCALARS)
    near_rigid = registry("contacts")[law_name].make(R).near_rigid
    count_softened = make_count(R, struct, law_name)

    @wp.func
    def merge(s: struct, w: int, status: int, converged: int, flags: int):
        fresh = s.merged[w, NSTEPS] == 0
        if fresh:
            s.merged[w, CONVERGED] = 1
            s.merged[w, OPTIMALITY] = 1
            s.merged[w, COST] = 1
            s.merged[w, ITERATIONS] = 0
            s.merged[w, LINE_SEARCH] = 0
            s.merged[w, LINEAR] = 0
            s.merged[w, STATUS] = 0
        s.merged[w, CONVERGED] = s.merged[w, CONVERGED] * converged
        s.merged[w, OPTIMALITY] = s.merged[w, OPTIMALITY] * (flags & 1)
        s.merged[w, COST] = s.merged[w, COST] * (flags // 2)
        s.merged[w, ITERATIONS] = wp.max(s.merged[w, ITERATIONS], s.solve_int[w, 2])
        s.merged[w, LINE_SEARCH] = wp.max(s.merged[w, LINE_SEARCH], s.solve_int[w, 3])
        s.merged[w, LINEAR] = wp.max(s.merged[w, LINEAR], s.solve_int[w, 7])
        s.merged[w, STATUS] = s.merged[w, STATUS] | status
        s.merged[w, NSTEPS] = s.merged[w, NSTEPS] + 1
        # the worst ratio residual / scale, compared without dividing; a step without constraints has scale 0
        residual = s.solve_real[w, 0]
        scale = s.solve_real[w, 1]
        worse = residual * s.merged_real[w, 1] > s.merged_real[w, 0] * scale
        if fresh or worse or s.merged_real[w, 1] == real(0.0):
            s.merged_real[w, 0] = residual
            s.merged_real[w, 1] = scale
        s.merged_real[w, 2] = s.solve_real[w, 2]

    @wp.func
    def count(s: struct, w: int, status: int, converged: int):
        s.total[w, STATUS_OR] = s.total[w, STATUS_OR] | wp.int64(status)
        if (status & wp.static(int(StepStatus.WORLD_STOPPED))) != 0:
            return  # not a step: how many of them follow depends on when the run ends
        if converged == 0 or (status & wp.static(int(HARD_LIMITS))) != 0:
            s.total[w, UNCONVERGED] = s.total[w, UNCONVERGED] + wp.int64(1)
            if s.total[w, FIRST_BAD] < wp.int64(0):
                s.total[w, FIRST_BAD] = wp.int64(s.step[w])
        iterations = wp.int64(s.solve_int[w, 2])
        contacts = wp.int64(s.ncontact[w])
        s.total[w, ITERATIONS_SUM] = s.total[w, ITERATIONS_SUM] + iterations
        s.total[w, ITERATIONS_MAX] = wp.max(s.total[w, ITERATIONS_MAX], iterations)
        s.total[w, CONTACTS_SUM] = s.total[w, CONTACTS_SUM] + contacts
        s.total[w, CONTACTS_MAX] = wp.max(s.total[w, CONTACTS_MAX], contacts)

    @wp.func
    def counters(s: struct, w: int, lane: int):
        if lane == 0:
            status = s.solve_int[w, 5]
            flags = s.solve_int[w, 1]
            if (status & wp.static(int(FAILURES | StepStatus.WORLD_STOPPED))) != 0:
                flags = 0  # a failure outside the solve, or no step at all, is no convergence
            is_step = (status & wp.static(int(StepStatus.WORLD_STOPPED))) == 0
            if is_step and s.contact_found[w] > s.ccontact:  # kept only under a hard limit: else the block is replayed
                status = status | wp.static(int(StepStatus.CONTACT_OVERFLOW))
            for c in range(s.ncontact[w]):
                if near_rigid(s.contact_row[w, c]):
                    status = status | wp.static(int(StepStatus.NEAR_RIGID_ACTIVE))
                    if is_step:
                        count_softened(s, w, c)
            converged = int(0)
            if flags > 0:
                converged = 1
            merge(s, w, status, converged, flags)
            count(s, w, status, converged)

    return make_stage(f"counters_{law_name}", R, struct, counters, COUNTER_SCALARS)


STATE_ARRAYS = (
    "body_joint", "body_com", "coordinate_from", "dof_from", "dof_entry", "dof_to_body",
    "link_body", "link_p_BL", "link_Q_BL", "link_com", "q", "v", "p_WB", "Q_WB", "R_WB", "V_WB",
    "step", "ncontact", "merged", "merged_real", "row_offset", "constraint_gamma", "joint_link", "reaction",
    "rec_constraint", "rec_reaction", "rec_step", "rec_q", "rec_qd", "rec_p", "rec_Q", "rec_V", "rec_stat", "rec_real",
)  # fmt: skip
STATE_SCALARS = (
    ("nq", "int"), ("nv", "int"), ("nlink", "int"), ("nconstraint", "int"), ("nreaction", "int"), ("every", "int"),
    ("last_step", "int"), ("crow", "int"),
)  # fmt: skip


@wp.func
def row_of_step(step: int, every: int, last_step: int, offset: int) -> int:
    """The row, counted from the block's first, that step ends; -1 for a step that is not recorded."""
    if step % every == 0:
        return step // every - offset
    if step == last_step:
        return step // every + 1 - offset
    return -1


@cache
def make_state(R) -> Stage:
    """The stage `record_state`: state, link placements, impulses of constraints, reactions and merged statistics of a row;
    starts the next merge."""
    real, vec3, vec6 = R.t, R.vec3, R.vec6
    to_external = make_joints(R).to_external
    struct = make_struct("RecordState", R, STATE_ARRAYS, STATE_SCALARS)

    @wp.func
    def write_link(s: struct, w: int, row: int, i: int):
        b = s.link_body[i]
        if b < 0:
            s.rec_p[row, w, i] = s.link_p_BL[w, i]
            s.rec_Q[row, w, i] = s.link_Q_BL[w, i]
            s.rec_V[row, w, i] = vec6()
        else:
            Q_WL = s.Q_WB[w, b] * s.link_Q_BL[w, i]
            p_BL = s.R_WB[w, b] * s.link_p_BL[w, i]
            V = s.V_WB[w, b]
            omega = vec3(V[0], V[1], V[2])
            v = vec3(V[3], V[4], V[5]) + wp.cross(omega, p_BL + wp.quat_rotate(Q_WL, s.link_com[w, i]))
            s.rec_p[row, w, i] = s.p_WB[w, b] + p_BL
            s.rec_Q[row, w, i] = Q_WL
            s.rec_V[row, w, i] = vec6(v[0], v[1], v[2], omega[0], omega[1], omega[2])

    @wp.func
    def write_joints(s: struct, w: int, lane: int, row: int):
        for i in range(lane, s.nq, wp.block_dim()):
            s.rec_q[row, w, i] = s.q[w, s.coordinate_from[i]]
        for i in range(lane, s.nv, wp.block_dim()):
            b = s.dof_to_body[i]
            s.rec_qd[row, w, i] = real(0.0)
            if b >= 0:
                p_BoBcm = s.R_WB[w, b] * s.body_com[w, b]
                s.rec_qd[row, w, i] = to_external(s.body_joint[b], s.v, w, s.dof_from[i], s.dof_entry[i], p_BoBcm)

    @wp.func
    def write_reactions(s: struct, w: int, lane: int, row: int):
        made = (s.merged[w, STATUS] & wp.static(int(FAILURES | StepStatus.WORLD_STOPPED))) == 0
        for j in range(lane, s.nreaction, wp.block_dim()):
            if made:
                s.rec_reaction[row, w, j] = s.reaction[w, s.joint_link[j]]
            else:
                s.rec_reaction[row, w, j] = vec6(real(wp.nan))

    @wp.func
    def record_state(s: struct, w: int, lane: int):
        row = row_of_step(s.step[w], s.every, s.last_step, s.row_offset[0])
        if row < 0 or row >= s.crow:
            return
        write_joints(s, w, lane, row)
        for i in range(lane, s.nlink, wp.block_dim()):
            write_link(s, w, row, i)
        for i in range(lane, s.nconstraint, wp.block_dim()):
            s.rec_constraint[row, w, i] = real(s.constraint_gamma[w, i])
        write_reactions(s, w, lane, row)
        barrier()
        if lane == 0:
            s.rec_step[row, w] = s.step[w]
            for k in range(NSTEPS):
                s.rec_stat[row, w, k] = s.merged[w, k]
            s.rec_stat[row, w, NCONTACT] = s.ncontact[w]
            for k in range(3):
                s.rec_real[row, w, k] = s.merged_real[w, k]
            s.merged[w, NSTEPS] = 0

    return make_stage("record_state", R, struct, record_state, STATE_SCALARS)


CONTACT_ARRAYS = (
    "step", "row_offset", "ncontact", "contact_a", "contact_b", "contact_part", "contact_feature", "contact_p", "contact_n",
    "contact_depth", "contact_mu", "contact_R_WC", "contact_row", "gamma", "vc",
    "rec_a", "rec_b", "rec_part", "rec_feature", "rec_point", "rec_normal", "rec_impulse", "rec_slip", "rec_scalars",
)  # fmt: skip
CONTACT_SCALARS = (("every", "int"), ("last_step", "int"), ("crow", "int"), ("h", "real"))


@cache
def make_contacts(R, law_name: str) -> Stage:
    """The stage `record_contacts` of a contact law: the contacts of the step that ends in a recorded row."""
    real, vec3 = R.t, R.vec3
    stiffness = registry("contacts")[law_name].make(R).stiffness
    struct = make_struct("RecordContacts", R, CONTACT_ARRAYS, CONTACT_SCALARS)

    @wp.func
    def record_contacts(s: struct, w: int, lane: int):
        row = row_of_step(s.step[w], s.every, s.last_step, s.row_offset[0])
        if row < 0 or row >= s.crow:
            return
        for c in range(lane, s.ncontact[w], wp.block_dim()):
            R_WC = s.contact_R_WC[w, c]
            vc = vec3(s.vc[w, c])
            s.rec_a[row, w, c] = s.contact_a[w, c]
            s.rec_b[row, w, c] = s.contact_b[w, c]
            s.rec_part[row, w, c] = s.contact_part[w, c]
            s.rec_feature[row, w, c] = s.contact_feature[w, c]
            s.rec_point[row, w, c] = s.contact_p[w, c]
            s.rec_normal[row, w, c] = s.contact_n[w, c]
            s.rec_impulse[row, w, c] = R_WC * vec3(s.gamma[w, c])
            s.rec_slip[row, w, c] = R_WC * vec3(vc[0], vc[1], real(0.0))
            s.rec_scalars[row, w, c] = vec3(s.contact_depth[w, c], stiffness(s.contact_row[w, c], s.h), s.contact_mu[w, c])

    return make_stage(f"record_contacts_{law_name}", R, struct, record_contacts, CONTACT_SCALARS)
