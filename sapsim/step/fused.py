"""The stages of a step in one kernel that makes n steps: what the CPU runs.

A launch on the CPU costs as much as a small stage, most of it for copying arguments, so a scene of one box runs twice as fast
this way.  The text of the stages is the same, and so are the bits; a GPU runs the stages as kernels of their own, in a captured
graph, where they need fewer registers.  A world's data belongs to its block alone: a block barrier stands between two stages.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import warp as wp

from sapsim.math import block
from sapsim.math.block import barrier, lane_func
from sapsim.math.real import Real
from sapsim.model.stage import Stage, variant
from sapsim.solver.linear import variant as linear_variant
from sapsim.step.pipeline import step_stages

# Warp's own bound on what clang inlines, and ours: a function that is not inlined gets a copy of its struct, and the solve is
# longer than Warp's bound allows.  One cube steps a quarter faster so; compiling takes a quarter longer; the bits are the same.
INLINED, INLINED_HERE = "-inline-threshold=9000", "-inline-threshold=40000"


@wp.struct
class Nothing:
    """What a stage takes that a pipeline does not have."""

    unused: int


@wp.func
def do_nothing(s: Nothing, w: int, lane: int): ...


@cache
def make(R: Real, law: str, form: str = "v_star", linear: str = "auto", convexes: bool = False):
    """Kernel step(n, one struct to a stage in the order of `arguments`)."""
    stages = step_stages(R, law, form, linear)
    convex = next((s for s in step_stages(R, law, form, linear, convexes) if s not in stages), None)
    SC = convex.struct if convex else Nothing
    fc = convex.func if convex else do_nothing
    S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, S16, S17, S18 = (s.struct for s in stages)
    f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18 = (s.func for s in stages)
    lane = lane_func()
    name = f"{linear_variant(variant(f'step_{law}', form), linear)}{'_convex' if convexes else ''}_{R.name}"

    flags = wp.config.cpu_compiler_flags
    # Warp 1.19; elsewhere what the user wants stands, and the test build of lanes has nothing to gain
    if flags and INLINED in flags and not block.COUNTED:
        wp.set_module_options({"cpu_compiler_flags": flags.replace(INLINED, INLINED_HERE)}, module=f"sapsim_{name}")

    @wp.kernel(module=f"sapsim_{name}", name=name, enable_backward=False)
    def step(
        n: int, s0: S0, s1: S1, s2: S2, s3: S3, s4: S4, s5: S5, s6: S6, s7: S7, s8: S8, s9: S9, s10: S10, s11: S11,
        s12: S12, s13: S13, s14: S14, s15: S15, s16: S16, s17: S17, s18: S18, sc: SC,
    ):  # fmt: skip
        w, tid = wp.tid()
        me = lane(tid)
        for _ in range(n):
            f0(s0, w, me)
            barrier()
            f1(s1, w, me)
            barrier()
            f2(s2, w, me)
            barrier()
            f3(s3, w, me)
            barrier()
            f4(s4, w, me)
            barrier()
            f5(s5, w, me)
            barrier()
            fc(sc, w, me)
            barrier()
            f6(s6, w, me)
            barrier()
            f7(s7, w, me)
            barrier()
            f8(s8, w, me)
            barrier()
            f9(s9, w, me)
            barrier()
            f10(s10, w, me)
            barrier()
            f11(s11, w, me)
            barrier()
            f12(s12, w, me)
            barrier()
            f13(s13, w, me)
            barrier()
            f14(s14, w, me)
            barrier()
            f15(s15, w, me)
            barrier()
            f16(s16, w, me)
            barrier()
            f17(s17, w, me)
            barrier()
            f18(s18, w, me)
            barrier()

    return step


def arguments(
    bound: Callable[[Stage], Any], R: Real, law: str, form: str = "v_star", linear: str = "auto", convexes: bool = False
) -> list[Any]:
    """The structs of the kernel of `make`, filled by `bound`: those that every pipeline has, and the stage `convex` last."""
    common = step_stages(R, law, form, linear)
    rest = [s for s in step_stages(R, law, form, linear, convexes) if s not in common]
    return [*map(bound, common), *(map(bound, rest) if rest else [Nothing()])]
