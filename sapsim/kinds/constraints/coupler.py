"""Coupler of two joints of one degree of freedom, of one tree or two: g = q0 - ratio q1 - offset = 0 (sap_formulas 3.5).

Rigid.  The impulse gamma acts on the first joint, -ratio gamma on the second.
"""

from sapsim.kinds.base import ConstraintFuncs, ConstraintKind, Tie, registry
from sapsim.kinds.constraints._holonomic import UNITS, make_rigid


def ties(scene) -> list[Tie]:
    """One for each coupler, in the order of the scene."""
    index = {joint.name: j for j, joint in enumerate(scene.joints)}
    found = []
    for c in scene.constraints:
        if c.kind == KIND.name:
            first, second = (index[name] for name in c.joints)
            unit = UNITS[registry("joints")[scene.joints[first].kind].q_units[0]]
            terms = ((first, (1.0, 0.0, 0.0)), (second, (-c.ratio, 0.0, 0.0)))
            found.append(Tie((c.name,), (unit,), terms=terms, bias=(-c.offset, 0.0, 0.0)))
    return found


def make(R):
    return ConstraintFuncs(compliance=make_rigid(R))


def gaps(constraint, q, ends) -> list[tuple[float, str]]:
    first, second = constraint.joints
    gap = q[first] - constraint.ratio * q[second] - constraint.offset
    return [(abs(gap), f"q({first}) - {constraint.ratio:g} q({second}) - {constraint.offset:g} = {gap:.6g}")]


KIND = ConstraintKind(
    name="coupler",
    order=3,
    make=make,
    ties=ties,
    keys=("joints", "ratio", "offset"),
    required=("joints",),
    njoint=2,
    gaps=gaps,
)
