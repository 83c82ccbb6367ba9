"""C(q, v) v = h(q, v) - h(q, 0), and M-dot - 2 C is skew-symmetric: x' (M-dot - 2 C) x = 0 for any x, drawn at random.

M-dot is that of the composite rigid bodies, by central differences of sixth order along the motion in float64 (step 0.001:
round-off 2e-16 / 0.001); C is made of RNEA's terms of velocity alone (dynamics/coriolis.py).  So the two recursions must
agree in how the mass matrix depends on the coordinates.  x' r is measured against ||D r|| ||x / D||, which bounds it, with
tau or h in the place of r where they are larger.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples, derivative, ratio, worst_name

STEP = 1.0e-3
DRAWN = 3


def measure(s: Samples) -> Measured:
    d = s.dynamics
    if not d.nv:
        return Measured(np.zeros(len(s.q)))
    place = s.exact.along(s.q, s.v)

    def mass_matrix(t: float) -> np.ndarray:
        place(t)
        return s.exact.mass_matrix()

    rate = derivative(mass_matrix, STEP)
    velocity_terms = s.h - d.nonlinear_effects(s.q, np.zeros(d.nv))
    r = d.coriolis_product(s.q, s.v, s.v) - velocity_terms
    worst, places = [s.relative(r)], [lambda w: worst_name(s.D[w] * r[w], d.dof_names)]
    for _ in range(DRAWN):
        x = s.rng.normal(size=s.v.shape)
        Cx = d.coriolis_product(s.q, s.v, x)
        Mx = np.einsum("wij,wj->wi", rate, x)
        defect = np.einsum("wi,wi->w", x, Mx - 2.0 * Cx)
        size = np.max([s.norm(2.0 * Cx), s.norm(Mx), s.norm(s.tau), s.norm(s.h)], axis=0)
        worst.append(ratio(np.abs(defect), size * np.linalg.norm(x / s.D, axis=1)))
        places.append(lambda w: "M-dot - 2 C")
    worst = np.stack(worst, axis=1)
    return Measured(worst.max(axis=1), lambda w: places[int(np.argmax(worst[w]))](w))


CHECK = Check("coriolis", "C v = h(v) - h(0); M-dot - 2 C is skew-symmetric", measure)
