"""Dry friction of joints: |gamma| <= h friction against the motion, whatever presses the joint together.

    R = sigma w,  v_hat = 0,  lowest = -h friction,  highest = h friction:  gamma = clip(-v / R, -h friction, h friction)

a Huber cost, quadratic for slow motion and linear beyond.  sigma is that of contact friction.  Below its friction a joint under
the load F creeps at sigma w h F instead of standing still; above it gains (F - friction) / A.  Every degree of freedom of a
joint has its row, but a floating joint has none.

Parameters: (friction, sigma).
"""

from sapsim.kinds.base import ConstraintFuncs, ConstraintKind, ConstraintRow, registry


def rows(scene) -> list[ConstraintRow]:
    """One for each degree of freedom of joints with friction, in the order of the scene."""
    found = []
    for j, joint in enumerate(scene.joints):
        kind = registry("joints")[joint.kind]
        if joint.friction > 0.0 and not kind.needs_world:
            for k, v_name in enumerate(kind.v_names):
                name = f"{joint.name}:{v_name}:friction" if v_name else f"{joint.name}:friction"
                found.append(ConstraintRow(name, j, 1.0, (joint.friction, scene.contact.sigma), entry=k))
    return found


def make(R):
    import warp as wp

    real, vec4, vec8 = R.t, R.vec4, R.vec8

    @wp.func
    def prepare(h: real, p: vec8, w: real, q0: real, v0: real, v_star: real) -> vec4:
        return vec4(p[1] * w, real(0.0), -h * p[0], h * p[0])

    return ConstraintFuncs(prepare=prepare)


KIND = ConstraintKind(name="dry_friction", order=2, make=make, rows=rows)
