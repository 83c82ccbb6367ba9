"""Line searches along dv: phi(alpha) = l(v + alpha dv).

The momentum part needs three scalars, contacts and constraints are evaluated at vc + alpha dvc (sap_formulas 4.4):

    phi(alpha)   = m0 + alpha b + 1/2 alpha^2 a + sum_i l_i,   b = dv . A (v - v_star),  a = dv' A dv
    phi'(alpha)  = b + alpha a - sum_i dvc_i . gamma_i,        phi''(alpha) = a + sum_i dvc_i' G_i dvc_i

Exact: the root of phi' on [0, 1.5] by Newton with bisection.  Backtracking: Armijo with the shrink factor 0.8 from 1.25.

How small alpha may have to be is the ratio of the curvature at the start to that on the way.  Where friction goes from slip to
stiction, or a contact closes, that is 1e4 in a pile, so that backtracking shrinks 60 times at most, to 2e-6; the 40 times of
sap_formulas 4.5 end at 1.7e-4.  Not more often: at an alpha near 1e-10 the cost falls by less than it is rounded by, so that
steps of contacts with R below machine epsilon over the mass would end by their cost, and wrong.
All lanes take the same branches, because all add the same partial sums in the same order.
"""

from types import SimpleNamespace

import warp as wp

from sapsim.linalg.island import Island
from sapsim.math.block import barrier

EXACT_MAX = 1.5
EXACT_ITERATIONS = 100
EXACT_TOLERANCE = 1.0e-8  # of the slope, relative to that at alpha = 0, and of steps of alpha
BACKTRACKING_MAX = 1.25
BACKTRACKING_ITERATIONS = 60
SHRINK = 0.8
ARMIJO = 1.0e-4


def make_line_search(R, struct, law, bounded, ties, gradient):
    """wp.funcs exact and backtracking (s, w, lane, island, m0, l0, b, a, slope0) -> (alpha, iterations, ok).

    m0 is the momentum cost at alpha = 0, l0 the whole cost, slope0 = phi'(0) < 0.
    """
    real, vec3, vec4, vec8 = R.wide.t, R.wide.vec3, R.wide.vec4, R.wide.vec8
    sum_contacts = gradient.sum_contacts

    @wp.func
    def evaluate(s: struct, w: int, lane: int, island: Island, alpha: real) -> vec3:
        """Sums over contacts, ties and active constraints: (l_i, dvc . gamma, dvc' G dvc)."""
        n = s.ncontact[w]
        for p in range(lane, island.sums, wp.block_dim()):
            acc = vec3(real(0.0))
            for x in range(island.contact + p, island.contact_end, 32):
                c = s.island_contact[w, x]
                row = vec8(s.contact_row[w, c])
                dvc = s.dvc[w, c]
                vc = s.vc[w, c] + alpha * dvc
                acc += vec3(law.cost(row, vc), wp.dot(dvc, law.gamma(row, vc)), wp.dot(dvc, law.hessian(row, vc) * dvc))
            for x in range(island.item + p, island.item_end, 32):
                i = s.island_item[w, x]
                dvc = s.dvc[w, n + i]
                vc = s.vc[w, n + i] + alpha * dvc
                G = ties.hessian(s, w, i, vc)
                acc += vec3(ties.cost(s, w, i, vc), wp.dot(dvc, ties.gamma(s, w, i, vc)), wp.dot(dvc, wp.cw_mul(G, dvc)))
            for x in range(island.row + p, island.row_end, 32):
                r = s.active_constraint[w, x]
                bounds = vec4(s.constraint_row[w, r])
                dvr = s.constraint_dvc[w, r]
                vr = s.constraint_vc[w, r] + alpha * dvr
                acc += vec3(bounded.cost(bounds, vr), dvr * bounded.gamma(bounds, vr), dvr * dvr * bounded.hessian(bounds, vr))
            s.lane_sum[w, p] = acc
        barrier()
        total = sum_contacts(s, w, island)
        barrier()
        return total

    @wp.func
    def exact(s: struct, w: int, lane: int, island: Island, m0: real, l0: real, b: real, a: real, slope0: real):
        tolerance = real(wp.static(EXACT_TOLERANCE))
        high = real(wp.static(EXACT_MAX))
        low = real(0.0)
        alpha = high
        step = high
        step_before = high
        step_tolerance = real(0.0)
        for it in range(wp.static(EXACT_ITERATIONS + 1)):
            sums = evaluate(s, w, lane, island, alpha)
            slope = b + alpha * a - sums[1]
            curvature = a + sums[2]
            if it == 0:
                cost = m0 + alpha * b + real(0.5) * alpha * alpha * a + sums[0]
                if slope <= real(0.0):
                    return alpha, 0, True
                if -slope0 < real(s.cost_absolute_tolerance) + real(s.cost_relative_tolerance) * wp.abs(cost):
                    return real(1.0), 0, True
                guess = wp.min(-slope0 / curvature, high)
                if not (guess > real(0.0)):
                    return real(0.0), 0, False
                alpha = guess
                step_tolerance = tolerance * guess
            else:
                F = slope / (-slope0)
                dF = curvature / (-slope0)
                # a few ulp of alpha are the least that a step can tell, however small the guess was (h^2 k / m of 1e11)
                if wp.abs(F) < tolerance or wp.abs(step) < wp.max(step_tolerance, real(wp.static(4.0 * R.wide.eps)) * alpha):
                    return alpha, it, True
                if F < real(0.0):
                    low = alpha
                else:
                    high = alpha
                slow = real(2.0) * wp.abs(F) > wp.abs(step_before * dF)
                step_before = step
                step = F / dF
                candidate = alpha - step
                if slow or not (candidate > low and candidate < high):
                    step = real(0.5) * (high - low)
                    candidate = low + step
                alpha = candidate
        return real(0.0), wp.static(EXACT_ITERATIONS), False

    @wp.func
    def backtracking(s: struct, w: int, lane: int, island: Island, m0: real, l0: real, b: real, a: real, slope0: real):
        alpha = real(wp.static(BACKTRACKING_MAX))
        before = alpha
        cost_before = real(0.0)
        armijo_before = bool(False)
        for it in range(wp.static(BACKTRACKING_ITERATIONS + 1)):
            sums = evaluate(s, w, lane, island, alpha)
            cost = m0 + alpha * b + real(0.5) * alpha * alpha * a + sums[0]
            slope = b + alpha * a - sums[1]
            slop = real(wp.static(1000.0 * R.wide.eps)) * wp.max(real(1.0), real(0.5) * (wp.abs(cost) + wp.abs(l0)))
            armijo = cost < l0 + real(wp.static(ARMIJO)) * alpha * slope0
            if it == 0:
                if slope < real(0.1) * slop:
                    return alpha, 0, True
            else:
                if wp.abs(cost - cost_before) < slop * (before - alpha):
                    return alpha, it, True
                if cost > cost_before and armijo:
                    if armijo_before:
                        return before, it, True
                    return alpha, it, True
            if it == wp.static(BACKTRACKING_ITERATIONS):
                return alpha, it, armijo
            before = alpha
            cost_before = cost
            armijo_before = armijo
            alpha = alpha * real(wp.static(SHRINK))
        return real(0.0), wp.static(BACKTRACKING_ITERATIONS), False

    return SimpleNamespace(exact=exact, backtracking=backtracking)
