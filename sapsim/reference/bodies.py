"""From a scene's links and joints to moving bodies, trees, degrees of freedom and the pairs of shapes to test.

A moving body is a group of links that fixed joints merge.  Its frame is that of the link which its moving joint
carries; mass, com and inertia are the group's.  Links joined rigidly to the world belong to the world (body -1).  A
tree is one body jointed to the world with all that hangs on it.  Trees are numbered by their first link in the scene,
bodies depth-first; degrees of freedom follow the bodies, while q and qd of files follow the scene's joints.
"""

from dataclasses import dataclass

import numpy as np

from sapsim.reference.spatial import Placement, placement, spatial_inertia

WORLD = "world"
ONE_DOF = {"revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1}
RATES = {**ONE_DOF, "cylindrical": 2, "universal": 2, "planar": 3}  # whose velocities are the rates of their coordinates
NQ = {**RATES, "ball": 4, "floating": 7, "fixed": 0}
NV = {**RATES, "ball": 3, "floating": 6, "fixed": 0}


@dataclass(frozen=True)
class Body:
    """A moving body B and its joint from F on the parent P; the joint's child frame M is B itself.

    Fields:
        joint, kind, axis: name, type and unit axis in F of the joint.
        axis2, pitch: a universal joint's second unit axis in F at zero; a screw's advance [m/rad].
        parent, tree: numbers of the parent body (-1: world) and of the tree.
        X_PF: the joint frame on the parent body.
        mass [kg], com [m] in B, inertia [kg m^2] about the com in axes B.
        weight: sum of m (1, com) over the links that feel gravity, (mass, mass * com).
        damping [N s/m or N m s/rad], armature [kg or kg m^2].
        stiffness [N/m or N m/rad], reference [m or rad]: of a spring on a joint of one coordinate.
        iq, nq: first coordinate and their number in the external q.  iv: first entry of the external qd.
        dof, nv: first degree of freedom and their number in the internal v.
    """

    joint: str
    kind: str
    axis: np.ndarray
    axis2: np.ndarray
    pitch: float
    parent: int
    tree: int
    X_PF: Placement
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    weight: tuple[float, np.ndarray]
    damping: float
    armature: float
    stiffness: float
    reference: float
    iq: int
    nq: int
    iv: int
    dof: int
    nv: int

    @property
    def dofs(self) -> slice:
        return slice(self.dof, self.dof + self.nv)

    @property
    def q(self) -> slice:
        """Its entries of the external q."""
        return slice(self.iq, self.iq + self.nq)

    @property
    def qd(self) -> slice:
        """Its entries of the external qd."""
        return slice(self.iv, self.iv + self.nv)


@dataclass(frozen=True)
class ShapeOnBody:
    """A collision shape: kind and lengths as in the scene, its link and body (-1: world), placement X_BG."""

    kind: str
    params: tuple[float, ...]
    link: int
    body: int
    X_BG: Placement
    material: object


@dataclass(frozen=True)
class System:
    """Everything of a scene that does not change with the state."""

    bodies: list[Body]
    nq: int
    nv: int
    ntree: int
    link_body: list[int]
    link_X_BL: list[Placement]
    shapes: list[ShapeOnBody]
    pairs: list[tuple[int, int]]

    @property
    def dof_tree(self) -> np.ndarray:
        """Tree of each degree of freedom, (nv,)."""
        return np.array([b.tree for b in self.bodies for _ in range(b.nv)], dtype=int)


def build_system(scene) -> System:
    """The System of a scene.spec.Scene."""
    roots = _roots(scene)
    carried = [joint for joint in scene.joints if joint.kind != "fixed"]  # one moving body each
    order = _depth_first(scene, carried, roots)
    number = {joint.child: i for i, joint in enumerate(order)}  # by the name of the body's root link
    number[WORLD] = -1

    bodies, dof, tree, ntree = [], 0, -1, 0
    starts = _external_starts(scene)
    for joint in order:
        root, X = _root(roots, joint.parent)
        parent = number[root]
        if parent < 0:
            tree, ntree = ntree, ntree + 1
        iq, iv = starts[joint.name]
        bodies.append(_body(scene, roots, joint, parent, tree, X @ placement(joint.X_PF), iq, iv, dof))
        dof += NV[joint.kind]

    link_root = [_root(roots, link.name) for link in scene.links]
    link_body = [number[root] for root, _ in link_root]
    link_X_BL = [X for _, X in link_root]
    shapes = [ShapeOnBody(s.kind, s.params, -1, -1, placement(s.X_LG), s.material) for s in scene.world_shapes]
    for i, link in enumerate(scene.links):
        for s in link.shapes:
            X_BG = link_X_BL[i] @ placement(s.X_LG)
            shapes.append(ShapeOnBody(s.kind, s.params, i, link_body[i], X_BG, s.material))
    nq = sum(NQ[j.kind] for j in scene.joints)
    pairs = _pairs(scene, bodies, link_body, shapes)
    return System(bodies, nq, dof, ntree, link_body, link_X_BL, shapes, pairs)


def _roots(scene) -> dict[str, tuple[str, Placement]]:
    """For each link: the link (or WORLD) whose frame is its group's, and X_root,link."""
    joint_of = {j.child: j for j in scene.joints}
    roots: dict[str, tuple[str, Placement]] = {}
    for link in scene.links:
        name, X = link.name, Placement()
        while name != WORLD and joint_of[name].kind == "fixed":
            X = placement(joint_of[name].X_PF) @ X
            name = joint_of[name].parent
        roots[link.name] = (name, X)
    return roots


def _root(roots: dict, name: str) -> tuple[str, Placement]:
    return (WORLD, Placement()) if name == WORLD else roots[name]


def _external_starts(scene) -> dict[str, tuple[int, int]]:
    """First entries of each joint in the external q and qd: the scene's joints in order."""
    starts, iq, iv = {}, 0, 0
    for joint in scene.joints:
        starts[joint.name] = (iq, iv)
        iq += NQ[joint.kind]
        iv += NV[joint.kind]
    return starts


def _depth_first(scene, carried: list, roots: dict) -> list:
    """The moving joints, tree by tree, depth-first; trees by their first link, children in the scene's order."""
    children: dict[str, list] = {}
    for joint in carried:
        children.setdefault(_root(roots, joint.parent)[0], []).append(joint)

    def walk(joint) -> list:
        return [joint] + [j for child in children.get(joint.child, []) for j in walk(child)]

    first_link = {link.name: i for i, link in reversed(list(enumerate(scene.links)))}
    trees = [walk(joint) for joint in children.get(WORLD, [])]

    def first(tree: list) -> int:
        members = {joint.child for joint in tree}
        return min(first_link[link.name] for link in scene.links if roots[link.name][0] in members)

    return [joint for tree in sorted(trees, key=first) for joint in tree]


def _body(scene, roots, joint, parent, tree, X_PF, iq, iv, dof) -> Body:
    """The body whose root link is the joint's child: inertias of its links summed by the parallel-axis rule."""
    inertia_o = np.zeros((6, 6))  # about Bo, axes B
    heavy, heavy_first = 0.0, np.zeros(3)
    for link in scene.links:
        root, X_BL = roots[link.name]
        if root != joint.child:
            continue
        m, c_B = link.inertial.mass, X_BL.point(link.inertial.com)
        inertia_o += spatial_inertia(m, c_B, X_BL.R @ np.array(link.inertial.inertia) @ X_BL.R.T)
        if link.gravity:
            heavy += m
            heavy_first = heavy_first + m * c_B
    mass = inertia_o[5, 5]
    first_moment = np.array([inertia_o[2, 4], inertia_o[0, 5], inertia_o[1, 3]])  # m c, from the block m [c]x
    com = first_moment / mass if mass > 0.0 else np.zeros(3)
    about_com = inertia_o[:3, :3] - spatial_inertia(mass, com, np.zeros((3, 3)))[:3, :3]
    axis, axis2 = (np.array(a, dtype=float) for a in (joint.axis, joint.axis2))
    return Body(
        joint=joint.name,
        kind=joint.kind,
        axis=axis / np.linalg.norm(axis),
        axis2=axis2 / np.linalg.norm(axis2),
        pitch=joint.pitch,
        parent=parent,
        tree=tree,
        X_PF=X_PF,
        mass=mass,
        com=com,
        inertia=about_com,
        weight=(heavy, heavy_first),
        damping=joint.damping,
        armature=joint.armature,
        stiffness=joint.stiffness,
        reference=joint.reference,
        iq=iq,
        nq=NQ[joint.kind],
        iv=iv,
        dof=dof,
        nv=NV[joint.kind],
    )


def _pairs(scene, bodies, link_body, shapes) -> list[tuple[int, int]]:
    """Pairs (a < b) of shapes that are tested (contract 1.4)."""
    jointed = _jointed(scene, bodies, link_body)
    bases = _jointed_bases(scene, bodies)
    filtered = {frozenset(pair) for pair in scene.filters}
    names = [WORLD if s.link < 0 else scene.links[s.link].name for s in shapes]
    found = []
    for a in range(len(shapes)):
        for b in range(a + 1, len(shapes)):
            body_a, body_b = shapes[a].body, shapes[b].body
            if body_a == body_b or frozenset((body_a, body_b)) in jointed:  # one body (or both the world), or a joint
                continue
            if (body_a, names[b]) in bases or (body_b, names[a]) in bases:  # a joint to a link that is fixed in the world
                continue
            if frozenset((names[a], names[b])) in filtered:
                continue
            link_a, link_b = (scene.links[s.link] if s.link >= 0 else None for s in (shapes[a], shapes[b]))
            if not all(link is None or link.collide for link in (link_a, link_b)):
                continue
            same_instance = link_a and link_b and link_a.instance == link_b.instance
            if same_instance and not (link_a.self_collision and link_b.self_collision):
                continue
            found.append((a, b))
    return found


def _jointed(scene, bodies, link_body) -> set[frozenset]:
    """Pairs of moving bodies that a joint connects, unless it says `collide: true`; the world is exempt.

    A body without mass and without shapes is part of the joint: its parent and its children count as connected.
    """
    collide = {joint.name: joint.collide for joint in scene.joints}
    with_shapes = {link_body[i] for i, link in enumerate(scene.links) if link.shapes}
    pairs = set()
    for child, body in enumerate(bodies):
        parent, collides = body.parent, collide[body.joint]
        while parent >= 0 and bodies[parent].mass == 0.0 and parent not in with_shapes:
            collides = collides or collide[bodies[parent].joint]
            parent = bodies[parent].parent
        if parent >= 0 and not collides:
            pairs.add(frozenset((child, parent)))
    return pairs


def _jointed_bases(scene, bodies) -> set[tuple[int, str]]:
    """(body, link) where a joint connects the body to links that are fixed in the world, unless it says `collide: true`.

    The world itself has no name here, so its own shapes stay tested.
    """
    joints = {joint.name: joint for joint in scene.joints}
    with_shapes = {link.name for link in scene.links if link.shapes}
    rigid = {link.name: {link.name} for link in scene.links}  # link -> links fixed to it, the world not counting
    for joint in scene.joints:
        if joint.kind == "fixed" and joint.parent != WORLD:
            together = rigid[joint.parent] | rigid[joint.child]
            for name in together:
                rigid[name] = together
    found = set()
    for i, body in enumerate(bodies):
        joint, collides, parent = joints[body.joint], joints[body.joint].collide, body.parent
        while parent >= 0 and bodies[parent].mass == 0.0:
            carrier = joints[bodies[parent].joint]
            if rigid[carrier.child] & with_shapes:
                break
            joint, collides, parent = carrier, collides or carrier.collide, bodies[parent].parent
        if parent < 0 and not collides and joint.parent != WORLD:
            found |= {(i, name) for name in rigid[joint.parent]}
    return found
