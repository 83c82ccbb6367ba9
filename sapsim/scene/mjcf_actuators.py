"""Actuators of a compiled MJCF, at MuJoCo's own start: all controls zero, as far as their ranges allow.

An actuator on a hinge or slide with gear g, control u, fixed gain k and affine bias (b0, b1, b2) puts out, at the joint,

    g clip(k u + b0 + b1 g q + b2 g v, -F, F)  =  clip(-kp q - kd v + f, -|g| F, |g| F)
    with kp = -b1 g^2,  kd = -b2 g^2,  f = g (k u + b0),

which is our drive with the target f / kp (else the target velocity f / kd), and an effort f where it has no gains.  Motors,
position and velocity servos and dampers are such; every other kind is left out with a warning.
"""

import math
from collections.abc import Sequence

import numpy as np

from sapsim.scene.mjcf_compiled import Compiled
from sapsim.scene.spec import Actuator
from sapsim.scene.xml_values import Notices

_SCALAR = ("hinge", "slide")


def drives_of(c: Compiled, joints: Sequence[str], notices: Notices) -> tuple[Actuator, ...]:
    """The actuators that have a translation, under the names of the model; `joints` are the names of its joints by id."""
    found = []
    for i in range(len(c.model.actuator_trntype)):
        name = c.name("actuator", i) or f"actuator{i}"
        reason = _reason(c, i)
        if reason:
            hint = "drive the joints with `actuators` of the scene"
            notices.add(c.where("actuator", i), "left-out", f"actuators {reason} are left out: {{names}}", hint, name)
        else:
            found.append(_drive(c, i, name, joints[c.model.actuator_trnid[i, 0]]))
    return tuple(found)


def _reason(c: Compiled, i: int) -> str:
    """Why an actuator has no translation, "" where it has one."""
    m = c.model
    on_joint = c.word("mjtTrn", m.actuator_trntype[i]) in ("joint", "jointinparent")
    if not on_joint or c.word("mjtJoint", m.jnt_type[m.actuator_trnid[i, 0]]) not in _SCALAR:
        return "that do not drive one hinge or slide"
    if c.word("mjtDyn", m.actuator_dyntype[i]) != "none" or m.actuator_plugin[i] >= 0 or _rows(m, "actuator_delay")[i].any():
        return "with a state of their own or a delay"
    bias = c.word("mjtBias", m.actuator_biastype[i])
    if m.actuator_gaintype[i] != c.mujoco.mjtGain.mjGAIN_FIXED or bias not in ("none", "affine"):
        return "whose force is not linear"
    if any(_rows(m, name)[i].any() for name in ("actuator_armature", "actuator_damping", "actuator_dampingpoly")):
        return "with an armature or damping of their own"
    low, high = m.actuator_forcerange[i]
    if m.actuator_forcelimited[i] and -low != high:
        return "whose forcerange is not +- one number"
    return "with gains below zero" if bias == "affine" and (m.actuator_biasprm[i, 1:3] > 0.0).any() else ""


def _rows(m, name: str) -> np.ndarray:
    """An array of the actuators as rows; of zeros where this MuJoCo does not have it."""
    count = len(m.actuator_trntype)
    return np.asarray(getattr(m, name, np.zeros(count))).reshape(count, -1)


def _drive(c: Compiled, i: int, name: str, joint: str) -> Actuator:
    m = c.model
    g, u = float(m.actuator_gear[i, 0]), 0.0
    control = int(getattr(m, "actuator_ctrladr", range(i + 1))[i])  # since MuJoCo 4 an actuator may have several
    if m.actuator_ctrllimited[control]:
        u = float(np.clip(u, *m.actuator_ctrlrange[control]))
    affine = c.word("mjtBias", m.actuator_biastype[i]) == "affine"
    b0, b1, b2 = (float(b) for b in m.actuator_biasprm[i, :3]) if affine else (0.0, 0.0, 0.0)
    kp, kd, f = -b1 * g * g + 0.0, -b2 * g * g + 0.0, g * (float(m.actuator_gainprm[i, 0]) * u + b0)
    bound = abs(g) * float(m.actuator_forcerange[i, 1]) if m.actuator_forcelimited[i] else math.inf
    given = {"target": f / kp} if kp else {"target_velocity": f / kd} if kd else {"feedforward": f}
    return Actuator(name, joint, kp=kp, kd=kd, effort_limit=bound, **given, where=c.where("actuator", i))
