"""The tree of links, fixed joints and links that are fixed in the world included: what reaction forces are summed along."""

from typing import Any

import numpy as np


def link_tree(scene: Any) -> dict[str, np.ndarray]:
    """Topology and own mass properties of the links (fields.py).  Every link is the child of one joint."""
    index = {link.name: i for i, link in enumerate(scene.links)}
    children: dict[int, list[int]] = {}
    parent = np.full(len(index), -1, np.int32)
    for joint in scene.joints:
        parent[index[joint.child]] = index.get(joint.parent, -1)  # the world is no link
        children.setdefault(index.get(joint.parent, -1), []).append(index[joint.child])
    start, order = [0], []
    for root in children.get(-1, ()):
        todo = [root]
        while todo:
            order.append(todo.pop())
            todo.extend(children.get(order[-1], ()))
        start.append(len(order))
    own = [link.inertial for link in scene.links]
    gravity = [scene.gravity if link.gravity else (0.0, 0.0, 0.0) for link in scene.links]
    return {
        "link_parent": parent,
        "root_link_start": np.array(start, np.int32),
        "root_link": np.array(order, np.int32),
        "joint_link": np.array([index[joint.child] for joint in scene.joints], np.int32),
        "link_mass": np.array([i.mass for i in own], float).reshape(1, -1),
        "link_inertia": np.array([i.inertia for i in own], float).reshape(1, -1, 3, 3),
        "link_gravity": np.array(gravity, float).reshape(1, -1, 3),
    }
