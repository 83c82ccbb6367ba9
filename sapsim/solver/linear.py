"""How Newton's direction is solved for: the linear solvers that a scene can choose.

    block_sparse  Cholesky over the trees of an island in an order of least degree (linalg/block_sparse.py)
    dense         Cholesky over all of the island, without symbolic work (solver/dense.py)
    auto          dense for islands of one tree and small ones, block_sparse for the others
    pcg           conjugate gradients, without H (solver/pcg.py)

A linear solver gives one function over the Newton struct, which holds its ARRAYS and SCALARS:

    linear_direction(s, w, lane, island, first, residual, goal) -> status        writes dv = -H^-1 grad

G of the island is known; `first` says that it is the first Newton iteration of the island; residual = |D grad|, and goal is
the tolerance that Newton's stop test has for it.  Each has a kernel of its own, so a scene compiles the one that it uses.
"""

import warp as wp

from sapsim.linalg.block_sparse import make_block_sparse
from sapsim.linalg.elimination import make_elimination
from sapsim.linalg.island import Island
from sapsim.math.block import barrier
from sapsim.solver import dense, pcg
from sapsim.status import StepStatus

_SPARSE = (
    "edge", "tree_part", "part_degree", "part_order", "part_rank", "column_start", "column_part", "column_row", "row_start",
    "row_block", "row_at", "left_start", "left_column", "left_row", "column_base", "contact_cross", "H", "H_inv", "need",
)  # fmt: skip
ARRAYS = {"auto": _SPARSE, "block_sparse": _SPARSE, "dense": dense.ARRAYS, "pcg": pcg.ARRAYS}
SOLVERS = tuple(ARRAYS)
_BOTH = (("words", "int"), ("chess", "int"))
SCALARS = {"auto": _BOTH, "block_sparse": _BOTH, "dense": (("chess", "int"),), "pcg": ()}


def variant(name: str, linear: str) -> str:
    """The name of a stage that linear solvers do not share."""
    return name if linear == "auto" else f"{name}_{linear}"


def assembles(name: str) -> bool:
    """Whether the linear solver stores the blocks of H between trees."""
    return name != "pcg"


def make_direction(R, struct, name: str, hessian, gradient):
    """The function of the linear solver `name`."""
    makers = {"auto": _make_auto, "block_sparse": _make_block_sparse, "dense": _make_dense, "pcg": _make_pcg}
    return makers[name](R, struct, hessian, gradient)


def _make_block_sparse(R, struct, hessian, gradient):
    wide = R.wide.t
    symbolic, sparse = make_elimination(struct), make_block_sparse(R, struct)

    @wp.func
    def block_sparse(s: struct, w: int, lane: int, island: Island, first: bool, residual: wide, goal: wide) -> int:
        if first:
            if symbolic(s, w, lane, island) > s.chess:
                return wp.static(int(StepStatus.CONTACT_OVERFLOW))
        hessian.assemble(s, w, lane, island)
        barrier()
        if not sparse.factor(s, w, lane, island):
            return wp.static(int(StepStatus.FACTORIZATION_FAILED))
        sparse.solve(s, w, lane, island)
        return 0

    return block_sparse


def _make_dense(R, struct, hessian, gradient):
    wide = R.wide.t
    solve = dense.make_dense(R, struct).direction

    @wp.func
    def linear_direction(s: struct, w: int, lane: int, island: Island, first: bool, residual: wide, goal: wide) -> int:
        return solve(s, w, lane, island, first)

    return linear_direction


def _make_auto(R, struct, hessian, gradient):
    wide = R.wide.t
    small, block_sparse = dense.make_dense(R, struct), _make_block_sparse(R, struct, hessian, gradient)

    @wp.func
    def linear_direction(s: struct, w: int, lane: int, island: Island, first: bool, residual: wide, goal: wide) -> int:
        status = int(0)
        if small.suits(s, w, island):
            status = small.direction(s, w, lane, island, first)
        else:
            status = block_sparse(s, w, lane, island, first, residual, goal)
        return status

    return linear_direction


def _make_pcg(R, struct, hessian, gradient):
    return pcg.make_pcg(R, struct, gradient)
