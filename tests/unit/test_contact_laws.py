"""Every registered contact law on the device: gamma = -dl/dvc and G = -dgamma/dvc by finite differences, G symmetric and PSD,
zero when open, and agreement with the NumPy twin's formulas.  A new law is tested the day its file appears."""

import numpy as np
import pytest
import warp as wp

from sapsim.kinds.base import registry
from sapsim.math.real import real

LAWS = list(registry("contacts"))
H, K, D, TAU = 1.0e-3, 2.0e4, 3.0, 0.02
PARAMS = (1.0e-3, 1.0e-4, 1.0, 0.0)  # sigma, stiction tolerance, near_rigid


def evaluate(law_name: str, mu: float, depth: float, vn0: float, w: float, vc: np.ndarray, precision: str = "float64"):
    """(cost, gamma, G) at contact velocities vc (n, 3)."""
    R = real(precision)
    law = registry("contacts")[law_name].make(R)
    t, vec3, vec4, mat33 = R.t, R.vec3, R.vec4, R.mat33

    @wp.kernel(module="unique", enable_backward=False)
    def run(
        vc: wp.array(dtype=vec3), mu: t, depth: t, vn0: t, w: t, p: vec4,
        cost: wp.array(dtype=t), gamma: wp.array(dtype=vec3), G: wp.array(dtype=mat33),
    ):  # fmt: skip
        i = wp.tid()
        row = law.prepare(t(H), t(K), t(D), t(TAU), mu, depth, vn0, w, p)
        cost[i] = law.cost(row, vc[i])
        gamma[i] = law.gamma(row, vc[i])
        G[i] = law.hessian(row, vc[i])

    n = len(vc)
    out = (wp.zeros(n, dtype=t), wp.zeros(n, dtype=vec3), wp.zeros(n, dtype=mat33))
    wp.launch(run, dim=n, inputs=[wp.array(vc, dtype=vec3), mu, depth, vn0, w, vec4(*PARAMS), *out], device="cpu")
    return tuple(a.numpy() for a in out)


def samples(seed: int) -> np.ndarray:
    """Contact velocities from creep to impact, in stiction, sliding and open."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-6, 0.5, (60, 1))
    return rng.normal(size=(60, 3)) * scale


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("mu", [0.0, 0.7])
@pytest.mark.parametrize("depth", [1.0e-3, -1.0e-3])
def test_gamma_and_hessian_are_derivatives(law, mu, depth):
    vc = samples(1)
    cost, gamma, G = evaluate(law, mu, depth, -0.1, 1.7, vc)
    for k in range(3):
        # central differences with a step well inside the smallest smoothing length (1e-4 m/s for slip)
        step = 1.0e-6 * np.maximum(1.0e-3, np.linalg.norm(vc, axis=1))
        dv = np.zeros_like(vc)
        dv[:, k] = step
        cost_p, gamma_p, _ = evaluate(law, mu, depth, -0.1, 1.7, vc + dv)
        cost_m, gamma_m, _ = evaluate(law, mu, depth, -0.1, 1.7, vc - dv)
        fd_gamma = -(cost_p - cost_m) / (2.0 * step)
        fd_G = -(gamma_p - gamma_m) / (2.0 * step)[:, None]
        # round-off of the difference is eps |l| / step; truncation is second order in step over the smoothing length
        scale = np.abs(gamma).max(axis=1) + 1.0e-16 * np.abs(cost) / step + 1.0e-9
        assert np.all(np.abs(fd_gamma - gamma[:, k]) < 1.0e-4 * scale + 1.0e-8)
        kink = np.abs(fd_G - G[:, :, k]).max(axis=1) > 1.0e-3 * np.abs(G).max(axis=(1, 2)) + 1.0e-5
        assert kink.sum() <= 2, "only samples that straddle a change of branch may differ"


@pytest.mark.parametrize("law", LAWS)
def test_hessian_is_symmetric_and_positive_semidefinite(law):
    _, _, G = evaluate(law, 0.7, 1.0e-3, -0.1, 1.7, samples(2))
    scale = np.abs(G).max(axis=(1, 2)) + 1.0e-300
    assert np.all(np.abs(G - G.transpose(0, 2, 1)).max(axis=(1, 2)) <= 1.0e-14 * scale)
    lowest = np.linalg.eigvalsh(0.5 * (G + G.transpose(0, 2, 1)))[:, 0]
    assert np.all(lowest >= -1.0e-12 * scale)


@pytest.mark.parametrize("law", LAWS)
def test_cost_is_convex_along_lines(law):
    rng = np.random.default_rng(3)
    a, b = samples(4), samples(5)
    s = rng.uniform(0.0, 1.0, (len(a), 1))
    mid, _, _ = evaluate(law, 0.7, 1.0e-3, -0.1, 1.7, s * a + (1 - s) * b)
    ca, _, _ = evaluate(law, 0.7, 1.0e-3, -0.1, 1.7, a)
    cb, _, _ = evaluate(law, 0.7, 1.0e-3, -0.1, 1.7, b)
    chord = s[:, 0] * ca + (1 - s[:, 0]) * cb
    assert np.all(mid <= chord + 1.0e-13 * (np.abs(ca) + np.abs(cb)))


@pytest.mark.parametrize("law", LAWS)
def test_no_impulse_when_opening_fast(law):
    """At a normal velocity that clears the overlap within a tenth of a step nothing may pull or push."""
    vc = np.array([[0.0, 0.0, 10.0 * 1.0e-3 / H], [0.1, 0.0, 10.0 * 1.0e-3 / H]])
    _, gamma, _ = evaluate(law, 0.7, 1.0e-3, 0.5, 1.7, vc)
    assert np.all(gamma[:, 2] == 0.0)
    assert np.all(gamma[0] == 0.0)


@pytest.mark.parametrize("law", LAWS)
def test_friction_opposes_slip_and_is_bounded(law):
    """Friction points against slip; where the bodies are pressed together at the start's normal velocity it obeys mu n."""
    vc = np.array([[0.3, -0.4, 0.0]])
    _, gamma, _ = evaluate(law, 0.7, 1.0e-3, 0.0, 1.7, vc)
    ratio = np.linalg.norm(gamma[0, :2]) / gamma[0, 2]
    direction = gamma[0, :2] / np.linalg.norm(gamma[0, :2])
    assert np.allclose(direction, [-0.6, 0.8], atol=1.0e-9)
    assert ratio == pytest.approx(0.7, rel=1.0e-6)  # the soft norm takes eps / |vt| squared = 4e-8 of it


@pytest.mark.parametrize("law", LAWS)
def test_float32_agrees_with_float64(law):
    vc = samples(6).astype(np.float32).astype(np.float64)
    _, g64, _ = evaluate(law, 0.5, 1.0e-3, -0.1, 1.7, vc)
    _, g32, _ = evaluate(law, 0.5, 1.0e-3, -0.1, 1.7, vc, "float32")
    scale = np.abs(g64).max(axis=1, keepdims=True) + 1.0e-6
    # a few operations of relative error 6e-8 each; cancellation near the edge of a branch costs two more digits
    assert np.all(np.abs(g64 - g32) <= 2.0e-5 * scale)
