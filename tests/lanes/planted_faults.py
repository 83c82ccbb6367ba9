"""Small block kernels, each with one kind of missing or misplaced barrier, and their sound twins.

A kernel has one block, scratch `a` and results `out`; its lanes share N items and exchange values.  A sound kernel gives
the same results for any number of lanes in either order.
"""

import numpy as np
import warp as wp

N = 128  # items of a kernel, whatever the number of lanes
INTS = wp.array(dtype=int)


def _broadcast(barrier, sound: bool, last: bool):
    @wp.func
    def func(a: INTS, out: INTS, lane: int):
        source = int(0)
        if wp.static(last):
            source = wp.block_dim() - 1
        if lane == source:
            a[0] = a[0] + 7
        if wp.static(sound):
            barrier()
        for i in range(lane, N, wp.block_dim()):
            out[i] = a[0] + i

    return func


def _neighbour_read(barrier, sound: bool):
    @wp.func
    def func(a: INTS, out: INTS, lane: int):
        for i in range(lane, N, wp.block_dim()):
            a[i] = 3 * i
        if wp.static(sound):
            barrier()
        for i in range(lane, N, wp.block_dim()):
            out[i] = a[(i + N - 1) % N]

    return func


def _overwrite_after_read(barrier, sound: bool):
    @wp.func
    def func(a: INTS, out: INTS, lane: int):
        for i in range(lane, N, wp.block_dim()):
            out[i] = a[0] + i
        if wp.static(sound):
            barrier()
        if lane == 0:
            a[0] = 5

    return func


def _gather_by_one_lane(barrier, sound: bool):
    @wp.func
    def func(a: INTS, out: INTS, lane: int):
        for i in range(lane, N, wp.block_dim()):
            a[i] = 3 * i
        if wp.static(sound):
            barrier()
        if lane == 0:
            total = int(0)
            for i in range(N):
                total += a[i]
            out[0] = total

    return func


def _divergent_barrier(barrier, sound: bool):
    @wp.func
    def func(a: INTS, out: INTS, lane: int):
        for i in range(lane, N, wp.block_dim()):
            a[i] = 3 * i
        barrier()
        if wp.static(sound) or lane < wp.block_dim() // 2:
            barrier()
        for i in range(lane, N, wp.block_dim()):
            out[i] = a[(i + N - 1) % N]

    return func


KINDS = {
    "broadcast_from_first_lane": lambda barrier, sound: _broadcast(barrier, sound, False),
    "broadcast_from_last_lane": lambda barrier, sound: _broadcast(barrier, sound, True),
    "neighbour_read": _neighbour_read,
    "overwrite_after_read": _overwrite_after_read,
    "gather_by_one_lane": _gather_by_one_lane,
    "divergent_barrier": _divergent_barrier,
}


def make_kernels() -> dict[str, wp.Kernel]:
    """Kernels by `kind:sound` and `kind:faulty`, with the barrier and the lane function of this process."""
    return {f"{kind}:{word}": _make_kernel(kind, word == "faulty") for kind in KINDS for word in ("sound", "faulty")}


def _make_kernel(kind: str, faulty: bool) -> wp.Kernel:
    from sapsim.math import block

    func, lane_of = KINDS[kind](block.barrier, not faulty), block.lane_func()
    # Counts are kept per module: the fault that upsets them has one of its own.
    module = "planted_divergence" if faulty and kind == "divergent_barrier" else "planted_faults"

    @wp.kernel(module=module, name=f"{kind}_{'faulty' if faulty else 'sound'}", enable_backward=False)
    def kernel(a: INTS, out: INTS):
        _, tid = wp.tid()
        func(a, out, lane_of(tid))

    return kernel


def run(kernel: wp.Kernel, lanes: int) -> list[int]:
    """The kernel's scratch and results; it runs twice, because a counting kernel looks back when its next block starts."""
    for _ in range(2):
        a, out = wp.zeros(N, dtype=int, device="cpu"), wp.zeros(N, dtype=int, device="cpu")
        wp.launch_tiled(kernel, dim=[1], inputs=[a, out], block_dim=lanes, device="cpu")
    return np.concatenate([a.numpy(), out.numpy()]).tolist()
