"""Random mechanisms of every registered joint, as resolved scenes."""

import numpy as np

from sapsim.kinds.base import registry
from sapsim.scene.spec import WORLD, Inertial, Joint, Link, Pose, Scene

GRAVITY = (0.3, -0.2, -9.7)
KINDS = [name for name, kind in registry("joints").items() if kind.moves and not kind.needs_world]


def random_pose(rng) -> Pose:
    q = rng.normal(size=4)
    return Pose(tuple(rng.uniform(-0.5, 0.5, 3)), tuple(q / np.linalg.norm(q)))


def random_inertial(rng) -> Inertial:
    """A solid ellipsoid of any orientation, its centre off the link's origin."""
    semi = rng.uniform(0.05, 0.3, 3) ** 2
    mass = rng.uniform(0.3, 3.0)
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    inertia = R @ np.diag(mass / 5.0 * (semi.sum() - semi)) @ R.T
    return Inertial(mass, tuple(rng.uniform(-0.2, 0.2, 3)), tuple(map(tuple, 0.5 * (inertia + inertia.T))))


def random_tree(seed: int, root: str, nlink: int = 14, gravity=GRAVITY) -> Scene:
    """A tree whose root link stands on a joint of kind `root`, and that holds every other kind of joint.

    Every fifth link is fixed to its parent.  Joints are not in the order of the links.
    """
    rng = np.random.default_rng(seed)
    links, joints = [], []
    for i in range(nlink):
        kind = root if i == 0 else "fixed" if i % 5 == 4 else KINDS[(i + seed) % len(KINDS)]
        moves = registry("joints")[kind].moves
        axis, axis2 = rng.normal(size=(2, 3))
        if i % 2:  # axes at right angles, to the last digit
            axis, axis2 = rng.permutation(np.eye(3))[:2] * rng.choice([-1.0, 1.0], (2, 1))
        links.append(Link(f"link{i}", "robot", random_inertial(rng)))
        joints.append(
            Joint(
                f"joint{i}",
                kind,
                WORLD if i == 0 else f"link{rng.integers(max(0, i - 3), i)}",
                f"link{i}",
                X_PF=random_pose(rng),
                axis=tuple(axis / np.linalg.norm(axis)),
                axis2=tuple(axis2 / np.linalg.norm(axis2)),
                pitch=float(rng.normal(scale=0.3)),
                damping=0.3,  # no part of the functions of dynamics
                armature=float(rng.uniform(0.0, 0.2)) if moves and i else 0.0,
            )
        )
    joints = [joints[i] for i in rng.permutation(nlink)]
    return Scene(f"tree{seed}", "", 1.0e-3, 1, gravity=gravity, links=tuple(links), joints=tuple(joints))
