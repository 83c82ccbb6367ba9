"""Device dispatch: one function per task that calls the right kind's function by its code.

Each dispatcher is a chain over all registered kinds (kinds/base.py says why all of them).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from sapsim.kinds.base import registry
from sapsim.kinds.convexity import make_convexity


@cache
def make_joints(R):
    """Dispatchers X_FM, S_W, bias_F, step_q, to_external, from_external, each with the joint's code as first argument."""
    links = [(code, kind.make(R)) for code, kind in enumerate(registry("joints").values()) if kind.moves]
    heads = (_joint_chain(R, links, name) for name in ("X_FM", "S_W", "bias_F", "step_q", "to_external", "from_external"))
    return SimpleNamespace(**dict(zip(("X_FM", "S_W", "bias_F", "step_q", "to_external", "from_external"), heads, strict=True)))


def _joint_chain(R, links, name):
    chain = None
    for code, funcs in reversed(links):
        chain = _LINKS[name](R, code, getattr(funcs, name), chain or getattr(funcs, name), chain is None)
    return chain


def _link_X_FM(R, code, head, rest, last):
    real, vec3 = R.t, R.vec3

    @wp.func
    def end(kind: int, axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), w: int, iq: int):
        return head(axis, axis2, q, w, iq)

    @wp.func
    def call(kind: int, axis: vec3, axis2: vec3, q: wp.array2d(dtype=real), w: int, iq: int):
        if kind == wp.static(code):
            return head(axis, axis2, q, w, iq)
        return rest(kind, axis, axis2, q, w, iq)

    return end if last else call


def _link_S_W(R, code, head, rest, last):
    real, vec3, vec6, mat33 = R.t, R.vec3, R.vec6, R.mat33

    @wp.func
    def end(kind: int, axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        return head(axis, axis2, R_WF, q, w, iq, k)

    @wp.func
    def call(kind: int, axis: vec3, axis2: vec3, R_WF: mat33, q: wp.array2d(dtype=real), w: int, iq: int, k: int) -> vec6:
        if kind == wp.static(code):
            return head(axis, axis2, R_WF, q, w, iq, k)
        return rest(kind, axis, axis2, R_WF, q, w, iq, k)

    return end if last else call


def _link_bias_F(R, code, head, rest, last):
    real, vec3, vec6 = R.t, R.vec3, R.vec6
    values = wp.array2d(dtype=real)

    @wp.func
    def end(kind: int, axis: vec3, axis2: vec3, q: values, v: values, w: int, iq: int, iv: int) -> vec6:
        return head(axis, axis2, q, v, w, iq, iv)

    @wp.func
    def call(kind: int, axis: vec3, axis2: vec3, q: values, v: values, w: int, iq: int, iv: int) -> vec6:
        if kind == wp.static(code):
            return head(axis, axis2, q, v, w, iq, iv)
        return rest(kind, axis, axis2, q, v, w, iq, iv)

    return end if last else call


def _link_step_q(R, code, head, rest, last):
    real, mat33 = R.t, R.mat33
    values = wp.array2d(dtype=real)

    @wp.func
    def end(kind: int, q: values, v: values, w: int, iq: int, iv: int, h: real, R_WF: mat33) -> int:
        return head(q, v, w, iq, iv, h, R_WF)

    @wp.func
    def call(kind: int, q: values, v: values, w: int, iq: int, iv: int, h: real, R_WF: mat33) -> int:
        if kind == wp.static(code):
            return head(q, v, w, iq, iv, h, R_WF)
        return rest(kind, q, v, w, iq, iv, h, R_WF)

    return end if last else call


def _link_external(R, code, head, rest, last):
    real, vec3 = R.t, R.vec3
    values = wp.array2d(dtype=real)

    @wp.func
    def end(kind: int, v: values, w: int, iv: int, k: int, p_BoBcm_W: vec3) -> real:
        return head(v, w, iv, k, p_BoBcm_W)

    @wp.func
    def call(kind: int, v: values, w: int, iv: int, k: int, p_BoBcm_W: vec3) -> real:
        if kind == wp.static(code):
            return head(v, w, iv, k, p_BoBcm_W)
        return rest(kind, v, w, iv, k, p_BoBcm_W)

    return end if last else call


_LINKS = {
    "X_FM": _link_X_FM,
    "S_W": _link_S_W,
    "bias_F": _link_bias_F,
    "step_q": _link_step_q,
    "to_external": _link_external,
    "from_external": _link_external,
}


@cache
def make_pairs(R, PointBuffer):
    """Dispatcher collide(code, size_a, p_WA, R_WA, size_b, p_WB, R_WB, margin, out, w, base) over all pair kinds but those of
    the stage `convex`."""
    chain = None
    for code, kind in reversed([(c, k) for c, k in enumerate(registry("pairs").values()) if not k.in_convex_stage]):
        chain = _link_pair(R, PointBuffer, code, kind.make(R, PointBuffer), chain)
    return chain


def _link_pair(R, PointBuffer, code, head, rest):
    real, vec3, mat33 = R.t, R.vec3, R.mat33

    @wp.func
    def end(
        kind: int, size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33,
        margin: real, out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        return head(size_a, p_WA, R_WA, size_b, p_WB, R_WB, margin, out, w, base)

    @wp.func
    def call(
        kind: int, size_a: vec3, p_WA: vec3, R_WA: mat33, size_b: vec3, p_WB: vec3, R_WB: mat33,
        margin: real, out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        if kind == wp.static(code):
            return head(size_a, p_WA, R_WA, size_b, p_WB, R_WB, margin, out, w, base)
        return rest(kind, size_a, p_WA, R_WA, size_b, p_WB, R_WB, margin, out, w, base)

    return end if rest is None else call


@cache
def make_convex_pairs(R, PointBuffer):
    """Dispatcher collide(code, a, p_WA, b, p_WB, margin, hulls, scratch, row, out, w, base) over the pairs of the stage
    `convex`."""
    shared = make_convexity(R)
    chain = None
    for code, kind in reversed([(c, k) for c, k in enumerate(registry("pairs").values()) if k.in_convex_stage]):
        if kind.make_convex is None:
            head = _without_hulls(R, PointBuffer, shared, kind.make(R, PointBuffer))
        else:
            head = kind.make_convex(R, PointBuffer, shared)
        chain = _link_convex_pair(R, PointBuffer, shared, code, head, chain)
    return chain


def _without_hulls(R, PointBuffer, shared, collide):
    """A pair's `make` as one of the stage `convex`."""
    real, vec3 = R.t, R.vec3
    Solid, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch

    @wp.func
    def call(
        a: Solid, p_WA: vec3, b: Solid, p_WB: vec3, margin: real, hulls: Hulls, scratch: Scratch, row: wp.vec2i,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        return collide(a.size, p_WA, a.R_WG, b.size, p_WB, b.R_WG, margin, out, w, base)

    return call


def _link_convex_pair(R, PointBuffer, shared, code, head, rest):
    real, vec3 = R.t, R.vec3
    Solid, Hulls, Scratch = shared.Solid, shared.Hulls, shared.Scratch

    @wp.func
    def end(
        kind: int, a: Solid, p_WA: vec3, b: Solid, p_WB: vec3, margin: real, hulls: Hulls, scratch: Scratch, row: wp.vec2i,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        return head(a, p_WA, b, p_WB, margin, hulls, scratch, row, out, w, base)

    @wp.func
    def call(
        kind: int, a: Solid, p_WA: vec3, b: Solid, p_WB: vec3, margin: real, hulls: Hulls, scratch: Scratch, row: wp.vec2i,
        out: PointBuffer, w: int, base: int,
    ):  # fmt: skip
        if kind == wp.static(code):
            return head(a, p_WA, b, p_WB, margin, hulls, scratch, row, out, w, base)
        return rest(kind, a, p_WA, b, p_WB, margin, hulls, scratch, row, out, w, base)

    return end if rest is None else call


@cache
def in_convex_stage(R):
    """Function (pair kind's code) -> bool: whether the stage `convex` collides it (kinds/base.py)."""
    bits = sum(1 << code for code, kind in enumerate(registry("pairs").values()) if kind.in_convex_stage)

    @wp.func
    def there(kind: int) -> bool:
        return (wp.uint64(wp.static(bits)) >> wp.uint64(kind)) & wp.uint64(1) != wp.uint64(0)

    return there


@cache
def make_constraints(R):
    """Dispatchers prepare, compliance, frames, each with the kind's code as first argument, over the kinds that have it."""
    found = {}
    for name, link in (("prepare", _link_prepare), ("compliance", _link_compliance), ("frames", _link_frames)):
        chain = None
        for code, kind in reversed(list(enumerate(registry("constraints").values()))):
            head = getattr(kind.make(R), name)
            if head is not None:
                chain = link(R, code, head, chain)
        found[name] = chain
    return SimpleNamespace(**found)


def _link_prepare(R, code, head, rest):
    real, vec4, vec8 = R.t, R.vec4, R.vec8

    @wp.func
    def end(kind: int, h: real, p: vec8, w: real, q0: real, v0: real, v_star: real) -> vec4:
        return head(h, p, w, q0, v0, v_star)

    @wp.func
    def call(kind: int, h: real, p: vec8, w: real, q0: real, v0: real, v_star: real) -> vec4:
        if kind == wp.static(code):
            return head(h, p, w, q0, v0, v_star)
        return rest(kind, h, p, w, q0, v0, v_star)

    return end if rest is None else call


def _link_compliance(R, code, head, rest):
    real, vec3, vec4, vec8 = R.t, R.vec3, R.vec4, R.vec8

    @wp.func
    def end(kind: int, h: real, p: vec8, w: real, g: vec3, v0: vec3, v_star: vec3) -> vec4:
        return head(h, p, w, g, v0, v_star)

    @wp.func
    def call(kind: int, h: real, p: vec8, w: real, g: vec3, v0: vec3, v_star: vec3) -> vec4:
        if kind == wp.static(code):
            return head(h, p, w, g, v0, v_star)
        return rest(kind, h, p, w, g, v0, v_star)

    return end if rest is None else call


def _link_frames(R, code, head, rest):
    vec3, quat = R.vec3, R.quat

    @wp.func
    def end(kind: int, item: int, p_WP: vec3, Q_WP: quat, p_WQ: vec3, Q_WQ: quat):
        return head(item, p_WP, Q_WP, p_WQ, Q_WQ)

    @wp.func
    def call(kind: int, item: int, p_WP: vec3, Q_WP: quat, p_WQ: vec3, Q_WQ: quat):
        if kind == wp.static(code):
            return head(item, p_WP, Q_WP, p_WQ, Q_WQ)
        return rest(kind, item, p_WP, Q_WP, p_WQ, Q_WQ)

    return end if rest is None else call
