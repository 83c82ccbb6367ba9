"""The `Real` bundle: one scalar type with its vectors, matrices and numeric guards.

Kernels come from factories `make_x(R)`.  A factory takes the bundle of a precision and closes over its types, so one text
serves float64 and float32 and both can live in one process.  Literals go through `R.t(...)`: a bare Python float is a
float32 constant in Warp.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Real:
    """Types and guards of one precision.

    Fields:
        name: "float64" or "float32"; part of every kernel module's name.
        t: the Warp scalar type.
        vec2, vec3, vec4, vec6, vec8, vec10, quat, mat33: Warp types over it; vec6 is a spatial vector [rotation;
            translation], vec10 a rigid-body inertia [m, h, Ixx, Iyy, Izz, Ixy, Ixz, Iyz].
        np: the NumPy scalar type.
        eps: unit round-off spacing of 1.0.
        soft: soft norm of the friction cone (sap_formulas 3.1), an impulse scale [N s].
    """

    name: str
    t: Any
    vec2: Any
    vec3: Any
    vec4: Any
    vec6: Any
    vec8: Any
    vec10: Any
    quat: Any
    mat33: Any
    np: Any
    eps: float
    soft: float

    @property
    def wide(self) -> "Real":
        """The bundle in which a solve keeps what its convergence hangs on (docs/conventions.md, float32): float64."""
        return real("float64")


@cache
def real(name: str) -> Real:
    """The bundle of a precision, "float64" or "float32"; made once per process."""
    import numpy as np
    import warp as wp

    t = {"float64": wp.float64, "float32": wp.float32}[name]
    return Real(
        name=name,
        t=t,
        vec2=wp.types.vector(2, t),
        vec3=wp.types.vector(3, t),
        vec4=wp.types.vector(4, t),
        vec6=wp.types.vector(6, t),
        vec8=wp.types.vector(8, t),
        vec10=wp.types.vector(10, t),
        quat=wp.types.quaternion(t),
        mat33=wp.types.matrix((3, 3), t),
        np=np.dtype(name).type,
        eps=float(np.finfo(name).eps),
        soft=1.0e-7,
    )
