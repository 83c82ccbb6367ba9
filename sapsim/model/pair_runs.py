"""What the broad phase asks before it looks at pairs: runs of pairs that stand behind one another, and bounds.

A run has one first shape and, as second shapes, several shapes of one body; where that body as a whole is far from the first
shape, all pairs of the run are.  Other pairs with one first shape form runs without a body.  Bounds have a slack of 1e-5 of the
shape's radius, above the rounding of float32 in what is compared.
"""

import numpy as np

SLACK = 1.0e-5
LONGEST = 32  # pairs of a run of several bodies: lanes share runs


def find_runs(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """run_start (nrun + 1,), run_body (nrun,) with -1 where there is none, body_reach (1 or W, nbody); and shape_half, which
    gets its slack."""
    a, body = arrays["pair_a"].tolist(), arrays["shape_body"][arrays["pair_b"]].tolist()
    starts, bodies, end = [], [], 0
    while end < len(a):
        first = end
        while end < len(a) and (a[end], body[end]) == (a[first], body[first]):
            end += 1
        alone = end - first == 1 or body[first] < 0
        joined = alone and starts and bodies[-1] < 0 and a[starts[-1]] == a[first] and end - starts[-1] <= LONGEST
        if not joined:
            starts.append(first)
            bodies.append(-1 if alone else body[first])
    radius, p_BG = arrays["shape_radius"], arrays["shape_p_BG"]
    far = (1.0 + SLACK) * (radius + np.linalg.norm(p_BG, axis=-1))
    reach = np.zeros((radius.shape[0], len(arrays["body_parent"])))
    for shape, b in enumerate(arrays["shape_body"]):
        if b >= 0:
            reach[:, b] = np.maximum(reach[:, b], far[:, shape])
    return {
        "run_start": np.array([*starts, len(a)], np.int32),
        "run_body": np.array(bodies, np.int32),
        "body_reach": reach,
        "shape_half": arrays["shape_half"] + SLACK * radius[..., None],
    }
