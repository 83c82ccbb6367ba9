"""Every body is possible: its mass is not negative, its principal moments are positive and none exceeds the sum of the other
two.

Bodies are links held together by fixed joints; one without mass and inertia is a part of its joint.
"""

import numpy as np

from sapsim.validate.base import Check, Measured, Samples


def excess(mass: float, inertia: np.ndarray) -> float:
    """How far a body is from possible, relative to its moments: 0 for a possible one, infinite where it has no size at all."""
    a, b, c = np.linalg.eigvalsh(inertia)
    if mass == 0.0 and c == 0.0 and a == 0.0:
        return 0.0
    if mass < 0.0 or c <= 0.0 or a + b <= 0.0:
        return float("inf")
    return float(max((c - (a + b)) / (a + b), -a / c, 0.0))


def measure(s: Samples) -> Measured:
    m = s.dynamics.model.arrays
    found = [excess(mass, inertia) for mass, inertia in zip(m["body_mass"][0], m["body_inertia"][0], strict=True)]
    if not found:
        return Measured(np.zeros(1))
    body = int(np.argmax(found))
    links = [name for name, b in zip(s.dynamics.link_names, m["link_body"], strict=True) if b == body]
    return Measured(np.array([max(found)]), lambda w: ", ".join(links))


# what the scene reader allows (contract 1.7): tables of robots are printed with five or six digits
CHECK = Check("inertia", "every body's inertia is physical", measure, tolerance=1.0e-5, of_states=False)
