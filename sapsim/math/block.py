"""Block synchronisation and lane numbering, for kernels that one block runs for one world.

`wp.launch_tiled(kernel, dim=[nworld], block_dim=lanes)` gives every world a block; on the CPU a block has one lane and the
strided loops become plain ones.  `lane` is the only place where a thread's number becomes a lane: the test build reverses it,
which exposes barriers that ascending execution hides.
"""

import warp as wp

# Reversed lane order, for tests: set before any kernel is made.
REVERSED = False


@wp.func_native("WP_TILE_SYNC();")
def barrier(): ...


@wp.func
def _ascending(tid: int) -> int:
    return tid


@wp.func
def _descending(tid: int) -> int:
    return wp.block_dim() - 1 - tid


def lane_func():
    """The wp.func lane(tid) of this process."""
    return _descending if REVERSED else _ascending
