"""Bodies of the short form, and the grids that `repeat` makes of them (contract 1, 1.2)."""

import hashlib
import itertools
import math

from sapsim.scene.grammar import Section
from sapsim.scene.inertials import body_inertial
from sapsim.scene.instances import Placed, base_joint, name_shapes
from sapsim.scene.materials import Materials, read_shape
from sapsim.scene.names import Names
from sapsim.scene.poses import as_vec3, normalised, quat_from_rpy, quat_multiply, read_pose
from sapsim.scene.report import Report
from sapsim.scene.spec import Link, Pose, Shape

MAX_BODIES = 100_000


def uniform(seed: int, *key: object) -> float:
    """A number in [-1, 1) that depends on nothing but the seed and the key, on any machine and version.

    The first 53 bits of SHA-256 over `seed/key/...`: so a body's jitter does not change with the number of the others.
    """
    digest = hashlib.sha256("/".join(str(k) for k in (seed, *key)).encode()).digest()
    return 2.0 * (int.from_bytes(digest[:8], "big") >> 11) * 2.0**-53 - 1.0


def place_body(name: str, section: Section, materials: Materials, names: Names, report: Report) -> Placed:
    """The floating link (or links, with `repeat`) of an entry of `bodies`."""
    X_WB = read_pose(section.get("pose"), report)
    shape = read_shape(section, "", Pose(), materials, report)
    inertial = body_inertial(section, shape, report)
    if section.broken("repeat"):
        names.open_groups.add(name)
        return Placed()
    placed = Placed()
    for full, X_WBk in _copies(name, section.get("repeat"), X_WB, report):
        where = section.where()
        other = f"{name}/{name}" if full == name else ""
        names.add_link(name, full, where, other)
        if full != name:
            names.groups.setdefault(full, []).append(full)
        names.joints[f"{full}/base"] = where
        shapes: tuple[Shape, ...] = name_shapes((shape,), full) if shape is not None else ()
        mass_where = section.where("mass" if section.given("mass") else "density")
        placed.links.append(Link(full, full, inertial, shapes, where=where, inertial_where=mass_where))
        placed.joints.append(base_joint(full, full, "floating", X_WBk, section.get("velocity"), where))
    return placed


def _copies(name: str, repeat: Section | None, X_WB: Pose, report: Report) -> list[tuple[str, Pose]]:
    """Names and poses: (0, 0, 0) stands at X_WB, spacing along world axes, k fastest."""
    if repeat is None:
        return [(name, X_WB)]
    if not {"count", "spacing"} <= set(repeat) or repeat.broken("jitter"):
        return []
    count, spacing = repeat["count"], repeat["spacing"]
    if math.prod(count) > MAX_BODIES:
        text = f"{list(count)} makes {math.prod(count)} bodies; at most {MAX_BODIES} are allowed"
        report.error(repeat.where("count"), "too-large", text)
        return []
    copies = []
    for ijk in itertools.product(*(range(n) for n in count)):
        p = as_vec3([X_WB.p[a] + ijk[a] * spacing[a] for a in range(3)])
        full = "/".join([name, *(str(i) for i in ijk)])
        copies.append((full, _jittered(Pose(p, X_WB.q), repeat.get("jitter"), full)))
    return copies


def _jittered(X_WB: Pose, jitter: Section | None, full: str) -> Pose:
    """The pose moved by a draw in +- `xyz`, and turned about the world's axes at its origin by a draw in +- `rpy`."""
    if jitter is None:
        return X_WB
    seed = jitter.get("seed", 0)
    zero = (0.0, 0.0, 0.0)
    xyz = jitter.get("xyz", zero)
    rpy = jitter.get("rpy", tuple(math.radians(a) for a in jitter.get("rpy_deg", zero)))
    p = as_vec3([X_WB.p[a] + xyz[a] * uniform(seed, full, "xyz", a) for a in range(3)])
    turn = quat_from_rpy(as_vec3([rpy[a] * uniform(seed, full, "rpy", a) for a in range(3)]))
    return Pose(p, normalised(quat_multiply(turn, X_WB.q)) if any(rpy) else X_WB.q)
