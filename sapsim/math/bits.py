"""Bit operations that Warp has no builtin for."""

import warp as wp

_POPCOUNT = """
#if defined(__CUDA_ARCH__)
    return __popcll(x);
#else
    return __builtin_popcountll(x);
#endif
"""

_LOWEST = """
#if defined(__CUDA_ARCH__)
    return __ffsll(x) - 1;
#else
    return __builtin_ffsll(x) - 1;
#endif
"""


@wp.func_native(_POPCOUNT)
def popcount(x: wp.uint64) -> int:
    """Number of bits set."""
    ...


@wp.func_native(_LOWEST)
def lowest_bit(x: wp.uint64) -> int:
    """Place of the lowest bit set, -1 for zero."""
    ...


@wp.func
def bit(i: int) -> wp.uint64:
    """A word with bit i (0 .. 63) set."""
    return wp.uint64(1) << wp.uint64(i)
