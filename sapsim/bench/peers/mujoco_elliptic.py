"""MuJoCo with elliptic friction cones, as ours are; all else as mujoco.py."""

from sapsim.bench.peers import mujoco


class Engine(mujoco.Engine):
    """A scene in MuJoCo."""

    NAME = "mujoco_elliptic"
    CONE = "mjCONE_ELLIPTIC"
