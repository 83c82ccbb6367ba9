"""Reaction wrenches: the torque and force that the parent side of every joint exerts on its child link (channel `reactions`).

Cut off at the joint of link L, the links that hang on it move under that wrench, gravity, applied forces, contacts and ties
between links only; what acts along joints among them (actuators, limits, springs, damping, couplers, tendons) cancels in pairs.
So Newton and Euler's equations of these links, at the state q0, v0 of the step's start and with the acceleration that the step
made, give the wrench (inverse dynamics, Featherstone 2008, chapter 5):

    F_L = sum over L and all links that hang on it of  (m a, I alpha + omega x I omega) - applied - impulses / h,
    vdot = (v_next - v0) / h

each moved to the origin Lo of the child's frame, in which the result is written: Drake's reaction force, on the child at its
joint frame Jc = M.  It holds all that crosses the joint, actuation, limits, springs and damping too; the reflected inertia of
the joint's drive is no part of it:

    S_k . F = effort + spring - damping v_next + rows of constraints / h - armature vdot

Links that fixed joints hold together are one body of the simulation and taken one by one here; a link that is fixed in the
world does not move, and its joint carries its weight.  The stage comes before the state moves on, in steps that end in a
recorded row of a scene that records reactions.  A lane owns links, then whole trees of links; every sum has a fixed order.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from sapsim.dynamics.forces import APPLIED, make_applied
from sapsim.math.block import barrier
from sapsim.math.spatial import make_spatial
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage
from sapsim.solver.ties import FRAMES, make_frames
from sapsim.step.record import row_of_step

ARRAYS = (
    "link_body", "link_parent", "root_link_start", "root_link", "link_p_BL", "link_Q_BL",
    "link_mass", "link_com", "link_inertia", "link_gravity",
    "body_tree", "body_path_start", "body_path", "body_path_mask",
    "p_WB", "R_WB", "V_WB", "A_WB", "p_WT", "S_T", "v", "v_next",
    "force_link", *APPLIED,
    "pair_a", "pair_b", "shape_link", "ncontact", "contact_pair", "contact_p", "contact_R_WC", "gamma",
    "tie_link_a", "tie_link_b", "tie_item", "item_row", "constraint_row", *FRAMES,
    "row_offset", "reaction",
)  # fmt: skip
SCALARS = (
    ("nreaction", "int"), ("nroot", "int"), ("nforce", "int"), ("ntie", "int"), ("every", "int"), ("last_step", "int"),
    ("crow", "int"), ("h", "real"),
)  # fmt: skip


@cache
def make(R) -> Stage:
    """The stage `reactions`; writes reaction."""
    struct = make_struct("Reactions", R, ARRAYS, SCALARS)
    placed = _make_placed(R, struct)
    needed = _make_needed(R, struct, placed)
    acting = _make_acting(R, struct, placed)
    hang_on = _make_hang_on(R, struct, placed)

    @wp.func
    def reactions(s: struct, w: int, lane: int):
        if s.nreaction == 0:
            return
        row = row_of_step(s.step[w] + 1, s.every, s.last_step, s.row_offset[0])
        if row < 0 or row >= s.crow:
            return
        for i in range(lane, s.nreaction, wp.block_dim()):
            s.reaction[w, i] = needed(s, w, i)
        acting(s, w, lane)
        barrier()
        for r in range(lane, s.nroot, wp.block_dim()):
            hang_on(s, w, r)
        barrier()
        for i in range(lane, s.nreaction, wp.block_dim()):
            s.reaction[w, i] = placed.in_link(s, w, i, s.reaction[w, i])

    return make_stage("reactions", R, struct, reactions, SCALARS, needs="nreaction")


def _make_placed(R, struct):
    """wp.funcs R_WB, origin and R_WL of a link at the step's start; body -1 is the world; and in_link: a wrench in L's axes."""
    real, vec3, vec6, mat33 = R.t, R.vec3, R.vec6, R.mat33
    spatial = make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join

    @wp.func
    def of_body(s: struct, w: int, i: int) -> mat33:
        """R_WB of the link's body."""
        b = s.link_body[i]
        if b < 0:
            return wp.identity(3, dtype=real)
        return s.R_WB[w, b]

    @wp.func
    def body_origin(s: struct, w: int, i: int) -> vec3:
        """p_WB of the link's body."""
        b = s.link_body[i]
        if b < 0:
            return vec3(real(0.0))
        return s.p_WB[w, b]

    @wp.func
    def origin(s: struct, w: int, i: int) -> vec3:
        """p_WL."""
        return body_origin(s, w, i) + of_body(s, w, i) * s.link_p_BL[w, i]

    @wp.func
    def orientation(s: struct, w: int, i: int) -> mat33:
        """R_WL."""
        return of_body(s, w, i) * wp.quat_to_matrix(s.link_Q_BL[w, i])

    @wp.func
    def in_link(s: struct, w: int, i: int, F: vec6) -> vec6:
        R_LW = wp.transpose(orientation(s, w, i))
        return join(R_LW * top(F), R_LW * bottom(F))

    return SimpleNamespace(of_body=of_body, body_origin=body_origin, origin=origin, orientation=orientation, in_link=in_link)


def _make_needed(R, struct, placed):
    """wp.func needed(s, w, i) -> vec6 at Lo, world axes: the wrench of Newton and Euler of link i, weight included."""
    real, vec3, vec6, mat33 = R.t, R.vec3, R.vec6, R.mat33
    spatial = make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join

    @wp.func
    def acceleration(s: struct, w: int, b: int) -> vec6:
        """Of body b at Bo, less gravity: that at zero joint acceleration, and what the joints on its path add."""
        dA = vec6(real(0.0))
        for path in range(s.body_path_start[b], s.body_path_start[b + 1]):
            for i in range(3):
                if (s.body_path_mask[path] & (1 << i)) != 0:
                    k = 3 * s.body_path[path] + i
                    dA += s.S_T[w, k] * ((real(s.v_next[w, k]) - s.v[w, k]) / s.h)
        p_TB = s.p_WB[w, b] - s.p_WT[w, s.body_tree[b]]
        return s.A_WB[w, b] + join(top(dA), bottom(dA) + wp.cross(top(dA), p_TB))

    @wp.func
    def needed(s: struct, w: int, i: int) -> vec6:
        b = s.link_body[i]
        R_WL = mat33(placed.orientation(s, w, i))
        p_LoLcm = R_WL * s.link_com[w, i]
        m = s.link_mass[w, i]
        if b < 0:
            weight = -m * s.link_gravity[w, i]
            return join(wp.cross(p_LoLcm, weight), weight)
        omega = top(s.V_WB[w, b])
        A = acceleration(s, w, b)
        alpha = top(A)
        r = s.R_WB[w, b] * s.link_p_BL[w, i] + p_LoLcm
        f = m * vec3(bottom(A) + wp.cross(alpha, r) + wp.cross(omega, wp.cross(omega, r)))
        I_W = R_WL * s.link_inertia[w, i] * wp.transpose(R_WL)
        return join(I_W * alpha + wp.cross(omega, I_W * omega) + wp.cross(p_LoLcm, f), f)

    return needed


def _make_acting(R, struct, placed):
    """wp.func acting(s, w, lane): takes off what applied forces, contacts and ties do to each link; a lane owns every n-th
    link."""
    real, vec3, vec6 = R.t, R.vec3, R.vec6
    spatial = make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join
    applied = make_applied(R, struct)
    frames_of = make_frames(R, struct)

    @wp.func
    def own(i: int, lane: int) -> bool:
        return i >= 0 and i % wp.block_dim() == lane

    @wp.func
    def take_off(s: struct, w: int, i: int, p: vec3, f: vec3):
        """Force f on link i at the point p of the world."""
        s.reaction[w, i] = s.reaction[w, i] - join(wp.cross(p - placed.origin(s, w, i), f), f)

    @wp.func
    def take_off_tie(s: struct, w: int, t: int, i: int, lane: int):
        """What item i of tie t does to its two links: D' gamma / h at its point of B, and the opposite at that of A."""
        D, _, p_a, p_b, turns = frames_of(s, w, t, i - s.tie_item[t])
        f = wp.transpose(D) * vec3(s.gamma[w, s.ncontact[w] + i]) / s.h
        a = s.tie_link_a[t]
        b = s.tie_link_b[t]
        if own(a, lane):
            if turns == 1:
                s.reaction[w, a] = s.reaction[w, a] + join(f, vec3())
            else:
                take_off(s, w, a, p_a, -f)
        if own(b, lane):
            if turns == 1:
                s.reaction[w, b] = s.reaction[w, b] - join(f, vec3())
            else:
                take_off(s, w, b, p_b, f)

    @wp.func
    def ties(s: struct, w: int, lane: int):
        for t in range(s.ntie):
            # a tie over joint coordinates acts along joints and has no links
            if own(s.tie_link_a[t], lane) or own(s.tie_link_b[t], lane):
                for i in range(s.tie_item[t], s.tie_item[t + 1]):
                    if s.constraint_row[w, s.item_row[i]][0] > real(0.0):
                        take_off_tie(s, w, t, i, lane)

    @wp.func
    def acting(s: struct, w: int, lane: int):
        for k in range(s.nforce):
            i = s.force_link[k]
            if own(i, lane):
                F = vec6(applied(s, w, k, placed.of_body(s, w, i)))
                take_off(s, w, i, placed.body_origin(s, w, i), vec3(bottom(F)))
                s.reaction[w, i] = s.reaction[w, i] - join(top(F), vec3())
        for c in range(s.ncontact[w]):
            pair = s.contact_pair[w, c]
            a = s.shape_link[s.pair_a[pair]]
            b = s.shape_link[s.pair_b[pair]]
            if own(a, lane) or own(b, lane):
                f = s.contact_R_WC[w, c] * vec3(s.gamma[w, c]) / s.h
                if own(a, lane):
                    take_off(s, w, a, s.contact_p[w, c], -f)
                if own(b, lane):
                    take_off(s, w, b, s.contact_p[w, c], f)
        ties(s, w, lane)

    return acting


def _make_hang_on(R, struct, placed):
    """wp.func hang_on(s, w, r): adds to every link of root r's tree what hangs on it, leaf to root."""
    vec3 = R.vec3
    spatial = make_spatial(R)
    top, bottom, join = spatial.top, spatial.bottom, spatial.join

    @wp.func
    def hang_on(s: struct, w: int, r: int):
        first = s.root_link_start[r]
        last = s.root_link_start[r + 1] - 1
        for k in range(last - first):  # the root hangs on the world
            i = s.root_link[last - k]
            parent = s.link_parent[i]
            F = s.reaction[w, i]
            f = vec3(bottom(F))
            moved = top(F) + wp.cross(placed.origin(s, w, i) - placed.origin(s, w, parent), f)
            s.reaction[w, parent] = s.reaction[w, parent] + join(moved, f)

    return hang_on
