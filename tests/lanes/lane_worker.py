"""Runs jobs in the test build: `lane_worker.py LANES up|down JOB...` prints one JSON object.

Its own process, because cooperative blocks on the CPU are a start-up switch of Warp and the build of the kernels is one of
sapsim's.  A job is the name of a simulation (lane_scenes.py) or `KIND:sound` or `KIND:faulty` (planted_faults.py); the object
gives each its results and whether lanes passed different numbers of barriers in it.
"""

import ctypes
import json
import os
import sys
import tempfile

import warp as wp

_LIBC = ctypes.CDLL("msvcrt" if os.name == "nt" else None)


def captured(call):
    """(result of call, what it and the C library printed)."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            result = call()
        finally:
            sys.stdout.flush()
            _LIBC.fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return result, file.read().decode()


def main(lanes: int, order: str, jobs: list[str]) -> None:
    wp.config.log_level = wp.LOG_WARNING
    wp.config.enable_cpu_blocks = True
    from sapsim.math import block

    block.use_test_build(reverse=order == "down")
    import lane_scenes
    import planted_faults

    planted = planted_faults.make_kernels()

    def run(job: str):
        if job in planted:
            return planted_faults.run(planted[job], lanes)
        fused = (lanes, order) == lane_scenes.FUSED_BUILD and job in lane_scenes.FUSED
        return lane_scenes.run(job, lanes, fused)

    found = {}
    for job in jobs:
        results, printed = captured(lambda job=job: run(job))
        found[job] = {"results": results, "counts_differ": block.MISMATCH in printed}
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
