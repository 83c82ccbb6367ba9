"""Step lengths along a direction of descent (sap_formulas 4.4, 4.5).

A line offers cost0, derivative0 < 0 (at alpha = 0) and cost, derivative, curvature (alpha).  Both searches return
(alpha, iterations, found).
"""

import numpy as np

EXACT_ALPHA_MAX = 1.5
EXACT_TOLERANCE = 1.0e-8
EXACT_MAX_ITERATIONS = 100
ARMIJO = 1.0e-4
SHRINK = 0.8
BACKTRACKING_MAX_ITERATIONS = 60
EPS = np.finfo(float).eps
SLOP = 1000.0 * EPS


def exact_line_search(line, solver) -> tuple[float, int, bool]:
    """The root of the slope on [0, 1.5] by Newton's method guarded by bisection."""
    slope0 = -line.derivative0
    at_max = line.derivative(EXACT_ALPHA_MAX)
    if at_max <= 0.0:
        return EXACT_ALPHA_MAX, 0, True
    # The cost cannot fall by more than round-off: Newton's own step is as good as any.
    slack = solver.cost_absolute_tolerance + solver.cost_relative_tolerance * line.cost(EXACT_ALPHA_MAX)
    if slope0 < slack:
        return 1.0, 0, True
    guess = min(slope0 / line.curvature(EXACT_ALPHA_MAX), EXACT_ALPHA_MAX)
    return _root(
        lambda alpha: (line.derivative(alpha) / slope0, line.curvature(alpha) / slope0),
        EXACT_ALPHA_MAX,
        at_max / slope0,
        guess,
    )


def _root(function, upper: float, f_upper: float, guess: float) -> tuple[float, int, bool]:
    """A root of an increasing f on [0, upper] with f(0) = -1 and f(upper) > 0; function gives (f, f')."""
    if f_upper < EXACT_TOLERANCE:
        return upper, 0, True
    low, high = 0.0, upper
    x, dx, dx_before = guess, upper, upper
    for evaluations in range(1, EXACT_MAX_ITERATIONS + 1):
        f, df = function(x)
        # a few ulp of alpha are the least that a step can tell, however small the guess was
        if abs(dx) < max(EXACT_TOLERANCE * guess, 4.0 * EPS * x) or abs(f) < EXACT_TOLERANCE:
            return x, evaluations, True
        low, high = (x, high) if f < 0.0 else (low, x)
        newton_is_slow = 2.0 * abs(f) > abs(dx_before * df)
        dx_before = dx
        dx = 0.5 * (low - high) if newton_is_slow else f / df
        if newton_is_slow or not low <= x - dx <= high:
            dx = 0.5 * (low - high)
            x = low - dx
        else:
            x = x - dx
    return x, EXACT_MAX_ITERATIONS, False


def backtracking_line_search(line, solver) -> tuple[float, int, bool]:
    """Shrink alpha from 1.25 by 0.8 until the cost turns upwards where Armijo's condition holds."""
    alpha = 1.0 / SHRINK
    cost = line.cost(alpha)
    slope = line.derivative(alpha)
    if slope < 0.1 * _slop(cost, line.cost0):  # still falling, or flat
        return alpha, 0, True

    def armijo(a: float, c: float) -> bool:
        return c < line.cost0 + ARMIJO * a * line.derivative0

    for iterations in range(1, BACKTRACKING_MAX_ITERATIONS + 1):
        previous, cost_previous = alpha, cost
        alpha = SHRINK * alpha
        cost = line.cost(alpha)
        if abs(cost - cost_previous) / (previous - alpha) < _slop(cost, cost_previous):
            return alpha, iterations, True
        if cost > cost_previous and armijo(alpha, cost):
            return (previous if armijo(previous, cost_previous) else alpha), iterations, True
    return alpha, BACKTRACKING_MAX_ITERATIONS, armijo(alpha, cost)


def _slop(a: float, b: float) -> float:
    """Round-off of a difference of costs [J]."""
    return SLOP * max(1.0, 0.5 * (abs(a) + abs(b)))
