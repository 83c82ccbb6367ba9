"""Kernels for derivatives of a step by the implicit function theorem: the residual at a given velocity, and the factor of H.

    r(v, theta) = A (v - v0) - h tau - J' gamma = 0        dv/dtheta = -H^-1 dr/dtheta,    H = dr/dv

in the momentum form, where every tree takes part, all in one island.  They run after the stages of a step up to the solve.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from sapsim.linalg.block_sparse import make_block_sparse
from sapsim.linalg.elimination import make_elimination
from sapsim.math.block import barrier, lane_func
from sapsim.solver.newton import make_parts


@cache
def make_sensitivity(R, law_name: str) -> SimpleNamespace:
    """The kernels `residual`, for every world, and `solve`, for one; `struct` and `scalars` are those of the Newton stage."""
    vec3, wide, wide3 = R.vec3, R.wide.t, R.wide.vec3
    parts = make_parts(R, law_name, "momentum", "block_sparse")
    struct, form, gradient, hessian = parts.struct, parts.form, parts.gradient, parts.hessian
    symbolic, sparse, island_of = make_elimination(struct), make_block_sparse(R, struct), parts.island_of
    lane_of = lane_func()
    vectors = wp.array2d(dtype=vec3)
    module = f"sapsim_sensitivity_{law_name}_{R.name}"

    @wp.kernel(module=module, name=f"residual_{law_name}_{R.name}", enable_backward=False)
    def residual(s: struct, v: vectors, r: vectors):
        """r[w] at v[w], blocks of three; leaves impulses and momentum of v in the arrays."""
        w, tid = wp.tid()
        lane = lane_of(tid)
        for b in range(lane, s.nblock, wp.block_dim()):
            s.v_next_b[w, b] = wide3(s.v_b[w, b])
            s.dv[w, b] = v[w, b] - s.v_b[w, b]
            s.grad[w, b] = wide3(wide(0.0))
        barrier()
        for p in range(lane, s.npart[w], wp.block_dim()):
            form.start_tree(s, w, p)
        gradient.start_items(s, w, lane)
        barrier()
        if s.npart[w] > 0:
            island = island_of(s, w, 0)
            gradient.along_contacts(s, w, lane, island)
            gradient.along_trees(s, w, lane, island)
            barrier()
            gradient.move(s, w, lane, island, wide(1.0))
            barrier()
            gradient.at_contacts(s, w, lane, island)
            barrier()
            gradient.at_trees(s, w, lane, island)
            barrier()
        for b in range(lane, s.nblock, wp.block_dim()):
            r[w, b] = vec3(s.grad[w, b])

    @wp.kernel(module=module, name=f"solve_{law_name}_{R.name}", enable_backward=False)
    def solve(s: struct, n: int, rhs: vectors, x: vectors, failed: wp.array(dtype=int)):
        """x[j] = -H^-1 rhs[j] for j < n, with H of world 0 at the velocity that `residual` left there; failed: 1 where H does
        not fit its room, 2 where it has no factor."""
        w, tid = wp.tid()
        lane = lane_of(tid)
        island = island_of(s, w, 0)
        code = int(0)
        if symbolic(s, w, lane, island) > s.chess:
            code = 1
        else:
            hessian.curvature(s, w, lane, island)
            barrier()
            hessian.assemble(s, w, lane, island)
            barrier()
            if not sparse.factor(s, w, lane, island):
                code = 2
        if lane == 0:
            failed[0] = code
        if code == 0:
            for j in range(n):
                barrier()
                for b in range(lane, s.nblock, wp.block_dim()):
                    s.grad[w, b] = wide3(rhs[j, b])
                barrier()
                sparse.solve(s, w, lane, island)
                barrier()
                for b in range(lane, s.nblock, wp.block_dim()):
                    x[j, b] = s.dv[w, b]

    return SimpleNamespace(struct=struct, scalars=parts.scalars, residual=residual, solve=solve)
