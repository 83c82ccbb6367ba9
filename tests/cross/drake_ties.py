"""Couplers, distances, balls and welds of the cross scene (drake_scene.py), in both engines, from the same numbers.

They are given by places in the world at t = 0, so that they start almost closed; `ends` turns these into link coordinates.
Drake takes no constraint on the world: there, a body that is welded to it stands for it (sap_formulas 3.5).
"""

import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix

from sapsim.reference.spatial import quaternion_to_rotation
from sapsim.reference.step import Twin
from sapsim.scene.read import loads

ANCHOR = "anchor"
# Of two trees, of one; ratio, offset.  At t = 0: slide 0.0, neck 0.1, shoulder 0.3, wrist 0.4.
COUPLERS = {
    "gear": ("arm/slide", "snake/neck", -0.3, 0.031),
    "belt": ("arm/wrist", "arm/shoulder", 1.5, -0.049),
}
# Links, places in world, length less that at t = 0, stiffness, damping.
DISTANCES = {
    "rod": ("s6", "arm/tip", (0.0, -0.55, 3.0), (-0.7, 0.1, 0.0), 1e-4, np.inf, 0.0),
    "spring": ("s2", "snake/tail", (0.03, 0.02, 0.3), (0.9, -0.9, 0.1), -0.05, 200.0, 3.0),
    "stiff": ("s1", "s4", (0.0, 0.0, 0.15), (0.5, 0.4, 0.05), -1e-5, 1e9, 0.5),  # near-rigid
    "tether": ("s5", "world", (-0.4, 0.5, 0.1), (-0.3, 0.3, 1.0), 0.0, np.inf, 0.0),
    "inside": ("arm/upper", "arm/tip", (-0.8, 0.1, 0.3), (-0.6, 0.1, 0.0), 0.002, 500.0, 1.0),
}
# Links, place in world, displacement of b's point.
BALLS = {
    "socket": ("snake/tail", "s6", (0.6, -0.9, 1.0), (1e-4, -2e-4, 1e-4)),
    "hook": ("world", "s4", (0.5, 0.35, 0.1), (0.0, 1e-4, 0.0)),
    "loop": ("arm/upper", "s3", (-0.3, 0.1, 0.2), (0.0, 0.0, 1e-4)),
}
# Links, place in world, roll, pitch, yaw of both frames, displacement and further rotation of b's.
WELDS = {
    "glue": ("s2", "snake/head", (0.1, -0.4, 0.3), (0.3, 0.2, 0.1), (1e-4, 0.0, 0.0), (1e-3, -2e-3, 5e-4)),
    "mount": ("s5", "world", (-0.4, 0.5, 0.2), (0.0, 0.5, 0.0), (0.0, 1e-4, 0.0), (0.0, 1e-3, 0.0)),
    "grip": ("arm/tip", "s6", (-0.5, -0.3, 1.2), (0.0, 0.0, 1.0), (0.0, 0.0, 1e-4), (0.0, 0.0, 1e-3)),
}
KINDS = {"coupler": COUPLERS, "distance": DISTANCES, "ball": BALLS, "weld": WELDS}


class Ties:
    """The ties of some kinds over a scene without them."""

    def __init__(self, text: str, kinds: tuple[str, ...]):
        scene = loads(text, file="free.yaml")
        twin = Twin(scene)
        poses = twin.body_q(twin.initial()[0])
        self.pose = {
            link.name: (row[:3], quaternion_to_rotation(row[3:])) for link, row in zip(scene.links, poses, strict=True)
        }
        self.pose["world"] = np.zeros(3), np.eye(3)
        self.kinds = kinds

    def local(self, link: str, p_W) -> np.ndarray:
        p, R = self.pose[link]
        return R.T @ (np.array(p_W) - p)

    def ends(self, entry) -> tuple:
        """(link, point, rotation in the link) of a and b of a distance, ball or weld."""
        a, b, p = entry[:3]
        if len(entry) == 7:
            return (a, self.local(a, p), np.eye(3)), (b, self.local(b, entry[3]), np.eye(3))
        if len(entry) == 4:
            return (a, self.local(a, p), np.eye(3)), (b, self.local(b, np.add(p, entry[3])), np.eye(3))
        R_WP = RollPitchYaw(entry[3]).ToRotationMatrix().matrix()
        R_WQ = R_WP @ RollPitchYaw(entry[5]).ToRotationMatrix().matrix()
        rotations = (self.pose[a][1].T @ R_WP, self.pose[b][1].T @ R_WQ)
        return (a, self.local(a, p), rotations[0]), (b, self.local(b, np.add(p, entry[4])), rotations[1])

    def length(self, entry) -> float:
        return float(np.linalg.norm(np.subtract(entry[3], entry[2])) - entry[4])

    def text(self) -> str:
        """The section `constraints`."""
        lines = ["constraints:"]
        for kind in self.kinds:
            for name, entry in KINDS[kind].items():
                lines.append(f"  {name}: {{type: {kind}, {self.keys(kind, entry)}}}")
        return "\n".join(lines) + "\n"

    def keys(self, kind: str, entry) -> str:
        if kind == "coupler":
            return f"joints: [{entry[0]}, {entry[1]}], ratio: {entry[2]}, offset: {entry[3]}"
        keys = []
        for side, (link, p, R) in zip("ab", self.ends(entry), strict=True):
            rpy = f", rpy: {RollPitchYaw(RotationMatrix(R)).vector().tolist()}" if kind == "weld" else ""
            keys.append(f"{side}: {{link: {link}, point: {p.tolist()}{rpy}}}")
        if kind == "distance":
            keys.append(f"length: {self.length(entry)!r}, damping: {entry[6]}")
            keys += [f"stiffness: {entry[5]}"] * bool(np.isfinite(entry[5]))
        return ", ".join(keys)

    def add_to(self, plant) -> None:
        """The same in Drake."""

        def body(name: str):
            return plant.GetBodyByName(ANCHOR if name == "world" else name)

        for kind in self.kinds:
            for entry in KINDS[kind].values():
                if kind == "coupler":
                    plant.AddCouplerConstraint(*(plant.GetJointByName(j) for j in entry[:2]), *entry[2:])
                    continue
                (a, p_P, R_P), (b, p_Q, R_Q) = self.ends(entry)
                if kind == "distance":
                    plant.AddDistanceConstraint(body(a), p_P, body(b), p_Q, self.length(entry), entry[5], entry[6])
                elif kind == "ball":
                    plant.AddBallConstraint(body(a), p_P, body(b), p_Q)
                else:
                    X_P, X_Q = (RigidTransform(RotationMatrix(R), p) for R, p in ((R_P, p_P), (R_Q, p_Q)))
                    plant.AddWeldConstraint(body(a), X_P, body(b), X_Q)
