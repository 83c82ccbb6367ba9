"""From a resolved Scene to a Model: moving bodies, trees, degrees of freedom, shapes and the pairs that are tested."""

from dataclasses import dataclass

import numpy as np

from sapsim.kinds.base import bound_of, code, registry
from sapsim.model.constraints import ConstraintTable, place_constraints
from sapsim.model.grid import bucket_count, place_in_grid
from sapsim.model.hulls import place_hulls
from sapsim.model.inputs import Channels, force_channels
from sapsim.model.link_tree import link_tree
from sapsim.model.material_pairs import MaterialPair, find_material_pairs
from sapsim.model.pair_runs import find_runs
from sapsim.model.pairs import PairTable, find_pairs
from sapsim.model.paths import most_blocks
from sapsim.model.surfaces import place_surfaces
from sapsim.model.ties import most_entries
from sapsim.model.trees import BLOCK, block_tree, factors, levels, starts_branch, subtree_ends
from sapsim.scene.bodies import LinkGroup, group_links
from sapsim.scene.locking import hold_locked
from sapsim.scene.poses import compose, matrix
from sapsim.scene.spec import WORLD, Pose, Scene, Shape

BINS = 256  # of a histogram of stiffnesses (step/softened.py)


@dataclass
class Model:
    """What a scene is on the host: values of every topology and model array (fields.py), and names in file order.

    `arrays` holds topology arrays (n,) and model arrays (1, n, ...).  External order is that of `scene.joints`.
    """

    arrays: dict[str, np.ndarray]
    sizes: dict[str, int]
    q0: np.ndarray  # (nq,) external
    qd0: np.ndarray  # (nv,) external
    link_names: list[str]
    joint_names: list[str]
    joint_q_start: list[int]  # per joint, and one past the end
    joint_qd_start: list[int]
    coordinate_names: list[str]
    coordinate_units: list[str]
    dof_names: list[str]
    dof_units: list[str]
    shape_names: list[str]
    shape_link: np.ndarray  # (nshape,) link index, -1 = world
    pairs: PairTable
    slots: int  # most Jacobian blocks of a contact or an item of a tie
    constraints: ConstraintTable
    material_pairs: list[MaterialPair]
    body_last: np.ndarray  # (nbody,) last body of the subtree: a depth-first order makes it a range


def build(scene: Scene, factor: str = "auto") -> Model:
    """The model of a scene that `scene.read.load` accepted; `factor`: how mass matrices are factorised (model/trees.py)."""
    external_scene, scene = scene, hold_locked(scene)
    groups = group_links(scene)
    trees = _trees(groups)
    arrays = _body_arrays(scene, groups, trees)
    body_last = subtree_ends(arrays["body_parent"])
    blocks = block_tree(arrays["dof_body"], arrays["body_parent"], body_last)
    factor_arrays, factor_sizes = factors(factor, arrays["tree_block_start"], arrays["dof_body"], blocks)
    arrays |= levels(arrays["body_parent"]) | blocks | factor_arrays
    external = _external_order(external_scene, groups, arrays)
    shapes, shape_link = _shapes(scene, groups, arrays)
    _links(scene, groups, arrays)
    arrays |= link_tree(scene)
    channels = Channels()
    arrays |= place_forces(scene.forces, [link.name for link in scene.links], arrays, channels)
    joint_body = {group.joint: b for b, group in enumerate(groups[1:])}
    constraints = place_constraints(scene, external_scene, joint_body, _on_body(scene, arrays), arrays, channels)
    arrays |= channels.arrays()
    pairs = find_pairs(scene, groups, shapes, shape_link, arrays["shape_body"])
    arrays["pair_a"], arrays["pair_b"], arrays["pair_kind"] = pairs.a, pairs.b, pairs.kind
    arrays |= pairs.rules.arrays
    arrays |= find_runs(arrays)
    arrays |= place_in_grid(arrays, pairs)
    surfaces, material_pairs = find_material_pairs(shapes, pairs)
    arrays |= surfaces
    sizes = _sizes(arrays, external) | factor_sizes | _recorded_sizes(scene, material_pairs) | {"nconvexpair": pairs.convex}
    sizes |= {"nconstraint": len(constraints.names)}
    return Model(
        arrays=arrays,
        sizes=sizes,
        link_names=[link.name for link in scene.links],
        joint_names=[joint.name for joint in scene.joints],
        shape_names=[shape.name for shape in shapes],
        shape_link=shape_link,
        pairs=pairs,
        slots=max(most_blocks(arrays, pairs), most_entries(arrays)),
        constraints=constraints,
        material_pairs=material_pairs,
        body_last=body_last,
        **external,
    )


def _trees(groups: list[LinkGroup]) -> list[list[int]]:
    """Bodies (groups but the world's, numbered from 0) of every tree."""
    trees: list[list[int]] = []
    for b, group in enumerate(groups[1:]):
        if group.parent == 0:
            trees.append([])
        trees[-1].append(b)
    return trees


def _body_arrays(scene: Scene, groups: list[LinkGroup], trees: list[list[int]]) -> dict[str, np.ndarray]:
    bodies = groups[1:]
    nbody = len(bodies)
    kinds = [registry("joints")[scene.joints[g.joint].kind] for g in bodies]
    nv = np.array([k.nv for k in kinds], np.int32)
    parent = np.array([g.parent - 1 for g in bodies], np.int32)
    starts = starts_branch(parent, subtree_ends(parent), nv)
    body_tree = np.zeros(nbody, np.int32)
    body_dof = np.zeros(nbody, np.int32)
    block_start, dof_body = [0], []
    for t, members in enumerate(trees):
        for b in members:
            body_tree[b] = t
            if starts[b]:
                dof_body.extend([-1] * (-len(dof_body) % BLOCK))
            body_dof[b] = len(dof_body)
            dof_body.extend([b] * nv[b])
        dof_body.extend([-1] * (-len(dof_body) % BLOCK))
        block_start.append(len(dof_body) // BLOCK)
    joints = [scene.joints[g.joint] for g in bodies]
    ndof = len(dof_body)
    per_dof = {name: np.zeros(ndof) for name in ("armature", "damping", "stiffness", "reference")}
    for b, joint in enumerate(joints):
        for name, values in per_dof.items():
            values[body_dof[b] : body_dof[b] + nv[b]] = getattr(joint, name)
    path_start, path, mask = _paths(parent, body_dof, nv)
    gravity = [scene.gravity if scene.links[bodies[m[0]].root].gravity else (0.0, 0.0, 0.0) for m in trees]
    q_start = np.concatenate([[0], np.cumsum([k.nq for k in kinds])]).astype(np.int32)
    return {
        "tree_body_start": np.cumsum([0] + [len(m) for m in trees]),
        "tree_block_start": np.array(block_start),
        "body_parent": parent,
        "body_joint": np.array([code("joints", k.name) for k in kinds], np.int32),
        "body_q_start": q_start[:-1],
        "body_dof_start": body_dof,
        "body_nv": nv,
        "body_link": np.array([g.root for g in bodies], np.int32),
        "body_tree": body_tree,
        "body_path_start": path_start,
        "body_path": path,
        "body_path_mask": mask,
        "dof_body": np.array(dof_body, np.int32),
        "body_mass": _rows([g.mass for g in bodies]),
        "body_com": _rows([g.com for g in bodies], (3,)),
        "body_inertia": _rows([g.inertia for g in bodies], (3, 3)),
        "body_p_PF": _rows([g.X_PF.p for g in bodies], (3,)),
        "body_Q_PF": _rows([g.X_PF.q for g in bodies], (4,)),
        "body_axis": _rows([j.axis for j in joints], (3,)),
        "body_axis2": _rows([k.second_axis(j) for k, j in zip(kinds, joints, strict=True)], (3,)),
        **{f"dof_{name}": _rows(values) for name, values in per_dof.items()},
        "tree_gravity": _rows(gravity, (3,)),
    }


def _rows(values, shape: tuple[int, ...] = ()) -> np.ndarray:
    """A model array (1, n, *shape)."""
    return np.asarray(values, float).reshape((1, -1, *shape))


def _paths(parent: np.ndarray, body_dof: np.ndarray, nv: np.ndarray):
    """Per body the blocks that hold degrees of freedom of its ancestors or itself, and which of the three they are."""
    start, blocks, masks = [0], [], []
    for b in range(len(parent)):
        mask: dict[int, int] = {}
        a = b
        while a >= 0:
            for k in range(body_dof[a], body_dof[a] + nv[a]):
                mask[k // BLOCK] = mask.get(k // BLOCK, 0) | 1 << (k % BLOCK)
            a = parent[a]
        for block in sorted(mask):
            blocks.append(block)
            masks.append(mask[block])
        start.append(len(blocks))
    return np.array(start), np.array(blocks), np.array(masks)


def _external_order(scene: Scene, groups: list[LinkGroup], arrays: dict[str, np.ndarray]) -> dict:
    """Names, units and initial values in the order of files, and the maps from there to the internal order.

    Coordinates of locked joints stand behind all others in the internal order; their velocities have no place there.
    """
    body_of_joint = {g.joint: b for b, g in enumerate(groups[1:])}
    out: dict = {key: [] for key in ("coordinate_names", "coordinate_units", "dof_names", "dof_units")}
    q_start, qd_start, q0, qd0 = [0], [0], [], []
    coordinate_from, dof_from, dof_entry, dof_to_body = [], [], [], []
    behind = sum(registry("joints")[scene.joints[g.joint].kind].nq for g in groups[1:])
    for j, joint in enumerate(scene.joints):
        kind = registry("joints")[joint.kind]
        if kind.moves:
            b = body_of_joint.get(j, -1)
            q0.extend(joint.q0 or kind.neutral)
            qd0.extend(joint.qd0 or (0.0,) * kind.nv)
            first = int(arrays["body_q_start"][b]) if b >= 0 else behind
            behind += kind.nq if b < 0 else 0
            coordinate_from.extend(first + i for i in range(kind.nq))
            dof_from.extend([int(arrays["body_dof_start"][b]) if b >= 0 else 0] * kind.nv)
            dof_entry.extend(range(kind.nv))
            dof_to_body.extend([b] * kind.nv)
            out["coordinate_names"].extend(_entry(joint.name, name) for name in kind.q_names)
            out["coordinate_units"].extend(kind.q_units)
            out["dof_names"].extend(_entry(joint.name, name) for name in kind.v_names)
            out["dof_units"].extend(kind.v_units)
        q_start.append(len(q0))
        qd_start.append(len(qd0))
    arrays["coordinate_from"] = np.array(coordinate_from)
    arrays["dof_from"], arrays["dof_entry"] = np.array(dof_from), np.array(dof_entry)
    arrays["dof_to_body"] = np.array(dof_to_body)
    joints = [g.joint for g in groups[1:]]
    arrays["body_q_from"] = np.array([q_start[j] for j in joints], np.int32)
    arrays["body_qd_from"] = np.array([qd_start[j] for j in joints], np.int32)
    return out | {
        "q0": np.array(q0, float),
        "qd0": np.array(qd0, float),
        "joint_q_start": q_start,
        "joint_qd_start": qd_start,
    }


def _entry(joint: str, name: str) -> str:
    return f"{joint}:{name}" if name else joint


def _bound(shape: Shape, kind, size):
    """The bound of a shape; a hull and a surface know their own box."""
    own = shape.hull or shape.surface
    return bound_of(kind, size) if own is None else (*own.box, (0.0, 0.0, 0.0))


def _shapes(scene: Scene, groups: list[LinkGroup], arrays: dict[str, np.ndarray]):
    """Shapes in the order of files (the world's, then the links'), placed on their bodies."""
    place = {}  # link index -> (body, X_BL)
    for g, group in enumerate(groups):
        for link, X_BL in group.members:
            place[link] = (g - 1, X_BL)
    shapes: list[Shape] = list(scene.world_shapes)
    poses = [s.X_LG for s in scene.world_shapes]
    link_of, body_of = [-1] * len(shapes), [-1] * len(shapes)
    for i, link in enumerate(scene.links):
        body, X_BL = place[i]
        for shape in link.shapes:
            shapes.append(shape)
            poses.append(compose(X_BL, shape.X_LG))
            link_of.append(i)
            body_of.append(body)
    kinds = [registry("shapes")[s.kind] for s in shapes]
    hulls, params = place_hulls(shapes)
    surfaces, arrays["shape_mesh"] = place_surfaces(shapes)
    params = [p if s.surface is None else (0.0, s.surface.radius, 0.0) for s, p in zip(shapes, params, strict=True)]
    arrays |= hulls | surfaces
    sizes = [k.size(p) for k, p in zip(kinds, params, strict=True)]
    arrays["shape_kind"] = np.array([code("shapes", s.kind) for s in shapes], np.int32)
    arrays["shape_body"], arrays["shape_link"] = np.array(body_of, np.int32), np.array(link_of, np.int32)
    arrays["shape_size"] = _rows(sizes, (3,))
    arrays["shape_p_BG"] = _rows([X.p for X in poses], (3,))
    arrays["shape_R_BG"] = _rows([matrix(X.q) for X in poses], (3, 3))
    arrays["shape_radius"] = _rows([k.radius(size) for k, size in zip(kinds, sizes, strict=True)])
    bounds = _rows([_bound(s, k, size) for s, k, size in zip(shapes, kinds, sizes, strict=True)], (3, 3))
    arrays["shape_low"], arrays["shape_high"], arrays["shape_round"] = (bounds[:, :, k] for k in range(3))
    arrays["shape_material"] = _rows(
        [
            (m.stiffness, m.dissipation, m.relaxation_time, m.friction)
            for m in (s.material for s in shapes)
        ],
        (4,),
    )  # fmt: skip
    return shapes, np.array(link_of, np.int32)


def _links(scene: Scene, groups: list[LinkGroup], arrays: dict[str, np.ndarray]) -> None:
    body, p, q = [-1] * len(scene.links), [None] * len(scene.links), [None] * len(scene.links)
    for g, group in enumerate(groups):
        for link, X_BL in group.members:
            body[link], p[link], q[link] = g - 1, X_BL.p, X_BL.q
    arrays["link_body"] = np.array(body, np.int32)
    arrays["link_p_BL"], arrays["link_Q_BL"] = _rows(p, (3,)), _rows(q, (4,))
    arrays["link_com"] = _rows([k.inertial.com if k.inertial.mass > 0.0 else (0.0,) * 3 for k in scene.links], (3,))


def _on_body(scene: Scene, arrays: dict[str, np.ndarray]):
    """(link or world, p_LP, Q_LP) -> (its moving body, -1 where it is fixed in the world; p and Q of the frame on that)."""
    index = {link.name: i for i, link in enumerate(scene.links)}

    def on_body(link: str, p, q) -> tuple[int, tuple, tuple]:
        if link == WORLD:
            return -1, p, q
        i = index[link]
        X_BP = compose(Pose(tuple(arrays["link_p_BL"][0, i]), tuple(arrays["link_Q_BL"][0, i])), Pose(p, q))
        return int(arrays["link_body"][i]), X_BP.p, X_BP.q

    return on_body


def place_forces(
    forces, link_names: list[str], arrays: dict[str, np.ndarray], channels: Channels | None = None
) -> dict[str, np.ndarray]:
    """Applied forces on their bodies, sorted by body; those on links that are fixed in the world move nothing and come last.

    `forces` have the fields of scene.spec.Force; force and torque may also be (W, 3), one to a world.  `arrays` holds
    link_body, link_p_BL, link_Q_BL and body_parent.  Force or torque may be a scene.spec.Series, which goes to `channels`.
    """
    index = {name: i for i, name in enumerate(link_names)}
    nbody = len(arrays["body_parent"])
    rows = [(int(arrays["link_body"][index[f.link]]), f) for f in forces]
    rows = sorted(((b if b >= 0 else nbody, f) for b, f in rows), key=lambda r: r[0])
    p_BP, F, frame, inputs = [], [], [], []
    for _, f in rows:
        i = index[f.link]
        R_BL = matrix(arrays["link_Q_BL"][0, i])
        p_BP.append(arrays["link_p_BL"][0, i] + R_BL @ f.point)
        local = f.frame == "link"
        frame.append(int(local))
        changing = [hasattr(x, "times") for x in (f.torque, f.force)]
        inputs.append(force_channels(f.torque, f.force, R_BL if local else np.eye(3), channels) if any(changing) else -1)
        parts = [np.zeros((1, 3)) if hasattr(x, "times") else np.atleast_2d(np.asarray(x, float)) for x in (f.torque, f.force)]
        F.append(np.concatenate(np.broadcast_arrays(*(x @ R_BL.T if local else x for x in parts)), axis=1))
    return {
        "body_force_start": np.searchsorted([r[0] for r in rows], np.arange(nbody + 1)).astype(np.int32),
        "force_link": np.array([index[f.link] for _, f in rows], np.int32),
        "force_frame": np.array(frame, np.int32),
        "force_input": np.array(inputs, np.int32),
        "force_p_BP": _rows(p_BP, (3,)),
        "force_F": np.stack(np.broadcast_arrays(*F), axis=1) if F else _rows([], (6,)),
        "force_from": _rows([f.start for _, f in rows]),
        "force_until": _rows([f.until for _, f in rows]),
    }


def _sizes(arrays: dict[str, np.ndarray], external: dict) -> dict[str, int]:
    return {
        "nbody": len(arrays["body_parent"]),
        "ntree": len(arrays["tree_body_start"]) - 1,
        "nblock": int(arrays["tree_block_start"][-1]),
        "nA": len(arrays["A_mask"]),
        "nlevel": len(arrays["level_start"]) - 1,
        "nchild": len(arrays["child_body"]),
        "ndof": len(arrays["dof_body"]),
        "npath": len(arrays["body_path"]),
        "nforce": len(arrays["force_frame"]),
        "ninput": len(arrays["input_hold"]),
        "ninputpoint": arrays["input_time"].shape[1],
        "nrowinput": len(arrays["constraint_input"]),
        "neffort": len(arrays["effort_input"]),
        "nshape": len(arrays["shape_body"]),
        "npair": len(arrays["pair_a"]),
        "nlevelled": len(arrays["shape_level"]),
        "ngrid": len(arrays["grid_shape"]),
        "nlarge": len(arrays["large_shape"]),
        "ngridlevel": arrays["level_reach"].shape[1],
        "nbucket": bucket_count(len(arrays["grid_shape"])),
        "nexcluded": len(arrays["excluded_link"]),
        "nshapekind": len(registry("shapes")),
        "nshapekind2": len(arrays["kind_pair"]),
        "nsurface": int(arrays["shape_surface"].max(initial=-1)) + 1,
        "nsurface2": len(arrays["surface_pair"]),
        "nrun": len(arrays["run_body"]),
        "nhull": len(arrays["hull_vertex_start"]) - 1,
        "nhullvertex": arrays["hull_vertex"].shape[1],
        "nhullface": arrays["hull_normal"].shape[1],
        "nhullcorner": len(arrays["hull_corner"]),
        "nhullcell": len(arrays["hull_candidate_start"]) - 1,
        "nhullcandidate": len(arrays["hull_candidate"]),
        "nhullvertexface": len(arrays["hull_vertex_face"]),
        "nmesh": len(arrays["surface_node"]) - 1,
        "nnode": len(arrays["node_tri"]),
        "ntri": len(arrays["tri_bits"]),
        "ntri3": len(arrays["tri_corner"]),
        "ntrivertex": arrays["tri_vertex"].shape[1],
        "nring": len(arrays["ring"]),
        "nlink": len(arrays["link_body"]),
        "njoint": len(arrays["joint_link"]),
        "nroot": len(arrays["root_link_start"]) - 1,
        "nscalar": len(arrays["constraint_kind"]),
        "ntie": len(arrays["tie_kind"]),
        "nitem": len(arrays["item_row"]) - 1,
        "nterm": len(arrays["term_dof"]),
        "ngroup": len(arrays["group_start"]) - 1,
        "nq": len(external["q0"]),
        "nv": len(external["qd0"]),
    }


def _recorded_sizes(scene: Scene, material_pairs: list[MaterialPair]) -> dict[str, int]:
    """Sizes that are zero where the scene does not ask for what they count."""
    softens = registry("contacts")[scene.contact.law].softens
    return {
        "nreaction": len(scene.links) if "reactions" in scene.output.channels else 0,
        "nmaterial_pair": len(material_pairs),
        "nsoftened": BINS * len(material_pairs) if softens else 0,
    }
