"""Every stage compiles for a GPU (sm_90), which needs none, and keeps its working set in registers.

`__local_depot` of the PTX is the memory of a thread for what does not fit in registers: arrays with computed indices, and
matrices that were not unrolled.  A stage that grows it by kilobytes is slow on every GPU long before anybody has run it there.
"""

import re

import pytest
import warp as wp

from sapsim.dynamics import api
from sapsim.math.real import real
from sapsim.solver.linear import SOLVERS
from sapsim.step.pipeline import all_stages

ARCH = 90
LIMIT = 4096  # [bytes] a thread
# Unrolled code explodes before it is slow: a matrix indexed in place once made 8.5 MB of a kernel; the largest here has 0.4 MB.
LARGEST_PTX = 1_500_000
VARIANTS = [(law, "v_star") for law in ("lagged", "sap", "similar")]
# form and linear solver are no matter of the law
VARIANTS += [("lagged", "momentum")] + [("lagged", "v_star", linear) for linear in SOLVERS]


def stages(precision: str) -> dict[str, object]:
    """Every stage of all laws and forms, and of the dynamics functions, once, by name."""
    found = [stage for variant in VARIANTS for stage in all_stages(real(precision), *variant)] + api.stages(real(precision))
    return {stage.name: stage for stage in found}


CASES = [
    # float64 runs always; float32 halves every size, so it can only fail to compile
    pytest.param(precision, name, marks=pytest.mark.slow if precision == "float32" else ())
    for precision in ("float64", "float32")
    for name in stages(precision)
]


def local_memory(ptx: str) -> int:
    """The largest local memory of a thread over all kernels of a PTX text [bytes]."""
    return max((int(n) for n in re.findall(r"__local_depot\d+\[(\d+)\]", ptx)), default=0)


@pytest.mark.parametrize("precision, name", CASES)
def test_stage_compiles_for_sm_90_in_little_local_memory(precision, name, tmp_path, record_property):
    stage = stages(precision)[name]
    (path,) = wp.compile_aot_module(stage.kernel.module, arch=ARCH, module_dir=tmp_path, use_ptx=True)
    ptx = path.read_text()
    assert f".target sm_{ARCH}" in ptx and ".entry" in ptx
    used = local_memory(ptx)
    record_property("local_memory_bytes", used)
    assert used < LIMIT and len(ptx) < LARGEST_PTX


def test_local_memory_is_read_from_ptx():
    assert local_memory(".local .align 16 .b8 \t__local_depot0[5120];\n.local .b8 __local_depot1[64];") == 5120
    assert local_memory(".reg .b32 %r<5>;") == 0
