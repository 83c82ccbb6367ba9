"""Block synchronisation and lane numbering, for kernels that one block runs for one world.

`wp.launch_tiled(kernel, dim=[nworld], block_dim=lanes)` gives every world a block; on the CPU a block has one lane and the
strided loops become plain ones.  `lane` is the only place where a thread's number becomes a lane.

**Test build** (tests/lanes).  Warp can run the lanes of a block as fibers on the CPU, each up to its next barrier, in
ascending order of threads.  That order hides most missing barriers, and a barrier inside a lane-dependent branch, a
deadlock on a GPU, passes.  `use_test_build` therefore makes kernels that number lanes backwards if asked to, and whose
barriers count: every lane of a block must have passed as many as the others when the next block starts.
"""

import sys

import warp as wp

REVERSED = False  # whether lanes are numbered backwards
COUNTED = False  # whether barriers count
MISMATCH = "sapsim: lanes passed different numbers of barriers"  # printed to stdout by a counting kernel


@wp.func_native("WP_TILE_SYNC();")
def barrier(): ...


# Counts are kept per module, over all its blocks, so thread 0 sees at a block's start whether those before it ended well.
_COUNT = f"""
    static unsigned long long passed[WP_TILE_BLOCK_DIM];
    static bool told = false;
    if (at_start == 0) {{
        passed[WP_TILE_THREAD_IDX] += 1;
        WP_TILE_SYNC();
    }} else if (WP_TILE_THREAD_IDX == 0 && !told) {{
        for (int i = 1; i < WP_TILE_BLOCK_DIM; ++i)
            told = told || passed[i] != passed[0];
        if (told)
            printf("{MISMATCH}\\n");
    }}
"""


@wp.func_native(_COUNT)
def _count(at_start: int): ...


@wp.func
def _counted_barrier():
    _count(0)


@wp.func
def _ascending(tid: int) -> int:
    return tid


@wp.func
def _descending(tid: int) -> int:
    return wp.block_dim() - 1 - tid


@wp.func
def _counted_ascending(tid: int) -> int:
    _count(1)
    return tid


@wp.func
def _counted_descending(tid: int) -> int:
    _count(1)
    return wp.block_dim() - 1 - tid


def lane_func():
    """The wp.func lane(tid) of this process; a kernel calls it once, before all else."""
    if COUNTED:
        return _counted_descending if REVERSED else _counted_ascending
    return _descending if REVERSED else _ascending


def use_test_build(*, reverse: bool) -> None:
    """Counting barriers, and lanes numbered backwards if `reverse`; CPU only, before any module with kernels is imported."""
    global REVERSED, COUNTED, barrier
    if "sapsim.model.stage" in sys.modules:
        raise RuntimeError("the test build must be chosen before modules with kernels are imported")
    REVERSED, COUNTED, barrier = reverse, True, _counted_barrier
