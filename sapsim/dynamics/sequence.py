"""Several stages in one kernel, for the functions of `api.py` on the CPU: a world's arrays are still in the cache when the next
stage reads them, and arguments are copied once.  The text of the stages is the same, and so are the bits (step/fused.py).
"""

from functools import cache

import warp as wp

from sapsim.math.block import barrier, lane_func
from sapsim.math.real import Real
from sapsim.model.stage import Stage


@cache
def make_sequence(R: Real, stages: tuple[Stage, ...]):
    """Kernel over the structs of two, three or four stages, in their order."""
    name = "_".join(stage.name for stage in stages)
    make = {2: _make_two, 3: _make_three, 4: _make_four}[len(stages)]
    return make(f"sapsim_{name}_{R.name}", f"{name}_{R.name}", lane_func(), stages)


def _make_two(module: str, name: str, lane, stages):
    S0, S1 = (s.struct for s in stages)
    f0, f1 = (s.func for s in stages)

    @wp.kernel(module=module, name=name, enable_backward=False)
    def sequence(s0: S0, s1: S1):
        w, tid = wp.tid()
        me = lane(tid)
        f0(s0, w, me)
        barrier()
        f1(s1, w, me)

    return sequence


def _make_three(module: str, name: str, lane, stages):
    S0, S1, S2 = (s.struct for s in stages)
    f0, f1, f2 = (s.func for s in stages)

    @wp.kernel(module=module, name=name, enable_backward=False)
    def sequence(s0: S0, s1: S1, s2: S2):
        w, tid = wp.tid()
        me = lane(tid)
        f0(s0, w, me)
        barrier()
        f1(s1, w, me)
        barrier()
        f2(s2, w, me)

    return sequence


def _make_four(module: str, name: str, lane, stages):
    S0, S1, S2, S3 = (s.struct for s in stages)
    f0, f1, f2, f3 = (s.func for s in stages)

    @wp.kernel(module=module, name=name, enable_backward=False)
    def sequence(s0: S0, s1: S1, s2: S2, s3: S3):
        w, tid = wp.tid()
        me = lane(tid)
        f0(s0, w, me)
        barrier()
        f1(s1, w, me)
        barrier()
        f2(s2, w, me)
        barrier()
        f3(s3, w, me)

    return sequence
