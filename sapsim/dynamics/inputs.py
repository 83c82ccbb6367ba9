"""Inputs over time at the step's start t_k = k h: values of channels, open-loop efforts, and what they leave to drives.

A linear channel is taken at t_k; in one that holds, a value comes into force in the step with t_k >= time - h/2, as forces do.
Outside its times a channel keeps its first or last value.

Where open-loop efforts e_i change, a joint with the bound E on the sum of its actuators gets

    e = sum clip(e_i, own limit),      drives with gains within [-E - e, E - e];
    clip(e, E) and no drive, where |e| exceeds E by more than the drives can take back.
"""

from functools import cache

import warp as wp

from sapsim.math.block import barrier
from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage

ARRAYS = (
    "input_start", "input_hold", "input_time", "input_value", "effort_start", "effort_input", "effort_limit", "effort_reach",
    "effort_bound", "step", "signal", "dof_input", "drive_range",
)  # fmt: skip
SCALARS = (("ninput", "int"), ("ndof", "int"), ("h", "real"))


@cache
def make(R) -> Stage:
    """The stage `inputs`; writes signal, dof_input and drive_range, where there are channels at all."""
    real, vec2 = R.t, R.vec2
    struct = make_struct("Inputs", R, ARRAYS, SCALARS)

    @wp.func
    def value(s: struct, w: int, i: int, t_k: real) -> real:
        t = t_k
        if s.input_hold[i] == 1:
            t = t_k + real(0.5) * s.h
        low = s.input_start[i]
        high = s.input_start[i + 1] - 1
        if t <= s.input_time[w, low]:
            return s.input_value[w, low]
        if t >= s.input_time[w, high]:
            return s.input_value[w, high]
        while high - low > 1:
            middle = (low + high) // 2
            if s.input_time[w, middle] <= t:
                low = middle
            else:
                high = middle
        v = s.input_value[w, low]
        if s.input_hold[i] == 1:
            return v
        share = (t - s.input_time[w, low]) / (s.input_time[w, high] - s.input_time[w, low])
        return v + share * (s.input_value[w, high] - v)

    @wp.func
    def effort(s: struct, w: int, k: int):
        e = real(0.0)
        for i in range(s.effort_start[k], s.effort_start[k + 1]):
            limit = s.effort_limit[w, i]
            e += wp.min(wp.max(s.signal[w, s.effort_input[i]], -limit), limit)
        bound = s.effort_bound[w, k]
        left = vec2(-bound - e, bound - e)
        if wp.abs(e) - s.effort_reach[w, k] >= bound:
            e = wp.min(wp.max(e, -bound), bound)
            left = vec2(real(0.0), real(0.0))
        s.dof_input[w, k] = e
        s.drive_range[w, k] = left

    @wp.func
    def inputs(s: struct, w: int, lane: int):
        if s.ninput > 0:
            t_k = real(s.step[w]) * s.h
            for i in range(lane, s.ninput, wp.block_dim()):
                s.signal[w, i] = value(s, w, i, t_k)
            barrier()
            for k in range(lane, s.ndof, wp.block_dim()):
                effort(s, w, k)

    return make_stage("inputs", R, struct, inputs, SCALARS)
