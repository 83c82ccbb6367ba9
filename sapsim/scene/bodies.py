"""Moving bodies: the links that fixed joints hold together, as one rigid body with one moving joint.

The groups carry what a model builder needs of them: members with their placements, composite mass properties, the
joint that moves the group and where it sits on the parent group.  NumPy only.
"""

from dataclasses import dataclass
from typing import Protocol

from sapsim.kinds.base import registry
from sapsim.scene.inertials import MassSum
from sapsim.scene.locking import hold_locked
from sapsim.scene.poses import compose
from sapsim.scene.spec import WORLD, Inertial, Joint, Link, Mat33, Pose, Vec3

WORLD_INDEX = -1


class Tree(Protocol):
    """What is needed of a Scene."""

    links: tuple[Link, ...]
    joints: tuple[Joint, ...]


@dataclass(frozen=True)
class LinkGroup:
    """One rigid body.  B is the frame of its root link; of the world group, the world's frame.

    Fields:
        root: index of the root link in `scene.links`, the child of the moving joint; -1 in the world group.
        joint: index of the moving joint in `scene.joints`; -1 in the world group.
        parent: index of the group on which the joint sits; -1 in the world group.
        X_PF: the joint's frame F in the frame of the parent group.
        members: (link index, X_BL) of every link, the root first.
        mass [kg], com [m, in B], inertia [kg m^2, about the com, axes of B]: of all members together.
        round_off: moments below this are round-off of the sums [kg m^2].
    """

    root: int
    joint: int
    parent: int
    X_PF: Pose
    members: tuple[tuple[int, Pose], ...]
    mass: float
    com: Vec3
    inertia: Mat33
    round_off: float = 0.0

    @property
    def inertial(self) -> Inertial:
        """Mass properties in the root link's frame."""
        return Inertial(self.mass, self.com, self.inertia)


def group_links(scene: Tree) -> list[LinkGroup]:
    """The bodies of a scene: the world group first, then every moving body after its parent, trees one after another.

    Locked joints count as fixed.  Expects sound trees, as `scene.read.load` delivers them.  Links that no joint reaches are
    in no group.
    """
    scene = hold_locked(scene)
    index = {link.name: i for i, link in enumerate(scene.links)}
    leaving: dict[str, list[int]] = {}  # joints by the name of their parent link
    for j, joint in enumerate(scene.joints):
        leaving.setdefault(joint.parent, []).append(j)
    groups: list[LinkGroup] = []
    # (joint, parent group, X_PF); a stack, in reverse of the file's order, makes the order depth first
    todo: list[tuple[int, int, Pose]] = [(WORLD_INDEX, WORLD_INDEX, Pose())]
    while todo:
        j, parent, X_PF = todo.pop()
        root = scene.joints[j].child if j >= 0 else WORLD
        members, moving = _rigid(scene, root, leaving, index)
        groups.append(_group(scene, j, parent, X_PF, index.get(root, WORLD_INDEX), members))
        here = len(groups) - 1
        todo.extend((k, here, X_BF) for k, X_BF in reversed(moving))
    return groups


def _rigid(scene: Tree, root: str, leaving: dict[str, list[int]], index: dict[str, int]):
    """The links that move with `root`: (link index, X_BL); and the moving joints that leave them: (joint, X_BF)."""
    kinds = registry("joints")
    members = [] if root == WORLD else [(index[root], Pose())]
    moving = []
    todo = [(root, Pose())]
    while todo:
        name, X_BL = todo.pop(0)
        for j in leaving.get(name, ()):
            joint = scene.joints[j]
            X_BF = compose(X_BL, joint.X_PF)
            if kinds[joint.kind].moves:
                moving.append((j, X_BF))
                continue
            # a joint that does not move has F = M, and M is the child's own frame
            members.append((index[joint.child], X_BF))
            todo.append((joint.child, X_BF))
    return members, sorted(moving, key=lambda m: m[0])


def _group(scene: Tree, joint: int, parent: int, X_PF: Pose, root: int, members: list[tuple[int, Pose]]) -> LinkGroup:
    parts = [(scene.links[i].inertial, X_BL) for i, X_BL in members]
    if len(parts) == 1 and parts[0][1] == Pose():
        own, round_off = parts[0][0], 0.0  # exactly as the file says
    else:
        total = MassSum.of(parts)
        own, round_off = total.inertial(), total.round_off
    return LinkGroup(root, joint, parent, X_PF, tuple(members), own.mass, own.com, own.inertia, round_off)
