"""Fixed joint: the child is part of the parent's body.  Fixed joints are merged when a scene is read; no kernel sees them."""

import numpy as np

from sapsim.kinds.base import JointKind

KIND = JointKind(
    name="fixed",
    nq=0,
    nv=0,
    uses_axis=False,
    q_names=(),
    q_units=(),
    v_names=(),
    v_units=(),
    neutral=(),
    X_FM=lambda axis, axis2, q: ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)),
    S_F=lambda axis, axis2, q: np.zeros((6, 0)),
    make=lambda R: None,
    moves=False,
)
