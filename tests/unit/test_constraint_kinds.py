"""Every registered kind of constraint on the device: gamma = -dl/dvc, G = -dgamma/dvc by finite differences, convexity, and the
figures of limits, drives and ties.  A new kind's rows are tested the day its file appears."""

import numpy as np
import pytest
import warp as wp

from sapsim.kinds.base import registry
from sapsim.kinds.constraints._bounded import make_bounded
from sapsim.math.real import real
from sapsim.model.arrays import make_struct
from sapsim.solver.tie_rows import make_tie_rows

H, W = 1.0e-3, 1.7
# Parameters, q0, v0, v_star of scalar rows that are active, for each kind of them.
SAMPLES = {
    "limit": [((1.0, 0.2), 0.2003, -0.4, -0.41), ((-1.0, 0.2), 0.21, 0.1, 0.2), ((1.0, -1.0), -1.0, 0.0, 0.0)],
    "pd": [
        ((80.0, 2.0, 0.3, 0.1, 0.5, -20.0, 15.0), 0.1, 0.0, 0.0),
        ((1.0e8, 13.0, 0.3, 0.0, 0.0, -np.inf, np.inf), 0.1, 0.0, 0.0),
        ((0.0, 5.0, 0.0, -1.0, 0.0, -3.0, 3.0), 0.0, 0.5, 0.5),
    ],
}
SAMPLES["dry_friction"] = [((0.4, 1e-3), 0.3, 1.0, 1.0), ((7.0, 0.1), 0.0, 0.0, 0.0)]
# Parameters, gap and velocities v0, v_star of the rows of an item that is active, for each kind of ties.
RIGID, RESTING = ((), (1e-3, -2e-3, 3e-3)), ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0))
TIES = {
    "coupler": [(*RIGID, *RESTING)],
    "ball": [(*RIGID, *RESTING)],
    "weld": [(*RIGID, *RESTING)],
    "distance": [
        ((0.0, 0.0, 0.0), (1e-3, 0.0, 0.0), *RESTING),
        ((2e3, 5.0, 0.0), (-1e-3, 0.0, 0.0), *RESTING),
        ((1e9, 5.0, 0.0), (-1e-3, 0.0, 0.0), *RESTING),
        ((0.0, 0.0, 1.0), (2e-4, 0.0, 0.0), *RESTING),
        ((2e3, 5.0, 1.0), (-1e-4, 0.0, 0.0), *RESTING),
    ],
    "tendon": [((0.0, 0.0, 2.0), (0.1, -1e-3, 0.0), *RESTING), ((3e3, 2.0, 1.0), (-1e-3, 0.0, 0.0), *RESTING)],
}
SCALAR = [kind for kind, found in registry("constraints").items() if found.make(real("float64")).prepare is not None]
TIED = [kind for kind, found in registry("constraints").items() if found.make(real("float64")).compliance is not None]
CASES = [(kind, *sample) for kind in SCALAR for sample in SAMPLES[kind]]
TIE_CASES = [(kind, *sample) for kind in TIED for sample in TIES[kind]]


def test_every_kind_is_scalar_or_a_tie():
    assert sorted(SCALAR + TIED) == list(registry("constraints"))


def prepare(kind, parameters, q0, v0, v_star, h=H, w=W, precision="float64"):
    """(R, v_hat, lowest, highest) of a row."""
    R = real(precision)
    funcs = registry("constraints")[kind].make(R)
    t, vec4, vec8 = R.t, R.vec4, R.vec8

    @wp.kernel(module="unique", enable_backward=False)
    def run(h: t, p: vec8, w: t, q0: t, v0: t, v_star: t, row: wp.array(dtype=vec4)):
        row[0] = funcs.prepare(h, p, w, q0, v0, v_star)

    out = wp.zeros(1, dtype=vec4, device="cpu")
    p = vec8(*parameters, *[0.0] * (8 - len(parameters)))
    wp.launch(run, dim=1, inputs=[h, p, w, q0, v0, v_star, out], device="cpu")
    return out.numpy()[0]


def law_of(kind, parameters, g, v0, v_star, h=H, w=W, precision="float64"):
    """(R, tau, lowest, highest) of an item of a tie."""
    R = real(precision)
    compliance = registry("constraints")[kind].make(R).compliance
    t, vec3, vec4, vec8 = R.t, R.vec3, R.vec4, R.vec8

    @wp.kernel(module="unique", enable_backward=False)
    def run(h: t, p: vec8, w: t, g: vec3, v0: vec3, v_star: vec3, out: wp.array(dtype=vec4)):
        out[0] = compliance(h, p, w, g, v0, v_star)

    out = wp.zeros(1, dtype=vec4, device="cpu")
    p = vec8(*parameters, *[0.0] * (8 - len(parameters)))
    wp.launch(run, dim=1, inputs=[h, p, w, vec3(*g), vec3(*v0), vec3(*v_star), out], device="cpu")
    return out.numpy()[0]


def tie_row(kind, parameters, g, v0, v_star, **options):
    """(R, v_hat, lowest, highest) of the item's first row."""
    law = law_of(kind, parameters, g, v0, v_star, **options)
    return np.array([law[0], -g[0] / (options.get("h", H) + law[1]), law[2], law[3]])


def evaluate(row, vc: np.ndarray, precision="float64"):
    """cost, gamma and G of a row at velocities (n,)."""
    R = real(precision)
    t, vec4, bounded = R.t, R.vec4, make_bounded(R)

    @wp.kernel(module="unique", enable_backward=False)
    def run(row: vec4, vc: wp.array(dtype=t), cost: wp.array(dtype=t), gamma: wp.array(dtype=t), G: wp.array(dtype=t)):
        i = wp.tid()
        cost[i] = bounded.cost(row, vc[i])
        gamma[i] = bounded.gamma(row, vc[i])
        G[i] = bounded.hessian(row, vc[i])

    out = [wp.zeros(len(vc), dtype=t, device="cpu") for _ in range(3)]
    wp.launch(run, dim=len(vc), inputs=[vec4(*row), wp.array(vc, dtype=t, device="cpu"), *out], device="cpu")
    return tuple(a.numpy() for a in out)


def around(row) -> np.ndarray:
    """Velocities below, within and above the bounds of a row."""
    R, v_hat, lowest, highest = row
    ends = [v_hat - R * b for b in (lowest, highest) if np.isfinite(b)] or [v_hat]
    width = max(ends) - min(ends) or max(1e-3, 0.1 * abs(v_hat))
    return np.linspace(min(ends) - width, max(ends) + width, 62)  # no sample meets a bound


@pytest.mark.parametrize("case", range(len(CASES) + len(TIE_CASES)))
def test_gamma_and_hessian_are_derivatives(case):
    row = (prepare if case < len(CASES) else tie_row)(*(CASES + TIE_CASES)[case])
    assert row[0] > 0.0 and row[2] < row[3]
    vc = around(row)
    step = 1e-4 * (vc[1] - vc[0])  # far less than the way to a bound, so pieces are quadratic and differences exact
    cost, gamma, G = evaluate(row, vc)
    (cost_p, gamma_p, _), (cost_m, gamma_m, _) = evaluate(row, vc + step), evaluate(row, vc - step)
    # round-off of a difference: a few eps times the value over the step
    np.testing.assert_allclose(-(cost_p - cost_m) / (2 * step), gamma, atol=1e-14 * np.abs(cost).max() / step + 1e-13)
    np.testing.assert_allclose(-(gamma_p - gamma_m) / (2 * step), G, atol=1e-14 * np.abs(gamma).max() / step + 1e-13)
    assert len(set(np.round(G, 9))) == 1 + np.isfinite(row[2:]).any()  # both regimes were seen
    slopes = np.diff(cost) / np.diff(vc)
    assert np.all(np.diff(slopes) >= -1e-12 * np.abs(slopes).max())  # convex
    assert np.all(gamma >= row[2]) and np.all(gamma <= row[3]) and np.all(np.diff(gamma) <= 0.0)


@pytest.mark.parametrize("case", range(len(CASES) + len(TIE_CASES)))
def test_float32_agrees_with_float64(case):
    make = prepare if case < len(CASES) else tie_row
    row, row32 = (make(*(CASES + TIE_CASES)[case], precision=p) for p in ("float64", "float32"))
    # a dozen roundings of 6e-8, and g = q0 - bound of which three digits cancel
    np.testing.assert_allclose(row32, row, rtol=2e-4, atol=1e-7)
    vc = around(row)
    for found, exact in zip(evaluate(row32, vc.astype(np.float32), "float32"), evaluate(row32, vc), strict=True):
        # the same row: y = (v_hat - vc) / R has lost the digits that cancel, at most all of one rounding of v_hat; where that
        # takes a sample over a bound, G jumps
        same = (found == 0.0) == (exact == 0.0)
        scale = np.abs(exact).max() + 1e-30
        assert same.mean() > 0.9 and np.abs(found - exact)[same].max() <= 1e-4 * scale


def test_a_limit_is_kept_within_its_window():
    """delta = 2 h max(|v0|, |v_star|) of the bound, on either side of it."""
    for sign in (1.0, -1.0):
        for v0, v_star in ((0.3, -0.5), (0.5, 0.2)):
            delta = 2 * H * 0.5
            for gap, active in ((0.999 * delta, True), (1.001 * delta, False), (-1.0, True)):
                row = prepare("limit", (sign, 0.4), 0.4 + sign * gap, v0, v_star)
                assert (row[0] > 0.0) == active


def test_a_limit_has_the_near_rigid_regularisation():
    """R = beta^2 w / 4 pi^2 with beta = 0.1, v_hat = -g / 2h; below w = 1e-9 the stiffness of 1e12 shows."""
    row = prepare("limit", (1.0, 0.2), 0.2001, -1.0, -1.0)
    assert row[:2] == pytest.approx([0.01 * W / (4 * np.pi**2), -1e-4 / (2 * H)], rel=1e-11)
    assert row[2] == 0.0 and row[3] == np.inf
    assert prepare("limit", (1.0, 0.2), 0.1, 0.0, 0.0, w=1e-10)[0] == pytest.approx(1 / (H * 1e12 * 2 * H), rel=1e-12)


@pytest.mark.parametrize(
    "kp, kd, clamped_kp, clamped_kd",
    [  # sap_formulas 3.4: h = 0.015, w = 1.6
        (1.0e8, 1.3e7, 1.134437e6, 1.474768e5),
        (0.0, 1.0e9, 0.0, 1.644934e5),
        (1.0e9, 0.0, 1.0966227e7, 0.0),
        (1.0e3, 10.0, 1.0e3, 10.0),
    ],
)
def test_gains_that_a_step_cannot_resolve_are_lowered(kp, kd, clamped_kp, clamped_kd):
    h = 0.015
    row = prepare("pd", (kp, kd, 0.7, 0.0, 0.0, -1e9, 1e9), 0.0, 0.0, 0.0, h=h, w=1.6)
    gain = h * clamped_kp + clamped_kd
    assert row[0] == pytest.approx(1.0 / (h * gain), rel=1e-6)  # figures of seven digits
    assert row[1] == pytest.approx(clamped_kp * 0.7 / gain, rel=1e-6)
    assert row[2:] == pytest.approx([-h * 1e9, h * 1e9])


def test_a_drive_without_effort_has_no_row():
    assert prepare("pd", (1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0), 1.0, 0.0, 0.0)[0] == 0.0


# ---- ties ------------------------------------------------------------------------------------------------------------


class Rows:
    """Items of up to three rows on the device, as the solver has them (solver/tie_rows.py)."""

    def __init__(self, rows: list, counts: list[int], precision="float64"):
        R = real(precision)
        self.R, self.n = R, len(counts)
        struct = make_struct("TieRows", R, ("item_row", "constraint_row"))
        ties = make_tie_rows(R, struct, make_bounded(R.wide))
        self.s = struct()
        self.s.item_row = wp.array(np.cumsum([0, *counts]), dtype=wp.int32, device="cpu")
        self.s.constraint_row = wp.array([rows], dtype=R.vec4, ndim=2, device="cpu")
        t, vec3 = R.wide.t, R.wide.vec3

        @wp.kernel(module="unique", enable_backward=False)
        def run(
            s: struct, vc: wp.array(dtype=vec3), cost: wp.array(dtype=t), gamma: wp.array(dtype=vec3), G: wp.array(dtype=vec3)
        ):
            i = wp.tid()
            cost[i] = ties.cost(s, 0, i, vc[i])
            gamma[i] = ties.gamma(s, 0, i, vc[i])
            G[i] = ties.hessian(s, 0, i, vc[i])

        self.kernel = run

    def at(self, vc: np.ndarray):
        """cost (n,), gamma (n, 3) and the diagonals of G (n, 3) at vc (n, 3)."""
        t, vec3 = self.R.wide.t, self.R.wide.vec3
        out = [wp.zeros(self.n, dtype=x, device="cpu") for x in (t, vec3, vec3)]
        wp.launch(self.kernel, self.n, inputs=[self.s, wp.array(vc, dtype=vec3, device="cpu"), *out], device="cpu")
        return tuple(a.numpy() for a in out)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_items_of_several_rows(precision):
    """gamma = -dl/dvc and G = -dgamma/dvc in all directions, convex along lines; filled-up and inactive rows are zero."""
    samples = [tie_row(*case) for case in TIE_CASES]
    inactive = np.zeros(4)
    counts = [3, 2, 1, 1, 3]
    rows = [*samples[:3], *samples[3:5], samples[5], inactive, *samples[7:10]]
    items = Rows(rows, counts, precision)
    rng = np.random.default_rng(0)
    step, tolerance = 1e-6, 1e-7  # of rows of either precision: a solve evaluates them in double
    starts = np.cumsum([0, *counts])
    centre = np.array([[rows[starts[i] + k][1] if k < n else 0.0 for k in range(3)] for i, n in enumerate(counts)])
    for _ in range(20):
        vc = centre + rng.normal(size=(5, 3))
        d = rng.normal(size=(5, 3))
        cost, gamma, G = items.at(vc)
        up, down = items.at(vc + step * d), items.at(vc - step * d)
        # a bound within the step is not differentiable there
        smooth = [not np.any((vc[i] - centre[i]) ** 2 < (2 * step * d[i]) ** 2) for i in range(5)]
        for i in np.flatnonzero(smooth):
            size = np.abs(gamma[i]).sum() + 1e-9
            assert -(up[0][i] - down[0][i]) / (2 * step) == pytest.approx(
                d[i] @ gamma[i], abs=tolerance * size * np.linalg.norm(d[i])
            )
            np.testing.assert_allclose(-(up[1][i] - down[1][i]) / (2 * step), G[i] * d[i], atol=tolerance * G[i].max() + 1e-9)
        assert np.all(G >= 0.0)
        assert np.all(up[0] + down[0] - 2.0 * cost >= -tolerance * (cost + 1e-9))
        for i, n in enumerate(counts):
            assert not gamma[i, n:].any() and not G[i, n:].any()
        assert cost[3] == 0.0 and not gamma[3].any() and not G[3].any()


def test_a_rigid_tie_has_the_near_rigid_regularisation():
    """R = beta^2 w / 4 pi^2, tau = h; and where nothing can move, w = 0, it is not active."""
    for kind in TIED:
        parameters, g, *v = TIES[kind][0]
        R, tau, *_ = law_of(kind, parameters, g, *v)
        assert (R, tau) == pytest.approx((0.01 * W / (4 * np.pi**2), H), rel=1e-12)
        assert law_of(kind, parameters, g, *v, w=0.0)[0] == 0.0


@pytest.mark.parametrize("kind, more", [("distance", (0.0,)), ("distance", (1.0,)), ("tendon", (1.0,))])
def test_a_compliant_tie_is_a_spring_and_damper(kind, more):
    """gamma = -h (k (g + h vc) + c vc), from R = 1 / (h (h + tau) k) and v_hat = -g / (h + tau)."""
    k, c, g, vc = 2e3, 3.0, 1e-3 * (1 if kind == "distance" else -1), 0.01 * (1 if kind == "distance" else -1)
    row = tie_row(kind, (k, c, *more), (g, 0.0, 0.0), *RESTING)
    assert (row[1] - vc) / row[0] == pytest.approx(-H * (k * (g + H * vc) + c * vc), rel=1e-11)


def test_a_rope_is_in_the_problem_where_it_can_become_taut():
    """Within 2 h max(|v0|, |v_star|) of its length; it only pulls."""
    for stiffness in (0.0, 1e3):
        for gap, active in ((0.999e-3, True), (1.001e-3, False), (-1.0, True)):
            law = law_of("distance", (stiffness, 1.0, 1.0), (-gap, 0, 0), (0.2, 0, 0), (-0.5, 0, 0))
            assert (law[0] > 0.0) == active
            assert not active or (law[2] == -np.inf and law[3] == 0.0)
    assert law_of("distance", (0.0, 0.0, 0.0), (-5.0, 0, 0), (0.2, 0, 0), (0, 0, 0))[0] > 0.0  # a rod is always


def test_a_tendon_acts_where_it_starts_beyond_a_bound():
    for n, g, active in ((1.0, (1e-9, -1, 0), False), (2.0, (1e-9, 1e-9, 0), False), (2.0, (1, -1e-9, 0), True)):
        law = law_of("tendon", (0.0, 0.0, n), g, (5.0, 0, 0), (5.0, 0, 0))
        assert (law[0] > 0.0) == active


def test_dry_friction_is_bounded():
    """R = sigma w, |gamma| <= h friction, v_hat = 0."""
    assert prepare("dry_friction", (0.4, 1e-3), 0.0, 1.0, 1.0) == pytest.approx([1e-3 * W, 0.0, -0.4 * H, 0.4 * H], rel=1e-12)
