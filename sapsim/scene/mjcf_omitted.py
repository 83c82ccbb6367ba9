"""What an MJCF says about the motion that is not simulated: one warning to a file for each kind of finding.

What MuJoCo itself does not let change the motion (lights, cameras, sites, sensors, materials, keyframes, ...) is not read.
"""

from collections.abc import Iterable

import numpy as np

from sapsim.scene.mjcf_compiled import Compiled
from sapsim.scene.xml_values import Notices

GRAVITY = (0.0, 0.0, -9.81)
# Parts of MuJoCo's physics that `<flag>` switches off and that we do not.
_FLAGS = ("constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "gravity", "actuation")
_NEW = ("override", "ipc")  # what `<flag>` switches on, and we have not
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's defaults


def note_omissions(c: Compiled, notices: Notices) -> None:
    """Everything that has no translation."""
    _Omissions(c, notices).note()


class _Omissions:
    def __init__(self, c: Compiled, notices: Notices):
        self.c, self.m, self.notices = c, c.model, notices

    def note(self) -> None:
        self._elements()
        self._joints()
        self._geoms()
        self._bodies()
        self._options()

    def _tell(self, kind: str, found: Iterable[int], what: str, hint: str = "") -> None:
        """`what` of the elements with these ids; elements without a name are named by their number."""
        for i in found:
            name = self.c.name(kind, i) or f"number {i}"
            self.notices.add(self.c.where(kind, i), "left-out", what + ": {names}", hint, name)

    def _elements(self) -> None:
        m = self.m
        self._tell("equality", range(m.neq), "equality constraints are left out", "")
        self._tell("tendon", range(m.ntendon), "tendons are left out", "")
        hint = "the pair meets where contype and conaffinity say so, with the materials of its geoms"
        self._tell("contact", range(m.npair), "<pair> is left out", hint)

    def _joints(self) -> None:
        m, scalar = self.m, [self._word(j) in ("hinge", "slide") for j in range(self.m.njnt)]
        several = [j for j in range(m.njnt) if not scalar[j]]
        self._tell("joint", [j for j in several if m.jnt_limited[j]], "limits of ball joints are left out")
        self._tell("joint", [j for j in several if m.jnt_stiffness[j]], "springs of ball and free joints are left out")
        low, high = m.jnt_actfrcrange.T
        uneven = m.jnt_actfrclimited.astype(bool) & (-low != high)
        self._tell("joint", np.flatnonzero(uneven), "actuatorfrcrange is left out, for its bounds are not +- one number")
        curved = [j for j in range(m.njnt) if self._is_curved(j)]
        self._tell("joint", curved, "damping and stiffness are polynomials, of which the linear term is used")
        soft = m.jnt_limited.astype(bool) & (self._softened(m.jnt_solref, m.jnt_solimp) | (m.jnt_margin != 0.0))
        self._tell(
            "joint",
            np.flatnonzero(soft),
            "solref, solimp and margin of limits are not used; limits are as stiff as a step resolves",
        )

    def _word(self, j: int) -> str:
        return self.c.word("mjtJoint", self.m.jnt_type[j])

    def _is_curved(self, j: int) -> bool:
        """Whether higher terms are given, which MuJoCo has since 4."""
        names = ("dof_dampingpoly", self.m.jnt_dofadr[j]), ("jnt_stiffnesspoly", j)
        return any(bool(np.any(getattr(self.m, name, np.zeros((self.m.nv + 1, 1)))[i])) for name, i in names)

    @staticmethod
    def _softened(solref: np.ndarray, solimp: np.ndarray) -> np.ndarray:
        return (solref != _SOLREF).any(axis=1) | (solimp != _SOLIMP).any(axis=1)

    def _geoms(self) -> None:
        m = self.m
        meets = (m.geom_contype != 0) | (m.geom_conaffinity != 0)

        def tell(which: np.ndarray, what: str, hint: str = "") -> None:
            self._tell("geom", np.flatnonzero(meets & which), what, hint)

        hint = "give the surfaces a `material` of the scene"
        tell(self._softened(m.geom_solref, m.geom_solimp), "solref and solimp are not used; the scene's materials are", hint)
        tell(m.geom_condim != 3, "condim is read as 3: contact with sliding friction")
        tell((m.geom_margin != 0.0) | (m.geom_gap != 0.0), "margin and gap are not used; see `contact.margin` of the scene")
        for name, what in (("geom_surfacevel", "velocities of surfaces are"), ("geom_adhesion", "adhesion is")):
            given = [bool(np.any(row)) for row in getattr(m, name, np.zeros(m.ngeom))]  # since MuJoCo 4
            tell(np.array(given, bool), f"{what} left out")
        tell(m.geom_priority != 0, "priority is not used: the frictions of two surfaces are combined")

    def _bodies(self) -> None:
        m = self.m
        self._tell("body", np.flatnonzero(m.body_gravcomp), "gravcomp is left out", "see `gravity: false` of an instance")
        self._tell("body", np.flatnonzero(m.body_mocapid >= 0), "mocap bodies are held where they start")

    def _options(self) -> None:
        m, where = self.m, self.c.where("option", 0)

        def tell(found: bool, what: str, hint: str = "") -> None:
            if found:
                self.notices.add(where, "left-out", what, hint)

        off = [
            word for word in _FLAGS if m.opt.disableflags & int(getattr(self.c.mujoco.mjtDisableBit, f"mjDSBL_{word.upper()}"))
        ]
        tell(bool(off), f"<flag> switches off what is simulated here: {', '.join(off)}", "change the file")
        on = [w for w in _NEW if m.opt.enableflags & int(getattr(self.c.mujoco.mjtEnableBit, f"mjENBL_{w.upper()}", 0))]
        tell(bool(on), f"<flag> switches on what is not there: {', '.join(on)}", "change the file")
        given = ", ".join(f"{g:g}" for g in m.opt.gravity)
        tell(
            not np.array_equal(m.opt.gravity, GRAVITY),
            f"gravity {given} of <option> is not used; the scene's is",
            f"gravity: [{given}]",
        )
        tell(
            bool(m.opt.density or m.opt.viscosity or np.any(m.opt.wind)),
            "forces of the fluid (density, viscosity, wind) are left out",
        )
        tell(getattr(m, "nplastic", 0) > 0, "plastic joints and tendons are read as elastic")
        tell(m.nflex > 0, f"flexible bodies are left out: {m.nflex}")
        tell(m.nplugin > 0, f"plugins are left out: {m.nplugin}")
