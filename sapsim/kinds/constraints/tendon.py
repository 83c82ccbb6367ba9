"""Tendon over joints of one degree of freedom of at most two trees: lower <= l <= upper, l = sum coefficient q + offset
(sap_formulas 3.6).

    rows  g = l - lower,  upper - l,  with 0 <= gamma

A spring and damper that act beyond the bounds, rigid unless `stiffness` is given.  In the problem only in steps that start
beyond a bound, as in Drake; so it engages one step late.

Parameters: (stiffness, 0 = rigid; damping; number of rows).
"""

import math

from sapsim.kinds.base import ConstraintFuncs, ConstraintKind, Tie
from sapsim.kinds.constraints._holonomic import make_regularise, stiffness_parameter


def ties(scene) -> list[Tie]:
    """One for each, in the order of the scene; rows lower, upper, those that are finite."""
    index = {joint.name: j for j, joint in enumerate(scene.joints)}
    found = []
    for c in scene.constraints:
        if c.kind == KIND.name:
            sides = [(name, sign, bound) for name, sign, bound in _sides(c) if math.isfinite(bound)]
            signs = [sign for _, sign, _ in sides] + [0.0] * (3 - len(sides))
            bias = [sign * (c.offset - bound) for _, sign, bound in sides] + [0.0] * (3 - len(sides))
            terms = tuple((index[j], tuple(s * x for s in signs)) for j, x in zip(c.joints, c.coefficients, strict=True))
            parameters = (stiffness_parameter(c.stiffness), c.damping, float(len(sides)))
            names = tuple(f"{c.name}:{name}" for name, _, _ in sides)
            found.append(Tie(names, ("N s",) * len(sides), parameters, terms, tuple(bias)))
    return found


def _sides(c):
    return (("lower", 1.0, c.lower), ("upper", -1.0, c.upper))


def make(R):
    import warp as wp

    real, vec3, vec4, vec8 = R.t, R.vec3, R.vec4, R.vec8
    regularise = make_regularise(R)

    @wp.func
    def compliance(h: real, p: vec8, w: real, g: vec3, v0: vec3, v_star: vec3) -> vec4:
        if g[0] >= real(0.0) and (p[2] < real(1.5) or g[1] >= real(0.0)):
            return vec4(real(0.0))
        law = regularise(h, p[0], p[1], w)
        return vec4(law[0], law[1], real(0.0), real(wp.inf))

    return ConstraintFuncs(compliance=compliance)


def gaps(constraint, q, ends) -> list[tuple[float, str]]:
    c = constraint
    length = c.offset + sum(x * q[joint] for joint, x in zip(c.joints, c.coefficients, strict=True))
    return [
        (max(0.0, sign * (bound - length)), f"its length is {length:.6g}, {abs(bound - length):.6g} beyond {name} {bound:g}")
        for name, sign, bound in _sides(c)
    ]


KIND = ConstraintKind(
    name="tendon",
    order=7,
    make=make,
    ties=ties,
    keys=("joints", "coefficients", "offset", "lower", "upper", "stiffness", "damping"),
    required=("joints", "coefficients"),
    gaps=gaps,
)
