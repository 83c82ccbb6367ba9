"""Fixed joint: the child is part of the parent's body.  Fixed joints are merged when a scene is read; no kernel sees them."""

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
    make=lambda R: None,
    moves=False,
)
