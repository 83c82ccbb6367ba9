"""Newton's direction by preconditioned conjugate gradients, without H: H x = A x + J' G (J x) (Hestenes and Stiefel 1952).

The preconditioner M holds the diagonal blocks of H by trees (solver/block_jacobi.py).  For an island of one tree it is H, and
one application is the solve.

Inexact Newton (Dembo, Eisenstat and Steihaug 1982): a solve ends where both

    |D r| <= max(eta |D grad|, goal / 2),     k gain_k <= 1/2 sum gain,       r = -grad - H dv

with eta of Eisenstat and Walker (1996), choice 2: 0.9 (|D grad| / |D grad before|)^2, at most ETA, and not below 0.9 eta^2 of
the solve before where that exceeds 0.1.  `goal` is the tolerance of Newton's stop test in the same norm: what lies below it by
half would not be seen.  The second condition (Nash and Sofer 1990) bounds what the direction leaves of the quadratic model's
decrease, gain_k being what iteration k adds to it twice: so a small decrease of the cost means a small distance to the
minimum, as after an exact solve, and Newton's cost criterion says the same.

Where p' H p is not positive, or M has no factor, the status is that of a factorisation that failed; where ITERATIONS are not
enough it is max_iterations.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.island import Island, count_places, make_place
from sapsim.linalg.tree_blocks import make_times
from sapsim.math.block import barrier
from sapsim.solver.block_jacobi import ARRAYS as JACOBI
from sapsim.solver.block_jacobi import make_block_jacobi
from sapsim.solver.products import make_add_transposed
from sapsim.status import StepStatus

ARRAYS = (*JACOBI, "cg_direction", "forcing")
ITERATIONS = 1000  # of one solve
ETA = 1.0e-2  # 0.1 saves a third of the inner iterations, and float32 does not always converge then


def make_product(R, struct, times):
    """wp.funcs (s, w, lane, island), one phase each: constraints, dvc <- G J p and constraint_dvc likewise; trees, Adv <- H p
    with p' H p of each tree in part_sum.  p is cg_direction; `times`(s, w, c, x) is J x of a contact or item.  Adv and the
    two dvc hold nothing at that time: Newton writes them when the direction is known."""
    wide, wide3, wide4, wide33 = R.wide.t, R.wide.vec3, R.wide.vec4, R.wide.mat33
    A_times = make_times(R.wide, struct, R.vec3)
    add_transposed = make_add_transposed(R, struct)
    place = make_place(struct)

    @wp.func
    def constraints(s: struct, w: int, lane: int, island: Island):
        for x in range(lane, count_places(island), wp.block_dim()):
            c = place(s, w, island, x)
            s.dvc[w, c] = wide33(s.G[w, c]) * times(s, w, c, s.cg_direction)
        for x in range(island.row + lane, island.row_end, wp.block_dim()):
            r = s.active_constraint[w, x]
            along = wp.dot(wide3(s.constraint_J[w, r]), wide3(s.cg_direction[w, s.constraint_block[r]]))
            s.constraint_dvc[w, r] = wide(s.constraint_G[w, r]) * along

    @wp.func
    def trees(s: struct, w: int, lane: int, island: Island):
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.Adv[w, r] = A_times(s, w, r, s.cg_direction)
            add_transposed(s, w, p, s.dvc, s.constraint_dvc, s.Adv)
            curvature = wide(0.0)
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                curvature += wp.dot(wide3(s.cg_direction[w, r]), s.Adv[w, r])
            s.part_sum[w, p] = wide4(curvature, wide(0.0), wide(0.0), wide(0.0))

    return SimpleNamespace(constraints=constraints, trees=trees)


def make_pcg(R, struct, gradient):
    """wp.func linear_direction(s, w, lane, island, first, residual, goal) -> status (solver/linear.py): dv <- -H^-1 grad to the
    forcing term."""
    real, vec3, wide, wide2, wide3, wide4 = R.t, R.vec3, R.wide.t, R.wide.vec2, R.wide.vec3, R.wide.vec4
    jacobi = make_block_jacobi(R, struct)
    product = make_product(R, struct, gradient.contact_times)
    sum_trees = gradient.sum_trees

    @wp.func
    def forcing_term(before: wide2, first: bool, residual: wide) -> wide:
        """eta, from (eta, |D grad|) of the solve before."""
        most = wide(wp.static(ETA))
        if first:
            return most
        ratio = residual / before[1]
        eta = wide(0.9) * ratio * ratio
        floor = wide(0.9) * before[0] * before[0]
        if floor > wide(0.1):
            eta = wp.max(eta, floor)
        return wp.min(eta, most)

    @wp.func
    def start(s: struct, w: int, lane: int, island: Island):
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.dv[w, r] = vec3(real(0.0))
                s.cg_direction[w, r] = vec3(real(0.0))
                s.cg_residual[w, r] = -vec3(s.grad[w, r])

    @wp.func
    def advance(s: struct, w: int, lane: int, island: Island, alpha: wide):
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.dv[w, r] = s.dv[w, r] + real(alpha) * s.cg_direction[w, r]
                s.cg_residual[w, r] = vec3(wide3(s.cg_residual[w, r]) - alpha * s.Adv[w, r])

    @wp.func
    def norms(s: struct, w: int, lane: int, island: Island) -> wide4:
        """(r' M^-1 r, |D r|^2, 0, 0)."""
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            sums = wide4(wide(0.0))
            for b in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                r = wide3(s.cg_residual[w, b])
                scaled = wp.dot(r, wp.cw_mul(wide3(s.dinv[w, b]), r))
                sums += wide4(wp.dot(r, wide3(s.cg_scaled[w, b])), scaled, wide(0.0), wide(0.0))
            s.part_sum[w, p] = sums
        barrier()
        total = sum_trees(s, w, island)
        barrier()
        return total

    @wp.func
    def take(s: struct, w: int, lane: int, island: Island):
        """dv <- M^-1 r."""
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.dv[w, r] = s.cg_scaled[w, r]

    @wp.func
    def turn(s: struct, w: int, lane: int, island: Island, beta: wide):
        for p in range(island.tree + lane, island.tree_end, wp.block_dim()):
            t = s.part_tree[w, p]
            for r in range(s.tree_block_start[t], s.tree_block_start[t + 1]):
                s.cg_direction[w, r] = s.cg_scaled[w, r] + real(beta) * s.cg_direction[w, r]

    @wp.func
    def curvature(s: struct, w: int, lane: int, island: Island) -> wide:
        """p' H p, and H p in Adv."""
        product.constraints(s, w, lane, island)
        barrier()
        product.trees(s, w, lane, island)
        barrier()
        total = sum_trees(s, w, island)[0]
        barrier()
        return total

    @wp.func
    def iterate(s: struct, w: int, lane: int, island: Island, goal: wide):
        """(status, iterations)."""
        start(s, w, lane, island)
        jacobi.apply(s, w, lane, island)
        if island.tree_end - island.tree == 1:
            take(s, w, lane, island)
            return 0, 1
        rho = norms(s, w, lane, island)[0]
        noise = wide(wp.static(R.eps * R.eps)) * rho
        beta = wide(0.0)
        gains = wide(0.0)
        for i in range(wp.static(ITERATIONS)):
            turn(s, w, lane, island, beta)
            barrier()
            pHp = curvature(s, w, lane, island)
            if not (pHp > wide(0.0)):
                return wp.static(int(StepStatus.FACTORIZATION_FAILED)), i
            alpha = rho / pHp
            advance(s, w, lane, island, alpha)
            jacobi.apply(s, w, lane, island)
            sums = norms(s, w, lane, island)
            gain = alpha * rho
            gains += gain
            settled = wide(i + 1) * gain <= wide(0.5) * gains
            if sums[0] <= noise or (wp.sqrt(sums[1]) <= goal and settled):
                return 0, i + 1
            beta = sums[0] / rho
            rho = sums[0]
        return wp.static(int(StepStatus.MAX_ITERATIONS)), wp.static(ITERATIONS)

    @wp.func
    def linear_direction(s: struct, w: int, lane: int, island: Island, first: bool, residual: wide, goal: wide) -> int:
        eta = forcing_term(s.forcing[w], first, residual)
        status = int(wp.static(int(StepStatus.FACTORIZATION_FAILED)))
        n = int(0)
        if jacobi.factor(s, w, lane, island):
            status, n = iterate(s, w, lane, island, wp.max(eta * residual, wide(0.5) * goal))
        if lane == 0:
            s.forcing[w] = wide2(eta, residual)
            if first:
                s.solve_int[w, 6] = 0
            s.solve_int[w, 6] = s.solve_int[w, 6] + n
            s.solve_int[w, 7] = wp.max(s.solve_int[w, 7], s.solve_int[w, 6])
        barrier()
        return status

    return linear_direction
