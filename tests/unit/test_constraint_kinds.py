"""Every registered kind of constraint on the device: gamma = -dl/dvc, G = -dgamma/dvc by finite differences, convexity, and the
figures of limits and drives.  A new kind's rows are tested the day its file appears."""

import numpy as np
import pytest
import warp as wp

from sapsim.kinds.base import registry
from sapsim.kinds.constraints._bounded import make_bounded
from sapsim.math.real import real

H, W = 1.0e-3, 1.7
# Parameters, q0, v0, v_star of rows that are active, for each kind.
SAMPLES = {
    "limit": [((1.0, 0.2), 0.2003, -0.4, -0.41), ((-1.0, 0.2), 0.21, 0.1, 0.2), ((1.0, -1.0), -1.0, 0.0, 0.0)],
    "pd": [
        ((80.0, 2.0, 0.3, 0.1, 0.5, -20.0, 15.0), 0.1, 0.0, 0.0),
        ((1.0e8, 13.0, 0.3, 0.0, 0.0, -np.inf, np.inf), 0.1, 0.0, 0.0),
        ((0.0, 5.0, 0.0, -1.0, 0.0, -3.0, 3.0), 0.0, 0.5, 0.5),
    ],
}
CASES = [(kind, *sample) for kind in registry("constraints") for sample in SAMPLES[kind]]


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
    width = max(1e-3, max(ends) - min(ends), 0.1 * abs(v_hat))
    return np.linspace(min(ends) - width, max(ends) + width, 62)  # no sample meets a bound


@pytest.mark.parametrize("kind, parameters, q0, v0, v_star", CASES)
def test_gamma_and_hessian_are_derivatives(kind, parameters, q0, v0, v_star):
    row = prepare(kind, parameters, q0, v0, v_star)
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


@pytest.mark.parametrize("kind, parameters, q0, v0, v_star", CASES)
def test_float32_agrees_with_float64(kind, parameters, q0, v0, v_star):
    row, row32 = (prepare(kind, parameters, q0, v0, v_star, precision=p) for p in ("float64", "float32"))
    # a dozen roundings of 6e-8, and g = q0 - bound of which three digits cancel
    np.testing.assert_allclose(row32, row, rtol=2e-4, atol=1e-7)


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
