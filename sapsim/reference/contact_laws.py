"""The contact laws: convex cost l(vc) [J], impulse gamma = -dl/dvc [N s], Hessian G = -dgamma/dvc [kg].

vc = (vt1, vt2, vn) is the velocity of B against A in the contact frame, vn > 0 separates.  Each law freezes its data at
the start of the step.  Sources: sap_formulas 3.1 (`sap`: Castro, Permenter, Han 2022, arXiv 2110.10107, the cone and
its projection) and 3.2 (`similar`, `lagged`: Castro et al. 2023, arXiv 2312.03908, Hunt-Crossley).
"""

from dataclasses import dataclass

import numpy as np

SOFT = 1.0e-7  # soft norm of the friction cone, an impulse scale [N s]
TINY = float(np.finfo(float).tiny)  # floor of R_t: a contact that no dof moves has w = 0 and slides at no rate, 0 / 0


@dataclass(frozen=True)
class ContactParameters:
    """What a law is made from: pair values, geometry and the start of the step.

    Fields: h [s], k [N/m], d [s/m], tau [s], mu, depth [m], vn0 [m/s], w [1/kg]; sigma, stiction_tolerance [m/s],
    near_rigid (beta) are the scene's contact settings.
    """

    h: float
    k: float
    d: float
    tau: float
    mu: float
    depth: float
    vn0: float
    w: float
    sigma: float = 1.0e-3
    stiction_tolerance: float = 1.0e-4
    near_rigid: float = 1.0


class Sap:
    """`sap`: linear compliance with relaxation, projected onto the friction cone in the norm of R."""

    def __init__(self, p: ContactParameters):
        floor = p.near_rigid**2 / (4.0 * np.pi**2) * p.w
        compliance = 1.0 / (p.h * p.k * (p.h + p.tau))
        R_n, R_t = max(floor, compliance), max(p.sigma * p.w, TINY)
        self.mu = p.mu
        self.R = np.array([R_t, R_t, R_n])  # [1/kg]
        # -phi0 / (h + tau), with the user's tau always; within the margin, -phi0 / h: what the step must not exceed
        relaxed = p.h + p.tau if p.depth >= 0.0 else p.h
        self.v_hat = np.array([0.0, 0.0, p.depth / relaxed])
        self.near_rigid = floor > compliance
        self.stiffness = 1.0 / (R_n * p.h * (p.h + p.tau))  # as realised

    def _project(self, vc: np.ndarray):
        """The mode ("stick", "slip", "open"), gamma, and what the Hessian needs."""
        y = (self.v_hat - vc) / self.R
        y_r, y_n = np.sqrt(y[:2] @ y[:2] + SOFT**2), y[2]
        t_hat = y[:2] / y_r
        mu, mu_hat = self.mu, self.mu * self.R[0] / self.R[2]
        f = 1.0 / (1.0 + mu * mu_hat)
        if y_r <= mu * y_n:
            return "stick", y, y_r, t_hat, mu_hat, f
        if y_n <= -mu_hat * y_r:
            return "open", np.zeros(3), y_r, t_hat, mu_hat, f
        gamma_n = f * (y_n + mu_hat * y_r)
        return "slip", np.append(mu * gamma_n * t_hat, gamma_n), y_r, t_hat, mu_hat, f

    def gamma(self, vc: np.ndarray) -> np.ndarray:
        return self._project(vc)[1]

    def cost(self, vc: np.ndarray) -> float:
        gamma = self.gamma(vc)
        return 0.5 * gamma @ (self.R * gamma)

    def hessian(self, vc: np.ndarray) -> np.ndarray:
        mode, gamma, y_r, t_hat, mu_hat, f = self._project(vc)
        if mode == "open":
            return np.zeros((3, 3))
        dP = np.eye(3)
        if mode == "slip":
            along = np.outer(t_hat, t_hat)
            across = np.eye(2) - along
            dP[:2, :2] = self.mu * (gamma[2] / y_r * across + mu_hat * f * along)
            dP[:2, 2] = self.mu * f * t_hat
            dP[2, :2] = mu_hat * f * t_hat
            dP[2, 2] = f
        return dP / self.R  # column by column: dgamma/dvc = dP (-R^-1)


class HuntCrossley:
    """What `lagged` and `similar` share: the normal impulse n(z) of Hunt and Crossley and its potential."""

    near_rigid = False

    def __init__(self, p: ContactParameters):
        self.h, self.k, self.d, self.mu = p.h, p.k, p.d, p.mu
        self.fe0 = p.k * p.depth  # elastic force at the start of the step [N]
        self.n0 = p.h * max(self.fe0, 0.0) * max(1.0 - p.d * p.vn0, 0.0)
        self.epsilon = max(p.stiction_tolerance, p.mu * p.sigma * p.w * self.n0)  # [m/s]
        self.stiffness = p.k

    def normal_impulse(self, z: float) -> tuple[float, float]:
        """n(z) and n'(z)."""
        fe, g = self.fe0 - self.h * self.k * z, 1.0 - self.d * z
        if fe <= 0.0 or g <= 0.0:
            return 0.0, 0.0
        return self.h * fe * g, -self.h * (self.k * self.h * g + self.d * fe)

    def normal_potential(self, z: float) -> float:
        """N(z) with N' = n, constant beyond the zero v_hat of n; N(0) = 0, or N(v_hat) = 0 where the bodies are apart."""
        v_hat = min(self.fe0 / (self.h * (self.k + 1e-20)), 1.0 / (self.d + 1e-20))

        def polynomial(z: float) -> float:
            delta = -self.h * self.k * z
            return self.h * (z * (self.fe0 + 0.5 * delta) - 0.5 * self.d * z**2 * (self.fe0 + 2.0 / 3.0 * delta))

        start = v_hat if self.fe0 < 0.0 else 0.0
        return polynomial(min(z, v_hat)) - polynomial(start)

    def slip(self, vc: np.ndarray) -> tuple[float, np.ndarray]:
        """sqrt(vt.vt + eps^2), and t: shorter than 1, which keeps G positive along the slip."""
        soft = float(np.sqrt(vc[:2] @ vc[:2] + self.epsilon**2))
        return soft, vc[:2] / soft


class Lagged(HuntCrossley):
    """`lagged`: friction bounded by the normal impulse of the old state."""

    def gamma(self, vc: np.ndarray) -> np.ndarray:
        _, t = self.slip(vc)
        return np.append(-self.mu * self.n0 * t, self.normal_impulse(vc[2])[0])

    def cost(self, vc: np.ndarray) -> float:
        soft, _ = self.slip(vc)
        return -self.normal_potential(vc[2]) + self.mu * self.n0 * (soft - self.epsilon)

    def hessian(self, vc: np.ndarray) -> np.ndarray:
        soft, t = self.slip(vc)
        G = np.zeros((3, 3))
        G[:2, :2] = self.mu * self.n0 / soft * (np.eye(2) - np.outer(t, t))
        G[2, 2] = -self.normal_impulse(vc[2])[1]
        return G


class Similar(HuntCrossley):
    """`similar`: one potential of z = vn - mu ||vt||_s, so that friction and normal impulse belong to the same instant."""

    def z(self, vc: np.ndarray) -> float:
        return vc[2] - self.mu * (self.slip(vc)[0] - self.epsilon)

    def gamma(self, vc: np.ndarray) -> np.ndarray:
        n, _ = self.normal_impulse(self.z(vc))
        return n * np.append(-self.mu * self.slip(vc)[1], 1.0)

    def cost(self, vc: np.ndarray) -> float:
        return -self.normal_potential(self.z(vc))

    def hessian(self, vc: np.ndarray) -> np.ndarray:
        soft, t = self.slip(vc)
        n, slope = self.normal_impulse(self.z(vc))
        dz = np.append(-self.mu * t, 1.0)  # gradient of z
        G = -slope * np.outer(dz, dz)
        G[:2, :2] += self.mu * n / soft * (np.eye(2) - np.outer(t, t))
        return G


LAWS = {"sap": Sap, "similar": Similar, "lagged": Lagged}
