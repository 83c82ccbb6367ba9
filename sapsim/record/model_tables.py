"""The datasets of /model and /config: what was simulated, as the scene was resolved (contract 3).

They are constant, so a result file is enough to rebuild masses, inertias, joints, shapes and materials of the run.
"""

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .layout import Dataset
from .mesh_tables import mesh_tables

INERTIA = "model/inertia_entry"
PARAMETER = "model/shape_parameter"
WARNINGS = "warnings"
INERTIA_ENTRIES = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}

Table = tuple[Dataset, Any]


def _pose(X: Any) -> tuple[float, ...]:
    return (*X.p, *X.q)


def _array(rows: list, width: int) -> np.ndarray:
    """Rows of `width` numbers as an array that keeps its second axis when there are no rows."""
    return np.array(rows, np.float64).reshape(len(rows), width)


def body_tables(scene: Any) -> list[Table]:
    """Links: instance, parent link, mass, centre of mass, inertia."""
    row = {link.name: i for i, link in enumerate(scene.links)}
    parent = {joint.child: row.get(joint.parent, -1) for joint in scene.joints}
    inertials = [link.inertial for link in scene.links]
    inertia = [[i.inertia[a][b] for a, b in INERTIA_ENTRIES.values()] for i in inertials]

    def body(name: str, dtype: str, units: str, long_name: str, *axes: str, frame: str = "") -> Dataset:
        return Dataset(f"model/body_{name}", ("body", *axes), dtype, units, long_name, frame)

    return [
        (body("instance", "text", "1", "instance of the link"), [link.instance for link in scene.links]),
        (
            body("parent", "int32", "1", "parent link, index into body; -1 = world"),
            [parent.get(link.name, -1) for link in scene.links],
        ),
        (body("mass", "float64", "kg", "mass of the link"), [i.mass for i in inertials]),
        (body("com", "float64", "m", "centre of mass", "xyz", frame="link"), _array([i.com for i in inertials], 3)),
        (
            body("inertia", "float64", "kg m^2", "inertia about the centre of mass", INERTIA, frame="link axes"),
            _array(inertia, len(INERTIA_ENTRIES)),
        ),
    ]


def joint_tables(scene: Any, sim: Any) -> list[Table]:
    """Joints: type, links, placement, axes, where their coordinates lie, damping, friction, armature, spring."""
    row = {link.name: i for i, link in enumerate(scene.links)}
    joints = scene.joints

    def joint(name: str, dtype: str, units: str, long_name: str, *axes: str, frame: str = "") -> Dataset:
        return Dataset(f"model/joint_{name}", ("joint", *axes), dtype, units, long_name, frame)

    return [
        (joint("type", "text", "1", "type of the joint"), [j.kind for j in joints]),
        (joint("parent", "int32", "1", "parent link, index into body; -1 = world"), [row.get(j.parent, -1) for j in joints]),
        (joint("child", "int32", "1", "child link, index into body"), [row[j.child] for j in joints]),
        (
            joint("origin", "float64", "m m m 1 1 1 1", "pose of the joint frame", "pose", frame="parent link"),
            _array([_pose(j.X_PF) for j in joints], 7),
        ),
        (joint("axis", "float64", "1", "axis of the joint", "xyz", frame="joint"), _array([j.axis for j in joints], 3)),
        (
            joint("axis2", "float64", "1", "second axis of a universal joint, at zero", "xyz", frame="joint"),
            _array([j.axis2 for j in joints], 3),
        ),
        (joint("pitch", "float64", "m/rad", "advance of a screw joint"), [j.pitch for j in joints]),
        (
            joint("q_start", "int32", "1", "first entry of the joint along coordinate"),
            [_start(sim.joint_q_start, k, j.name) for k, j in enumerate(joints)],
        ),
        (
            joint("qd_start", "int32", "1", "first entry of the joint along dof"),
            [_start(sim.joint_qd_start, k, j.name) for k, j in enumerate(joints)],
        ),
        (joint("damping", "float64", "N s/m or N m s/rad", "viscous damping"), [j.damping for j in joints]),
        (joint("friction", "float64", "N or N m", "dry friction of each degree of freedom"), [j.friction for j in joints]),
        (joint("armature", "float64", "kg or kg m^2", "reflected inertia of the drive"), [j.armature for j in joints]),
        (joint("stiffness", "float64", "N/m or N m/rad", "stiffness of the spring"), [j.stiffness for j in joints]),
        (joint("reference", "float64", "m or rad", "coordinate at which the spring is at rest"), [j.reference for j in joints]),
        (joint("lower", "float64", "m or rad", "least coordinate"), [j.limit.lower for j in joints]),
        (joint("upper", "float64", "m or rad", "greatest coordinate"), [j.limit.upper for j in joints]),
        (joint("effort", "float64", "N or N m", "bound of the sum of the actuators"), [j.limit.effort for j in joints]),
        (joint("locked", "bool", "1", "whether the joint is held at its initial coordinates"), [j.locked for j in joints]),
    ]


def _start(starts: Any, k: int, name: str) -> int:
    """Entry of joint k in a simulation's table of first coordinates, kept by name or in order."""
    return int(starts[name] if isinstance(starts, dict) else starts[k])


def shape_tables(scene: Any, sim: Any) -> list[Table]:
    """Shapes: type, link, lengths, pose in the link, material, mesh."""
    shapes = [*scene.world_shapes, *(shape for link in scene.links for shape in link.shapes)]
    width = max((len(s.params) for s in shapes), default=0)
    # at least one column: netCDF reads an axis of length 0 as one that grows
    width = max(1, width)
    lengths = [(*s.params, *[0.0] * (width - len(s.params))) for s in shapes]

    def shape(name: str, dtype: str, units: str, long_name: str, *axes: str, frame: str = "") -> Dataset:
        return Dataset(f"model/shape_{name}", ("shape", *axes), dtype, units, long_name, frame)

    number = Dataset(PARAMETER, (PARAMETER,), "int32", "1", "place among the lengths of a shape")
    return [
        (number, np.arange(width)),
        (shape("type", "text", "1", "type of the shape"), [s.kind for s in shapes]),
        (shape("body", "int32", "1", "link of the shape, index into body; -1 = world"), np.asarray(sim.shape_body)),
        (
            shape("lengths", "float64", "m", "lengths of the shape as in the scene file, padded with 0", PARAMETER),
            _array(lengths, width),
        ),
        (
            shape("pose", "float64", "m m m 1 1 1 1", "pose of the shape", "pose", frame="link"),
            _array([_pose(s.X_LG) for s in shapes], 7),
        ),
        (shape("material", "text", "1", "name of the material"), [s.material_name for s in shapes]),
        (shape("stiffness", "float64", "N/m", "stiffness of the surface"), [s.material.stiffness for s in shapes]),
        (shape("dissipation", "float64", "s/m", "Hunt-Crossley dissipation"), [s.material.dissipation for s in shapes]),
        (shape("relaxation_time", "float64", "s", "relaxation time"), [s.material.relaxation_time for s in shapes]),
        (shape("friction", "float64", "1", "friction coefficient of the surface"), [s.material.friction for s in shapes]),
        *mesh_tables(shapes),
    ]


def model_tables(scene: Any, sim: Any) -> list[Table]:
    """All datasets of /model with their values, scales first."""
    entries = Dataset(INERTIA, (INERTIA,), "text", "1", "entry of an inertia matrix")
    return [
        (entries, list(INERTIA_ENTRIES)),
        *shape_tables(scene, sim),
        *body_tables(scene),
        *joint_tables(scene, sim),
    ]


def config_tables(scene: Any) -> list[Table]:
    """The texts of /config.  Files are named relative to the scene's folder, so that the text does not depend on where the
    command was run."""

    def text(name: str, long_name: str) -> Dataset:
        return Dataset(f"config/{name}", (), "text", "1", long_name)

    return [
        (text("scene_yaml", "the scene file as read"), scene.text),
        (text("resolved_yaml", "the scene with every name expanded and every default filled in"), scene.resolved),
        (text("overrides", "overrides given on the command line, one a line"), "\n".join(scene.overrides)),
        (text(WARNINGS, "warnings about the scene and the run, one a line"), warnings_text(scene)),
    ]


def warnings_text(scene: Any, of_run: Sequence[Any] = ()) -> str:
    """The text of /config/warnings: those of the scene, and those of a run that has ended."""
    folder = os.path.dirname(scene.file)
    lines = [str(w) for w in (*scene.warnings, *of_run)]
    return "\n".join(line.replace(f"{folder}{os.sep}", "") if folder else line for line in lines)


def digest(tables: list[Table]) -> str:
    """SHA-256 over names and values of datasets: equal for equal models, whatever file they came from."""
    sha = hashlib.sha256()
    for dataset, values in tables:
        sha.update(dataset.name.encode())
        text = dataset.dtype == "text"
        sha.update(repr(values).encode() if text else np.ascontiguousarray(values, np.dtype(dataset.dtype)).tobytes())
    return sha.hexdigest()
