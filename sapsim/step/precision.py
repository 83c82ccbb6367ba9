"""What a precision can reach: the solver's tolerances, raised where they ask for less than rounding leaves.

In float32 an entry of the gradient is a difference of momentum and impulses, each a sum of some ten products with relative
error 6e-8, and the impulses magnify the rounding of contact velocities by h^2 k / m and mu n0 / (eps m), of order one to a
thousand in common scenes.  A residual of 1e-4 of its scale is then what every solve can be asked for; and costs that differ by
less than some roundings are equal, as 1e-15 says in float64.  Tolerances that a scene leaves at their defaults follow this rule
without a word; one that a scene sets smaller is raised with a warning.
"""

from dataclasses import replace
from typing import Any

from sapsim.errors import Message

FLOORS = {
    "float64": {},
    "float32": {"relative_tolerance": 1.0e-4, "cost_relative_tolerance": 5.0e-7},
}


def for_precision(scene: Any, precision: str) -> Any:
    """The scene with tolerances that the precision can reach, and a warning for each one that was chosen and raised."""
    defaults = type(scene.solver)()
    raised, warnings = {}, list(scene.warnings)
    for name, floor in FLOORS[precision].items():
        asked = getattr(scene.solver, name)
        if asked >= floor:
            continue
        raised[name] = floor
        if asked != getattr(defaults, name):
            text = f"{asked:g} is less than {precision} can reach; {floor:g} is used"
            warnings.append(Message(scene.file, 0, 0, f"solver.{name}", "raised-tolerance", text, "use float64, or raise it"))
    return replace(scene, solver=replace(scene.solver, **raised), warnings=tuple(warnings)) if raised else scene
