"""The twin's contact laws: gamma = -dl/dvc and G = -dgamma/dvc in every branch, convexity, continuity, closed forms."""

import numpy as np
import pytest

from sapsim.reference.contact_laws import ContactParameters, Lagged, Sap, Similar

BASE = dict(h=5e-3, k=1e4, d=10.0, tau=0.01, mu=0.6, depth=2e-3, vn0=-0.1, w=0.7)


def make(law, **changes):
    return law(ContactParameters(**{**BASE, **changes}))


def velocity_of_impulse(law: Sap, y) -> np.ndarray:
    """The vc whose unprojected impulse is y: branches of the cone are regions of y."""
    return law.v_hat - law.R * np.asarray(y)


def sap_cases():
    """(law, vc, branch) inside every branch, with compliant and near-rigid R."""
    for k in (1e4, 1e9):
        law = make(Sap, k=k)
        mu_hat = law.mu * law.R[0] / law.R[2]
        for t in (np.array([1.0, 0.0]), np.array([-0.6, 0.8])):
            yield law, velocity_of_impulse(law, [*(0.3 * t), 1.0]), "stick"
            yield law, velocity_of_impulse(law, [*(2.0 * t), 1.0]), "slip"
            yield law, velocity_of_impulse(law, [*(2.0 * t), -0.5 * mu_hat * 2.0]), "slip"
            yield law, velocity_of_impulse(law, [*(2.0 * t), -3.0 * mu_hat * 2.0]), "open"
        yield law, velocity_of_impulse(law, [0.0, 0.0, 1.0]), "stick"
        yield law, velocity_of_impulse(law, [0.0, 0.0, -1.0]), "open"
    frictionless = make(Sap, mu=0.0)
    yield frictionless, velocity_of_impulse(frictionless, [0.5, 0.2, 1.0]), "slip"


def hunt_crossley_cases(kind):
    """Of `lagged` or `similar`: closed, beyond the zero of the elastic force, beyond that of the damping; slow and fast
    slip; n0 = 0."""
    for d in (0.0, 10.0):
        law = make(kind, d=d)
        zero = law.fe0 / (law.h * law.k)
        for vt in ([0.0, 0.0], [3e-5, -4e-5], [0.3, 0.4]):
            for vn in (-1.0, 0.0, 0.5 * min(zero, 1.0 / (d + 1e-20)), 1.5 * zero):
                yield law, np.array([*vt, vn])
    leaving = make(kind, vn0=0.2)  # 1 - d vn0 < 0
    assert leaving.n0 == 0.0
    yield leaving, np.array([0.1, 0.2, -0.3])
    yield make(kind, depth=-1e-3), np.array([0.1, 0.2, -0.5])  # open at the start, closes in the step


ALL_CASES = [(law, vc) for law, vc, _ in sap_cases()]
ALL_CASES += [case for kind in (Lagged, Similar) for case in hunt_crossley_cases(kind)]


def difference(f, x, steps):
    """df/dx by central differences, the last axis over x."""
    return np.stack(
        [(f(x + s * e) - f(x - s * e)) / (2.0 * s) for s, e in zip(steps, np.eye(3), strict=True)],
        axis=-1,
    )


def steps_for(law) -> np.ndarray:
    """Steps small against the scale on which the law bends: its regularised slip, and its normal compliance."""
    if isinstance(law, Sap):
        return 1e-4 * law.R
    return np.array([1e-3 * law.epsilon, 1e-3 * law.epsilon, 1e-6])


@pytest.mark.parametrize("law, vc, branch", list(sap_cases()))
def test_cases_lie_in_their_branches(law, vc, branch):
    assert law._project(vc)[0] == branch


@pytest.mark.parametrize("law, vc", ALL_CASES)
def test_gamma_is_minus_the_gradient_of_the_cost(law, vc):
    gamma = law.gamma(vc)
    steps = steps_for(law)
    # Truncation (step / scale)^2 = 1e-6 relative at most; round-off of the cost over the step.
    round_off = 1e-15 * abs(law.cost(vc)) / steps
    gradient = difference(law.cost, vc, steps)
    assert np.all(np.abs(gradient + gamma) <= 2e-6 * np.linalg.norm(gamma) + 4.0 * round_off + 1e-14)


@pytest.mark.parametrize("law, vc", ALL_CASES)
def test_hessian_is_minus_the_derivative_of_gamma(law, vc):
    G = law.hessian(vc)
    numeric = -difference(law.gamma, vc, steps_for(law))
    np.testing.assert_allclose(G, numeric, rtol=1e-5, atol=2e-6 * np.abs(G).max() + 1e-12)


@pytest.mark.parametrize("law, vc", ALL_CASES)
def test_hessian_is_symmetric_and_positive(law, vc):
    G = law.hessian(vc)
    size = np.abs(G).max()
    np.testing.assert_allclose(G, G.T, atol=1e-13 * size)
    assert np.linalg.eigvalsh(0.5 * (G + G.T)).min() >= -1e-12 * size


@pytest.mark.parametrize("kind", [Sap, Lagged, Similar])
@pytest.mark.parametrize("seed", range(3))
def test_cost_is_convex_and_impulses_monotone(kind, seed):
    """(gamma(a) - gamma(b)) . (a - b) <= 0 and the cost below its chords, over pairs of points in all branches."""
    rng = np.random.default_rng(seed)
    law = make(kind)
    for _ in range(200):
        scale = 10.0 ** rng.uniform(-6, 0)
        a, b = (rng.normal(size=3) * scale + [0.0, 0.0, 0.2 * rng.normal()] for _ in range(2))
        work = (law.gamma(a) - law.gamma(b)) @ (a - b)
        assert work <= 1e-13 * (abs(law.gamma(a) @ a) + abs(law.gamma(b) @ b))
        middle, chord = law.cost(0.5 * (a + b)), 0.5 * (law.cost(a) + law.cost(b))
        assert middle <= chord + 1e-13 * (abs(law.cost(a)) + abs(law.cost(b)))


def test_sap_is_continuous_across_branches():
    """gamma on both sides of the borders stick | slip and slip | open differ by the distance, not by a jump."""
    law = make(Sap)
    mu_hat = law.mu * law.R[0] / law.R[2]
    for y_t in (0.1, 2.0):
        for y_n in (y_t / law.mu, -mu_hat * y_t):
            sides = [law.gamma(velocity_of_impulse(law, [y_t, 0.0, y_n + s])) for s in (-1e-9, 1e-9)]
            assert np.linalg.norm(sides[0] - sides[1]) <= 4e-9


def test_sap_impulse_lies_in_the_cone():
    rng = np.random.default_rng(0)
    law = make(Sap)
    for _ in range(300):
        gamma = law.gamma(velocity_of_impulse(law, rng.normal(size=3) * 10.0 ** rng.uniform(-3, 1)))
        assert np.linalg.norm(gamma[:2]) <= law.mu * gamma[2] * (1.0 + 1e-14)


def test_sap_projection_is_the_nearest_point_of_the_cone():
    """P(y) minimises (g - y)^T R (g - y) over the cone: a search over the cone's boundary finds nothing nearer."""
    law = make(Sap)
    y = np.array([2.0, 1.0, 0.8])
    gamma = law.gamma(velocity_of_impulse(law, y))
    best = (gamma - y) @ (law.R * (gamma - y))
    for n in np.linspace(0.0, 2.0 * gamma[2], 201):
        for angle in np.linspace(0.0, 2.0 * np.pi, 181):
            g = np.array([law.mu * n * np.cos(angle), law.mu * n * np.sin(angle), n])
            assert best <= (g - y) @ (law.R * (g - y)) + 1e-6 * best  # 1e-6: the soft norm


def test_sap_closed_forms():
    """sap_formulas 10.2: phi -2.5e-3, k 1e5, tau .01, dt 5e-3, w 3, sigma 1e-4, beta 0; and the near-rigid floor."""
    law = make(Sap, depth=2.5e-3, k=1e5, tau=0.01, h=5e-3, w=3.0, sigma=1e-4, near_rigid=0.0)
    assert law.v_hat[2] == pytest.approx(1.0 / 6.0, rel=1e-15)
    assert law.R == pytest.approx([3e-4, 3e-4, 2.0 / 15.0], rel=1e-14)
    assert law.stiffness == pytest.approx(1e5, rel=1e-14) and not law.near_rigid
    rigid = make(Sap, k=1e12, w=3.0, near_rigid=1.0, tau=0.01, h=5e-3)
    assert rigid.R[2] == pytest.approx(3.0 / (4.0 * np.pi**2), rel=1e-15) and rigid.near_rigid
    assert rigid.stiffness == pytest.approx(4.0 * np.pi**2 / (3.0 * 5e-3 * 0.015), rel=1e-14)
    assert rigid.v_hat[2] == pytest.approx(2e-3 / 0.015, rel=1e-15)  # the user's tau also here


def test_lagged_closed_forms():
    """sap_formulas 10.2: dt .01, w 1, vn0 -.1, fe0 15, d .01, mu .5 gives n0 .15015; sigma 1e-2 gives eps 7.5075e-4."""
    given = dict(h=0.01, w=1.0, vn0=-0.1, k=1.5e4, depth=1e-3, d=0.01, mu=0.5)
    law = make(Lagged, **given, sigma=1e-2)
    assert law.n0 == pytest.approx(0.15015, rel=1e-14)
    assert law.epsilon == pytest.approx(7.5075e-4, rel=1e-14)
    assert make(Lagged, **given, sigma=1e-4).epsilon == 1e-4


def test_lagged_stiction_creep():
    """Friction F = mu N s holds at |vt| = vs s / sqrt(1 - s^2) (sap_formulas 3.2): 5.7735e-5 at s = 1/2."""
    law = make(Lagged, vn0=0.0)
    assert law.epsilon == 1e-4
    gamma = law.gamma(np.array([5.773502691896257e-5, 0.0, 0.0]))
    assert gamma[0] == pytest.approx(-0.5 * law.mu * law.n0, rel=1e-14)


def test_similar_is_in_the_cone_and_couples_friction_to_the_normal_impulse():
    """gamma = n(z) (-mu t, 1) with z = vn - mu ||vt||_s: at vn = 0 and 0.1 m/s of slip, z = -0.06 m/s."""
    law = make(Similar, vn0=0.0)
    vc = np.array([0.06, -0.08, 0.0])
    z = -0.6 * (np.sqrt(0.01 + law.epsilon**2) - law.epsilon)
    n = 5e-3 * (20.0 - 5e-3 * 1e4 * z) * (1.0 - 10.0 * z)
    assert law.gamma(vc) == pytest.approx(n * np.array([-0.36, 0.48, 1.0]), rel=1e-5)  # the soft norm: (eps / |vt|)^2 / 2
    assert law.gamma(vc)[2] == pytest.approx(n, rel=1e-14)


def test_sap_stiction_creep():
    """Friction gamma_t holds at |vt| = R_t gamma_t = sigma w gamma_t (sap_formulas 3.1)."""
    law = make(Sap)
    slip = law.R[0] * 0.01
    assert law.gamma(np.array([slip, 0.0, 0.0]))[0] == pytest.approx(-0.01, rel=1e-14)
    assert law.R[0] == pytest.approx(1e-3 * 0.7, rel=1e-15)
